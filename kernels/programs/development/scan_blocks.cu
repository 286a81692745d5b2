// Exclusive prefix sum over 16 million integers in three kernels: scan within blocks, scan of the block sums, add the offsets.
// Hard for a GPU: little arithmetic per byte, and shuffles and barriers lie between the loads and the stores.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CUDA_CALL(call) \
	do { \
		cudaError_t err = (call); \
		if (err != cudaSuccess) { \
			fprintf(stderr, "%s failed: %s (%s)\n", #call, cudaGetErrorName(err), cudaGetErrorString(err)); \
			exit(EXIT_FAILURE); \
		} \
	} while (0)

constexpr int THREADS = 1024;
constexpr int ITEMS = 4;
constexpr int TILE = THREADS * ITEMS;

__device__ __forceinline__ unsigned warp_inclusive(unsigned v)
{
	const int lane = threadIdx.x & 31;
#pragma unroll
	for (int d = 1; d < 32; d <<= 1) {
		unsigned other = __shfl_up_sync(0xffffffffu, v, d);
		if (lane >= d)
			v += other;
	}
	return v;
}

// exclusive sum over the threads of a full block; total gets the sum of all
__device__ unsigned block_exclusive(unsigned v, unsigned &total)
{
	__shared__ unsigned warp_sums[32];
	const int lane = threadIdx.x & 31, warp = threadIdx.x >> 5;
	unsigned inclusive = warp_inclusive(v);
	if (lane == 31)
		warp_sums[warp] = inclusive;
	__syncthreads();
	if (warp == 0)
		warp_sums[lane] = warp_inclusive(warp_sums[lane]);
	__syncthreads();
	total = warp_sums[31];
	return inclusive - v + (warp > 0 ? warp_sums[warp - 1] : 0);
}

__global__ void __launch_bounds__(THREADS) scan_tiles(const uint4 *__restrict__ in, uint4 *__restrict__ out,
	unsigned *__restrict__ tile_sums)
{
	const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
	uint4 v = in[i];
	unsigned total;
	unsigned before = block_exclusive(v.x + v.y + v.z + v.w, total);
	uint4 r;
	r.x = before;
	r.y = r.x + v.x;
	r.z = r.y + v.y;
	r.w = r.z + v.z;
	out[i] = r;
	if (threadIdx.x == 0)
		tile_sums[blockIdx.x] = total;
}

__global__ void __launch_bounds__(THREADS) scan_sums(unsigned *sums, int count)
{
	unsigned carry = 0;
	for (int base = 0; base < count; base += THREADS) {
		int i = base + threadIdx.x;
		unsigned v = i < count ? sums[i] : 0;
		unsigned total;
		unsigned before = block_exclusive(v, total);
		if (i < count)
			sums[i] = carry + before;
		carry += total;
		__syncthreads();
	}
}

__global__ void add_offsets(uint4 *__restrict__ out, const unsigned *__restrict__ tile_sums)
{
	const size_t i = (size_t)blockIdx.x * THREADS + threadIdx.x;
	unsigned offset = tile_sums[blockIdx.x];
	uint4 v = out[i];
	out[i] = make_uint4(v.x + offset, v.y + offset, v.z + offset, v.w + offset);
}

int main()
{
	const int n = 1 << 24, tiles = n / TILE;
	std::vector<unsigned> host(n);
	for (int i = 0; i < n; i++) {
		unsigned h = (unsigned)i * 0x9e3779b9u;
		h ^= h >> 16;
		host[i] = (h * 0x21f0aaadu) >> 24;
	}
	unsigned *a, *b, *sums;
	CUDA_CALL(cudaMalloc(&a, n * sizeof(unsigned)));
	CUDA_CALL(cudaMalloc(&b, n * sizeof(unsigned)));
	CUDA_CALL(cudaMalloc(&sums, tiles * sizeof(unsigned)));
	CUDA_CALL(cudaMemcpy(a, host.data(), n * sizeof(unsigned), cudaMemcpyHostToDevice));
	// scanning the result again gives iterated sums modulo 2^32
	for (int rep = 0; rep < 3; rep++) {
		scan_tiles<<<tiles, THREADS>>>((const uint4 *)a, (uint4 *)b, sums);
		CUDA_CALL(cudaGetLastError());
		scan_sums<<<1, THREADS>>>(sums, tiles);
		CUDA_CALL(cudaGetLastError());
		add_offsets<<<tiles, THREADS>>>((uint4 *)b, sums);
		CUDA_CALL(cudaGetLastError());
		unsigned *t = a;
		a = b;
		b = t;
	}
	CUDA_CALL(cudaMemcpy(host.data(), a, n * sizeof(unsigned), cudaMemcpyDeviceToHost));
	uint64_t h = 0;
	for (int i = 0; i < n; i++)
		h = (h + host[i] + 1) * 0xd1342543de82ef95ull;
	printf("scan: %016llx\n", (unsigned long long)h);
	printf("middle %u last %u\n", host[n / 2], host[n - 1]);
	CUDA_CALL(cudaFree(a));
	CUDA_CALL(cudaFree(b));
	CUDA_CALL(cudaFree(sums));
	return 0;
}
