/*
 * micro_start: what the first instructions of a launch wait for, and what its last ones do.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_start tests/accuracy/truth/micro_start.cu
 *   micro_start                  prints bench,what,a,b,c,value
 *   ncu ... micro_start short    durations of launches that do little, five of each
 *
 * Every launch is the last of eight of the same kernel. start: a: blocks, b: threads of each; the value is the median of all blocks' first
 * warps, in cycles, or the largest of them (_most).
 *   parameter: from the first instruction to the first parameter;  far_parameter: to one that is 1 KB further, after the first;
 *   again: to one beside the first;  load: a load from L2 whose line the SM has not asked for;  load_again: the same page, another line;
 *   fence: a store and a fence after it;  begin_ns: first instruction after the first of all blocks
 * fetch: a: instructions that depend on nothing but the one before, straight; b: blocks; c: 0: the first time, 1: again.
 */
#include "tests/accuracy/truth/micro.h"

#include <string>

enum { LAUNCHES = 8 };

struct parameters {
	const unsigned *from;
	unsigned *to;
	long long *found;
	unsigned first, beside, pad[256], far;
};

enum { PARAMETER, AGAIN, FAR, LOAD, LOAD_AGAIN, FENCE, FIGURES };
static const char *const names[] = {"parameter", "again", "far_parameter", "load", "load_again", "fence"};

static __device__ __forceinline__ long long after(unsigned value)
{
	if (value == 0x12345)
		asm volatile("trap;");
	return cycles();
}

static __device__ __forceinline__ unsigned load(const unsigned *at)
{
	unsigned v;
	asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(at) : "memory");
	return v;
}

/* A move that stays where it is between reads of the clock. */
static __device__ __forceinline__ unsigned here(unsigned v)
{
	unsigned to;
	asm volatile("mov.b32 %0, %1;" : "=r"(to) : "r"(v) : "memory");
	return to;
}

__global__ void first_things(const __grid_constant__ parameters p)
{
	long long t[FIGURES + 1];
	t[0] = cycles();
	unsigned long long ns = nanoseconds();
	t[0] = cycles();
	t[1] = after(here(p.first));
	t[2] = after(here(p.beside));
	t[3] = after(here(p.far));
	unsigned i = (blockIdx.x * blockDim.x + threadIdx.x);
	const unsigned *from = p.from + (size_t)i * 2;
	t[3] = cycles();
	t[4] = after(load(from));
	t[5] = after(load(from + (1 << 20)));
	p.to[i] = i;
	__threadfence();
	t[6] = cycles();
	if (threadIdx.x == 0) {
		long long *found = p.found + (size_t)blockIdx.x * (FIGURES + 1);
		for (int k = 0; k < FIGURES; k++)
			found[k] = t[k + 1] - t[k];
		found[FIGURES] = (long long)ns;
	}
}

static void print_first(parameters p, int blocks, int threads)
{
	std::vector<long long> found((size_t)blocks * (FIGURES + 1));
	for (int r = 0; r < LAUNCHES; r++)
		first_things<<<blocks, threads>>>(p);
	CHECK(cudaMemcpy(found.data(), p.found, found.size() * 8, cudaMemcpyDeviceToHost));
	for (int k = 0; k <= FIGURES; k++) {
		std::vector<long long> of;
		for (int b = 0; b < blocks; b++)
			of.push_back(found[(size_t)b * (FIGURES + 1) + k]);
		std::sort(of.begin(), of.end());
		if (k == FIGURES) {
			row("start", "begin_ns", blocks, threads, 0, of[blocks / 2] - of[0]);
			row("start", "begin_ns_most", blocks, threads, 0, of[blocks - 1] - of[0]);
			continue;
		}
		row("start", names[k], blocks, threads, 0, of[blocks / 2]);
		row("start", (std::string(names[k]) + "_most").c_str(), blocks, threads, 0, of[blocks - 1]);
	}
}

template <int N> __global__ void fetch(long long *found, unsigned a)
{
	unsigned v = threadIdx.x, k = a;
	long long took[3];
#pragma unroll 1
	for (int r = 0; r < 3; r++) {
		long long begin = cycles();
#pragma unroll
		for (int i = 0; i < N; i++)
			asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(v) : "r"(k), "r"(v));
		took[0] = took[1], took[1] = took[2], took[2] = cycles() - begin;
	}
	if (threadIdx.x == 0)
		for (int r = 0; r < 3; r++)
			found[blockIdx.x * 3 + r] = took[r];
	if (v == 0x12345)
		found[0] = v;
}

template <int N> void print_fetch(long long *found, int blocks)
{
	std::vector<long long> read(3 * blocks);
	for (int r = 0; r < LAUNCHES; r++)
		fetch<N><<<blocks, 32>>>(found, 3);
	CHECK(cudaMemcpy(read.data(), found, read.size() * 8, cudaMemcpyDeviceToHost));
	for (int r = 0; r < 3; r++) {
		std::vector<long long> of;
		for (int b = 0; b < blocks; b++)
			of.push_back(read[3 * b + r]);
		std::sort(of.begin(), of.end());
		row("fetch", "cycles", N, blocks, r, of[blocks / 2]);
		row("fetch", "cycles_most", N, blocks, r, of[blocks - 1]);
	}
}

/* ---- short ---- */

__global__ void nothing() {}
__global__ void parameter(unsigned a) { here(a); }
__global__ void store(unsigned *to) { to[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void load_only(const unsigned *from)
{
	if (load(from + blockIdx.x * blockDim.x + threadIdx.x) == 0x12345)
		asm volatile("trap;");
}
__global__ void load_store(const unsigned *from, unsigned *to)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	to[i] = from[i] + 1;
}
__global__ void wait_only(unsigned)
{
	long long begin = cycles();
	while (cycles() - begin < 1000)
		;
}

static void run_short(unsigned *from, unsigned *to)
{
	for (int blocks : {1, 2, 4, 8, 16, 32, 66, 132, 264, 528})
		for (int threads : {32, 256}) {
			for (int r = 0; r < 5; r++)
				nothing<<<blocks, threads>>>();
			for (int r = 0; r < 5; r++)
				parameter<<<blocks, threads>>>(1);
			for (int r = 0; r < 5; r++)
				wait_only<<<blocks, threads>>>(1);
			for (int r = 0; r < 5; r++)
				store<<<blocks, threads>>>(to);
			for (int r = 0; r < 5; r++)
				load_only<<<blocks, threads>>>(from);
			for (int r = 0; r < 5; r++)
				load_store<<<blocks, threads>>>(from, to);
		}
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	parameters p = {};
	unsigned *from, *to;
	CHECK(cudaMalloc(&from, 64 << 20));
	CHECK(cudaMalloc(&to, 16 << 20));
	CHECK(cudaMalloc(&p.found, 1 << 20));
	CHECK(cudaMemset(from, 0, 64 << 20));
	p.from = from, p.to = to;
	clocks_up(to, argc > 1 ? 100 : 400);
	if (argc > 1) {
		run_short(from, to);
		return 0;
	}
	printf("bench,what,a,b,c,value\n");
	for (int blocks : {1, 16, 132, 528})
		for (int threads : {32, 256})
			print_first(p, blocks, threads);
	for (int blocks : {1, 132}) {
		print_fetch<32>(p.found, blocks);
		print_fetch<128>(p.found, blocks);
		print_fetch<512>(p.found, blocks);
		print_fetch<2048>(p.found, blocks);
	}
	return 0;
}
