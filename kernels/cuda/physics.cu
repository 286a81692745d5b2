/* Physics: neighbour lists, a heat stencil in shared memory, random sampling. As in physics.cl. */
#include "kernels/cuda/device.h"

#define BLOCK 16

/* Lennard-Jones forces. A list entry says how far behind an atom its neighbour is, as after sorting by cells. */
extern "C" __global__ void lennard_jones(const float4 *position, float4 *force, const int *neighbours, const int *list, int n,
                                         float cutoff2)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x, count = neighbours[i];
	float4 p = position[i], f = make_float4(0.0f, 0.0f, 0.0f, 0.0f);
	for (int k = 0; k < count; k++) {
		float4 q = position[(i + 1 + list[k * n + i]) & (n - 1)];
		float dx = p.x - q.x, dy = p.y - q.y, dz = p.z - q.z;
		float r2 = dx * dx + dy * dy + dz * dz + 1e-3f;
		if (r2 >= cutoff2)
			continue;
		float s2 = 0.01f / r2, s6 = s2 * s2 * s2, scale = 48.0f / r2 * s6 * (s6 - 0.5f);
		f.x += dx * scale;
		f.y += dy * scale;
		f.z += dz * scale;
		f.w += 4.0f * s6 * (s6 - 1.0f);
	}
	force[i] = f;
}

/*
 * Heat: several time steps per launch, on a tile that loses a ring of cells with each step. Tiles overlap by as much, so each block writes
 * (16 - 2 * steps)^2 cells.
 */
extern "C" __global__ void hotspot(const float *power, const float *in, float *out, int w, int h, int steps)
{
	__shared__ float t[BLOCK][BLOCK];
	int lx = threadIdx.x, ly = threadIdx.y, inner = BLOCK - 2 * steps;
	int x = (int)blockIdx.x * inner + lx - steps, y = (int)blockIdx.y * inner + ly - steps;
	int inside = x >= 0 && x < w && y >= 0 && y < h;
	float p = 0.0f, now = 0.0f;
	if (inside) {
		p = power[y * w + x];
		now = in[y * w + x];
	}
	t[ly][lx] = now;
	__syncthreads();
	for (int s = 1; s <= steps; s++) {
		int computes = inside && lx >= s && lx < BLOCK - s && ly >= s && ly < BLOCK - s;
		if (computes) {
			float north = y > 0 ? t[ly - 1][lx] : now, south = y < h - 1 ? t[ly + 1][lx] : now;
			float west = x > 0 ? t[ly][lx - 1] : now, east = x < w - 1 ? t[ly][lx + 1] : now;
			now += 0.1f * (north + south + west + east - 4.0f * now) + 0.05f * p;
		}
		__syncthreads();
		if (computes)
			t[ly][lx] = now;
		__syncthreads();
	}
	if (inside && lx >= steps && lx < BLOCK - steps && ly >= steps && ly < BLOCK - steps)
		out[y * w + x] = now;
}

/* Points in a disc by rejection: how often the inner loop repeats is chance. */
__device__ static unsigned next_random(unsigned *state)
{
	unsigned s = *state;
	s ^= s << 13;
	s ^= s >> 17;
	s ^= s << 5;
	return *state = s;
}

extern "C" __global__ void sample_disc(float *out, int samples, int seed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned state = (i + 1) * 2654435761u ^ seed;
	float sum = 0.0f;
	for (int k = 0; k < samples; k++) {
		float x, y, r2;
		do {
			x = (next_random(&state) >> 8) * (2.0f / 16777216.0f) - 1.0f;
			y = (next_random(&state) >> 8) * (2.0f / 16777216.0f) - 1.0f;
			r2 = x * x + y * y;
		} while (r2 > 1.0f);
		sum += r2;
	}
	out[i] = sum / samples;
}
