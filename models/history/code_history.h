/*
 * code_history: where the instructions of a kernel are when a launch begins, because of the launches before it.
 *
 * An SM's instruction cache outlives a launch. A kernel finds its code there if all of it, and that of the kernels launched since,
 * fits (the least recently used goes first), and if the SMs that its groups go to have run it before: the groups of a launch begin at the
 * SM after the last one that was given a group, as in GPGPU-Sim, so that small launches go round the SMs. What has left the SM is in L2.
 */
#ifndef GPUSIM_MODELS_HISTORY_CODE_HISTORY_H
#define GPUSIM_MODELS_HISTORY_CODE_HISTORY_H

#include "models/gpu/gpu.h"

enum code_place { CODE_IN_DRAM, CODE_IN_L2, CODE_IN_SM };

enum { CODE_HISTORY_KERNELS = 32 };

/* Of one GPU. All zero: nothing has been launched. */
struct code_history {
	struct recent_code {
		uint64_t kernel;
		uint64_t bytes; /* of its instructions in the cache */
		uint64_t sms;   /* that have run it since it came */
	} recent[CODE_HISTORY_KERNELS]; /* the latest first */
	uint32_t count;
};

/* The kernel, whose number is not 0 and its own, is launched: where its instructions are. Always CODE_IN_DRAM where the description has no
 * instruction cache, or says that it does not outlive a launch. */
enum code_place code_history_launch(struct code_history *h, const struct gpu *gpu, uint64_t kernel, uint32_t instructions, uint64_t groups);

#endif
