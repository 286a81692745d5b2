/* Threads that leave before a barrier: the others do not wait for them, and they write nothing any more. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
/* Threads below `first` and from `n` on leave. The others add their left neighbour's value. */
extern "C" __global__ void early_exit(const float *in, float *out, int first, int n)
{
	__shared__ float s[256];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i >= n || i < first)
		return;
	s[threadIdx.x] = in[i];
	__syncthreads();
	out[i] = s[threadIdx.x] + (threadIdx.x > 0 && i > first ? s[threadIdx.x - 1] : 0);
}

/* Half of the threads leave at each of four barriers. What is left counts itself. */
extern "C" __global__ void leave_by_halves(int *out)
{
	__shared__ int here[5];
	int t = threadIdx.x;
	if (t < 5)
		here[t] = 0;
	__syncthreads();
	for (int round = 0; round < 5; round++) {
		if (t >= (int)(blockDim.x >> round))
			return;
		atomicAdd(&here[round], 1);
		__syncthreads();
		if (t == 0)
			out[blockIdx.x * 5 + round] = here[round];
	}
}
#endif

#ifdef WITH_HOST
KERNEL(early_exit)
KERNEL(leave_by_halves)

static size_t try_early_exit(int first, int n)
{
	float in[1024], out[1024];
	size_t wrong = 0;
	for (int i = 0; i < 1024; i++)
		in[i] = (float)(i + 1);
	float *a = (float *)device_new(in, sizeof in), *b = (float *)device_new(NULL, sizeof out);
	LAUNCH(early_exit, dims(4, 1, 1), dims(256, 1, 1), 0, 0, &a, &b, &first, &n);
	fetch(out, b, sizeof out);
	for (int i = 0; i < 1024; i++)
		wrong += out[i] != (i < first || i >= n ? 0 : in[i] + (i % 256 && i > first ? in[i - 1] : 0));
	CALL(cudaFree(a));
	CALL(cudaFree(b));
	return wrong;
}

int main(void)
{
	int out[3 * 5];
	size_t wrong = 0;
	begin();
	report("threads at the end leave", try_early_exit(0, 1000));
	report("threads at both ends leave", try_early_exit(5, 1000));
	report("a whole block leaves", try_early_exit(300, 700));
	int *d = (int *)device_new(NULL, sizeof out);
	LAUNCH(leave_by_halves, dims(3, 1, 1), dims(200, 1, 1), 0, 0, &d);
	fetch(out, d, sizeof out);
	for (int i = 0; i < 15; i++)
		wrong += out[i] != 200 >> i % 5;
	report("threads leave by halves", wrong);
	return finish();
}
#endif
