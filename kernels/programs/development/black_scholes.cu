// European option prices and the delta of the calls with the Black-Scholes formula, two streams over the halves of the data.
// Streaming loads and stores compete with logarithms, exponentials, square roots and divisions,
// so memory bandwidth and the special-function units are both close to their limits.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

struct CudaCall {
	int line;
	void operator<<(cudaError_t e) const
	{
		if (e != cudaSuccess) {
			fprintf(stderr, "CUDA call on line %d: %s\n", line, cudaGetErrorString(e));
			exit(1);
		}
	}
};
#define CUDA CudaCall{__LINE__} <<

static const int kOptions = 9 * 512 * 1024;
static const float kRate = 0.02f;

// Cumulative normal distribution by the polynomial of Abramowitz and Stegun 26.2.17
__device__ inline float cumulativeNormal(float d)
{
	const float a1 = 0.31938153f, a2 = -0.356563782f, a3 = 1.781477937f, a4 = -1.821255978f, a5 = 1.330274429f;
	float k = 1.0f / (1.0f + 0.2316419f * fabsf(d));
	float tail = 0.39894228f * expf(-0.5f * d * d) * (k * (a1 + k * (a2 + k * (a3 + k * (a4 + k * a5)))));
	return d > 0 ? 1.0f - tail : tail;
}

__device__ inline void priceOne(float spot, float strike, float years, float vol, float &call, float &put, float &delta)
{
	float sq = vol * sqrtf(years);
	float d1 = (logf(spot / strike) + (kRate + 0.5f * vol * vol) * years) / sq;
	float n1 = cumulativeNormal(d1), n2 = cumulativeNormal(d1 - sq);
	float discounted = strike * expf(-kRate * years);
	call = spot * n1 - discounted * n2;
	put = discounted * (1.0f - n2) - spot * (1.0f - n1);
	delta = n1;
}

__global__ void priceOptions(const float2 *__restrict__ spot, const float2 *__restrict__ strike, const float2 *__restrict__ years,
	float2 *__restrict__ call, float2 *__restrict__ put, float2 *__restrict__ delta, float vol, int pairs)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= pairs)
		return;
	float2 s = spot[i], k = strike[i], t = years[i], c, p, d;
	priceOne(s.x, k.x, t.x, vol, c.x, p.x, d.x);
	priceOne(s.y, k.y, t.y, vol, c.y, p.y, d.y);
	call[i] = c;
	put[i] = p;
	delta[i] = d;
}

__device__ __host__ static inline float uniform(uint32_t n, float lo, float hi)
{
	n = (n ^ 61u) ^ (n >> 16);
	n *= 9u;
	n ^= n >> 4;
	n *= 0x27d4eb2du;
	n ^= n >> 15;
	return lo + (hi - lo) * ((float)(n >> 8) * (1.0f / 16777216.0f));
}

__global__ void makeOptions(float *spot, float *strike, float *years, int n)
{
	int stride = gridDim.x * blockDim.x;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += stride) {
		spot[i] = uniform(3 * i, 5.0f, 30.0f);
		strike[i] = uniform(3 * i + 1, 1.0f, 100.0f);
		years[i] = uniform(3 * i + 2, 0.25f, 10.0f);
	}
}

int main()
{
	enum { SPOT, STRIKE, YEARS, CALL, PUT, DELTA, COUNT };
	float *d[COUNT];
	for (int k = 0; k < COUNT; k++)
		CUDA cudaMalloc(&d[k], kOptions * sizeof(float));
	makeOptions<<<1024, 256>>>(d[SPOT], d[STRIKE], d[YEARS], kOptions);
	CUDA cudaGetLastError();
	CUDA cudaDeviceSynchronize();

	cudaStream_t streams[2];
	for (auto &s : streams)
		CUDA cudaStreamCreateWithFlags(&s, cudaStreamNonBlocking);
	const int pairs = kOptions / 4, block = 384;
	for (float vol : {0.20f, 0.35f}) {
		for (int half = 0; half < 2; half++) {
			float2 *p[COUNT];
			for (int k = 0; k < COUNT; k++)
				p[k] = reinterpret_cast<float2 *>(d[k]) + (size_t)half * pairs;
			priceOptions<<<(pairs + block - 1) / block, block, 0, streams[half]>>>(p[SPOT], p[STRIKE], p[YEARS], p[CALL], p[PUT],
				p[DELTA], vol, pairs);
			CUDA cudaGetLastError();
		}
	}
	for (auto &s : streams) {
		CUDA cudaStreamSynchronize(s);
		CUDA cudaStreamDestroy(s);
	}

	std::vector<float> h(kOptions);
	const char *names[COUNT] = {"", "", "", "call", "put", "delta"};
	for (int k = CALL; k < COUNT; k++) {
		CUDA cudaMemcpy(h.data(), d[k], kOptions * sizeof(float), cudaMemcpyDeviceToHost);
		const unsigned char *raw = reinterpret_cast<const unsigned char *>(h.data());
		uint64_t hash = 0xcbf29ce484222325ull;
		for (size_t i = 0; i < kOptions * sizeof(float); i++)
			hash = (hash ^ raw[i]) * 0x100000001b3ull;
		printf("%s: %016llx\n%s of option 1000: %.5f\n", names[k], (unsigned long long)hash, names[k], h[1000]);
	}
	for (float *p : d)
		CUDA cudaFree(p);
	return 0;
}
