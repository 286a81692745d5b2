/* alike: of launches whose groups do the same, some SMs show what all of them do. */
#ifndef GPUSIM_MODELS_SAMPLING_ALIKE_H
#define GPUSIM_MODELS_SAMPLING_ALIKE_H

#include "models/sampling/regions.h"
#include "models/warps/warps.h"

/* Less than about half of the steps is not worth an error: with 18 of 28 or 30 SMs, launches were up to 26% off (docs/notes/sampling.md). */
#define ALIKE_MOST_SHARE 0.55
/* The share of the SMs that stands for all; 1: none does. pattern: what the groups of the pattern do. steps: what the simulation of all groups with
 * the memory hierarchy would cost (models/grid/plan.c). */
double alike_share(const struct launch_warps *warps, const struct group_work *pattern, uint32_t sms, double steps);

#endif
