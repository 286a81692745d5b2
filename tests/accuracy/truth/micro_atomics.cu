/*
 * micro_atomics: what atomics on few addresses take of L2, where a warp's lanes go to one word or two.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_atomics tests/accuracy/truth/micro_atomics.cu
 *   micro_atomics                 prints bench,what,a,b,c,value
 *
 * All SMs, 8 warps each, the one word of instruction i of warp w is number (i + w) % words, so many bytes apart.
 * hot32, hot64: what: red_add, atom_add, red_xor, atom_cas; a: lanes of a warp that do it; b: words; c: bytes between them;
 *   value: cycles per instruction of a warp, of all SMs together
 * pairs: half of a warp's lanes on one word, the others on another so many bytes (c) behind it; what: red_add; a: 32; b: words as before
 * chain: one warp, so many lanes (a) in lines of their own, each operation needs the result of the one before; what: exch, add, cas (which fails),
 *   cas_new (which succeeds), load_cas (a load of L2 of the same word before it); value: cycles
 * queue: 8 blocks of 256 on each SM wait, then a lane of each warp does so many (a) 64-bit sums in turn on b words; value: us by events
 */
#include "tests/accuracy/truth/micro.h"

enum { AREA = 1 << 20, WARPS = 8, TRIPS = 48, UNROLLED = 4 };

static char *area;
static span *spans;
static unsigned *out;

enum operation { RED_ADD, ATOM_ADD, RED_XOR, ATOM_CAS };

template <int OPERATION> static __device__ unsigned do32(unsigned *at)
{
	unsigned v = 0;
	if (OPERATION == RED_ADD)
		asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(1) : "memory");
	if (OPERATION == ATOM_ADD)
		asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(at), "r"(1) : "memory");
	if (OPERATION == RED_XOR)
		asm volatile("red.global.xor.b32 [%0], %1;" ::"l"(at), "r"(1) : "memory");
	if (OPERATION == ATOM_CAS)
		asm volatile("atom.global.cas.b32 %0, [%1], %2, %3;" : "=r"(v) : "l"(at), "r"(1), "r"(2) : "memory");
	return v;
}

template <int OPERATION> static __device__ unsigned do64(unsigned long long *at)
{
	unsigned long long v = 0;
	if (OPERATION == RED_ADD)
		asm volatile("red.global.add.u64 [%0], %1;" ::"l"(at), "l"(1ull) : "memory");
	if (OPERATION == ATOM_ADD)
		asm volatile("atom.global.add.u64 %0, [%1], %2;" : "=l"(v) : "l"(at), "l"(1ull) : "memory");
	if (OPERATION == RED_XOR)
		asm volatile("red.global.xor.b64 [%0], %1;" ::"l"(at), "l"(1ull) : "memory");
	if (OPERATION == ATOM_CAS)
		asm volatile("atom.global.cas.b64 %0, [%1], %2, %3;" : "=l"(v) : "l"(at), "l"(1ull), "l"(2ull) : "memory");
	return (unsigned)v;
}

/* Lanes of the second half go `split` bytes further. */
template <int OPERATION, int BYTES> __global__ void hot(char *data, span *spans, unsigned *out, int lanes, int words, int apart, int split)
{
	unsigned warp = (blockIdx.x * blockDim.x + threadIdx.x) / 32, lane = threadIdx.x % 32, sum = 0;
	bool on = (int)lane < lanes;
	data += lane / 16 * split;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < TRIPS; r++)
#pragma unroll
		for (int s = 0; s < UNROLLED; s++) {
			char *at = data + (size_t)((warp + r * UNROLLED + s) & (words - 1)) * apart;
			if (on)
				sum += BYTES == 4 ? do32<OPERATION>((unsigned *)at) : do64<OPERATION>((unsigned long long *)at);
		}
	__threadfence();
	note(spans, begin, cycles_after(sum, 0x7fffffff, out));
}

template <int OPERATION, int BYTES> static void measure_hot(const char *bench, const char *what, int lanes, int words, int apart, int split)
{
	double found = median_cycles(spans, SMS, WARPS, [&] {
		CHECK(cudaMemset(area, 0, AREA));
		hot<OPERATION, BYTES><<<SMS, WARPS * 32>>>(area, spans, out, lanes, words, apart, split);
	});
	row(bench, what, lanes, words, split ? split : apart, found / TRIPS / UNROLLED / WARPS / SMS);
}

template <int OPERATION> static void measure_operation(const char *what)
{
	for (int lanes : {1, 8, 32})
		for (int apart : {8, 32, 128, 512})
			for (int words : {1, 2, 4, 16, 64}) {
				if (words == 1 && apart > 8)
					continue;
				measure_hot<OPERATION, 4>("hot32", what, lanes, words, apart, 0);
				measure_hot<OPERATION, 8>("hot64", what, lanes, words, apart, 0);
			}
}

static void measure_pairs()
{
	for (int split : {4, 32, 64, 128, 256, 512})
		for (int words : {1, 16})
			measure_hot<RED_ADD, 4>("pairs", "red_add", 32, words, 4096, split);
}

/* ---- all at the end, as sums of a launch are ---- */

__global__ void queue(char *data, long long wait, int sums, int words)
{
	long long begin = cycles();
	while (cycles() - begin < wait)
		;
	if (threadIdx.x % 32 == 0)
		for (int s = 0; s < sums; s++)
			atomicAdd((unsigned long long *)data + s % words, (unsigned long long)threadIdx.x + 1);
}

static void measure_queue()
{
	for (int words : {1, 2})
		for (int sums : {0, 1, 2, 4, 8})
			row("queue", "red64", sums, words, 0, median_us_of([&] { queue<<<8 * SMS, 256>>>(area, 4000, sums, words); }, 15, 4));
}

/* ---- one warp alone ---- */

enum link { EXCH, ADD, CAS, CAS_NEW, LOAD_CAS };

template <int LINK> __global__ void chain(char *data, span *spans, unsigned *out, unsigned zero)
{
	unsigned *at = (unsigned *)(data + threadIdx.x * 128), v = 0;
	long long begin = cycles();
#pragma unroll 1
	for (unsigned r = 0; r < 64; r++) {
		if (LINK == EXCH)
			v = atomicExch(at + (v & zero), r);
		if (LINK == ADD)
			v = atomicAdd(at + (v & zero), r);
		if (LINK == CAS)
			v = atomicCAS(at + (v & zero), 0xffffffffu, r);
		if (LINK == CAS_NEW)
			v = atomicCAS(at + (v & zero), r, r + 1);
		if (LINK == LOAD_CAS) {
			v = __ldcg(at + (v & zero));
			v = atomicCAS(at + (v & zero), r, r + 1);
		}
	}
	note(spans, begin, cycles_after(v, 0x7fffffff, out));
}

template <int LINK> static void measure_chain(const char *what)
{
	for (int lanes : {1, 2, 8, 32})
		row("chain", what, lanes, 0, 0, median_cycles(spans, 1, 1, [&] {
			    CHECK(cudaMemset(area, 0, AREA));
			    chain<LINK><<<1, lanes>>>(area, spans, out, 0);
		    }) / 64);
}

int main()
{
	CHECK(cudaMalloc(&area, AREA));
	CHECK(cudaMalloc(&spans, SMS * WARPS * sizeof *spans));
	CHECK(cudaMalloc(&out, 1024));
	clocks_up(out, 100);
	measure_operation<RED_ADD>("red_add");
	measure_operation<ATOM_ADD>("atom_add");
	measure_operation<RED_XOR>("red_xor");
	measure_operation<ATOM_CAS>("atom_cas");
	measure_pairs();
	measure_queue();
	measure_chain<EXCH>("exch");
	measure_chain<ADD>("add");
	measure_chain<CAS>("cas");
	measure_chain<CAS_NEW>("cas_new");
	measure_chain<LOAD_CAS>("load_cas");
	return 0;
}
