/*
 * made_warps: the warps that stand for the groups of a launch, from its trace, or from its counters and its code.
 *
 * To make them takes about as long as to time some launches. So they are made once where a launch is timed several times: as it is, and without
 * causes of lost time. They are only read then, by several threads at a time, and need neither the trace nor the counters any more.
 */
#ifndef GPUSIM_MODELS_MADE_WARPS_H
#define GPUSIM_MODELS_MADE_WARPS_H

#include "models/models.h"

struct made_warps {
	struct trace_warps warps;
	bool traced; /* else they are computed */
};

/* Of the launch; points to arrays of it. */
struct launch_arguments arguments_of_launch(const struct launch_profile *launch);
/* Whether the code asks memory that caches are in front of. */
bool asks_memory(const struct kernel_code *code);
/* Counters do not say which lanes go through an arm in the same iteration, and traces do. Whether much depends on that: a warp may go through it
 * for one lane. Only of code whose blocks all have events. */
bool needs_traced_arms(const struct gpu *gpu, const struct launch_profile *launch);

#endif
