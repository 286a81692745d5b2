/* plan: how much of a launch the occupancy vector simulates. */
#ifndef GPUSIM_MODELS_GRID_PLAN_H
#define GPUSIM_MODELS_GRID_PLAN_H

#include "models/grid/outcome.h"
#include "models/sampling/regions.h"
#include "models/sampling/runs.h"

/* What is simulated of a launch: groups 0..groups-1 of the plan, of which the sampler may skip some. */
struct ov_plan {
	uint64_t groups, all; /* groups of the plan and of the launch. Where the plan has fewer, ov_group_id says which */
	uint32_t sm_count;
	double reduced; /* a trial: to this share of the SMs that the launch itself was simulated with; 0: it is not */
	bool alike; /* some SMs stand for all because groups do the same (models/sampling/alike.h), and not because all would cost too much */
	bool jumps; /* over rounds of long loops (rates.h): else all of them are stepped through */
	double most_stepped; /* instructions, after which the simulation ends, and what is left goes on at the rate up to there; 0: no bound */
	/* By pattern group: those with the same number do the same, and SMs that got the same are simulated once. NULL: no two
	 * groups do. */
	const uint32_t *kinds;
	const struct group_run *runs; /* of neighbours, because they meet in memory (runs.h); NULL: evenly from all of the launch */
	size_t run_count;
	bool *left_out;  /* by group: nothing hangs on its SM, which has only such (leave_out); NULL: all are simulated */
	double unlike;   /* what the groups ask memory for per instruction, against all: by how much that differs */
	double capacity; /* of L2, that the simulated SMs have */
	/* Sampling within the launch; whole: groups that run at once. 0 regions: none is skipped. */
	const struct region *regions;
	size_t region_count;
	struct region_limits limits;
	uint64_t whole;
	const double *work;  /* of the plan's groups before each one, groups + 1 entries; NULL: group_work each */
	const double *asked; /* likewise: parts of requests, or with perfect memory requests */
	double group_work;
};
/* The launch's group number n of the plan. */
uint64_t ov_group_id(const struct ov_plan *plan, uint64_t n);

/* What there is to do. */
struct ov_work {
	const struct gpu *gpu;
	const struct launch_warps *warps;
	struct group_work *paths;   /* of a warp of each path */
	struct group_work *pattern; /* of each of its groups */
	uint32_t *kinds;     /* of the pattern's groups: the first that has the same paths */
	double instructions, traffic; /* of the launch */
	double stepped;      /* the share of the instructions that a simulation steps through */
	double stand_in;     /* struct launch_warps */
	double weight;       /* of an instruction: with its requests, of what it is without */
	bool uniform;        /* all groups do the same */
	bool exact, hierarchy;
	double most_steps;   /* as of struct warp_options */
	double share;        /* struct warp_options */
	bool gaps;           /* some path has: its rounds are not the iterations that there were */
};

/* Returns 0 or -ENOMEM; ov_work_free in any case. */
int ov_work_init(struct ov_work *work, const struct gpu *gpu, const struct launch_warps *w, const struct warp_options *options);
void ov_work_free(struct ov_work *work);

/* residency: groups that an SM holds. Returns 0 or -ENOMEM; the plan refers to the work, and is freed by ov_plan_free. */
int ov_plan_make(const struct ov_work *work, uint32_t residency, struct ov_plan *plan);
void ov_plan_free(struct ov_plan *plan);

/*
 * By how much cycles may be wrong that follow from what was simulated of the plan, relative; 0: all of the launch was, and all of its groups were traced. Each of
 * these may be off without the others, so that their squares add up: the rates of regions, how few SMs stand for all (uneven: balance_doubt),
 * what the chosen groups ask memory for per instruction against all, and MEMORY_CHANCE.
 */
double ov_spread(const struct ov_work *work, const struct ov_plan *plan, const struct ov_outcome *o, double cycles, double uneven);

#endif
