/*
 * micro_uniform: loads of constants by an index that all lanes of a warp share (ULDC): which lines their cache keeps, who shares it, and what
 * lines cost that it has not.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_uniform tests/accuracy/truth/micro_uniform.cu
 *   micro_uniform               prints bench,what,a,b,c,value
 *
 * In all: blocks of one warp that works, and go through a region again and again, a word of each step. value: cycles a step
 * walk      what: bytes of a step; a: bytes of the region; b: blocks on an SM, all with the same region; c: 0
 * own       what: the blocks' working warps are the first of blocks of 1 or 4 warps (4: all on the same scheduler); a: bytes of the region; b: blocks
 *           on an SM; c: bytes from the region of one to that of the next
 * start     what: as own; a: bytes of the region, a power of two that all share; b: blocks on an SM; c: bytes from where one begins to where the next one does
 * line      what: words of each line that are read, with 4 multiplications after each; a: bytes of the region, which all share; b: blocks on an SM;
 *           c: as start; value: cycles a line
 * operand   the same, where multiplications have them as operands, by addresses that the code has; c: 0
 */
#include "tests/accuracy/truth/micro.h"

enum { BYTES = 65536 - 1024, STEPS = 2048, WARPS = 64 };

__constant__ float words[BYTES / 4];
static span *spans;
static unsigned *out;

/* All constants are 0. Without branches by the number of a lane: indices are to stay with what lanes share. */
template <int READ, int WORK>
__global__ void walk(span *spans, unsigned *out, unsigned region, unsigned step, unsigned apart, unsigned later)
{
	unsigned base = blockIdx.y * apart / 4, at = blockIdx.y * later & (region - 1);
	float s = 0, f = 1;
	if (__all_sync(0xffffffff, threadIdx.x >= 32))
		return;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < STEPS; r++) {
#pragma unroll
		for (int i = 0; i < READ; i++) {
			s += words[base + at / 4 + i];
#pragma unroll
			for (int w = 0; w < WORK; w++)
				f = f * s + s;
		}
		at += step;
		at = at >= region ? 0 : at;
	}
	long long end = cycles();
	unsigned warp; /* by the block's number, indices would leave what lanes share */
	asm volatile("mov.u32 %0, %%warpid;" : "=r"(warp));
	spans[sm_number() * WARPS + warp] = {begin, end};
	out[threadIdx.x] = __float_as_uint(s + f);
}

/* The same by addresses that the code has: operands of multiplications. */
template <int LINES, int READ> __global__ void operands(span *spans, unsigned *out)
{
	float s = 0, f = 1;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < STEPS / LINES; r++) {
#pragma unroll
		for (int l = 0; l < LINES; l++)
#pragma unroll
			for (int i = 0; i < READ; i++)
				f = f * words[l * 16 + i] + s;
	}
	long long end = cycles();
	spans[blockIdx.x] = {begin, end};
	out[threadIdx.x] = __float_as_uint(s + f);
}

template <int LINES> static void measure_operands()
{
	for (int blocks : {1, 2, 4, 8, 16, 32}) {
		int n = SMS * blocks;
		row("operand", "1", LINES * 64, blocks, 0, median_cycles(spans, n, 1, [&] { operands<LINES, 1><<<n, 32>>>(spans, out); }) / (STEPS / LINES * LINES));
		row("operand", "4", LINES * 64, blocks, 0, median_cycles(spans, n, 1, [&] { operands<LINES, 4><<<n, 32>>>(spans, out); }) / (STEPS / LINES * LINES));
		row("operand", "16", LINES * 64, blocks, 0, median_cycles(spans, n, 1, [&] { operands<LINES, 16><<<n, 32>>>(spans, out); }) / (STEPS / LINES * LINES));
	}
}

template <int READ, int WORK>
static void measure(const char *bench, const char *what, int warps, unsigned region, unsigned step, int blocks, unsigned apart, unsigned later)
{
	CHECK(cudaMemset(spans, 0, SMS * WARPS * sizeof *spans));
	row(bench, what, region, blocks, apart + later, median_cycles(spans, SMS * WARPS, 1, [&] {
		    walk<READ, WORK><<<dim3(SMS, blocks), warps * 32>>>(spans, out, region, step, apart, later);
	    }) / STEPS);
}

int main()
{
	static const char *const names[] = {"8", "16", "32", "64", "128", "256", "512"};
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 1024));
	clocks_up(out, 100);
	for (int i = 0; i < 7; i++)
		for (unsigned step = 8u << i, n = 1; n <= 512; n += n < 20 ? 1 : n)
			if (step * n <= 32768)
				measure<1, 0>("walk", names[i], 1, step * n, step, 1, 0, 0);
	for (int blocks : {2, 4, 8, 16, 32})
		for (unsigned lines : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 128})
			measure<1, 0>("walk", "64", 1, 64 * lines, 64, blocks, 0, 0);
	for (int warps : {1, 4})
		for (int blocks : {1, 2, 3, 4, 6, 8, 12, 16, 24, 32})
			for (unsigned lines : {1, 2, 3, 4, 6, 8, 16}) {
				if (warps * blocks > 64)
					continue;
				measure<1, 0>("own", warps == 1 ? "1" : "4", warps, 64 * lines, 64, blocks, 64 * lines, 0);
				if (lines > 1 && (lines & (lines - 1)) == 0)
					measure<1, 0>("start", warps == 1 ? "1" : "4", warps, 64 * lines, 64, blocks, 0, 64);
			}
	for (int blocks : {1, 2, 4, 8, 16, 32})
		for (unsigned lines : {1, 2, 4, 8, 16, 64})
			for (unsigned later : {0, 64}) {
				measure<1, 4>("line", "1", 1, 64 * lines, 64, blocks, 0, later);
				measure<2, 4>("line", "2", 1, 64 * lines, 64, blocks, 0, later);
				measure<4, 4>("line", "4", 1, 64 * lines, 64, blocks, 0, later);
				measure<8, 4>("line", "8", 1, 64 * lines, 64, blocks, 0, later);
				measure<16, 4>("line", "16", 1, 64 * lines, 64, blocks, 0, later);
			}
	measure_operands<1>();
	measure_operands<2>();
	measure_operands<4>();
	measure_operands<8>();
	measure_operands<16>();
	measure_operands<64>();
	return 0;
}
