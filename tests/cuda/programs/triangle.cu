/* Blocks below the diagonal of the grid leave at once: the longer a launch is under way, the less its blocks do. */
#include "tests/cuda/programs/program.h"

enum { SIDE = 48, THREADS = 32 };

#ifdef WITH_KERNELS
extern "C" __global__ void triangle(int *out, int rounds)
{
	if (blockIdx.y > blockIdx.x)
		return;
	int sum = 0;
	for (int i = 0; i < rounds; i++)
		sum = sum * 3 + (int)threadIdx.x;
	out[(blockIdx.y * SIDE + blockIdx.x) * THREADS + threadIdx.x] = sum;
}
#endif

#ifdef WITH_HOST
KERNEL(triangle)

static int expected(int block, int thread, int rounds)
{
	int sum = 0;
	for (int i = 0; i < rounds && block / SIDE <= block % SIDE; i++)
		sum = sum * 3 + thread;
	return sum;
}

int main(void)
{
	static int out[SIDE * SIDE * THREADS];
	int rounds = 10;
	size_t wrong = 0;
	begin();
	int *d = (int *)device_new(NULL, sizeof out);
	LAUNCH(triangle, dims(SIDE, SIDE, 1), dims(THREADS, 1, 1), 0, 0, &d, &rounds);
	fetch(out, d, sizeof out);
	for (int i = 0; i < SIDE * SIDE * THREADS; i++)
		wrong += out[i] != expected(i / THREADS, i % THREADS, rounds);
	report("blocks below the diagonal leave", wrong);
	return finish();
}
#endif
