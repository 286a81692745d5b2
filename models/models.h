/*
 * models: GPU descriptions and the timing models.
 *
 * Pure functions of a launch's profile and a GPU: no files, no globals, no clocks, no printing. Whoever
 * calls brings the text of a description and takes an estimate away.
 */
#ifndef GPUSIM_MODELS_H
#define GPUSIM_MODELS_H

#include "models/code.h"
#include "models/gpu.h"

#include <stdint.h>

/* One launch as it ran on the host device. */
struct launch_profile {
	uint64_t global[3], local[3]; /* 1 in unused dimensions */
	uint64_t groups[3];
	uint64_t local_bytes;  /* dynamic local memory: __local arguments, per work-group */
	uint64_t entries;      /* work-items that entered the kernel, counted */
	const struct kernel_code *code;
};

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
};

enum { ESTIMATE_MAX_FLAGS = 8 };

struct estimate {
	const char *model;
	double cycles, time_ns, low_ns, high_ns;
	double issue_cycles, launch_cycles; /* add up to cycles */
	const char *limiter;
	uint64_t thread_instructions, warp_instructions, warps;
	struct occupancy occupancy;
	double lane_efficiency;
	const char *flags[ESTIMATE_MAX_FLAGS]; /* static strings, NULL-terminated unless full */
};

/* Residency of work-groups of `threads` work-items on one SM. */
struct occupancy gpu_occupancy(const struct gpu *gpu, uint64_t threads, uint32_t registers, uint64_t shared_bytes);
const char *occupancy_limit_name(enum occupancy_limit limit);

/* The first model: instructions over issue rate. The others replace it model by model. */
void model_issue_rate(const struct gpu *gpu, const struct launch_profile *launch, struct estimate *out);

#endif
