/*
 * micro_operands: which operands make divisions and roots take the long way, what that takes, and what loads of shared memory take of wide words.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_operands tests/accuracy/truth/micro_operands.cu
 *   micro_operands                prints bench,what,a,b,c,value
 *
 * divide_fast, divide64_fast: a: exponent field of the dividend, b to c: exponents of divisors with which a division is short, all such
 *   ranges; value: cycles of one of them. Exponents of doubles in steps of 16, but for the first and last ones.
 * root_fast, inverse_fast, root64_fast, inverse64_fast: b to c: exponents of operands with which they are short
 * divide: a: lanes of a warp whose dividend is 0, b: warps on the SM; value: cycles of the SM per division of a warp
 * wide: a: bytes of a load, b: lanes that load the same, c: words between two such; value: cycles of the SM per load, 32 warps
 * beside: a warp loads its line, or a: lines, from L2 and b words of shared memory in a round; c: SMs; value: cycles of an SM per round
 *   of a warp, 32 warps. what: miss (beyond L1), hit (L1 has it)
 */
#include "tests/accuracy/truth/micro.h"

enum { LAST32 = 256, LAST64 = 2048, ROUNDS = 64, STEPS = 16, ROOM = 8192 };

static span *spans;
static unsigned *out;

enum kind { DIVIDE, INVERSE, ROOT };

template <int KIND> static __device__ __forceinline__ float apply(float a, float b)
{
	float r;
	if (KIND == DIVIDE)
		asm volatile("div.rn.f32 %0, %1, %2;" : "=f"(r) : "f"(a), "f"(b));
	else if (KIND == INVERSE)
		asm volatile("rcp.rn.f32 %0, %1;" : "=f"(r) : "f"(b));
	else
		asm volatile("sqrt.rn.f32 %0, %1;" : "=f"(r) : "f"(b));
	return r;
}

template <int KIND> static __device__ __forceinline__ double apply(double a, double b)
{
	double r;
	if (KIND == DIVIDE)
		asm volatile("div.rn.f64 %0, %1, %2;" : "=d"(r) : "d"(a), "d"(b));
	else if (KIND == INVERSE)
		asm volatile("rcp.rn.f64 %0, %1;" : "=d"(r) : "d"(b));
	else
		asm volatile("sqrt.rn.f64 %0, %1;" : "=d"(r) : "d"(b));
	return r;
}

static __device__ __forceinline__ void make(float *v, unsigned exponent, bool odd)
{
	*v = __uint_as_float(exponent << 23 | (odd ? 0x400000 : 0));
}

static __device__ __forceinline__ void make(double *v, unsigned exponent, bool odd)
{
	*v = __hiloint2double((int)(exponent << 20 | (odd ? 0x80000 : 0)), 0);
}

static __device__ __forceinline__ unsigned bits(float v)
{
	return __float_as_uint(v);
}

static __device__ __forceinline__ unsigned bits(double v)
{
	return (unsigned)__double2hiint(v) ^ (unsigned)__double2loint(v);
}

/* One lane for each pair of exponents, alone in its warp; the last of three rounds counts. */
template <int KIND, typename REAL> __global__ void classify(const unsigned *as, const unsigned *bs, bool odd, unsigned *took,
                                                                      unsigned never, unsigned *out)
{
	REAL a, b;
	make(&a, as[blockIdx.y], odd);
	make(&b, bs[blockIdx.x], odd);
	unsigned last = 0;
#pragma unroll 1
	for (int r = 0; r < 3; r++) {
		long long begin = cycles();
		REAL v = apply<KIND>(a, b);
		last = (unsigned)(cycles_after(bits(v), never, out) - begin);
	}
	took[blockIdx.y * gridDim.x + blockIdx.x] = last;
}

static std::vector<unsigned> exponents(unsigned last)
{
	std::vector<unsigned> e;
	for (unsigned i = 0; i < last; i++)
		if (last == LAST32 || i < 64 || i >= last - 64 || i % 16 == 0 || (i >= 960 && i < 1088))
			e.push_back(i);
	return e;
}

/* The short ones: those of the operands 1 and 1, and what takes less than that and half of the way to the longest. */
template <int KIND, typename REAL> static void measure_classes(const char *bench, unsigned last, bool odd)
{
	std::vector<unsigned> e = exponents(last), took;
	unsigned n = (unsigned)e.size(), rows = KIND == DIVIDE ? n : 1, *device_e, *device_took;
	CHECK(cudaMalloc(&device_e, n * 4));
	CHECK(cudaMalloc(&device_took, (size_t)n * rows * 4));
	CHECK(cudaMemcpy(device_e, e.data(), n * 4, cudaMemcpyHostToDevice));
	classify<KIND, REAL><<<dim3(n, rows), 1>>>(device_e, device_e, odd, device_took, 0x12345, out);
	CHECK(cudaGetLastError());
	took.resize((size_t)n * rows);
	CHECK(cudaMemcpy(took.data(), device_took, took.size() * 4, cudaMemcpyDeviceToHost));
	unsigned middle = 0, most = 0;
	for (unsigned i = 0; i < n; i++)
		middle = e[i] == last / 2 - 1 ? i : middle;
	unsigned usual = took[(size_t)(rows > 1 ? middle : 0) * n + middle];
	for (unsigned t : took)
		most = std::max(most, t);
	row(bench, odd ? "longest_odd" : "longest", 0, 0, 0, most);
	for (unsigned a = 0; a < rows; a++)
		for (unsigned b = 0; b < n;) {
			unsigned first = b, cost = took[(size_t)a * n + b];
			bool is_short = cost < usual + 20;
			while (b < n && (took[(size_t)a * n + b] < usual + 20) == is_short)
				b++;
			if (is_short)
				row(bench, odd ? "odd" : "even", e[a], e[first], e[b - 1], cost);
		}
	CHECK(cudaFree(device_e));
	CHECK(cudaFree(device_took));
}

/* ---- divisions of which some lanes take the long way ---- */

__global__ void divide(span *spans, unsigned *out, int zeros, float by)
{
	float a = (int)(threadIdx.x % 32) < zeros ? 0.0f : 1.5f, sum[4] = {};
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++)
#pragma unroll
		for (int s = 0; s < 4; s++)
			sum[s] += apply<DIVIDE>(a, by + sum[s]);
	long long end = cycles_after(__float_as_uint(sum[0] + sum[1] + sum[2] + sum[3]), 0x12345, out);
	note(spans, begin, end);
}

static void measure_divide()
{
	for (int zeros : {0, 1, 8, 32})
		for (int warps = 1; warps <= 32; warps *= 2) {
			double found = median_cycles(spans, 1, warps, [&] { divide<<<1, warps * 32>>>(spans, out, zeros, 3.0f); });
			row("divide", "cycles", zeros, warps, 0, found / ROUNDS / 4 / warps);
		}
}

/* ---- wide loads of shared memory ---- */

template <int BYTES> __global__ void __launch_bounds__(1024) wide(span *spans, unsigned *out, int alike, int apart)
{
	__shared__ __align__(16) unsigned room[ROOM];
	for (int i = threadIdx.x; i < ROOM; i += blockDim.x)
		room[i] = 0;
	__syncthreads();
	unsigned at = (unsigned)__cvta_generic_to_shared(&room[threadIdx.x % 32 / alike * apart % ROOM]), x = 0, y, z, w;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++)
#pragma unroll
		for (int s = 0; s < STEPS; s++) {
			if (BYTES == 4)
				asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
			else if (BYTES == 8)
				asm volatile("ld.volatile.shared.v2.u32 {%0, %1}, [%2];" : "=r"(x), "=r"(y) : "r"(at));
			else
				asm volatile("ld.volatile.shared.v4.u32 {%0, %1, %2, %3}, [%4];" : "=r"(x), "=r"(y), "=r"(z), "=r"(w) : "r"(at));
		}
	long long end = cycles_after(x, 0x12345, out);
	note(spans, begin, end);
}

template <int BYTES> static void measure_wide()
{
	for (int alike = 1; alike <= 32; alike *= 2)
		for (int apart : {BYTES / 4, 16, 20, 32, 36}) {
			double found = median_cycles(spans, 1, 32, [&] { wide<BYTES><<<1, 1024>>>(spans, out, alike, apart); });
			row("wide", "cycles", BYTES, alike, apart, found / ROUNDS / STEPS / 32);
		}
}

/* ---- loads of global memory beside loads of shared memory ---- */

template <int LINES, int WORDS, bool HIT> __global__ void beside(const unsigned *from, span *spans, unsigned *out)
{
	__shared__ unsigned room[1024];
	room[threadIdx.x] = 0;
	__syncthreads();
	unsigned at = (unsigned)__cvta_generic_to_shared(&room[threadIdx.x % 32]), x = 0, old = 0, lane = threadIdx.x % 32;
	const unsigned *line = from + (size_t)blockIdx.x * (1 << 16) + threadIdx.x / 32 * LINES * 32 + lane / (32 / LINES) * 32 + lane % (32 / LINES);
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < ROUNDS; r++) {
		unsigned v;
		const unsigned *here = line + r % 2 * (1 << 15);
		if (HIT)
			asm volatile("ld.global.ca.u32 %0, [%1];" : "=r"(v) : "l"(here));
		else
			asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(here));
#pragma unroll
		for (int s = 0; s < WORDS; s++)
			asm volatile("ld.volatile.shared.u32 %0, [%1];" : "=r"(x) : "r"(at));
		old += v;
	}
	long long end = cycles_after(x + old, 0x12345, out);
	note(spans, begin, end);
}

template <int LINES, int WORDS, bool HIT> static void measure_beside(const unsigned *from)
{
	for (int sms : {1, +SMS}) {
		double found = median_cycles(spans, sms, 32, [&] { beside<LINES, WORDS, HIT><<<sms, 1024>>>(from, spans, out); });
		row("beside", HIT ? "hit" : "miss", LINES, WORDS, sms, found / ROUNDS / 32);
	}
}

template <int LINES, bool HIT> static void measure_beside_lines(const unsigned *from)
{
	measure_beside<LINES, 0, HIT>(from);
	measure_beside<LINES, 8, HIT>(from);
	measure_beside<LINES, 16, HIT>(from);
	measure_beside<LINES, 32, HIT>(from);
	measure_beside<LINES, 64, HIT>(from);
}

static void measure_all_beside()
{
	unsigned *from;
	CHECK(cudaMalloc(&from, (size_t)SMS << 18));
	CHECK(cudaMemset(from, 0, (size_t)SMS << 18));
	measure_beside_lines<1, false>(from);
	measure_beside_lines<2, false>(from);
	measure_beside_lines<4, false>(from);
	measure_beside_lines<8, false>(from);
	measure_beside_lines<32, false>(from);
	measure_beside_lines<1, true>(from);
	measure_beside_lines<2, true>(from);
	measure_beside_lines<8, true>(from);
	CHECK(cudaFree(from));
}

int main()
{
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 4096));
	clocks_up(out, 100);
	measure_all_beside();
	measure_divide();
	measure_wide<4>();
	measure_wide<8>();
	measure_wide<16>();
	for (bool odd : {false, true}) {
		measure_classes<ROOT, float>("root_fast", LAST32, odd);
		measure_classes<INVERSE, float>("inverse_fast", LAST32, odd);
		measure_classes<ROOT, double>("root64_fast", LAST64, odd);
		measure_classes<INVERSE, double>("inverse64_fast", LAST64, odd);
		measure_classes<DIVIDE, float>("divide_fast", LAST32, odd);
		measure_classes<DIVIDE, double>("divide64_fast", LAST64, odd);
	}
	return 0;
}
