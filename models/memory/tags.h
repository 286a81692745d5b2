/* tags: the tags of a set-associative cache. The least recently used line goes first. */
#ifndef GPUSIM_MODELS_MEMORY_TAGS_H
#define GPUSIM_MODELS_MEMORY_TAGS_H

#include "models/memory/ticks.h"
#include "models/util/hash.h"

#include <stdbool.h>

struct tag_line {
	uint32_t valid, pending, dirty; /* sectors; pending: asked for, the line cannot go; dirty alone: to be fetched before it is read */
	uint32_t atomics; /* what those since the line came took, in MEMORY_PARTS of a cycle */
};
/* A line of a cache of many ways, with its links: half a line of the host's cache. Ways fit in 16 bits: no description of a GPU has more. */
struct tag_entry {
	struct tag_line line;
	uint64_t tag;
	uint32_t chain;        /* the next of the bucket, + 1 */
	uint16_t older, newer; /* ways of the set; the oldest has no older, the newest no newer one */
};
/* Few ways: a set's tags and stamps are searched. Many: lines are found by a hash of their address, and are in lists by age. */
struct tag_store {
	uint64_t *tags; /* few ways: per line, its address + 1; 0: it has none */
	struct tag_line *lines; /* few ways; of a set without any address, not written yet */
	int64_t *stamps; /* likewise: when lines were used; the least goes first, then the first way */
	int64_t used, dropped;
	struct tag_entry *entries; /* many ways */
	uint32_t *oldest, *newest; /* per set, a line */
	uint32_t *buckets;         /* of a hash of addresses: line + 1 */
	uint32_t sets, ways, bucket_mask;
	bool unused; /* many ways: no line has come, and nothing above is written yet */
};
/* Returns 0 or -ENOMEM. Without room for a line, it never has one. */
int tags_init(struct tag_store *t, uint64_t lines, uint32_t ways);
void tags_free(struct tag_store *t);
/* The index of the set's line with the address, or MEMORY_NONE. */
uint32_t tags_find(const struct tag_store *t, uint32_t set, uint64_t address);
void tags_touch(struct tag_store *t, uint32_t set, uint32_t line);
/* The line of the set that goes next: the least recently used of those that nothing is pending for. MEMORY_NONE: all wait. */
uint32_t tags_victim(struct tag_store *t, uint32_t set);
/* Gives a victim to another address, without sectors. */
void tags_replace(struct tag_store *t, uint32_t set, uint32_t line, uint64_t address);
/* The line is the next to go. */
void tags_drop(struct tag_store *t, uint32_t set, uint32_t line);

static inline uint32_t *tags_bucket(const struct tag_store *t, uint64_t address)
{
	return &t->buckets[(uint32_t)(hash_high(address) >> 40) & t->bucket_mask];
}

/* Of many ways: the address will be looked for soon. */
static inline void tags_prefetch_address(const struct tag_store *t, uint64_t address)
{
	if (t->entries)
		__builtin_prefetch(tags_bucket(t, address));
}

/* Of few ways: the set will be searched soon. */
static inline void tags_prefetch(const struct tag_store *t, uint32_t set)
{
	if (t->entries)
		return;
	__builtin_prefetch(&t->stamps[set * t->ways]);
	const char *first = (const char *)&t->tags[set * t->ways];
	for (uint32_t at = 0; at < t->ways * sizeof *t->tags; at += 64)
		__builtin_prefetch(first + at);
}

/* Whether the line ever had an address. If not, nothing else is known of it. */
static inline bool tags_was_used(const struct tag_store *t, uint32_t line)
{
	return !t->unused && (t->entries ? t->entries[line].tag : t->tags[line]);
}

static inline struct tag_line *tags_line(const struct tag_store *t, uint32_t line)
{
	return t->entries ? &t->entries[line].line : &t->lines[line];
}

/* Of a line that has one. */
static inline uint64_t tags_address(const struct tag_store *t, uint32_t line)
{
	return (t->entries ? t->entries[line].tag : t->tags[line]) - 1;
}

#endif
