/* survey: what each instruction of a launch asks of memory, and how little would do. For advice. */
#ifndef GPUSIM_MODELS_WARPS_SURVEY_H
#define GPUSIM_MODELS_WARPS_SURVEY_H

#include "models/warps/warps.h"

/* Sums over executions by warps. */
struct instruction_survey {
	double executions;
	double lanes; /* that were on; 0: not known */
	/* Of accesses to global memory: */
	double requests, sectors, sectors_needed; /* needed: that hold the bytes asked for */
	double repeated; /* requests for parts that a load before it in its block asked for, too */
	double operations; /* of atomics: on an address that another lane of the warp has as well */
	/* Of those to shared memory: */
	double turns, turns_needed;
};

struct launch_survey {
	struct instruction_survey *instructions; /* per instruction of the code; the caller's, zeroed */
	double lane_efficiency; /* 1: all lanes are on, always */
	bool has_requests;      /* the parts of requests are known */
};

/* Adds up all but `lanes` and lane_efficiency. Returns 0 or a negative errno value. */
int survey_warps(const struct gpu *gpu, const struct launch_warps *warps, struct launch_survey *out);

#endif
