// Long 1D convolution with coefficients in constant memory: naive from global memory (65 taps), tiled in shared memory
// (65 taps), and register-blocked with float4 shared loads (257 taps).
// Hard for a GPU: heavy reuse of neighbours: load instructions compete with the multiply-adds.
#include <cstdio>
#include <cstdlib>
#include <cmath>
#include <vector>

#define N 1500007
#define RADIUS 32
#define TAPS (2 * RADIUS + 1)
#define LONG_RADIUS 128
#define LONG_TAPS 260 /* 257, padded with zeros to a multiple of 4 */
#define TILE 256

#define cudaCheck(ans) { gpuAssert((ans), __FILE__, __LINE__); }
static inline void gpuAssert(cudaError_t code, const char *file, int line)
{
	if (code != cudaSuccess) {
		fprintf(stderr, "GPUassert: %s %s %d\n", cudaGetErrorString(code), file, line);
		exit(code);
	}
}

__constant__ float c_taps[TAPS];
__constant__ float c_long[LONG_TAPS];

__global__ void make_signal(float *x, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		unsigned s = i * 1103515245u + 12345u;
		s ^= s >> 16;
		s *= 0x45d9f3bu;
		s ^= s >> 16;
		x[i] = (int)(s & 1023) - 512 + ((i / 1000) & 1) * 100;
	}
}

__global__ void conv_naive(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	float sum = 0;
	for (int t = 0; t < TAPS; t++) {
		int j = i - RADIUS + t;
		if (j >= 0 && j < n)
			sum += in[j] * c_taps[t];
	}
	out[i] = sum;
}

__global__ void conv_tiled(const float *__restrict__ in, float *__restrict__ out, int n)
{
	__shared__ float s[TILE + 2 * RADIUS];
	int base = blockIdx.x * TILE;
	for (int k = threadIdx.x; k < TILE + 2 * RADIUS; k += TILE) {
		int j = base - RADIUS + k;
		s[k] = (j >= 0 && j < n) ? in[j] : 0.0f;
	}
	__syncthreads();
	int i = base + threadIdx.x;
	if (i < n) {
		float sum = 0;
#pragma unroll
		for (int t = 0; t < TAPS; t++)
			sum += s[threadIdx.x + t] * c_taps[t];
		out[i] = sum;
	}
}

template <int THREADS, int RAD, int PADDED>
__global__ void __launch_bounds__(THREADS) conv_registers(const float *__restrict__ in, float *__restrict__ out, int n)
{
	__shared__ float4 s4[THREADS + PADDED / 4];
	float *s = (float *)s4;
	const int base = blockIdx.x * THREADS * 4;
	for (int k = threadIdx.x; k < THREADS * 4 + PADDED; k += THREADS) {
		int j = base - RAD + k;
		s[k] = (j >= 0 && j < n) ? __ldg(in + j) : 0.0f;
	}
	__syncthreads();
	float w[8], acc[4] = {0, 0, 0, 0};
	float4 v = s4[threadIdx.x];
	w[0] = v.x; w[1] = v.y; w[2] = v.z; w[3] = v.w;
#pragma unroll 5
	for (int t = 0; t < PADDED; t += 4) {
		v = s4[threadIdx.x + t / 4 + 1];
		w[4] = v.x; w[5] = v.y; w[6] = v.z; w[7] = v.w;
#pragma unroll
		for (int j = 0; j < 4; j++) {
			float c = c_long[t + j];
#pragma unroll
			for (int k = 0; k < 4; k++)
				acc[k] = fmaf(c, w[j + k], acc[k]);
		}
#pragma unroll
		for (int k = 0; k < 4; k++)
			w[k] = w[k + 4];
	}
	int o = base + threadIdx.x * 4;
	if (o + 3 < n)
		*(float4 *)(out + o) = make_float4(acc[0], acc[1], acc[2], acc[3]);
	else
		for (int k = 0; k < 4; k++)
			if (o + k < n) out[o + k] = acc[k];
}

static void report(const char *name, const float *d, std::vector<float> &h)
{
	cudaCheck(cudaMemcpy(h.data(), d, N * sizeof(float), cudaMemcpyDeviceToHost));
	unsigned long long sum = 5381;
	const unsigned *w = (const unsigned *)h.data();
	for (int i = 0; i < N; i++)
		sum = sum * 33 + w[i];
	printf("%s %016llx\n", name, sum);
}

int main()
{
	float taps[TAPS], longer[LONG_TAPS] = {0};
	for (int t = 0; t < TAPS; t++)
		taps[t] = (33 - abs(t - RADIUS)) / 1024.0f;
	for (int t = 0; t <= 2 * LONG_RADIUS; t++)
		longer[t] = ((t * 37) % 64 - 31) / 256.0f;
	cudaCheck(cudaMemcpyToSymbol(c_taps, taps, sizeof taps));
	cudaCheck(cudaMemcpyToSymbol(c_long, longer, sizeof longer));
	float *in, *out;
	std::vector<float> h(N);
	cudaCheck(cudaMalloc(&in, N * sizeof(float)));
	cudaCheck(cudaMalloc(&out, N * sizeof(float)));
	make_signal<<<(N + 511) / 512, 512>>>(in, N);
	conv_naive<<<(N + 127) / 128, 128>>>(in, out, N);
	cudaCheck(cudaGetLastError());
	report("naive    ", out, h);
	conv_tiled<<<(N + TILE - 1) / TILE, TILE>>>(in, out, N);
	cudaCheck(cudaGetLastError());
	report("tiled    ", out, h);
	conv_registers<128, LONG_RADIUS, LONG_TAPS><<<(N + 511) / 512, 128>>>(in, out, N);
	cudaCheck(cudaGetLastError());
	report("registers", out, h);
	cudaFree(in);
	cudaFree(out);
	return 0;
}
