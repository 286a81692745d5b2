/* A kernel that traps: the program gets an error, which stays. So it does of one that stores far from all memory (traps far), and its own faults are its
 * own still. Launches that are not possible get one as well, and nothing runs. */
#include "tests/cuda/programs/program.h"

#include <setjmp.h>
#include <signal.h>

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

static sigjmp_buf place;
static volatile int signals;

static void on_signal(int sig)
{
	(void)sig;
	signals = signals + 1;
	siglongjmp(place, 1);
}

/* The program has a handler for faults, which is for its own. Returns what main does. */
static int far(int *out)
{
	enum { illegal_address = 700 };
	int thread = -1, *volatile nowhere = NULL, *there = (int *)((uintptr_t)out - ((uintptr_t)1 << 44));
	void *arguments[] = {&thread, &there};
	signal(SIGSEGV, on_signal);
	LAUNCH(trap_at, dims(40, 1, 1), dims(64, 1, 1), 0, 0, &thread, &there);
	report("a kernel that stores far away", (size_t)((int)cudaDeviceSynchronize() != illegal_address));
	report("its error stays", (size_t)((int)cudaLaunchKernel(HANDLE(trap_at), dims(1, 1, 1), dims(64, 1, 1), arguments, 0, 0) != illegal_address));
	report("it is not the program's", (size_t)signals);
	if (!sigsetjmp(place, 1))
		*nowhere = 1;
	report("the program's own fault is", (size_t)(signals != 1));
	return finish();
}

int main(int argc, char **argv)
{
	int thread = -1, *out, host[64];
	begin();
	out = (int *)device_new(NULL, 64 * sizeof *out);
	if (argc > 1 && !strcmp(argv[1], "far"))
		return far(out);
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
