/*
 * micro_local: arrays of a thread in local memory: how long a load waits, alone and behind stores.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_local tests/accuracy/truth/micro_local.cu
 *   micro_local               prints bench,what,a,b,c,value
 *
 * chase     a load's address needs the value before. what: local, or global (each warp has an array of its own there, laid out as local memory);
 *           a: stores between two loads, to other words; b: warps of an SM; c: 0: all lanes have the same index, 1: each its own; value: cycles a round
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
	return 0;
}
