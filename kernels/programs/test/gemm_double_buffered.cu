// Single-precision matrix product, twice: tiles of 128x128 staged by cp.async, and tiles of 64x64 prefetched in registers.
// Hard for a GPU: 90 large blocks do not fill the machine, and all depends on overlapping copies with long runs of FMAs.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>
#include <cuda_pipeline.h>

#define CHECK(call)                                                                                  \
	do {                                                                                         \
		cudaError_t e_ = (call);                                                             \
		if (e_ != cudaSuccess) {                                                             \
			fprintf(stderr, "%s:%d: %s\n", __FILE__, __LINE__, cudaGetErrorString(e_)); \
			exit(1);                                                                     \
		}                                                                                    \
	} while (0)

__global__ void fill(float *p, int n, unsigned seed)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		unsigned h = (i + seed) * 2654435761u;
		h ^= h >> 15;
		h *= 0x2c1b3c6du;
		h ^= h >> 12;
		p[i] = (float)(int)(h & 0xffff) * (1.0f / 32768.0f) - 1.0f;
	}
}

// C = A * B, all row-major; M, N multiples of 128 and K of 16
__global__ void __launch_bounds__(256) gemm_async(const float *__restrict__ A, const float *__restrict__ B, float *__restrict__ C, int N, int K)
{
	constexpr int BM = 128, BN = 128, BK = 16, PAD = 4;
	__shared__ __align__(16) float as[2][BM][BK + PAD];
	__shared__ __align__(16) float bs[2][BK][BN];
	const int tid = threadIdx.x;
	const int tx = tid % 16, ty = tid / 16;
	const float *a_src = A + (size_t)blockIdx.y * BM * K;
	const float *b_src = B + blockIdx.x * BN;

	auto stage = [&](int buf, int k0) {
#pragma unroll
		for (int i = 0; i < 2; i++) {
			int v = tid + i * 256;
			int ar = v / 4, ac = v % 4 * 4;
			__pipeline_memcpy_async(&as[buf][ar][ac], a_src + (size_t)ar * K + k0 + ac, 16);
			int br = v / 32, bc = v % 32 * 4;
			__pipeline_memcpy_async(&bs[buf][br][bc], b_src + (size_t)(k0 + br) * N + bc, 16);
		}
		__pipeline_commit();
	};

	float acc[8][8] = {};
	stage(0, 0);
	const int tiles = K / BK;
	for (int t = 0; t < tiles; t++) {
		int cur = t & 1;
		if (t + 1 < tiles) {
			stage(cur ^ 1, (t + 1) * BK);
			__pipeline_wait_prior(1);
		} else {
			__pipeline_wait_prior(0);
		}
		__syncthreads();
#pragma unroll
		for (int k = 0; k < BK; k += 4) {
			float4 a[8];
#pragma unroll
			for (int i = 0; i < 8; i++)
				a[i] = *(const float4 *)&as[cur][ty + i * 16][k];
#pragma unroll
			for (int kk = 0; kk < 4; kk++) {
				float4 b0 = *(const float4 *)&bs[cur][k + kk][tx * 4];
				float4 b1 = *(const float4 *)&bs[cur][k + kk][64 + tx * 4];
				float b[8] = {b0.x, b0.y, b0.z, b0.w, b1.x, b1.y, b1.z, b1.w};
#pragma unroll
				for (int i = 0; i < 8; i++) {
					float x = kk == 0 ? a[i].x : kk == 1 ? a[i].y : kk == 2 ? a[i].z : a[i].w;
#pragma unroll
					for (int j = 0; j < 8; j++)
						acc[i][j] = fmaf(x, b[j], acc[i][j]);
				}
			}
		}
		__syncthreads();
	}
	for (int i = 0; i < 8; i++) {
		float *row = C + (size_t)(blockIdx.y * BM + ty + i * 16) * N + blockIdx.x * BN;
		*(float4 *)(row + tx * 4) = make_float4(acc[i][0], acc[i][1], acc[i][2], acc[i][3]);
		*(float4 *)(row + 64 + tx * 4) = make_float4(acc[i][4], acc[i][5], acc[i][6], acc[i][7]);
	}
}

// C = max(A * B + bias, 0): the next tile waits in registers while the current one is used
__global__ void gemm_registers(const float *__restrict__ A, const float *__restrict__ B, const float *__restrict__ bias, float *__restrict__ C, int N, int K)
{
	constexpr int BM = 64, BN = 64, BK = 16;
	__shared__ __align__(16) float as[2][BK][BM + 4];
	__shared__ __align__(16) float bs[2][BK][BN];
	const int tid = threadIdx.y * blockDim.x + threadIdx.x;
	const int ar = tid / 4, ac = tid % 4 * 4;
	const int br = tid / 16, bc = tid % 16 * 4;
	const float *a_ptr = A + (size_t)(blockIdx.y * BM + ar) * K + ac;
	const float *b_ptr = B + (size_t)br * N + blockIdx.x * BN + bc;
	float4 a_next = *(const float4 *)a_ptr, b_next = *(const float4 *)b_ptr;
	float acc[4][4] = {};
	int buf = 0;
	for (int k0 = 0; k0 < K; k0 += BK) {
		as[buf][ac + 0][ar] = a_next.x;
		as[buf][ac + 1][ar] = a_next.y;
		as[buf][ac + 2][ar] = a_next.z;
		as[buf][ac + 3][ar] = a_next.w;
		*(float4 *)&bs[buf][br][bc] = b_next;
		__syncthreads();
		if (k0 + BK < K) {
			a_next = *(const float4 *)(a_ptr + k0 + BK);
			b_next = *(const float4 *)(b_ptr + (size_t)(k0 + BK) * N);
		}
#pragma unroll
		for (int k = 0; k < BK; k++) {
			float4 a = *(const float4 *)&as[buf][k][threadIdx.y * 4];
			float4 b = *(const float4 *)&bs[buf][k][threadIdx.x * 4];
			const float av[4] = {a.x, a.y, a.z, a.w}, bv[4] = {b.x, b.y, b.z, b.w};
#pragma unroll
			for (int i = 0; i < 4; i++)
#pragma unroll
				for (int j = 0; j < 4; j++)
					acc[i][j] = fmaf(av[i], bv[j], acc[i][j]);
		}
		buf ^= 1;
	}
	float4 bb = *(const float4 *)(bias + blockIdx.x * BN + threadIdx.x * 4);
	for (int i = 0; i < 4; i++) {
		float4 v = make_float4(fmaxf(acc[i][0] + bb.x, 0.f), fmaxf(acc[i][1] + bb.y, 0.f), fmaxf(acc[i][2] + bb.z, 0.f), fmaxf(acc[i][3] + bb.w, 0.f));
		*(float4 *)(C + (size_t)(blockIdx.y * BM + threadIdx.y * 4 + i) * N + blockIdx.x * BN + threadIdx.x * 4) = v;
	}
}

static unsigned long long fnv(const void *data, size_t bytes)
{
	const unsigned char *p = (const unsigned char *)data;
	unsigned long long h = 0xcbf29ce484222325ull;
	for (size_t i = 0; i < bytes; i++)
		h = (h ^ p[i]) * 0x100000001b3ull;
	return h;
}

int main()
{
	const int M = 1152, N = 1280, K = 768;
	float *a, *b, *bias, *c, *d;
	CHECK(cudaMalloc(&a, sizeof(float) * M * K));
	CHECK(cudaMalloc(&b, sizeof(float) * K * N));
	CHECK(cudaMalloc(&bias, sizeof(float) * N));
	CHECK(cudaMalloc(&c, sizeof(float) * M * N));
	CHECK(cudaMalloc(&d, sizeof(float) * M * N));
	fill<<<264, 256>>>(a, M * K, 1);
	fill<<<264, 256>>>(b, K * N, 77777777);
	fill<<<5, 256>>>(bias, N, 5555);
	gemm_async<<<dim3(N / 128, M / 128), 256>>>(a, b, c, N, K);
	CHECK(cudaGetLastError());
	gemm_registers<<<dim3(N / 64, M / 64), dim3(16, 16)>>>(a, b, bias, d, N, K);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	std::vector<float> hc((size_t)M * N), hd((size_t)M * N), hb(N);
	CHECK(cudaMemcpy(hc.data(), c, sizeof(float) * M * N, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(hd.data(), d, sizeof(float) * M * N, cudaMemcpyDeviceToHost));
	CHECK(cudaMemcpy(hb.data(), bias, sizeof(float) * N, cudaMemcpyDeviceToHost));
	size_t off = 0;
	for (size_t i = 0; i < hc.size(); i++) {
		float v = hc[i] + hb[i % N];
		off += (v > 0.f ? v : 0.f) != hd[i];
	}
	printf("product %016llx\n", fnv(hc.data(), sizeof(float) * M * N));
	printf("with bias %016llx, differences %zu\n", fnv(hd.data(), sizeof(float) * M * N), off);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	CHECK(cudaFree(bias));
	CHECK(cudaFree(c));
	CHECK(cudaFree(d));
	return 0;
}
