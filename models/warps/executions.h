/*
 * Every execution of an instruction by the warps of a launch, path by path: for what is summed up over them. Inline, so that
 * a visitor is part of the loop: paths have millions of executions.
 */
#ifndef GPUSIM_MODELS_WARPS_EXECUTIONS_H
#define GPUSIM_MODELS_WARPS_EXECUTIONS_H

#include "models/warps/attribution.h"
#include "models/warps/warps.h"

#include <errno.h>
#include <stdlib.h>

/* Instruction i of the code, executed `times`; if it has accesses, it is number `next` of those of the path. */
typedef void execution_visitor(const struct launch_warps *warps, const struct warp_path *path, size_t next, uint32_t i,
                               double times, void *data);

static inline int each_execution_of(const struct launch_warps *w, const struct warp_path *path, double times,
                                    execution_visitor *visit, void *data)
{
	size_t next = 0;
	for (size_t b = 0; b < path->block_count; b++) {
		if (path->blocks[b] >= w->code->block_count)
			return -EINVAL;
		const struct code_block *block = &w->code->blocks[path->blocks[b]];
		double executed = times * path_weight(path, b);
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			visit(w, path, next, i, executed, data);
			next += code_has_accesses(w->code->code[i].class);
		}
	}
	return 0;
}

/* `times` is that of the launch. -EINVAL for a path outside of the code. */
static inline int each_execution(const struct launch_warps *w, double times, execution_visitor *visit, void *data)
{
	double *path_warps = calloc(w->path_count + 1, sizeof *path_warps);
	int rc = path_warps ? count_path_warps(w, path_warps) : -ENOMEM;
	for (uint32_t n = 0; n < w->path_count && !rc; n++)
		rc = each_execution_of(w, &w->paths[n], times * path_warps[n], visit, data);
	free(path_warps);
	return rc;
}

#endif
