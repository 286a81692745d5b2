/*
 * balance: how evenly groups are spread over SMs. Where some SMs are simulated, with some of the groups, the one of all SMs that has most to
 * do need not be among them.
 */
#ifndef GPUSIM_MODELS_GRID_BALANCE_H
#define GPUSIM_MODELS_GRID_BALANCE_H

#include "models/grid/plan.h"

/* How much longer all SMs take for all groups than those of the plan take for its groups. */
struct balance {
	double shared; /* as far as groups of an SM share what it can do */
	double issue;  /* as far as warps share what their scheduler can issue, and the units of its sub-core: one may have more to do than others */
	double alone;  /* as far as each takes its own time */
	double work;   /* instructions of the plan's groups */
};
/* residency: groups that an SM holds. Returns 0 or -ENOMEM. */
int balance_of(const struct ov_work *work, const struct ov_plan *plan, uint32_t residency, struct balance *out);

#endif
