/* sampling: launches that behave alike are simulated once. */
#ifndef GPUSIM_RUNTIME_MODEL_SAMPLING_H
#define GPUSIM_RUNTIME_MODEL_SAMPLING_H

#include "runtime/model/launch_record.h"

/* Launches of a kernel on a target that behave alike. */
struct sampling {
	struct launch_clusters clusters; /* data: the estimate of the one that was simulated */
	uint64_t taken;                  /* launches of which not all was simulated */
};

/* Fills the estimate of a target, whose code is in the profile; returns as model_launch does. */
int sampling_model(const struct gpu *gpu, struct launch_result *r, size_t target, struct gs_error *err);
void sampling_free(struct sampling *s);

#endif
