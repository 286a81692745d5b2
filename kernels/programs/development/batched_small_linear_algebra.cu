// Batched small dense linear algebra: 16x16 double products (block per matrix), 4x4 float products (thread per matrix),
// and Householder QR of 8x8 float matrices held in the registers of one thread (AoS and SoA storage).
// Hard for a GPU: tiny problems: little reuse, register pressure, and uncoalesced accesses in the AoS layouts.
#include <cstdio>
#include <cstdlib>
#include <vector>

constexpr int BATCH16 = 5000;
constexpr int BATCH4 = 600000;
constexpr int BATCHQR = 70001;

#define CHECK(call)                                                        \
	do {                                                                   \
		const cudaError_t error_ = (call);                                 \
		if (error_ != cudaSuccess) {                                       \
			std::printf("Error: %s:%d, ", __FILE__, __LINE__);             \
			std::printf("reason: %s\n", cudaGetErrorString(error_));       \
			std::exit(1);                                                  \
		}                                                                  \
	} while (0)

// small dyadic rationals, products stay exact for the matrix products
template <typename T>
__global__ void randomize(T *v, long n, unsigned seed)
{
	for (long i = blockIdx.x * (long)blockDim.x + threadIdx.x; i < n; i += (long)gridDim.x * blockDim.x) {
		unsigned s = (unsigned)i * 0x2c1b3c6du + seed;
		s ^= s >> 12;
		s *= 0x297a2d39u;
		s ^= s >> 15;
		v[i] = (T)((int)(s & 255) - 127) * (T)0.0625;
	}
}

__global__ void __launch_bounds__(256) dgemm16(const double *__restrict__ a, const double *__restrict__ b, double *__restrict__ c)
{
	__shared__ double as[16][16], bs[16][17];
	int x = threadIdx.x, y = threadIdx.y, base = blockIdx.x * 256;
	as[y][x] = a[base + y * 16 + x];
	bs[y][x] = b[base + y * 16 + x];
	__syncthreads();
	double sum = 0.0;
#pragma unroll
	for (int k = 0; k < 16; k++)
		sum += as[y][k] * bs[k][x];
	c[base + y * 16 + x] = sum;
}

__global__ void sgemm4(const float4 *__restrict__ a, const float4 *__restrict__ b, float4 *__restrict__ c, int batch)
{
	int m = blockIdx.x * blockDim.x + threadIdx.x;
	if (m >= batch) return;
	float4 b0 = b[m * 4], b1 = b[m * 4 + 1], b2 = b[m * 4 + 2], b3 = b[m * 4 + 3];
#pragma unroll
	for (int r = 0; r < 4; r++) {
		float4 q = a[m * 4 + r], o;
		o.x = q.x * b0.x + q.y * b1.x + q.z * b2.x + q.w * b3.x;
		o.y = q.x * b0.y + q.y * b1.y + q.z * b2.y + q.w * b3.y;
		o.z = q.x * b0.z + q.y * b1.z + q.z * b2.z + q.w * b3.z;
		o.w = q.x * b0.w + q.y * b1.w + q.z * b2.w + q.w * b3.w;
		c[m * 4 + r] = o;
	}
}

template <bool SOA>
__global__ void __launch_bounds__(128) qr8(float *mats, float *tau, int batch)
{
	int m = blockIdx.x * 128 + threadIdx.x;
	if (m >= batch) return;
	auto at = [&](int e) -> float & { return SOA ? mats[(size_t)e * batch + m] : mats[(size_t)m * 64 + e]; };
	float q[8][8];
#pragma unroll
	for (int e = 0; e < 64; e++)
		q[e / 8][e % 8] = at(e);
#pragma unroll
	for (int k = 0; k < 8; k++) {
		float norm = 0.0f;
#pragma unroll
		for (int i = k; i < 8; i++)
			norm += q[i][k] * q[i][k];
		norm = sqrtf(norm);
		float alpha = q[k][k] > 0.0f ? -norm : norm;
		float v0 = q[k][k] - alpha;
		float beta = norm > 0.0f ? -v0 / alpha : 0.0f;
		float scale = v0 != 0.0f ? 1.0f / v0 : 0.0f;
#pragma unroll
		for (int i = k + 1; i < 8; i++)
			q[i][k] *= scale;
#pragma unroll
		for (int j = k + 1; j < 8; j++) {
			float dot = q[k][j];
#pragma unroll
			for (int i = k + 1; i < 8; i++)
				dot += q[i][k] * q[i][j];
			dot *= beta;
			q[k][j] -= dot;
#pragma unroll
			for (int i = k + 1; i < 8; i++)
				q[i][j] -= dot * q[i][k];
		}
		q[k][k] = alpha;
		tau[SOA ? k * batch + m : m * 8 + k] = beta;
	}
#pragma unroll
	for (int e = 0; e < 64; e++)
		at(e) = q[e / 8][e % 8];
}

static void report(const char *name, const void *d, size_t bytes)
{
	CHECK(cudaGetLastError());
	std::vector<unsigned> h(bytes / 4);
	CHECK(cudaMemcpy(h.data(), d, bytes, cudaMemcpyDeviceToHost));
	unsigned long long s = 0;
	for (unsigned v : h)
		s = (s << 5 | s >> 59) ^ v * 0x9E3779B1ull;
	std::printf("%-8s %016llx\n", name, s);
}

int main()
{
	const long n16 = 256L * BATCH16, n4 = 16L * BATCH4, nq = 64L * BATCHQR;
	{
		double *a, *b, *c;
		CHECK(cudaMalloc(&a, n16 * 8));
		CHECK(cudaMalloc(&b, n16 * 8));
		CHECK(cudaMalloc(&c, n16 * 8));
		randomize<<<528, 256>>>(a, n16, 1u);
		randomize<<<528, 256>>>(b, n16, 2u);
		dgemm16<<<BATCH16, dim3(16, 16)>>>(a, b, c);
		report("dgemm16", c, n16 * 8);
		cudaFree(a); cudaFree(b); cudaFree(c);
	}
	{
		float *a, *b, *c;
		CHECK(cudaMalloc(&a, n4 * 4));
		CHECK(cudaMalloc(&b, n4 * 4));
		CHECK(cudaMalloc(&c, n4 * 4));
		randomize<<<1056, 256>>>(a, n4, 3u);
		randomize<<<1056, 256>>>(b, n4, 4u);
		sgemm4<<<(BATCH4 + 191) / 192, 192>>>((float4 *)a, (float4 *)b, (float4 *)c, BATCH4);
		report("sgemm4", c, n4 * 4);
		cudaFree(a); cudaFree(b); cudaFree(c);
	}
	{
		float *q, *tau;
		CHECK(cudaMalloc(&q, nq * 4));
		CHECK(cudaMalloc(&tau, 8L * BATCHQR * 4));
		randomize<<<528, 256>>>(q, nq, 5u);
		qr8<false><<<(BATCHQR + 127) / 128, 128>>>(q, tau, BATCHQR);
		report("qr aos", q, nq * 4);
		report("tau aos", tau, 8L * BATCHQR * 4);
		randomize<<<528, 256>>>(q, nq, 6u);
		qr8<true><<<(BATCHQR + 127) / 128, 128>>>(q, tau, BATCHQR);
		report("qr soa", q, nq * 4);
		report("tau soa", tau, 8L * BATCHQR * 4);
		cudaFree(q); cudaFree(tau);
	}
	return 0;
}
