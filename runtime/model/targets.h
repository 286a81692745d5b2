/* targets: the GPUs that are modelled, and by which model. */
#ifndef GPUSIM_RUNTIME_MODEL_TARGETS_H
#define GPUSIM_RUNTIME_MODEL_TARGETS_H

#include "models/models.h"

struct simulation;

enum { MAX_TARGETS = 16 };

struct target {
	struct gpu gpu;
	unsigned arch; /* index into the simulation's `archs` */
};

/* The GPUs that the options name. A GPU that cannot be loaded is reported in one line; where none is left, the default is loaded. */
void load_targets(struct simulation *sim);
unsigned target_arch(struct simulation *sim, const struct gpu *gpu); /* the index of its architecture, added if it is new */
void choose_model(struct simulation *sim);
bool kernel_wanted(const struct simulation *sim, const char *name); /* GPUSIM_KERNELS */

#endif
