/*
 * micro_order: which warp a scheduler takes of several that could issue.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_order tests/accuracy/truth/micro_order.cu
 *
 * Every warp of SM 0 notes its clock after each quarter of its work, in cycles after the first one of its block began.
 *   order,KIND,warps,blocks,warp,scheduler,begin,quarter 1 to 4
 * alu: sums that need the one before, of which four warps fill a scheduler; ready: sums that do not; shared: loads from shared memory, each
 *   needs the one before; hits: loads from L1, likewise; misses: loads of 32 lines from L2, four at a time
 */
#include "tests/accuracy/truth/micro.h"

enum { QUARTERS = 4, STEPS = 64 };

struct warp_times {
	unsigned sm, block, warp, pad;
	long long at[QUARTERS + 1];
};

template <int KIND> __global__ void work(const unsigned *area, warp_times *times, unsigned *out, unsigned zero)
{
	__shared__ unsigned shared[1024];
	float a = threadIdx.x, b = a + 1, c = a + 2, d = a + 3;
	unsigned at = threadIdx.x, sum = 0, warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	warp_times t;
	if (KIND == 2)
		shared[threadIdx.x] = threadIdx.x;
	__syncthreads();
	t.at[0] = cycles();
#pragma unroll
	for (int q = 0; q < QUARTERS; q++) {
		for (int i = 0; i < STEPS; i++) {
			if (KIND == 0)
#pragma unroll
				for (int k = 0; k < 16; k++)
					asm volatile("fma.rn.f32 %0, %0, %1, %1;" : "+f"(a) : "f"(b));
			if (KIND == 1)
#pragma unroll
				for (int k = 0; k < 4; k++)
					asm volatile("fma.rn.f32 %0, %0, %0, %0; fma.rn.f32 %1, %1, %1, %1; fma.rn.f32 %2, %2, %2, %2; fma.rn.f32 %3, %3, %3, %3;"
					             : "+f"(a), "+f"(b), "+f"(c), "+f"(d));
			if (KIND == 2)
				at = shared[at & 1023];
			if (KIND == 3) {
				unsigned v;
				asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(area + (warp * 32 + lane) + (sum & zero)));
				sum += v;
			}
			if (KIND == 4) {
				unsigned v[4];
#pragma unroll
				for (int k = 0; k < 4; k++)
					asm volatile("ld.global.ca.u32 %0, [%1];"
					             : "=r"(v[k])
					             : "l"(area + (((blockIdx.x * 32 + warp) * 32 + lane) * 32 + ((q * STEPS + i) * 4 + k) * 524288 + (sum & zero)) % (4 << 20)));
#pragma unroll
				for (int k = 0; k < 4; k++)
					sum += v[k];
			}
		}
		if (a == 12345.6f || at == 99999 || sum == 77)
			*(volatile unsigned *)out = 1;
		t.at[q + 1] = cycles();
	}
	t.sm = sm_number();
	t.block = blockIdx.x;
	t.warp = warp;
	if (lane == 0)
		times[blockIdx.x * 32 + warp] = t;
	if (a + b + c + d == 1.5f)
		*out = 2;
}

static unsigned *area, *out;
static warp_times *times;

template <int KIND> static void measure(const char *name, int warps, int blocks)
{
	std::vector<warp_times> read(SMS * blocks * 32);
	CHECK(cudaMemset(times, 0, read.size() * sizeof(warp_times)));
	for (int i = 0; i < 3; i++)
		work<KIND><<<SMS * blocks, warps * 32>>>(area, times, out, 0);
	CHECK(cudaMemcpy(read.data(), times, read.size() * sizeof(warp_times), cudaMemcpyDeviceToHost));
	unsigned sm = read[0].sm;
	long long first = -1;
	for (const warp_times &t : read)
		if (t.at[0] && t.sm == sm)
			first = first < 0 || t.at[0] < first ? t.at[0] : first;
	for (const warp_times &t : read)
		if (t.at[0] && t.sm == sm)
			printf("order,%s,%d,%d,%u.%u,%u,%lld,%lld,%lld,%lld,%lld\n", name, warps, blocks, t.block, t.warp, t.warp % 4, t.at[0] - first, t.at[1] - first,
			       t.at[2] - first, t.at[3] - first, t.at[4] - first);
}

int main()
{
	CHECK(cudaMalloc(&area, 32 << 20));
	CHECK(cudaMemset(area, 0, 32 << 20));
	CHECK(cudaMalloc(&out, 4096));
	CHECK(cudaMalloc(&times, SMS * 8 * 32 * sizeof(warp_times)));
	clocks_up(out, 200);
	for (int warps : {8, 16, 32}) {
		measure<0>("alu", warps, 1);
		measure<1>("ready", warps, 1);
		measure<2>("shared", warps, 1);
		measure<3>("hits", warps, 1);
		measure<4>("misses", warps, 1);
	}
	for (int blocks : {4, 8}) {
		measure<1>("ready", 8, blocks);
		measure<0>("alu", 8, blocks);
		measure<3>("hits", 8, blocks);
		measure<4>("misses", 8, blocks);
	}
	return 0;
}
