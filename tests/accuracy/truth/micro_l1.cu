/*
 * micro_l1: which lines L1 keeps of data that is as large as it, or larger.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_l1 tests/accuracy/truth/micro_l1.cu
 *
 * walk: one warp goes through `lines` again and again: in order (0), by a prime step (1), or to random lines (2). It is of a block of `threads`,
 *   whose other warps end at once. hits: of a round, after eight; next: of the one after; both: lines of which both are; runs: changes between hit
 *   and miss along the lines
 * warps: all warps of a block of `threads` go through lines of their own; hits: of the eighth round
 * A load is a hit if it takes less than 150 cycles.
 */
#include "tests/accuracy/truth/micro.h"

enum { SEGMENTS = 3, SEGMENT = 1024, ROUNDS = 8, HIT_CYCLES = 150 };

static unsigned *out;

__device__ unsigned place(unsigned i, unsigned lines, int order, unsigned round)
{
	if (order == 1)
		return (unsigned)((unsigned long long)i * 1237 % lines);
	if (order == 2) {
		unsigned h = (i + round * 7919u) * 2654435761u;
		h ^= h >> 15;
		h *= 2246822519u;
		h ^= h >> 13;
		return h % lines;
	}
	return i;
}

__device__ bool is_hit(const unsigned *area, unsigned line, unsigned *never)
{
	unsigned v;
	long long begin = cycles();
	asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(area + line * 32) : "memory");
	return cycles_after(v, 12345, never) - begin < HIT_CYCLES;
}

/* A lane keeps the hits of 32 lines in a bit each: a store would take room in L1. */
__global__ void walk(const unsigned *area, unsigned lines, int order, int rounds, unsigned *to)
{
	unsigned m[2][SEGMENTS] = {}, lane = threadIdx.x % 32;
	if (threadIdx.x >= 32)
		return;
	for (int r = 0; r < rounds; r++)
		for (unsigned i = 0; i < lines; i++)
			is_hit(area, place(i, lines, order, r), to);
#pragma unroll
	for (int k = 0; k < 2; k++)
#pragma unroll
		for (int s = 0; s < SEGMENTS; s++)
			for (unsigned i = s * SEGMENT; i < (s + 1) * SEGMENT && i < lines; i++) {
				bool hit = is_hit(area, place(i, lines, order, rounds + k), to);
				if (hit && i / 32 % 32 == lane)
					m[k][s] |= 1u << i % 32;
			}
#pragma unroll
	for (int k = 0; k < 2; k++)
#pragma unroll
		for (int s = 0; s < SEGMENTS; s++)
			to[(k * SEGMENTS + s) * 32 + lane] = m[k][s];
}

__global__ void many(const unsigned *area, unsigned lines, int rounds, unsigned *to)
{
	unsigned warp = threadIdx.x / 32, warps = blockDim.x / 32, hits = 0;
	for (int r = 0; r < rounds; r++)
		for (unsigned i = warp; i < lines; i += warps)
			hits += is_hit(area, i, to) && r + 1 == rounds;
	if (threadIdx.x % 32 == 0)
		atomicAdd(to, hits);
}

static std::vector<unsigned> read_bits()
{
	std::vector<unsigned> b(2 * SEGMENTS * 32);
	CHECK(cudaMemcpy(b.data(), out, b.size() * 4, cudaMemcpyDeviceToHost));
	return b;
}

static bool bit(const std::vector<unsigned> &b, int k, unsigned i)
{
	return b[k * SEGMENTS * 32 + i / 32] >> i % 32 & 1;
}

static void measure_walk(const unsigned *area, int threads, unsigned lines, int order)
{
	unsigned hits = 0, next = 0, both = 0, runs = 0;
	walk<<<1, threads>>>(area, lines, order, ROUNDS, out);
	CHECK(cudaDeviceSynchronize());
	std::vector<unsigned> b = read_bits();
	for (unsigned i = 0; i < lines; i++) {
		hits += bit(b, 0, i);
		next += bit(b, 1, i);
		both += bit(b, 0, i) && bit(b, 1, i);
		runs += i && bit(b, 0, i) != bit(b, 0, i - 1);
	}
	printf("walk,%d,%u,%d,%u,%u,%u,%u\n", threads, lines, order, hits, next, both, runs);
}

int main()
{
	unsigned *area;
	CHECK(cudaMalloc(&area, 4 << 20));
	CHECK(cudaMemset(area, 0, 4 << 20));
	CHECK(cudaMalloc(&out, 1 << 16));
	clocks_up(out, 200);
	printf("bench,threads,lines,order,hits,next,both,runs\n");
	for (int threads : {32, 128, 256, 512, 1024})
		for (unsigned lines = 1536; lines <= 2816; lines += 32)
			for (int order = 0; order < (threads == 32 || threads == 1024 ? 3 : 1); order++)
				measure_walk(area, threads, lines, order);
	for (int warps : {1, 2, 4, 8, 16, 32})
		for (unsigned lines = 1536; lines <= 3072; lines += 64) {
			CHECK(cudaMemset(out, 0, 4));
			many<<<1, warps * 32>>>(area, lines, ROUNDS, out);
			unsigned hits;
			CHECK(cudaMemcpy(&hits, out, 4, cudaMemcpyDeviceToHost));
			printf("warps,%d,%u,0,%u,,,\n", warps * 32, lines, hits);
		}
	return 0;
}
