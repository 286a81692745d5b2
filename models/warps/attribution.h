/*
 * attribution: what each instruction of a kernel did in a launch, and its share of the launch's cycles. The reports add
 * it up by lines of the source.
 */
#ifndef GPUSIM_MODELS_WARPS_ATTRIBUTION_H
#define GPUSIM_MODELS_WARPS_ATTRIBUTION_H

#include "models/util/bits.h"
#include "models/warps/warps.h"

/* Executions of one instruction. */
struct instruction_count {
	double threads;      /* by active lanes */
	double warps;        /* by warps */
	double transactions; /* of memory instructions: accesses that those of the warps fell apart into */
	double requests;     /* of these executions, those that go through L1 and whose addresses are known */
	double sectors;      /* of 32 bytes, that these touch */
};

/* Adds to path_warps, path_count entries, how many warps of the launch take each path. -EINVAL for a path that there is not. */
int count_path_warps(const struct launch_warps *warps, double *path_warps);
/* The accesses of the path's `next`-th execution of a memory instruction, which is instruction i of the code: at least 1. */
double path_accesses(const struct launch_warps *warps, const struct warp_path *path, size_t next, uint32_t i);

/* Sectors of 32 bytes that access n of a path touches; the path has requests. */
static inline double path_sectors(const struct warp_path *path, size_t n)
{
	double sectors = 0;
	for (uint32_t p = path->requests->first[n]; p < path->requests->first[n + 1]; p++)
		sectors += bits_set(path->requests->parts[p].sectors);
	return sectors;
}

/* Adds `times` the warps' executions and transactions; counts has code_count entries. -EINVAL for a path outside of the code. */
int count_warp_executions(const struct launch_warps *warps, double times, struct instruction_count *counts);

/*
 * Shares out the cycles of a launch, or of many, over the instructions that can cause them: issue and fetch over all
 * executions, a unit's over those that it ran, each by how long it keeps the unit; waits for results over what makes results,
 * by latency; barriers over barriers. What no instruction causes, the launch itself and the tail, is left out.
 * cycles: code_count entries.
 */
void attribute_cycles(const struct gpu *gpu, const struct kernel_code *code, const struct instruction_count *counts,
                      const double by[CYCLE_KIND_COUNT], double *cycles);
/* Adds to cycles those of one kind, `all` in sum. */
void attribute_kind(const struct gpu *gpu, const struct kernel_code *code, const struct instruction_count *counts,
                    enum cycle_kind kind, double all, double *cycles);

/* Floating-point operations of one execution by a lane: 2 for a fused multiply-add; `bits` is 32 or 64. */
unsigned instruction_flops(const struct code_instruction *i, unsigned bits);

#endif
