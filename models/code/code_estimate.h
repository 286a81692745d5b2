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

/* The same for many known parts: the shares of one are kept for the others, whose values have no bounds then. */
struct code_estimator;
struct code_estimator *code_estimator_new(const struct kernel_code *code); /* NULL when memory runs out */
void code_estimator_share(struct code_estimator *w, const double *known, double *values); /* that were estimated */
void code_estimator_fit(struct code_estimator *w, const double *known, double *values); /* from what values are on */
void code_estimator_free(struct code_estimator *w);

#endif
