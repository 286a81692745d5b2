/* Many launches: each has an estimate. Kernels of two sizes, and a loop whose length changes from launch to launch. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void add_one(int *a, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		a[i] += 1;
}

extern "C" __global__ void spin(unsigned *out, int n)
{
	unsigned x = threadIdx.x;
	for (int i = 0; i < n; i++)
		x = x * 1664525u + 1013904223u;
	out[threadIdx.x] = x;
}
#endif

#ifdef WITH_HOST
KERNEL(add_one)
KERNEL(spin)

int main(int argc, char **argv)
{
	enum { N = 1024 };
	int rounds = argc > 1 ? atoi(argv[1]) : 200, n = N, out[N];
	unsigned seen[64];
	size_t wrong = 0;
	begin();
	int *a = (int *)device_new(NULL, sizeof out);
	unsigned *b = (unsigned *)device_new(NULL, sizeof seen);
	int length = 0;
	for (int i = 0; i < rounds; i++) {
		length = i % 50;
		LAUNCH(add_one, dims(4, 1, 1), dims(256, 1, 1), 0, 0, &a, &n);
		LAUNCH(spin, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &b, &length);
	}
	fetch(out, a, sizeof out);
	fetch(seen, b, sizeof seen);
	for (int i = 0; i < N; i++)
		wrong += out[i] != rounds;
	for (unsigned i = 0; i < 64; i++) {
		unsigned x = i;
		for (int k = 0; k < length; k++)
			x = x * 1664525u + 1013904223u;
		wrong += seen[i] != x;
	}
	report("all launches ran", wrong);
	return finish();
}
#endif
