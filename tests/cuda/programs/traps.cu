/* A kernel that traps: the program gets an error. One that stores far from all memory ends it. Launches that are not possible get one as well, and nothing runs. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void trap_at(int thread, int *out)
{
	if ((int)threadIdx.x == thread)
		__trap();
	out[threadIdx.x] = 1;
}
#endif

#ifdef WITH_HOST
KERNEL(trap_at)

int main(int argc, char **argv)
{
	int thread = -1, *out, host[64];
	begin();
	out = (int *)device_new(NULL, 64 * sizeof *out);
	if (argc > 1 && !strcmp(argv[1], "far")) { /* ends the program */
		int *far = (int *)((uintptr_t)out - ((uintptr_t)1 << 44));
		LAUNCH(trap_at, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &thread, &far);
		CALL(cudaDeviceSynchronize());
	}
	void *arguments[] = {&thread, &out};
	report("a block of 2,048 threads is refused", (size_t)!cudaLaunchKernel(HANDLE(trap_at), dims(1, 1, 1), dims(2048, 1, 1), arguments, 0, 0));
	report("the error is the last error, once", (size_t)(!cudaGetLastError() + (cudaGetLastError() != cudaSuccess)));
	report("a grid of no block is refused", (size_t)!cudaLaunchKernel(HANDLE(trap_at), dims(0, 1, 1), dims(32, 1, 1), arguments, 0, 0));
	(void)cudaGetLastError();
	CALL(cudaDeviceSynchronize());
	fetch(host, out, sizeof host);
	report("nothing ran", (size_t)(host[0] != 0));
	LAUNCH(trap_at, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &thread, &out);
	report("a kernel that does not trap", (size_t)(cudaDeviceSynchronize() != cudaSuccess));
	thread = 33;
	LAUNCH(trap_at, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &thread, &out);
	report("a kernel that traps", (size_t)(cudaDeviceSynchronize() == cudaSuccess));
	return finish();
}
#endif
