/*
 * device: what kernels of this folder use of CUDA C++, for two compilers. nvcc has all of it. clang has it without the CUDA toolkit
 * (-nocudainc -nocudalib) by its own builtins, which are defined here.
 */
#ifndef GPUSIM_KERNELS_CUDA_DEVICE_H
#define GPUSIM_KERNELS_CUDA_DEVICE_H

#ifdef __NVCC__

#include <cuda_fp16.h>
#include <cuda_runtime.h>

__device__ static inline float fast_sin(float x) { return __sinf(x); }
__device__ static inline float fast_cos(float x) { return __cosf(x); }
__device__ static inline float fast_exp(float x) { return __expf(x); }
__device__ static inline float fast_rsqrt(float x) { return rsqrtf(x); }
__device__ static inline float root(float x) { return __fsqrt_rn(x); }
__device__ static inline float natural_exp(float x) { return expf(x); }
__device__ static inline float natural_log(float x) { return logf(x); }
__device__ static inline unsigned rotate_left(unsigned x, unsigned by) { return __funnelshift_l(x, x, by); }
__device__ static inline int clamp(int x, int low, int high) { return min(max(x, low), high); }

#else

#include "kernels/cuda/clang.h"

#endif
#endif
