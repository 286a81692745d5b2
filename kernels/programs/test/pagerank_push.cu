// PageRank in 64-bit fixed point by pushing: every vertex adds its share to its successors with atomics; hubs are spread over a warp.
// Hard for a GPU: millions of scattered 64-bit atomics, many of them on the same popular vertices, and power-law out-degrees.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <cuda_runtime.h>

static inline void ok(cudaError_t e, int line)
{
	if (e == cudaSuccess)
		return;
	fprintf(stderr, "line %d: %s\n", line, cudaGetErrorString(e));
	exit(2);
}
#define OK(e) ok(e, __LINE__)

typedef unsigned long long u64;
const u64 ONE = 1ull << 40;

__global__ void start(u64 *rank, u64 *next, int n)
{
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	if (v < n) {
		rank[v] = ONE;
		next[v] = 0;
	}
}

__global__ void push(const int *__restrict__ row, const int *__restrict__ dst, const u64 *__restrict__ rank, u64 *next, int n, u64 *dangling)
{
	const int hub = 48;
	int v = blockIdx.x * blockDim.x + threadIdx.x;
	int lane = threadIdx.x & 31;
	int begin = 0, end = 0;
	u64 share = 0, lost = 0;
	if (v < n) {
		begin = row[v];
		end = row[v + 1];
		u64 r = rank[v] * 85 / 100;
		if (end > begin)
			share = r / (unsigned)(end - begin);
		else
			lost = r;
	}
	// hubs first, the warp together
	unsigned hubs = __ballot_sync(~0u, end - begin >= hub);
	while (hubs) {
		int leader = __ffs(hubs) - 1;
		hubs &= hubs - 1;
		int b = __shfl_sync(~0u, begin, leader), e = __shfl_sync(~0u, end, leader);
		u64 s = __shfl_sync(~0u, share, leader);
		for (int i = b + lane; i < e; i += 32)
			atomicAdd(&next[dst[i]], s);
	}
	if (end - begin < hub)
		for (int i = begin; i < end; i++)
			atomicAdd(&next[dst[i]], share);
	for (int m = 16; m; m /= 2)
		lost += __shfl_down_sync(~0u, lost, m);
	if (lane == 0 && lost)
		atomicAdd(dangling, lost);
}

__global__ void update(u64 *rank, u64 *next, int n, const u64 *dangling, u64 *moved)
{
	__shared__ u64 part[32];
	u64 base = ONE * 15 / 100 + *dangling / (unsigned)n, diff = 0;
	for (int v = blockIdx.x * blockDim.x + threadIdx.x; v < n; v += gridDim.x * blockDim.x) {
		u64 r = base + next[v], old = rank[v];
		diff += r > old ? r - old : old - r;
		rank[v] = r;
		next[v] = 0;
	}
	for (int m = 16; m; m /= 2)
		diff += __shfl_down_sync(~0u, diff, m);
	if ((threadIdx.x & 31) == 0)
		part[threadIdx.x / 32] = diff;
	__syncthreads();
	if (threadIdx.x == 0) {
		for (unsigned w = 1; w < blockDim.x / 32; w++)
			diff += part[w];
		atomicAdd(moved, diff);
	}
}

int main()
{
	const int n = 350000, iterations = 4;
	uint32_t seed = 12345;
	auto random = [&seed]() {
		seed ^= seed << 13;
		seed ^= seed >> 17;
		seed ^= seed << 5;
		return seed;
	};
	std::vector<int> row(n + 1), dst;
	dst.reserve(5000000);
	for (int v = 0; v < n; v++) {
		row[v] = (int)dst.size();
		uint32_t r = random();
		int degree = r % 16 == 0 ? 0 : 4 + (r >> 4) % 10;
		if (r % 101 == 1)
			degree = 40 + (r >> 9) % 400;
		for (int i = 0; i < degree; i++) {
			uint32_t a = random() >> 8;
			// a quarter of all links goes to the first thousand vertices
			if ((a & 3) == 0)
				dst.push_back((int)((a >> 2) % 1000u * (a >> 12) / 4096u % 1000u));
			else
				dst.push_back((int)(random() % n));
		}
	}
	row[n] = (int)dst.size();
	int *d_row, *d_dst;
	u64 *rank, *next, *sums;
	OK(cudaMalloc(&d_row, sizeof(int) * (n + 1)));
	OK(cudaMalloc(&d_dst, sizeof(int) * dst.size()));
	OK(cudaMalloc(&rank, sizeof(u64) * n));
	OK(cudaMalloc(&next, sizeof(u64) * n));
	OK(cudaMalloc(&sums, sizeof(u64) * 2 * iterations));
	OK(cudaMemcpy(d_row, row.data(), sizeof(int) * (n + 1), cudaMemcpyHostToDevice));
	OK(cudaMemcpy(d_dst, dst.data(), sizeof(int) * dst.size(), cudaMemcpyHostToDevice));
	OK(cudaMemset(sums, 0, sizeof(u64) * 2 * iterations));
	start<<<(n + 1023) / 1024, 1024>>>(rank, next, n);
	for (int i = 0; i < iterations; i++) {
		push<<<(n + 127) / 128, 128>>>(d_row, d_dst, rank, next, n, sums + 2 * i);
		OK(cudaGetLastError());
		update<<<200, 384>>>(rank, next, n, sums + 2 * i, sums + 2 * i + 1);
		OK(cudaGetLastError());
	}
	OK(cudaDeviceSynchronize());
	std::vector<u64> result(n);
	u64 moved[2 * iterations];
	OK(cudaMemcpy(result.data(), rank, sizeof(u64) * n, cudaMemcpyDeviceToHost));
	OK(cudaMemcpy(moved, sums, sizeof(moved), cudaMemcpyDeviceToHost));
	u64 h = 14695981039346656037ull;
	for (u64 r : result)
		for (int b = 0; b < 64; b += 8)
			h = (h ^ (r >> b & 255)) * 1099511628211ull;
	printf("%zu links, ranks %016llx\n", dst.size(), h);
	printf("moved %llu -> %llu\n", moved[1], moved[2 * iterations - 1]);
	OK(cudaFree(d_row));
	OK(cudaFree(d_dst));
	OK(cudaFree(rank));
	OK(cudaFree(next));
	OK(cudaFree(sums));
	return 0;
}
