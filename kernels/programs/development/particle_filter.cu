// Particle filter: propagate and weigh particles, prefix-sum the weights (fixed point), resample by binary search in the
// cumulative array (systematic, then multinomial), gathering whole particle records.
// Hard for a GPU: data-dependent searches with scattered loads, a scan in three phases, and a one-block middle phase.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <cstring>
#include <vector>

typedef unsigned long long ull;
static constexpr int PARTICLES = 600000;
static constexpr int SCAN_BLOCK = 1024;
static constexpr int SCAN_BLOCKS = (PARTICLES + SCAN_BLOCK - 1) / SCAN_BLOCK; // 586, fits one block

#define CU_TRY(call) do { cudaError_t s = (call); if (s != cudaSuccess) { \
	std::fprintf(stderr, "%s: %s\n", #call, cudaGetErrorString(s)); std::exit(1); } } while (0)

struct __align__(16) Particle {
	float x, y, vx, vy;
};

__device__ __forceinline__ uint32_t pcg(uint32_t v)
{
	uint32_t state = v * 747796405u + 2891336453u;
	uint32_t word = ((state >> ((state >> 28u) + 4u)) ^ state) * 277803737u;
	return (word >> 22u) ^ word;
}

__device__ __forceinline__ float symmetric(uint32_t h) { return ((int)(h >> 8) - 8388608) * (1.0f / 8388608.0f); }

__global__ void init_particles(Particle *p)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= PARTICLES) return;
	Particle q;
	q.x = 10.0f * symmetric(pcg(4 * i));
	q.y = 10.0f * symmetric(pcg(4 * i + 1));
	q.vx = symmetric(pcg(4 * i + 2));
	q.vy = symmetric(pcg(4 * i + 3));
	p[i] = q;
}

__global__ void __launch_bounds__(256) propagate(Particle *p, uint32_t *weight, float ox, float oy, uint32_t seed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= PARTICLES) return;
	Particle q = p[i];
	uint32_t h = pcg(i ^ seed), g = pcg(h);
	// sum of two uniforms as a cheap bell
	q.vx += 0.05f * (symmetric(h) + symmetric(h << 12));
	q.vy += 0.05f * (symmetric(g) + symmetric(g << 12));
	q.x += q.vx * 0.5f;
	q.y += q.vy * 0.5f;
	float r = sqrtf(q.x * q.x + q.y * q.y + 1e-6f), b = atan2f(q.y, q.x);
	float dr = r - sqrtf(ox * ox + oy * oy), db = b - atan2f(oy, ox);
	float w = expf(-0.5f * (dr * dr * 0.5f + db * db * 2.0f));
	p[i] = q;
	weight[i] = (uint32_t)(w * 65535.0f) + 1u;
}

__global__ void scan_blocks(const uint32_t *weight, uint32_t *cumulative, ull *block_sum)
{
	__shared__ uint32_t warp_sum[32];
	int i = blockIdx.x * SCAN_BLOCK + threadIdx.x, lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	uint32_t v = i < PARTICLES ? weight[i] : 0;
#pragma unroll
	for (int d = 1; d < 32; d *= 2) {
		uint32_t o = __shfl_up_sync(~0u, v, d);
		if (lane >= d) v += o;
	}
	if (lane == 31) warp_sum[warp] = v;
	__syncthreads();
	if (warp == 0) {
		uint32_t s = warp_sum[lane];
#pragma unroll
		for (int d = 1; d < 32; d *= 2) {
			uint32_t o = __shfl_up_sync(~0u, s, d);
			if (lane >= d) s += o;
		}
		warp_sum[lane] = s;
	}
	__syncthreads();
	if (warp > 0) v += warp_sum[warp - 1];
	if (i < PARTICLES) cumulative[i] = v;
	if (threadIdx.x == SCAN_BLOCK - 1) block_sum[blockIdx.x] = v;
}

// Hillis-Steele in shared memory, inclusive
__global__ void scan_sums(ull *block_sum, int n)
{
	__shared__ ull s[2][1024];
	int t = threadIdx.x, cur = 0;
	s[0][t] = t < n ? block_sum[t] : 0;
	__syncthreads();
	for (int d = 1; d < 1024; d <<= 1) {
		s[1 - cur][t] = t >= d ? s[cur][t] + s[cur][t - d] : s[cur][t];
		cur = 1 - cur;
		__syncthreads();
	}
	if (t < n) block_sum[t] = s[cur][t];
}

template <bool SYSTEMATIC>
__global__ void resample(const Particle *__restrict__ src, Particle *__restrict__ dst, const uint32_t *__restrict__ cumulative,
	const ull *__restrict__ block_end, uint32_t seed)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= PARTICLES) return;
	ull total = block_end[SCAN_BLOCKS - 1], u;
	if (SYSTEMATIC)
		u = ((ull)i * total + total / 2) / PARTICLES;
	else
		u = __umul64hi(((ull)pcg(i * 2u + seed) << 32) | pcg(i * 2u + 1u + seed), total);
	// first block with end > u
	int lo = 0, hi = SCAN_BLOCKS - 1;
	while (lo < hi) {
		int mid = (lo + hi) >> 1;
		if (block_end[mid] > u) hi = mid;
		else lo = mid + 1;
	}
	uint32_t want = (uint32_t)(u - (lo ? block_end[lo - 1] : 0));
	int first = lo * SCAN_BLOCK, last = min(first + SCAN_BLOCK, PARTICLES) - 1;
	while (first < last) {
		int mid = (first + last) >> 1;
		if (cumulative[mid] > want) last = mid;
		else first = mid + 1;
	}
	dst[i] = src[first];
}

int main()
{
	Particle *p, *q;
	uint32_t *weight, *cumulative;
	ull *sums;
	CU_TRY(cudaMalloc(&p, PARTICLES * sizeof(Particle)));
	CU_TRY(cudaMalloc(&q, PARTICLES * sizeof(Particle)));
	CU_TRY(cudaMalloc(&weight, PARTICLES * sizeof(uint32_t)));
	CU_TRY(cudaMalloc(&cumulative, PARTICLES * sizeof(uint32_t)));
	CU_TRY(cudaMalloc(&sums, SCAN_BLOCKS * sizeof(ull)));
	const int grid = (PARTICLES + 255) / 256;
	init_particles<<<grid, 256>>>(p);
	for (int step = 0; step < 3; step++) {
		propagate<<<grid, 256>>>(p, weight, 3.0f + step, 4.0f - 0.5f * step, 1234567u * (step + 1));
		scan_blocks<<<SCAN_BLOCKS, SCAN_BLOCK>>>(weight, cumulative, sums);
		scan_sums<<<1, 1024>>>(sums, SCAN_BLOCKS);
		if (step == 1)
			resample<false><<<(PARTICLES + 127) / 128, 128>>>(p, q, cumulative, sums, 99u);
		else
			resample<true><<<(PARTICLES + 127) / 128, 128>>>(p, q, cumulative, sums, 0u);
		CU_TRY(cudaGetLastError());
		Particle *t = p; p = q; q = t;
	}
	std::vector<uint32_t> h(PARTICLES * 4);
	ull total;
	CU_TRY(cudaMemcpy(h.data(), p, PARTICLES * sizeof(Particle), cudaMemcpyDeviceToHost));
	CU_TRY(cudaMemcpy(&total, sums + SCAN_BLOCKS - 1, sizeof total, cudaMemcpyDeviceToHost));
	ull f = 0xcbf29ce484222325ull;
	for (uint32_t w : h) f = (f ^ w) * 0x100000001b3ull;
	std::printf("total weight %llu particles %016llx\n", total, f);
	return 0;
}
