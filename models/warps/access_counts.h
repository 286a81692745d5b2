/*
 * access_counts: what the warps of a launch ask of memory, as hardware counters count it. That is before any cache, so it
 * does not depend on the model of memory.
 */
#ifndef GPUSIM_MODELS_WARPS_ACCESS_COUNTS_H
#define GPUSIM_MODELS_WARPS_ACCESS_COUNTS_H

#include "models/warps/attribution.h"
#include "models/warps/warps.h"

struct access_counts {
	double load_requests;               /* loads of global memory, by warps */
	double load_sectors, store_sectors; /* of 32 bytes, that these and stores touch; NAN: addresses are not known */
	double shared_conflicts;            /* turns of shared memory beyond what the bytes need */
	/* Other instructions, by warps: */
	double store_requests, atomic_requests; /* on global memory */
	double texture_requests;
	double private_requests;            /* on memory of a work-item's own: spills, arrays */
	double shared_requests;
};

/* `times` the warps' accesses. -EINVAL for a path outside of the code. */
int count_accesses(const struct launch_warps *warps, double times, struct access_counts *out);
/* The same, from what count_warp_executions counted of each instruction. */
void sum_accesses(const struct kernel_code *code, const struct instruction_count *counts, struct access_counts *out);

#endif
