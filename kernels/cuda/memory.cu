/* Memory-bound kernels: streaming, strides, gathers, reuse. As in memory.cl. */
#include "kernels/cuda/device.h"

extern "C" __global__ void copy(const float *in, float *out)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	out[i] = in[i];
}

extern "C" __global__ void saxpy(float *y, const float *x, float a)
{
	size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x;
	y[i] = a * x[i] + y[i];
}

/* Lane-to-lane distance of `stride` elements: 1 is coalesced, 32 touches a line per lane. */
extern "C" __global__ void strided(const float *in, float *out, int stride, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 0.0f;
	for (int k = 0; k < n; k++)
		s += in[(i * stride + k * 4096) & 0xfffff];
	out[i] = s;
}

/* Random gather: one sector per lane. */
extern "C" __global__ void gather(const float *in, const int *index, float *out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	out[i] = in[index[i]];
}

/* Row-wise sparse matrix-vector product, rows of different length. */
extern "C" __global__ void spmv(const int *row, const int *col, const float *val, const float *x, float *y, int rows)
{
	int r = blockIdx.x * blockDim.x + threadIdx.x;
	if (r < rows) {
		float s = 0.0f;
		for (int k = row[r]; k < row[r + 1]; k++)
			s += val[k] * x[col[k]];
		y[r] = s;
	}
}

/* Five-point stencil straight from global memory. */
extern "C" __global__ void stencil(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	if (x > 0 && y > 0 && x < width - 1 && y < height - 1) {
		int i = y * width + x;
		out[i] = 0.2f * (in[i] + in[i - 1] + in[i + 1] + in[i - width] + in[i + width]);
	}
}

extern "C" __global__ void matmul(const float *a, const float *b, float *c, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	float s = 0.0f;
	for (int k = 0; k < n; k++)
		s += a[y * n + k] * b[k * n + x];
	c[y * n + x] = s;
}

extern "C" __global__ void transpose_naive(const float *in, float *out, int width, int height)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	out[x * height + y] = in[y * width + x];
}
