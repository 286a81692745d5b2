// Monte-Carlo option pricing: European calls with Philox4x32-10, Asian and knock-out barrier options with xorshift128.
// Hard for a GPU: long integer multiply chains and special functions; the barrier version diverges as paths die early.
// Payoffs are accumulated in fixed point, so the sums do not depend on the order of blocks.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cuda_runtime.h>

#define CK(x) do { cudaError_t e = x; if (e) { printf("error %s line %d\n", cudaGetErrorString(e), __LINE__); exit(2); } } while (0)

typedef unsigned long long u64;

struct Option { float S0, K, r, sigma, T, barrier; };

__device__ __forceinline__ uint4 philox(uint4 c, uint2 k)
{
#pragma unroll
	for (int i = 0; i < 10; i++) {
		uint32_t hi0 = __umulhi(0xD2511F53u, c.x), lo0 = 0xD2511F53u * c.x;
		uint32_t hi1 = __umulhi(0xCD9E8D57u, c.z), lo1 = 0xCD9E8D57u * c.z;
		c = make_uint4(hi1 ^ c.y ^ k.x, lo1, hi0 ^ c.w ^ k.y, lo0);
		k.x += 0x9E3779B9u;
		k.y += 0xBB67AE85u;
	}
	return c;
}

__device__ __forceinline__ float uni(uint32_t v) { return (v >> 8) * (1.0f / 16777216.0f) + (1.0f / 33554432.0f); }

__device__ __forceinline__ float2 box_muller(uint32_t a, uint32_t b)
{
	float r = sqrtf(-2.0f * __logf(uni(a))), s, c;
	__sincosf(6.28318530718f * uni(b), &s, &c);
	return make_float2(r * c, r * s);
}

__device__ void block_add(u64 v, u64 *result)
{
	__shared__ u64 part[32];
	int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
	if (lane == 0) part[warp] = v;
	__syncthreads();
	if (warp == 0) {
		v = lane < (int)(blockDim.x >> 5) ? part[lane] : 0;
		for (int d = 16; d; d >>= 1) v += __shfl_down_sync(0xffffffffu, v, d);
		if (lane == 0) *result = v;
	}
}

__global__ void __launch_bounds__(256) european(Option o, int rounds, u64 *block_sums)
{
	uint32_t gid = blockIdx.x * blockDim.x + threadIdx.x;
	float drift = (o.r - 0.5f * o.sigma * o.sigma) * o.T, vol = o.sigma * sqrtf(o.T);
	u64 sum = 0;
	for (int i = 0; i < rounds; i++) {
		uint4 q = philox(make_uint4(gid, i, 0, 0), make_uint2(0xCAFEu, 42u));
		float2 a = box_muller(q.x, q.y), b = box_muller(q.z, q.w);
		float p0 = fmaxf(o.S0 * expf(drift + vol * a.x) - o.K, 0.0f);
		float p1 = fmaxf(o.S0 * expf(drift + vol * a.y) - o.K, 0.0f);
		float p2 = fmaxf(o.S0 * expf(drift + vol * b.x) - o.K, 0.0f);
		float p3 = fmaxf(o.S0 * expf(drift + vol * b.y) - o.K, 0.0f);
		sum += (u64)(p0 * 4096.0f) + (u64)(p1 * 4096.0f) + (u64)(p2 * 4096.0f) + (u64)(p3 * 4096.0f);
	}
	block_add(sum, &block_sums[blockIdx.x]);
}

template <bool KNOCK_OUT>
__global__ void path_dependent(Option o, int steps, int paths, u64 *block_sums)
{
	int gid = blockIdx.x * blockDim.x + threadIdx.x;
	uint32_t x = gid * 747796405u + 2891336453u, y = 362436069u ^ (gid << 7), z = 521288629u + gid, w = 88675123u;
	auto next = [&]() {
		uint32_t t = x ^ (x << 11);
		x = y; y = z; z = w;
		return w = w ^ (w >> 19) ^ t ^ (t >> 8);
	};
	u64 payoff = 0;
	if (gid < paths) {
		for (int i = 0; i < 6; i++) next();
		float dt = o.T / steps, drift = (o.r - 0.5f * o.sigma * o.sigma) * dt, vol = o.sigma * sqrtf(dt);
		float s = o.S0, mean = 0.0f;
		bool alive = true;
		for (int i = 0; i < steps && alive; i += 2) {
			uint32_t a = next(), b = next();
			float2 n = box_muller(a, b);
			s *= __expf(drift + vol * n.x);
			mean += s;
			if (KNOCK_OUT && s > o.barrier) alive = false;
			s *= __expf(drift + vol * n.y);
			mean += s;
			if (KNOCK_OUT && s > o.barrier) alive = false;
		}
		float value = KNOCK_OUT ? (alive ? s : 0.0f) : mean / steps;
		payoff = (u64)(fmaxf(value - o.K, 0.0f) * 4096.0f);
	}
	block_add(payoff, &block_sums[blockIdx.x]);
}

__global__ void finish(const u64 *block_sums, int n, u64 *total)
{
	u64 v = 0;
	for (int i = threadIdx.x; i < n; i += blockDim.x) v += block_sums[i];
	block_add(v, total);
}

int main()
{
	const int EU_BLOCKS = 600, EU_ROUNDS = 10, PATHS = 100000, STEPS = 64;
	const int PD_BLOCKS = (PATHS + 127) / 128;
	u64 *sums, *total;
	CK(cudaMalloc(&sums, 4096 * sizeof(u64)));
	CK(cudaMalloc(&total, 6 * sizeof(u64)));
	Option o[2] = {{100, 105, 0.03f, 0.25f, 1.0f, 125}, {42, 40, 0.05f, 0.40f, 0.5f, 50}};
	for (int k = 0; k < 2; k++) {
		european<<<EU_BLOCKS, 256>>>(o[k], EU_ROUNDS, sums);
		finish<<<1, 512>>>(sums, EU_BLOCKS, total + 3 * k);
		path_dependent<false><<<PD_BLOCKS, 128>>>(o[k], STEPS, PATHS, sums);
		finish<<<1, 512>>>(sums, PD_BLOCKS, total + 3 * k + 1);
		path_dependent<true><<<PD_BLOCKS, 128>>>(o[k], STEPS, PATHS, sums);
		finish<<<1, 512>>>(sums, PD_BLOCKS, total + 3 * k + 2);
		CK(cudaGetLastError());
	}
	u64 h[6];
	CK(cudaMemcpy(h, total, sizeof h, cudaMemcpyDeviceToHost));
	for (int k = 0; k < 2; k++)
		printf("option %d: european %.5f asian %.5f barrier %.5f (%016llx %016llx %016llx)\n", k,
			h[3 * k] / 4096.0 / ((double)EU_BLOCKS * 256 * EU_ROUNDS * 4), h[3 * k + 1] / 4096.0 / PATHS,
			h[3 * k + 2] / 4096.0 / PATHS, h[3 * k], h[3 * k + 1], h[3 * k + 2]);
	CK(cudaFree(sums));
	CK(cudaFree(total));
	return 0;
}
