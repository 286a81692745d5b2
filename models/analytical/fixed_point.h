/*
 * fixed_point: time and register-bank conflicts, each from the other. More time means fewer accesses per cycle, fewer
 * conflicts and so less time: the time that comes out falls with the time assumed, and there is one where both are equal.
 * What the probabilistic and the full model share.
 */
#ifndef GPUSIM_MODELS_ANALYTICAL_FIXED_POINT_H
#define GPUSIM_MODELS_ANALYTICAL_FIXED_POINT_H

#include "models/analytical/optimistic.h"

/* The delays of registers, if the busiest SM does `share` of the launch in `cycles`; and the launch's conflicts. */
struct resource_extra conflicts_at(const struct gpu *gpu, const struct launch_costs *costs, double share,
                                   double resident_warps, double cycles, double *conflicts);

struct search {
	double low, high;           /* the fixed point is between */
	double low_gain, high_gain; /* what came out, less what was assumed, there: positive and negative */
	double last;                /* assumed */
	double tolerance;
	uint32_t iterations;
	struct fixed_point *log;
};
/* options may be NULL. start: the cycles assumed first. */
void search_start(struct search *s, const struct fixed_point_options *options, double start, struct fixed_point *log);
/* found: what comes out if *assumed is assumed. Returns whether to go on, with the next *assumed. */
bool search_next(struct search *s, double *assumed, double found);

#endif
