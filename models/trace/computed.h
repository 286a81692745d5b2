/*
 * computed: some groups of a launch as if they had been traced: the ways of their lanes from counters (walk.h), their addresses from the
 * code (models/accesses/computer.h). Used by warps.c in place of a trace.
 */
#ifndef GPUSIM_MODELS_TRACE_COMPUTED_H
#define GPUSIM_MODELS_TRACE_COMPUTED_H

#include "models/accesses/computer.h"
#include "models/trace/trace.h"
#include "models/trace/warps.h"
#include "models/warps/replay.h"

struct computed_groups {
	struct launch_trace trace; /* the groups, whose lanes have no events */
	struct address_computer *computer;
	uint64_t kept, wanted; /* blocks of all lanes up to now: the ways of long ones are cut */
	bool inconsistent;
	/* The rest is computed.c's own. */
	const struct kernel_code *code;
	const struct lane_counts *lanes;
	struct lane_trace *none;
	struct gs_buf walks[REPLAY_MOST_LANES];
	uint32_t *row, *last;
	uint64_t *counts;
	struct code_counts sums;
	uint64_t room, seed; /* room: blocks of a lane, at most */
};

/* Chooses the groups. Returns 0 or -ENOMEM; the caller frees with computed_free in both cases. */
int computed_start(const struct kernel_code *code, const struct launch_arguments *arguments, const struct trace_shape *shape,
                   const struct lane_counts *lanes, const uint16_t *usual, struct computed_groups *out);
/* The ways of a warp's lanes, which live until the next warp begins. Returns 0 or -ENOMEM. */
int computed_begin(struct computed_groups *c, uint64_t group, uint32_t first, uint32_t lane_count, struct lane_path *paths);
void computed_free(struct computed_groups *c);

#endif
