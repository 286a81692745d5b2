/* clang: CUDA C++ by clang's own builtins, without the CUDA toolkit. Only device.h includes it. */
#ifndef GPUSIM_KERNELS_CUDA_CLANG_H
#define GPUSIM_KERNELS_CUDA_CLANG_H

#define __global__ __attribute__((global))
#define __device__ __attribute__((device))
#define __host__ __attribute__((host))
#define __shared__ __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__ __attribute__((managed))
#define __noinline__ __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __launch_bounds__(...) __attribute__((launch_bounds(__VA_ARGS__)))

#include <__clang_cuda_builtin_vars.h>

typedef __SIZE_TYPE__ size_t;
struct dim3 {
	unsigned x, y, z;
};
struct uint3 {
	unsigned x, y, z;
};
struct __attribute__((aligned(8))) float2 {
	float x, y;
};
struct float3 {
	float x, y, z;
};
struct __attribute__((aligned(16))) float4 {
	float x, y, z, w;
};
struct __attribute__((aligned(16))) int4 {
	int x, y, z, w;
};
struct __attribute__((aligned(16))) double2 {
	double x, y;
};

#define DEVICE __device__ static __forceinline__

DEVICE float2 make_float2(float x, float y) { return {x, y}; }
DEVICE float3 make_float3(float x, float y, float z) { return {x, y, z}; }
DEVICE float4 make_float4(float x, float y, float z, float w) { return {x, y, z, w}; }
DEVICE int4 make_int4(int x, int y, int z, int w) { return {x, y, z, w}; }

DEVICE int min(int a, int b) { return a < b ? a : b; }
DEVICE int max(int a, int b) { return a > b ? a : b; }
DEVICE unsigned min(unsigned a, unsigned b) { return a < b ? a : b; }
DEVICE unsigned max(unsigned a, unsigned b) { return a > b ? a : b; }
DEVICE int clamp(int x, int low, int high) { return min(max(x, low), high); }
DEVICE float fminf(float a, float b) { return __nvvm_fmin_f(a, b); }
DEVICE float fmaxf(float a, float b) { return __nvvm_fmax_f(a, b); }
DEVICE float fabsf(float x) { return __builtin_fabsf(x); }
DEVICE float fmaf(float a, float b, float c) { return __nvvm_fma_rn_f(a, b, c); }
DEVICE double fma(double a, double b, double c) { return __nvvm_fma_rn_d(a, b, c); }
DEVICE double sqrt(double x) { return __nvvm_sqrt_rn_d(x); }

/* .approx instructions of PTX. */
DEVICE float fast_sin(float x) { return __nvvm_sin_approx_f(x); }
DEVICE float fast_cos(float x) { return __nvvm_cos_approx_f(x); }
DEVICE float fast_rsqrt(float x) { return __nvvm_rsqrt_approx_f(x); }
DEVICE float fast_exp(float x) { return __nvvm_ex2_approx_f(x * 1.44269504f); }
DEVICE float root(float x) { return __nvvm_sqrt_rn_f(x); }

/* To about two units in the last place, where the result is normal: 2^k * 2^f, with f in [-1/2, 1/2]. */
DEVICE float natural_exp(float x)
{
	float k = __nvvm_floor_f(x * 1.44269504f + 0.5f);
	float rest = fmaf(k, -6.93147182e-1f, x);
	rest = fmaf(k, 1.90465421e-9f, rest);
	return __nvvm_ex2_approx_f(rest * 1.44269504f) * __nvvm_ex2_approx_f(k);
}
DEVICE float natural_log(float x) { return __nvvm_lg2_approx_f(x) * 0.693147181f; }

DEVICE unsigned rotate_left(unsigned x, unsigned by) { return __builtin_rotateleft32(x, by); }
DEVICE int __popc(unsigned x) { return __builtin_popcount(x); }
DEVICE int __popcll(unsigned long long x) { return __builtin_popcountll(x); }
DEVICE int __clz(int x) { return x ? __builtin_clz((unsigned)x) : 32; }
DEVICE int __ffs(int x) { return __builtin_ffs(x); }
DEVICE unsigned __brev(unsigned x) { return __builtin_bitreverse32(x); }

DEVICE int __syncthreads_count(int p) { return __nvvm_bar0_popc(p); }
DEVICE int __syncthreads_and(int p) { return __nvvm_bar0_and(p); }
DEVICE int __syncthreads_or(int p) { return __nvvm_bar0_or(p); }
DEVICE void __threadfence(void) { __nvvm_membar_gl(); }
DEVICE void __threadfence_block(void) { __nvvm_membar_cta(); }
DEVICE void __syncwarp(unsigned mask = 0xffffffffu) { __nvvm_bar_warp_sync(mask); }

DEVICE int atomicAdd(int *p, int v) { return __nvvm_atom_add_gen_i(p, v); }
DEVICE unsigned atomicAdd(unsigned *p, unsigned v) { return (unsigned)__nvvm_atom_add_gen_i((int *)p, (int)v); }
DEVICE unsigned long long atomicAdd(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_add_gen_ll((long long *)p, (long long)v); }
DEVICE float atomicAdd(float *p, float v) { return __nvvm_atom_add_gen_f(p, v); }
DEVICE double atomicAdd(double *p, double v) { return __nvvm_atom_add_gen_d(p, v); }
DEVICE int atomicSub(int *p, int v) { return __nvvm_atom_add_gen_i(p, -v); }
DEVICE int atomicExch(int *p, int v) { return __nvvm_atom_xchg_gen_i(p, v); }
DEVICE unsigned long long atomicExch(unsigned long long *p, unsigned long long v) { return (unsigned long long)__nvvm_atom_xchg_gen_ll((long long *)p, (long long)v); }
DEVICE int atomicMin(int *p, int v) { return __nvvm_atom_min_gen_i(p, v); }
DEVICE unsigned atomicMin(unsigned *p, unsigned v) { return __nvvm_atom_min_gen_ui(p, v); }
DEVICE long long atomicMin(long long *p, long long v) { return __nvvm_atom_min_gen_ll(p, v); }
DEVICE int atomicMax(int *p, int v) { return __nvvm_atom_max_gen_i(p, v); }
DEVICE unsigned atomicMax(unsigned *p, unsigned v) { return __nvvm_atom_max_gen_ui(p, v); }
DEVICE unsigned long long atomicMax(unsigned long long *p, unsigned long long v) { return __nvvm_atom_max_gen_ull(p, v); }
DEVICE int atomicAnd(int *p, int v) { return __nvvm_atom_and_gen_i(p, v); }
DEVICE int atomicOr(int *p, int v) { return __nvvm_atom_or_gen_i(p, v); }
DEVICE int atomicXor(int *p, int v) { return __nvvm_atom_xor_gen_i(p, v); }
DEVICE unsigned atomicInc(unsigned *p, unsigned v) { return __nvvm_atom_inc_gen_ui(p, v); }
DEVICE unsigned atomicDec(unsigned *p, unsigned v) { return __nvvm_atom_dec_gen_ui(p, v); }
DEVICE int atomicCAS(int *p, int was, int v) { return __nvvm_atom_cas_gen_i(p, was, v); }
DEVICE unsigned long long atomicCAS(unsigned long long *p, unsigned long long was, unsigned long long v) { return (unsigned long long)__nvvm_atom_cas_gen_ll((long long *)p, (long long)was, (long long)v); }

/* Lanes of a warp. The last operand of a shuffle: which lanes are of one segment (bits 8 to 12), and where a segment ends. */
#define SEGMENT(width) (32 - (width)) << 8
DEVICE int __shfl_sync(unsigned mask, int v, int lane, int width = 32) { return __nvvm_shfl_sync_idx_i32(mask, v, lane, SEGMENT(width) | 31); }
DEVICE int __shfl_up_sync(unsigned mask, int v, int by, int width = 32) { return __nvvm_shfl_sync_up_i32(mask, v, by, SEGMENT(width)); }
DEVICE int __shfl_down_sync(unsigned mask, int v, int by, int width = 32) { return __nvvm_shfl_sync_down_i32(mask, v, by, SEGMENT(width) | 31); }
DEVICE int __shfl_xor_sync(unsigned mask, int v, int with, int width = 32) { return __nvvm_shfl_sync_bfly_i32(mask, v, with, SEGMENT(width) | 31); }
DEVICE float __shfl_down_sync(unsigned mask, float v, int by) { return __nvvm_shfl_sync_down_f32(mask, v, by, 31); }
#undef SEGMENT
DEVICE unsigned __ballot_sync(unsigned mask, int p) { return __nvvm_vote_ballot_sync(mask, p); }
DEVICE int __all_sync(unsigned mask, int p) { return __nvvm_vote_all_sync(mask, p); }
DEVICE int __any_sync(unsigned mask, int p) { return __nvvm_vote_any_sync(mask, p); }
DEVICE unsigned __match_any_sync(unsigned mask, int v) { return __nvvm_match_any_sync_i32(mask, (unsigned)v); }
DEVICE unsigned __activemask(void)
{
	unsigned mask;
	asm volatile("activemask.b32 %0;" : "=r"(mask));
	return mask;
}

/* Half precision. */
typedef _Float16 half;
DEVICE half __float2half(float x) { return (half)x; }
DEVICE float __half2float(half x) { return (float)x; }

extern "C" __device__ int printf(const char *format, ...);
extern "C" __device__ void __assertfail(const char *message, const char *file, unsigned line, const char *function, size_t char_bytes)
    __attribute__((noreturn));
#define assert(condition) ((condition) ? (void)0 : __assertfail(#condition, __FILE__, __LINE__, __func__, 1))
DEVICE void __trap(void) { __builtin_trap(); }

#undef DEVICE
#endif
