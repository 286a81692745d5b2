/* peaks: the most that a GPU can do in a second, by its description. For rooflines. */
#ifndef GPUSIM_MODELS_CODE_PEAKS_H
#define GPUSIM_MODELS_CODE_PEAKS_H

#include "models/code/code.h"
#include "models/gpu/gpu.h"

/* Floating-point operations, in units of 10^9: a fused multiply-add is two. */
double gpu_peak_gflops(const struct gpu *gpu, enum code_class fma);
/* What the load/store units of all SMs take of L1, GB/s. */
double gpu_l1_gbps(const struct gpu *gpu);
/* What L2's slices give, or the interconnect carries to SMs, whichever is less, GB/s. */
double gpu_l2_gbps(const struct gpu *gpu);

#endif
