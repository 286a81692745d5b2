/* tags: the tags of a set-associative cache. The least recently used line goes first. */
#ifndef GPUSIM_MODELS_MEMORY_TAGS_H
#define GPUSIM_MODELS_MEMORY_TAGS_H

#include "models/memory/ticks.h"
#include <stdbool.h>

struct tag_line {
	uint64_t address;
	uint32_t valid, pending, dirty; /* sectors; pending: asked for, the line cannot go; dirty alone: to be fetched before it is read */
	uint32_t older, newer, chain;
	uint32_t atomics; /* operations, since the line came */
};
struct tag_store {
	struct tag_line *lines;
	uint32_t *oldest, *newest; /* per set */
	uint32_t *buckets;         /* of a hash of addresses */
	uint32_t sets, ways, bucket_mask;
};
/* Returns 0 or -ENOMEM. Without room for a line, it never has one. */
int tags_init(struct tag_store *t, uint64_t lines, uint32_t ways);
void tags_free(struct tag_store *t);
/* The line's index, or MEMORY_NONE. */
uint32_t tags_find(const struct tag_store *t, uint64_t address);
void tags_touch(struct tag_store *t, uint32_t set, uint32_t line);
/* The line of the set that goes next: the least recently used of those that nothing is pending for. MEMORY_NONE: all wait. */
uint32_t tags_victim(const struct tag_store *t, uint32_t set);
/* Gives a victim to another address, without sectors. */
void tags_replace(struct tag_store *t, uint32_t set, uint32_t line, uint64_t address);
/* The line is the next to go. */
void tags_drop(struct tag_store *t, uint32_t set, uint32_t line);

#endif
