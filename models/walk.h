/* walk: one warp's way through the code, given how often it took every edge. Used by synthesise.c. */
#ifndef GPUSIM_WALK_H
#define GPUSIM_WALK_H

#include "models/code.h"

struct walk_counts {
	const double *edges, *blocks; /* executions by the warp: the most of its lanes */
};

/* Appends the blocks to *path (uint32_t each), at most `most` of them. Returns how many the counts ask for, so that
 * the caller sees whether the path was cut; or -ENOMEM. */
int64_t walk_warp(const struct kernel_code *code, const struct walk_counts *counts, uint64_t most, struct gs_buf *path);

#endif
