/*
 * micro_mixes: how long DRAM takes for reads and writes of several arrays at a time.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_mixes tests/accuracy/truth/micro_mixes.cu
 *   micro_mixes [LAUNCHES]     prints bench,what,a,b,c,value; 13 launches of each by default
 *
 * mixes: microseconds of a launch, by events around it (2.9 us around next to nothing). Each thread reads an element of a arrays and writes one of
 * b, which lie one behind the other. c: MB of all of them.
 */
#include "tests/accuracy/truth/micro.h"

enum { MB = 1 << 20, THREADS = 256 };
static int launches = 13;

template <int READ, int WRITTEN> __global__ void mix(const float *from, float *to, size_t n)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	float v[READ ? READ : 1], sum = 1;
#pragma unroll
	for (int k = 0; k < READ; k++)
		v[k] = from[k * n + i];
#pragma unroll
	for (int k = 0; k < READ; k++)
		sum += v[k];
#pragma unroll
	for (int k = 0; k < WRITTEN; k++)
		to[k * n + i] = sum + k;
	if (!WRITTEN && sum == 1.2345e30f) /* it never is */
		to[0] = sum;
}

template <int READ, int WRITTEN> static void measure(const float *from, float *to, int mb)
{
	size_t n = (size_t)mb * MB / sizeof(float) / (READ + WRITTEN) / THREADS * THREADS;
	row("mixes", "us", READ, WRITTEN, mb, median_us_of([&] { mix<READ, WRITTEN><<<(unsigned)(n / THREADS), THREADS>>>(from, to, n); }, launches, launches / 6));
}

int main(int argc, char **argv)
{
	float *from, *to;
	unsigned *out;
	launches = argc > 1 ? atoi(argv[1]) : launches;
	CHECK(cudaMalloc(&from, 512ull * MB));
	CHECK(cudaMalloc(&to, 512ull * MB));
	CHECK(cudaMalloc(&out, sizeof *out));
	CHECK(cudaMemset(from, 0, 512ull * MB));
	CHECK(cudaMemset(to, 0, 512ull * MB));
	if (argc < 2)
		clocks_up(out, 50);
	for (int mb : {144, 512}) {
		measure<1, 0>(from, to, mb), measure<2, 0>(from, to, mb), measure<5, 0>(from, to, mb), measure<9, 0>(from, to, mb);
		measure<0, 1>(from, to, mb), measure<0, 2>(from, to, mb), measure<0, 5>(from, to, mb), measure<0, 9>(from, to, mb);
		measure<1, 1>(from, to, mb), measure<2, 2>(from, to, mb), measure<3, 3>(from, to, mb), measure<5, 5>(from, to, mb), measure<9, 9>(from, to, mb);
		measure<2, 1>(from, to, mb), measure<4, 1>(from, to, mb), measure<9, 1>(from, to, mb), measure<1, 4>(from, to, mb), measure<1, 9>(from, to, mb);
	}
	return 0;
}
