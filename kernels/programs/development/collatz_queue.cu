// Longest Collatz chains below a limit. Warps take chunks of numbers from a queue; then single threads do; then more blocks than fit take from one.
// Hard for a GPU: chains differ in length, lanes of a warp wait for the longest, and every chunk costs an atomic that all wait for.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

static void require(cudaError_t e, int line)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
		exit(1);
	}
}
#define REQUIRE(x) require((x), __LINE__)

__device__ unsigned chain_length(unsigned long long n)
{
	unsigned steps = 1;
	while (n != 1) {
		n = n & 1 ? 3 * n + 1 : n >> 1;
		steps++;
	}
	return steps;
}

__device__ unsigned next_chunk, next_number, next_tile;

// best: length in the upper half, so that one atomic keeps the longest; of equal ones the smallest number
__device__ unsigned long long rank_of(unsigned n, unsigned length)
{
	return (unsigned long long)length << 32 | (0xffffffffu - n);
}

__global__ void by_warps(unsigned limit, unsigned short *lengths, unsigned long long *best)
{
	unsigned lane = threadIdx.x & 31;
	unsigned long long longest = 0;
	for (;;) {
		unsigned first = 0;
		if (lane == 0)
			first = atomicAdd(&next_chunk, 64);
		first = __shfl_sync(0xffffffffu, first, 0);
		if (first >= limit)
			break;
		for (unsigned k = lane; k < 64; k += 32) {
			unsigned n = first + k + 1, length = chain_length(n);
			lengths[n] = (unsigned short)length;
			unsigned long long r = rank_of(n, length);
			longest = r > longest ? r : longest;
		}
	}
	for (int d = 16; d; d /= 2) {
		unsigned long long other = __shfl_down_sync(0xffffffffu, longest, d);
		longest = other > longest ? other : longest;
	}
	if (lane == 0)
		atomicMax(best, longest);
}

__global__ void by_threads(unsigned limit, unsigned *histogram)
{
	for (;;) {
		unsigned n = atomicAdd(&next_number, 1) + 1;
		if (n > limit)
			break;
		atomicAdd(&histogram[chain_length(n) & 511], 1);
	}
}

// sums of lengths of 1024 numbers, as the other kernel left them
__global__ void by_tiles(unsigned tiles, const unsigned short *lengths, unsigned *sums)
{
	__shared__ unsigned mine, total;
	do {
		__syncthreads();
		if (threadIdx.x == 0) {
			mine = atomicAdd(&next_tile, 1);
			total = 0;
		}
		__syncthreads();
		if (mine < tiles) {
			unsigned sum = 0;
			for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x)
				sum += lengths[mine * 1024 + k + 1];
			atomicAdd(&total, sum);
			__syncthreads();
			if (threadIdx.x == 0)
				sums[mine] = total;
		}
	} while (mine < tiles);
}

int main()
{
	const unsigned LIMIT = 1 << 21, TILES = LIMIT / 1024;
	unsigned short *lengths;
	unsigned *histogram, *sums, *host = (unsigned *)malloc(TILES * sizeof(unsigned));
	unsigned long long *best, longest;
	REQUIRE(cudaMalloc(&lengths, (LIMIT + 64) * sizeof(*lengths)));
	REQUIRE(cudaMalloc(&histogram, 512 * sizeof(unsigned)));
	REQUIRE(cudaMalloc(&sums, TILES * sizeof(unsigned)));
	REQUIRE(cudaMalloc(&best, sizeof(*best)));
	REQUIRE(cudaMemset(best, 0, sizeof(*best)));
	REQUIRE(cudaMemset(histogram, 0, 512 * sizeof(unsigned)));
	by_warps<<<132 * 4, 256>>>(LIMIT, lengths, best);
	REQUIRE(cudaGetLastError());
	by_threads<<<132 * 2, 512>>>(LIMIT / 16, histogram);
	REQUIRE(cudaGetLastError());
	by_tiles<<<132 * 32, 256>>>(TILES, lengths, sums);
	REQUIRE(cudaGetLastError());
	REQUIRE(cudaMemcpy(&longest, best, sizeof(longest), cudaMemcpyDeviceToHost));
	printf("longest: %u takes %u steps\n", 0xffffffffu - (unsigned)longest, (unsigned)(longest >> 32));
	unsigned long long h = 0xcbf29ce484222325ull;
	REQUIRE(cudaMemcpy(host, sums, TILES * sizeof(unsigned), cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < TILES; i++)
		h = (h ^ host[i]) * 0x100000001b3ull;
	printf("sums %016llx\n", h);
	REQUIRE(cudaMemcpy(host, histogram, 512 * sizeof(unsigned), cudaMemcpyDeviceToHost));
	for (unsigned i = 0; i < 512; i++)
		h = (h ^ host[i]) * 0x100000001b3ull;
	printf("histogram %016llx\n", h);
	REQUIRE(cudaFree(lengths));
	REQUIRE(cudaFree(histogram));
	REQUIRE(cudaFree(sums));
	REQUIRE(cudaFree(best));
	free(host);
	return 0;
}
