/*
 * l1_split: what a launch has of L1, where L1 and shared memory are one.
 *
 * The driver gives shared memory one of a few sizes (shared_carveouts; NVIDIA's tuning guides), the rest is L1's. It takes the least that
 * holds the groups that an SM can hold at once, each with what the system reserves. For groups of up to 512 threads it looks for room for more
 * (shared_carveout_room), but not for that beyond half of all. So was measured on an H200 (driver 580.159): with these rules, 95 of 95 pairs of
 * group size and shared memory have the L1 that a walk of its lines found; by the first rule alone, 79 have. Programs may prefer another
 * size (cudaFuncAttributePreferredSharedMemoryCarveout): that is not modelled.
 */
#ifndef GPUSIM_MODELS_GPU_L1_SPLIT_H
#define GPUSIM_MODELS_GPU_L1_SPLIT_H

#include "models/gpu/gpu.h"

/* Of a kernel with groups of `threads` and so many bytes of shared memory. `most` groups fit on an SM, of which it gets `groups`: drivers look at
 * the first, simulators at the second. */
uint64_t gpu_l1_left(const struct gpu *gpu, uint64_t threads, uint64_t shared_bytes, uint64_t groups, uint64_t most);

#endif
