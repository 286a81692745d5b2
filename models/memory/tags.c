/*
 * Tags of a cache.
 *
 * Of few ways (L2), a set's tags are next to one another, and so are the times when its lines were used: to search them touches
 * fewer lines of the host's caches than any list. Only tags are zeros at first, all else is written when a set's first line comes: for
 * 60 MB of L2 that was 12 MB to clear for each launch, a tenth of the time of programs with many small ones. Of many ways (the L1 of
 * today's GPUs has hundreds), a line is found by a hash of its address, and each set is a list from its oldest to its newest line. All
 * that is known of such a line lies together: an H200 has 132 of these caches, more than the host's own hold.
 */
#include "models/memory/tags.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Ways that are searched: four lines of the host's cache. Bytes of such a line. They change the simulation's speed only. */
enum { MOST_SEARCHED = 32, HOST_LINE = 64 };

#define DROPPED UINT64_MAX /* a tag of no address; not 0, which a way has that was never used */

static uint32_t set_begin(const struct tag_store *t, uint32_t set)
{
	return set * t->ways;
}

static void unlink_line(struct tag_store *t, uint32_t set, uint32_t n)
{
	uint32_t begin = set_begin(t, set), older = begin + t->entries[n].older, newer = begin + t->entries[n].newer;
	if (n == t->oldest[set])
		t->oldest[set] = newer;
	else
		t->entries[older].newer = (uint16_t)(newer - begin);
	if (n == t->newest[set])
		t->newest[set] = older;
	else
		t->entries[newer].older = (uint16_t)(older - begin);
}

static void link_newest(struct tag_store *t, uint32_t set, uint32_t n)
{
	uint32_t begin = set_begin(t, set), last = t->newest[set];
	t->entries[last].newer = (uint16_t)(n - begin);
	t->entries[n].older = (uint16_t)(last - begin);
	t->newest[set] = n;
}

static void link_oldest(struct tag_store *t, uint32_t set, uint32_t n)
{
	uint32_t begin = set_begin(t, set), first = t->oldest[set];
	t->entries[first].older = (uint16_t)(n - begin);
	t->entries[n].newer = (uint16_t)(first - begin);
	t->oldest[set] = n;
}

/* Nothing is written before the first line comes: of a small launch, most SMs have nothing to do. */
static int init_entries(struct tag_store *t)
{
	uint32_t buckets = 1;
	size_t bytes = (size_t)t->sets * t->ways * sizeof *t->entries;
	while (buckets < t->sets * t->ways)
		buckets *= 2;
	t->bucket_mask = buckets - 1;
	t->entries = aligned_alloc(HOST_LINE, (bytes + HOST_LINE - 1) / HOST_LINE * HOST_LINE);
	t->oldest = malloc(t->sets * sizeof *t->oldest);
	t->newest = malloc(t->sets * sizeof *t->newest);
	t->buckets = malloc(buckets * sizeof *t->buckets);
	t->unused = true;
	return t->entries && t->oldest && t->newest && t->buckets ? 0 : -ENOMEM;
}

static void make_entries(struct tag_store *t)
{
	memset(t->buckets, 0, ((size_t)t->bucket_mask + 1) * sizeof *t->buckets);
	for (uint32_t s = 0; s < t->sets; s++) {
		for (uint32_t w = 0; w < t->ways; w++)
			t->entries[set_begin(t, s) + w] = (struct tag_entry){.older = (uint16_t)(w - 1), .newer = (uint16_t)(w + 1)};
		t->oldest[s] = set_begin(t, s);
		t->newest[s] = set_begin(t, s) + t->ways - 1;
	}
	t->unused = false;
}

int tags_init(struct tag_store *t, uint64_t lines, uint32_t ways)
{
	*t = (struct tag_store){.ways = ways < lines ? ways : (uint32_t)lines};
	if (!lines)
		return 0;
	t->sets = (uint32_t)(lines / t->ways);
	if (t->ways > MOST_SEARCHED)
		return init_entries(t);
	size_t count = (size_t)t->sets * t->ways;
	t->tags = calloc(count, sizeof *t->tags);
	t->lines = malloc(count * sizeof *t->lines);
	t->stamps = malloc(count * sizeof *t->stamps);
	return t->tags && t->lines && t->stamps ? 0 : -ENOMEM;
}

void tags_free(struct tag_store *t)
{
	free(t->tags);
	free(t->lines);
	free(t->stamps);
	free(t->entries);
	free(t->oldest);
	free(t->newest);
	free(t->buckets);
}

uint32_t tags_find(const struct tag_store *t, uint32_t set, uint64_t address)
{
	if (!t->sets || t->unused)
		return MEMORY_NONE;
	if (t->entries) {
		uint32_t n = *tags_bucket(t, address);
		while (n && t->entries[n - 1].tag != address + 1)
			n = t->entries[n - 1].chain;
		return n - 1; /* or MEMORY_NONE */
	}
	/* Ways are used from the first on: after one that never was, none was. */
	const uint64_t *tags = &t->tags[set * t->ways];
	for (uint32_t w = 0; w < t->ways && tags[w]; w++)
		if (tags[w] == address + 1)
			return set * t->ways + w;
	return MEMORY_NONE;
}

void tags_touch(struct tag_store *t, uint32_t set, uint32_t line)
{
	if (!t->entries) {
		t->stamps[line] = ++t->used;
	} else if (t->newest[set] != line) {
		unlink_line(t, set, line);
		link_newest(t, set, line);
	}
}

/* Of those that nothing is pending for. */
static uint32_t free_victim(const struct tag_store *t, uint32_t first)
{
	uint32_t best = MEMORY_NONE;
	for (uint32_t n = first; n < first + t->ways; n++)
		if (!t->lines[n].pending && (best == MEMORY_NONE || t->stamps[n] < t->stamps[best]))
			best = n;
	return best;
}

/* Of a set that no line has come to. Ways are used from the first on. */
static void make_set(struct tag_store *t, uint32_t first)
{
	memset(&t->lines[first], 0, t->ways * sizeof *t->lines);
	memset(&t->stamps[first], 0, t->ways * sizeof *t->stamps);
}

uint32_t tags_victim(struct tag_store *t, uint32_t set)
{
	if (!t->sets)
		return MEMORY_NONE;
	if (t->unused) /* the caller looks at what the line holds */
		make_entries(t);
	if (t->entries) {
		uint32_t n = t->oldest[set];
		while (t->entries[n].line.pending && n != t->newest[set])
			n = set_begin(t, set) + t->entries[n].newer;
		return t->entries[n].line.pending ? MEMORY_NONE : n;
	}
	uint32_t first = set * t->ways, best = first;
	if (!t->tags[first])
		make_set(t, first);
	if (!t->stamps[first + t->ways - 1] && !t->dropped) {
		while (t->stamps[best])
			best++;
		return best;
	}
	for (uint32_t n = first + 1; n < first + t->ways; n++)
		best = t->stamps[n] < t->stamps[best] ? n : best;
	return t->lines[best].pending ? free_victim(t, first) : best;
}

/* The line's address is found no more. */
static void leave_bucket(struct tag_store *t, uint32_t n)
{
	const struct tag_entry *e = &t->entries[n];
	if (!e->tag || e->tag == DROPPED)
		return;
	uint32_t *at = tags_bucket(t, e->tag - 1);
	while (*at != n + 1)
		at = &t->entries[*at - 1].chain;
	*at = e->chain;
}

static void enter_bucket(struct tag_store *t, uint32_t n, uint64_t address)
{
	uint32_t *bucket = tags_bucket(t, address);
	t->entries[n].tag = address + 1;
	t->entries[n].chain = *bucket;
	*bucket = n + 1;
}

void tags_replace(struct tag_store *t, uint32_t set, uint32_t line, uint64_t address)
{
	if (t->unused)
		make_entries(t);
	if (t->entries) {
		leave_bucket(t, line);
		enter_bucket(t, line, address);
	} else {
		t->tags[line] = address + 1;
	}
	*tags_line(t, line) = (struct tag_line){0};
	tags_touch(t, set, line);
}

void tags_drop(struct tag_store *t, uint32_t set, uint32_t line)
{
	struct tag_line *l = tags_line(t, line);
	l->valid = l->pending = l->dirty = 0;
	if (!t->entries) {
		t->tags[line] = DROPPED;
		t->stamps[line] = --t->dropped;
		return;
	}
	leave_bucket(t, line);
	t->entries[line].tag = DROPPED;
	if (t->oldest[set] == line)
		return;
	unlink_line(t, set, line);
	link_oldest(t, set, line);
}
