/*
 * micro_copies: what is in L2 of a buffer that the host has copied to, or filled, when the first launch after that reads it.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_copies tests/accuracy/truth/micro_copies.cu
 *   micro_copies                prints bench,what,a,b,c,value
 *
 * One warp reads 256 lines of a buffer of a bytes, evenly apart, one after the other, past L1, and notes how long each takes. value: how many of them took
 * more than 500 cycles (b: 0), or the median of their cycles (b: 1). c: bytes of other buffers of the same size that were copied to in between
 * what: copy (cudaMemcpy of memory from malloc), pinned, fill (cudaMemset), inner (cudaMemcpy within the GPU), again (the second launch after a copy)
 */
#include "tests/accuracy/truth/micro.h"

enum { LINES = 256, OTHERS = 4 };

static unsigned *out, *chaos;
static unsigned *took;

__global__ void probe(const char *from, size_t bytes, unsigned *took, unsigned *out)
{
	if (threadIdx.x)
		return;
	size_t step = bytes / LINES / 128 * 128;
	for (int i = 0; i < LINES; i++) {
		unsigned v;
		long long begin = cycles();
		asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(from + i * step) : "memory");
		took[i] = (unsigned)(cycles_after(v, 0x12345678, out) - begin);
	}
}

/* L2 is full of something else. */
__global__ void sweep(const unsigned *from, size_t words, unsigned *out)
{
	unsigned sum = 0;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < words; i += (size_t)gridDim.x * blockDim.x)
		sum += from[i];
	if (sum == 0x12345678)
		*out = sum;
}

static void print(const char *what, size_t bytes, size_t between)
{
	std::vector<unsigned> found(LINES);
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(found.data(), took, LINES * sizeof found[0], cudaMemcpyDeviceToHost));
	std::sort(found.begin() + 1, found.end());
	row("copies", what, bytes, 0, between, (double)(found.end() - std::upper_bound(found.begin() + 1, found.end(), 500u)));
	row("copies", what, bytes, 1, between, found[LINES / 2]);
}

int main()
{
	const size_t chaos_bytes = (size_t)256 << 20;
	CHECK(cudaMalloc(&out, 4096));
	CHECK(cudaMalloc(&took, 4096));
	CHECK(cudaMalloc(&chaos, chaos_bytes));
	CHECK(cudaMemset(chaos, 0, chaos_bytes));
	clocks_up(out, 100);
	for (size_t kb : {32, 64, 128, 256, 384, 512, 640, 768, 1024, 1536, 2048, 4096, 16384, 65536}) {
		size_t bytes = kb << 10;
		char *buffer, *others[OTHERS], *host = (char *)malloc(bytes), *pinned, *inner;
		memset(host, 0, bytes);
		CHECK(cudaMallocHost(&pinned, bytes));
		memset(pinned, 0, bytes);
		CHECK(cudaMalloc(&buffer, bytes));
		CHECK(cudaMalloc(&inner, bytes));
		for (char *&o : others)
			CHECK(cudaMalloc(&o, bytes));
		auto fresh = [&] {
			sweep<<<1056, 256>>>(chaos, chaos_bytes / 4, out);
			CHECK(cudaDeviceSynchronize());
		};
		for (int between = 0; between <= OTHERS; between += 2) {
			fresh();
			CHECK(cudaMemcpy(buffer, host, bytes, cudaMemcpyHostToDevice));
			for (int o = 0; o < between; o++)
				CHECK(cudaMemcpy(others[o], host, bytes, cudaMemcpyHostToDevice));
			probe<<<1, 32>>>(buffer, bytes, took, out);
			print("copy", bytes, (double)between * bytes);
		}
		probe<<<1, 32>>>(buffer, bytes, took, out);
		print("again", bytes, 0);
		fresh();
		CHECK(cudaMemcpy(buffer, pinned, bytes, cudaMemcpyHostToDevice));
		probe<<<1, 32>>>(buffer, bytes, took, out);
		print("pinned", bytes, 0);
		fresh();
		CHECK(cudaMemset(buffer, 1, bytes));
		probe<<<1, 32>>>(buffer, bytes, took, out);
		print("fill", bytes, 0);
		fresh();
		CHECK(cudaMemcpy(buffer, inner, bytes, cudaMemcpyDeviceToDevice));
		probe<<<1, 32>>>(buffer, bytes, took, out);
		print("inner", bytes, 0);
		/* the buffer was in L2 before, as a program's second copy to it finds it */
		fresh();
		probe<<<1, 32>>>(buffer, bytes, took, out);
		sweep<<<132, 256>>>((const unsigned *)buffer, bytes / 4, out);
		CHECK(cudaMemcpy(buffer, host, bytes, cudaMemcpyHostToDevice));
		probe<<<1, 32>>>(buffer, bytes, took, out);
		print("copy_over", bytes, 0);
		for (char *o : others)
			CHECK(cudaFree(o));
		CHECK(cudaFree(buffer));
		CHECK(cudaFree(inner));
		CHECK(cudaFreeHost(pinned));
		free(host);
	}
	return 0;
}
