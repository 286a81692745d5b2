/*
 * pool: an array of records that grows, with a list of the free ones.
 *
 * The caller keeps the array, with its own type, and names the uint32_t field that links free records; while a record is in use, the
 * field is the caller's. Indices stay valid when the array grows; pointers do not. Records that are given back are taken first.
 */
#ifndef GPUSIM_MODELS_UTIL_POOL_H
#define GPUSIM_MODELS_UTIL_POOL_H

#include <stddef.h>
#include <stdint.h>

#define POOL_NONE UINT32_MAX

struct pool {
	uint32_t capacity, first_free;
};
#define POOL_EMPTY {.capacity = 0, .first_free = POOL_NONE}

/* Adds records of `size` bytes, whose link is `link` bytes from their begin. Returns the array, or NULL: out of memory. */
void *pool_grow(struct pool *pool, void *records, size_t size, size_t link);

/* The index of a record that nobody uses, or POOL_NONE: out of memory. */
#define pool_take(pool, records, link)                                                                                 \
	({                                                                                                             \
		if (__builtin_expect((pool)->first_free == POOL_NONE, 0)) {                                            \
			void *grown_ = pool_grow(pool, records, sizeof *(records), offsetof(__typeof__(*(records)), link)); \
			(records) = grown_ ? grown_ : (records);                                                       \
		}                                                                                                      \
		uint32_t taken_ = (pool)->first_free;                                                                  \
		if (__builtin_expect(taken_ != POOL_NONE, 1))                                                          \
			(pool)->first_free = (records)[taken_].link;                                                   \
		taken_;                                                                                                \
	})

/* The record is free again. */
#define pool_give(pool, records, link, index)                                                                          \
	((void)((records)[index].link = (pool)->first_free, (pool)->first_free = (index)))

#endif
