/*
 * micro_shuffles: exchanges between the lanes of a warp, alone and beside instructions of other units.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_shuffles tests/accuracy/truth/micro_shuffles.cu
 *   micro_shuffles               prints bench,what,a,b,c,value
 *
 * shuffles: what: alone; logic: beside LOP3, which units of integers do; a: of these, for each shuffle; b: warps on each of all SMs;
 *   c: 1: there are shuffles, 0: only the others; value: cycles of an SM for each shuffle, or for as many of the others
 */
#include "tests/accuracy/truth/micro.h"

enum { ROUNDS = 128, EACH = 4 /* that do not depend on each other */ };

static span *spans;
static unsigned *out;

template <int COUNT, bool SHUFFLES> __global__ void beside(span *spans, unsigned *out, unsigned number)
{
	unsigned x[EACH], y[EACH];
	for (int i = 0; i < EACH; i++)
		x[i] = y[i] = threadIdx.x + i;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++) {
#pragma unroll
		for (int i = 0; i < EACH; i++) {
			if (SHUFFLES)
				asm volatile("shfl.sync.bfly.b32 %0, %0, 1, 31, 0xffffffff;" : "+r"(x[i]));
#pragma unroll
			for (int k = 0; k < COUNT; k++)
				asm volatile("lop3.b32 %0, %0, %1, %0, 0x96;" : "+r"(y[(i + k) % EACH]) : "r"(number));
		}
	}
	unsigned sum = 0;
	for (int i = 0; i < EACH; i++)
		sum += x[i] ^ y[i];
	note(spans, begin, cycles_after(sum, 0x7ffffff1, out));
}

template <int COUNT, bool SHUFFLES> static void measure(const char *name)
{
	for (int w : {1, 4, 8, 16, 32})
		row("shuffles", name, COUNT, w, SHUFFLES,
		    median_cycles(spans, SMS, w, [&] { beside<COUNT, SHUFFLES><<<SMS, w * 32>>>(spans, out, 0); }) / (ROUNDS * EACH * w));
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 1024));
	clocks_up(out, 100);
	measure<0, true>("alone");
	measure<1, true>("logic");
	measure<2, true>("logic");
	measure<4, true>("logic");
	measure<1, false>("logic");
	measure<2, false>("logic");
	measure<4, false>("logic");
	return 0;
}
