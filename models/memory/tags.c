/*
 * Tags of a cache.
 *
 * Of few ways (L2), a set's tags are next to one another, and so are the times when its lines were used: to search them touches
 * fewer lines of the host's caches than any list. A store of zeros is empty, so a large cache costs what is used of it. Of many
 * ways (the L1 of today's GPUs has hundreds), a line is found by a hash of its address, and each set is a list from its oldest to
 * its newest line.
 */
#include "models/memory/tags.h"

#include "models/util/hash.h"

#include <errno.h>
#include <stdlib.h>

enum { MOST_SEARCHED = 32 }; /* ways that are searched: four lines of the host's cache. Changes the simulation's speed only */

#define DROPPED UINT64_MAX /* a tag of no address; not 0, which a way has that was never used */

struct tag_links {
	uint32_t older, newer, chain; /* chain: the next of the bucket, + 1 */
};

static uint32_t *bucket_of(const struct tag_store *t, uint64_t address)
{
	return &t->buckets[(uint32_t)(hash_high(address) >> 40) & t->bucket_mask];
}

static void unlink_line(struct tag_store *t, uint32_t set, uint32_t n)
{
	const struct tag_links *l = &t->links[n];
	if (l->older == MEMORY_NONE)
		t->oldest[set] = l->newer;
	else
		t->links[l->older].newer = l->newer;
	if (l->newer == MEMORY_NONE)
		t->newest[set] = l->older;
	else
		t->links[l->newer].older = l->older;
}

static void link_newest(struct tag_store *t, uint32_t set, uint32_t n)
{
	struct tag_links *l = &t->links[n];
	l->older = t->newest[set];
	l->newer = MEMORY_NONE;
	if (l->older == MEMORY_NONE)
		t->oldest[set] = n;
	else
		t->links[l->older].newer = n;
	t->newest[set] = n;
}

static void link_oldest(struct tag_store *t, uint32_t set, uint32_t n)
{
	struct tag_links *l = &t->links[n];
	l->newer = t->oldest[set];
	l->older = MEMORY_NONE;
	if (l->newer == MEMORY_NONE)
		t->newest[set] = n;
	else
		t->links[l->newer].older = n;
	t->oldest[set] = n;
}

static int init_links(struct tag_store *t)
{
	uint32_t buckets = 1;
	while (buckets < t->sets * t->ways)
		buckets *= 2;
	t->bucket_mask = buckets - 1;
	t->links = malloc((size_t)t->sets * t->ways * sizeof *t->links);
	t->oldest = malloc(t->sets * sizeof *t->oldest);
	t->newest = malloc(t->sets * sizeof *t->newest);
	t->buckets = calloc(buckets, sizeof *t->buckets);
	if (!t->links || !t->oldest || !t->newest || !t->buckets)
		return -ENOMEM;
	for (uint32_t s = 0; s < t->sets; s++) {
		t->oldest[s] = t->newest[s] = MEMORY_NONE;
		for (uint32_t w = 0; w < t->ways; w++)
			link_newest(t, s, s * t->ways + w);
	}
	return 0;
}

int tags_init(struct tag_store *t, uint64_t lines, uint32_t ways)
{
	*t = (struct tag_store){.ways = ways < lines ? ways : (uint32_t)lines};
	if (!lines)
		return 0;
	t->sets = (uint32_t)(lines / t->ways);
	size_t count = (size_t)t->sets * t->ways;
	t->tags = calloc(count, sizeof *t->tags);
	t->lines = calloc(count, sizeof *t->lines);
	if (!t->tags || !t->lines)
		return -ENOMEM;
	if (t->ways > MOST_SEARCHED)
		return init_links(t);
	t->stamps = calloc(count, sizeof *t->stamps);
	return t->stamps ? 0 : -ENOMEM;
}

void tags_free(struct tag_store *t)
{
	free(t->tags);
	free(t->lines);
	free(t->stamps);
	free(t->links);
	free(t->oldest);
	free(t->newest);
	free(t->buckets);
}

uint32_t tags_find(const struct tag_store *t, uint32_t set, uint64_t address)
{
	if (!t->sets)
		return MEMORY_NONE;
	if (t->links) {
		uint32_t n = *bucket_of(t, address);
		while (n && t->tags[n - 1] != address + 1)
			n = t->links[n - 1].chain;
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
	if (!t->links) {
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

uint32_t tags_victim(const struct tag_store *t, uint32_t set)
{
	if (!t->sets)
		return MEMORY_NONE;
	if (t->links) {
		uint32_t n = t->oldest[set];
		while (n != MEMORY_NONE && t->lines[n].pending)
			n = t->links[n].newer;
		return n;
	}
	uint32_t first = set * t->ways, best = first;
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
	if (!t->links || !t->tags[n] || t->tags[n] == DROPPED)
		return;
	uint32_t *at = bucket_of(t, tags_address(t, n));
	while (*at != n + 1)
		at = &t->links[*at - 1].chain;
	*at = t->links[n].chain;
}

void tags_replace(struct tag_store *t, uint32_t set, uint32_t line, uint64_t address)
{
	leave_bucket(t, line);
	t->tags[line] = address + 1;
	t->lines[line] = (struct tag_line){0};
	if (t->links) {
		uint32_t *bucket = bucket_of(t, address);
		t->links[line].chain = *bucket;
		*bucket = line + 1;
	}
	tags_touch(t, set, line);
}

void tags_drop(struct tag_store *t, uint32_t set, uint32_t line)
{
	struct tag_line *l = &t->lines[line];
	leave_bucket(t, line);
	t->tags[line] = DROPPED;
	l->valid = l->pending = l->dirty = 0;
	if (!t->links) {
		t->stamps[line] = --t->dropped;
		return;
	}
	unlink_line(t, set, line);
	link_oldest(t, set, line);
}
