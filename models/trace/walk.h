/*
 * trace_walk: a work-item's way through the target's blocks, found from the source blocks that its trace has.
 *
 * walk.c makes a way from counts alone and guesses the order; this one follows the trace. Used by models/trace/warps.c.
 */
#ifndef GPUSIM_MODELS_TRACE_WALK_H
#define GPUSIM_MODELS_TRACE_WALK_H

#include "models/code/code.h"

/* One block of the target on the way. */
struct trace_step {
	uint32_t block;
	uint32_t before; /* source blocks of the trace that had begun before it, and before the edge that leads to it */
};

struct trace_walker; /* what is known and learnt of one code, for all lanes */
/* NULL when memory runs out. The code must outlive it. */
struct trace_walker *trace_walker_new(const struct kernel_code *code);
void trace_walker_free(struct trace_walker *w); /* NULL is fine */
/* Whether the target's code has a source block. Others are left out of what trace_walk gets. */
bool trace_walker_knows(const struct trace_walker *w, uint32_t source_block);
/* A source block that begins without its trace saying so. */
void trace_walker_ignore(struct trace_walker *w, uint32_t source_block);

/*
 * Appends the steps to *path. blocks: the source blocks that began, in order, known ones only. edges: how often the lane
 * took each edge, where that is known, or NULL; what has 0 is avoided. cut: the trace is only the begin, and so is the way. -ENOENT: no way agrees with the trace, and *path is
 * as it was; -ENOMEM.
 */
int trace_walk(struct trace_walker *w, const uint32_t *blocks, size_t count, bool cut, const double *edges, struct gs_buf *path);
/* Whether the last walk had a choice: there may have been another way that agrees. */
bool trace_walk_had_choice(const struct trace_walker *w);

#endif
