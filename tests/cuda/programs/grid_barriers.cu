/* Cooperative launches: blocks that wait for one another. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
#if defined __NVCC__
#include <cooperative_groups.h>
__device__ static void wait_for_grid(void) { cooperative_groups::this_grid().sync(); }
#else
/* What cooperative_groups.h does: %envreg1 and %envreg2 have the address of a word that blocks count in. */
__device__ static void wait_for_grid(void)
{
	unsigned high, low;
	asm volatile("mov.u32 %0, %%envreg1;" : "=r"(high));
	asm volatile("mov.u32 %0, %%envreg2;" : "=r"(low));
	volatile unsigned *word = (volatile unsigned *)((unsigned long long)high << 32 | low) + 1;
	__syncthreads();
	if (threadIdx.x + threadIdx.y + threadIdx.z == 0) {
		unsigned blocks = gridDim.x * gridDim.y * gridDim.z;
		bool first = blockIdx.x + blockIdx.y + blockIdx.z == 0;
		__threadfence();
		unsigned before = atomicAdd((unsigned *)word, first ? 0x80000000u - (blocks - 1) : 1u);
		while (!((*word ^ before) >> 31))
			;
		__threadfence();
	}
	__syncthreads();
}
#endif

/* Each round reads what other blocks have written in the round before. */
extern "C" __global__ void rotate_rounds(int *from, int *to, int n, int rounds)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	for (int r = 0; r < rounds; r++) {
		to[i] = from[(i + 67) % n] + r;
		wait_for_grid();
		int *other = from;
		from = to;
		to = other;
	}
}

/* A sum over the grid in two steps, with blocks of two dimensions. */
extern "C" __global__ void sum_grid(const int *in, int *sums, int *out)
{
	__shared__ int total;
	unsigned block = blockIdx.y * gridDim.x + blockIdx.x, t = threadIdx.y * blockDim.x + threadIdx.x;
	if (t == 0)
		total = 0;
	__syncthreads();
	atomicAdd(&total, in[block * blockDim.x * blockDim.y + t]);
	__syncthreads();
	if (t == 0)
		sums[block] = total;
	wait_for_grid();
	int sum = 0;
	for (unsigned b = 0; b < gridDim.x * gridDim.y; b++)
		sum += sums[b];
	out[block * blockDim.x * blockDim.y + t] = sum;
}

/* Does not wait at all. */
extern "C" __global__ void add_one(int *a)
{
	a[blockIdx.x * blockDim.x + threadIdx.x] += 1;
}
#endif

#ifdef WITH_HOST
KERNEL(rotate_rounds)
KERNEL(sum_grid)
KERNEL(add_one)

#define TOGETHER(name, grid, block, ...) \
	do { \
		void *launch_arguments[] = {__VA_ARGS__}; \
		check((int)cudaLaunchCooperativeKernel(HANDLE(name), grid, block, launch_arguments, 0, 0), "the launch of " #name); \
	} while (0)

enum { BLOCKS = 12, BLOCK = 96, N = BLOCKS * BLOCK, ROUNDS = 25, SUMS = 16, SUMMED = SUMS * 64 };
static int expected[N], next[N], out[N];

static void try_rounds(void)
{
	int n = N, rounds = ROUNDS;
	size_t wrong = 0;
	unsigned state = 3;
	for (int i = 0; i < N; i++)
		expected[i] = (int)next_number(&state) % 1000;
	int *a = (int *)device_new(expected, sizeof expected), *b = (int *)device_new(NULL, sizeof expected);
	TOGETHER(rotate_rounds, dims(BLOCKS, 1, 1), dims(BLOCK, 1, 1), &a, &b, &n, &rounds);
	fetch(out, b, sizeof out);
	for (int r = 0; r < ROUNDS; r++) {
		for (int i = 0; i < N; i++)
			next[i] = expected[(i + 67) % N] + r;
		memcpy(expected, next, sizeof next);
	}
	for (int i = 0; i < N; i++)
		wrong += out[i] != expected[i];
	report("rounds that all blocks wait for", wrong);
	TOGETHER(add_one, dims(BLOCKS, 1, 1), dims(BLOCK, 1, 1), &b);
	fetch(out, b, sizeof out);
	wrong = 0;
	for (int i = 0; i < N; i++)
		wrong += out[i] != expected[i] + 1;
	report("a cooperative launch of blocks that do not wait", wrong);
}

static void try_sum(void)
{
	int sum = 0;
	size_t wrong = 0;
	for (int i = 0; i < SUMMED; i++) {
		next[i] = i * 7 % 31;
		sum += next[i];
	}
	int *a = (int *)device_new(next, SUMMED * sizeof *next), *b = (int *)device_new(NULL, SUMS * sizeof *next), *c = (int *)device_new(NULL, sizeof out);
	TOGETHER(sum_grid, dims(4, 4, 1), dims(8, 8, 1), &a, &b, &c);
	fetch(out, c, sizeof out);
	for (int i = 0; i < SUMMED; i++)
		wrong += out[i] != sum;
	report("a sum over all blocks", wrong);
}

/* As many blocks as can be resident may wait for one another, and no more. */
static void try_sizes(void)
{
	int value = 0, sms = 0, blocks = 0, *a = (int *)device_new(NULL, sizeof out);
	void *arguments[] = {&a};
#ifdef __NVCC__
	CALL(cudaDeviceGetAttribute(&value, cudaDevAttrCooperativeLaunch, 0));
	CALL(cudaDeviceGetAttribute(&sms, cudaDevAttrMultiProcessorCount, 0));
	CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, HANDLE(add_one), 1024, 0));
#else
	CALL(cudaDeviceGetAttribute(&value, 95, 0));
	CALL(cudaDeviceGetAttribute(&sms, 16, 0));
	CALL(cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, HANDLE(add_one), 1024, 0));
#endif
	int error = (int)cudaLaunchCooperativeKernel(HANDLE(add_one), dims((unsigned)(sms * blocks) + 1, 1, 1), dims(1024, 1, 1), arguments, 0, 0);
	report("more blocks than can be resident are refused", value != 1 || error != 720);
}

int main(void)
{
	begin();
	try_rounds();
	try_sum();
	try_sizes();
	return finish();
}
#endif
