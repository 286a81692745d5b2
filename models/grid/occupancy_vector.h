/* occupancy_vector: the time of a launch, by simulation of its warps. */
#ifndef GPUSIM_MODELS_GRID_OCCUPANCY_VECTOR_H
#define GPUSIM_MODELS_GRID_OCCUPANCY_VECTOR_H

#include "models/sm/state/options.h"
#include "models/warps/warps.h"

struct warp_timing {
	double cycles;               /* of the launch, without launch overhead */
	double by[CYCLE_KIND_COUNT]; /* add up to cycles */
	uint64_t warp_instructions;  /* of the launch, extrapolated if need be */
	double longest_group;        /* cycles, of the groups that were simulated */
	double simulated_fraction;   /* of the warp instructions; SMs that do the same are simulated once */
	double spread;               /* by which cycles may be wrong, relative (ov_spread) */
	double bank_conflicts;
	uint32_t resident_groups;    /* per SM, at most */
	struct memory_statistics memory;
};

/*
 * The occupancy-vector model (GATSim, Algorithm 1, II-D, II-E; PPT 3.2 for grids larger than the machine).
 * blocks_per_sm: from gpu_occupancy. Returns 0 or a negative errno value.
 */
int model_occupancy_vector(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                           const struct warp_options *options, struct warp_timing *out, struct gs_error *err);

#endif
