// Lock-free open-addressing hash table on the GPU: insert with atomicCAS and linear probing, lookups per thread and per 8-lane tile, deletes, counting.
// Hard for a GPU: every probe is a random access to a table larger than L1, probe lengths diverge within a warp, and duplicate keys collide on atomics.
#include <cstdio>
#include <cstdlib>
#include <cstdint>
#include <vector>
#include <cooperative_groups.h>
namespace cg = cooperative_groups;

struct KeyValue {
	uint32_t key;
	uint32_t value;
};

const uint32_t kCapacity = 1u << 21;
const uint32_t kNumInserts = 1400000;   // with about 10% duplicates
const uint32_t kNumLookups = 1000000;
const uint32_t kEmpty = 0xffffffffu;
const uint32_t kDeleted = 0xfffffffeu;  // stored as value

#define GPU_CHECK(ans) { gpuAssert((ans), __FILE__, __LINE__); }
inline void gpuAssert(cudaError_t code, const char *file, int line)
{
	if (code != cudaSuccess) {
		fprintf(stderr, "GPU_CHECK: %s %s %d\n", cudaGetErrorString(code), file, line);
		exit(code);
	}
}

// 32 bit Murmur3 finaliser
__host__ __device__ inline uint32_t murmur(uint32_t k)
{
	k ^= k >> 16;
	k *= 0x85ebca6b;
	k ^= k >> 13;
	k *= 0xc2b2ae35;
	k ^= k >> 16;
	return k;
}

__host__ __device__ inline uint32_t key_of(uint32_t i) { return murmur(i % 1260000u + 0x12345u) & 0x7fffffffu; }

__global__ void gpu_generate(KeyValue *kvs, uint32_t n)
{
	uint32_t i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n) return;
	kvs[i].key = key_of(i);
	kvs[i].value = murmur(i ^ 0xabcdef) >> 4;
}

__global__ void gpu_hashtable_insert(KeyValue *hashtable, const KeyValue *kvs, unsigned int numkvs, unsigned int *fresh)
{
	unsigned int threadid = blockIdx.x * blockDim.x + threadIdx.x;
	if (threadid < numkvs) {
		uint32_t key = kvs[threadid].key;
		uint32_t value = kvs[threadid].value;
		uint32_t slot = murmur(key) & (kCapacity - 1);
		while (true) {
			uint32_t prev = atomicCAS(&hashtable[slot].key, kEmpty, key);
			if (prev == kEmpty || prev == key) {
				// the largest value wins, so the result does not depend on the order
				atomicMax((int *)&hashtable[slot].value, (int)value);
				if (prev == kEmpty) atomicAdd(fresh, 1u);
				return;
			}
			slot = (slot + 1) & (kCapacity - 1);
		}
	}
}

__global__ void gpu_clear(uint4 *table, unsigned int n4)
{
	unsigned int i = blockIdx.x * blockDim.x + threadIdx.x;
	// value -1 is smaller than every valid value when compared as int
	if (i < n4) table[i] = make_uint4(kEmpty, 0xffffffffu, kEmpty, 0xffffffffu);
}

__global__ void gpu_hashtable_lookup(const KeyValue *__restrict__ hashtable, uint32_t *__restrict__ out, unsigned int n, uint32_t salt)
{
	unsigned int threadid = blockIdx.x * blockDim.x + threadIdx.x;
	if (threadid >= n) return;
	// every third key is not in the table
	uint32_t r = murmur(threadid * 3u + salt);
	uint32_t key = (threadid % 3 == 2) ? (r | 0x80000000u) & 0xefffffffu : key_of(r % 1260000u);
	uint32_t slot = murmur(key) & (kCapacity - 1);
	uint32_t result = 0;
	while (true) {
		uint2 kv = __ldg((const uint2 *)&hashtable[slot]);
		if (kv.x == key) {
			result = kv.y;
			break;
		}
		if (kv.x == kEmpty) break;
		slot = (slot + 1) & (kCapacity - 1);
	}
	out[threadid] = result;
}

// eight lanes probe eight consecutive slots at once
__global__ void __launch_bounds__(256) gpu_lookup_tile(const KeyValue *__restrict__ hashtable, uint32_t *__restrict__ out, unsigned int n, uint32_t salt)
{
	auto tile = cg::tiled_partition<8>(cg::this_thread_block());
	unsigned int q = (blockIdx.x * blockDim.x + threadIdx.x) / 8;
	if (q >= n) return;
	uint32_t r = murmur(q * 3u + salt);
	uint32_t key = (q % 3 == 2) ? (r | 0x80000000u) & 0xefffffffu : key_of(r % 1260000u);
	uint32_t slot = murmur(key) & (kCapacity - 1);
	uint32_t result = 0;
	for (;;) {
		uint2 kv = __ldg((const uint2 *)&hashtable[(slot + tile.thread_rank()) & (kCapacity - 1)]);
		unsigned hit = tile.ballot(kv.x == key);
		unsigned hole = tile.ballot(kv.x == kEmpty);
		if (hit) {
			result = tile.shfl(kv.y, __ffs(hit) - 1);
			break;
		}
		if (hole) break;
		slot += 8;
	}
	if (tile.thread_rank() == 0) out[q] = result;
}

__global__ void gpu_hashtable_delete(KeyValue *hashtable, unsigned int n, unsigned int *removed)
{
	unsigned int threadid = blockIdx.x * blockDim.x + threadIdx.x;
	if (threadid >= n) return;
	uint32_t key = key_of(threadid * 7u);
	uint32_t slot = murmur(key) & (kCapacity - 1);
	while (true) {
		uint32_t k = hashtable[slot].key;
		if (k == key) {
			if (atomicExch(&hashtable[slot].value, kDeleted) != kDeleted) atomicAdd(removed, 1u);
			return;
		}
		if (k == kEmpty) return;
		slot = (slot + 1) & (kCapacity - 1);
	}
}

__global__ void gpu_iterate(const KeyValue *hashtable, unsigned long long *sums)
{
	unsigned long long x = 0, live = 0;
	for (uint32_t i = blockIdx.x * blockDim.x + threadIdx.x; i < kCapacity; i += gridDim.x * blockDim.x) {
		KeyValue kv = hashtable[i];
		if (kv.key != kEmpty && kv.value != kDeleted) {
			x += murmur(kv.key * 31u + kv.value);
			live++;
		}
	}
	for (int o = 16; o; o >>= 1) {
		x += __shfl_down_sync(0xffffffffu, x, o);
		live += __shfl_down_sync(0xffffffffu, live, o);
	}
	if ((threadIdx.x & 31) == 0) {
		atomicAdd(&sums[0], x);
		atomicAdd(&sums[1], live);
	}
}

int main()
{
	KeyValue *table, *kvs;
	uint32_t *out;
	unsigned int *counters;
	unsigned long long *sums;
	GPU_CHECK(cudaMalloc(&table, sizeof(KeyValue) * kCapacity));
	GPU_CHECK(cudaMalloc(&kvs, sizeof(KeyValue) * kNumInserts));
	GPU_CHECK(cudaMalloc(&out, 4 * kNumLookups));
	GPU_CHECK(cudaMalloc(&counters, 8));
	GPU_CHECK(cudaMalloc(&sums, 16));
	GPU_CHECK(cudaMemset(counters, 0, 8));
	GPU_CHECK(cudaMemset(sums, 0, 16));

	gpu_clear<<<kCapacity / 2 / 256, 256>>>((uint4 *)table, kCapacity / 2);
	gpu_generate<<<(kNumInserts + 255) / 256, 256>>>(kvs, kNumInserts);
	// in two halves: the second works on a fuller table
	uint32_t half = kNumInserts / 2;
	gpu_hashtable_insert<<<(half + 1023) / 1024, 1024>>>(table, kvs, half, counters);
	gpu_hashtable_insert<<<(kNumInserts - half + 1023) / 1024, 1024>>>(table, kvs + half, kNumInserts - half, counters);
	GPU_CHECK(cudaGetLastError());

	std::vector<uint32_t> h(kNumLookups);
	for (int round = 0; round < 2; round++) {
		uint32_t nq = round == 0 ? kNumLookups : kNumLookups / 2;
		GPU_CHECK(cudaMemset(out, 0, 4 * kNumLookups));
		if (round == 0)
			gpu_hashtable_lookup<<<(nq + 127) / 128, 128>>>(table, out, nq, 17u);
		else
			gpu_lookup_tile<<<(nq * 8 + 255) / 256, 256>>>(table, out, nq, 17u);
		GPU_CHECK(cudaGetLastError());
		GPU_CHECK(cudaMemcpy(h.data(), out, 4 * kNumLookups, cudaMemcpyDeviceToHost));
		uint64_t s = 0;
		for (uint32_t i = 0; i < nq; i++) s = s * 6364136223846793005ull + h[i] + 1;
		printf("lookup %d: %016llx\n", round, (unsigned long long)s);
	}
	gpu_hashtable_delete<<<(300000 + 191) / 192, 192>>>(table, 300000, counters + 1);
	gpu_iterate<<<264, 512>>>(table, sums);
	GPU_CHECK(cudaGetLastError());
	unsigned int c[2];
	unsigned long long t[2];
	GPU_CHECK(cudaMemcpy(c, counters, 8, cudaMemcpyDeviceToHost));
	GPU_CHECK(cudaMemcpy(t, sums, 16, cudaMemcpyDeviceToHost));
	printf("fresh %u removed %u live %llu hash %016llx\n", c[0], c[1], t[1], t[0]);
	GPU_CHECK(cudaFree(table));
	GPU_CHECK(cudaFree(kvs));
	GPU_CHECK(cudaFree(out));
	return 0;
}
