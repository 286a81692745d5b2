/* features: what TBPoint compares launches by, from the warps of one. */
#ifndef GPUSIM_FEATURES_H
#define GPUSIM_FEATURES_H

#include "models/cluster.h"
#include "models/warps.h"

/* thread_instructions and kind are the caller's. Returns 0 or -ENOMEM. */
int warp_features(const struct launch_warps *warps, struct launch_features *out);

#endif
