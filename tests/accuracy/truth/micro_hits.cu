/*
 * micro_hits: which lanes of a warp share a turn of L1's banks, in loads of 4, 8 and 16 bytes a lane that hit.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_hits tests/accuracy/truth/micro_hits.cu
 *   micro_hits                prints bench,what,a,b,c,value
 *
 * Each lane has an element: lane l loads the bytes from its element times the width times c on. value: cycles of the SM per load, 32 warps.
 * bench: ldg; a: bytes of a lane
 * what: bits     the element is made of the bits of l that are set in b, put together; c: 1, 3, 17 or 128 / a
 *       stride   the element is l; b: 0; c: the stride
 *       random   the element is mix(b * 64 + l + 1) % c, as in micro_wide, and the stride 1; b: which of eight
 *       active   the element is l, and only lanes with (l & b) == 0 are active; c: 1
 *       pair     lanes 16 to 31 load what lanes 0 to 15 do, one element further (b: 1, 2, 4, 8); c: 1
 */
#include "tests/accuracy/truth/micro.h"

enum { ROUNDS = 64, STEPS = 16, CHAINS = 4, ROOM = 32768 };

static span *spans;
static unsigned *out, *offsets;
static char *area;

/* Bits of a 32-bit number, well mixed (a finaliser of MurmurHash 3). */
static unsigned mix(unsigned x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bu;
	x ^= x >> 13;
	x *= 0xc2b2ae35u;
	return x ^ x >> 16;
}

/* All that is loaded is 0 and needed for the next address: a compiler would not load what nobody needs. */
template <int BYTES> static __device__ __forceinline__ unsigned load(const char *at)
{
	unsigned x, y, z, w;
	if (BYTES == 4) {
		asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(x) : "l"(at));
		return x;
	}
	if (BYTES == 8) {
		asm volatile("ld.global.ca.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "l"(at));
		return x | y;
	}
	asm volatile("ld.global.ca.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "l"(at));
	return x | y | z | w;
}

template <int BYTES> __global__ void __launch_bounds__(1024) hits(span *spans, unsigned *out, const unsigned *offsets, const char *area)
{
	unsigned own = offsets[threadIdx.x % 32], at[CHAINS];
	if (own == ~0u)
		return;
	for (int k = 0; k < CHAINS; k++)
		at[k] = own;
	long long begin = 0;
#pragma unroll 1
	for (int r = 0; r <= ROUNDS; r++) {
		if (r == 1)
			begin = cycles();
#pragma unroll
		for (int s = 0; s < STEPS; s++)
			at[s % CHAINS] |= load<BYTES>(area + at[s % CHAINS]);
	}
	unsigned sum = 0;
	for (int k = 0; k < CHAINS; k++)
		sum += at[k];
	note(spans, begin, cycles_after(sum, 0x12345, out));
}

template <int BYTES> static void one(const char *what, int b, int c, const unsigned *elements, unsigned active)
{
	unsigned own[32];
	for (unsigned l = 0; l < 32; l++)
		own[l] = active >> l & 1 ? elements[l] * BYTES : ~0u;
	CHECK(cudaMemcpy(offsets, own, sizeof own, cudaMemcpyHostToDevice));
	double found = median_cycles(spans, 1, 32, [&] { hits<BYTES><<<1, 1024>>>(spans, out, offsets, area); });
	row("ldg", what, BYTES, b, c, found / ROUNDS / STEPS / 32);
}

static unsigned together(unsigned lane, unsigned bits)
{
	unsigned v = 0, n = 0;
	for (unsigned b = 0; b < 5; b++)
		if (bits >> b & 1)
			v |= (lane >> b & 1) << n++;
	return v;
}

template <int BYTES> static void all()
{
	unsigned e[32];
	for (unsigned apart : {1, 3, 17, 128 / BYTES})
		for (unsigned bits = 0; bits < 32; bits++) {
			for (unsigned l = 0; l < 32; l++)
				e[l] = together(l, bits) * apart;
			one<BYTES>("bits", bits, apart, e, ~0u);
		}
	for (unsigned stride : {2, 3, 4, 5, 6, 8, 9, 12, 16}) {
		for (unsigned l = 0; l < 32; l++)
			e[l] = l * stride;
		one<BYTES>("stride", 0, stride, e, ~0u);
	}
	for (unsigned of : {4, 8, 16, 32, 64, 256})
		for (unsigned seed = 0; seed < 8; seed++) {
			for (unsigned l = 0; l < 32; l++)
				e[l] = mix(seed * 64 + l + 1) % of;
			one<BYTES>("random", seed, of, e, ~0u);
		}
	for (unsigned bits = 1; bits < 32; bits++) {
		unsigned active = 0;
		for (unsigned l = 0; l < 32; l++) {
			e[l] = l;
			active |= (l & bits) == 0 ? 1u << l : 0;
		}
		one<BYTES>("active", bits, 1, e, active);
	}
	for (unsigned further : {1, 2, 4, 8}) {
		for (unsigned l = 0; l < 32; l++)
			e[l] = l % 16 + (l / 16) * further;
		one<BYTES>("pair", further, 1, e, ~0u);
	}
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 4096));
	CHECK(cudaMalloc(&offsets, 4096));
	CHECK(cudaMalloc(&area, ROOM));
	CHECK(cudaMemset(area, 0, ROOM));
	clocks_up(out, 100);
	all<4>();
	all<8>();
	all<16>();
	return 0;
}
