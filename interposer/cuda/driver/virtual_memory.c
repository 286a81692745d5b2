/*
 * Memory that the program gives addresses itself: it reserves addresses, makes pieces of memory, and maps these there. A piece is a file without a name;
 * the runtime knows each run of pieces without a gap as one allocation, so that copies may go across pieces.
 */
#include "interposer/cuda/driver/driver.h"

#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

enum { GRANULARITY = 2 << 20, IN_DEVICE = 1, PINNED = 1, READ_AND_WRITE = 3 };

struct memory_piece {
	struct memory_piece *next;
	struct driver_memory_kind kind;
	size_t bytes;
	int file;
	unsigned handles, mappings;
};
struct memory_mapping { /* in the order of addresses */
	struct memory_mapping *next;
	char *begin, *end;
	struct memory_piece *piece;
};
struct reserved_addresses {
	struct reserved_addresses *next;
	char *begin, *end, *pages;
	size_t page_bytes;
	struct memory_mapping *mappings;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct memory_piece *pieces;          /* all under the lock */
static struct reserved_addresses *reserved;
static size_t piece_bytes;

static bool is_whole(size_t bytes)
{
	return bytes && bytes % GRANULARITY == 0;
}

static struct reserved_addresses *find_reserved(const void *address, size_t bytes)
{
	const char *at = address;
	struct reserved_addresses *r = reserved;
	while (r && !(at >= r->begin && at < r->end && bytes <= (size_t)(r->end - at)))
		r = r->next;
	return r;
}

static struct memory_piece *find_piece(uint64_t handle)
{
	struct memory_piece *p = pieces;
	while (p && (uint64_t)(uintptr_t)p != handle)
		p = p->next;
	return p && p->handles ? p : NULL;
}

static struct memory_mapping *find_mapping(const void *address)
{
	const struct reserved_addresses *r = find_reserved(address, 1);
	struct memory_mapping *m = r ? r->mappings : NULL;
	while (m && !((const char *)address >= m->begin && (const char *)address < m->end))
		m = m->next;
	return m;
}

/* Tells the runtime the runs of mappings without a gap, or takes them back. */
static void tell_runs(const struct reserved_addresses *r, bool known)
{
	struct gs_error err;
	for (const struct memory_mapping *m = r->mappings, *last; m; m = last->next) {
		for (last = m; last->next && last->next->begin == last->end;)
			last = last->next;
		if (known)
			cuda_adopt(m->begin, (size_t)(last->end - m->begin), &err);
		else
			cuda_release(m->begin, &err);
	}
}

static void free_if_unused(struct memory_piece *p)
{
	struct memory_piece **link = &pieces;
	if (p->handles || p->mappings)
		return;
	while (*link != p)
		link = &(*link)->next;
	*link = p->next;
	piece_bytes -= p->bytes;
	close(p->file);
	free(p);
}

/* ---- addresses ---- */

int memory_reserve(void **out, size_t bytes, size_t alignment, void *near)
{
	if (!out || !is_whole(bytes) || (alignment & (alignment - 1)) || alignment > (size_t)1 << 40 || bytes > (size_t)1 << 46)
		return cudaErrorInvalidValue;
	alignment = alignment > GRANULARITY ? alignment : GRANULARITY;
	struct reserved_addresses *r = calloc(1, sizeof *r);
	char *pages = mmap(near, bytes + alignment, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (!r || pages == MAP_FAILED) {
		if (pages != MAP_FAILED)
			munmap(pages, bytes + alignment);
		free(r);
		return cudaErrorMemoryAllocation;
	}
	r->pages = pages;
	r->page_bytes = bytes + alignment;
	r->begin = pages + (alignment - (uintptr_t)pages % alignment) % alignment;
	r->end = r->begin + bytes;
	pthread_mutex_lock(&lock);
	r->next = reserved;
	reserved = r;
	pthread_mutex_unlock(&lock);
	*out = r->begin;
	return cudaSuccess;
}

int memory_unreserve(void *address, size_t bytes)
{
	pthread_mutex_lock(&lock);
	struct reserved_addresses **link = &reserved, *r;
	while (*link && (*link)->begin != address)
		link = &(*link)->next;
	r = *link;
	bool good = r && (size_t)(r->end - r->begin) == bytes && !r->mappings;
	if (good)
		*link = r->next;
	pthread_mutex_unlock(&lock);
	if (!good)
		return cudaErrorInvalidValue;
	munmap(r->pages, r->page_bytes);
	free(r);
	return cudaSuccess;
}

/* ---- pieces ---- */

static bool is_kind(const struct driver_memory_kind *k)
{
	return k && k->type == PINNED && k->location == IN_DEVICE && !k->device;
}

int memory_granularity(size_t *out, const struct driver_memory_kind *kind)
{
	if (!out || !is_kind(kind))
		return cudaErrorInvalidValue;
	*out = GRANULARITY;
	return cudaSuccess;
}

int memory_create(uint64_t *handle, size_t bytes, const struct driver_memory_kind *kind)
{
	size_t room = 0, total;
	if (!handle || !is_whole(bytes) || !is_kind(kind))
		return cudaErrorInvalidValue;
	cuda_memory_info(&room, &total);
	struct memory_piece *p = calloc(1, sizeof *p);
	int file = memfd_create("gpusim", MFD_CLOEXEC);
	pthread_mutex_lock(&lock);
	bool good = p && file >= 0 && bytes <= room && piece_bytes <= room - bytes && !ftruncate(file, (off_t)bytes);
	if (good) {
		*p = (struct memory_piece){.next = pieces, .kind = *kind, .bytes = bytes, .file = file, .handles = 1};
		pieces = p;
		piece_bytes += bytes;
	}
	pthread_mutex_unlock(&lock);
	if (!good) {
		if (file >= 0)
			close(file);
		free(p);
		return cudaErrorMemoryAllocation;
	}
	*handle = (uint64_t)(uintptr_t)p;
	return cudaSuccess;
}

/* A piece lives as long as it is mapped. */
int memory_destroy(uint64_t handle)
{
	pthread_mutex_lock(&lock);
	struct memory_piece *p = find_piece(handle);
	if (p) {
		p->handles--;
		free_if_unused(p);
	}
	pthread_mutex_unlock(&lock);
	return p ? cudaSuccess : cudaErrorInvalidValue;
}

int memory_kind_of(struct driver_memory_kind *out, uint64_t handle)
{
	pthread_mutex_lock(&lock);
	const struct memory_piece *p = out ? find_piece(handle) : NULL;
	if (p)
		*out = p->kind;
	pthread_mutex_unlock(&lock);
	return p ? cudaSuccess : cudaErrorInvalidValue;
}

int memory_retain(uint64_t *handle, const void *address)
{
	pthread_mutex_lock(&lock);
	struct memory_mapping *m = handle ? find_mapping(address) : NULL;
	if (m) {
		m->piece->handles++;
		*handle = (uint64_t)(uintptr_t)m->piece;
	}
	pthread_mutex_unlock(&lock);
	return m ? cudaSuccess : cudaErrorInvalidValue;
}

/* ---- pieces at addresses ---- */

/* Under the lock. `link` is where the mapping belongs in the list. */
static int map_piece(struct reserved_addresses *r, struct memory_mapping **link, char *at, size_t bytes, struct memory_piece *p)
{
	struct memory_mapping *m = malloc(sizeof *m);
	if (!m || mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, p->file, 0) == MAP_FAILED) {
		free(m);
		return cudaErrorMemoryAllocation;
	}
	tell_runs(r, false);
	*m = (struct memory_mapping){*link, at, at + bytes, p};
	*link = m;
	p->mappings++;
	tell_runs(r, true);
	return cudaSuccess;
}

/* CUDA maps whole pieces alone. */
int memory_map(void *address, size_t bytes, size_t offset, uint64_t handle)
{
	char *at = address;
	int error = cudaErrorInvalidValue;
	pthread_mutex_lock(&lock);
	struct memory_piece *p = find_piece(handle);
	struct reserved_addresses *r = is_whole(bytes) ? find_reserved(address, bytes) : NULL;
	if (r && p && !offset && bytes == p->bytes && (size_t)(at - r->begin) % GRANULARITY == 0) {
		struct memory_mapping **link = &r->mappings;
		while (*link && (*link)->end <= at)
			link = &(*link)->next;
		if (!*link || (*link)->begin >= at + bytes)
			error = map_piece(r, link, at, bytes, p);
	}
	pthread_mutex_unlock(&lock);
	return error;
}

/* All mappings of the range, which must be whole ones. */
static void unmap_range(struct reserved_addresses *r, const char *begin, const char *end)
{
	struct memory_mapping **link = &r->mappings;
	tell_runs(r, false);
	while (*link) {
		struct memory_mapping *m = *link;
		if (m->begin < begin || m->end > end) {
			link = &m->next;
			continue;
		}
		*link = m->next;
		mmap(m->begin, (size_t)(m->end - m->begin), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1, 0);
		m->piece->mappings--;
		free_if_unused(m->piece);
		free(m);
	}
	tell_runs(r, true);
}

/* The first mapping of a range of mapped addresses without a gap; NULL: there are others among them. */
static const struct memory_mapping *find_run(const void *address, size_t bytes)
{
	const struct memory_mapping *first = find_mapping(address), *m = first;
	const char *end = (const char *)address + bytes;
	while (m && m->end < end)
		m = m->next && m->next->begin == m->end ? m->next : NULL;
	return m ? first : NULL;
}

int memory_unmap(void *address, size_t bytes)
{
	pthread_mutex_lock(&lock);
	const struct memory_mapping *first = is_whole(bytes) ? find_run(address, bytes) : NULL;
	const struct memory_mapping *last = first ? find_mapping((char *)address + bytes - 1) : NULL;
	bool good = last && first->begin == address && last->end == (char *)address + bytes;
	if (good)
		unmap_range(find_reserved(address, bytes), address, (char *)address + bytes);
	pthread_mutex_unlock(&lock);
	return good ? cudaSuccess : cudaErrorInvalidValue;
}

/* Access is there from the beginning. */
int memory_check_access(const void *address, size_t bytes, const void *list, size_t count)
{
	pthread_mutex_lock(&lock);
	bool good = list && count && find_run(address, bytes);
	pthread_mutex_unlock(&lock);
	return good ? cudaSuccess : cudaErrorInvalidValue;
}

int memory_access(unsigned long long *flags, const void *location, const void *address)
{
	pthread_mutex_lock(&lock);
	bool good = flags && location && find_mapping(address);
	pthread_mutex_unlock(&lock);
	if (good)
		*flags = READ_AND_WRITE;
	return good ? cudaSuccess : cudaErrorInvalidValue;
}
