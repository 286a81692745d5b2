// Cross-entropy over a vocabulary of 30522 words with half-precision logits: online softmax in one pass, then the gradient in place.
// Hard for a GPU: one streaming pass with an exponential per element, a branch for the running maximum, and only 700 long rows.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>
#include <cuda_fp16.h>

#define CUDA_CHECK(x)                                                                                \
	do {                                                                                         \
		cudaError_t status = (x);                                                            \
		if (status != cudaSuccess) {                                                         \
			fprintf(stderr, "CUDA error %s at line %d\n", cudaGetErrorString(status), __LINE__); \
			exit(1);                                                                     \
		}                                                                                    \
	} while (0)

constexpr int VOCAB = 30522, PAIRS = VOCAB / 2, ROWS = 700;
constexpr int IGNORE = -100;

__global__ void make_logits(__half2 *logits, int *labels)
{
	int row = blockIdx.y;
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < PAIRS; i += gridDim.x * blockDim.x) {
		unsigned h = (row * PAIRS + i) * 0x9e3779b9u + 0x7f4a7c15u;
		h ^= h >> 16;
		h *= 0x45d9f3bu;
		h ^= h >> 15;
		float a = (float)(h & 0x7fff) * (1.f / 4096.f) - 4.f, b = (float)(h >> 16 & 0x7fff) * (1.f / 4096.f) - 4.f;
		if (h % 5000 == 0)
			a += 9.f;
		logits[(size_t)row * PAIRS + i] = __floats2half2_rn(a, b);
	}
	if (blockIdx.x == 0 && threadIdx.x == 0)
		labels[row] = row % 23 == 5 ? IGNORE : (int)(row * 40503u % VOCAB);
}

struct Stat {
	float max, sum;
};

__device__ __forceinline__ Stat merge(Stat a, Stat b)
{
	Stat r;
	r.max = fmaxf(a.max, b.max);
	r.sum = a.sum * __expf(a.max - r.max) + b.sum * __expf(b.max - r.max);
	return r;
}

template <int THREADS> __global__ void forward(const __half2 *__restrict__ logits, const int *__restrict__ labels, float *loss, Stat *stats)
{
	__shared__ Stat warps[THREADS / 32];
	const int row = blockIdx.x;
	const __half2 *x = logits + (size_t)row * PAIRS;
	Stat s = {-1e30f, 0.f};
	for (int i = threadIdx.x; i < PAIRS; i += THREADS) {
		float2 v = __half22float2(x[i]);
		float m = fmaxf(v.x, v.y);
		if (m > s.max) {
			s.sum *= __expf(s.max - m);
			s.max = m;
		}
		s.sum += __expf(v.x - s.max) + __expf(v.y - s.max);
	}
	for (int d = 16; d; d >>= 1) {
		Stat o = {__shfl_xor_sync(~0u, s.max, d), __shfl_xor_sync(~0u, s.sum, d)};
		s = merge(s, o);
	}
	if (threadIdx.x % 32 == 0)
		warps[threadIdx.x / 32] = s;
	__syncthreads();
	if (threadIdx.x < 32) {
		s = threadIdx.x < THREADS / 32 ? warps[threadIdx.x] : Stat{-1e30f, 0.f};
		for (int d = 16; d; d >>= 1) {
			Stat o = {__shfl_down_sync(~0u, s.max, d), __shfl_down_sync(~0u, s.sum, d)};
			s = merge(s, o);
		}
		if (threadIdx.x == 0) {
			stats[row] = s;
			int label = labels[row];
			loss[row] = label == IGNORE ? 0.f : logf(s.sum) + s.max - __half2float(((const __half *)x)[label]);
		}
	}
}

// gradient over the logits: (softmax - onehot) * scale; rows to be ignored get zeros
__global__ void backward(__half2 *logits, const int *__restrict__ labels, const Stat *__restrict__ stats, float scale)
{
	const int row = blockIdx.y;
	const int label = labels[row];
	const int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= PAIRS)
		return;
	__half2 *x = logits + (size_t)row * PAIRS + i;
	if (label == IGNORE) {
		*x = __float2half2_rn(0.f);
		return;
	}
	Stat s = stats[row];
	float inv = 1.f / s.sum;
	float2 v = __half22float2(*x);
	float a = __expf(v.x - s.max) * inv, b = __expf(v.y - s.max) * inv;
	if (label / 2 == i) {
		if (label & 1)
			b -= 1.f;
		else
			a -= 1.f;
	}
	*x = __floats2half2_rn(a * scale, b * scale);
}

__global__ void mean_loss(const float *loss, const int *labels, float *mean)
{
	__shared__ float sum[256];
	__shared__ int count[256];
	int t = threadIdx.x;
	sum[t] = 0.f;
	count[t] = 0;
	for (int r = t; r < ROWS; r += 256) {
		sum[t] += loss[r];
		count[t] += labels[r] != IGNORE;
	}
	for (int d = 128; d; d >>= 1) {
		__syncthreads();
		if (t < d) {
			sum[t] += sum[t + d];
			count[t] += count[t + d];
		}
	}
	if (t == 0)
		*mean = sum[0] / (float)count[0];
}

int main()
{
	__half2 *logits;
	int *labels;
	float *loss, *mean;
	Stat *stats;
	const size_t bytes = (size_t)ROWS * VOCAB * sizeof(__half);
	CUDA_CHECK(cudaMalloc(&logits, bytes));
	CUDA_CHECK(cudaMalloc(&labels, ROWS * sizeof(int)));
	CUDA_CHECK(cudaMalloc(&loss, ROWS * sizeof(float)));
	CUDA_CHECK(cudaMalloc(&mean, sizeof(float)));
	CUDA_CHECK(cudaMalloc(&stats, ROWS * sizeof(Stat)));
	make_logits<<<dim3(15, ROWS), 256>>>(logits, labels);
	CUDA_CHECK(cudaGetLastError());
	forward<512><<<ROWS, 512>>>(logits, labels, loss, stats);
	CUDA_CHECK(cudaGetLastError());
	mean_loss<<<1, 256>>>(loss, labels, mean);
	CUDA_CHECK(cudaGetLastError());
	backward<<<dim3((PAIRS + 767) / 768, ROWS), 768>>>(logits, labels, stats, 64.f);
	CUDA_CHECK(cudaGetLastError());
	CUDA_CHECK(cudaDeviceSynchronize());
	std::vector<float> host_loss(ROWS);
	std::vector<__half> grad((size_t)ROWS * VOCAB);
	float host_mean;
	CUDA_CHECK(cudaMemcpy(host_loss.data(), loss, ROWS * sizeof(float), cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaMemcpy(grad.data(), logits, bytes, cudaMemcpyDeviceToHost));
	CUDA_CHECK(cudaMemcpy(&host_mean, mean, sizeof(float), cudaMemcpyDeviceToHost));
	// rounded, as the fast exponential is only good to some digits
	unsigned long long h = 0xcbf29ce484222325ull;
	for (float l : host_loss)
		h = (h ^ (unsigned long long)llround(l * 128.0)) * 0x100000001b3ull;
	long negative = 0;
	for (__half g : grad)
		negative += __half2float(g) < -1.f;
	printf("losses %016llx, mean %.3f\n", h, host_mean);
	printf("gradients below -1: %ld\n", negative);
	CUDA_CHECK(cudaFree(logits));
	CUDA_CHECK(cudaFree(labels));
	CUDA_CHECK(cudaFree(loss));
	CUDA_CHECK(cudaFree(mean));
	CUDA_CHECK(cudaFree(stats));
	return 0;
}
