#include "runtime/guest/support/pages.h"

#include "runtime/process/thread.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#ifndef MADV_COLD
#define MADV_COLD 20
#endif

/* Reading smaps takes some milliseconds for each GB that the process uses. It may take a part of the program's time, and always a little. */
enum { SHARE = 8 };
/* On 16 cores, a page was counted now and then that the program had not accessed. Of large memory, so few pages are taken for none. */
enum { FEW_PAGES = 2, LARGE_PAGES = 64, PAGE = 4096 };
static const uint64_t free_ns = 250000000;

struct managed {
	const void *address;
	uint64_t bytes;
	char *mapping, *end;
	uint64_t touched; /* bytes of pages that the processor used, and that no launch has been told of */
	uint64_t there;   /* bytes of pages that anybody had used when that was looked at last */
	uint64_t brought; /* bytes of pages that nobody has used, and that are on the GPU all the same */
	bool used;        /* by the commands that run */
};

static struct {
	pthread_mutex_t lock;
	struct managed *list;
	size_t count, room;
	unsigned running;    /* commands of the GPU */
	bool fresh;          /* all counted anew when the last command ended */
	bool known;          /* `touched` and `there` are as they were when this command began */
	bool broken;         /* the system does not tell */
	uint64_t begin_ns, spent_ns;
} pages = {.lock = PTHREAD_MUTEX_INITIALIZER};
static atomic_bool any; /* few programs have managed memory */

/* With the lock held. */
static bool is_affordable(void)
{
	uint64_t now = clock_ns();
	pages.begin_ns = pages.begin_ns ? pages.begin_ns : now;
	return !pages.broken && pages.spent_ns <= free_ns + (now - pages.begin_ns) / SHARE;
}

/* With the lock held. */
static void count_anew(void)
{
	for (size_t i = 0; i < pages.count; i++)
		if (madvise(pages.list[i].mapping, (size_t)(pages.list[i].end - pages.list[i].mapping), MADV_COLD))
			pages.broken = true;
}

void pages_made(const void *address, uint64_t bytes, void *mapping, void *end)
{
	pthread_mutex_lock(&pages.lock);
	if (gs_reserve(&pages.list, pages.count, &pages.room, sizeof *pages.list)) {
		pages.list[pages.count++] = (struct managed){.address = address, .bytes = bytes, .mapping = mapping, .end = end};
		pages.fresh |= pages.count == 1;
		atomic_store(&any, true);
	}
	pthread_mutex_unlock(&pages.lock);
}

/* With the lock held. NULL: it is not managed memory. */
static struct managed *find(const void *address)
{
	for (size_t i = 0; i < pages.count; i++)
		if (pages.list[i].address == address)
			return &pages.list[i];
	return NULL;
}

void pages_gone(const void *address)
{
	if (!atomic_load(&any))
		return;
	pthread_mutex_lock(&pages.lock);
	struct managed *m = find(address);
	if (m)
		*m = pages.list[--pages.count];
	pthread_mutex_unlock(&pages.lock);
}

/* With the lock held: the one whose mapping begins there, or NULL. */
static struct managed *find_mapping(unsigned long begin)
{
	for (size_t i = 0; i < pages.count; i++)
		if ((uintptr_t)pages.list[i].mapping == begin)
			return &pages.list[i];
	return NULL;
}

/* With the lock held: notes what smaps says of managed memory that the GPU does not use. Returns how many mappings were found. */
static size_t read_smaps(FILE *f)
{
	char line[512];
	unsigned long begin, end, kb;
	struct managed *m = NULL;
	size_t found = 0;
	while (fgets(line, sizeof line, f)) {
		if (sscanf(line, "%lx-%lx ", &begin, &end) == 2) {
			m = find_mapping(begin);
			found += m != NULL;
		} else if (m && m->used) {
			m = NULL;
		} else if (m && sscanf(line, "Rss: %lu", &kb) == 1) {
			m->there = (uint64_t)kb << 10;
		} else if (m && sscanf(line, "Referenced: %lu", &kb) == 1) {
			m->touched += kb << 10 > FEW_PAGES * PAGE || m->bytes < LARGE_PAGES * PAGE ? (uint64_t)kb << 10 : 0;
			m = NULL;
		}
	}
	return found;
}

/* With the lock held. */
static bool look(void)
{
	FILE *f = fopen("/proc/self/smaps", "re");
	bool all = f && read_smaps(f) == pages.count;
	if (f)
		fclose(f);
	pages.broken |= !all;
	return all;
}

void pages_before_command(void)
{
	if (!atomic_load(&any))
		return;
	pthread_mutex_lock(&pages.lock);
	uint64_t begin = clock_ns();
	if (!pages.running++) {
		pages.known = pages.count && pages.fresh && is_affordable() && look();
		pages.fresh = pages.known;
		if (pages.known)
			count_anew();
	}
	pages.spent_ns += clock_ns() - begin;
	pthread_mutex_unlock(&pages.lock);
}

/* With the lock held. */
static bool all_used(void)
{
	bool all = true;
	for (size_t i = 0; i < pages.count; i++)
		all = all && pages.list[i].used;
	return all;
}

/* With the lock held: while commands ran, the processor may have used memory that they do not. */
static void commands_ended(void)
{
	bool affordable = is_affordable();
	if (affordable && pages.fresh && !all_used())
		look();
	if (affordable)
		count_anew();
	for (size_t i = 0; i < pages.count; i++)
		pages.list[i].used = false;
	pages.fresh = affordable;
	pages.known = false;
}

void pages_after_command(void)
{
	if (!atomic_load(&any))
		return;
	pthread_mutex_lock(&pages.lock);
	uint64_t begin = clock_ns();
	if (pages.running && !--pages.running)
		commands_ended();
	pages.spent_ns += clock_ns() - begin;
	pthread_mutex_unlock(&pages.lock);
}

void pages_used(const void *address)
{
	if (!atomic_load(&any))
		return;
	pthread_mutex_lock(&pages.lock);
	for (size_t i = 0; i < pages.count; i++)
		if ((uintptr_t)address - (uintptr_t)pages.list[i].mapping < (uintptr_t)(pages.list[i].end - pages.list[i].mapping))
			pages.list[i].used = true;
	pthread_mutex_unlock(&pages.lock);
}

bool pages_found(const void *address, struct argument_pages *out)
{
	if (!atomic_load(&any))
		return false;
	pthread_mutex_lock(&pages.lock);
	struct managed *m = find(address);
	bool known = m && pages.known;
	if (m)
		m->used = true;
	if (known) {
		*out = (struct argument_pages){.known = true, .touched = m->touched};
		m->touched = 0;
	}
	pthread_mutex_unlock(&pages.lock);
	return known;
}

/* With the lock held: bytes of its pages that are there. */
static uint64_t count_pages(const struct managed *m)
{
	size_t page = (size_t)sysconf(_SC_PAGESIZE), length = (size_t)(m->end - m->mapping), count = length / page;
	unsigned char *is_there = malloc(count);
	uint64_t there = 0;
	if (is_there && !mincore(m->mapping, length, is_there))
		for (size_t i = 0; i < count; i++)
			there += is_there[i] & 1;
	free(is_there);
	return there * page;
}

void pages_grown(const void *address, struct argument_pages *inout)
{
	pthread_mutex_lock(&pages.lock);
	struct managed *m = inout->known ? find(address) : NULL;
	uint64_t there = m ? count_pages(m) : 0;
	if (m && there > m->there) {
		uint64_t grown = there - m->there, brought = grown < m->brought ? grown : m->brought;
		inout->untouched = grown - brought;
		m->brought -= brought;
		m->there = there;
	}
	pthread_mutex_unlock(&pages.lock);
}

void pages_brought(const void *address, uint64_t bytes, bool to_gpu)
{
	if (!atomic_load(&any))
		return;
	pthread_mutex_lock(&pages.lock);
	struct managed *m = find(address);
	if (m && !to_gpu) {
		m->touched += bytes;
	} else if (m) {
		uint64_t touched = bytes < m->touched ? bytes : m->touched, unused = m->there < m->bytes ? m->bytes - m->there : 0;
		m->touched -= touched;
		m->brought = bytes - touched < unused ? bytes - touched : unused;
	}
	pthread_mutex_unlock(&pages.lock);
}
