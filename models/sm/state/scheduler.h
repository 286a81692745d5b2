/* scheduler: the warps of a scheduler, by what they can do next. */
#ifndef GPUSIM_MODELS_SM_STATE_SCHEDULER_H
#define GPUSIM_MODELS_SM_STATE_SCHEDULER_H

#include "models/sm/state/warp.h"

struct ov_scheduler {
	uint64_t word[OV_PLACES]; /* the masks of places, where positions fit into a word */
	uint64_t *places; /* for each word of positions, OV_PLACES masks */
	uint64_t *unfinished, *active; /* by position */
	uint32_t *slot_at;
	uint32_t next_position; /* where a new warp goes, if by age */
	uint32_t last_slot, last_position; /* that issued last */
	uint32_t last_op; /* that it issued */
};

#endif
