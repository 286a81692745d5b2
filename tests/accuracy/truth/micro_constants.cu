/*
 * micro_constants: loads of constants by an index, where lanes of a warp have several.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_constants tests/accuracy/truth/micro_constants.cu
 *   micro_constants               prints bench,what,a,b,c,value
 *
 * chase: a warp's next index needs the one before. what: byte, word, pair (8 bytes); a: constants that a warp's lanes ask for at a time;
 *   b: warps on each of all SMs; c: bytes from one to the next; value: cycles per load
 * lanes: the same, where only so many lanes (a) of a warp load, each another word
 */
#include "tests/accuracy/truth/micro.h"

enum { BYTES = 8192, ROUNDS = 256 };

__constant__ unsigned char bytes[BYTES];
__constant__ unsigned words[BYTES / 4];
__constant__ uint2 pairs[BYTES / 8];
static span *spans;
static unsigned *out;

template <typename T> static __device__ unsigned load(unsigned at);
template <> __device__ unsigned load<unsigned char>(unsigned at) { return bytes[at]; }
template <> __device__ unsigned load<unsigned>(unsigned at) { return words[at / 4]; }
template <> __device__ unsigned load<uint2>(unsigned at)
{
	uint2 v = pairs[at / 8];
	return v.x + v.y;
}

/* All constants are 0. */
template <typename T> __global__ void chase(span *spans, unsigned *out, unsigned mask, unsigned apart, unsigned lanes)
{
	unsigned own = (threadIdx.x % 32 & mask) * apart, x = own;
	if (threadIdx.x % 32 >= lanes)
		return;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++)
		x = load<T>(x & (BYTES - 1)) + own;
	note(spans, begin, cycles_after(x, 0x7fffffff, out));
}

template <typename T> static void measure_chase(const char *what, unsigned least)
{
	for (int w : {1, 4, 16, 32})
		for (unsigned apart = least; apart <= 128; apart *= apart < 8 ? 2 : 4)
			for (unsigned mask = 0; mask < 32; mask = mask * 2 + 1)
				row("chase", what, mask + 1, w, apart,
				    median_cycles(spans, SMS, w, [&] { chase<T><<<SMS, w * 32>>>(spans, out, mask, apart, 32); }) / ROUNDS);
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 1024));
	clocks_up(out, 100);
	measure_chase<unsigned char>("byte", 1);
	measure_chase<unsigned>("word", 4);
	measure_chase<uint2>("pair", 8);
	for (unsigned lanes : {1, 2, 4, 8, 16, 32})
		row("lanes", "word", lanes, 1, 4, median_cycles(spans, SMS, 1, [&] { chase<unsigned><<<SMS, 32>>>(spans, out, 31, 4, lanes); }) / ROUNDS);
	return 0;
}
