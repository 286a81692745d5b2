/* features: what TBPoint compares groups by, from the warps of a launch. */
#ifndef GPUSIM_MODELS_SAMPLING_FEATURES_H
#define GPUSIM_MODELS_SAMPLING_FEATURES_H

#include "models/sampling/regions.h"
#include "models/warps/warps.h"

/* What a warp of each path does; the caller frees it. NULL: out of memory. */
struct group_work *paths_work(const struct launch_warps *warps);
/* What each group of the pattern does, from what its paths do; the caller frees it. NULL: out of memory. */
struct group_work *pattern_work(const struct launch_warps *warps, const struct group_work *paths);

#endif
