/* Control flow: nested ifs, switches, early exits, helper functions. As in control.cl. */
#include "kernels/cuda/device.h"

__device__ static float polynomial(float x, int degree)
{
	float r = 1.0f;
	for (int i = 0; i < degree; i++)
		r = r * x + 0.5f;
	return r;
}

/* Odd and even lanes take different, equally long paths. */
extern "C" __global__ void if_else(float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = i * 0.001f;
	for (int k = 0; k < n; k++) {
		if ((i ^ k) & 1)
			x = x * 1.01f + 0.3f;
		else
			x = x / 1.02f - 0.1f;
	}
	out[i] = x;
}

/* A four-way switch on data. */
extern "C" __global__ void four_way(const int *kind, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = (float)i;
	for (int k = 0; k < n; k++) {
		switch (kind[(i + k) & 0xffff]) {
		case 0: x = polynomial(x * 0.001f, 3); break;
		case 1: x = root(fabsf(x)); break;
		case 2: x += 1.0f; /* fall through */
		case 3: x *= 0.5f; break;
		default: return;
		}
	}
	out[i] = x;
}

/* One breadth-first step: most threads leave at once, a few walk their edges. */
extern "C" __global__ void frontier(const int *first, const int *edge, const int *active, int *cost, int *next, int nodes)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v >= nodes || !active[v])
		return;
	for (int e = first[v]; e < first[v + 1]; e++) {
		int w = edge[e];
		if (cost[w] < 0) {
			cost[w] = cost[v] + 1;
			next[w] = 1;
		}
	}
}

/* Option pricing: long straight-line code with exp, log and sqrt. */
__device__ static float cnd(float d)
{
	float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
	float c = 0.39894228f * natural_exp(-0.5f * d * d) *
	          (k * (0.31938153f + k * (-0.356563782f + k * (1.781477937f + k * (-1.821255978f + k * 1.330274429f)))));
	return d > 0.0f ? 1.0f - c : c;
}

extern "C" __global__ void price(const float *spot, const float *strike, const float *years, float *call, float *put)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 5.0f + 25.0f * spot[i], x = 1.0f + 99.0f * strike[i], t = 0.25f + 9.75f * years[i];
	float sq = root(t), d1 = (natural_log(s / x) + (0.02f + 0.045f) * t) / (0.30f * sq), d2 = d1 - 0.30f * sq;
	float e = natural_exp(-0.02f * t);
	call[i] = s * cnd(d1) - x * e * cnd(d2);
	put[i] = x * e * (1.0f - cnd(d2)) - s * (1.0f - cnd(d1));
}
