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
	bool counted;  /* else there are too many groups: the above only says how much more there is to do */
};
/* residency: groups that an SM holds. Returns 0 or -ENOMEM. */
int balance_of(const struct ov_work *work, const struct ov_plan *plan, uint32_t residency, struct balance *out);
/* How far these are from one another and from `share`, what the SMs of the plan would do if all SMs did the same; half of that, relative. Which of
 * them holds is known from what SMs waited for, and that is not sharp. Where nothing was counted, a group more or less on each SM. */
double balance_doubt(const struct balance *b, const struct ov_plan *plan, double share);

#endif
