/* Arithmetic-bound kernels: latency chains, throughput, special functions, integer work. As in compute.cl. */
#include "kernels/cuda/device.h"

/* One long dependent chain per thread: measures latency, hidden only by other warps. */
extern "C" __global__ void fma_chain(float *out, float a, float b, int n)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;
	float x = (float)at;
	for (int i = 0; i < n; i++)
		x = x * a + b;
	out[at] = x;
}

/* Eight independent chains per thread: measures issue and FMA throughput. */
extern "C" __global__ void fma_wide(float *out, float a, float b, int n)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;
	float x0 = (float)at, x1 = x0 + 1, x2 = x0 + 2, x3 = x0 + 3;
	float x4 = x0 + 4, x5 = x0 + 5, x6 = x0 + 6, x7 = x0 + 7;
	for (int i = 0; i < n; i++) {
		x0 = x0 * a + b; x1 = x1 * a + b; x2 = x2 * a + b; x3 = x3 * a + b;
		x4 = x4 * a + b; x5 = x5 * a + b; x6 = x6 * a + b; x7 = x7 * a + b;
	}
	out[at] = x0 + x1 + x2 + x3 + x4 + x5 + x6 + x7;
}

/* Approximate special functions: the SFU is the bottleneck. */
extern "C" __global__ void sfu_mix(float *out, const float *in, int n)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;
	float x = in[at];
	for (int i = 0; i < n; i++)
		x = fast_sin(x) + fast_rsqrt(x + 2.0f);
	out[at] = x;
}

/* Integer hashing: shifts, xors, multiplies. */
extern "C" __global__ void int_hash(unsigned *out, unsigned seed, int n)
{
	unsigned at = blockIdx.x * blockDim.x + threadIdx.x, h = at ^ seed;
	for (int i = 0; i < n; i++) {
		h ^= h >> 16;
		h *= 0x7feb352du;
		h ^= h >> 15;
		h *= 0x846ca68bu;
		h ^= h >> 16;
	}
	out[at] = h;
}

/* Each thread iterates until its own point escapes: loop divergence inside a warp. */
extern "C" __global__ void mandelbrot(int *out, int width, int height, int limit)
{
	int px = blockIdx.x * blockDim.x + threadIdx.x, py = blockIdx.y * blockDim.y + threadIdx.y;
	float cx = -2.0f + 3.0f * px / width, cy = -1.0f + 2.0f * py / height;
	float x = 0.0f, y = 0.0f;
	int k = 0;
	while (k < limit && x * x + y * y < 4.0f) {
		float t = x * x - y * y + cx;
		y = 2.0f * x * y + cy;
		x = t;
		k++;
	}
	out[py * width + px] = k;
}

/* All pairs: broadcast loads, one reciprocal square root per pair. */
extern "C" __global__ void nbody(const float4 *pos, float4 *acc, int n)
{
	int at = blockIdx.x * blockDim.x + threadIdx.x;
	float4 me = pos[at];
	float ax = 0.0f, ay = 0.0f, az = 0.0f;
	for (int j = 0; j < n; j++) {
		float4 p = pos[j];
		float dx = p.x - me.x, dy = p.y - me.y, dz = p.z - me.z;
		float r = fast_rsqrt(dx * dx + dy * dy + dz * dz + 0.01f);
		float s = p.w * r * r * r;
		ax += dx * s; ay += dy * s; az += dz * s;
	}
	acc[at] = make_float4(ax, ay, az, 0.0f);
}
