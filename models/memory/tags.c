/*
 * Tags of a cache. A line is found by a hash of its address, because today's caches have hundreds of ways. Each set is a list
 * from its oldest to its newest line.
 */
#include "models/memory/tags.h"

#include "models/util/hash.h"

#include <errno.h>
#include <stdlib.h>

static uint32_t bucket_of(const struct tag_store *t, uint64_t address)
{
	return (uint32_t)(hash_high(address) >> 40) & t->bucket_mask;
}

static void unlink_line(struct tag_store *t, uint32_t set, uint32_t n)
{
	struct tag_line *l = &t->lines[n];
	if (l->older == MEMORY_NONE)
		t->oldest[set] = l->newer;
	else
		t->lines[l->older].newer = l->newer;
	if (l->newer == MEMORY_NONE)
		t->newest[set] = l->older;
	else
		t->lines[l->newer].older = l->older;
}

static void link_newest(struct tag_store *t, uint32_t set, uint32_t n)
{
	struct tag_line *l = &t->lines[n];
	l->older = t->newest[set];
	l->newer = MEMORY_NONE;
	if (l->older == MEMORY_NONE)
		t->oldest[set] = n;
	else
		t->lines[l->older].newer = n;
	t->newest[set] = n;
}

static void link_oldest(struct tag_store *t, uint32_t set, uint32_t n)
{
	struct tag_line *l = &t->lines[n];
	l->newer = t->oldest[set];
	l->older = MEMORY_NONE;
	if (l->newer == MEMORY_NONE)
		t->newest[set] = n;
	else
		t->lines[l->newer].older = n;
	t->oldest[set] = n;
}

int tags_init(struct tag_store *t, uint64_t lines, uint32_t ways)
{
	uint32_t buckets = 1;
	*t = (struct tag_store){.ways = ways < lines ? ways : (uint32_t)lines};
	if (!lines)
		return 0;
	t->sets = (uint32_t)(lines / t->ways);
	while (buckets < t->sets * t->ways)
		buckets *= 2;
	t->bucket_mask = buckets - 1;
	t->lines = calloc((size_t)t->sets * t->ways, sizeof *t->lines);
	t->oldest = malloc(t->sets * sizeof *t->oldest);
	t->newest = malloc(t->sets * sizeof *t->newest);
	t->buckets = malloc(buckets * sizeof *t->buckets);
	if (!t->lines || !t->oldest || !t->newest || !t->buckets)
		return -ENOMEM;
	for (uint32_t i = 0; i < buckets; i++)
		t->buckets[i] = MEMORY_NONE;
	for (uint32_t s = 0; s < t->sets; s++) {
		t->oldest[s] = t->newest[s] = MEMORY_NONE;
		for (uint32_t w = 0; w < t->ways; w++) {
			t->lines[s * t->ways + w].address = MEMORY_NEVER;
			link_newest(t, s, s * t->ways + w);
		}
	}
	return 0;
}

void tags_free(struct tag_store *t)
{
	free(t->lines);
	free(t->oldest);
	free(t->newest);
	free(t->buckets);
}

uint32_t tags_find(const struct tag_store *t, uint64_t address)
{
	if (!t->sets)
		return MEMORY_NONE;
	uint32_t n = t->buckets[bucket_of(t, address)];
	while (n != MEMORY_NONE && t->lines[n].address != address)
		n = t->lines[n].chain;
	return n;
}

void tags_touch(struct tag_store *t, uint32_t set, uint32_t line)
{
	if (t->newest[set] == line)
		return;
	unlink_line(t, set, line);
	link_newest(t, set, line);
}

uint32_t tags_victim(const struct tag_store *t, uint32_t set)
{
	if (!t->sets)
		return MEMORY_NONE;
	uint32_t n = t->oldest[set];
	while (n != MEMORY_NONE && t->lines[n].pending)
		n = t->lines[n].newer;
	return n;
}

static void leave_bucket(struct tag_store *t, uint32_t n)
{
	if (t->lines[n].address == MEMORY_NEVER)
		return;
	uint32_t *at = &t->buckets[bucket_of(t, t->lines[n].address)];
	while (*at != n)
		at = &t->lines[*at].chain;
	*at = t->lines[n].chain;
	t->lines[n].address = MEMORY_NEVER;
}

void tags_replace(struct tag_store *t, uint32_t set, uint32_t line, uint64_t address)
{
	struct tag_line *l = &t->lines[line];
	leave_bucket(t, line);
	uint32_t *bucket = &t->buckets[bucket_of(t, address)];
	l->address = address;
	l->valid = l->pending = l->dirty = l->atomics = 0;
	l->chain = *bucket;
	*bucket = line;
	tags_touch(t, set, line);
}

void tags_drop(struct tag_store *t, uint32_t set, uint32_t line)
{
	struct tag_line *l = &t->lines[line];
	leave_bucket(t, line);
	l->valid = l->pending = l->dirty = 0;
	unlink_line(t, set, line);
	link_oldest(t, set, line);
}
