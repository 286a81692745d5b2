/*
 * micro_reach: how long one warp waits for what it loads from shared memory or L1, by the width of the load and what lanes ask for.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_reach tests/accuracy/truth/micro_reach.cu
 *   micro_reach                prints bench,what,a,b,c,value
 *
 * A warp's next address needs what it loaded. what: lds, ldg (hits of L1); a: bytes of a lane; b: bytes from a lane's to the next one's; c: 1: lanes 16 to 31
 * ask for what lanes 0 to 15 do; value: cycles from a load to the next
 */
#include "tests/accuracy/truth/micro.h"

enum { ROUNDS = 64, STEPS = 16 };

static span *spans;
static unsigned *out, *area;

template <bool SHARED, int BYTES> __global__ void reach(span *spans, unsigned *out, const unsigned *area, unsigned apart, unsigned lanes)
{
	__shared__ __align__(16) unsigned room[8192];
	for (int i = threadIdx.x; i < 8192; i += blockDim.x)
		room[i] = 0;
	__syncthreads();
	unsigned x = 0, y = 0, z, w, at = (unsigned)__cvta_generic_to_shared(&room[0]) + threadIdx.x % lanes * apart;
	const char *from = (const char *)area + threadIdx.x % lanes * apart;
	long long begin = 0;
#pragma unroll 1
	for (int r = 0; r <= ROUNDS; r++) {
		if (r == 1)
			begin = cycles();
#pragma unroll
		for (int s = 0; s < STEPS; s++) {
			if (SHARED && BYTES == 4)
				asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at + x));
			else if (SHARED && BYTES == 8)
				asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at + y));
			else if (SHARED)
				asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(z), "=r"(w), "=r"(y) : "r"(at + y));
			else if (BYTES == 4)
				asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(from + x));
			else if (BYTES == 8)
				asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(from + y));
			else
				asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(z), "=r"(w), "=r"(y) : "l"(from + y));
		}
	}
	note(spans, begin, cycles_after(x + y, 0x12345678, out));
}

template <bool SHARED, int BYTES> static void all()
{
	for (unsigned lanes : {32, 16})
		for (unsigned apart : {0, BYTES, 2 * BYTES, 128}) {
			double found = median_cycles(spans, 1, 1, [&] { reach<SHARED, BYTES><<<1, 32>>>(spans, out, area, apart, lanes); });
			row("reach", SHARED ? "lds" : "ldg", BYTES, apart, lanes < 32, found / ROUNDS / STEPS);
		}
}

int main()
{
	CHECK(cudaMalloc(&spans, 4096));
	CHECK(cudaMalloc(&out, 4096));
	CHECK(cudaMalloc(&area, 1 << 20));
	CHECK(cudaMemset(area, 0, 1 << 20));
	clocks_up(out, 100);
	all<true, 4>();
	all<true, 8>();
	all<true, 16>();
	all<false, 4>();
	all<false, 8>();
	all<false, 16>();
	return 0;
}
