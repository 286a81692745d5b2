/* Cooperative groups within a block, by the toolkit's own header. Only nvcc has it. */
#include "tests/cuda/programs/program.h"

#ifdef __NVCC__
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
namespace cg = cooperative_groups;

extern "C" __global__ void tile_reduce(const int *in, int *tiles, int *blocks)
{
	__shared__ int sum;
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<8> tile = cg::tiled_partition<8>(block);
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), v = cg::reduce(tile, in[i], cg::plus<int>());
	if (tile.thread_rank() == 0)
		tiles[i / 8] = v;
	if (block.thread_rank() == 0)
		sum = 0;
	block.sync();
	if (tile.thread_rank() == 0)
		atomicAdd(&sum, v);
	block.sync();
	if (block.thread_rank() == 0)
		blocks[blockIdx.x] = sum;
}

extern "C" __global__ void append(const int *in, int *count)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (in[i] & 1) {
		cg::coalesced_group together = cg::coalesced_threads();
		if (together.thread_rank() == 0)
			atomicAdd(count, (int)together.size());
	}
}

int main(void)
{
	enum { N = 512, BLOCK = 128 };
	int in[N], tiles[N / 8], blocks[N / BLOCK], count, odd = 0;
	unsigned state = 13;
	size_t wrong = 0, wrong_blocks = 0;
	begin();
	for (int i = 0; i < N; i++) {
		in[i] = (int)(next_number(&state) % 1000);
		odd += in[i] & 1;
	}
	int *a = (int *)device_new(in, sizeof in), *b = (int *)device_new(NULL, sizeof tiles), *c = (int *)device_new(NULL, sizeof blocks);
	int *d = (int *)device_new(NULL, sizeof count);
	tile_reduce<<<N / BLOCK, BLOCK>>>(a, b, c);
	append<<<N / BLOCK, BLOCK>>>(a, d);
	CALL(cudaGetLastError());
	fetch(tiles, b, sizeof tiles);
	fetch(blocks, c, sizeof blocks);
	fetch(&count, d, sizeof count);
	for (int t = 0; t < N / 8; t++) {
		int sum = 0;
		for (int i = 0; i < 8; i++)
			sum += in[t * 8 + i];
		wrong += tiles[t] != sum;
	}
	for (int g = 0; g < N / BLOCK; g++) {
		int sum = 0;
		for (int i = 0; i < BLOCK; i++)
			sum += in[g * BLOCK + i];
		wrong_blocks += blocks[g] != sum;
	}
	report("reductions of tiles", wrong);
	report("sums of blocks", wrong_blocks);
	report("coalesced threads", (size_t)(count != odd));
	return finish();
}
#endif
