/* micro: what the microbenchmarks share: clocks, launches, rows of a table. */
#ifndef GPUSIM_TRUTH_MICRO_H
#define GPUSIM_TRUTH_MICRO_H

#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#define CHECK(call)                                                                                                    \
	do {                                                                                                           \
		cudaError_t error_ = (call);                                                                           \
		if (error_) {                                                                                          \
			fprintf(stderr, "error: %s: %s (%s:%d)\n", #call, cudaGetErrorString(error_), __FILE__, __LINE__); \
			exit(1);                                                                                       \
		}                                                                                                      \
	} while (0)

enum { MOST_BLOCKS = 1 << 16, REPEATS = 5, SMS = 132 /* of an H200 */ };

static __device__ __forceinline__ long long cycles()
{
	long long t;
	asm volatile("mov.u64 %0, %%clock64;" : "=l"(t)::"memory");
	return t;
}

/* The same when `value` has arrived: warps issue in order, and the comparison waits for it. It is never `never`. */
static __device__ __forceinline__ long long cycles_after(unsigned long long value, unsigned long long never, unsigned *out)
{
	if (value == never)
		*(volatile unsigned *)out = 1;
	return cycles();
}

static __device__ __forceinline__ unsigned long long nanoseconds()
{
	unsigned long long t;
	asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(t)::"memory");
	return t;
}

static __device__ __forceinline__ unsigned sm_number()
{
	unsigned n;
	asm volatile("mov.u32 %0, %%smid;" : "=r"(n));
	return n;
}

/* Cycles of a block, from its first warp's start to its last warp's end: every warp notes both. */
struct span {
	long long begin, end;
};

/* A loop between two of these is timed by every warp. `spans` has one for each warp of the launch. */
static __device__ __forceinline__ void note(span *spans, long long begin, long long end)
{
	if (threadIdx.x % 32 == 0)
		spans[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {begin, end};
}

/* The longest span of a block, whose warps share a clock. */
static inline double longest(const span *spans, int blocks, int warps)
{
	long long most = 0;
	for (int b = 0; b < blocks; b++) {
		long long begin = spans[b * warps].begin, end = spans[b * warps].end;
		for (int w = 1; w < warps; w++) {
			begin = std::min(begin, spans[b * warps + w].begin);
			end = std::max(end, spans[b * warps + w].end);
		}
		most = std::max(most, end - begin);
	}
	return (double)most;
}

/* Launches a few times and takes the median of the longest span, in cycles. */
template <typename LAUNCH> double median_cycles(span *spans, int blocks, int warps, LAUNCH launch)
{
	std::vector<double> found;
	for (int r = 0; r <= REPEATS; r++) {
		std::vector<span> read((size_t)blocks * warps);
		launch();
		CHECK(cudaGetLastError());
		CHECK(cudaMemcpy(read.data(), spans, read.size() * sizeof *spans, cudaMemcpyDeviceToHost));
		if (r)
			found.push_back(longest(read.data(), blocks, warps));
	}
	std::sort(found.begin(), found.end());
	return found[found.size() / 2];
}

/* The median time of so many launches, by events, but for the first ones. */
template <typename LAUNCH> static inline double median_us_of(LAUNCH launch, int launches, int first)
{
	std::vector<float> found;
	cudaEvent_t from, to;
	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int r = 0; r < launches; r++) {
		float ms;
		CHECK(cudaEventRecord(from));
		launch();
		CHECK(cudaEventRecord(to));
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaEventElapsedTime(&ms, from, to));
		if (r >= first)
			found.push_back(ms);
	}
	CHECK(cudaEventDestroy(from));
	CHECK(cudaEventDestroy(to));
	std::sort(found.begin(), found.end());
	return 1e3 * found[found.size() / 2];
}

/* bench,what,a,b,c,value: the meaning of a, b and c is in the bench's comment. */
static inline void row(const char *bench, const char *what, double a, double b, double c, double value)
{
	printf("%s,%s,%.10g,%.10g,%.10g,%.4f\n", bench, what, a, b, c, value);
	fflush(stdout);
}

/* Launches that keep all SMs busy for a while, so that clocks are up. */
static __global__ void spin(unsigned *out, long long most)
{
	long long begin = cycles();
	while (cycles() - begin < most)
		;
	if (most < 0)
		out[0] = 1;
}

static inline void clocks_up(unsigned *out, int launches)
{
	for (int i = 0; i < launches; i++)
		spin<<<4 * SMS, 128>>>(out, 2000000);
	CHECK(cudaDeviceSynchronize());
}

#endif
