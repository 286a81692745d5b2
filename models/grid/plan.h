/* ov_plan: how much of a launch the occupancy vector simulates (ov.h). */
#ifndef GPUSIM_MODELS_GRID_PLAN_H
#define GPUSIM_MODELS_GRID_PLAN_H

#include "models/sm/ov.h"

/* What there is to do. */
struct ov_work {
	const struct gpu *gpu;
	const struct launch_warps *warps;
	struct group_work *pattern; /* of each of its groups */
	uint32_t *kinds;     /* of the pattern's groups: the first that has the same paths */
	double instructions, traffic; /* of the launch */
	double weight;       /* of an instruction: with its requests, of what it is without */
	bool uniform;        /* all groups do the same */
	bool exact, hierarchy;
};

/* Returns 0 or -ENOMEM; ov_work_free in any case. */
int ov_work_init(struct ov_work *work, const struct gpu *gpu, const struct launch_warps *w, const struct warp_options *options);
void ov_work_free(struct ov_work *work);

/* residency: groups that an SM holds. Returns 0 or -ENOMEM; the plan refers to the work, and is freed by ov_plan_free. */
int ov_plan_make(const struct ov_work *work, uint32_t residency, struct ov_plan *plan);
void ov_plan_free(struct ov_plan *plan);

/*
 * By how much cycles may be wrong that follow from what was simulated of the plan, relative; 0: all of the launch was. Each of
 * these may be off without the others, so that their squares add up: the rates of regions, a group more or less on each of few SMs, what
 * the chosen groups ask memory for per instruction against all, and MEMORY_CHANCE.
 */
double ov_spread(const struct ov_work *work, const struct ov_plan *plan, const struct ov_outcome *o, double cycles);

#endif
