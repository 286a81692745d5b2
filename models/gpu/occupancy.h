/*
 * Occupancy: how many work-groups of a kernel one SM holds at once, and which of its resources limits them.
 */
#ifndef GPUSIM_MODELS_GPU_OCCUPANCY_H
#define GPUSIM_MODELS_GPU_OCCUPANCY_H

#include "models/gpu/gpu.h"

#include <stdint.h>

enum occupancy_limit {
	OCCUPANCY_WARPS,
	OCCUPANCY_BLOCKS,
	OCCUPANCY_REGISTERS,
	OCCUPANCY_SHARED,
	OCCUPANCY_GRID, /* the launch has fewer groups than the GPU has room for */
	OCCUPANCY_NONE, /* not even one group fits */
};

struct occupancy {
	uint32_t warps_per_block, blocks_per_sm;
	double fraction; /* resident warps / max_warps_per_sm when the SM is full */
	enum occupancy_limit limit;
	uint32_t allowed[OCCUPANCY_GRID]; /* groups that each limit would, alone; UINT32_MAX where it is none */
};

/* The registers that a thread gets, if its code needs so many. 0, not known, stays 0. */
uint32_t gpu_thread_registers(const struct gpu *gpu, uint32_t registers);
/* Residency of work-groups of `threads` work-items on one SM. */
struct occupancy gpu_occupancy(const struct gpu *gpu, uint64_t threads, uint32_t registers, uint64_t shared_bytes);
/*
 * Occupancy is of an SM that is full. These two tell whether a launch of so many groups fills all SMs: the share of SMs that get a group, and how
 * many times the groups that are resident at once are launched (waves). 0 where no group fits.
 */
double gpu_sm_use(const struct gpu *gpu, const struct occupancy *o, uint64_t groups);
double gpu_waves(const struct gpu *gpu, const struct occupancy *o, uint64_t groups);
const char *occupancy_limit_name(enum occupancy_limit limit);

#endif
