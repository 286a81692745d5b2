/* Blocks of an ordinary launch that wait for blocks with higher numbers: all are resident on a GPU, so they go on there. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
/* Each block adds its number to what the next one has left. The last one begins. */
extern "C" __global__ void chain(volatile int *sums, int *order)
{
	int b = (int)blockIdx.x, next = 0;
	if (threadIdx.x == 0 && b + 1 < (int)gridDim.x)
		while ((next = sums[b + 1]) == 0)
			;
	__syncthreads();
	if (threadIdx.x == 0) {
		order[b] = atomicAdd(order + gridDim.x, 1);
		__threadfence();
		sums[b] = next + b + 1;
	}
}

/* The same with a barrier in the loop, which all threads of the block pass. */
extern "C" __global__ void chain_of_barriers(volatile int *sums)
{
	int b = (int)blockIdx.x, done = 0;
	while (!done) {
		int next = b + 1 < (int)gridDim.x ? sums[b + 1] : 1;
		if (next) {
			if (threadIdx.x == 0)
				sums[b] = next + 1;
			done = 1;
		}
		__syncthreads();
	}
}

/* Rounds with a barrier of all blocks between them, in which one thread of each block waits. Each block takes what the next one has left. */
extern "C" __global__ void rounds(volatile int *count, volatile int *data, int n)
{
	int t = (int)threadIdx.x, blocks = (int)gridDim.x, own = (int)blockIdx.x * 64 + t, next = ((int)blockIdx.x + 1) % blocks * 64 + t;
#pragma unroll 1
	for (int k = 1; k <= n; k++) {
		volatile int *from = data + (k & 1 ? 0 : 64 * blocks), *to = data + (k & 1 ? 64 * blocks : 0);
		if (t % 3)
			to[own] = from[next] * 3 + k;
		else
			to[own] = from[next] - t;
		__syncthreads();
		if (t == 0) {
			__threadfence();
			atomicAdd((int *)count, 1);
			while (*count < k * blocks)
				;
		}
		__syncthreads();
	}
}
#endif

#ifdef WITH_HOST
KERNEL(chain)
KERNEL(chain_of_barriers)
KERNEL(rounds)

enum { BLOCKS = 40 };

static size_t many_rounds(void)
{
	enum { ROUNDS = 100, THREADS = 10 * 64 };
	static int data[2 * THREADS], expected[2][THREADS];
	int times = ROUNDS, zero = 0;
	size_t wrong = 0;
	for (int i = 0; i < THREADS; i++)
		data[i] = expected[0][i] = i * 5;
	for (int k = 1; k <= ROUNDS; k++)
		for (int i = 0; i < THREADS; i++) {
			unsigned from = (unsigned)expected[(k + 1) % 2][(i + 64) % THREADS];
			expected[k % 2][i] = (int)(i % 64 % 3 ? from * 3 + (unsigned)k : from - (unsigned)(i % 64));
		}
	int *count = (int *)device_new(&zero, sizeof zero), *d = (int *)device_new(data, sizeof data);
	LAUNCH(rounds, dims(10, 1, 1), dims(64, 1, 1), 0, 0, &count, &d, &times);
	fetch(data, d, sizeof data);
	for (int i = 0; i < THREADS; i++)
		wrong += data[i] != expected[ROUNDS % 2][i];
	return wrong;
}

int main(void)
{
	int sums[BLOCKS], order[BLOCKS + 1];
	size_t wrong = 0;
	begin();
	int *a = (int *)device_new(NULL, sizeof sums), *b = (int *)device_new(NULL, sizeof order);
	LAUNCH(chain, dims(BLOCKS, 1, 1), dims(64, 1, 1), 0, 0, &a, &b);
	fetch(sums, a, sizeof sums);
	fetch(order, b, sizeof order);
	int sum = 0;
	for (int i = BLOCKS - 1; i >= 0; i--) {
		sum += i + 1;
		wrong += sums[i] != sum || order[i] != BLOCKS - 1 - i;
	}
	report("blocks that wait for the next one", wrong);
	CALL(cudaMemset(a, 0, sizeof sums));
	LAUNCH(chain_of_barriers, dims(BLOCKS, 1, 1), dims(32, 1, 1), 0, 0, &a);
	fetch(sums, a, sizeof sums);
	wrong = 0;
	for (int i = 0; i < BLOCKS; i++)
		wrong += sums[i] != BLOCKS - i + 1;
	report("blocks that wait for the next one between barriers", wrong);
	report("rounds with barriers of all blocks", many_rounds());
	return finish();
}
#endif
