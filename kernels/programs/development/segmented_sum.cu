// Sums the values of each segment of a sorted segment-number array with warp-level segmented scans of 64-bit integers.
// Hard for a GPU: segments have between 1 and a few thousand elements, so warps differ in how many atomics they send.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUCHECK(e) do { cudaError_t r_ = (e); if (r_ != cudaSuccess) { \
	printf("CUDA failure at %d: %s\n", __LINE__, cudaGetErrorString(r_)); exit(1); } } while (0)

typedef long long i64;

__global__ void segmented_sum(const int *__restrict__ segment, const int *__restrict__ value, int n, i64 *__restrict__ sum)
{
	const unsigned full = 0xffffffffu;
	int lane = threadIdx.x & 31;
	int warp = (blockIdx.x * blockDim.x + threadIdx.x) >> 5;
	int warps = (gridDim.x * blockDim.x) >> 5;
	// each warp owns one contiguous stretch and carries an open segment from one step to the next
	int per_warp = (n / 32 + warps - 1) / warps * 32;
	int begin = warp * per_warp, end = min(n, begin + per_warp);
	int carry_segment = -1;
	i64 carry = 0;
	for (int base = begin; base < end; base += 32) {
		int i = base + lane;
		int s = i < end ? segment[i] : -1;
		i64 v = i < end ? value[i] : 0;
		int first = __shfl_sync(full, s, 0);
		if (first == carry_segment) {
			if (lane == 0)
				v += carry;
		} else if (lane == 0 && carry_segment >= 0) {
			atomicAdd((unsigned long long *)&sum[carry_segment], (unsigned long long)carry);
		}
#pragma unroll
		for (int d = 1; d < 32; d *= 2) {
			i64 other = __shfl_up_sync(full, v, d);
			int other_segment = __shfl_up_sync(full, s, d);
			if (lane >= d && other_segment == s)
				v += other;
		}
		int next = __shfl_down_sync(full, s, 1);
		if (lane < 31 && next != s && s >= 0)
			atomicAdd((unsigned long long *)&sum[s], (unsigned long long)v);
		carry_segment = __shfl_sync(full, s, 31);
		carry = __shfl_sync(full, v, 31);
	}
	if (lane == 0 && carry_segment >= 0)
		atomicAdd((unsigned long long *)&sum[carry_segment], (unsigned long long)carry);
}

__global__ void next_values(const int *__restrict__ segment, int *__restrict__ value, int n, const i64 *__restrict__ sum)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		i64 s = sum[segment[i]];
		value[i] = (int)((unsigned)value[i] * 747796405u + (unsigned)(s ^ (s >> 17))) >> 4;
	}
}

static uint32_t wang(uint32_t x)
{
	x = (x ^ 61u) ^ (x >> 16);
	x *= 9u;
	x ^= x >> 4;
	x *= 0x27d4eb2du;
	return x ^ (x >> 15);
}

int main()
{
	const int n = 4000000;
	std::vector<int> segment(n), value(n);
	int segments = 0;
	for (int i = 0; i < n; segments++) {
		uint32_t h = wang(segments + 17u);
		int length = 1 + (int)(h % 9);
		if ((h >> 16) % 64 == 0)
			length = 1 + (int)(wang(h) % 4000);
		for (int k = 0; k < length && i < n; k++, i++) {
			segment[i] = segments;
			value[i] = (int)(wang(i * 2u + 1u) >> 4);
		}
	}
	int *d_segment, *d_value;
	i64 *d_sum;
	CUCHECK(cudaMalloc(&d_segment, n * sizeof(int)));
	CUCHECK(cudaMalloc(&d_value, n * sizeof(int)));
	CUCHECK(cudaMalloc(&d_sum, segments * sizeof(i64)));
	CUCHECK(cudaMemcpy(d_segment, segment.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	CUCHECK(cudaMemcpy(d_value, value.data(), n * sizeof(int), cudaMemcpyHostToDevice));
	cudaStream_t stream;
	CUCHECK(cudaStreamCreate(&stream));
	for (int rep = 0; rep < 3; rep++) {
		CUCHECK(cudaMemsetAsync(d_sum, 0, segments * sizeof(i64), stream));
		segmented_sum<<<396, 320, 0, stream>>>(d_segment, d_value, n, d_sum);
		CUCHECK(cudaGetLastError());
		if (rep < 2) {
			next_values<<<528, 256, 0, stream>>>(d_segment, d_value, n, d_sum);
			CUCHECK(cudaGetLastError());
		}
	}
	CUCHECK(cudaStreamSynchronize(stream));
	std::vector<i64> sum(segments);
	CUCHECK(cudaMemcpy(sum.data(), d_sum, segments * sizeof(i64), cudaMemcpyDeviceToHost));
	uint64_t h = 0x243f6a8885a308d3ull;
	for (i64 s : sum)
		h = (h ^ (uint64_t)s) * 0x9ddfea08eb382d69ull + (h >> 32);
	printf("sum: %016llx\n", (unsigned long long)h);
	printf("segments %d last %lld\n", segments, sum[segments - 1]);
	CUCHECK(cudaStreamDestroy(stream));
	CUCHECK(cudaFree(d_segment));
	CUCHECK(cudaFree(d_value));
	CUCHECK(cudaFree(d_sum));
	return 0;
}
