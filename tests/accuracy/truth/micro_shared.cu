/*
 * micro_shared: what wide loads and stores of shared memory, and barriers, take of an SM that is full of warps.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_shared tests/accuracy/truth/micro_shared.cu
 *   micro_shared               prints bench,what,a,b,c,value
 *
 * turns: cycles of the SM for one instruction of one warp. a: bytes of a lane, b: warps of the SM, c: where lanes access.
 *   c = 0: all at the same place; 1: each half of the warp at one of its own, 64 bytes apart; 2: side by side; 3: sixteen side by side, which both
 *   halves access. A store of the same place by several lanes keeps one of them.
 * tile: cycles of the SM for what a warp does in a tile of a product of matrices: 16 loads of 4 bytes (c = 3), 4 of 16 bytes (c = 1), 16 products.
 *   a: stores (c = 2) after these, b: blocks of eight warps, c: barriers
 * barrier: cycles of the SM from a barrier to the next one. a: warps of a block, b: blocks of the SM, c: products and sums between two barriers, each
 *   of which needs the one before
 */
#include "tests/accuracy/truth/micro.h"

enum { UNROLL = 8, TRIPS = 64 };

template <int BYTES, bool STORE> static __device__ __forceinline__ void access_shared(unsigned at, float4 &v)
{
	if (STORE) {
		if (BYTES == 4)
			asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(v.x) : "memory");
		else if (BYTES == 8)
			asm volatile("st.shared.v2.f32 [%0], {%1, %2};" ::"r"(at), "f"(v.x), "f"(v.y) : "memory");
		else
			asm volatile("st.shared.v4.f32 [%0], {%1, %2, %3, %4};" ::"r"(at), "f"(v.x), "f"(v.y), "f"(v.z), "f"(v.w) : "memory");
	} else {
		if (BYTES == 4)
			asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v.x) : "r"(at) : "memory");
		else if (BYTES == 8)
			asm volatile("ld.shared.v2.f32 {%0, %1}, [%2];" : "=f"(v.x), "=f"(v.y) : "r"(at) : "memory");
		else
			asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at) : "memory");
	}
}

/* Where a lane accesses: a warp has 512 bytes of its own. */
static __device__ unsigned place(int bytes, int where)
{
	unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32 * 512;
	return warp + (where == 0 ? 0 : where == 1 ? lane / 16 * 64 : where == 2 ? lane * bytes : lane % 16 * bytes);
}

template <int BYTES, bool STORE> __global__ void turns(span *spans, int where, float *out)
{
	extern __shared__ char area[];
	unsigned at = (unsigned)__cvta_generic_to_shared(area) + place(BYTES, where);
	float4 v[UNROLL];
	for (int i = 0; i < UNROLL; i++)
		v[i] = make_float4(threadIdx.x, 1, 2, 3);
	__syncthreads();
	long long begin = cycles();
	for (int t = 0; t < TRIPS; t++)
#pragma unroll
		for (int i = 0; i < UNROLL; i++)
			access_shared<BYTES, STORE>(at, v[i]);
	float sum = 0;
	for (int i = 0; i < UNROLL; i++)
		sum += v[i].x + v[i].y + v[i].z + v[i].w;
	if (sum == 12345.678f)
		*out = sum;
	note(spans, begin, cycles());
}

template <int BYTES, bool STORE> void print_turns(const char *what, span *spans, float *out)
{
	for (int warps : {4, 16, 32})
		for (int where = 0; where < 4; where++)
			row("turns", what, BYTES, warps, where,
			    median_cycles(spans, SMS, warps, [&] { turns<BYTES, STORE><<<SMS, warps * 32, 32768>>>(spans, where, out); }) / (TRIPS * UNROLL * warps));
}

template <int STORES, int BARRIERS> __global__ void tile(span *spans, float *out)
{
	__shared__ __align__(16) float a[16][16], b[16][16];
	unsigned lx = threadIdx.x % 16, ly = threadIdx.x / 16;
	unsigned row_at = (unsigned)__cvta_generic_to_shared(&a[ly][0]), column_at = (unsigned)__cvta_generic_to_shared(&b[0][lx]);
	unsigned own = (unsigned)__cvta_generic_to_shared(&a[ly][lx]), own_b = (unsigned)__cvta_generic_to_shared(&b[ly][lx]);
	float sum = 0;
	float4 mine = make_float4(0, 0, 0, 0);
	__syncthreads();
	long long begin = cycles();
	for (int t = 0; t < TRIPS; t++) {
		if (STORES > 0)
			access_shared<4, true>(own, mine);
		if (STORES > 1)
			access_shared<4, true>(own_b, mine);
		if (BARRIERS)
			__syncthreads();
#pragma unroll
		for (int k = 0; k < 4; k++) {
			float4 r, c[4];
			access_shared<16, false>(row_at + 16 * k, r);
#pragma unroll
			for (int j = 0; j < 4; j++)
				access_shared<4, false>(column_at + 64 * (4 * k + j), c[j]);
			sum += r.x * c[0].x;
			sum += r.y * c[1].x;
			sum += r.z * c[2].x;
			sum += r.w * c[3].x;
		}
		if (BARRIERS)
			__syncthreads();
	}
	if (sum == 12345.678f)
		*out = sum;
	note(spans, begin, cycles());
}

/* Cycles of the whole SM: blocks of it begin within some hundred cycles. */
template <typename KERNEL> double of_the_sm(KERNEL kernel, int blocks)
{
	cudaEvent_t from, to;
	std::vector<float> found;
	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int r = 0; r < 7; r++) {
		float ms;
		CHECK(cudaEventRecord(from));
		for (int i = 0; i < 20; i++)
			kernel(blocks * SMS);
		CHECK(cudaEventRecord(to));
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaEventElapsedTime(&ms, from, to));
		found.push_back(ms / 20);
	}
	std::sort(found.begin(), found.end());
	return found[3] * 1e3 * 1980;
}

template <int STORES, int BARRIERS> void print_tile(span *spans, float *out)
{
	for (int blocks : {1, 4, 8}) {
		double one = of_the_sm([&](int n) { tile<STORES, BARRIERS><<<n, 256>>>(spans, out); }, blocks);
		row("tile", "cycles", STORES, blocks, BARRIERS, one / (TRIPS * blocks * 8));
	}
}

__global__ void barriers(int trips, int products, float *out)
{
	float v = threadIdx.x;
	for (int t = 0; t < trips; t++) {
		__syncthreads();
		for (int i = 0; i < products; i++)
			asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(v));
	}
	if (v == 12345.678f)
		*out = v;
}

static void print_barriers(float *out)
{
	for (int warps : {1, 4, 8, 32})
		for (int blocks : {1, 2, 8})
			for (int products : {0, 16, 64})
				if (warps * blocks <= 64) {
					double longer = of_the_sm([&](int n) { barriers<<<n, warps * 32>>>(1536, products, out); }, blocks);
					double shorter = of_the_sm([&](int n) { barriers<<<n, warps * 32>>>(512, products, out); }, blocks);
					row("barrier", "cycles", warps, blocks, products, (longer - shorter) / 1024);
				}
}

int main()
{
	span *spans;
	float *out;
	CHECK(cudaMalloc(&spans, MOST_BLOCKS * 64 * sizeof *spans));
	CHECK(cudaMalloc(&out, 1 << 20));
	clocks_up((unsigned *)out, 300);
	print_turns<4, false>("load", spans, out);
	print_turns<8, false>("load", spans, out);
	print_turns<16, false>("load", spans, out);
	print_turns<4, true>("store", spans, out);
	print_turns<8, true>("store", spans, out);
	print_turns<16, true>("store", spans, out);
	print_tile<0, 0>(spans, out);
	print_tile<0, 1>(spans, out);
	print_tile<2, 0>(spans, out);
	print_tile<2, 1>(spans, out);
	print_barriers(out);
}
