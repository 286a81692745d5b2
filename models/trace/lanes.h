/*
 * trace_lanes: one traced work-item as the target runs it: its way through the target's blocks, and, step by step, where
 * its memory instructions go. Used by models/trace/warps.c.
 */
#ifndef GPUSIM_MODELS_TRACE_LANES_H
#define GPUSIM_MODELS_TRACE_LANES_H

#include "models/warps/synthesise.h"
#include "models/trace/trace.h"
#include "models/trace/walk.h"

/* What all lanes of a launch share. */
struct trace_reader;
/* lanes: the counters of single work-items, which show edges that were not taken; NULL: not known. Everything must outlive
 * the reader. NULL when memory runs out. */
struct trace_reader *trace_reader_new(const struct kernel_code *code, const struct launch_trace *trace,
                                      const struct lane_counts *lanes);
void trace_reader_free(struct trace_reader *r); /* NULL is fine */

/* A lane's way. Lanes of one warp that went the same way share it. */
struct traced_way {
	uint32_t *blocks; /* of the target */
	uint32_t *before; /* by step: source blocks that had begun before it; one more than steps */
	uint32_t *source; /* the source blocks */
	size_t steps, source_count;
	bool guessed; /* no way agreed with the trace: made from counts */
	bool shortened; /* guessed, and not as long as counts say */
	bool cut;     /* the trace ends before the work-item did */
};

struct traced_lane; /* filled anew for every work-item */
struct traced_lane *traced_lane_new(const struct trace_reader *r);
void traced_lane_free(struct traced_lane *l);

/* Iterations that the trace of a lane leaves out (struct trace_gap), as steps of its way. */
struct way_gap {
	size_t from, at; /* steps from..at-1 are the iterations of the window; at == steps: at the end of the way */
	uint32_t body;   /* source block */
	uint32_t kept;
	uint64_t iterations;
};

/* A new warp begins: ways that were handed out before may go. */
void trace_reader_next_warp(struct trace_reader *r);
/* Finds the way of a work-item. Returns 0, -ENOMEM, or -ENOENT where there is none. */
int traced_lane_begin(struct trace_reader *r, struct traced_lane *l, const struct traced_group *group, uint32_t item);
const struct traced_way *traced_lane_way(const struct traced_lane *l);
/* In the order of `at`. A gap in a loop that the target's code does not have is not among them. */
const struct way_gap *traced_lane_gaps(const struct traced_lane *l, size_t *count);

/* The lane executes its next step, which is in this block of the target. */
void traced_lane_step(struct traced_lane *l);
/* Where an instruction of the step goes; false where the trace does not have it. Each is asked once per step, in order. *bytes: where
 * the trace says them and the code does not, those of a bulk copy or of a texel; else 0. */
bool traced_lane_address(struct traced_lane *l, uint32_t instruction, uint64_t *address, uint32_t *bytes);
/* The block that follows the step, or -1 at the end. */
int32_t traced_lane_next(const struct traced_lane *l);

#endif
