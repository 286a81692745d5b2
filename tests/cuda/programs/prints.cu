/* printf in kernels. What it prints is part of the program's output; run.sh compares it with prints.expected. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void print_thread(int n)
{
	if ((int)threadIdx.x < n)
		printf("thread %d of block %u: %.2f %s\n", (int)threadIdx.x, blockIdx.x, threadIdx.x * 0.25, threadIdx.x & 1 ? "odd" : "even");
}

extern "C" __global__ void print_types(long long big, double real, const int *p)
{
	printf("%lld %llx %c %5d|%-5d| %08x %e %g 100%% %d\n", big, (unsigned long long)big, 'x', 42, 42, 0xbeefu, real, real, p != 0);
	printf("nothing to convert\n");
}
#endif

#ifdef WITH_HOST
KERNEL(print_thread)
KERNEL(print_types)

int main(void)
{
	int n = 3, *p;
	long long big = -1234567890123ll;
	double real = 0.0009765625;
	begin();
	p = (int *)device_new(NULL, sizeof *p);
	LAUNCH(print_thread, dims(1, 1, 1), dims(40, 1, 1), 0, 0, &n);
	CALL(cudaDeviceSynchronize());
	LAUNCH(print_types, dims(1, 1, 1), dims(1, 1, 1), 0, 0, &big, &real, &p);
	CALL(cudaDeviceSynchronize());
	report("printf", 0);
	return finish();
}
#endif
