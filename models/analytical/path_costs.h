/*
 * path_costs: what the paths of a launch's warps take, each warp alone, and what all of them use together.
 */
#ifndef GPUSIM_MODELS_ANALYTICAL_PATH_COSTS_H
#define GPUSIM_MODELS_ANALYTICAL_PATH_COSTS_H

#include "models/code/costs.h"
#include "models/warps/warps.h"

/* Sums over executed instructions. */
struct usage {
	double busy[RESOURCE_COUNT];      /* cycles, all units of a kind together; fetches in vain included */
	double collectors[RESOURCE_COUNT]; /* cycles of collectors, by the unit that the instruction goes to */
	double readers[RESOURCE_COUNT];   /* instructions that read registers, by unit */
	double instructions, reads, writes, writers;
	double own_conflicts;             /* reads of a bank that the same instruction reads already */
	double barriers;
};

struct path_cost {
	struct usage usage;
	double latency;      /* from the first fetch to the last write-back */
	double memory_stall; /* of it, waiting for memory */
	double waits;        /* instructions that waited for a result: each adds its producer's delays */
	double weight;       /* work, to compare paths by */
};

struct launch_costs {
	struct path_cost *paths;  /* path_count entries */
	double *path_warps;       /* warps of the launch that take each path */
	double *block_executions; /* by warps of the launch, block_count entries */
	double *sm_loads;         /* room for a number per SM: busiest_sm_groups */
	struct usage total;       /* of the launch */
	double slot_cycles[RESOURCE_COUNT]; /* of units, if they complete one instruction per cycle; 0: no matter */
	double ldst_variation;              /* of accesses per instruction: variance / mean^2 */
	double late_loads, late_accesses;   /* loads of the launch whose data comes from beyond L1 in several parts; their accesses */
	/* Of a group, on average: its slowest warp. */
	double group_latency, group_memory_stall, group_waits;
	double warp_latency, warp_waits; /* on average */
	double longest_latency;          /* of any warp */
};

/* Returns 0, -ENOMEM, or -EINVAL where a path leads outside of the code; the caller frees with launch_costs_free. */
int launch_costs(const struct gpu *gpu, const struct launch_warps *warps, struct launch_costs *out, struct gs_error *err);
void launch_costs_free(struct launch_costs *c);
void usage_add(struct usage *to, const struct usage *from, double times);

/*
 * Core cycles that an SM's units of a kind take for one instruction, in order of arrival, if they complete one per cycle
 * and unit (completion_slots); 0: they never hold one up. Returns 0 or -ENOMEM. The cycles are those of a sample of what the
 * warps execute, a fetch at a time; its seed is fixed.
 */
int unit_cycles_per_instruction(const struct gpu *gpu, const struct kernel_code *code, const double *block_executions,
                                enum pipeline_resource unit, double *out);

#endif
