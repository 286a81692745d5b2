// All-pairs gravitational N-body steps; blocks stage tiles of bodies in shared memory and the sources are divided over
// the second grid dimension so that enough blocks exist. Heavy on fused multiply-adds and reciprocal square roots with
// very few warps per multiprocessor, so instruction latency decides.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>
#include <cuda_runtime.h>

#define CHECK_CUDA(x)                                                                          \
	do {                                                                                       \
		cudaError_t status_ = (x);                                                             \
		if (status_ != cudaSuccess) {                                                          \
			printf("failed: %s (%s, line %d)\n", cudaGetErrorString(status_), #x, __LINE__);   \
			exit(1);                                                                           \
		}                                                                                      \
	} while (0)

const int BODIES = 5120;
const int SPLIT = 4;
const int BLOCK = 128;

__device__ __forceinline__ float3 interact(float3 acc, float4 pi, float4 pj, float eps2)
{
	float dx = pj.x - pi.x;
	float dy = pj.y - pi.y;
	float dz = pj.z - pi.z;
	float r2 = dx * dx + dy * dy + dz * dz + eps2;
	float inv = rsqrtf(r2);
	float s = pj.w * inv * inv * inv;
	acc.x += dx * s;
	acc.y += dy * s;
	acc.z += dz * s;
	return acc;
}

__global__ void partialForces(const float4 *pos, float4 *partial, int n, float eps2)
{
	extern __shared__ float4 tile[];
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	const int chunk = n / gridDim.y;
	const int begin = blockIdx.y * chunk;
	const float4 me = pos[i];
	float3 acc = make_float3(0.0f, 0.0f, 0.0f);
	for (int j = begin; j < begin + chunk; j += blockDim.x) {
		tile[threadIdx.x] = pos[j + threadIdx.x];
		__syncthreads();
#pragma unroll 16
		for (int k = 0; k < BLOCK; k++)
			acc = interact(acc, me, tile[k], eps2);
		__syncthreads();
	}
	partial[blockIdx.y * n + i] = make_float4(acc.x, acc.y, acc.z, 0.0f);
}

// Adds the parts in a fixed order and advances the bodies by one leapfrog step.
__global__ void integrate(float4 *pos, float4 *vel, const float4 *partial, int n, float dt)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n)
		return;
	float4 p = pos[i], v = vel[i];
	for (int part = 0; part < SPLIT; part++) {
		float4 a = partial[part * n + i];
		v.x += a.x * dt;
		v.y += a.y * dt;
		v.z += a.z * dt;
	}
	p.x += v.x * dt;
	p.y += v.y * dt;
	p.z += v.z * dt;
	pos[i] = p;
	vel[i] = v;
}

static uint32_t rng = 12345u;

static float nextRandom()
{
	rng ^= rng << 13;
	rng ^= rng >> 17;
	rng ^= rng << 5;
	return (float)(rng >> 8) / 8388608.0f - 1.0f;
}

static uint64_t fnv(const std::vector<float4> &v)
{
	uint64_t h = 14695981039346656037ull;
	std::vector<unsigned char> bytes(v.size() * sizeof(float4));
	memcpy(bytes.data(), v.data(), bytes.size());
	for (unsigned char b : bytes)
		h = (h ^ b) * 1099511628211ull;
	return h;
}

int main()
{
	std::vector<float4> pos(BODIES), vel(BODIES);
	for (int i = 0; i < BODIES; i++) {
		pos[i].x = nextRandom(), pos[i].y = nextRandom(), pos[i].z = nextRandom();
		pos[i].w = (1.5f + nextRandom()) / BODIES;
		vel[i] = make_float4(-0.3f * pos[i].y, 0.3f * pos[i].x, 0.0f, 0.0f);
	}
	const size_t bytes = BODIES * sizeof(float4);
	float4 *dPos, *dVel, *dPart;
	CHECK_CUDA(cudaMalloc(&dPos, bytes));
	CHECK_CUDA(cudaMalloc(&dVel, bytes));
	CHECK_CUDA(cudaMalloc(&dPart, bytes * SPLIT));
	CHECK_CUDA(cudaMemcpy(dPos, pos.data(), bytes, cudaMemcpyHostToDevice));
	CHECK_CUDA(cudaMemcpy(dVel, vel.data(), bytes, cudaMemcpyHostToDevice));

	cudaEvent_t done;
	CHECK_CUDA(cudaEventCreateWithFlags(&done, cudaEventDisableTiming));
	for (int step = 0; step < 4; step++) {
		partialForces<<<dim3(BODIES / BLOCK, SPLIT), BLOCK, BLOCK * sizeof(float4)>>>(dPos, dPart, BODIES, 1e-3f);
		integrate<<<BODIES / 64, 64>>>(dPos, dVel, dPart, BODIES, 0.01f);
		CHECK_CUDA(cudaGetLastError());
	}
	CHECK_CUDA(cudaEventRecord(done));
	CHECK_CUDA(cudaEventSynchronize(done));
	CHECK_CUDA(cudaMemcpy(pos.data(), dPos, bytes, cudaMemcpyDeviceToHost));
	CHECK_CUDA(cudaMemcpy(vel.data(), dVel, bytes, cudaMemcpyDeviceToHost));
	printf("positions: %016llx\n", (unsigned long long)fnv(pos));
	printf("velocities: %016llx\n", (unsigned long long)fnv(vel));
	printf("body 0 at %.5f %.5f %.5f\n", pos[0].x, pos[0].y, pos[0].z);
	return 0;
}
