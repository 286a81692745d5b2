// D2Q9 lattice Boltzmann flow in a channel with random solid obstacles (pull scheme, BGK collision, bounce-back walls).
// Nine separate distribution arrays are read with one-cell shifts and written back, so it is bound by memory bandwidth;
// solid cells make the warps diverge.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

static void check(cudaError_t e, int line)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "CUDA error at line %d: %s\n", line, cudaGetErrorString(e));
		exit(1);
	}
}
#define CK(x) check((x), __LINE__)

const int W = 1536, H = 1280, Q = 9;

__device__ inline unsigned hash32(unsigned x)
{
	x ^= x >> 16;
	x *= 0x7feb352du;
	x ^= x >> 15;
	x *= 0x846ca68bu;
	x ^= x >> 16;
	return x;
}

__device__ __forceinline__ float feq(float w, float rho, float cu, float uu)
{
	return w * rho * (1.0f + 3.0f * cu + 4.5f * cu * cu - 1.5f * uu);
}

__global__ void initFlow(float *f, unsigned char *solid)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	if (x >= W)
		return;
	int i = y * W + x;
	unsigned blob = hash32((unsigned)((y / 8) * 4096 + x / 8));
	solid[i] = (y == 0 || y == H - 1 || blob % 23 == 0) ? 1 : 0;
	const float w[Q] = {4.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 9, 1.f / 36, 1.f / 36, 1.f / 36, 1.f / 36};
	float rho = 1.0f + 0.01f * (float)(hash32(i) & 255) / 256.0f;
	for (int k = 0; k < Q; k++)
		f[(size_t)k * W * H + i] = w[k] * rho;
}

__global__ void streamCollide(const float *__restrict__ fin, float *__restrict__ fout, const unsigned char *__restrict__ solid,
	float omega, float force)
{
	const int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y;
	const int N = W * H;
	if (x >= W)
		return;
	const int i = y * W + x;
	const int xw = x == 0 ? W - 1 : x - 1, xe = x == W - 1 ? 0 : x + 1;
	const int r0 = y * W, rs = (y == 0 ? H - 1 : y - 1) * W, rn = (y == H - 1 ? 0 : y + 1) * W;

	// directions: 0 rest, 1 E, 2 N, 3 W, 4 S, 5 NE, 6 NW, 7 SW, 8 SE
	float f0 = fin[i];
	float f1 = fin[1 * N + r0 + xw];
	float f2 = fin[2 * N + rs + x];
	float f3 = fin[3 * N + r0 + xe];
	float f4 = fin[4 * N + rn + x];
	float f5 = fin[5 * N + rs + xw];
	float f6 = fin[6 * N + rs + xe];
	float f7 = fin[7 * N + rn + xe];
	float f8 = fin[8 * N + rn + xw];

	if (solid[i]) {
		fout[i] = f0;
		fout[1 * N + i] = f3;
		fout[2 * N + i] = f4;
		fout[3 * N + i] = f1;
		fout[4 * N + i] = f2;
		fout[5 * N + i] = f7;
		fout[6 * N + i] = f8;
		fout[7 * N + i] = f5;
		fout[8 * N + i] = f6;
		return;
	}
	float rho = f0 + f1 + f2 + f3 + f4 + f5 + f6 + f7 + f8;
	float inv = 1.0f / rho;
	float ux = (f1 + f5 + f8 - f3 - f6 - f7) * inv + force;
	float uy = (f2 + f5 + f6 - f4 - f7 - f8) * inv;
	float uu = ux * ux + uy * uy;
	fout[i] = f0 + omega * (feq(4.f / 9, rho, 0.f, uu) - f0);
	fout[1 * N + i] = f1 + omega * (feq(1.f / 9, rho, ux, uu) - f1);
	fout[2 * N + i] = f2 + omega * (feq(1.f / 9, rho, uy, uu) - f2);
	fout[3 * N + i] = f3 + omega * (feq(1.f / 9, rho, -ux, uu) - f3);
	fout[4 * N + i] = f4 + omega * (feq(1.f / 9, rho, -uy, uu) - f4);
	fout[5 * N + i] = f5 + omega * (feq(1.f / 36, rho, ux + uy, uu) - f5);
	fout[6 * N + i] = f6 + omega * (feq(1.f / 36, rho, uy - ux, uu) - f6);
	fout[7 * N + i] = f7 + omega * (feq(1.f / 36, rho, -ux - uy, uu) - f7);
	fout[8 * N + i] = f8 + omega * (feq(1.f / 36, rho, ux - uy, uu) - f8);
}

int main()
{
	const size_t cells = (size_t)W * H, bytes = cells * Q * sizeof(float);
	float *f[2];
	unsigned char *solid;
	CK(cudaMalloc(&f[0], bytes));
	CK(cudaMalloc(&f[1], bytes));
	CK(cudaMalloc(&solid, cells));
	dim3 grid(W / 128, H);
	initFlow<<<grid, 128>>>(f[0], solid);
	CK(cudaGetLastError());
	for (int t = 0; t < 5; t++)
		streamCollide<<<grid, 128>>>(f[t & 1], f[1 - (t & 1)], solid, 1.7f, 1e-4f);
	CK(cudaGetLastError());
	std::vector<float> h(cells * Q);
	CK(cudaMemcpy(h.data(), f[1], bytes, cudaMemcpyDeviceToHost));

	uint64_t hash = 0xcbf29ce484222325ull;
	double mass = 0;
	for (float v : h)
		mass += v;
	const unsigned char *raw = (const unsigned char *)h.data();
	for (size_t i = 0; i < bytes; i++)
		hash = (hash ^ raw[i]) * 0x100000001b3ull;
	printf("distributions: %016llx\nmass: %.4f\n", (unsigned long long)hash, mass);
	for (float *p : f)
		CK(cudaFree(p));
	CK(cudaFree(solid));
	return 0;
}
