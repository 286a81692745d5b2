// The largest 8 of every row by sorted lists in registers merged in shared memory, and the 100th largest of every row by radix selection.
// Hard for a GPU: insertions diverge, merging leaves most threads idle, and histograms of similar exponents make shared atomics collide.
#include <cstdio>
#include <cstdlib>
#include <vector>
#include <cuda_runtime.h>

typedef unsigned long long u64;

static void must(cudaError_t e, const char *at)
{
	if (e != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", at, cudaGetErrorString(e));
		exit(1);
	}
}

__global__ void make_scores(float4 *out, int quads)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= quads)
		return;
	float v[4];
	for (int j = 0; j < 4; j++) {
		unsigned h = (i * 4 + j) * 0x9e3779b1u;
		h = (h ^ (h >> 16)) * 0x21f0aaadu;
		h = (h ^ (h >> 15)) * 0x735a2d97u;
		h ^= h >> 15;
		// the sum of four bytes: a bell around zero
		v[j] = (float)((h & 255) + (h >> 8 & 255) + (h >> 16 & 255) + (h >> 24)) * 0.015625f - 7.96875f + (float)(h & 0xfff) * 1e-6f;
	}
	out[i] = make_float4(v[0], v[1], v[2], v[3]);
}

// floats to integers of the same order
__device__ __forceinline__ unsigned ordered(float f)
{
	unsigned b = __float_as_uint(f);
	return b & 0x80000000u ? ~b : b | 0x80000000u;
}

template <int K> __device__ __forceinline__ void insert(u64 (&list)[K], u64 x)
{
	if (x <= list[K - 1])
		return;
	list[K - 1] = x;
#pragma unroll
	for (int i = K - 1; i > 0; i--)
		if (list[i] > list[i - 1]) {
			u64 t = list[i];
			list[i] = list[i - 1];
			list[i - 1] = t;
		}
}

template <int K, int THREADS> __global__ void __launch_bounds__(THREADS) topk(const float *scores, int columns, u64 *best)
{
	__shared__ u64 lists[K][THREADS];
	const float4 *row = (const float4 *)(scores + (size_t)blockIdx.x * columns);
	u64 mine[K];
#pragma unroll
	for (int i = 0; i < K; i++)
		mine[i] = 0;
	for (int c = threadIdx.x; c < columns / 4; c += THREADS) {
		float4 v = __ldg(row + c);
		insert<K>(mine, (u64)ordered(v.x) << 32 | (unsigned)~(c * 4));
		insert<K>(mine, (u64)ordered(v.y) << 32 | (unsigned)~(c * 4 + 1));
		insert<K>(mine, (u64)ordered(v.z) << 32 | (unsigned)~(c * 4 + 2));
		insert<K>(mine, (u64)ordered(v.w) << 32 | (unsigned)~(c * 4 + 3));
	}
#pragma unroll
	for (int i = 0; i < K; i++)
		lists[i][threadIdx.x] = mine[i];
	for (int half = THREADS / 2; half > 0; half /= 2) {
		__syncthreads();
		if ((int)threadIdx.x < half) {
			u64 merged[K];
			int a = 0, b = 0;
			for (int i = 0; i < K; i++) {
				u64 x = lists[a][threadIdx.x], y = lists[b][threadIdx.x + half];
				merged[i] = x > y ? x : y;
				if (x > y)
					a++;
				else
					b++;
			}
			for (int i = 0; i < K; i++)
				lists[i][threadIdx.x] = merged[i];
		}
	}
	if (threadIdx.x < K)
		best[(size_t)blockIdx.x * K + threadIdx.x] = lists[threadIdx.x][0];
}

struct Selected {
	unsigned kth, above;
	u64 sum;
};

__global__ void radix_select(const float *scores, int columns, int k, Selected *result)
{
	extern __shared__ unsigned keys[];
	__shared__ unsigned bins[256], digit, rank, above;
	__shared__ u64 sum;
	const float *row = scores + (size_t)blockIdx.x * columns;
	for (int c = threadIdx.x; c < columns; c += blockDim.x)
		keys[c] = ordered(row[c]);
	if (threadIdx.x == 0) {
		rank = k;
		above = 0;
		sum = 0;
	}
	unsigned prefix = 0, mask = 0;
	for (int shift = 24; shift >= 0; shift -= 8) {
		for (int i = threadIdx.x; i < 256; i += blockDim.x)
			bins[i] = 0;
		__syncthreads();
		for (int c = threadIdx.x; c < columns; c += blockDim.x)
			if ((keys[c] & mask) == prefix)
				atomicAdd(&bins[keys[c] >> shift & 255], 1u);
		__syncthreads();
		if (threadIdx.x == 0) {
			unsigned left = rank;
			int d = 255;
			while (bins[d] < left)
				left -= bins[d--];
			digit = d;
			rank = left;
		}
		__syncthreads();
		prefix |= digit << shift;
		mask |= 255u << shift;
	}
	unsigned n = 0;
	u64 s = 0;
	for (int c = threadIdx.x; c < columns; c += blockDim.x)
		if (keys[c] > prefix) {
			n++;
			s += (u64)keys[c] * (2 * c + 1);
		}
	if (n) {
		atomicAdd(&above, n);
		atomicAdd(&sum, s);
	}
	__syncthreads();
	if (threadIdx.x == 0)
		result[blockIdx.x] = {prefix, above, sum};
}

static u64 fnv1a(const void *p, size_t n)
{
	u64 h = 0xcbf29ce484222325ull;
	for (size_t i = 0; i < n; i++)
		h = (h ^ ((const unsigned char *)p)[i]) * 0x100000001b3ull;
	return h;
}

int main()
{
	const int rows = 1400, columns = 10000, k = 8;
	float *scores;
	u64 *best;
	Selected *selected;
	size_t n = (size_t)rows * columns;
	must(cudaMalloc(&scores, n * sizeof(float)), "scores");
	must(cudaMalloc(&best, rows * k * sizeof(u64)), "best");
	must(cudaMalloc(&selected, rows * sizeof(Selected)), "selected");
	make_scores<<<(unsigned)((n / 4 + 255) / 256), 256>>>((float4 *)scores, (int)(n / 4));
	must(cudaGetLastError(), "make_scores");
	topk<k, 128><<<rows, 128>>>(scores, columns, best);
	must(cudaGetLastError(), "topk");
	radix_select<<<rows, 448, columns * sizeof(unsigned)>>>(scores, columns, 100, selected);
	must(cudaGetLastError(), "radix_select");
	must(cudaDeviceSynchronize(), "synchronize");
	std::vector<u64> host_best(rows * k);
	std::vector<Selected> host_selected(rows);
	must(cudaMemcpy(host_best.data(), best, rows * k * sizeof(u64), cudaMemcpyDeviceToHost), "copy");
	must(cudaMemcpy(host_selected.data(), selected, rows * sizeof(Selected), cudaMemcpyDeviceToHost), "copy");
	printf("top %d: %016llx\n", k, fnv1a(host_best.data(), rows * k * sizeof(u64)));
	printf("selected: %016llx\n", fnv1a(host_selected.data(), rows * sizeof(Selected)));
	must(cudaFree(scores), "free");
	must(cudaFree(best), "free");
	must(cudaFree(selected), "free");
	return 0;
}
