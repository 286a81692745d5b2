/*
 * micro_memory: what is behind L1: how far L2 is from each SM, what a walk over many pages costs, streams, and textures and surfaces.
 *
 *   micro_memory [-q]     (-q: little of each, to try it)
 *
 * Prints bench,what,a,b,c,value; each bench says what they are.
 */
#include "tests/accuracy/truth/micro.h"

static span *spans;
static unsigned *out;
static bool quick;

/* ---- sm_clock: MHz by the SM's counter against the GPU's timer ---- */

__global__ void clock_rate(unsigned long long *found)
{
	unsigned long long ns = nanoseconds();
	long long begin = cycles(), now;
	do
		now = cycles();
	while (now - begin < 400000);
	found[0] = (unsigned long long)(now - begin);
	found[1] = nanoseconds() - ns;
}

static void print_clock(const char *when)
{
	unsigned long long found[2];
	clock_rate<<<1, 1>>>((unsigned long long *)out);
	CHECK(cudaMemcpy(found, out, sizeof found, cudaMemcpyDeviceToHost));
	row("sm_clock", when, 0, 0, 0, (double)found[0] * 1e3 / (double)found[1]);
}

/* ---- l2_latency: one lane per SM loads line after line that L2 has; cycles of each load ---- */

__global__ void touch(const uint4 *area, size_t count, unsigned *out)
{
	unsigned sum = 0;
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
		sum += area[i].x;
	if (sum == 1)
		out[0] = sum;
}

/* Only one block on the wanted SM works, the first that claims it. Loads skip L1. */
__global__ void line_latencies(const char *area, int lines, size_t apart, unsigned sm, unsigned *claim, unsigned short *found)
{
	if (sm_number() != sm || threadIdx.x || atomicExch(claim, 1))
		return;
	__shared__ volatile unsigned arrived; /* the clock is read behind a store that needs what was loaded */
	size_t offset = 0;
	for (int i = 0; i < lines; i++) {
		unsigned v;
		long long begin = cycles();
		asm volatile("ld.global.cg.u32 %0, [%1];" : "=r"(v) : "l"(area + offset));
		arrived = v;
		long long end = cycles();
		found[i] = (unsigned short)min(end - begin, 65535ll);
		offset += apart + v; /* the words are 0 */
	}
}

/* a: SM, b: from, c: to this many cycles; value: loads. `mean` is of the SM's loads. */
static void print_histogram(const char *bench, const char *what, int sm, const std::vector<unsigned short> &found, int wide)
{
	std::vector<int> bins(65536 / wide + 1);
	double sum = 0;
	for (unsigned short f : found) {
		bins[f / wide]++;
		sum += f;
	}
	for (size_t b = 0; b < bins.size(); b++)
		if (bins[b] * 200 > (int)found.size())
			row(bench, what, sm, (double)(b * wide), (double)((b + 1) * wide), bins[b]);
	row(bench, "mean", sm, 0, 0, sum / (double)found.size());
}

static void launch_latencies(const char *area, int lines, size_t apart, int sm, unsigned short *found)
{
	unsigned *claim = out + 8;
	CHECK(cudaMemset(claim, 0, sizeof *claim));
	line_latencies<<<8 * SMS, 32>>>(area, lines, apart, (unsigned)sm, claim, found);
	CHECK(cudaGetLastError());
}

static void measure_l2_latency()
{
	enum { LINES = 4096, APART = 1024 };
	const size_t bytes = (size_t)LINES * APART, large = (size_t)512 << 20;
	char *area, *other;
	unsigned short *found;
	CHECK(cudaMalloc(&area, bytes));
	CHECK(cudaMemset(area, 0, bytes));
	CHECK(cudaMalloc(&other, large));
	CHECK(cudaMemset(other, 0, large));
	CHECK(cudaMalloc(&found, LINES * sizeof *found));
	std::vector<unsigned short> read(LINES);
	std::vector<std::vector<unsigned short>> of_sm;
	for (int sm = 0; sm < SMS; sm += quick ? 66 : 1) {
		touch<<<SMS, 256>>>((uint4 *)area, bytes / 16, out);
		CHECK(cudaMemset(found, 0, LINES * sizeof *found));
		for (int twice = 0; twice < 2; twice++)
			launch_latencies(area, LINES, APART, sm, found);
		CHECK(cudaMemcpy(read.data(), found, LINES * sizeof *found, cudaMemcpyDeviceToHost));
		print_histogram("l2_latency", "cycles", sm, read, sm % 16 ? 64 : 8);
		of_sm.push_back(read);
	}
	/* The first 64 lines from a few SMs: which lines are near to which SMs, and in what grain. a: SM, b: line, c: bytes apart. */
	for (size_t s = 0; s < of_sm.size(); s += 17)
		for (int i = 0; i < 64; i++)
			row("l2_line", "cycles", (double)s, i, APART, of_sm[s][i]);
	/* Lines that L2 does not have: the other area was read last. */
	for (int sm = 0; sm < SMS; sm += 33) {
		touch<<<SMS, 1024>>>((uint4 *)other, large / 16, out);
		launch_latencies(area, LINES, APART, sm, found);
		CHECK(cudaMemcpy(read.data(), found, LINES * sizeof *found, cudaMemcpyDeviceToHost));
		print_histogram("dram_latency", "cycles", sm, read, 16);
	}
	CHECK(cudaFree(area));
	CHECK(cudaFree(other));
	CHECK(cudaFree(found));
}

/* ---- pages: a chase over a bytes with nodes b bytes apart, by one lane; c = 1: the first time round; value: cycles a load ---- */

struct node {
	node *next;
};

/* Nodes are shifted by lines, so that they are not all of one set. */
static __device__ __forceinline__ node *node_at(char *area, size_t i, size_t stride)
{
	return (node *)(area + i * stride + (stride >= 65536 ? i * 7 % 256 * 128 : 0));
}

__global__ void link_nodes(char *area, size_t count, size_t stride, size_t step)
{
	for (size_t i = blockIdx.x * (size_t)blockDim.x + threadIdx.x; i < count; i += (size_t)gridDim.x * blockDim.x)
		node_at(area, i, stride)->next = node_at(area, (i + step) % count, stride);
}

__global__ void chase(node *from, int steps, span *spans, unsigned *out)
{
	node *p = from;
	long long begin = cycles();
#pragma unroll 1
	for (int s = 0; s < steps; s++)
		asm volatile("ld.global.cg.u64 %0, [%0];" : "+l"(p));
	long long end = cycles_after((unsigned long long)p, 0, out);
	note(spans, begin, end);
}

static size_t prime_to(size_t count)
{
	for (size_t step = (size_t)((double)count * 0.618) | 1;; step += 2) {
		size_t a = count, b = step % count;
		while (b) {
			size_t rest = a % b;
			a = b;
			b = rest;
		}
		if (a == 1)
			return step % count;
	}
}

static double chase_cycles(char *area, size_t bytes, size_t stride, bool first)
{
	size_t count = bytes / stride;
	int steps = quick ? 64 : first ? (int)std::min<size_t>(count, 4096) : 4096, warm = (int)std::min<size_t>(2 * count, quick ? 64 : 65536);
	span read;
	link_nodes<<<SMS, 256>>>(area, count, stride, count > 2 ? prime_to(count) : 1);
	if (!first)
		chase<<<1, 1>>>((node *)area, warm, spans, out);
	std::vector<double> found;
	for (int r = 0; r < (first ? 1 : 3); r++) {
		chase<<<1, 1>>>((node *)area, steps, spans, out);
		CHECK(cudaGetLastError());
		CHECK(cudaMemcpy(&read, spans, sizeof read, cudaMemcpyDeviceToHost));
		found.push_back((double)(read.end - read.begin) / steps);
	}
	std::sort(found.begin(), found.end());
	return found[found.size() / 2];
}

/* With nodes of a few bytes each, L2 has all of them; what grows with the area is the look-up of addresses. */
static void measure_pages()
{
	const size_t largest = quick ? (size_t)64 << 20 : (size_t)96 << 30, mega = 1 << 20;
	static const size_t strides[] = {4096, 65536, 262144, (size_t)2 << 20, (size_t)8 << 20, (size_t)32 << 20};
	char *area;
	if (cudaMalloc(&area, largest)) {
		fprintf(stderr, "error: no room for a walk over %zu GB\n", largest >> 30);
		return;
	}
	for (size_t stride : strides)
		for (size_t bytes = std::max(4 * stride, mega); bytes <= largest; bytes *= 2)
			for (int half = 0; half < 2; half++) {
				size_t all = bytes + half * bytes / 2;
				if (all > largest || all / stride > 65536)
					continue;
				row("pages", "cycles", (double)all, (double)stride, 0, chase_cycles(area, all, stride, false));
			}
	/* The look-up of pages that were just written by other SMs. */
	for (size_t bytes = 16 * mega; bytes <= largest; bytes *= 4)
		row("pages", "cycles", (double)bytes, 2.0 * mega, 1, chase_cycles(area, bytes, 2 * mega, true));
	CHECK(cudaFree(area));
}

/* ---- first_touch: launches that read a MB of memory once: the first time after it was allocated, and again; value: us ---- */

static void measure_first_touch()
{
	for (size_t mb = 16; mb <= (quick ? 16 : 4096); mb *= 4) {
		char *area;
		cudaEvent_t from, to;
		CHECK(cudaMalloc(&area, mb << 20));
		CHECK(cudaEventCreate(&from));
		CHECK(cudaEventCreate(&to));
		for (int r = 0; r < 4; r++) {
			float ms;
			CHECK(cudaEventRecord(from));
			touch<<<16 * SMS, 512>>>((uint4 *)area, (mb << 20) / 16, out);
			CHECK(cudaEventRecord(to));
			CHECK(cudaDeviceSynchronize());
			CHECK(cudaEventElapsedTime(&ms, from, to));
			row("first_touch", r ? "again" : "first", (double)mb, r, 0, 1e3 * ms);
		}
		CHECK(cudaEventDestroy(from));
		CHECK(cudaEventDestroy(to));
		CHECK(cudaFree(area));
	}
}

/* ---- columns: all lanes of b groups of 128 read a column each, a rows of c columns, c = 128 b; value: cycles a row ---- */

__global__ void read_columns(const float *data, span *spans, float *out, int rows, int columns)
{
	int j = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	long long begin = cycles();
#pragma unroll 1
	for (int i = 0; i < rows; i++)
		sum += data[(size_t)i * columns + j];
	long long end = cycles_after(__float_as_uint(sum), 1, (unsigned *)out);
	note(spans, begin, end);
}

static void measure_columns()
{
	const size_t words = (size_t)256 << 20;
	float *data;
	CHECK(cudaMalloc(&data, words * 4));
	CHECK(cudaMemset(data, 0, words * 4));
	static const int groups[] = {1, 8, 32, 64, 132, 264, 528};
	for (int n : groups)
		for (int rows = 256; rows <= 16384; rows *= 8) {
			int columns = 128 * n;
			if ((size_t)rows * columns > words || (quick && n > 8))
				continue;
			row("columns", "cycles", rows, n, columns,
			    median_cycles(spans, n, 4, [&] { read_columns<<<n, 128>>>(data, spans, (float *)out, rows, columns); }) / rows);
		}
	CHECK(cudaFree(data));
}

/* ---- textures and surfaces of float4: a: width, b: height, c: reads of a pixel; value: us ---- */

template <int READS> __global__ void sample(cudaTextureObject_t in, float4 *out, int width, float off)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	float4 sum = {0, 0, 0, 0};
#pragma unroll
	for (int k = 0; k < READS; k++) {
		float4 v = tex2D<float4>(in, x + 0.5f + off * (k % 3 - 1), y + 0.5f + off * (k / 3 - 1));
		sum.x += v.x, sum.y += v.y, sum.z += v.z, sum.w += v.w;
	}
	out[(size_t)y * width + x] = sum;
}

__global__ void write_surface(cudaSurfaceObject_t to, float value)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	surf2Dwrite(make_float4(value, value, value, value), to, x * 16, y);
}

/* b warps of an SM read the same few pixels again: cycles per read of a warp. Lanes 8x4 (c = 8) or 32x1 (c = 32). */
__global__ void sample_again(cudaTextureObject_t in, span *spans, float *out, int wide, int rounds)
{
	float x = threadIdx.x % 32 % wide + 0.5f, y = threadIdx.x % 32 / wide + 0.5f, sum = 0;
	for (int r = 0; r < 2; r++)
		sum += tex2D<float4>(in, x, y).x;
	__syncthreads();
	long long begin = cycles();
#pragma unroll 1
	for (int r = 0; r < rounds; r++)
#pragma unroll
		for (int s = 0; s < 4; s++)
			sum += tex2D<float4>(in, x + s, y + r % 4).x;
	long long end = cycles_after(__float_as_uint(sum), 1, (unsigned *)out);
	note(spans, begin, end);
}

template <typename LAUNCH> static double median_us(LAUNCH launch)
{
	return median_us_of(launch, quick ? 2 : 10, 1);
}

static void measure_textures()
{
	static const int sizes[][2] = {{160, 128}, {1024, 1024}, {4096, 4096}};
	for (const int *s : sizes)
		for (int linear = 0; linear < 2; linear++) {
			cudaChannelFormatDesc format = cudaCreateChannelDesc<float4>();
			cudaArray_t array;
			cudaResourceDesc resource = {};
			cudaTextureDesc how = {};
			cudaTextureObject_t texture;
			cudaSurfaceObject_t surface;
			float4 *result;
			CHECK(cudaMallocArray(&array, &format, s[0], s[1], cudaArraySurfaceLoadStore));
			CHECK(cudaMalloc(&result, (size_t)s[0] * s[1] * 16));
			resource.resType = cudaResourceTypeArray;
			resource.res.array.array = array;
			how.addressMode[0] = how.addressMode[1] = cudaAddressModeClamp;
			how.filterMode = linear ? cudaFilterModeLinear : cudaFilterModePoint;
			how.readMode = cudaReadModeElementType;
			CHECK(cudaCreateTextureObject(&texture, &resource, &how, NULL));
			CHECK(cudaCreateSurfaceObject(&surface, &resource));
			dim3 block(16, 16), grid(s[0] / 16, s[1] / 16), flat(32, 8), flat_grid(s[0] / 32, s[1] / 8);
			const char *what = linear ? "linear" : "point";
			row("texture_16x16", what, s[0], s[1], 1, median_us([&] { sample<1><<<grid, block>>>(texture, result, s[0], linear ? 0.25f : 1.0f); }));
			row("texture_16x16", what, s[0], s[1], 9, median_us([&] { sample<9><<<grid, block>>>(texture, result, s[0], linear ? 0.25f : 1.0f); }));
			row("texture_32x8", what, s[0], s[1], 1, median_us([&] { sample<1><<<flat_grid, flat>>>(texture, result, s[0], linear ? 0.25f : 1.0f); }));
			row("texture_32x8", what, s[0], s[1], 9, median_us([&] { sample<9><<<flat_grid, flat>>>(texture, result, s[0], linear ? 0.25f : 1.0f); }));
			row("surface_16x16", "write", s[0], s[1], 1, median_us([&] { write_surface<<<grid, block>>>(surface, 1.0f); }));
			row("surface_32x8", "write", s[0], s[1], 1, median_us([&] { write_surface<<<flat_grid, flat>>>(surface, 1.0f); }));
			for (int wide = 8; wide <= 32; wide *= 4)
				for (int warps = 1; warps <= 32; warps *= 4) {
					int rounds = 64;
					row("texture_again", what, s[0], warps, wide,
					    median_cycles(spans, 1, warps, [&] { sample_again<<<1, warps * 32>>>(texture, spans, (float *)out, wide, rounds); }) / rounds / 4 / warps);
				}
			CHECK(cudaDestroyTextureObject(texture));
			CHECK(cudaDestroySurfaceObject(surface));
			CHECK(cudaFreeArray(array));
			CHECK(cudaFree(result));
		}
}

/* ---- stream: arrays of c MB, a read and b written, a group for each 256 elements; value: GB/s of all ---- */

template <int READ, int WRITE, typename T> __global__ void stream(T *a, T *b, T *c, unsigned *out)
{
	size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	T x = {}, y = {};
	if (READ > 0)
		x = a[i];
	if (READ > 1)
		y = b[i];
	float sum = *(float *)&x + *(float *)&y;
	*(float *)&x = sum;
	if (WRITE)
		(READ == 1 ? b : READ == 2 ? c : a)[i] = x;
	else if (sum == 1.2345e30f)
		*out = 1;
}

template <typename T> static void measure_streams(const char *what, float *a, float *b, float *c, size_t bytes)
{
	unsigned blocks = (unsigned)(bytes / sizeof(T) / 256);
	double mb = (double)(bytes >> 20), all = (double)bytes / 1e3;
	row("stream", what, 1, 0, mb, all / median_us([&] { stream<1, 0><<<blocks, 256>>>((T *)a, (T *)b, (T *)c, out); }));
	row("stream", what, 0, 1, mb, all / median_us([&] { stream<0, 1><<<blocks, 256>>>((T *)a, (T *)b, (T *)c, out); }));
	row("stream", what, 1, 1, mb, 2 * all / median_us([&] { stream<1, 1><<<blocks, 256>>>((T *)a, (T *)b, (T *)c, out); }));
	row("stream", what, 2, 1, mb, 3 * all / median_us([&] { stream<2, 1><<<blocks, 256>>>((T *)a, (T *)b, (T *)c, out); }));
	row("stream", what, 2, 0, mb, 2 * all / median_us([&] { stream<2, 0><<<blocks, 256>>>((T *)a, (T *)b, (T *)c, out); }));
}

static void measure_all_streams()
{
	size_t bytes = (size_t)(quick ? 1 : 512) << 20;
	float *a, *b, *c;
	for (float **p : {&a, &b, &c})
		CHECK(cudaMalloc(p, bytes));
	measure_streams<float>("float", a, b, c, bytes);
	measure_streams<float4>("float4", a, b, c, bytes);
	for (float *p : {a, b, c})
		CHECK(cudaFree(p));
}

int main(int argc, char **argv)
{
	quick = argc > 1 && !strcmp(argv[1], "-q");
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * sizeof *spans));
	CHECK(cudaMalloc(&out, 4096));
	clocks_up(out, quick ? 1 : 300);
	print_clock("before");
	measure_l2_latency();
	measure_columns();
	measure_textures();
	measure_all_streams();
	measure_first_touch();
	measure_pages();
	print_clock("after");
	return 0;
}
