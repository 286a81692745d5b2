/* Sorting and counting. As in sort.cl. */
#include "kernels/cuda/device.h"

/* Sorts 2 * block size keys per block in shared memory. */
extern "C" __global__ void bitonic_sort(int *keys)
{
	extern __shared__ int tile[];
	int l = threadIdx.x, size = blockDim.x, base = blockIdx.x * 2 * size;
	tile[l] = keys[base + l];
	tile[l + size] = keys[base + l + size];
	for (int run = 2; run <= 2 * size; run <<= 1)
		for (int stride = run >> 1; stride > 0; stride >>= 1) {
			__syncthreads();
			int i = 2 * l - (l & (stride - 1));
			int a = tile[i], b = tile[i + stride];
			if ((a > b) == ((i & run) == 0)) {
				tile[i] = b;
				tile[i + stride] = a;
			}
		}
	__syncthreads();
	keys[base + l] = tile[l];
	keys[base + l + size] = tile[l + size];
}

/* One step of the same network over the whole array; every thread owns the two keys it compares. */
extern "C" __global__ void bitonic_step(int *keys, int run, int stride)
{
	int g = blockIdx.x * blockDim.x + threadIdx.x, i = 2 * g - (g & (stride - 1));
	int a = keys[i], b = keys[i + stride];
	if ((i & run) == 0 ? a > b : a < b) {
		keys[i] = b;
		keys[i + stride] = a;
	}
}

/* The digits of a radix sort, counted per block in shared memory. */
extern "C" __global__ void radix_count(const int *keys, int *counts, int shift, int per_item)
{
	__shared__ int bins[16];
	int l = threadIdx.x, size = blockDim.x, base = blockIdx.x * size * per_item;
	if (l < 16)
		bins[l] = 0;
	__syncthreads();
	for (int k = 0; k < per_item; k++)
		atomicAdd(&bins[(keys[base + k * size + l] >> shift) & 15], 1);
	__syncthreads();
	if (l < 16)
		counts[l * gridDim.x + blockIdx.x] = bins[l];
}

/* Few values count at all: global atomics from a few lanes of each warp, over many bins. */
extern "C" __global__ void sparse_count(const int *values, int *bins, int *extremes, int bin_mask, int threshold)
{
	int v = values[blockIdx.x * blockDim.x + threadIdx.x];
	if (v >= threshold)
		return;
	int bin = ((unsigned)v * 40503u) & bin_mask;
	if (atomicAdd(&bins[bin], 1) < 0)
		return;
	if (v & 1)
		atomicMax(&extremes[bin & 63], v);
	else
		atomicXor(&extremes[64 + (bin & 63)], v);
}
