// SELECT key, count(*), sum(v), max(v) GROUP BY key: every block aggregates into a hash table in shared memory and spills into a global one.
// Hard for a GPU: skewed keys make atomics of many lanes meet, the table takes 80 KB of shared memory, and the flush at the end is scattered.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <tuple>
#include <vector>

#define GPU(x)                                                                      \
	do {                                                                        \
		cudaError_t rc = (x);                                               \
		if (rc != cudaSuccess) {                                            \
			fprintf(stderr, "%s failed: %s\n", #x, cudaGetErrorString(rc)); \
			exit(1);                                                    \
		}                                                                   \
	} while (0)

constexpr uint32_t NONE = 0xffffffffu;
constexpr int LOCAL_SLOTS = 4096, GLOBAL_SLOTS = 1 << 17;

struct Table {
	uint32_t *key, *count, *largest;
	unsigned long long *sum;
};

__device__ inline uint32_t scramble(uint32_t h)
{
	h ^= h >> 16;
	h *= 0x85ebca6b;
	h ^= h >> 13;
	h *= 0xc2b2ae35;
	return h ^ (h >> 16);
}

__global__ void make_rows(uint32_t *key, uint32_t *value, int rows)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < rows; i += gridDim.x * blockDim.x) {
		uint32_t r = scramble(i * 2 + 1);
		uint32_t group;
		if (r % 8 < 3)
			group = (r >> 3) % 7; // a few very hot groups
		else if (r % 8 < 7)
			group = 7 + (r >> 3) % 2500;
		else
			group = 3000 + (r >> 3) % 40000;
		key[i] = group * 2246822519u;
		value[i] = scramble(i * 2) & 0xfffff;
	}
}

__device__ void add_global(const Table &t, uint32_t key, uint32_t count, uint32_t largest, unsigned long long sum)
{
	uint32_t slot = scramble(key) & (GLOBAL_SLOTS - 1);
	for (;;) {
		uint32_t old = t.key[slot];
		if (old == NONE)
			old = atomicCAS(&t.key[slot], NONE, key);
		if (old == NONE || old == key)
			break;
		slot = (slot + 1) & (GLOBAL_SLOTS - 1);
	}
	atomicAdd(&t.count[slot], count);
	atomicMax(&t.largest[slot], largest);
	atomicAdd(&t.sum[slot], sum);
}

__global__ void __launch_bounds__(512, 2) aggregate(const uint4 *keys, const uint4 *values, int quads, Table t)
{
	extern __shared__ unsigned long long shared_memory[];
	unsigned long long *sum = shared_memory;
	uint32_t *key = (uint32_t *)(sum + LOCAL_SLOTS), *count = key + LOCAL_SLOTS, *largest = count + LOCAL_SLOTS;
	for (int i = threadIdx.x; i < LOCAL_SLOTS; i += blockDim.x) {
		sum[i] = 0;
		key[i] = NONE;
		count[i] = largest[i] = 0;
	}
	__syncthreads();
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < quads; i += gridDim.x * blockDim.x) {
		uint4 kq = keys[i], vq = values[i];
		uint32_t k[4] = {kq.x, kq.y, kq.z, kq.w}, v[4] = {vq.x, vq.y, vq.z, vq.w};
#pragma unroll
		for (int j = 0; j < 4; j++) {
			uint32_t slot = scramble(k[j]) >> 20;
			bool done = false;
			for (int probe = 0; probe < 6 && !done; probe++) {
				uint32_t old = atomicCAS(&key[slot], NONE, k[j]);
				if (old == NONE || old == k[j]) {
					atomicAdd(&count[slot], 1u);
					atomicMax(&largest[slot], v[j]);
					atomicAdd(&sum[slot], (unsigned long long)v[j]);
					done = true;
				}
				slot = (slot + 1) & (LOCAL_SLOTS - 1);
			}
			if (!done)
				add_global(t, k[j], 1, v[j], v[j]);
		}
	}
	__syncthreads();
	for (int i = threadIdx.x; i < LOCAL_SLOTS; i += blockDim.x)
		if (key[i] != NONE)
			add_global(t, key[i], count[i], largest[i], sum[i]);
}

// moves the used slots together; the order is whatever the blocks make it
__global__ void compact(Table t, uint32_t *used, Table out)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	bool keep = t.key[i] != NONE;
	unsigned mask = __ballot_sync(0xffffffff, keep);
	int lane = threadIdx.x & 31;
	uint32_t base = 0;
	if (lane == 0 && mask)
		base = atomicAdd(used, __popc(mask));
	base = __shfl_sync(0xffffffff, base, 0);
	if (keep) {
		uint32_t to = base + __popc(mask & ((1u << lane) - 1));
		out.key[to] = t.key[i];
		out.count[to] = t.count[i];
		out.largest[to] = t.largest[i];
		out.sum[to] = t.sum[i];
	}
}

static Table new_table()
{
	Table t;
	GPU(cudaMalloc(&t.key, GLOBAL_SLOTS * 4));
	GPU(cudaMalloc(&t.count, GLOBAL_SLOTS * 4));
	GPU(cudaMalloc(&t.largest, GLOBAL_SLOTS * 4));
	GPU(cudaMalloc(&t.sum, GLOBAL_SLOTS * 8));
	GPU(cudaMemset(t.key, 0xff, GLOBAL_SLOTS * 4));
	GPU(cudaMemset(t.count, 0, GLOBAL_SLOTS * 4));
	GPU(cudaMemset(t.largest, 0, GLOBAL_SLOTS * 4));
	GPU(cudaMemset(t.sum, 0, GLOBAL_SLOTS * 8));
	return t;
}

static void free_table(Table t)
{
	GPU(cudaFree(t.key));
	GPU(cudaFree(t.count));
	GPU(cudaFree(t.largest));
	GPU(cudaFree(t.sum));
}

int main()
{
	const int rows = 5 << 20;
	uint32_t *key, *value, *used, groups = 0;
	GPU(cudaMalloc(&key, rows * 4));
	GPU(cudaMalloc(&value, rows * 4));
	GPU(cudaMalloc(&used, 4));
	GPU(cudaMemset(used, 0, 4));
	Table table = new_table(), packed = new_table();
	make_rows<<<1056, 128>>>(key, value, rows);
	GPU(cudaGetLastError());
	int shared_bytes = LOCAL_SLOTS * 20;
	GPU(cudaFuncSetAttribute(aggregate, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
	aggregate<<<264, 512, shared_bytes>>>((uint4 *)key, (uint4 *)value, rows / 4, table);
	GPU(cudaGetLastError());
	compact<<<GLOBAL_SLOTS / 1024, 1024>>>(table, used, packed);
	GPU(cudaGetLastError());
	GPU(cudaMemcpy(&groups, used, 4, cudaMemcpyDeviceToHost));
	std::vector<uint32_t> k(groups), c(groups), m(groups);
	std::vector<unsigned long long> s(groups);
	GPU(cudaMemcpy(k.data(), packed.key, groups * 4, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(c.data(), packed.count, groups * 4, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(m.data(), packed.largest, groups * 4, cudaMemcpyDeviceToHost));
	GPU(cudaMemcpy(s.data(), packed.sum, groups * 8, cudaMemcpyDeviceToHost));
	std::vector<std::tuple<uint32_t, uint32_t, uint32_t, unsigned long long>> result;
	for (uint32_t i = 0; i < groups; i++)
		result.emplace_back(k[i], c[i], m[i], s[i]);
	std::sort(result.begin(), result.end());
	uint64_t h = 0xcbf29ce484222325ull, total = 0;
	for (auto &[rk, rc, rm, rs] : result) {
		for (uint64_t x : {(uint64_t)rk, (uint64_t)rc, (uint64_t)rm, (uint64_t)rs})
			h = (h ^ x) * 0x100000001b3ull;
		total += rc;
	}
	printf("%u groups, %llu rows\n", groups, (unsigned long long)total);
	printf("aggregates %016llx\n", (unsigned long long)h);
	free_table(table);
	free_table(packed);
	GPU(cudaFree(key));
	GPU(cudaFree(value));
	GPU(cudaFree(used));
	return 0;
}
