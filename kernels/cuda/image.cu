/* Images: filters, and one that is made. As in image.cl; what is an image object there is a buffer of float4 here. */
#include "kernels/cuda/device.h"

__device__ static float grey(const float4 *in, int x, int y, int w, int h)
{
	float4 c = in[clamp(y, 0, h - 1) * w + clamp(x, 0, w - 1)];
	return 0.299f * c.x + 0.587f * c.y + 0.114f * c.z;
}

extern "C" __global__ void sobel_image(const float4 *in, float *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int wide = gridDim.x * blockDim.x, high = gridDim.y * blockDim.y;
	float nw = grey(in, x - 1, y - 1, wide, high), n = grey(in, x, y - 1, wide, high), ne = grey(in, x + 1, y - 1, wide, high);
	float w = grey(in, x - 1, y, wide, high), e = grey(in, x + 1, y, wide, high);
	float sw = grey(in, x - 1, y + 1, wide, high), s = grey(in, x, y + 1, wide, high), se = grey(in, x + 1, y + 1, wide, high);
	float dx = ne + 2.0f * e + se - nw - 2.0f * w - sw, dy = sw + 2.0f * s + se - nw - 2.0f * n - ne;
	out[y * wide + x] = root(dx * dx + dy * dy);
}

/* The same on a buffer, without the border. */
extern "C" __global__ void sobel(const float *in, float *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
	if (x == 0 || y == 0 || x == w - 1 || y == h - 1)
		return;
	const float *p = in + y * w + x;
	float dx = p[1 - w] + 2.0f * p[1] + p[1 + w] - p[-1 - w] - 2.0f * p[-1] - p[-1 + w];
	float dy = p[w - 1] + 2.0f * p[w] + p[w + 1] - p[-w - 1] - 2.0f * p[-w] - p[-w + 1];
	out[y * w + x] = root(dx * dx + dy * dy);
}

/* Median of 3x3 by a sorting network of minimums and maximums. */
#define ORDERED(i, j) do { float low = fminf(v[i], v[j]); v[j] = fmaxf(v[i], v[j]); v[i] = low; } while (0)

extern "C" __global__ void median3x3(const float *in, float *out)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
	float v[9];
	for (int k = 0; k < 9; k++)
		v[k] = in[clamp(y + k / 3 - 1, 0, h - 1) * w + clamp(x + k % 3 - 1, 0, w - 1)];
	ORDERED(1, 2); ORDERED(4, 5); ORDERED(7, 8); ORDERED(0, 1); ORDERED(3, 4); ORDERED(6, 7);
	ORDERED(1, 2); ORDERED(4, 5); ORDERED(7, 8); ORDERED(0, 3); ORDERED(5, 8); ORDERED(4, 7);
	ORDERED(3, 6); ORDERED(1, 4); ORDERED(2, 5); ORDERED(4, 7); ORDERED(4, 2); ORDERED(6, 4);
	ORDERED(4, 2);
	out[y * w + x] = v[4];
}

/* Smoothing that keeps edges: weights fall with distance and with difference. */
extern "C" __global__ void bilateral(const float *in, float *out, int radius, float falloff)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
	float centre = in[y * w + x], sum = 0.0f, weights = 0.0f;
	for (int v = max(y - radius, 0); v <= min(y + radius, h - 1); v++)
		for (int u = max(x - radius, 0); u <= min(x + radius, w - 1); u++) {
			float value = in[v * w + u], d = value - centre;
			float weight = fast_exp(-falloff * d * d - 0.1f * ((u - x) * (u - x) + (v - y) * (v - y)));
			sum += weight * value;
			weights += weight;
		}
	out[y * w + x] = sum / weights;
}

/* Spheres (centre, radius) seen from above with mirrors: helper functions, a structure, an early end of the ray. */
struct ray {
	float3 from, way;
};

__device__ static float dot(float3 a, float3 b)
{
	return a.x * b.x + a.y * b.y + a.z * b.z;
}

/* Distance along the ray, negative where it misses. */
__device__ static float hit(ray r, float4 sphere)
{
	float3 d = make_float3(sphere.x - r.from.x, sphere.y - r.from.y, sphere.z - r.from.z);
	float radius = 0.02f + 0.08f * sphere.w, along = dot(d, r.way);
	float inside = radius * radius - dot(d, d) + along * along;
	if (inside < 0.0f)
		return -1.0f;
	return along - root(inside);
}

__device__ static float shade(ray r, const float4 *spheres, int count, int bounces)
{
	float light = 0.0f, weight = 1.0f;
	for (int b = 0; b < bounces; b++) {
		float nearest_hit = 1e9f;
		int which = -1;
		for (int s = 0; s < count; s++) {
			float t = hit(r, spheres[s]);
			if (t > 1e-3f && t < nearest_hit) {
				nearest_hit = t;
				which = s;
			}
		}
		if (which < 0)
			break;
		r.from = make_float3(r.from.x + nearest_hit * r.way.x, r.from.y + nearest_hit * r.way.y, r.from.z + nearest_hit * r.way.z);
		float4 sphere = spheres[which];
		float3 normal = make_float3(r.from.x - sphere.x, r.from.y - sphere.y, r.from.z - sphere.z);
		float scale = fast_rsqrt(dot(normal, normal));
		normal = make_float3(normal.x * scale, normal.y * scale, normal.z * scale);
		light += weight * fmaxf(-normal.z, 0.0f);
		weight *= 0.5f;
		float twice = 2.0f * dot(r.way, normal);
		r.way = make_float3(r.way.x - twice * normal.x, r.way.y - twice * normal.y, r.way.z - twice * normal.z);
	}
	return light;
}

extern "C" __global__ void ray_spheres(const float4 *spheres, float *out, int count, int bounces)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int w = gridDim.x * blockDim.x, h = gridDim.y * blockDim.y;
	ray r;
	r.from = make_float3((float)x / w, (float)y / h, -1.0f);
	r.way = make_float3(0.0f, 0.0f, 1.0f);
	out[y * w + x] = shade(r, spheres, count, bounces);
}
