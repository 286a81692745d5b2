/* memory_walk: what caches do with a launch's requests, without time; for the analytical models. */
#ifndef GPUSIM_MODELS_TRAFFIC_WALK_H
#define GPUSIM_MODELS_TRAFFIC_WALK_H

#include "models/warps/warps.h"

struct memory_walk {
	double load_latency;            /* cycles, mean over loads of global memory; 0: there are none */
	double l2_cycles, dram_cycles;  /* what L2 with its interconnect, and DRAM, need for the whole launch, at least */
	struct memory_statistics memory; /* of the whole launch; shares are not known */
};
/* resident: groups of an SM at once. Returns 0 or -ENOMEM. */
int memory_walk(const struct gpu *gpu, const struct launch_warps *warps, uint32_t resident, uint64_t shared_bytes,
                struct memory_walk *out);

#endif
