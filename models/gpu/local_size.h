/* local_size: how a GPU's OpenCL driver divides a launch into groups where the program gives no local size. */
#ifndef GPUSIM_MODELS_GPU_LOCAL_SIZE_H
#define GPUSIM_MODELS_GPU_LOCAL_SIZE_H

#include "models/gpu/gpu.h"

#include <stdint.h>

void gpu_local_size(const struct gpu *gpu, const uint64_t global[3], uint64_t local[3]);

#endif
