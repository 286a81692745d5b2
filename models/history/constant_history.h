/*
 * constant_history: whether SMs have the parameters of a launch in their constant caches when it begins, because of the launches before it.
 *
 * GPGPU-Sim empties L1 between launches, not the caches of constants, and the parameters of every kernel begin at address 0. So each SM misses
 * them once in a run. A GPU gives every launch parameters of its own, which no cache has yet.
 */
#ifndef GPUSIM_MODELS_HISTORY_CONSTANT_HISTORY_H
#define GPUSIM_MODELS_HISTORY_CONSTANT_HISTORY_H

#include "models/gpu/gpu.h"

/* Of one GPU. All zero: nothing has been launched. */
struct constant_history {
	uint64_t sms; /* that have run a group; small launches go round the SMs (code_history.h) */
};

/* A kernel of so many groups is launched: whether all SMs have its parameters. Never where the description says that they are not kept. */
bool constant_history_launch(struct constant_history *h, const struct gpu *gpu, uint64_t groups);

#endif
