/*
 * micro_pinned: how long kernels take that load from, store to and add to pinned memory of the host, which they reach over the link.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_pinned tests/accuracy/truth/micro_pinned.cu
 *   micro_pinned                  prints bench,what,a,b,c,value
 *
 * Times of launches are by events, medians of several, in us.
 * link      what: read, write, both (q[i] = p[i] + 1, both pinned), upload (q on the GPU), download (p on the GPU); a: KB; b: threads of the launch
 * again     read, launched once more at once: does L2 keep what came from the host? a: KB
 * sector    each thread loads or stores a word of a sector of its own; what: read, write; a: sectors; b: bytes between them
 * chain     a warp loads lines one after the other, each address depends on the load before; what: cold, again; value: cycles for each; a: lines
 * atomic    one lane adds to a word, one add after the other, cycles for each; b: lanes of all SMs on a words, us
 */
#include "tests/accuracy/truth/micro.h"

static unsigned *out;

__global__ void read_all(const unsigned *p, size_t words, unsigned *out)
{
	unsigned sum = 0;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x)
		sum += p[i];
	if (sum == 0xfffffff1)
		out[0] = sum;
}

__global__ void write_all(unsigned *p, size_t words)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x)
		p[i] = (unsigned)i;
}

__global__ void add_all(const unsigned *p, unsigned *q, size_t words)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x)
		q[i] = p[i] + 1;
}

__global__ void read_apart(const unsigned *p, size_t step, unsigned count, unsigned *out)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count && p[i * step] == 0xfffffff1)
		out[0] = i;
}

__global__ void write_apart(unsigned *p, size_t step, unsigned count)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		p[i * step] = i;
}

__global__ void chain(const unsigned *p, int lines, long long *took, unsigned *out)
{
	unsigned at = 0;
	long long begin = cycles();
	for (int i = 0; i < lines; i++)
		at = p[at + threadIdx.x % 32];
	long long end = cycles_after(at, 0xffffffff, out);
	if (threadIdx.x == 0)
		took[0] = end - begin;
}

__global__ void add_one(unsigned *p, int times, long long *took, unsigned *out)
{
	unsigned x = 0;
	long long begin = cycles();
	for (int i = 0; i < times; i++)
		x = atomicAdd(p, 1 + (x & 0));
	long long end = cycles_after(x, 0xffffffff, out);
	took[0] = end - begin;
}

__global__ void add_many(unsigned *p, int words)
{
	atomicAdd(p + (blockIdx.x * blockDim.x + threadIdx.x) % words, 1u);
}

static unsigned *pinned(size_t bytes)
{
	unsigned *p;
	CHECK(cudaHostAlloc(&p, bytes, cudaHostAllocMapped));
	memset(p, 0, bytes);
	return p;
}

static double median_us(auto launch)
{
	return median_us_of(launch, 9, 2);
}

static void link()
{
	for (size_t kb : {4, 64, 256, 1024, 4096, 16384, 65536}) {
		size_t bytes = kb << 10, words = bytes / 4;
		unsigned *p = pinned(bytes), *q = pinned(bytes), *d, *e;
		CHECK(cudaMalloc(&d, bytes));
		CHECK(cudaMalloc(&e, 128 << 20));
		for (int threads : {1024, 16384, 1056 * 256}) {
			int grid = (int)std::min<size_t>((words + 127) / 128, threads / 128);
			auto flush = [&] { CHECK(cudaMemset(e, 0, 128 << 20)); };
			flush();
			row("link", "read", kb, threads, 0, median_us([&] { read_all<<<grid, 128>>>(p, words, out); }));
			row("link", "write", kb, threads, 0, median_us([&] { write_all<<<grid, 128>>>(p, words); }));
			row("link", "both", kb, threads, 0, median_us([&] { add_all<<<grid, 128>>>(p, q, words); }));
			row("link", "upload", kb, threads, 0, median_us([&] { add_all<<<grid, 128>>>(p, d, words); }));
			row("link", "download", kb, threads, 0, median_us([&] { add_all<<<grid, 128>>>(d, q, words); }));
		}
		CHECK(cudaFreeHost(p));
		CHECK(cudaFreeHost(q));
		CHECK(cudaFree(d));
		CHECK(cudaFree(e));
	}
}

static void sectors()
{
	unsigned *p = pinned(64 << 20);
	for (size_t apart : {32, 64, 128, 4096})
		for (unsigned count : {1024, 16384, 262144}) {
			if (count * apart > 64 << 20)
				continue;
			row("sector", "read", count, apart, 0, median_us([&] { read_apart<<<(count + 127) / 128, 128>>>(p, apart / 4, count, out); }));
			row("sector", "write", count, apart, 0, median_us([&] { write_apart<<<(count + 127) / 128, 128>>>(p, apart / 4, count); }));
		}
	CHECK(cudaFreeHost(p));
}

static void chains()
{
	long long *took, host;
	CHECK(cudaMalloc(&took, 8));
	for (int lines : {16, 64, 256}) {
		unsigned *p = pinned(256 * 4096);
		for (int i = 0; i < 256; i++)
			for (int lane = 0; lane < 32; lane++)
				p[i * 1024 + lane] = (unsigned)((i * 37 + 11) % 256) * 1024;
		for (int again = 0; again < 3; again++) {
			chain<<<1, 32>>>(p, lines, took, out);
			CHECK(cudaMemcpy(&host, took, 8, cudaMemcpyDeviceToHost));
			row("chain", again ? "again" : "cold", lines, 0, 0, (double)host / lines);
		}
		CHECK(cudaFreeHost(p));
	}
	unsigned *p = pinned(4096);
	add_one<<<1, 1>>>(p, 100, took, out);
	CHECK(cudaMemcpy(&host, took, 8, cudaMemcpyDeviceToHost));
	row("atomic", "one", 0, 0, 0, host / 100.0);
	for (int words : {1, 32, 1024})
		row("atomic", "many", words, SMS * 256, 0, median_us([&] { add_many<<<SMS, 256>>>(p, words); }));
}

int main()
{
	CHECK(cudaMalloc(&out, 1024));
	clocks_up(out, 100);
	link();
	sectors();
	chains();
	return 0;
}
