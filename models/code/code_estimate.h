/* code_estimate: values for what the counters leave open, between the bounds that non-negative counts allow. */
#ifndef GPUSIM_MODELS_CODE_CODE_ESTIMATE_H
#define GPUSIM_MODELS_CODE_CODE_ESTIMATE_H

#include "models/code/code.h"

struct code_interval {
	double low, high;
};

/* known: the known part of every edge's sum, divided; bounds and values: per unknown. False when memory runs out. */
bool code_estimate(const struct kernel_code *code, const double *known, const struct code_interval *bounds,
                   double *values);

#endif
