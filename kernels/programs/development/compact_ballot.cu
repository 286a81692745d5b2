// Stream compaction: elements passing a test are packed into an output list, places handed out per warp by ballot and one atomic.
// Hard for a GPU: all warps add to one counter, and the packed stores are not aligned.
#include <cooperative_groups.h>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

using namespace cooperative_groups;

static void check(cudaError_t status, int line)
{
	if (status != cudaSuccess) {
		fprintf(stderr, "compact_ballot line %d: %s\n", line, cudaGetErrorString(status));
		exit(1);
	}
}
#define C(x) check((x), __LINE__)

struct Range {
	unsigned low, high;
	__device__ bool operator()(unsigned v) const { return v >= low && v < high; }
};

struct Divisible {
	unsigned by;
	__device__ bool operator()(unsigned v) const { return v % by == 0; }
};

__global__ void produce(unsigned *data, unsigned n)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n) {
		unsigned h = i ^ 0xdeadbeefu;
		h = (h ^ (h >> 16)) * 0x45d9f3bu;
		h = (h ^ (h >> 16)) * 0x45d9f3bu;
		// long stretches of small values between noisy ones
		data[i] = (i >> 10) % 5 == 0 ? (h & 0xffff) : (h ^ (h >> 16));
	}
}

template <typename Test>
__global__ void compact(const unsigned *in, unsigned n, unsigned *out, unsigned *count, Test test)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned lane = threadIdx.x % 32;
	unsigned v = i < n ? in[i] : 0;
	bool keep = i < n && test(v);
	unsigned votes = __ballot_sync(0xffffffff, keep);
	if (votes == 0)
		return;
	unsigned base = 0;
	int leader = __ffs(votes) - 1;
	if (lane == leader)
		base = atomicAdd(count, __popc(votes));
	base = __shfl_sync(0xffffffff, base, leader);
	if (keep)
		out[base + __popc(votes & ((1u << lane) - 1))] = v;
}

// the same job written with coalesced groups
__global__ void compact_groups(const unsigned *in, unsigned n, unsigned *out, unsigned *count, unsigned mask)
{
	for (unsigned i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
		unsigned v = in[i];
		if ((v & mask) == mask) {
			coalesced_group g = coalesced_threads();
			unsigned base = 0;
			if (g.thread_rank() == 0)
				base = atomicAdd(count, g.size());
			out[g.shfl(base, 0) + g.thread_rank()] = v;
		}
	}
}

// the order of the list is open, so its elements are hashed one by one and summed
static uint64_t list_hash(const unsigned *list, unsigned count)
{
	std::vector<unsigned> host(count);
	C(cudaMemcpy(host.data(), list, count * sizeof(unsigned), cudaMemcpyDeviceToHost));
	uint64_t sum = 0;
	for (unsigned v : host) {
		uint64_t z = (v + 0x1234567ull) * 0xbf58476d1ce4e5b9ull;
		sum += (z ^ (z >> 29)) * 0x94d049bb133111ebull;
	}
	return sum;
}

int main()
{
	const unsigned n = 6000000;
	unsigned *in, *out, *count, kept[4];
	C(cudaMalloc(&in, n * sizeof(unsigned)));
	C(cudaMalloc(&out, n * sizeof(unsigned)));
	C(cudaMalloc(&count, 4 * sizeof(unsigned)));
	C(cudaMemset(count, 0, 4 * sizeof(unsigned)));
	produce<<<(n + 255) / 256, 256>>>(in, n);
	C(cudaGetLastError());
	const unsigned blocks = (n + 191) / 192;
	uint64_t h[4];
	for (int job = 0; job < 4; job++) {
		if (job == 0)
			compact<<<blocks, 192>>>(in, n, out, count + job, Range{0u, 1u << 16});
		else if (job == 1)
			compact<<<blocks, 192>>>(in, n, out, count + job, Range{1000000000u, 3000000000u});
		else if (job == 2)
			compact<<<blocks, 192>>>(in, n, out, count + job, Divisible{37u});
		else
			compact_groups<<<1056, 192>>>(in, n, out, count + job, 0x11u);
		C(cudaGetLastError());
		C(cudaMemcpy(&kept[job], count + job, sizeof(unsigned), cudaMemcpyDeviceToHost));
		h[job] = list_hash(out, kept[job]);
	}
	printf("small: %016llx\n", (unsigned long long)h[0]);
	printf("middle: %016llx\n", (unsigned long long)h[1]);
	printf("divisible: %016llx\n", (unsigned long long)h[2]);
	printf("masked: %016llx\n", (unsigned long long)h[3]);
	printf("kept %u %u %u %u\n", kept[0], kept[1], kept[2], kept[3]);
	C(cudaFree(in));
	C(cudaFree(out));
	C(cudaFree(count));
	return 0;
}
