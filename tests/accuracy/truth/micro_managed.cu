/*
 * micro_managed: how long kernels take on managed memory that the processor, or nobody, used last.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_managed tests/accuracy/truth/micro_managed.cu
 *   micro_managed                 prints bench,what,a,b,c,value
 *
 * A launch follows what the processor does to a buffer of managed memory that the GPU had all of before. Times are by events, medians of several, in us.
 * The SMs of `one` are one warp of one, those of others all.
 * wrote     the processor wrote one byte of each page of 4 KB; what: read, write, both (c[i] = a[i] + 1, two such buffers), one (one warp reads a word
 *           of each 4 KB, one after the other); a: KB
 * looked    the same, but it only read; a: KB; b: 1: the GPU stores to it afterwards, else loads
 * untouched the same, of a new buffer that nobody has used; a: KB; b: 1: the GPU stores, else loads
 * stays     the same launch once more; a: KB
 * prefetched after cudaMemPrefetchAsync to the GPU, which has ended; a: KB
 * ahead     the same, of prefetch and launch together; a: KB
 * part      of a buffer of 64 MB, all of which the GPU reads, the processor wrote a byte every b bytes; a: b in KB
 * blocks    of such a buffer the processor wrote 4 KB in each of a pieces of 2 MB; the GPU reads those pages alone (b: 0) or all (b: 1)
 * several   so many buffers of 4 KB, each with pages of its own, all written by the processor, all read; a: buffers
 * alone     a warp reads one word that the processor wrote; a: 0: another kernel on other memory ran before, at once
 * scattered all SMs read words anywhere in 64 MB that the processor wrote; a: reads of each thread
 * advised   as wrote, read, but of memory that is advised; what: preferred (location: GPU), accessed (by the GPU), mostly (read mostly); a: KB
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

__global__ void read_every(const unsigned *p, size_t words, size_t step, unsigned *out)
{
	unsigned sum = 0;
	for (size_t i = 0; i < words; i += step)
		sum += p[i + (sum & 0)];
	if (sum == 0xfffffff1)
		out[0] = sum;
}

__global__ void read_pages(const unsigned *p, size_t pages, size_t step, unsigned *out)
{
	unsigned sum = 0;
	for (size_t i = blockIdx.x; i < pages; i += gridDim.x)
		sum += p[i * step + threadIdx.x];
	if (sum == 0xfffffff1)
		out[0] = sum;
}

__global__ void read_several(unsigned *const *p, int count, unsigned *out)
{
	unsigned sum = 0;
	if ((int)blockIdx.x < count)
		sum = p[blockIdx.x][threadIdx.x];
	if (sum == 0xfffffff1)
		out[0] = sum;
}

__global__ void read_anywhere(const unsigned *p, unsigned words, int reads, unsigned *out)
{
	unsigned x = blockIdx.x * blockDim.x + threadIdx.x, sum = 0;
	for (int i = 0; i < reads; i++) {
		x = x * 1664525u + 1013904223u;
		sum += p[(x >> 4) % words];
	}
	if (sum == 0xfffffff1)
		out[0] = sum;
}

static void everything(unsigned *p, size_t bytes)
{
	write_all<<<4 * SMS, 256>>>(p, bytes / 4);
	CHECK(cudaDeviceSynchronize());
}

static void touch(unsigned *p, size_t bytes, size_t step, bool write)
{
	volatile unsigned char *b = (volatile unsigned char *)p;
	unsigned sum = 0;
	for (size_t i = 0; i < bytes; i += step)
		if (write)
			b[i] = (unsigned char)i;
		else
			sum += b[i];
	if (sum == 0xfffffff1)
		fputs("", stderr);
}

/* The median time of a launch after a preparation. */
template <typename PREPARE, typename LAUNCH> static double after(PREPARE prepare, LAUNCH launch, int repeats = 7)
{
	std::vector<float> found;
	cudaEvent_t from, to;
	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int r = 0; r < repeats; r++) {
		float ms;
		prepare();
		CHECK(cudaEventRecord(from));
		launch();
		CHECK(cudaEventRecord(to));
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaEventElapsedTime(&ms, from, to));
		if (r)
			found.push_back(ms);
	}
	CHECK(cudaEventDestroy(from));
	CHECK(cudaEventDestroy(to));
	std::sort(found.begin(), found.end());
	return 1e3 * found[found.size() / 2];
}

static unsigned *managed(size_t bytes)
{
	unsigned *p;
	CHECK(cudaMallocManaged(&p, bytes));
	return p;
}

static void sizes()
{
	for (size_t kb : {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072}) {
		size_t bytes = kb << 10, words = bytes / 4;
		unsigned *p = managed(bytes), *q = managed(bytes);
		int grid = (int)std::min<size_t>((words + 255) / 256, 8 * SMS);
		everything(p, bytes);
		everything(q, bytes);
		auto by_cpu = [&](bool write) { everything(p, bytes), touch(p, bytes, 4096, write); };
		row("wrote", "read", kb, 0, 0, after([&] { by_cpu(true); }, [&] { read_all<<<grid, 256>>>(p, words, out); }));
		row("stays", "read", kb, 0, 0, after([&] {}, [&] { read_all<<<grid, 256>>>(p, words, out); }));
		row("wrote", "write", kb, 0, 0, after([&] { by_cpu(true); }, [&] { write_all<<<grid, 256>>>(p, words); }));
		row("stays", "write", kb, 0, 0, after([&] {}, [&] { write_all<<<grid, 256>>>(p, words); }));
		row("wrote", "both", kb, 0, 0, after([&] { by_cpu(true), touch(q, bytes, 4096, true); }, [&] { add_all<<<grid, 256>>>(p, q, words); }));
		if (kb <= 4096)
			row("wrote", "one", kb, 0, 0, after([&] { by_cpu(true); }, [&] { read_every<<<1, 32>>>(p, words, 1024, out); }));
		row("looked", "", kb, 0, 0, after([&] { by_cpu(false); }, [&] { read_all<<<grid, 256>>>(p, words, out); }));
		row("looked", "", kb, 1, 0, after([&] { by_cpu(false); }, [&] { write_all<<<grid, 256>>>(p, words); }));
		row("prefetched", "", kb, 0, 0, after([&] {
			by_cpu(true);
			cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0};
			CHECK(cudaMemPrefetchAsync(p, bytes, gpu, 0, 0));
			CHECK(cudaDeviceSynchronize());
		}, [&] { read_all<<<grid, 256>>>(p, words, out); }));
		row("ahead", "", kb, 0, 0, after([&] { by_cpu(true); }, [&] {
			cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0};
			CHECK(cudaMemPrefetchAsync(p, bytes, gpu, 0, 0));
			read_all<<<grid, 256>>>(p, words, out);
		}));
		for (int store = 0; store < 2; store++) {
			unsigned *fresh = NULL;
			row("untouched", "", kb, store, 0, after([&] {
				if (fresh)
					CHECK(cudaFree(fresh));
				fresh = managed(bytes);
			}, [&] {
				if (store)
					write_all<<<grid, 256>>>(fresh, words);
				else
					read_all<<<grid, 256>>>(fresh, words, out);
			}));
			CHECK(cudaFree(fresh));
		}
		CHECK(cudaFree(p));
		CHECK(cudaFree(q));
	}
}

static void parts()
{
	size_t bytes = 64 << 20, words = bytes / 4;
	unsigned *p = managed(bytes);
	for (size_t kb : {4, 8, 16, 32, 64, 128, 256, 512, 1024, 2048, 8192})
		row("part", "", kb, 0, 0, after([&] { everything(p, bytes), touch(p, bytes, kb << 10, true); },
		                                [&] { read_all<<<8 * SMS, 256>>>(p, words, out); }));
	for (size_t pieces : {1, 2, 4, 8, 16, 32})
		for (int all = 0; all < 2; all++)
			row("blocks", "", pieces, all, 0, after([&] { everything(p, bytes), touch(p, pieces << 21, 2 << 20, true); }, [&] {
				if (all)
					read_all<<<8 * SMS, 256>>>(p, words, out);
				else
					read_pages<<<SMS, 128>>>(p, pieces, (2 << 20) / 4, out);
			}));
	for (int reads : {1, 4, 16})
		row("scattered", "", reads, 0, 0, after([&] { everything(p, bytes), touch(p, bytes, 4096, true); },
		                                        [&] { read_anywhere<<<8 * SMS, 256>>>(p, (unsigned)words, reads, out); }));
	CHECK(cudaFree(p));
}

static void several()
{
	enum { MOST = 64 };
	unsigned **list = (unsigned **)managed(MOST * sizeof *list), *p[MOST];
	for (int i = 0; i < MOST; i++)
		everything(list[i] = p[i] = managed(2 << 20), 2 << 20);
	unsigned **there;
	CHECK(cudaMalloc(&there, MOST * sizeof *there));
	CHECK(cudaMemcpy(there, p, sizeof p, cudaMemcpyHostToDevice));
	for (int count : {1, 2, 3, 4, 6, 8, 16, 32, 64})
		row("several", "", count, 0, 0, after([&] {
			for (int i = 0; i < count; i++)
				touch(p[i], 4096, 4096, true);
		}, [&] { read_several<<<count, 128>>>(there, count, out); }));
	for (int i = 0; i < MOST; i++)
		CHECK(cudaFree(p[i]));
}

static void alone()
{
	unsigned *p = managed(4096);
	everything(p, 4096);
	row("alone", "", 0, 0, 0, after([&] { touch(p, 4096, 4096, true); }, [&] { read_all<<<1, 32>>>(p, 32, out); }, 25));
	row("alone", "", 1, 0, 0, after([&] { touch(p, 4096, 4096, true), clocks_up(out, 1); }, [&] { read_all<<<1, 32>>>(p, 32, out); }, 25));
	CHECK(cudaFree(p));
}

static void advised()
{
	cudaMemLocation gpu = {cudaMemLocationTypeDevice, 0};
	for (size_t kb : {64, 1024, 16384}) {
		size_t bytes = kb << 10, words = bytes / 4;
		int grid = (int)std::min<size_t>((words + 255) / 256, 8 * SMS);
		for (auto advice : {cudaMemAdviseSetPreferredLocation, cudaMemAdviseSetAccessedBy, cudaMemAdviseSetReadMostly}) {
			unsigned *p = managed(bytes);
			CHECK(cudaMemAdvise(p, bytes, advice, gpu));
			const char *what = advice == cudaMemAdviseSetPreferredLocation ? "preferred" : advice == cudaMemAdviseSetAccessedBy ? "accessed" : "mostly";
			row("advised", what, kb, 0, 0, after([&] { everything(p, bytes), touch(p, bytes, 4096, true); },
			                                     [&] { read_all<<<grid, 256>>>(p, words, out); }));
			CHECK(cudaFree(p));
		}
	}
}

int main()
{
	CHECK(cudaMalloc(&out, 1024));
	clocks_up(out, 100);
	sizes();
	parts();
	several();
	alone();
	advised();
	return 0;
}
