/* targets: the GPUs that are modelled, by which model, and the options of the run. */
#ifndef GPUSIM_RUNTIME_MODEL_TARGETS_H
#define GPUSIM_RUNTIME_MODEL_TARGETS_H

#include "models/models.h"
#include "runtime/config/options.h"

enum { MAX_TARGETS = 16 };

struct target {
	struct gpu gpu;
	unsigned arch; /* index into `archs` */
};

/* Read by all, written once at the start. */
struct runtime_state {
	struct gs_options options;
	struct model_options model; /* from the options */
	struct target targets[MAX_TARGETS];
	size_t target_count;
	char archs[MAX_TARGETS][GPU_TARGET_SIZE]; /* the different names of gpu_target_name */
	size_t arch_count;
	char library[4096];       /* the path of this library */
	char **cc_environment;    /* of gpusim-cc; a copy: the application may change its own at any time */
	char temporary[1024];     /* where files between us and gpusim-cc are */
	uint64_t start_ns;   /* monotonic */
};

extern struct runtime_state runtime;

/* The GPUs that the options name. A GPU that cannot be loaded is reported in one line; where none is left, the default is loaded. */
void load_targets(void);
unsigned target_arch(const struct gpu *gpu); /* the index of its architecture in runtime.archs, added if it is new */
void choose_model(void);

#endif
