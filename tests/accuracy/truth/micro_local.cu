/*
 * micro_local: arrays of a thread in local memory: how long a load waits, alone and behind stores.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_local tests/accuracy/truth/micro_local.cu
 *   micro_local               prints bench,what,a,b,c,value
 *
 * chase     a load's address needs the value before. what: local, or global (each warp has an array of its own there, laid out as local memory);
 *           a: stores between two loads, to other words; b: warps of an SM; c: 0: all lanes have the same index, 1: each its own; value: cycles a round
 * again     a load of what was stored some 4,000 cycles before. what: local, or global; a: lanes that store and load, each a word;
 *           b: 1: the line was loaded before the store; value: cycles the load takes, with its clocks
 * mixed     loads and stores of a thread's array in each round, of different words that are in L1; a: loads; b: stores; c: warps of an SM; value: cycles
 *           a round. what: local, on all SMs; single, on one
 */
#include "tests/accuracy/truth/micro.h"

enum { WORDS = 64, ROUNDS = 256 };
static span *spans;
static unsigned *out, *arrays;

template <int STORES, bool GLOBAL> __global__ void chase(span *spans, unsigned *out, unsigned *arrays, unsigned own)
{
	unsigned array[WORDS], lane = threadIdx.x % 32, x = own ? lane % 8 : 0;
	unsigned *far = arrays + ((size_t)blockIdx.x * blockDim.x + threadIdx.x - lane) * WORDS + lane;
	for (int i = 0; i < WORDS; i++)
		if (GLOBAL)
			far[i * 32] = (i + 8) % WORDS;
		else
			array[i] = (i + 8 + own - own) % WORDS;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
		for (int s = 0; s < STORES; s++) {
			unsigned at = (x + s + 1) & (WORDS - 1); /* a word of another eight, so that rounds go on as before */
			if (GLOBAL)
				far[at * 32] = (at + 8) & (WORDS - 1);
			else
				array[at] = (at + 8) & (WORDS - 1);
		}
		x = GLOBAL ? *(volatile unsigned *)&far[x * 32] : array[x];
	}
	note(spans, begin, cycles_after(x, 0x7fffffff, out));
	for (int i = 0; i < WORDS && x == 0x7ffffff; i++)
		out[i] = array[i];
}

template <int STORES, bool GLOBAL> static void measure()
{
	for (unsigned own : {0, 1})
		for (int w : {1, 4, 8, 16})
			row("chase", GLOBAL ? "global" : "local", STORES, w, own,
			    median_cycles(spans, SMS, w, [&] { chase<STORES, GLOBAL><<<SMS, w * 32>>>(spans, out, arrays, own); }) / ROUNDS);
}

static __device__ __forceinline__ unsigned long long local_place(const void *array)
{
	unsigned long long at;
	asm volatile("cvta.to.local.u64 %0, %1;" : "=l"(at) : "l"(array));
	return at;
}

template <bool GLOBAL> static __device__ __forceinline__ unsigned load(unsigned long long at)
{
	unsigned x;
	if (GLOBAL)
		asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
	else
		asm volatile("ld.local.u32 %0, [%1];" : "=r"(x) : "l"(at) : "memory");
	return x;
}

template <bool GLOBAL> static __device__ __forceinline__ void store(unsigned long long at, unsigned x)
{
	if (GLOBAL)
		asm volatile("st.global.u32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
	else
		asm volatile("st.local.u32 [%0], %1;" ::"l"(at), "r"(x) : "memory");
}

static __device__ __forceinline__ void wait(int most)
{
	for (long long from = cycles(); cycles() - from < most;)
		;
}

template <bool GLOBAL> __global__ void again(span *spans, unsigned *out, unsigned *arrays, int lanes, int before)
{
	unsigned array[WORDS], x = 0;
	unsigned long long place = GLOBAL ? (unsigned long long)(arrays + (size_t)blockIdx.x * 32 * WORDS + threadIdx.x) : local_place(array);
	long long sum = 0;
	for (int i = 1; i < WORDS; i++) {
		unsigned long long at = place + i * (GLOBAL ? 128 : 4);
		if ((int)threadIdx.x < lanes) {
			if (before)
				x += load<GLOBAL>(at);
			wait(4000);
			store<GLOBAL>(at, x + i);
			wait(4000);
			long long begin = cycles();
			unsigned y = load<GLOBAL>(at);
			sum += cycles_after(y, 0x7fffffff, out) - begin;
			x += y & 1;
		}
	}
	note(spans, 0, sum / (WORDS - 1));
}

template <int LOADS, int STORES> __global__ void mixed(span *spans, unsigned *out)
{
	unsigned array[WORDS], x = 0;
	unsigned long long at = local_place(array);
	for (int i = 0; i < WORDS; i++)
		store<false>(at + 4 * i, i);
	wait(8000);
	__syncthreads();
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++) {
		unsigned long long place = at + r % 8 * 4;
		unsigned y[LOADS + 1];
#pragma unroll
		for (int i = 0; i < LOADS; i++)
			y[i] = load<false>(place + 4 * i);
#pragma unroll
		for (int i = 0; i < STORES; i++)
			store<false>(place + 4 * (24 + i), x + r);
#pragma unroll
		for (int i = 0; i < LOADS; i++)
			x += y[i];
	}
	note(spans, begin, cycles_after(x, 0x7fffffff, out));
}

template <int LOADS, int STORES> static void measure_mixed()
{
	for (int sms : {(int)SMS, 1})
		for (int w : {1, 4, 8, 16, 32})
			row("mixed", sms > 1 ? "local" : "single", LOADS, STORES, w,
			    median_cycles(spans, sms, w, [&] { mixed<LOADS, STORES><<<sms, w * 32>>>(spans, out); }) / ROUNDS);
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 1024));
	CHECK(cudaMalloc(&arrays, (size_t)SMS * 1024 * WORDS * sizeof *arrays));
	clocks_up(out, 100);
	measure<0, false>();
	measure<1, false>();
	measure<2, false>();
	measure<4, false>();
	measure<0, true>();
	measure<1, true>();
	measure<2, true>();
	measure<4, true>();
	for (int lanes : {32, 17, 1})
		for (int before : {0, 1}) {
			row("again", "local", lanes, before, 0, median_cycles(spans, SMS, 1, [&] { again<false><<<SMS, 32>>>(spans, out, arrays, lanes, before); }));
			row("again", "global", lanes, before, 0, median_cycles(spans, SMS, 1, [&] { again<true><<<SMS, 32>>>(spans, out, arrays, lanes, before); }));
		}
	measure_mixed<4, 0>();
	measure_mixed<16, 0>();
	measure_mixed<0, 4>();
	measure_mixed<4, 1>();
	measure_mixed<4, 4>();
	measure_mixed<8, 4>();
	measure_mixed<16, 4>();
	return 0;
}
