/*
 * micro_sides: how long loads from L2 take by who wrote or read their lines before, and the first ones of a launch.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_sides tests/accuracy/truth/micro_sides.cu
 *   micro_sides                   prints bench,what,a,b,c,value
 *
 * One warp of each SM reads lines anywhere in a region, one after the other, with a clock before and after each. The clocks take 39 cycles.
 * after     what: who was there before: wrote (a launch stored to all of it), atomics (a launch added to all of it), filled (cudaMemset), copied (from
 *           the host), moved (from another buffer), read (the same SMs read the same lines), other (other SMs did), all (all SMs did); a: MB of the
 *           region; b: 0: mean, else a percentile; value: cycles
 * first     the n-th load of a launch after the same SMs have read the same lines; a: MB of the region; b: n; value: cycles, mean
 */
#include "tests/accuracy/truth/micro.h"

enum { STEPS = 128, WARM = 8 };
static unsigned *region, *from, *out;
static unsigned short *times, host_times[SMS * STEPS];

static __device__ unsigned mixed(unsigned x)
{
	x = (x ^ x >> 16) * 0x45d9f3bu;
	x = (x ^ x >> 15) * 0x2c1b3c6du;
	return x ^ x >> 16;
}

__global__ void store_all(unsigned *p, unsigned words)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < words)
		p[i] = i;
}

__global__ void add_all(unsigned *p, unsigned words)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < words)
		atomicAdd(p + i, 1u);
}

/* Each SM reads lines of its own; those of `who` SMs farther on, if that is not 0. */
__global__ void read_some(const unsigned *p, unsigned lines, unsigned who, unsigned short *times, unsigned *out)
{
	unsigned sm = (blockIdx.x + who) % SMS, sum = 0;
	for (int i = 0; i < STEPS; i++) {
		const unsigned *at = p + (size_t)(mixed(sm * STEPS + i) % lines) * 32;
		unsigned x;
		long long begin = cycles();
		asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(at + (sum & 0)) : "memory");
		long long end = cycles_after(x, 0xffffffff, out);
		sum += x;
		if (threadIdx.x == 0)
			times[blockIdx.x * STEPS + i] = (unsigned short)(end - begin);
	}
	if (sum == 0xfffffff)
		out[0] = sum;
}

__global__ void read_all(const unsigned *p, unsigned words, unsigned *out)
{
	unsigned sum = 0;
	for (unsigned i = threadIdx.x; i < words; i += blockDim.x) {
		unsigned x;
		asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(x) : "l"(p + i) : "memory");
		sum += x;
	}
	if (sum == 0xfffffff)
		out[0] = sum;
}

template <typename PREPARE> static void measure(const char *what, unsigned mb, PREPARE prepare)
{
	unsigned lines = mb << 13;
	std::vector<unsigned short> all;
	double sums[STEPS] = {};
	for (int r = 0; r < 9; r++) {
		prepare();
		read_some<<<SMS, 32>>>(region, lines, 0, times, out);
		CHECK(cudaMemcpy(host_times, times, sizeof host_times, cudaMemcpyDeviceToHost));
		for (int s = 0; s < SMS; s++)
			for (int i = 0; i < STEPS; i++) {
				sums[i] += host_times[s * STEPS + i] / (9.0 * SMS);
				if (i >= WARM)
					all.push_back(host_times[s * STEPS + i]);
			}
	}
	std::sort(all.begin(), all.end());
	double mean = 0;
	for (unsigned short t : all)
		mean += t;
	row("after", what, mb, 0, 0, mean / all.size());
	for (int percent : {5, 25, 50, 75, 95})
		row("after", what, mb, percent, 0, all[all.size() * percent / 100]);
	for (int i = 0; i < WARM && !strcmp(what, "read"); i++)
		row("first", what, mb, i, 0, sums[i]);
}

int main()
{
	CHECK(cudaMalloc(&region, 64 << 20));
	CHECK(cudaMalloc(&from, 64 << 20));
	CHECK(cudaMalloc(&out, 1024));
	CHECK(cudaMalloc(&times, sizeof host_times));
	CHECK(cudaMemset(from, 1, 64 << 20));
	std::vector<unsigned> host(16 << 20);
	clocks_up(out, 100);
	for (unsigned mb : {1, 4, 16, 24}) {
		unsigned words = mb << 18, lines = mb << 13;
		auto read = [&](unsigned who) { read_some<<<SMS, 32>>>(region, lines, who, times, out); };
		auto store = [&] { store_all<<<words / 256, 256>>>(region, words); };
		measure("wrote", mb, [&] { store(); });
		measure("atomics", mb, [&] { add_all<<<words / 256, 256>>>(region, words); });
		measure("filled", mb, [&] { CHECK(cudaMemset(region, 0, mb << 20)); });
		measure("copied", mb, [&] { CHECK(cudaMemcpy(region, host.data(), mb << 20, cudaMemcpyHostToDevice)); });
		measure("moved", mb, [&] { CHECK(cudaMemcpy(region, from, mb << 20, cudaMemcpyDeviceToDevice)); });
		measure("read", mb, [&] { read(0); });
		measure("other", mb, [&] { store(); read(1); });
		measure("other66", mb, [&] { store(); read(66); });
		if (mb <= 4)
			measure("all", mb, [&] { store(); read_all<<<SMS, 1024>>>(region, words, out); });
		measure("wrote_twice", mb, [&] { read(0); store(); });
	}
	return 0;
}
