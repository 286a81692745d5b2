/* features: what TBPoint compares groups by, from the warps of a launch. */
#ifndef GPUSIM_MODELS_SAMPLING_FEATURES_H
#define GPUSIM_MODELS_SAMPLING_FEATURES_H

#include "models/sampling/regions.h"
#include "models/warps/warps.h"

/* What each group of the pattern does; the caller frees it. NULL: out of memory. */
struct group_work *pattern_work(const struct launch_warps *warps);

#endif
