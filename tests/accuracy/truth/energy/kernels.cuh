/*
 * Kernels that do one thing on all SMs, for as long as asked. Operands change in most of their bits, or, where `quiet` is 1, in none: what switches
 * takes more. The table of micro.cu has what a trip of each loop does.
 */
#ifndef GPUSIM_TRUTH_ENERGY_KERNELS_H
#define GPUSIM_TRUTH_ENERGY_KERNELS_H

#include <cuda_fp16.h>
#include <cstdint>

#define ILP 8
/* `trips` times 64 operations, on eight values in turn. */
#define LOOP_64(...)                                                                                                   \
	for (long i = 0; i < trips; i++)                                                                               \
		_Pragma("unroll") for (int r = 0; r < 8; r++)                                                          \
			_Pragma("unroll") for (int j = 0; j < ILP; j++) __VA_ARGS__

static __device__ __forceinline__ void keep(float s, void *out)
{
	if (s == 1.2345f)
		*(float *)out = s;
}
static __device__ __forceinline__ void keep(unsigned s, void *out)
{
	if (s == 0x12345)
		*(unsigned *)out = s;
}
template <typename T> static __device__ __forceinline__ T total(const T *x)
{
	T s = 0;
	for (int j = 0; j < ILP; j++)
		s += x[j];
	return s;
}

__global__ void k_nothing() {}
__global__ void k_sleep(unsigned *out, long trips)
{
	for (long i = 0; i < trips; i++)
		__nanosleep(1000);
	if (trips < 0)
		out[0] = 1;
}
__global__ void k_spin(unsigned *out, long trips)
{
	unsigned x = threadIdx.x;
	for (long i = 0; i < trips; i++)
		asm volatile("shf.l.wrap.b32 %0, %0, %0, 7;" : "+r"(x));
	keep(x, out);
}

/* x*x - 1.8 wanders over all values. The first `lanes` lanes only. */
__global__ void k_fma(unsigned *out, long trips, int lanes)
{
	float x[ILP];
	if ((int)(threadIdx.x & 31) >= lanes)
		return;
	for (int j = 0; j < ILP; j++) {
		x[j] = 0.001f * (threadIdx.x + 37 * j + blockIdx.x);
		x[j] -= (int)x[j];
	}
	LOOP_64(asm volatile("fma.rn.f32 %0, %0, %0, 0fBFE66666;" : "+f"(x[j])));
	keep(total(x), out);
}
/* The usual form, a*b + c with c the result. quiet: a is 0. */
__global__ void k_fma_acc(unsigned *out, long trips, int quiet)
{
	float x[ILP], a[ILP], b = 0.37f * (threadIdx.x % 7 + 1);
	for (int j = 0; j < ILP; j++) {
		x[j] = threadIdx.x * 0.1f + j;
		a[j] = quiet ? 0 : -0.97f + 0.001f * j - 0.0001f * threadIdx.x;
	}
	LOOP_64(asm volatile("fma.rn.f32 %0, %1, %2, %0;" : "+f"(x[j]) : "f"(a[j]), "f"(b)));
	keep(total(x), out);
}
__global__ void k_fp64(unsigned *out, long trips)
{
	double x[ILP];
	for (int j = 0; j < ILP; j++) {
		x[j] = 0.001 * (threadIdx.x + 37 * j + blockIdx.x);
		x[j] -= (int)x[j];
	}
	LOOP_64(asm volatile("fma.rn.f64 %0, %0, %0, 0dBFFCCCCCCCCCCCCD;" : "+d"(x[j])));
	keep((float)total(x), out);
}
__global__ void k_fp64_acc(unsigned *out, long trips, int quiet)
{
	double x[ILP], a[ILP], b = 0.37 * (threadIdx.x % 7 + 1);
	for (int j = 0; j < ILP; j++) {
		x[j] = threadIdx.x * 0.1 + j;
		a[j] = quiet ? 0 : -0.97 + 0.001 * j - 0.0001 * threadIdx.x;
	}
	LOOP_64(asm volatile("fma.rn.f64 %0, %1, %2, %0;" : "+d"(x[j]) : "d"(a[j]), "d"(b)));
	keep((float)total(x), out);
}
__global__ void k_imad(unsigned *out, long trips, unsigned factor, unsigned addend)
{
	unsigned x[ILP];
	for (int j = 0; j < ILP; j++)
		x[j] = threadIdx.x * 2654435761u + j + blockIdx.x;
	LOOP_64(asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(x[j]) : "r"(factor), "r"(addend)));
	keep(total(x), out);
}
/* Logic of three operands. quiet: all are the same, and so is the result. */
__global__ void k_alu(unsigned *out, long trips, int quiet)
{
	unsigned x[ILP];
	for (int j = 0; j < ILP; j++)
		x[j] = (threadIdx.x + 1) * 2654435761u * (quiet ? 1 : 2 * j + 1) + blockIdx.x;
	LOOP_64(asm volatile("lop3.b32 %0, %0, %1, %2, 0x96;" : "+r"(x[j]) : "r"(x[(j + 1) % ILP]), "r"(x[(j + 3) % ILP])));
	keep(total(x), out);
}
/* Shifts. quiet: of all ones, or of zeros. */
__global__ void k_shf(unsigned *out, long trips, int quiet)
{
	unsigned x[ILP];
	for (int j = 0; j < ILP; j++)
		x[j] = quiet ? -(threadIdx.x & 1) : (threadIdx.x + 1) * 2654435761u * (2 * j + 1) + blockIdx.x;
	LOOP_64(asm volatile("shf.l.wrap.b32 %0, %0, %1, 7;" : "+r"(x[j]) : "r"(x[(j + 1) % ILP])));
	keep(total(x), out);
}
/* log2 |x| wanders over all values. Without the absolute value, it is soon NaN: quiet. */
__global__ void k_xu(unsigned *out, long trips)
{
	float x[ILP];
	for (int j = 0; j < ILP; j++)
		x[j] = 0.3f + 0.001f * (threadIdx.x + 37 * j);
	LOOP_64(asm volatile("{ .reg .f32 t; abs.ftz.f32 t, %0; lg2.approx.ftz.f32 %0, t; }" : "+f"(x[j])));
	keep(total(x), out);
}
__global__ void k_xu_quiet(unsigned *out, long trips)
{
	float x[ILP];
	for (int j = 0; j < ILP; j++)
		x[j] = 0.3f + 0.001f * (threadIdx.x + 37 * j);
	LOOP_64(asm volatile("lg2.approx.ftz.f32 %0, %0;" : "+f"(x[j])));
	keep(total(x), out);
}
static __device__ __forceinline__ unsigned two_halves(int a, int b)
{
	__half2 h = __floats2half2_rn(0.01f * (a % 97) - 0.5f, 0.01f * (b % 89) - 0.4f);
	return *(unsigned *)&h;
}
__global__ void k_tensor(unsigned *out, long trips, int quiet)
{
	unsigned a[4], b[2];
	float c[4][4] = {{0}};
	for (int j = 0; j < 4; j++)
		a[j] = quiet ? 0 : two_halves(threadIdx.x * 7 + j * 3, threadIdx.x * 5 + j);
	for (int j = 0; j < 2; j++)
		b[j] = quiet ? 0 : two_halves(threadIdx.x * 11 + j * 3, threadIdx.x * 3 + j);
	for (long i = 0; i < trips; i++)
#pragma unroll
		for (int r = 0; r < 4; r++)
#pragma unroll
			for (int j = 0; j < 4; j++)
				asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
				             : "+f"(c[j][0]), "+f"(c[j][1]), "+f"(c[j][2]), "+f"(c[j][3])
				             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]));
	float s = 0;
	for (int j = 0; j < 4; j++)
		for (int k = 0; k < 4; k++)
			s += c[j][k];
	keep(s, out);
}
/* memory: loads only; results are combined two at a time */
__global__ void k_shared(unsigned *out, long trips, int quiet)
{
	__shared__ unsigned m[4096];
	for (int i = threadIdx.x; i < 4096; i += blockDim.x) m[i] = quiet ? 0 : i * 2654435761u;
	__syncthreads();
	unsigned first = (unsigned)__cvta_generic_to_shared(m), s = 0;
#pragma unroll 1
	for (unsigned i = 0; i < (unsigned)trips; i++) {
		unsigned v[16], at = first + 4 * ((threadIdx.x + i * 32) & 1023);
#pragma unroll
		for (int r = 0; r < 16; r++)
			asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v[r]) : "r"(at + 128 * 3 * r));
#pragma unroll
		for (int r = 0; r < 16; r++) s ^= v[r];
	}
	keep(s, out);
}
/* hits in L1: 16 loads a trip of 4 bytes a lane, in 64 KB that all warps of an SM share */
__global__ void k_l1(const unsigned *base, long trips, unsigned *out)
{
	unsigned s = 0;
#pragma unroll 1
	for (unsigned i = 0; i < (unsigned)trips; i++) {
		unsigned v[16];
		const unsigned *p = base + ((threadIdx.x + i * 32) & 511);
#pragma unroll
		for (int r = 0; r < 16; r++)
			asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[r]) : "l"(p + 1024 * r));
#pragma unroll
		for (int r = 0; r < 16; r++) s ^= v[r];
	}
	keep(s, out);
}
/* the same of 16 bytes a lane */
__global__ void k_l1_wide(const uint4 *base, long trips, unsigned *out)
{
	unsigned s = 0;
#pragma unroll 1
	for (unsigned i = 0; i < (unsigned)trips; i++) {
		uint4 v[8];
		const uint4 *p = base + ((threadIdx.x + i * 32) & 511);
#pragma unroll
		for (int r = 0; r < 8; r++)
			asm volatile("ld.global.ca.v4.u32 {%0,%1,%2,%3}, [%4];" : "=r"(v[r].x), "=r"(v[r].y), "=r"(v[r].z), "=r"(v[r].w) : "l"(p + 512 * r));
#pragma unroll
		for (int r = 0; r < 8; r++) s ^= v[r].x ^ v[r].y ^ v[r].z ^ v[r].w;
	}
	keep(s, out);
}
/* each warp streams: 16 bytes a lane, big buffer */
__global__ void k_stream(const uint4 *base, size_t n, long trips, unsigned *out)
{
	unsigned s = 0;
	for (long i = 0; i < trips; i++)
		for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < n; at += (size_t)gridDim.x * blockDim.x * 4) {
			uint4 v[4];
#pragma unroll
			for (int r = 0; r < 4; r++) {
				size_t a = at + (size_t)r * gridDim.x * blockDim.x;
				v[r] = a < n ? __ldcg(base + a) : make_uint4(0, 0, 0, 0);
			}
#pragma unroll
			for (int r = 0; r < 4; r++) s ^= v[r].x ^ v[r].y ^ v[r].z ^ v[r].w;
		}
	keep(s, out);
}
__global__ void k_write(uint4 *base, size_t n, long trips, int quiet)
{
	for (long i = 0; i < trips; i++)
		for (size_t at = (size_t)blockIdx.x * blockDim.x + threadIdx.x; at < n; at += (size_t)gridDim.x * blockDim.x) {
			unsigned h = (unsigned)(at * 2654435761u + i * 40503u);
			if (quiet) {
				base[at] = make_uint4(0, 0, 0, 0);
				continue;
			}
			base[at] = make_uint4(h, h * 3, ~h, h ^ 0x5555);
		}
}
/* a loop that is mostly its branch */
__global__ void k_branch(unsigned *out, long trips)
{
	unsigned x = threadIdx.x, n = (unsigned)trips * 8;
#pragma unroll 1
	for (unsigned i = 0; i < n; i++)
		asm volatile("shf.l.wrap.b32 %0, %0, %0, 7;" : "+r"(x));
	keep(x, out);
}
/* Sectors of 32 bytes at random places of 2^bits of them, one for each lane: 8 a trip. */
__global__ void k_random(const uint4 *base, int bits, long trips, unsigned *out)
{
	unsigned at = (blockIdx.x * blockDim.x + threadIdx.x) * 2654435761u, s = 0;
#pragma unroll 1
	for (long i = 0; i < trips; i++) {
		unsigned v[8];
#pragma unroll
		for (int r = 0; r < 8; r++) {
			at = at * 1664525u + 1013904223u;
			v[r] = __ldcg((const unsigned *)(base + 2 * (size_t)(at >> (32 - bits))));
		}
#pragma unroll
		for (int r = 0; r < 8; r++)
			s ^= v[r];
	}
	keep(s, out);
}
__global__ void k_fill(unsigned *p, size_t n)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < n; i += (size_t)gridDim.x * blockDim.x) {
		unsigned h = (unsigned)i * 2654435761u;
		h ^= h >> 15;
		h *= 2246822519u;
		p[i] = h ^ h >> 13;
	}
}

#endif
