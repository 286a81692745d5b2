/* Linear algebra: factorisations, matrix-vector and dot products. As in linear.cl. */
#include "kernels/cuda/device.h"

#define TILE 16
#define LARGEST 3.402823466e+38f

/* LU without pivoting of one 16x16 matrix per block; the diagonal is made heavy so that none is needed. */
extern "C" __global__ void lu_tile(float *a)
{
	__shared__ float t[TILE][TILE];
	int x = threadIdx.x, y = threadIdx.y, at = blockIdx.x * TILE * TILE + y * TILE + x;
	t[y][x] = a[at] + (x == y ? TILE : 0);
	for (int k = 0; k < TILE - 1; k++) {
		__syncthreads();
		if (x == k && y > k)
			t[y][k] /= t[k][k];
		__syncthreads();
		if (x > k && y > k)
			t[y][x] -= t[y][k] * t[k][x];
	}
	a[at] = t[y][x];
}

/* Gaussian elimination, step k: the multipliers, one thread per row (a column is read: nothing coalesces) ... */
extern "C" __global__ void gauss_multipliers(const float *a, float *m, int n, int k)
{
	int y = blockIdx.x * blockDim.x + threadIdx.x + k + 1;
	if (y < n)
		m[y] = a[y * n + k] / a[k * n + k];
}

/* ... and the update of everything below and right of the pivot, and of the right-hand side. */
extern "C" __global__ void gauss_update(float *a, float *b, const float *m, int n, int k)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x + k, y = blockIdx.y * blockDim.y + threadIdx.y + k + 1;
	if (x >= n || y >= n)
		return;
	a[y * n + x] -= m[y] * a[k * n + x];
	if (x == k)
		b[y] -= m[y] * b[k];
}

/* A row per thread, four columns at a time. */
extern "C" __global__ void matvec4(const float4 *a, const float *x, float *y, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x, n4 = n / 4;
	float4 sum = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
	for (int k = 0; k < n4; k++) {
		float4 v = a[row * n4 + k];
		sum.x = fmaf(v.x, x[4 * k], sum.x);
		sum.y = fmaf(v.y, x[4 * k + 1], sum.y);
		sum.z = fmaf(v.z, x[4 * k + 2], sum.z);
		sum.w = fmaf(v.w, x[4 * k + 3], sum.w);
	}
	y[row] = sum.x + sum.y + sum.z + sum.w;
}

/* Double precision: partial sums per block. */
extern "C" __global__ void dot_double(const double *x, const double *y, double *partial, int n)
{
	extern __shared__ double tmp[];
	int l = threadIdx.x;
	double sum = 0.0;
	for (int i = blockIdx.x * blockDim.x + l; i < n; i += gridDim.x * blockDim.x)
		sum = fma(x[i], y[i], sum);
	tmp[l] = sum;
	for (int s = blockDim.x / 2; s > 0; s >>= 1) {
		__syncthreads();
		if (l < s)
			tmp[l] += tmp[l + s];
	}
	if (l == 0)
		partial[blockIdx.x] = tmp[0];
}

/* k-means: the nearest of k centres; the features lie dimension by dimension. */
__device__ static float distance2(const float *feature, const float *centre, int dims, int n, int i)
{
	float sum = 0.0f;
	for (int d = 0; d < dims; d++) {
		float delta = feature[d * n + i] - centre[d];
		sum += delta * delta;
	}
	return sum;
}

extern "C" __global__ void kmeans_assign(const float *feature, const float *centre, int *member, int n, int k, int dims)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, best = 0;
	float nearest = LARGEST;
	for (int c = 0; c < k; c++) {
		float d = distance2(feature, centre + c * dims, dims, n, i);
		if (d < nearest) {
			nearest = d;
			best = c;
		}
	}
	member[i] = best;
}
