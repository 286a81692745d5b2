/*
 * micro_groups: which SM each block of a launch gets and when, what L2 and L1 keep of data of several sizes, and what short launches take.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_groups tests/accuracy/truth/micro_groups.cu
 *   micro_groups places                 prints name,block,sm,start_ns,end_ns
 *   ncu ... micro_groups l2 ncu | l1 | short
 *
 * Of l2, l1 and short, Nsight Compute has the figures (--cache-control none --clock-control none): L2's and L1's hits of the last
 * launch of each size, and durations.
 */
#include "tests/accuracy/truth/micro.h"

static unsigned *out;

/* ---- places: block, SM, start and end in ns ---- */

struct place {
	unsigned long long start, end;
	unsigned sm, pad;
};

/* Blocks take `most` cycles, every fourth `more` of them. */
__global__ void places(place *found, long long most, long long more)
{
	extern __shared__ char room[];
	if (threadIdx.x == 0) {
		unsigned long long start = nanoseconds();
		long long begin = cycles(), wanted = most + (blockIdx.x % 4 == 3 ? more : 0);
		while (cycles() - begin < wanted)
			;
		found[blockIdx.x] = {start, nanoseconds(), sm_number(), 0};
		if (most < 0)
			room[0] = 1;
	}
	__syncthreads();
}

static void print_places(const char *name, int blocks, int threads, int shared, long long most, long long more)
{
	place *found;
	std::vector<place> read(blocks);
	CHECK(cudaMalloc(&found, blocks * sizeof *found));
	CHECK(cudaFuncSetAttribute(places, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	for (int i = 0; i < 3; i++)
		places<<<blocks, threads, shared>>>(found, most, more);
	CHECK(cudaMemcpy(read.data(), found, blocks * sizeof *found, cudaMemcpyDeviceToHost));
	unsigned long long first = read[0].start;
	for (auto &p : read)
		first = std::min(first, p.start);
	for (int b = 0; b < blocks; b++)
		printf("%s,%d,%u,%llu,%llu\n", name, b, read[b].sm, read[b].start - first, read[b].end - first);
	CHECK(cudaFree(found));
}

static void run_places()
{
	printf("name,block,sm,start_ns,end_ns\n");
	print_places("256x8", SMS * 8 * 3, 256, 0, 8000, 0);
	print_places("256x8uneven", SMS * 8 * 3, 256, 0, 4000, 4000);
	print_places("1024x2", SMS * 2 * 4, 1024, 0, 8000, 0);
	print_places("256x1", SMS * 4, 256, 200 * 1024, 8000, 0);
	print_places("64x32", SMS * 32 * 2, 64, 0, 8000, 0);
	print_places("few", 200, 256, 0, 8000, 0);
}

/* ---- l2: all SMs read `chunks` of 4 KB, `times` each ---- */

__global__ void l2_read(const uint4 *area, unsigned chunks, unsigned step, unsigned first, unsigned *out)
{
	unsigned chunk = (unsigned)(((unsigned long long)blockIdx.x * step + first) % chunks);
	uint4 v = __ldcg(area + (size_t)chunk * 256 + threadIdx.x);
	if (v.x == 1)
		out[0] = v.y;
}

__global__ void l2_copy(const uint4 *area, uint4 *to, unsigned *out)
{
	size_t i = (size_t)blockIdx.x * 256 + threadIdx.x;
	uint4 v = area[i];
	v.x ^= 1;
	to[i] = v;
}

static const int sizes_mb[] = {8, 16, 20, 24, 26, 28, 30, 32, 34, 36, 38, 40, 44, 48, 52, 56, 60, 64, 72, 96};

static void run_l2(bool ncu)
{
	char *area;
	cudaEvent_t a, b;
	CHECK(cudaEventCreate(&a));
	CHECK(cudaEventCreate(&b));
	CHECK(cudaMalloc(&area, 256 << 20));
	CHECK(cudaMemset(area, 0, 256 << 20));
	int repeats = ncu ? 4 : 20;
	for (int mb : sizes_mb) {
		unsigned chunks = (unsigned)mb << 8;
		for (int pattern = 0; pattern < 4; pattern++) {
			/* 0: each chunk once, in order; 1: once, in an order that differs from launch to launch; 2: four times; 3: half of it is
			 * copied to the other half */
			float ms = 0;
			for (int r = 0; r < repeats; r++) {
				if (r == repeats / 2)
					CHECK(cudaEventRecord(a));
				unsigned first = pattern == 1 ? (unsigned)r * 12345u % chunks : 0;
				unsigned grid = pattern == 2 ? 4 * chunks : chunks;
				if (pattern == 3)
					l2_copy<<<chunks / 2, 256>>>((uint4 *)area, (uint4 *)(area + ((size_t)mb << 19)), out);
				else
					l2_read<<<grid, 256>>>((uint4 *)area, chunks, 1, first, out);
			}
			CHECK(cudaEventRecord(b));
			CHECK(cudaDeviceSynchronize());
			CHECK(cudaEventElapsedTime(&ms, a, b));
			row("l2_sizes", ncu ? "ncu" : "us", mb, pattern, 0, ms * 1e3 / (repeats - repeats / 2));
		}
	}
}

/* ---- l1: a block of one SM goes through `bytes` `rounds` times ---- */

__global__ void l1_rounds(const unsigned *area, unsigned words, unsigned step, int rounds, unsigned *out)
{
	unsigned sum = 0, lines = words / 32;
	for (int r = 0; r < rounds; r++)
		for (unsigned line = threadIdx.x / 32; line < lines; line += blockDim.x / 32) {
			unsigned at = (unsigned)((unsigned long long)line * step % lines), v;
			asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(area + at * 32 + threadIdx.x % 32));
			sum += v;
			if (step == 0)
				__syncthreads();
		}
	if (sum == 1)
		out[0] = sum;
}

static void run_l1()
{
	unsigned *area;
	CHECK(cudaMalloc(&area, 4 << 20));
	CHECK(cudaMemset(area, 0, 4 << 20));
	for (int kb = 128; kb <= 512; kb += 32)
		for (int warps = 1; warps <= 32; warps *= 32)
			for (int pattern = 0; pattern < 2; pattern++) {
				unsigned step = pattern ? 1237 : 1; /* a prime: no size here is a multiple of it */
				l1_rounds<<<1, warps * 32>>>(area, kb * 256, step, 1, out);
				l1_rounds<<<1, warps * 32>>>(area, kb * 256, step, 9, out);
				CHECK(cudaDeviceSynchronize());
				row("l1_sizes", "ncu", kb, warps, pattern, 0);
			}
}

/* ---- short: launches that do little ---- */

__global__ void nothing() {}
__global__ void store(unsigned *to) { to[blockIdx.x * blockDim.x + threadIdx.x] = threadIdx.x; }
__global__ void load_store(const unsigned *from, unsigned *to)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	to[i] = from[i] + 1;
}
__global__ void barriers(unsigned *to)
{
	__shared__ unsigned s[1024];
	s[threadIdx.x] = threadIdx.x;
	__syncthreads();
	to[blockIdx.x * blockDim.x + threadIdx.x] = s[threadIdx.x ^ 1];
}
/* N instructions that depend on each other, straight. */
template <int N> __global__ void straight(unsigned *to, unsigned a)
{
	unsigned v = threadIdx.x;
#pragma unroll
	for (int i = 0; i < N; i++)
		asm volatile("mad.lo.u32 %0, %0, %1, %2;" : "+r"(v) : "r"(a), "r"(i * 77 + 12345));
	to[blockIdx.x * blockDim.x + threadIdx.x] = v;
}

static void run_short()
{
	unsigned *from, *to;
	static const int grids[] = {1, 16, 64, 132, 264, 528, 1056, 2112};
	static const int sizes[] = {32, 128, 256, 1024};
	CHECK(cudaMalloc(&from, 64 << 20));
	CHECK(cudaMalloc(&to, 64 << 20));
	CHECK(cudaMemset(from, 0, 64 << 20));
	for (int grid : grids)
		for (int size : sizes) {
			for (int r = 0; r < 5; r++)
				nothing<<<grid, size>>>();
			for (int r = 0; r < 5; r++)
				store<<<grid, size>>>(to);
			for (int r = 0; r < 5; r++)
				load_store<<<grid, size>>>(from, to);
			for (int r = 0; r < 5; r++)
				barriers<<<grid, size>>>(to);
		}
	for (int grid : {1, 132}) {
		for (int r = 0; r < 5; r++)
			straight<64><<<grid, 32>>>(to, 3);
		for (int r = 0; r < 5; r++)
			straight<256><<<grid, 32>>>(to, 3);
		for (int r = 0; r < 5; r++)
			straight<1024><<<grid, 32>>>(to, 3);
		for (int r = 0; r < 5; r++)
			straight<4096><<<grid, 32>>>(to, 3);
	}
	CHECK(cudaDeviceSynchronize());
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	CHECK(cudaMalloc(&out, 4096));
	clocks_up(out, 400);
	if (!strcmp(what, "places"))
		run_places();
	else if (!strcmp(what, "l2"))
		run_l2(argc > 2);
	else if (!strcmp(what, "l1"))
		run_l1();
	else if (!strcmp(what, "short"))
		run_short();
	return 0;
}
