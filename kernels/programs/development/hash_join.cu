// Hash join of two tables: the build side is inserted with atomicCAS and linear probing, then the probe side looks its keys up.
// Hard for a GPU: every key goes to a random place of a table of tens of megabytes, and probe chains differ between threads.
#include <stdio.h>
#include <stdlib.h>
#include <cstdint>
#include <vector>

typedef unsigned int u32;
typedef unsigned long long u64;

const u64 EMPTY = ~0ull;

static inline void cuda_ok(cudaError_t code, int line)
{
	if (code != cudaSuccess) {
		fprintf(stderr, "CUDA error on line %d: %s\n", line, cudaGetErrorString(code));
		exit(1);
	}
}
#define OK(x) cuda_ok((x), __LINE__)

__host__ __device__ inline u32 murmur(u32 h)
{
	h ^= h >> 16;
	h *= 0x85ebca6b;
	h ^= h >> 13;
	h *= 0xc2b2ae35;
	h ^= h >> 16;
	return h;
}

// key i of the build side; multiplying by an odd number keeps the keys distinct
__host__ __device__ inline u32 build_key(u32 i, u32 round)
{
	return (i + round * 4000000u) * 2654435761u;
}

__global__ void generate(u32 *build_keys, u32 *build_values, u32 builds, u32 *probe_keys, u32 probes, u32 round)
{
	u32 stride = gridDim.x * blockDim.x;
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < builds; i += stride) {
		build_keys[i] = build_key(i, round);
		build_values[i] = murmur(i) & 0xffff;
	}
	for (u32 i = blockIdx.x * blockDim.x + threadIdx.x; i < probes; i += stride) {
		// about three of four probes hit
		u32 pick = murmur(i ^ (round << 28)) % (builds + builds / 3);
		probe_keys[i] = build_key(pick, round);
	}
}

__global__ void insert(const u32 *keys, const u32 *values, u32 count, u64 *table, u32 mask)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= count)
		return;
	u32 key = keys[i];
	u64 entry = (u64)key << 32 | values[i];
	u32 slot = murmur(key) & mask;
	while (atomicCAS(&table[slot], EMPTY, entry) != EMPTY)
		slot = (slot + 1) & mask;
}

__global__ void probe(const u32 *keys, u32 count, const u64 *table, u32 mask, u32 *matched_value, u64 *totals)
{
	u32 i = blockIdx.x * blockDim.x + threadIdx.x;
	u32 value = 0xffffffffu;
	if (i < count) {
		u32 key = keys[i];
		u32 slot = murmur(key) & mask;
		u64 entry;
		while ((entry = table[slot]) != EMPTY) {
			if ((u32)(entry >> 32) == key) {
				value = (u32)entry;
				break;
			}
			slot = (slot + 1) & mask;
		}
		matched_value[i] = value;
	}
	bool hit = value != 0xffffffffu;
	u32 hits = __popc(__ballot_sync(0xffffffffu, hit));
	u32 sum = __reduce_add_sync(0xffffffffu, hit ? value : 0u);
	if ((threadIdx.x & 31) == 0) {
		atomicAdd(&totals[0], (u64)hits);
		atomicAdd(&totals[1], (u64)sum);
	}
}

int main()
{
	const u32 builds = 1500000, probes = 2500000, slots = 1u << 22;
	u32 *build_keys, *build_values, *probe_keys, *matched;
	u64 *table, *totals, host_totals[2];
	OK(cudaMalloc(&build_keys, builds * sizeof(u32)));
	OK(cudaMalloc(&build_values, builds * sizeof(u32)));
	OK(cudaMalloc(&probe_keys, probes * sizeof(u32)));
	OK(cudaMalloc(&matched, probes * sizeof(u32)));
	OK(cudaMalloc(&table, slots * sizeof(u64)));
	OK(cudaMalloc(&totals, sizeof(host_totals)));
	OK(cudaMemset(totals, 0, sizeof(host_totals)));
	std::vector<u32> host(probes);
	u64 h = 0;
	for (u32 round = 0; round < 3; round++) {
		generate<<<528, 256>>>(build_keys, build_values, builds, probe_keys, probes, round);
		OK(cudaGetLastError());
		OK(cudaMemset(table, 0xff, slots * sizeof(u64)));
		insert<<<(builds + 255) / 256, 256>>>(build_keys, build_values, builds, table, slots - 1);
		OK(cudaGetLastError());
		probe<<<(probes + 511) / 512, 512>>>(probe_keys, probes, table, slots - 1, matched, totals);
		OK(cudaGetLastError());
		OK(cudaMemcpy(host.data(), matched, probes * sizeof(u32), cudaMemcpyDeviceToHost));
		for (u32 v : host)
			h = (h + v) * 0x2545f4914f6cdd1dull + (h >> 47);
	}
	OK(cudaMemcpy(host_totals, totals, sizeof(host_totals), cudaMemcpyDeviceToHost));
	printf("matched: %016llx\n", h);
	printf("hits %llu sum %llu\n", host_totals[0], host_totals[1]);
	OK(cudaFree(build_keys));
	OK(cudaFree(build_values));
	OK(cudaFree(probe_keys));
	OK(cudaFree(matched));
	OK(cudaFree(table));
	OK(cudaFree(totals));
	return 0;
}
