/*
 * micro_sm: what an SM does with loads, stores and atomics of lanes that do not lie side by side, and with barriers of small groups.
 *
 *   micro_sm [-q]     (-q: little of each, to try it)
 *
 * Prints bench,what,a,b,c,value. Values are cycles per instruction of a warp and SM, unless said otherwise. All data of `l1_*` is in L1.
 */
#include "tests/accuracy/truth/micro.h"

static span *spans;
static unsigned *words, *out;
static int rounds = 64;
enum { STEPS = 16, WORDS = 1 << 22, SMS = 132 };

/* ---- l1_stride: lanes a words apart, b warps, c loads under way per warp; every lane reads the same word again and again ---- */

/* The words are 0, so that a load adds nothing to the address of the next. */
static __device__ __forceinline__ unsigned load(const void *at)
{
	unsigned v;
	asm volatile("ld.global.u32 %0, [%1];" : "=r"(v) : "l"(at));
	return v;
}

template <int WIDTH, int CHAINS> __global__ void load_wide(const char *data, span *spans, unsigned *out, int stride_bytes, int rounds)
{
	const char *at[CHAINS];
	for (int k = 0; k < CHAINS; k++)
		at[k] = data + (threadIdx.x % 32) * (size_t)stride_bytes;
	for (int warm = 0; warm < 2; warm++)
		for (int k = 0; k < CHAINS; k++)
			at[k] += load(at[k]);
	__syncthreads();
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
#pragma unroll
		for (int s = 0; s < STEPS / CHAINS; s++)
#pragma unroll
			for (int k = 0; k < CHAINS; k++) {
				unsigned a, b, c, d;
				if (WIDTH == 4)
					asm volatile("ld.global.u32 %0, [%1];" : "=r"(a) : "l"(at[k]));
				else if (WIDTH == 8)
					asm volatile("ld.global.v2.u32 {%0, %1}, [%2];" : "=r"(a), "=r"(b) : "l"(at[k]));
				else
					asm volatile("ld.global.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(a), "=r"(b), "=r"(c), "=r"(d) : "l"(at[k]));
				at[k] += a;
			}
	}
	size_t sum = 0;
	for (int k = 0; k < CHAINS; k++)
		sum += (size_t)at[k];
	long long end = cycles_after(sum, 1, out);
	note(spans, begin, end);
}

template <int WIDTH, int CHAINS> static void l1_stride(const char *what, int stride_bytes, int warps)
{
	/* More than 32 warps are two blocks, which one SM takes if there is only one of every pair: spans of one block are enough. */
	int blocks = warps > 32 ? 2 * SMS : 1, size = (warps > 32 ? warps / 2 : warps) * 32;
	double found = median_cycles(spans, blocks, size / 32, [&] { load_wide<WIDTH, CHAINS><<<blocks, size>>>((char *)words, spans, out, stride_bytes, rounds); });
	row("l1_stride", what, stride_bytes / 4.0, warps, CHAINS, found / rounds / STEPS / warps);
}

static void measure_l1_strides()
{
	static const int strides[] = {0, 1, 2, 3, 4, 5, 8, 9, 12, 16, 17, 20, 24, 28, 31, 32, 33, 34, 36, 40, 48, 63, 64, 65, 96, 128, 129, 136, 256, 257, 1024, 1025, 1032};
	static const int warps[] = {1, 2, 4, 8, 16, 32, 64};
	for (int s : strides)
		for (int w : warps) {
			if (w == 1)
				l1_stride<4, 1>("u32", 4 * s, w);
			l1_stride<4, 4>("u32", 4 * s, w);
			if (s % 4 == 0 && (w == 1 || w == 16 || w == 64)) {
				l1_stride<8, 4>("v2.u32", 4 * s, w);
				l1_stride<16, 4>("v4.u32", 4 * s, w);
			}
		}
}

/* ---- l1_lines: lanes on a lines with b words between neighbours on a line; c warps. Distinct lines and banks apart from each other ---- */

__global__ void load_lines(const unsigned *data, span *spans, unsigned *out, int lines, int skew, int rounds)
{
	/* Lane l is on line l % lines, at word l / lines + skew * line: with skew 1, lanes of different lines are in different banks. */
	unsigned lane = threadIdx.x % 32, line = lane % lines, word = (lane / lines + skew * line * (32 / lines)) % 32;
	const char *at[4];
	for (int k = 0; k < 4; k++) {
		at[k] = (const char *)(data + line * 32 + word);
		at[k] += load(at[k]);
	}
	__syncthreads();
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int s = 0; s < STEPS; s++) {
			at[s % 4] += load(at[s % 4]);
		}
	long long end = cycles_after((size_t)at[0] + (size_t)at[1] + (size_t)at[2] + (size_t)at[3], 1, out);
	note(spans, begin, end);
}

static void measure_l1_lines()
{
	for (int skew = 0; skew < 2; skew++)
		for (int lines = 1; lines <= 32; lines *= 2)
			for (int warps = 1; warps <= 32; warps *= 2) {
				double found = median_cycles(spans, 1, warps, [&] { load_lines<<<1, warps * 32>>>(words, spans, out, lines, skew, rounds); });
				row("l1_lines", skew ? "other_banks" : "same_bank", lines, 0, warps, found / rounds / STEPS / warps);
			}
}

/* ---- l1_row_walk: each lane walks a row of its own, rows a words apart, b warps per SM, c words of a row; cycles per load ---- */

__global__ void walk_rows(const float *data, span *spans, float *out, int pitch, int length)
{
	const float *row = data + (size_t)(blockIdx.x * blockDim.x + threadIdx.x) * pitch;
	float sum = 0;
	long long begin = cycles();
	for (int j = 0; j < length; j++)
		sum += row[j];
	long long end = cycles_after(__float_as_uint(sum), 1, (unsigned *)out);
	note(spans, begin, end);
}

/* all: on every SM, else on one. Data stays in L2 as far as it fits, for it was read by the launch before. */
static void measure_row_walks()
{
	static const int pitches[] = {256, 257, 1024, 1040};
	static const int warps[] = {1, 2, 4, 8, 16, 32};
	for (int all = 0; all < 2; all++)
		for (int pitch : pitches)
			for (int w : warps) {
				if ((size_t)w * 32 * pitch * (all ? SMS : 1) > (size_t)64 * WORDS)
					continue;
				int blocks = all ? SMS : 1, length = 256;
				double found = median_cycles(spans, blocks, w, [&] { walk_rows<<<blocks, w * 32>>>((float *)words, spans, (float *)out, pitch, length); });
				row("l1_row_walk", all ? "all" : "one", pitch, w, length, found / length / w);
			}
}

/* ---- l1_misses: loads that L1 misses and L2 hits: a sectors apart of b warps with c loads under way; value: cycles per sector ---- */

template <int CHAINS> __global__ void miss(const char *data, span *spans, unsigned *out, int lane_bytes, size_t hop, size_t mask, int rounds)
{
	size_t at = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32 * lane_bytes + threadIdx.x % 32 * (size_t)lane_bytes;
	unsigned sum = 0;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		unsigned v[CHAINS];
#pragma unroll
		for (int k = 0; k < CHAINS; k++) {
			v[k] = load(data + (at & mask));
			at += hop;
		}
#pragma unroll
		for (int k = 0; k < CHAINS; k++)
			sum += v[k];
		at += sum; /* waits for all of them; the words are 0 */
	}
	long long end = cycles_after(sum, 1, out);
	note(spans, begin, end);
}

template <int CHAINS> static void misses(const char *what, int lane_bytes, int warps, bool all, double sectors)
{
	int blocks = all ? SMS : 1;
	size_t step = (size_t)blocks * warps * 32 * lane_bytes, mask = ((size_t)16 << 20) - 1;
	int trips = std::max(4, rounds / 2);
	double found = median_cycles(spans, blocks, warps, [&] { miss<CHAINS><<<blocks, warps * 32>>>((char *)words, spans, out, lane_bytes, step, mask, trips); });
	row(all ? "l1_misses_all" : "l1_misses", what, sectors, warps, CHAINS, found / trips / CHAINS / warps / sectors);
}

static void measure_misses()
{
	for (int all = 0; all < 2; all++)
		for (int warps = 1; warps <= 32; warps *= 2) {
			misses<1>("line", 4, warps, all, 4), misses<2>("line", 4, warps, all, 4), misses<4>("line", 4, warps, all, 4), misses<8>("line", 4, warps, all, 4);
			misses<1>("sectors", 32, warps, all, 32), misses<2>("sectors", 32, warps, all, 32), misses<4>("sectors", 32, warps, all, 32), misses<8>("sectors", 32, warps, all, 32);
			misses<1>("lines", 128, warps, all, 32), misses<2>("lines", 128, warps, all, 32), misses<4>("lines", 128, warps, all, 32), misses<8>("lines", 128, warps, all, 32);
		}
}

/* ---- stores: lanes a bytes apart, b warps; cycles per store of a warp, of one SM or of all ---- */

__global__ void store(char *data, span *spans, int lane_bytes, size_t hop, size_t mask, int rounds)
{
	size_t at = (size_t)(blockIdx.x * blockDim.x + threadIdx.x) / 32 * 32 * lane_bytes + threadIdx.x % 32 * (size_t)lane_bytes;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int k = 0; k < 8; k++) {
			asm volatile("st.global.u32 [%0], %1;" ::"l"(data + (at & mask)), "r"(0) : "memory");
			at += hop;
		}
	__threadfence();
	long long end = cycles();
	note(spans, begin, end);
}

static void measure_stores()
{
	static const int apart[] = {4, 8, 16, 32, 64, 128, 132, 4096};
	for (int all = 0; all < 2; all++)
		for (int bytes : apart)
			for (int warps = 1; warps <= 32; warps *= 2) {
				int blocks = all ? SMS : 1;
				size_t step = (size_t)blocks * warps * 32 * bytes, mask = ((size_t)16 << 20) - 1;
				double found = median_cycles(spans, blocks, warps, [&] { store<<<blocks, warps * 32>>>((char *)words, spans, bytes, step, mask & ~(size_t)3, rounds); });
				row(all ? "stores_all" : "stores", "u32", bytes, warps, 0, found / rounds / 8 / warps);
				/* The same words again and again: L2 has them. */
				found = median_cycles(spans, blocks, warps, [&] { store<<<blocks, warps * 32>>>((char *)words, spans, bytes, 0, mask & ~(size_t)3, rounds); });
				row(all ? "stores_again_all" : "stores_again", "u32", bytes, warps, 0, found / rounds / 8 / warps);
			}
}

/* ---- shared: lanes a words apart, b warps; loads, stores and atomics of shared memory ---- */

enum shared_kind { SHARED_LOAD, SHARED_STORE, SHARED_ATOMIC };

template <int KIND> __global__ void shared_access(span *spans, unsigned *out, int stride, int rounds)
{
	__shared__ unsigned room[8192];
	for (int i = threadIdx.x; i < 8192; i += blockDim.x)
		room[i] = 0;
	__syncthreads();
	unsigned at = (unsigned)__cvta_generic_to_shared(&room[threadIdx.x % 32 * stride % 8192]), other = at;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int s = 0; s < STEPS; s++) {
			unsigned v = 0;
			unsigned &p = s % 2 ? at : other;
			if (KIND == SHARED_LOAD) {
				asm volatile("ld.shared.u32 %0, [%1];" : "=r"(v) : "r"(p));
				p += v;
			} else if (KIND == SHARED_STORE)
				asm volatile("st.shared.u32 [%0], %1;" ::"r"(p), "r"(0) : "memory");
			else
				asm volatile("red.shared.add.u32 [%0], %1;" ::"r"(p), "r"(0) : "memory");
		}
	long long end = cycles_after(at + other, 1, out);
	note(spans, begin, end);
}

static void measure_shared()
{
	static const int strides[] = {0, 1, 2, 4, 8, 16, 32, 33};
	for (int stride : strides)
		for (int warps = 1; warps <= 32; warps *= 2) {
			double found = median_cycles(spans, 1, warps, [&] { shared_access<SHARED_LOAD><<<1, warps * 32>>>(spans, out, stride, rounds); });
			row("shared", "load", stride, warps, 0, found / rounds / STEPS / warps);
			found = median_cycles(spans, 1, warps, [&] { shared_access<SHARED_STORE><<<1, warps * 32>>>(spans, out, stride, rounds); });
			row("shared", "store", stride, warps, 0, found / rounds / STEPS / warps);
			found = median_cycles(spans, 1, warps, [&] { shared_access<SHARED_ATOMIC><<<1, warps * 32>>>(spans, out, stride, rounds); });
			row("shared", "atomic", stride, warps, 0, found / rounds / STEPS / warps);
		}
}

/* ---- atomics: a addresses a warp, b bytes apart, c SMs with 8 warps each; cycles per instruction of a warp, of all SMs together ---- */

template <bool RESULT> __global__ void global_atomics(unsigned *data, span *spans, unsigned *out, int addresses, int apart, int rounds)
{
	unsigned *at = data + threadIdx.x % 32 % addresses * apart / 4, sum = 0;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int s = 0; s < 4; s++) {
			if (RESULT) {
				unsigned v;
				asm volatile("atom.global.add.u32 %0, [%1], %2;" : "=r"(v) : "l"(at), "r"(1) : "memory");
				sum += v;
			} else
				asm volatile("red.global.add.u32 [%0], %1;" ::"l"(at), "r"(1) : "memory");
		}
	__threadfence();
	long long end = cycles_after(sum, 0x7fffffff, out);
	note(spans, begin, end);
}

static void measure_atomics()
{
	static const int apart[] = {4, 32, 128, 512};
	static const int sms[] = {1, 4, 132};
	int trips = std::max(2, rounds / 8);
	unsigned *counters = words + 2 * WORDS;
	for (int bytes : apart)
		for (int addresses = 1; addresses <= 32; addresses *= 2)
			for (int n : sms) {
				double found = median_cycles(spans, n, 8, [&] { global_atomics<false><<<n, 256>>>(counters, spans, out, addresses, bytes, trips); });
				row("atomics", "red", addresses, bytes, n, found / trips / 4 / 8 / n);
				found = median_cycles(spans, n, 8, [&] { global_atomics<true><<<n, 256>>>(counters, spans, out, addresses, bytes, trips); });
				row("atomics", "atom", addresses, bytes, n, found / trips / 4 / 8 / n);
			}
}

/* ---- barriers: a warps a group, b groups on an SM; cycles per barrier. With c = 1, shared memory is written and read between ---- */

__global__ void barriers(span *spans, unsigned *out, int rounds, int between)
{
	__shared__ unsigned room[1024];
	unsigned v = threadIdx.x;
	room[threadIdx.x] = v;
	__syncthreads();
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		if (between) {
			room[threadIdx.x] = v;
			asm volatile("bar.sync 0;" ::: "memory");
			v += room[(threadIdx.x + 1) % blockDim.x];
		}
		asm volatile("bar.sync 0;" ::: "memory");
	}
	long long end = cycles_after(v, 0xffffffff, out);
	if (threadIdx.x == 0)
		spans[blockIdx.x] = {begin, end};
}

static void measure_barriers()
{
	static const int groups[] = {1, 2, 4, 8, 16, 32};
	static const int sizes[] = {16, 32, 64, 128, 256};
	for (int between = 0; between < 2; between++)
		for (int size : sizes)
			for (int n : groups) {
				if (size * n > 2048)
					continue;
				/* As many on every SM: blocks are dealt out one to each in turn. */
				double found = median_cycles(spans, n * SMS, 1, [&] { barriers<<<n * SMS, size>>>(spans, out, rounds, between); });
				row("barriers", between ? "with_shared" : "alone", size, n, between, found / rounds / (1 + between));
			}
}

int main(int argc, char **argv)
{
	bool quick = argc > 1 && !strcmp(argv[1], "-q");
	rounds = quick ? 2 : 64;
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&words, (size_t)64 * WORDS * 4));
	CHECK(cudaMemset(words, 0, (size_t)64 * WORDS * 4));
	CHECK(cudaMalloc(&out, 4096));
	measure_l1_strides();
	measure_l1_lines();
	measure_row_walks();
	measure_misses();
	measure_stores();
	measure_shared();
	measure_barriers();
	measure_atomics();
	return 0;
}
