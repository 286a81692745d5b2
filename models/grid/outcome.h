/* outcome: what simulated SMs did. */
#ifndef GPUSIM_MODELS_GRID_OUTCOME_H
#define GPUSIM_MODELS_GRID_OUTCOME_H

#include "models/sm/state/sm.h"

struct ov_outcome {
	uint64_t cycles, instructions, conflicts; /* of all SMs; cycles without skipped ones */
	uint64_t stepped;              /* instructions, where an SM stands for others once; without those that were jumped over */
	uint64_t stepped_cycles;       /* likewise */
	uint64_t by[CYCLE_KIND_COUNT]; /* of the SM that ends last */
	uint64_t longest_group;        /* cycles */
	struct memory_statistics memory;
	double stopped; /* instructions that were done when the simulation ended before the launch did; 0: it did not */
	double left_cycles, left_instructions; /* of the groups that ran then (rest.h) */
	double left_rate; /* instructions per cycle of the SMs before that */
	double hottest_atomics; /* cycles, see memory.h */
	double skipped_instructions, skipped_cycles, spread_cycles; /* see struct region_sampler */
};

/* Adds what an SM that has ended did (grid.c). */
void ov_add_up(const struct ov_sm *sm, uint32_t stands_for, struct ov_outcome *out);

#endif
