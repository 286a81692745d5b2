/*
 * micro_beside: stores to global memory beside loads that L1 has and loads of shared memory, on SMs full of warps.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_beside tests/accuracy/truth/micro_beside.cu
 *   micro_beside                prints bench,what,a,b,c,value
 *
 * In a round each warp makes so many loads that hit L1, stores, and loads of shared memory (what: hHsSwW; S_ stores go where the loads are). There is
 * one load at most: the assembler makes one of several in a row that are alike, and takes them out of a loop without stores.
 * a: bytes from a lane's word to the next one's in loads that hit, b: the same in stores, c: SMs x 100 + warps on each
 * value: cycles of an SM per round of a warp
 */
#include "tests/accuracy/truth/micro.h"

enum { ROUNDS = 128, LINES = 32 * 132 };

static span *spans;
static unsigned *out;
static char *read_from, *write_to;

template <int HITS, int STORES, int WORDS, bool SAME> __global__ void __launch_bounds__(1024)
beside(span *spans, unsigned *out, const char *read_from, char *write_to, unsigned load_apart, unsigned store_apart)
{
	__shared__ unsigned room[1024];
	room[threadIdx.x] = 0;
	__syncthreads();
	unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32, x = 0, word = 0;
	unsigned at = (unsigned)__cvta_generic_to_shared(&room[lane]);
	const char *from = read_from + (size_t)blockIdx.x * (1 << 18) + (SAME ? warp * 4096u : 0) + lane * load_apart;
	char *to = SAME ? (char *)from : write_to + ((size_t)blockIdx.x * 32 + warp) * 4096u * 2 + lane * store_apart;
	for (int i = 0; i < 2; i++)
		asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(from));
	__syncthreads();
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++) {
		unsigned v[HITS + 1];
#pragma unroll
		for (int i = 0; i < HITS; i++)
			asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v[i]) : "l"(from));
#pragma unroll
		for (int i = 0; i < WORDS; i++)
			asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(word) : "r"(at));
#pragma unroll
		for (int i = 0; i < STORES; i++)
			asm volatile("st.global.u32 [%0], %1;" ::"l"(to), "r"(r) : "memory");
#pragma unroll
		for (int i = 0; i < HITS; i++)
			x += v[i];
	}
	long long end = cycles_after(x + word, 0x12345678, out);
	note(spans, begin, end);
}

template <int HITS, int STORES, int WORDS, bool SAME> static void one(unsigned load_apart, unsigned store_apart)
{
	char what[64];
	snprintf(what, sizeof what, "h%ds%d%sw%d", HITS, STORES, SAME ? "_" : "", WORDS);
	for (int sms : {1, +SMS})
		for (int warps : {8, 32}) {
			double found = median_cycles(spans, sms, warps, [&] {
				beside<HITS, STORES, WORDS, SAME><<<sms, warps * 32>>>(spans, out, read_from, write_to, load_apart, store_apart);
			});
			row("beside", what, load_apart, store_apart, sms * 100 + warps, found / ROUNDS / warps);
		}
}

template <int HITS, int STORES, int WORDS> static void each_store(unsigned load_apart)
{
	for (unsigned apart : {4, 8, 16, 32, 64, 128})
		one<HITS, STORES, WORDS, false>(load_apart, apart);
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 4096));
	CHECK(cudaMalloc(&read_from, (size_t)(SMS + 1) << 18));
	CHECK(cudaMalloc(&write_to, (size_t)(SMS + 1) << 18));
	CHECK(cudaMemset(read_from, 0, (size_t)(SMS + 1) << 18));
	clocks_up(out, 100);
	each_store<0, 1, 0>(4);
	for (unsigned load_apart : {4, 32, 64, 128})
		each_store<1, 1, 0>(load_apart);
	each_store<0, 1, 8>(4);
	each_store<0, 1, 16>(4);
	each_store<0, 1, 32>(4);
	each_store<0, 1, 64>(4);
	for (unsigned apart : {4, 32, 64, 128}) {
		one<0, 1, 0, true>(apart, apart);
		one<1, 1, 0, true>(apart, apart);
	}
	return 0;
}
