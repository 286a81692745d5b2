/*
 * access_counts: what the warps of a launch ask of memory, as hardware counters count it. That is before any cache, so it
 * does not depend on the model of memory.
 */
#ifndef GPUSIM_MODELS_WARPS_ACCESS_COUNTS_H
#define GPUSIM_MODELS_WARPS_ACCESS_COUNTS_H

#include "models/warps/warps.h"

struct access_counts {
	double load_requests;               /* loads of global memory, by warps */
	double load_sectors, store_sectors; /* of 32 bytes, that these and stores touch; NAN: addresses are not known */
	double shared_conflicts;            /* turns of shared memory beyond one per instruction */
};

/* `times` the warps' accesses. -EINVAL for a path outside of the code. */
int count_accesses(const struct launch_warps *warps, double times, struct access_counts *out);

#endif
