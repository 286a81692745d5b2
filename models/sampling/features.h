/* features: what TBPoint compares launches by, and groups, from the warps of a launch. */
#ifndef GPUSIM_MODELS_SAMPLING_FEATURES_H
#define GPUSIM_MODELS_SAMPLING_FEATURES_H

#include "models/sampling/cluster.h"
#include "models/sampling/regions.h"
#include "models/warps/warps.h"

/* thread_instructions and kind are the caller's. Returns 0 or -ENOMEM. */
int warp_features(const struct launch_warps *warps, struct launch_features *out);
/* What each group of the pattern does; the caller frees it. NULL: out of memory. */
struct group_work *pattern_work(const struct launch_warps *warps);

#endif
