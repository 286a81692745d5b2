/*
 * reuse: how large an L2 a few SMs need to miss as often as all SMs do in the whole L2.
 *
 * With fewer groups beside it, a group comes back to its own lines after fewer requests. Lines that others left it meets no
 * sooner. So the answer is neither a share of L2 nor all of it.
 */
#ifndef GPUSIM_MODELS_TRAFFIC_REUSE_H
#define GPUSIM_MODELS_TRAFFIC_REUSE_H

#include "models/warps/warps.h"

enum { REUSE_BINS = 4096 }; /* of times between requests for a line: steps of the histogram, 1/4096 of the window each */

/* Of a stream of requests; time is counted in them. */
struct reuse {
	double window;                 /* the longest time that is measured */
	double longer[REUSE_BINS + 1]; /* share of requests whose line was not asked for within that many bins of the window */
};

/* Of `slots` groups at once, from the midst of the launch. 0: *out is set; 1: the launch is too small; or -ENOMEM. */
int reuse_measure(const struct gpu *gpu, const struct launch_warps *warps, uint64_t slots, double window, struct reuse *out);

/* The part of `lines` with which some miss as often as all do with the whole, at most 1; 1 where all find whatever they come back to.
 * Some are the share of all, and both windows are the same. */
double reuse_capacity(const struct reuse *some, const struct reuse *all, double share, double lines);

/* The part of L2's capacity for `some` groups of `all` that run at once; the rest as for reuse_measure. */
int reuse_share(const struct gpu *gpu, const struct launch_warps *warps, uint64_t some, uint64_t all, double *out);

#endif
