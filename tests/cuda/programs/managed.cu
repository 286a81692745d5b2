/* Managed memory in the hands of the processor and of kernels in turn. What launches wait for is tested by run.sh. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void add_one(int *v, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n)
		v[i]++;
}
#endif

#ifdef WITH_HOST
KERNEL(add_one)

enum { N = 1 << 20 }; /* 4 MiB */

static void launch(int *v)
{
	int n = N;
	LAUNCH(add_one, dims(N / 256, 1, 1), dims(256, 1, 1), 0, 0, &v, &n);
	CALL(cudaDeviceSynchronize());
}

/* Each launch adds one, and the processor another one to every 1024th number, a page apart. */
int main(void)
{
	int *v, *untouched;
	size_t wrong = 0;
	begin();
	CALL(cudaMallocManaged((void **)&v, N * sizeof *v, cudaMemAttachGlobal));
	CALL(cudaMallocManaged((void **)&untouched, N * sizeof *v, cudaMemAttachGlobal));
	for (int i = 0; i < N; i++)
		v[i] = i;
	launch(v); /* all pages are the processor's */
	launch(v); /* none */
	for (int i = 0; i < 8; i++)
		v[i * 1024]++;
	launch(v); /* eight */
	launch(untouched); /* nobody's */
	launch(untouched);
	for (int i = 0; i < N; i++)
		wrong += v[i] != i + 3 + (i < 8 * 1024 && i % 1024 == 0) || untouched[i] != 2;
	report("managed memory in turn", wrong);
	CALL(cudaFree(v));
	CALL(cudaFree(untouched));
	return finish();
}
#endif
