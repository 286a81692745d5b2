/*
 * micro_places: where allocations are, atomics on words of one slice of L2 or of two, and random sectors of memories about as large as L2.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_places tests/accuracy/truth/micro_places.cu
 *   micro_places                  prints bench,what,a,b,c,value
 *   ncu ... micro_places ncu      launches what Nsight Compute has counters of (gathered), and prints what each launch was
 *
 * allocation: a: its number, b: bytes, value: where it begins, beside the first one
 * two: all SMs, 8 warps each, lanes on 8 words of a sector: atomics in turn on one, and on another so many bytes behind it (a). b: SMs;
 *   value: cycles per instruction of a warp, of all SMs together. what: add, min (which changes nothing), min_new (which changes mostly)
 * gathered: threads load four sectors each, anywhere in a MB; b: blocks of an SM at once; value: sectors per ns. gathered1: one sector each.
 * placed: the same where SMs know their sectors: all SMs load any of a MB, but each SM loads the same ones in every launch
 * far_sectors: SMs read the lines of a MB that other SMs read before, sector by sector; of lines whose first sector takes longer than b
 *   cycles, the share of sectors c that do, too (value)
 */
#include "tests/accuracy/truth/micro.h"

enum { MB = 1 << 20, AREA = 512 };

static char *area;
static span *spans;
static unsigned *out;
static int repeats = 9;

/* ---- allocations ---- */

static void measure_allocations()
{
	static const size_t sizes[] = {32, 32, 32, 512, 513, 32, 4096, 65536, 32, 65536, MB, MB, 32, MB + 4, 32, 2 * MB, 32, 3 * MB, 32, 16 * MB, 32,
	                               16 * MB, 33 * MB, 32};
	std::vector<char *> made;
	for (size_t bytes : sizes) {
		char *p;
		CHECK(cudaMalloc(&p, bytes));
		made.push_back(p);
		row("allocation", "at", (double)made.size(), (double)bytes, (double)((uintptr_t)p >> 21), (double)(p - made[0]));
	}
	for (char *p : made)
		CHECK(cudaFree(p));
}

/* ---- atomics on two sectors ---- */

enum operation { ADD, MIN, MIN_NEW };

template <int OPERATION> __global__ void two(int *data, span *spans, unsigned *out, int apart, int rounds)
{
	int *at = data + threadIdx.x % 8, *other = at + apart / 4, value = OPERATION == MIN ? 1 << 30 : -(int)threadIdx.x;
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int s = 0; s < 4; s++) {
			if (OPERATION == ADD)
				asm volatile("red.global.add.s32 [%0], %1;" ::"l"(s % 2 ? other : at), "r"(1) : "memory");
			else
				asm volatile("red.global.min.s32 [%0], %1;" ::"l"(s % 2 ? other : at), "r"(value - (OPERATION == MIN_NEW ? 2000 * r : 0)) : "memory");
		}
	__threadfence();
	note(spans, begin, cycles_after(rounds, 0x7fffffff, out));
}

template <int OPERATION> static void measure_two_of(const char *what, int apart, int sms)
{
	enum { TRIPS = 64, WARPS = 8 };
	double found = median_cycles(spans, sms, WARPS, [&] {
		CHECK(cudaMemset(area, 0x7f, 2 * 65536));
		two<OPERATION><<<sms, WARPS * 32>>>((int *)area, spans, out, apart, TRIPS);
	});
	row("two", what, apart, sms, 0, found / TRIPS / 4 / WARPS / sms);
}

static void measure_two()
{
	for (int apart : {0, 32, 64, 128, 256, 384, 512, 768, 1024, 1536, 2048, 4096, 8192, 65536})
		for (int sms : {1, 16, +SMS}) {
			measure_two_of<ADD>("add", apart, sms);
			measure_two_of<MIN>("min", apart, sms);
			measure_two_of<MIN_NEW>("min_new", apart, sms);
		}
}

/* ---- random sectors ---- */

template <typename LAUNCH> static double median_us(LAUNCH launch)
{
	return median_us_of(launch, repeats, 2);
}

template <int EACH, bool PLACED> __global__ void gathered(const unsigned *from, unsigned long long count, unsigned *out)
{
	unsigned sum = 0, block = PLACED ? sm_number() * 128 + blockIdx.x / SMS : blockIdx.x, i = block * blockDim.x + threadIdx.x;
#pragma unroll
	for (unsigned k = 0; k < EACH; k++) {
		unsigned long long h = (i * (unsigned long long)EACH + k) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 31;
		h *= 0xbf58476d1ce4e5b9ull;
		h ^= h >> 29;
		sum += from[h % count * 8];
	}
	if (sum == 0x12345678)
		*out = 1;
}

template <int EACH, bool PLACED> static void measure_gathered(const char *what, unsigned mb, int places)
{
	unsigned blocks = SMS * 8 * 16;
	int shared = places == 8 ? 0 : 224 * 1024 / places - 1024;
	auto kernel = gathered<EACH, PLACED>;
	CHECK(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	double us = median_us([&] { kernel<<<blocks, 256, shared>>>((unsigned *)area, (unsigned long long)mb * (MB / 32), out); });
	row(what, "per_ns", mb, places, 0, blocks * 256.0 * EACH / us / 1e3);
	row(what, "us", mb, places, 0, us);
}

static void measure_all_gathered(bool ncu)
{
	for (unsigned mb : {4, 8, 16, 20, 24, 28, 30, 32, 34, 36, 40, 44, 48, 56, 64})
		for (int places : {1, 2, 4, 8}) {
			if (ncu && (places != 8 || (mb != 16 && mb != 32 && mb != 36 && mb != 40 && mb != 48)))
				continue;
			measure_gathered<4, false>("gathered", mb, places);
			if (ncu)
				continue;
			measure_gathered<1, false>("gathered1", mb, places);
			measure_gathered<4, true>("placed", mb, places);
		}
}

/* ---- what comes with a far sector ---- */

enum { SECTORS = 4, NEAR = 430, DRAM = 720 };

template <bool NOTE> __global__ void by_sectors(const unsigned *lines, unsigned count, unsigned other, unsigned *found, unsigned never, unsigned *out)
{
	unsigned sm = (blockIdx.x + other) % SMS, warp = threadIdx.x / 32, warps = blockDim.x / 32, far[2 * SECTORS] = {};
	for (unsigned n = sm + SMS * warp; n < count; n += SMS * warps) {
		bool first = false, dram = false;
		for (unsigned s = 0; s < SECTORS; s++) {
			unsigned v;
			long long begin = cycles();
			asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(lines + (size_t)n * 32 + s * 8));
			unsigned took = (unsigned)(cycles_after(v, never, out) - begin);
			first |= !s && took >= NEAR && took < DRAM;
			dram |= !s && took >= DRAM;
			if (first)
				far[s] += took >= NEAR;
			if (dram)
				far[SECTORS + s] += took >= NEAR;
		}
	}
	for (unsigned s = 0; NOTE && s < 2 * SECTORS && threadIdx.x % 32 == 0; s++)
		atomicAdd(found + s, far[s]);
}

static void measure_far_sectors()
{
	unsigned *found, read[2 * SECTORS];
	CHECK(cudaMalloc(&found, sizeof read));
	for (unsigned mb : {34, 36, 40, 128}) {
		CHECK(cudaMemset(found, 0, sizeof read));
		for (unsigned r = 0; r < 12; r++)
			by_sectors<false><<<SMS, 256>>>((unsigned *)area, mb * (MB / 128), r * 17, nullptr, 0x12345678, out);
		for (unsigned r = 12; r < 15; r++)
			by_sectors<true><<<SMS, 256>>>((unsigned *)area, mb * (MB / 128), r * 17, found, 0x12345678, out);
		CHECK(cudaMemcpy(read, found, sizeof read, cudaMemcpyDeviceToHost));
		for (unsigned s = 0; s < SECTORS; s++) {
			row("far_sectors", "far", mb, NEAR, s, read[s] / (double)std::max(read[0], 1u));
			row("far_sectors", "dram", mb, DRAM, s, read[SECTORS + s] / (double)std::max(read[SECTORS], 1u));
		}
		row("far_sectors", "share", mb, NEAR, 0, read[0] / 3.0 / (mb * (MB / 128.0)));
		row("far_sectors", "share", mb, DRAM, 0, read[SECTORS] / 3.0 / (mb * (MB / 128.0)));
	}
}

int main(int argc, char **argv)
{
	bool ncu = argc > 1 && !strcmp(argv[1], "ncu");
	if (ncu)
		repeats = 4;
	CHECK(cudaFree(nullptr));
	if (!ncu)
		measure_allocations();
	CHECK(cudaMalloc(&area, (size_t)AREA * MB));
	CHECK(cudaMemset(area, 0, (size_t)AREA * MB));
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 4096));
	clocks_up(out, 200);
	measure_all_gathered(ncu);
	if (!ncu) {
		measure_far_sectors();
		measure_two();
	}
	return 0;
}
