/*
 * measure: what a GPU computes for the PTX instructions that are called approximate.
 *
 *   nvcc -std=c++17 -O2 -arch=sm_90 -Xcompiler -ffp-contract=off -I. -o measure tests/accuracy/truth/functions/measure.cu
 *   measure FOLDER [NAME]    measures the instructions whose names start so, and writes for each:
 *
 * NAME.sums     f32 only: 8192 sums of 64 bits, one for each 2^19 inputs in the order of their bits (mix())
 * NAME.samples  f32 only: results for 256 inputs of each sign and exponent (sample_input())
 * NAME.START    differences from a reference for the 2^23 inputs from START on (write_differences())
 * NAME.all      f16, bf16: all 65536 results; f64: upper words of results, for upper words of inputs
 * NAME.pairs    divisions: results for pairs of inputs (pair())
 *
 * fit.c finds the tables of the hardware in these.
 */
#include "tests/accuracy/truth/functions/reference.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <cuda_runtime.h>

#define F32(name, text) \
struct name { \
	static __device__ uint32_t at(uint32_t a) \
	{ \
		uint32_t r; \
		asm volatile("{.reg .f32 x, y; mov.b32 x, %1; " text " y, x; mov.b32 %0, y;}" : "=r"(r) : "r"(a)); \
		return r; \
	} \
};
F32(rcp_f32, "rcp.approx.f32") F32(rcp_ftz_f32, "rcp.approx.ftz.f32")
F32(rsqrt_f32, "rsqrt.approx.f32") F32(rsqrt_ftz_f32, "rsqrt.approx.ftz.f32")
F32(sqrt_f32, "sqrt.approx.f32") F32(sqrt_ftz_f32, "sqrt.approx.ftz.f32")
F32(ex2_f32, "ex2.approx.f32") F32(ex2_ftz_f32, "ex2.approx.ftz.f32")
F32(lg2_f32, "lg2.approx.f32") F32(lg2_ftz_f32, "lg2.approx.ftz.f32")
F32(sin_f32, "sin.approx.f32") F32(sin_ftz_f32, "sin.approx.ftz.f32")
F32(cos_f32, "cos.approx.f32") F32(cos_ftz_f32, "cos.approx.ftz.f32")
F32(tanh_f32, "tanh.approx.f32")

#define F16(name, text) \
struct name { static __device__ uint16_t at(uint16_t a) { uint16_t r; asm volatile(text " %0, %1;" : "=h"(r) : "h"(a)); return r; } };
F16(ex2_f16, "ex2.approx.f16") F16(tanh_f16, "tanh.approx.f16") F16(ex2_bf16, "ex2.approx.ftz.bf16") F16(tanh_bf16, "tanh.approx.bf16")

#define F64(name, text) \
struct name { \
	static __device__ uint64_t at(uint64_t a) \
	{ \
		uint64_t r; \
		asm volatile("{.reg .f64 x, y; mov.b64 x, %1; " text " y, x; mov.b64 %0, y;}" : "=l"(r) : "l"(a)); \
		return r; \
	} \
};
F64(rcp_f64, "rcp.approx.ftz.f64") F64(rsqrt_f64, "rsqrt.approx.ftz.f64")

#define DIV(name, text) \
struct name { \
	static __device__ uint32_t at(uint32_t a, uint32_t b) \
	{ \
		uint32_t r; \
		asm volatile("{.reg .f32 x, y, z; mov.b32 x, %1; mov.b32 y, %2; " text " z, x, y; mov.b32 %0, z;}" : "=r"(r) : "r"(a), "r"(b)); \
		return r; \
	} \
};
DIV(div_approx, "div.approx.f32") DIV(div_approx_ftz, "div.approx.ftz.f32") DIV(div_full, "div.full.f32") DIV(div_full_ftz, "div.full.ftz.f32")

__host__ __device__ uint64_t mix(uint32_t a, uint32_t r)
{
	uint64_t h = ((uint64_t)a << 32 | r) * 0x9e3779b97f4a7c15ull;
	h ^= h >> 32;
	return h * 0xbf58476d1ce4e5b9ull;
}
__host__ __device__ uint32_t sample_input(uint32_t i)
{
	uint32_t k = i & 255;
	return (i >> 8) << 23 | (k < 128 ? k << 16 : 0x2b6f00u + k - 128);
}
/* Every second pair has exponents near each other's; the others any. */
__host__ __device__ uint64_t pair(uint32_t i)
{
	uint64_t h = (i + 1) * 0x9e3779b97f4a7c15ull;
	h = (h ^ h >> 30) * 0xbf58476d1ce4e5b9ull;
	h = (h ^ h >> 27) * 0x94d049bb133111ebull;
	h ^= h >> 31;
	return i & 1 ? h : (h & 0x87ffffff87ffffffull) | 0x3800000038000000ull;
}

template <class T> __global__ void sums(unsigned long long *out)
{
	__shared__ unsigned long long total;
	unsigned long long h = 0;
	if (!threadIdx.x)
		total = 0;
	__syncthreads();
	for (uint32_t i = threadIdx.x; i < 1u << 19; i += blockDim.x) {
		uint32_t a = blockIdx.x << 19 | i;
		h += mix(a, T::at(a));
	}
	atomicAdd(&total, h);
	__syncthreads();
	if (!threadIdx.x)
		out[blockIdx.x] = total;
}
__device__ uint32_t own_index() { return blockIdx.x * blockDim.x + threadIdx.x; }
template <class T> __global__ void range(uint32_t *out, uint32_t start) { out[own_index()] = T::at(start + own_index()); }
template <class T> __global__ void samples(uint32_t *out) { out[own_index()] = T::at(sample_input(own_index())); }
template <class T> __global__ void halves(uint16_t *out) { out[own_index()] = T::at((uint16_t)own_index()); }
template <class T> __global__ void pairs(uint32_t *out)
{
	uint32_t i = own_index();
	uint64_t p = pair(i);
	out[i] = T::at((uint32_t)(p >> 32), (uint32_t)p);
}
/* The lower word of inputs is 0, or all ones. */
template <class T> __global__ void doubles(uint64_t *out, uint32_t start, uint32_t step, uint32_t low)
{
	uint32_t i = own_index();
	out[i] = T::at((uint64_t)(start + i * step) << 32 | low);
}

static const char *folder, *only;
static int wanted(const char *name) { return !only || !strncmp(name, only, strlen(only)); }
static void *device, *host;

static void check(cudaError_t e) { if (e) { fprintf(stderr, "%s\n", cudaGetErrorString(e)); exit(1); } }
static FILE *create(const char *name, const char *suffix)
{
	char path[512];
	snprintf(path, sizeof path, "%s/%s.%s", folder, name, suffix);
	FILE *f = fopen(path, "wb");
	if (!f) { perror(path); exit(1); }
	return f;
}
static void fetch(size_t size) { check(cudaGetLastError()); check(cudaMemcpy(host, device, size, cudaMemcpyDeviceToHost)); }
static void save(const char *name, const char *suffix, size_t size)
{
	fetch(size);
	FILE *f = create(name, suffix);
	fwrite(host, 1, size, f);
	fclose(f);
}

/* Differences d as 2d or -2d - 1 in a byte each; 255 stands for one of the 32-bit numbers at the end. */
static void write_differences(const char *name, char kind, uint32_t start)
{
	char suffix[16];
	snprintf(suffix, sizeof suffix, "%08x", start);
	FILE *f = create(name, suffix);
	uint32_t *v = (uint32_t *)host, escapes = 0;
	uint8_t *b = (uint8_t *)malloc(1 << 23);
	for (uint32_t i = 0; i < 1u << 23; i++) {
		int32_t d = (int32_t)(v[i] - bits_of(reference(kind, float_of(start + i))));
		uint32_t z = d < 0 ? (uint32_t)(-2 * (int64_t)d - 1) : (uint32_t)d * 2;
		if (z >= 255) { v[escapes++] = z; z = 255; }
		b[i] = (uint8_t)z;
	}
	fwrite(b, 1, 1 << 23, f);
	fwrite(v, 4, escapes, f);
	fclose(f);
	free(b);
}

template <class T> static void measure(const char *name, char kind, int count, const uint32_t *starts)
{
	sums<T><<<8192, 256>>>((unsigned long long *)device);
	save(name, "sums", 8192 * 8);
	samples<T><<<512, 256>>>((uint32_t *)device);
	save(name, "samples", 512 * 256 * 4);
	for (int i = 0; i < count; i++) {
		range<T><<<1 << 15, 256>>>((uint32_t *)device, starts[i]);
		fetch(1 << 25);
		write_differences(name, kind, starts[i]);
	}
}
#define MEASURE(T, kind, ...) \
	if (wanted(#T)) { static const uint32_t s[] = {0, ##__VA_ARGS__}; measure<T>(#T, kind, sizeof s / 4 - 1, s + 1); }
#define MEASURE_HALF(T) if (wanted(#T)) { halves<T><<<256, 256>>>((uint16_t *)device); save(#T, "all", 65536 * 2); }
#define MEASURE_PAIRS(T) if (wanted(#T)) { pairs<T><<<512, 256>>>((uint32_t *)device); save(#T, "pairs", 512 * 256 * 4); }
static void add_upper_words(FILE *f)
{
	fetch(1 << 23);
	for (int i = 0; i < 1 << 20; i++)
		((uint32_t *)host)[i] = (uint32_t)(((uint64_t *)host)[i] >> 32);
	fwrite(host, 4, 1 << 20, f);
}
template <class T> static void measure_double(const char *name)
{
	FILE *f = create(name, "all");
	doubles<T><<<4096, 256>>>((uint64_t *)device, 0x3ff00000u, 1, 0);
	add_upper_words(f);
	doubles<T><<<4096, 256>>>((uint64_t *)device, 0x40000000u, 1, 0);
	add_upper_words(f);
	doubles<T><<<4096, 256>>>((uint64_t *)device, 0, 4096, 0);
	add_upper_words(f);
	doubles<T><<<4096, 256>>>((uint64_t *)device, 0, 4096, ~0u);
	add_upper_words(f);
	doubles<T><<<4096, 256>>>((uint64_t *)device, 0, 1, ~0u);
	add_upper_words(f);
	doubles<T><<<4096, 256>>>((uint64_t *)device, 0x7fe00000u, 1, ~0u);
	add_upper_words(f);
	fclose(f);
	f = create(name, "whole");
	doubles<T><<<4096, 256>>>((uint64_t *)device, 0x3ff00123u, 4096, ~0u);
	fetch(1 << 12);
	fwrite(host, 1, 1 << 12, f);
	fclose(f);
}

int main(int argc, char **argv)
{
	folder = argc > 1 ? argv[1] : ".";
	only = argc > 2 ? argv[2] : NULL;
	check(cudaMalloc(&device, 1 << 25));
	host = malloc(1 << 25);
	MEASURE(rcp_ftz_f32, 'r', 0x3f800000)
	MEASURE(rsqrt_ftz_f32, 'q', 0x3f800000, 0x40000000)
	MEASURE(ex2_ftz_f32, 'e', 0x3f800000, 0x3f000000, 0xbf000000, 0x3e800000, 0xbf800000, 0x3e000000)
	MEASURE(sqrt_ftz_f32, 's', 0x3f800000, 0x40000000)
	MEASURE(lg2_ftz_f32, 'l', 0x3f800000, 0x3f000000, 0x40000000, 0x40800000, 0x41000000)
	MEASURE(rcp_f32, 'r') MEASURE(rsqrt_f32, 'q') MEASURE(ex2_f32, 'e') MEASURE(sqrt_f32, 's') MEASURE(lg2_f32, 'l')
	MEASURE(sin_f32, 'i') MEASURE(cos_f32, 'o')
	MEASURE_HALF(ex2_f16) MEASURE_HALF(tanh_f16) MEASURE_HALF(ex2_bf16) MEASURE_HALF(tanh_bf16)
	MEASURE_PAIRS(div_approx) MEASURE_PAIRS(div_approx_ftz) MEASURE_PAIRS(div_full) MEASURE_PAIRS(div_full_ftz)
	if (wanted("rcp_f64"))
		measure_double<rcp_f64>("rcp_f64");
	if (wanted("rsqrt_f64"))
		measure_double<rsqrt_f64>("rsqrt_f64");
	MEASURE(sin_ftz_f32, 'i', 0x3f800000, 0x40800000, 0x40000000, 0x3f000000, 0x3e800000)
	MEASURE(cos_ftz_f32, 'o', 0x3f800000, 0x40800000, 0x40000000, 0x3f000000, 0x3e800000)
	MEASURE(tanh_f32, 't', 0x3f000000, 0x3f800000, 0x3e800000, 0x40000000, 0x40800000, 0x3e000000, 0x3d800000, 0x3d000000, 0x3c800000, 0x3c000000,
		0x3b800000, 0x3b000000, 0x3a800000, 0x3a000000, 0x39800000, 0x39000000, 0x38800000, 0x41000000)
	return 0;
}
