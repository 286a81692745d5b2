/* memory_state: what an SM has of memory: its L1, and instructions that wait for it. The stage is memory.h. */
#ifndef GPUSIM_MODELS_SM_STATE_MEMORY_STATE_H
#define GPUSIM_MODELS_SM_STATE_MEMORY_STATE_H

#include "models/memory/l1.h"
#include "models/memory/system.h"
#include "models/memory/tags.h"
#include "models/sm/state/sizes.h"
#include "models/util/pool.h"

struct ov_memory_counts { /* looked_up, hits: sectors of loads, in L1; a hit is not asked for, because it is there or on its way */
	uint64_t requests, parts, looked_up, hits, shared, shared_accesses, latency_count;
	double latency_sum;
};

/* An instruction under way. */
struct ov_access {
	uint32_t op, next;
	uint16_t slot, parts; /* parts: not yet looked up */
	uint32_t waits;       /* answers to come */
	uint64_t last;        /* when its last part is done, of those that are */
	uint64_t begun;
	bool missed, hit; /* some of its lines; hit: they need not be asked for */
};

struct ov_part {
	uint64_t ready, address;
	uint32_t access, sectors;
	float cycles; /* that its lookup takes */
	uint16_t bytes;
	bool store, local;
};

/* A line of constants that has come is kept so long at least. Measured: of 8 warps a scheduler that load 16 words of each line, one every 18 cycles, each has
 * it brought 9.3 times. */
enum { CONSTANT_KEPT_CYCLES = 12 };

/* Of constants, that a scheduler keeps: when it was used last, and since when it is there; 0: nothing. */
struct ov_constant_line {
	uint64_t address, used, ready;
};

/* A line of which a store waits to leave, or has left. */
enum { SENT_STORES = 64 };
struct ov_sent_store {
	uint64_t address, left; /* left 0: none */
	uint32_t sectors;
};

struct ov_memory {
	struct memory_system *system;
	uint32_t index; /* of the SM */
	struct l1_cache *l1;
	struct tag_store constants, lines; /* lines: of instructions */
	uint64_t *constant_entries; /* when each of const_mshrs is free again */
	uint64_t constants_taken;   /* when the last line that had to wait for one of them is asked for */
	struct ov_constant_line *uniform_lines; /* of each scheduler, one after the other */
	uint32_t uniform_lines_each;
	uint64_t uniform_free, uniform_turns; /* when the SM brings the next one; of warps that waited for a place */
	struct ov_access *accesses;
	struct pool access_pool;
	struct ov_part *parts; /* a ring, of a power of two */
	uint32_t part_capacity, part_head, part_count, room;
	uint64_t *leaving; /* a ring: when requests leave, of those that wait to */
	uint32_t leaving_head, leaving_count;
	struct ov_sent_store sent[SENT_STORES]; /* by a hash of the line */
	uint64_t next_step, written; /* when the queue's first is looked up; when the last result was written */
	bool filled; /* the line that has come has been written already */
	double lookup_free; /* the cycle from which tags are looked up again */
	uint64_t data_free; /* when L1's data have been written with what was stored and what was asked for, and read by filters */
	uint32_t hit_cycles; /* from the lookup of a load that hits to its value */
	uint32_t unit_op, unit_accesses; /* what the unit was given last */
	struct memory_part *moved; /* parts of a request whose warp is in the rounds of a gap; NULL: no path has gaps */
	struct ov_memory_counts counts;
	double latency_sum;
	uint64_t latency_count;
};

struct ov_sm;
int ov_memory_init(struct ov_sm *sm, struct memory_system *system, uint32_t index);
void ov_memory_free(struct ov_sm *sm);
/* A warp does blocks first..end-1 of a window in one of its rounds without time, as far as caches are concerned. */
void ov_memory_touch(struct ov_sm *sm, uint32_t slot, uint32_t gap, double round, uint32_t first, uint32_t end);
struct ov_memory_counts ov_memory_counts(const struct ov_sm *sm);

#endif
