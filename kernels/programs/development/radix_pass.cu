// Least-significant-digit radix sort of 16-bit keys with payload in four 4-bit passes: count digits, scan, scatter.
// Hard for a GPU: counters sit in shared memory per thread, each thread walks its own run of keys, and the scatter is uncoalesced.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#define CHECK(f) if (cudaError_t err = (f)) { fprintf(stderr, "%d: %s\n", __LINE__, cudaGetErrorString(err)); exit(1); }

const int DIGITS = 16;
const int BLOCK = 128;
const int PER_THREAD = 16;
const int TILE = BLOCK * PER_THREAD;

__global__ void count_digits(const uint32_t *keys, int shift, unsigned *block_counts)
{
	__shared__ unsigned counts[DIGITS];
	if (threadIdx.x < DIGITS)
		counts[threadIdx.x] = 0;
	__syncthreads();
	const uint32_t *tile = keys + (size_t)blockIdx.x * TILE;
	for (int i = threadIdx.x; i < TILE; i += BLOCK)
		atomicAdd(&counts[(tile[i] >> shift) & (DIGITS - 1)], 1u);
	__syncthreads();
	// digit-major, so that one scan over the whole array gives every block its place
	if (threadIdx.x < DIGITS)
		block_counts[threadIdx.x * gridDim.x + blockIdx.x] = counts[threadIdx.x];
}

__global__ void exclusive_scan(unsigned *data, int n)
{
	__shared__ unsigned part[1024];
	int chunk = (n + 1023) / 1024;
	int begin = min(n, (int)threadIdx.x * chunk), end = min(n, begin + chunk);
	unsigned sum = 0;
	for (int i = begin; i < end; i++)
		sum += data[i];
	part[threadIdx.x] = sum;
	__syncthreads();
	for (int d = 1; d < 1024; d <<= 1) {
		unsigned v = threadIdx.x >= d ? part[threadIdx.x - d] : 0;
		__syncthreads();
		part[threadIdx.x] += v;
		__syncthreads();
	}
	unsigned running = part[threadIdx.x] - sum;
	for (int i = begin; i < end; i++) {
		unsigned v = data[i];
		data[i] = running;
		running += v;
	}
}

__global__ void scatter(const uint32_t *keys, int shift, const unsigned *block_offsets, uint32_t *sorted)
{
	__shared__ unsigned short counter[DIGITS][BLOCK + 2];
	int t = threadIdx.x;
	const uint32_t *mine = keys + (size_t)blockIdx.x * TILE + t * PER_THREAD;
	for (int d = 0; d < DIGITS; d++)
		counter[d][t] = 0;
	uint32_t key[PER_THREAD];
	for (int i = 0; i < PER_THREAD; i++) {
		key[i] = mine[i];
		counter[(key[i] >> shift) & (DIGITS - 1)][t]++;
	}
	__syncthreads();
	// each warp scans the counters of some digits over the threads of the block
	for (int d = t / 32; d < DIGITS; d += BLOCK / 32) {
		unsigned carry = 0;
		for (int base = 0; base < BLOCK; base += 32) {
			int lane = t % 32;
			unsigned v = counter[d][base + lane], inclusive = v;
			for (int o = 1; o < 32; o <<= 1) {
				unsigned up = __shfl_up_sync(0xffffffff, inclusive, o);
				if (lane >= o)
					inclusive += up;
			}
			counter[d][base + lane] = (unsigned short)(carry + inclusive - v);
			carry += __shfl_sync(0xffffffff, inclusive, 31);
		}
	}
	__syncthreads();
	for (int i = 0; i < PER_THREAD; i++) {
		int d = (key[i] >> shift) & (DIGITS - 1);
		unsigned place = block_offsets[d * gridDim.x + blockIdx.x] + counter[d][t]++;
		sorted[place] = key[i];
	}
}

int main()
{
	const int n = 1 << 22, blocks = n / TILE;
	std::vector<uint32_t> host(n);
	for (int i = 0; i < n; i++) {
		uint32_t h = (uint32_t)i * 0x9e3779b1u;
		h = (h ^ (h >> 15)) * 0x85ebca77u;
		h = (h ^ (h >> 13)) * 0xc2b2ae3du;
		// payload in the upper half, key in the lower half
		host[i] = ((uint32_t)i << 16) | (h >> 16);
	}
	uint32_t *a, *b;
	unsigned *counts;
	CHECK(cudaMalloc(&a, n * sizeof(uint32_t)));
	CHECK(cudaMalloc(&b, n * sizeof(uint32_t)));
	CHECK(cudaMalloc(&counts, DIGITS * blocks * sizeof(unsigned)));
	CHECK(cudaMemcpy(a, host.data(), n * sizeof(uint32_t), cudaMemcpyHostToDevice));
	for (int shift = 0; shift < 16; shift += 4) {
		count_digits<<<blocks, BLOCK>>>(a, shift, counts);
		exclusive_scan<<<1, 1024>>>(counts, DIGITS * blocks);
		scatter<<<blocks, BLOCK>>>(a, shift, counts, b);
		CHECK(cudaGetLastError());
		std::swap(a, b);
	}
	CHECK(cudaMemcpy(host.data(), a, n * sizeof(uint32_t), cudaMemcpyDeviceToHost));
	uint64_t hash = 0xcbf29ce484222325ull;
	int disorder = 0;
	for (int i = 0; i < n; i++) {
		hash = (hash ^ host[i]) * 0x100000001b3ull;
		disorder += i > 0 && (host[i - 1] & 0xffff) > (host[i] & 0xffff);
	}
	printf("sorted: %016llx\nout_of_order %d median %u\n", (unsigned long long)hash, disorder, host[n / 2] & 0xffff);
	CHECK(cudaFree(a));
	CHECK(cudaFree(b));
	CHECK(cudaFree(counts));
	return 0;
}
