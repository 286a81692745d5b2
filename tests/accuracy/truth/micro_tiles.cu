/*
 * micro_tiles: what a product of matrices in tiles of shared memory waits for: the whole kernel, and variants that leave a part of it out.
 *
 *   nvcc -std=c++17 -O3 -arch=sm_90 -I. -o micro_tiles tests/accuracy/truth/micro_tiles.cu
 *   micro_tiles                prints bench,what,a,b,c,value; `micro_tiles 1`: one launch of each, without clocks being brought up
 *
 * Blocks of 16 x 16 or 32 x 32 threads; tile by tile they load two tiles, wait, multiply, and wait.
 * tiles: microseconds of a launch, by events around 20 in a row. a: blocks, b: threads of a block, c: tiles (the length of the loop).
 *   all            the whole kernel
 *   no_loads       what goes to shared memory is made of registers
 *   no_stores      nothing goes to shared memory: loads, barriers and products
 *   no_barriers    without both barriers
 *   no_products    one product for a tile: loads, stores and barriers
 */
#include "tests/accuracy/truth/micro.h"

static int launches = 20, repeats = 5;

enum { ALL = 0, NO_LOADS = 1, NO_STORES = 2, NO_BARRIERS = 4, NO_PRODUCTS = 8 };

template <int TILE, int WITHOUT> __global__ void tiles(const float *a, const float *b, float *c, int n, int tiles_of_row)
{
	__shared__ float ta[TILE][TILE], tb[TILE][TILE];
	int lx = threadIdx.x, ly = threadIdx.y;
	int x = blockIdx.x * TILE + lx, y = blockIdx.y * TILE + ly;
	float s = 0.0f, va = lx, vb = ly;
	if (WITHOUT & NO_STORES) {
		ta[ly][lx] = va;
		tb[ly][lx] = vb;
		__syncthreads();
	}
	for (int t = 0; t < tiles_of_row; t++) {
		if (!(WITHOUT & NO_LOADS)) {
			va = a[y * n + t * TILE + lx];
			vb = b[(t * TILE + ly) * n + x];
		}
		if (!(WITHOUT & NO_STORES)) {
			ta[ly][lx] = va;
			tb[ly][lx] = vb;
		} else
			s += va + vb;
		if (!(WITHOUT & NO_BARRIERS))
			__syncthreads();
		else
			asm volatile("" ::: "memory");
		if (WITHOUT & NO_PRODUCTS)
			s += ta[ly][0] * tb[0][lx];
		else {
			for (int k = 0; k < TILE; k++)
				s += ta[ly][k] * tb[k][lx];
		}
		if (!(WITHOUT & NO_BARRIERS))
			__syncthreads();
		else
			asm volatile("" ::: "memory");
	}
	c[y * n + x] = s;
}

template <int TILE, int WITHOUT> void time_of(const char *what, float *memory, int blocks_x, int blocks_y, int count)
{
	const int n = 2048;
	cudaEvent_t from, to;
	std::vector<float> found;
	CHECK(cudaEventCreate(&from));
	CHECK(cudaEventCreate(&to));
	for (int r = 0; r < repeats; r++) {
		float ms;
		CHECK(cudaEventRecord(from));
		for (int i = 0; i < launches; i++)
			tiles<TILE, WITHOUT><<<dim3(blocks_x, blocks_y), dim3(TILE, TILE)>>>(memory, memory + n * n, memory + 2 * n * n, n, count);
		CHECK(cudaEventRecord(to));
		CHECK(cudaDeviceSynchronize());
		CHECK(cudaEventElapsedTime(&ms, from, to));
		found.push_back(ms / launches);
	}
	std::sort(found.begin(), found.end());
	row("tiles", what, blocks_x * blocks_y, TILE * TILE, count, 1e3 * found[repeats / 2]);
}

template <int TILE> void all_of(float *memory, int blocks_x, int blocks_y, int count)
{
	time_of<TILE, ALL>("all", memory, blocks_x, blocks_y, count);
	time_of<TILE, NO_LOADS>("no_loads", memory, blocks_x, blocks_y, count);
	time_of<TILE, NO_STORES>("no_stores", memory, blocks_x, blocks_y, count);
	time_of<TILE, NO_BARRIERS>("no_barriers", memory, blocks_x, blocks_y, count);
	time_of<TILE, NO_PRODUCTS>("no_products", memory, blocks_x, blocks_y, count);
}

int main(int argc, char **argv)
{
	float *memory;
	if (argc > 1)
		launches = atoi(argv[1]), repeats = 1;
	CHECK(cudaMalloc(&memory, 3 * 2048 * 2048 * sizeof *memory));
	CHECK(cudaMemset(memory, 0, 3 * 2048 * 2048 * sizeof *memory));
	if (repeats > 1)
		clocks_up((unsigned *)memory, 200);
	all_of<16>(memory, 12, 11, 64);
	all_of<16>(memory, 33, 8, 64);
	all_of<16>(memory, 33, 32, 32);
	all_of<16>(memory, 64, 64, 32);
	all_of<32>(memory, 12, 11, 32);
	all_of<32>(memory, 22, 12, 32);
	all_of<32>(memory, 32, 32, 16);
}
