/* See pool.h. */
#include "models/util/pool.h"

#include <stdlib.h>
#include <string.h>

enum { CACHE_LINE = 64 }; /* of the host: a record of that size is in one. Changes the speed only */
enum { FIRST_RECORDS = 64 }; /* of a pool; it then doubles. Not more than a few KB for the smallest launch. */

void *pool_grow(struct pool *pool, void *records, size_t size, size_t link)
{
	uint32_t capacity = pool->capacity ? 2 * pool->capacity : FIRST_RECORDS;
	char *grown = aligned_alloc(CACHE_LINE, (capacity * size + CACHE_LINE - 1) / CACHE_LINE * CACHE_LINE);
	if (!grown)
		return NULL;
	if (records)
		memcpy(grown, records, pool->capacity * size);
	free(records);
	for (uint32_t i = pool->capacity; i < capacity; i++) {
		uint32_t next = i + 1 < capacity ? i + 1 : POOL_NONE;
		memcpy(grown + i * size + link, &next, sizeof next);
	}
	pool->first_free = pool->capacity;
	pool->capacity = capacity;
	return grown;
}
