/*
 * micro_control: what branches cost a warp and an SM: lanes that part in if-else and in loops, and come together again.
 *   micro_control [-q]
 */
#include "tests/accuracy/truth/micro.h"

static span *spans;
static unsigned *out;
static int rounds;

/* Eight instructions that depend on each other, other ones in each place: nothing to merge, too long for predicates. */
#define BODY(x, n)                                                                                                     \
	asm volatile("mad.lo.u32 %0, %0, %0, " #n "1; xor.b32 %0, %0, " #n "2; add.u32 %0, %0, " #n "3; xor.b32 %0, %0, " #n "4;\n\t" \
	             "mad.lo.u32 %0, %0, %0, " #n "5; xor.b32 %0, %0, " #n "6; add.u32 %0, %0, " #n "7; xor.b32 %0, %0, " #n "8;" \
	             : "+r"(x))

/* ---- branches: a: ways that the lanes of a warp take (1: all the same), b warps on the SM; cycles per round ---- */

__global__ void two_way(span *spans, unsigned *out, int rounds, unsigned mask)
{
	unsigned x = threadIdx.x, way = threadIdx.x & mask;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		if (way & 1)
			BODY(x, 1);
		else
			BODY(x, 2);
		asm volatile("" : "+r"(way));
	}
	long long end = cycles_after(x, 0x7fffffff, out);
	note(spans, begin, end);
}

__global__ void four_way(span *spans, unsigned *out, int rounds, unsigned mask)
{
	unsigned x = threadIdx.x, way = threadIdx.x & mask;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		if (way & 2) {
			if (way & 1)
				BODY(x, 1);
			else
				BODY(x, 2);
		} else {
			if (way & 1)
				BODY(x, 3);
			else
				BODY(x, 4);
		}
		asm volatile("" : "+r"(way));
	}
	long long end = cycles_after(x, 0x7fffffff, out);
	note(spans, begin, end);
}

/* One side only. */
__global__ void one_side(span *spans, unsigned *out, int rounds, unsigned mask)
{
	unsigned x = threadIdx.x, way = threadIdx.x & mask;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		if (!(way & 1))
			BODY(x, 1);
		asm volatile("" : "+r"(way));
	}
	long long end = cycles_after(x, 0x7fffffff, out);
	note(spans, begin, end);
}

/* An inner loop of 1 to `mask` + 1 trips, other ones in each lane: `a` trips of the longest. */
__global__ void trips(span *spans, unsigned *out, int rounds, unsigned mask, unsigned most)
{
	unsigned x = threadIdx.x;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		unsigned n = most - (threadIdx.x & mask);
		asm volatile("" : "+r"(n));
#pragma unroll 1
		do
			BODY(x, 1);
		while (--n);
	}
	long long end = cycles_after(x, 0x7fffffff, out);
	note(spans, begin, end);
}

/* A switch of 8, by a table of addresses if the compiler likes. */
__global__ void switches(span *spans, unsigned *out, int rounds, unsigned mask)
{
	unsigned x = threadIdx.x, way = threadIdx.x & mask;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		switch (way) {
		case 0: BODY(x, 1); break;
		case 1: BODY(x, 2); break;
		case 2: BODY(x, 3); break;
		case 3: BODY(x, 4); break;
		case 4: BODY(x, 5); break;
		case 5: BODY(x, 6); break;
		case 6: BODY(x, 7); break;
		default: BODY(x, 8);
		}
		asm volatile("" : "+r"(way));
	}
	long long end = cycles_after(x, 0x7fffffff, out);
	note(spans, begin, end);
}

/* ---- full: as branches, on all SMs at once and with up to 64 warps on each, in short arms; `constants`: loads of a constants by their indices ---- */

#define SHORT(x, n) asm volatile("mad.lo.u32 %0, %0, %0, " #n "1; xor.b32 %0, %0, " #n "2;" : "+r"(x))

__global__ void short_switches(span *spans, unsigned *out, int rounds, unsigned mask)
{
	unsigned x = threadIdx.x, way = threadIdx.x & mask;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++) {
		switch (way) {
		case 0: SHORT(x, 1); break;
		case 1: SHORT(x, 2); break;
		case 2: SHORT(x, 3); break;
		case 3: SHORT(x, 4); break;
		case 4: SHORT(x, 5); break;
		case 5: SHORT(x, 6); break;
		case 6: SHORT(x, 7); break;
		default: SHORT(x, 8);
		}
		asm volatile("" : "+r"(way));
	}
	long long end = cycles_after(x, 0x7fffffff, out);
	note(spans, begin, end);
}

__constant__ unsigned table[64];
__global__ void constants(span *spans, unsigned *out, int rounds, unsigned mask)
{
	unsigned x = threadIdx.x & mask;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
		x = table[x & 63] + (threadIdx.x & mask);
	long long end = cycles_after(x, 0x7fffffff, out);
	note(spans, begin, end);
}

static void measure_full(int w)
{
	enum { SMS = 132 };
	int blocks = w > 32 ? 2 * SMS : SMS, each = w > 32 ? w / 2 : w;
	for (unsigned mask = 0; mask < 8; mask = mask * 2 + 1) {
		double found = median_cycles(spans, blocks, each, [&] { short_switches<<<blocks, each * 32>>>(spans, out, rounds, mask); });
		row("full", "switch", mask + 1, w, 0, found / rounds);
		found = median_cycles(spans, blocks, each, [&] { constants<<<blocks, each * 32>>>(spans, out, rounds, mask); });
		row("full", "constants", mask + 1, w, 0, found / rounds);
	}
	for (unsigned mask = 0; mask < 2; mask++) {
		double found = median_cycles(spans, blocks, each, [&] { two_way<<<blocks, each * 32>>>(spans, out, rounds, mask); });
		row("full", "two", mask + 1, w, 0, found / rounds);
	}
}

int main(int argc, char **argv)
{
	static const int warps[] = {1, 2, 4, 8, 16, 32};
	bool quick = argc > 1 && !strcmp(argv[1], "-q");
	rounds = quick ? 2 : 256;
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 4096));
	for (int w : warps) {
		for (unsigned mask = 0; mask < 2; mask++) {
			double found = median_cycles(spans, 1, w, [&] { two_way<<<1, w * 32>>>(spans, out, rounds, mask); });
			row("branches", "two", mask + 1, w, 0, found / rounds);
			found = median_cycles(spans, 1, w, [&] { one_side<<<1, w * 32>>>(spans, out, rounds, mask); });
			row("branches", "one", mask + 1, w, 0, found / rounds);
		}
		for (unsigned mask = 0; mask < 4; mask = mask * 2 + 1) {
			double found = median_cycles(spans, 1, w, [&] { four_way<<<1, w * 32>>>(spans, out, rounds, mask); });
			row("branches", "four", mask + 1, w, 0, found / rounds);
		}
		for (unsigned mask = 0; mask < 8; mask = mask * 2 + 1) {
			double found = median_cycles(spans, 1, w, [&] { switches<<<1, w * 32>>>(spans, out, rounds, mask); });
			row("branches", "switch", mask + 1, w, 0, found / rounds);
			found = median_cycles(spans, 1, w, [&] { trips<<<1, w * 32>>>(spans, out, rounds, mask, 8); });
			row("branches", "trips", mask + 1, w, 8, found / rounds);
		}
	}
	for (int w : {1, 4, 8, 16, 32, 48, 64})
		measure_full(w);
	return 0;
}
