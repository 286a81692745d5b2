/*
 * micro_streams: what launches of many short blocks that stream through memory wait for, how far L2's lines are, what DRAM does of random sectors, and
 * what L1 keeps of loads that are many at once.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_streams tests/accuracy/truth/micro_streams.cu
 *   micro_streams                 prints bench,what,a,b,c,value
 *   ncu ... micro_streams ncu     launches what Nsight Compute has counters of (strided, by L1's sectors and L2's), and prints what each launch was
 *
 * stream_KIND: every thread loads 4 bytes of READ arrays and stores to WRITE; arrays of 256 MB, or 8 MB again and again where KIND says L2.
 *   a: threads of a block, b: blocks of an SM at once. us: a launch, by events, without any notes. The rest is of every 16th SM, whose warps note
 *   their clock at the begin, when their loads have come, and at the end: load_10, load, load_90, load_mean (cycles of a warp's loads), block (of a
 *   block), gap (from a block's end to the begin of the next one in its place), warps (from the first warp's begin to the last one's); medians.
 * far: each SM reads lines of c MB again and again, eight loads of a block at a time. a: 0 the same lines in each launch, 1 others; b: cycles, steps
 *   of 32; value: share of loads.
 * sectors: threads load four sectors each, anywhere in a MB; b: blocks of an SM at once; value: sectors per ns
 * strided: threads a words apart go through 4 MB in 64 steps of 16 KB; b: steps whose loads are on their way together, c: blocks (of 256); value: us
 */
#include "tests/accuracy/truth/micro.h"

enum { MB = 1 << 20, AREA = 256, IN_L2 = 8, BINS = 64, NOTED = 16 };

struct stamp {
	long long begin, loaded, end;
	unsigned sm, block;
};

static char *area;
static stamp *stamps;
static unsigned *out, *bins;
static int repeats = 8;

/* ---- streams ---- */

struct arrays {
	const float *a, *b;
	float *c;
	unsigned from, to; /* masks of indices */
};

template <int READ, int WRITE, bool NOTE> __global__ void stream(arrays m, stamp *found, unsigned *out)
{
	long long begin = NOTE ? cycles() : 0;
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float x = 0, y = 0;
	if (READ > 0)
		x = m.a[i & m.from];
	if (READ > 1)
		y = m.b[i & m.from];
	x += y;
	long long loaded = NOTE ? cycles_after(__float_as_uint(x), 0x12345678, out) : 0;
	if (WRITE)
		m.c[i & m.to] = x;
	else if (x == 1.2345e30f)
		*out = 1;
	if (NOTE && sm_number() % NOTED == 3 && threadIdx.x % 32 == 0)
		found[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = {begin, loaded, cycles(), sm_number(), blockIdx.x};
}

template <typename LAUNCH> static double median_us(LAUNCH launch)
{
	return median_us_of(launch, repeats, 1);
}

static double at(std::vector<double> &v, double share)
{
	std::sort(v.begin(), v.end());
	return v.empty() ? 0 : v[(size_t)(share * (double)(v.size() - 1))];
}

struct one_block {
	long long begin, end, last_begin;
};

static void print_stamps(const char *what, int threads, int places, const std::vector<stamp> &read)
{
	std::vector<double> loads, blocks, gaps, warps;
	std::vector<one_block> by_sm[SMS];
	size_t per_block = (size_t)threads / 32;
	double sum = 0;
	for (size_t first = 0; first + per_block <= read.size(); first += per_block) {
		const stamp *s = &read[first];
		if (!s->begin)
			continue;
		one_block b = {s->begin, s->end, s->begin};
		for (size_t w = 0; w < per_block; w++) {
			b.begin = std::min(b.begin, s[w].begin);
			b.last_begin = std::max(b.last_begin, s[w].begin);
			b.end = std::max(b.end, s[w].end);
			loads.push_back((double)(s[w].loaded - s[w].begin));
			sum += loads.back();
		}
		blocks.push_back((double)(b.end - b.begin));
		warps.push_back((double)(b.last_begin - b.begin));
		if (s->sm < SMS)
			by_sm[s->sm].push_back(b);
	}
	for (auto &of : by_sm) {
		std::vector<long long> begins, ends;
		for (auto &b : of) {
			begins.push_back(b.begin);
			ends.push_back(b.end);
		}
		std::sort(begins.begin(), begins.end());
		std::sort(ends.begin(), ends.end());
		for (size_t n = 0; n + (size_t)places < begins.size(); n++)
			gaps.push_back((double)(begins[n + (size_t)places] - ends[n]));
	}
	row(what, "load_10", threads, places, 0, at(loads, 0.1));
	row(what, "load", threads, places, 0, at(loads, 0.5));
	row(what, "load_90", threads, places, 0, at(loads, 0.9));
	row(what, "load_mean", threads, places, 0, loads.empty() ? 0 : sum / (double)loads.size());
	row(what, "block", threads, places, 0, at(blocks, 0.5));
	row(what, "block_10", threads, places, 0, at(blocks, 0.1));
	row(what, "block_90", threads, places, 0, at(blocks, 0.9));
	row(what, "gap_10", threads, places, 0, at(gaps, 0.1));
	row(what, "gap", threads, places, 0, at(gaps, 0.5));
	row(what, "gap_90", threads, places, 0, at(gaps, 0.9));
	row(what, "warps", threads, places, 0, at(warps, 0.5));
}

template <int READ, int WRITE> static void measure_stream(const char *what, int threads, int places, unsigned from_mb, unsigned to_mb, bool in_place)
{
	unsigned elements = AREA * (MB / 4), blocks = elements / (unsigned)threads;
	int shared = places * threads == 2048 ? 0 : 224 * 1024 / places - 1024;
	char *c = area + (size_t)(in_place ? 1 : 2) * AREA * MB;
	arrays m = {(float *)area, (float *)(area + (size_t)AREA * MB), (float *)c, from_mb * (MB / 4) - 1, to_mb * (MB / 4) - 1};
	std::vector<stamp> read(elements / 32);
	auto plain = stream<READ, WRITE, false>;
	auto noted = stream<READ, WRITE, true>;
	CHECK(cudaFuncSetAttribute(plain, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	CHECK(cudaFuncSetAttribute(noted, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	row(what, "us", threads, places, 0, median_us([&] { plain<<<blocks, threads, shared>>>(m, stamps, out); }));
	row(what, "us_noted", threads, places, 0, median_us([&] { noted<<<blocks, threads, shared>>>(m, stamps, out); }));
	CHECK(cudaMemset(stamps, 0, read.size() * sizeof(stamp)));
	noted<<<blocks, threads, shared>>>(m, stamps, out);
	CHECK(cudaGetLastError());
	CHECK(cudaMemcpy(read.data(), stamps, read.size() * sizeof(stamp), cudaMemcpyDeviceToHost));
	print_stamps(what, threads, places, read);
}

static void measure_streams_of(int threads, int places)
{
	measure_stream<1, 0>("stream_read", threads, places, AREA, AREA, false);
	measure_stream<0, 1>("stream_write", threads, places, AREA, AREA, false);
	measure_stream<1, 1>("stream_copy", threads, places, AREA, AREA, false);
	measure_stream<2, 1>("stream_add", threads, places, AREA, AREA, false);
	measure_stream<2, 1>("stream_saxpy", threads, places, AREA, AREA, true);
	measure_stream<2, 0>("stream_read2", threads, places, AREA, AREA, false);
	measure_stream<1, 1>("stream_copy_to_l2", threads, places, AREA, IN_L2, false);
	measure_stream<1, 1>("stream_copy_from_l2", threads, places, IN_L2, AREA, false);
	measure_stream<1, 1>("stream_copy_in_l2", threads, places, IN_L2, IN_L2, false);
	measure_stream<1, 0>("stream_read_l2", threads, places, IN_L2, IN_L2, false);
}

static void measure_streams()
{
	for (int threads : {64, 256, 1024})
		measure_streams_of(threads, 2048 / threads);
	for (int places : {1, 2, 4})
		measure_streams_of(256, places);
}

/* ---- far ---- */

__global__ void far_lines(const unsigned *lines, unsigned count, unsigned other, unsigned *found, unsigned never, unsigned *out)
{
	extern __shared__ unsigned mine[];
	unsigned sm = (sm_number() + other) % SMS, warp = threadIdx.x / 32, warps = blockDim.x / 32;
	for (unsigned b = threadIdx.x; b < BINS; b += blockDim.x)
		mine[b] = 0;
	__syncthreads();
	for (unsigned n = sm + SMS * warp; n < count; n += SMS * warps) {
		unsigned v;
		long long begin = cycles();
		asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(lines + (size_t)n * 32 + threadIdx.x % 32));
		unsigned took = (unsigned)(cycles_after(v, never, out) - begin);
		if (threadIdx.x % 32 == 0)
			atomicAdd(&mine[min(took / 32, BINS - 1u)], 1);
	}
	__syncthreads();
	for (unsigned b = threadIdx.x; found && b < BINS; b += blockDim.x)
		atomicAdd(found + b, mine[b]);
}

static void measure_far(bool ncu)
{
	CHECK(cudaFuncSetAttribute(far_lines, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
	for (unsigned mb : {16, 24, 28, 30, 32, 34, 36, 40, 44, 48, 56, 64, 96})
		for (unsigned other = 0; other < 2; other++) {
			unsigned read[BINS];
			double all = 0, us = 0;
			CHECK(cudaMemset(bins, 0, sizeof read));
			us = median_us([&, r = 0u]() mutable { far_lines<<<SMS, 256, 200 * 1024>>>((unsigned *)area, mb * (MB / 128), other * 17 * ++r, nullptr, 0x12345678, out); });
			row("far", "us", other, 0, mb, us);
			for (unsigned r = 0; r < 2; r++)
				far_lines<<<SMS, 256, 200 * 1024>>>((unsigned *)area, mb * (MB / 128), other * 17 * (9 + r), bins, 0x12345678, out);
			CHECK(cudaMemcpy(read, bins, sizeof read, cudaMemcpyDeviceToHost));
			for (unsigned n : read)
				all += n;
			for (unsigned b = 0; b < BINS && !ncu; b++)
				if (read[b] / all >= 0.0005)
					row("far", "share", other, b * 32, mb, read[b] / all);
		}
}

/* ---- sectors ---- */

__global__ void sectors(const unsigned *from, unsigned long long count, unsigned *out)
{
	unsigned sum = 0, i = blockIdx.x * blockDim.x + threadIdx.x;
#pragma unroll
	for (unsigned k = 0; k < 4; k++) {
		unsigned long long h = (i * 4ull + k) * 0x9e3779b97f4a7c15ull;
		h ^= h >> 31;
		h *= 0xbf58476d1ce4e5b9ull;
		h ^= h >> 29;
		sum += from[h % count * 8];
	}
	if (sum == 0x12345678)
		*out = 1;
}

static void measure_sectors()
{
	for (unsigned long long mb : {16, 64, 128, 256, 512, 1024, 4096, 16384})
		for (int places : {2, 8}) {
			unsigned blocks = SMS * 8 * 16;
			int shared = places == 8 ? 0 : 224 * 1024 / places - 1024;
			CHECK(cudaFuncSetAttribute(sectors, cudaFuncAttributeMaxDynamicSharedMemorySize, 227 * 1024));
			double us = median_us([&] { sectors<<<blocks, 256, shared>>>((unsigned *)area, mb * (MB / 32), out); });
			row("sectors", "per_ns", (double)mb, places, 0, blocks * 256.0 * 4 / us / 1e3);
		}
}

/* ---- strided ---- */

template <int AT_ONCE> __global__ void strided(const float *in, float *to, int stride, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float s = 0;
	for (int k = 0; k < n; k += AT_ONCE) {
		float v[AT_ONCE];
#pragma unroll
		for (int j = 0; j < AT_ONCE; j++)
			asm volatile("ld.global.f32 %0, [%1];" : "=f"(v[j]) : "l"(in + ((i * stride + (k + j) * 4096) & 0xfffff)));
#pragma unroll
		for (int j = 0; j < AT_ONCE; j++)
			s += v[j];
	}
	to[i] = s;
}

template <int AT_ONCE> static void measure_strided()
{
	for (int stride : {1, 2, 8, 32})
		for (int blocks : {+SMS, SMS * 2, SMS * 4, SMS * 8, SMS * 32})
			row("strided", "us", stride, AT_ONCE, blocks,
			    median_us([&] { strided<AT_ONCE><<<blocks, 256>>>((float *)area, (float *)(area + (size_t)AREA * MB), stride, 64); }));
}

int main(int argc, char **argv)
{
	bool ncu = argc > 1 && !strcmp(argv[1], "ncu");
	if (ncu)
		repeats = 3;
	CHECK(cudaMalloc(&area, (size_t)16384 * MB));
	CHECK(cudaMemset(area, 0, (size_t)16384 * MB));
	CHECK(cudaMalloc(&stamps, (size_t)AREA * MB / 128 * sizeof(stamp)));
	CHECK(cudaMalloc(&out, 4096));
	CHECK(cudaMalloc(&bins, BINS * sizeof *bins));
	clocks_up(out, 200);
	measure_far(ncu);
	measure_strided<1>();
	measure_strided<4>();
	if (!ncu) {
		measure_streams();
		measure_sectors();
		clocks_up(out, 100);
		measure_far(false);
	}
	return 0;
}
