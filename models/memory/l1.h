/* l1: the first-level cache of an SM. */
#ifndef GPUSIM_MODELS_MEMORY_L1_H
#define GPUSIM_MODELS_MEMORY_L1_H

#include "models/memory/ticks.h"
#include <stdbool.h>

struct l1_config {
	uint64_t bytes, line_bytes;
	uint32_t ways, mshrs, merges;
	bool hash, sectored, on_fill, store_evicts, local_write_back;
	uint32_t store_allocates; /* 0: no; 1: of whole sectors; 2: any */
};
struct l1_cache;
struct l1_cache *l1_new(const struct l1_config *config);
void l1_free(struct l1_cache *c);
enum l1_result { L1_HIT, L1_WAITS, L1_FULL };
struct l1_request {
	uint32_t entry, sectors; /* to be asked for; sectors 0: nothing */
	uint64_t evicted;        /* line that is written back, with `dirty` sectors; 0: none */
	uint32_t dirty;
};
/* A load of sectors of a line by `who`. l1_fill calls back with `who` once for each of *waits entries. L1_FULL changes nothing. */
enum l1_result l1_load(struct l1_cache *c, uint64_t line, uint32_t sectors, uint32_t who, uint32_t *waits,
                       struct l1_request *ask);
/* The line will be looked for soon. */
void l1_prefetch(const struct l1_cache *c, uint64_t line);
uint64_t l1_lines(const struct l1_cache *c);
/* A load without time. Returns whether the line was there; if not, it is now. */
bool l1_touch(struct l1_cache *c, uint64_t line, uint32_t sectors);
bool l1_has(const struct l1_cache *c, uint64_t line, uint32_t sectors);
/* A store. False: nothing to send, since local memory is written back later. */
bool l1_store(struct l1_cache *c, uint64_t line, uint32_t sectors, bool whole, bool local);
/* Nothing that is there is found any more, but what waits to be written back. */
void l1_forget(struct l1_cache *c);
/* The sectors of an entry have come. */
typedef void l1_waiter_fn(void *ctx, uint32_t who);
void l1_fill(struct l1_cache *c, uint32_t entry, l1_waiter_fn *on_waiter, void *ctx);
bool l1_failed(const struct l1_cache *c); /* out of memory */

#endif
