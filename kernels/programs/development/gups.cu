// Random-access benchmark: every thread runs its own random stream and xors values into a 64 MB table with atomics.
// Hard for a GPU: no locality at all, each update moves a full memory sector, and the table is larger than the L2 cache.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <cuda_runtime.h>

using u64 = unsigned long long;

#define RUN(statement) \
	do { \
		cudaError_t code = (statement); \
		if (code != cudaSuccess) { \
			fprintf(stderr, "%s\n  %s\n", #statement, cudaGetErrorString(code)); \
			exit(1); \
		} \
	} while (0)

__device__ __forceinline__ u64 scramble(u64 x)
{
	x ^= x >> 33;
	x *= 0xff51afd7ed558ccdull;
	x ^= x >> 33;
	x *= 0xc4ceb9fe1a85ec53ull;
	return x ^ (x >> 33);
}

__global__ void fill(u64 *table, u64 size)
{
	for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x)
		table[i] = i;
}

template <int UPDATES>
__global__ void update(u64 *table, u64 mask, u64 seed)
{
	u64 x = scramble(seed + blockIdx.x * blockDim.x + threadIdx.x + 1);
	for (int k = 0; k < UPDATES; k++) {
		// the classic generator of this benchmark: shift left, feed back 7 when the top bit falls out
		x = (x << 1) ^ ((long long)x < 0 ? 7ull : 0ull);
		u64 slot = (x * 0x9e3779b97f4a7c15ull >> 32) & mask;
		atomicXor(&table[slot], x);
	}
}

// order of the updates does not matter for xor, so the table has one possible end state
__global__ void checksum(const u64 *table, u64 size, u64 *result)
{
	u64 sum = 0, touched = 0;
	for (u64 i = blockIdx.x * blockDim.x + threadIdx.x; i < size; i += gridDim.x * blockDim.x) {
		u64 v = table[i];
		sum += scramble(v + i * 0x632be59bd9b4e019ull);
		touched += v != i;
	}
	for (int d = 16; d > 0; d /= 2) {
		sum += __shfl_down_sync(0xffffffffu, sum, d);
		touched += __shfl_down_sync(0xffffffffu, touched, d);
	}
	if (threadIdx.x % 32 == 0) {
		atomicAdd(&result[0], sum);
		atomicAdd(&result[1], touched);
	}
}

int main()
{
	const u64 size = 1ull << 23;
	const int threads = 1 << 18, block = 512, rounds = 4;
	u64 *table, *result, host_result[2] = {0, 0};
	cudaStream_t stream;
	RUN(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	RUN(cudaMalloc(&table, size * sizeof(u64)));
	RUN(cudaMalloc(&result, sizeof(host_result)));
	RUN(cudaMemsetAsync(result, 0, sizeof(host_result), stream));
	fill<<<1056, 256, 0, stream>>>(table, size);
	RUN(cudaGetLastError());
	for (int r = 0; r < rounds; r++) {
		update<12><<<threads / block, block, 0, stream>>>(table, size - 1, (u64)r << 40);
		RUN(cudaGetLastError());
	}
	checksum<<<1056, 256, 0, stream>>>(table, size, result);
	RUN(cudaGetLastError());
	RUN(cudaMemcpyAsync(host_result, result, sizeof(host_result), cudaMemcpyDeviceToHost, stream));
	RUN(cudaStreamSynchronize(stream));
	printf("table: %016llx\n", host_result[0]);
	printf("updates %d touched %llu\n", threads * 12 * rounds, host_result[1]);
	RUN(cudaFree(table));
	RUN(cudaFree(result));
	RUN(cudaStreamDestroy(stream));
	return 0;
}
