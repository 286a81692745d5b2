/* Kernels that use shared memory, barriers and atomics. As in local.cl. */
#include "kernels/cuda/device.h"

#define TILE 16

extern "C" __global__ void matmul_tiled(const float *a, const float *b, float *c, int n)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int lx = threadIdx.x, ly = threadIdx.y;
	int x = blockIdx.x * blockDim.x + lx, y = blockIdx.y * blockDim.y + ly;
	float s = 0.0f;
	for (int t = 0; t < n; t += TILE) {
		ta[ly][lx] = a[y * n + t + lx];
		tb[ly][lx] = b[(t + ly) * n + x];
		__syncthreads();
		for (int k = 0; k < TILE; k++)
			s += ta[ly][k] * tb[k][lx];
		__syncthreads();
	}
	c[y * n + x] = s;
}

/* Tree reduction: half of the threads leave at every step. */
extern "C" __global__ void reduce(const float *in, float *out)
{
	extern __shared__ float sums[];
	int l = threadIdx.x;
	sums[l] = in[blockIdx.x * blockDim.x + l];
	for (int s = blockDim.x / 2; s > 0; s >>= 1) {
		__syncthreads();
		if (l < s)
			sums[l] += sums[l + s];
	}
	if (l == 0)
		out[blockIdx.x] = sums[0];
}

/* Inclusive scan of a block. */
extern "C" __global__ void scan(const int *in, int *out)
{
	extern __shared__ int scanned[];
	int l = threadIdx.x, n = blockDim.x, at = blockIdx.x * n + l;
	scanned[l] = in[at];
	__syncthreads();
	for (int d = 1; d < n; d <<= 1) {
		int v = l >= d ? scanned[l - d] : 0;
		__syncthreads();
		scanned[l] += v;
		__syncthreads();
	}
	out[at] = scanned[l];
}

/* Tile transposed in shared memory; pad 0 makes bank conflicts, pad 1 none. */
extern "C" __global__ void transpose_local(const float *in, float *out, int width, int height, int pad)
{
	extern __shared__ float turned[];
	int lx = threadIdx.x, ly = threadIdx.y, n = blockDim.x;
	int x = blockIdx.x * n + lx, y = blockIdx.y * n + ly;
	turned[ly * (n + pad) + lx] = in[y * width + x];
	__syncthreads();
	x = blockIdx.y * n + lx;
	y = blockIdx.x * n + ly;
	out[y * height + x] = turned[lx * (n + pad) + ly];
}

/* Privatised histogram: shared atomics, then global atomics. */
extern "C" __global__ void histogram(const unsigned *in, unsigned *bins, int per_item)
{
	__shared__ unsigned h[256];
	int l = threadIdx.x, n = blockDim.x, first = blockIdx.x * n + l, all = gridDim.x * n;
	for (int i = l; i < 256; i += n)
		h[i] = 0;
	__syncthreads();
	for (int k = 0; k < per_item; k++)
		atomicAdd(&h[in[first + k * all] & 255], 1u);
	__syncthreads();
	for (int i = l; i < 256; i += n)
		atomicAdd(&bins[i], h[i]);
}

/* Dynamic programming over rows held in shared memory, as in grid path finding. */
extern "C" __global__ void path_rows(const int *wall, int *result, int cols, int rows)
{
	extern __shared__ int prev[];
	int l = threadIdx.x, n = blockDim.x, x = blockIdx.x * n + l;
	prev[l] = wall[x];
	__syncthreads();
	for (int r = 1; r < rows; r++) {
		int best = prev[l];
		if (l > 0)
			best = min(best, prev[l - 1]);
		if (l < n - 1)
			best = min(best, prev[l + 1]);
		int v = wall[r * cols + x] + best;
		__syncthreads();
		prev[l] = v;
		__syncthreads();
	}
	result[x] = prev[l];
}
