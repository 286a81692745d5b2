/*
 * micro_wide: which lanes of a warp share a turn of shared memory in accesses of 4, 8 and 16 bytes a lane.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_wide tests/accuracy/truth/micro_wide.cu
 *   micro_wide                prints bench,what,a,b,c,value
 *
 * Each lane has an element: lane l accesses the bytes from its element times the width times c on. value: cycles of the SM per access, 32 warps.
 * bench: lds, sts (loads and stores); a: bytes of a lane
 * what: bits     the element is made of the bits of l that are set in b, put together; c: 1 or 17
 *       stride   the element is l; b: 0; c: the stride
 *       random   the element is mix(b * 64 + l + 1) % c, as below, and the stride 1; b: which of eight
 *       active   the element is l, and only lanes with (l & b) == 0 are active; c: 1
 *       pair     of bits, lanes 16 to 31 access what lanes 0 to 15 do, one element further (b: 1, 2, 4, 8); c: 1
 */
#include "tests/accuracy/truth/micro.h"

enum { ROUNDS = 64, STEPS = 16, ROOM = 8192 };
enum kind { LDS, STS };

static span *spans;
static unsigned *out, *offsets;

/* Bits of a 32-bit number, well mixed (a finaliser of MurmurHash 3). */
static unsigned mix(unsigned x)
{
	x ^= x >> 16;
	x *= 0x85ebca6bu;
	x ^= x >> 13;
	x *= 0xc2b2ae35u;
	return x ^ x >> 16;
}

template <int KIND, int BYTES> __global__ void __launch_bounds__(1024) wide(span *spans, unsigned *out, const unsigned *offsets)
{
	__shared__ __align__(16) unsigned room[ROOM];
	for (int i = threadIdx.x; i < ROOM; i += blockDim.x)
		room[i] = 0;
	__syncthreads();
	unsigned own = offsets[threadIdx.x % 32], x = 0, y, z, w;
	if (own == ~0u)
		return;
	unsigned at = (unsigned)__cvta_generic_to_shared(&room[0]) + own;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++)
#pragma unroll
		for (int s = 0; s < STEPS; s++) {
			if (KIND == LDS && BYTES == 4)
				asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
			else if (KIND == LDS && BYTES == 8)
				asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
			else if (KIND == LDS)
				asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at));
			else if (KIND == STS && BYTES == 4)
				asm volatile("st.volatile.shared.u32 [%0], %1;" ::"r"(at), "r"(own) : "memory");
			else if (KIND == STS && BYTES == 8)
				asm volatile("st.volatile.shared.v2.u32 [%0], {%1, %1};" ::"r"(at), "r"(own) : "memory");
			else
				asm volatile("st.volatile.shared.v4.u32 [%0], {%1, %1, %1, %1};" ::"r"(at), "r"(own) : "memory");
		}
	long long end = cycles_after(x, 0x12345, out);
	note(spans, begin, end);
}

template <int KIND, int BYTES> static void one(const char *what, int b, int c, const unsigned *elements, unsigned active)
{
	static const char *const names[] = {"lds", "sts"};
	unsigned own[32];
	for (unsigned l = 0; l < 32; l++)
		own[l] = active >> l & 1 ? elements[l] * BYTES : ~0u;
	CHECK(cudaMemcpy(offsets, own, sizeof own, cudaMemcpyHostToDevice));
	double found = median_cycles(spans, 1, 32, [&] { wide<KIND, BYTES><<<1, 1024>>>(spans, out, offsets); });
	row(names[KIND], what, BYTES, b, c, found / ROUNDS / STEPS / 32);
}

static unsigned together(unsigned lane, unsigned bits)
{
	unsigned v = 0, n = 0;
	for (unsigned b = 0; b < 5; b++)
		if (bits >> b & 1)
			v |= (lane >> b & 1) << n++;
	return v;
}

template <int KIND, int BYTES> static void all()
{
	unsigned e[32];
	for (unsigned apart : {1, 17})
		for (unsigned bits = 0; bits < 32; bits++) {
			for (unsigned l = 0; l < 32; l++)
				e[l] = together(l, bits) * apart;
			one<KIND, BYTES>("bits", bits, apart, e, ~0u);
		}
	for (unsigned stride : {2, 3, 4, 5, 6, 8, 9, 12, 16}) {
		for (unsigned l = 0; l < 32; l++)
			e[l] = l * stride;
		one<KIND, BYTES>("stride", 0, stride, e, ~0u);
	}
	for (unsigned of : {4, 8, 16, 32, 64, 256})
		for (unsigned seed = 0; seed < 8; seed++) {
			for (unsigned l = 0; l < 32; l++)
				e[l] = mix(seed * 64 + l + 1) % of;
			one<KIND, BYTES>("random", seed, of, e, ~0u);
		}
	for (unsigned bits = 1; bits < 32; bits++) {
		unsigned active = 0;
		for (unsigned l = 0; l < 32; l++) {
			e[l] = l;
			active |= (l & bits) == 0 ? 1u << l : 0;
		}
		one<KIND, BYTES>("active", bits, 1, e, active);
	}
	for (unsigned further : {1, 2, 4, 8}) {
		for (unsigned l = 0; l < 32; l++)
			e[l] = l % 16 + (l / 16) * further;
		one<KIND, BYTES>("pair", further, 1, e, ~0u);
	}
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 4096));
	CHECK(cudaMalloc(&offsets, 4096));
	clocks_up(out, 100);
	all<LDS, 4>();
	all<LDS, 8>();
	all<LDS, 16>();
	all<STS, 4>();
	all<STS, 8>();
	all<STS, 16>();
	return 0;
}
