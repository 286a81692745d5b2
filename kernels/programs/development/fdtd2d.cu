// Two-dimensional FDTD (TE mode): leapfrog updates of Ex, Ey and Hz on a staggered grid with a driven edge.
// Three short, dependent kernels per time step, each doing few flops per byte over arrays that almost fit in L2.
#include <cuda_runtime.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int NX = 2048; // rows
constexpr int NY = 2304; // columns, the fast axis
constexpr int STEPS = 5;

static void check(cudaError_t e, const char *what)
{
	if (e == cudaSuccess)
		return;
	std::fprintf(stderr, "%s failed: %s\n", what, cudaGetErrorString(e));
	std::exit(1);
}

static uint32_t hash32(uint32_t x)
{
	x = (x ^ 61u) ^ (x >> 16);
	x *= 9u;
	x ^= x >> 4;
	x *= 0x27d4eb2du;
	x ^= x >> 15;
	return x;
}

static void fill(std::vector<float> &a, uint32_t seed)
{
	for (size_t i = 0; i < a.size(); i++)
		a[i] = (float)(hash32((uint32_t)i + seed) >> 8) * (1.0f / 16777216.0f) - 0.5f;
}

static uint64_t digest(const std::vector<float> &a)
{
	uint64_t h = 0xcbf29ce484222325ull;
	const uint8_t *b = reinterpret_cast<const uint8_t *>(a.data());
	for (size_t i = 0; i < a.size() * sizeof(float); i++)
		h = (h ^ b[i]) * 0x100000001b3ull;
	return h;
}

__global__ void update_ey(float *__restrict__ ey, const float *__restrict__ hz, float source)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;
	if (i >= NX || j >= NY)
		return;
	if (i == 0)
		ey[j] = source;
	else
		ey[i * NY + j] -= 0.5f * (hz[i * NY + j] - hz[(i - 1) * NY + j]);
}

__global__ void update_ex(float *__restrict__ ex, const float *__restrict__ hz)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;
	if (i < NX && j > 0 && j < NY)
		ex[i * NY + j] -= 0.5f * (hz[i * NY + j] - hz[i * NY + j - 1]);
}

__global__ void update_hz(float *__restrict__ hz, const float *__restrict__ ex, const float *__restrict__ ey)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	int i = blockIdx.y * blockDim.y + threadIdx.y;
	if (i >= NX - 1 || j >= NY - 1)
		return;
	int k = i * NY + j;
	hz[k] -= 0.7f * (ex[k + 1] - ex[k] + ey[k + NY] - ey[k]);
}

int main()
{
	const size_t count = (size_t)NX * NY;
	const size_t bytes = count * sizeof(float);
	std::vector<float> hex(count), hey(count), hhz(count);
	fill(hex, 1u);
	fill(hey, 77777u);
	fill(hhz, 1234567u);

	float *ex, *ey, *hz;
	check(cudaMalloc(&ex, bytes), "cudaMalloc ex");
	check(cudaMalloc(&ey, bytes), "cudaMalloc ey");
	check(cudaMalloc(&hz, bytes), "cudaMalloc hz");
	check(cudaMemcpy(ex, hex.data(), bytes, cudaMemcpyHostToDevice), "copy ex");
	check(cudaMemcpy(ey, hey.data(), bytes, cudaMemcpyHostToDevice), "copy ey");
	check(cudaMemcpy(hz, hhz.data(), bytes, cudaMemcpyHostToDevice), "copy hz");

	dim3 threads(64, 4);
	dim3 blocks((NY + threads.x - 1) / threads.x, (NX + threads.y - 1) / threads.y);
	for (int t = 0; t < STEPS; t++) {
		update_ey<<<blocks, threads>>>(ey, hz, 0.25f * (float)t);
		check(cudaGetLastError(), "update_ey");
		update_ex<<<blocks, threads>>>(ex, hz);
		check(cudaGetLastError(), "update_ex");
		update_hz<<<blocks, threads>>>(hz, ex, ey);
		check(cudaGetLastError(), "update_hz");
	}
	check(cudaDeviceSynchronize(), "synchronize");
	check(cudaMemcpy(hex.data(), ex, bytes, cudaMemcpyDeviceToHost), "copy ex back");
	check(cudaMemcpy(hey.data(), ey, bytes, cudaMemcpyDeviceToHost), "copy ey back");
	check(cudaMemcpy(hhz.data(), hz, bytes, cudaMemcpyDeviceToHost), "copy hz back");
	double energy = 0.0;
	for (size_t k = 0; k < count; k++)
		energy += (double)hhz[k] * hhz[k];
	std::printf("ex: %016llx\n", (unsigned long long)digest(hex));
	std::printf("ey: %016llx\n", (unsigned long long)digest(hey));
	std::printf("hz: %016llx\n", (unsigned long long)digest(hhz));
	std::printf("magnetic energy %.9g\n", energy);
	check(cudaFree(ex), "cudaFree ex");
	check(cudaFree(ey), "cudaFree ey");
	check(cudaFree(hz), "cudaFree hz");
	return 0;
}
