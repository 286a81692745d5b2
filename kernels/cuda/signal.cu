/* Signals: a transform in shared memory, convolutions with constant taps. As in signal.cl. */
#include "kernels/cuda/device.h"

/*
 * Radix-2 Stockham FFT of 2 * block size points per block: every thread does one butterfly per stage, the stages go back and forth between
 * the two halves of the shared memory.
 */
__device__ static float2 turn(float2 v, float angle)
{
	float c = fast_cos(angle), s = fast_sin(angle);
	return make_float2(v.x * c - v.y * s, v.x * s + v.y * c);
}

extern "C" __global__ void fft(const float2 *in, float2 *out)
{
	extern __shared__ float2 work[];
	int l = threadIdx.x, half_points = blockDim.x, base = blockIdx.x * 2 * half_points;
	float2 *from = work, *to = work + 2 * half_points;
	from[l] = in[base + l];
	from[l + half_points] = in[base + l + half_points];
	for (int p = 1; p <= half_points; p <<= 1) {
		__syncthreads();
		int k = l & (p - 1), j = 2 * l - k;
		float2 a = from[l], b = turn(from[l + half_points], -3.14159265f * k / p);
		to[j] = make_float2(a.x + b.x, a.y + b.y);
		to[j + p] = make_float2(a.x - b.x, a.y - b.y);
		float2 *swap = from;
		from = to;
		to = swap;
	}
	__syncthreads();
	out[base + l] = from[l];
	out[base + l + half_points] = from[l + half_points];
}

/* One row of samples; the block's samples and their neighbours are brought to shared memory first. */
extern "C" __global__ void convolve1d(const float *in, float *out, const float *taps, int radius, int n)
{
	extern __shared__ float tile[];
	int l = threadIdx.x, size = blockDim.x, first = blockIdx.x * size - radius;
	for (int k = l; k < size + 2 * radius; k += size) {
		int at = first + k;
		tile[k] = at >= 0 && at < n ? in[at] : 0.0f;
	}
	__syncthreads();
	float sum = 0.0f;
	for (int t = 0; t <= 2 * radius; t++)
		sum += taps[t] * tile[l + t];
	out[blockIdx.x * size + l] = sum;
}

/* Straight from global memory, with the edges repeated. */
extern "C" __global__ void convolve2d(const float *in, float *out, const float *taps, int radius)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y, width = 2 * radius + 1;
	float sum = 0.0f;
	for (int v = -radius; v <= radius; v++)
		for (int u = -radius; u <= radius; u++)
			sum += taps[(v + radius) * width + u + radius] * in[clamp(y + v, 0, h - 1) * w + clamp(x + u, 0, w - 1)];
	out[y * w + x] = sum;
}
