/*
 * micro_shared: what tiles in shared memory, and barriers, take of an SM that is full of warps.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_shared tests/accuracy/truth/micro_shared.cu
 *   micro_shared               prints bench,what,a,b,c,value
 *
 * tile: cycles of the SM for what a warp does in a tile of a product of matrices: 16 loads of 4 bytes (side by side, both halves of the
 *   warp the same), 4 of 16 bytes (each half of the warp at one place), 16 products. a: stores before these, b: blocks of eight warps, c: barriers
 * barrier: cycles of the SM from a barrier to the next one. a: warps of a block, b: blocks of the SM, c: products and sums between two barriers, each
 *   of which needs the one before
 */
#include "tests/accuracy/truth/micro.h"

enum { TRIPS = 64 };

static __device__ __forceinline__ void store_word(unsigned at, float v)
{
	asm volatile("st.shared.f32 [%0], %1;" ::"r"(at), "f"(v) : "memory");
}

static __device__ __forceinline__ float load_word(unsigned at)
{
	float v;
	asm volatile("ld.shared.f32 %0, [%1];" : "=f"(v) : "r"(at) : "memory");
	return v;
}

static __device__ __forceinline__ float4 load_four(unsigned at)
{
	float4 v;
	asm volatile("ld.shared.v4.f32 {%0, %1, %2, %3}, [%4];" : "=f"(v.x), "=f"(v.y), "=f"(v.z), "=f"(v.w) : "r"(at) : "memory");
	return v;
}

template <int STORES, int BARRIERS> __global__ void tile(span *spans, float *out)
{
	__shared__ __align__(16) float a[16][16], b[16][16];
	unsigned lx = threadIdx.x % 16, ly = threadIdx.x / 16;
	unsigned row_at = (unsigned)__cvta_generic_to_shared(&a[ly][0]), column_at = (unsigned)__cvta_generic_to_shared(&b[0][lx]);
	unsigned own = (unsigned)__cvta_generic_to_shared(&a[ly][lx]), own_b = (unsigned)__cvta_generic_to_shared(&b[ly][lx]);
	float sum = 0;
	__syncthreads();
	long long begin = cycles();
	for (int t = 0; t < TRIPS; t++) {
		if (STORES > 0)
			store_word(own, 0);
		if (STORES > 1)
			store_word(own_b, 0);
		if (BARRIERS)
			__syncthreads();
#pragma unroll
		for (int k = 0; k < 4; k++) {
			float4 r = load_four(row_at + 16 * k);
			sum += r.x * load_word(column_at + 256 * k);
			sum += r.y * load_word(column_at + 256 * k + 64);
			sum += r.z * load_word(column_at + 256 * k + 128);
			sum += r.w * load_word(column_at + 256 * k + 192);
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
	print_tile<0, 1>(spans, out);
	print_tile<2, 0>(spans, out);
	print_tile<2, 1>(spans, out);
	print_barriers(out);
}
