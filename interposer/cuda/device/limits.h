/* limits: what the target's description and its compute capability allow a launch. */
#ifndef GPUSIM_INTERPOSER_CUDA_DEVICE_LIMITS_H
#define GPUSIM_INTERPOSER_CUDA_DEVICE_LIMITS_H

#include "models/gpu/gpu.h"

struct size_limits {
	unsigned x, y, z;
};

int limit_capability(const struct gpu *g); /* 10 * major + minor */
struct size_limits limit_grid(const struct gpu *g);
struct size_limits limit_block(const struct gpu *g);
unsigned limit_registers(const struct gpu *g); /* of a block */
unsigned limit_cluster(const struct gpu *g, bool large); /* blocks of a cluster; large: the application has asked for more than all GPUs have */
size_t limit_shared(const struct gpu *g);      /* of a block that has not asked for more */
/* What a launch may add to the kernel's own bytes, where the application has asked for so many (cudaFuncSetAttribute). */
size_t limit_dynamic_shared(const struct gpu *g, size_t own_bytes, size_t asked_bytes);

#endif
