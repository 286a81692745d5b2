/* walk: one work-item's way through the code, given how often it took every edge. Used by synthesise.c. */
#ifndef GPUSIM_MODELS_WARPS_WALK_H
#define GPUSIM_MODELS_WARPS_WALK_H

#include "models/code/code.h"

/* Appends the blocks to *path (uint32_t each), at most `most` of them; the seed orders branches that may differ from
 * lane to lane. Returns how many blocks the counts ask for, so that the caller sees whether the path was cut; or -ENOMEM. */
int64_t walk_lane(const struct kernel_code *code, const double *edges, uint64_t seed, uint64_t most, struct gs_buf *path);

/* Whether two lanes with the same counts may still go different ways at the same time. */
bool walk_may_differ(const struct kernel_code *code, const double *edges);

#endif
