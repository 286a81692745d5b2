/*
 * micro_fence: how long a warp waits at a fence of the GPU, and what it finds in L1 afterwards.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_fence tests/accuracy/truth/micro_fence.cu
 *   micro_fence                   prints bench,what,a,b,c,value
 *
 * fence     what: gpu (__threadfence), block (__threadfence_block), system, none; rounds of stores, a fence, and a load of a line that L1 had
 *           before. a: stores to lines of the warp, one lane each (1: a line, 32: each lane its own); b: warps of an SM; c: 1: with the load, 0: without;
 *           value: cycles a round
 * one       the same of one SM
 */
#include "tests/accuracy/truth/micro.h"

enum { ROUNDS = 64, NONE = 0, BLOCK, GPU, SYSTEM };
static span *spans;
static unsigned *out, *data;

template <int KIND> __global__ void rounds(span *spans, unsigned *data, unsigned *out, int stores, int loads)
{
	unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, x = 0;
	unsigned *to = data + (size_t)warp * 2048 + lane * (stores == 32 ? 32 : 1), *from = data + (size_t)warp * 2048 + 1024 + lane;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++) {
		if (stores)
			asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(r) : "memory");
		if (KIND == BLOCK)
			__threadfence_block();
		if (KIND == GPU)
			__threadfence();
		if (KIND == SYSTEM)
			__threadfence_system();
		if (loads) {
			unsigned y;
			asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(y) : "l"(from + (x & 1)) : "memory");
			x += y;
		}
	}
	note(spans, begin, cycles_after(x, 0x7fffffff, out));
}

template <int KIND> static void measure(const char *what)
{
	for (int sms : {(int)SMS, 1})
		for (int stores : {0, 1, 32})
			for (int loads : {0, 1})
				for (int w : {1, 4, 16, 32})
					row(sms > 1 ? "fence" : "one", what, stores, w, loads,
					    median_cycles(spans, sms, w, [&] { rounds<KIND><<<sms, w * 32>>>(spans, data, out, stores, loads); }) / ROUNDS);
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 1024));
	CHECK(cudaMalloc(&data, (size_t)SMS * 32 * 2048 * sizeof *data));
	CHECK(cudaMemset(data, 0, (size_t)SMS * 32 * 2048 * sizeof *data));
	clocks_up(out, 100);
	measure<NONE>("none");
	measure<BLOCK>("block");
	measure<GPU>("gpu");
	measure<SYSTEM>("system");
	return 0;
}
