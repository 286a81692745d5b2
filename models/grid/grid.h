/* grid: the groups of a plan on all SMs. */
#ifndef GPUSIM_MODELS_GRID_GRID_H
#define GPUSIM_MODELS_GRID_GRID_H

#include "models/grid/plan.h"

/* Perfect memory: SMs do not meet. Returns 0 or a negative errno value; so does the other. */
int ov_simulate(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out);
/* SMs share memory (together.c). */
int ov_simulate_together(const struct ov_machine *m, const struct ov_plan *plan, struct ov_outcome *out);

#endif
