/* Variables of the device: initial values, counters, pointers to one another, and managed ones that the host uses as well. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
__device__ int counter;
__device__ int table[6] = {10, 20, 30, 40, 50, 60};
__device__ int *middle = &table[2];
__device__ const char *text = "lanes";
__device__ double halves[3] = {0.5, 1.5, 2.5};

/* OpenCL C has a function of that name. */
extern "C" __global__ void step(int by)
{
	atomicAdd(&counter, by);
	if (threadIdx.x == 0)
		table[5] = table[0] + 1;
}

extern "C" __global__ void look(int *out)
{
	out[0] = counter;
	out[1] = *middle;
	out[2] = middle[1];
	out[3] = table[5];
	out[4] = text[3];
	out[5] = (int)(halves[2] * 2);
}
#ifdef __NVCC__
__managed__ int managed[4] = {1, 2, 3, 4};

extern "C" __global__ void change_managed(void)
{
	managed[threadIdx.x] *= 10;
}
#endif
#endif

#ifdef WITH_HOST
KERNEL(step)
KERNEL(look)
VARIABLE(counter, int, 0)
VARIABLE(table, int[6], 0)

int main(void)
{
	int out[6], by = 3, value = 1000;
	begin();
	int *d = (int *)device_new(NULL, sizeof out);
	LAUNCH(step, dims(4, 1, 1), dims(50, 1, 1), 0, 0, &by);
	CALL(cudaMemcpyFromSymbol(&by, SYMBOL(counter), sizeof by, 0, cudaMemcpyDeviceToHost));
	report("a counter", (size_t)(by != 600));
	CALL(cudaMemcpyToSymbol(SYMBOL(counter), &value, sizeof value, 0, cudaMemcpyHostToDevice));
	LAUNCH(look, dims(1, 1, 1), dims(1, 1, 1), 0, 0, &d);
	fetch(out, d, sizeof out);
	report("a variable that the host writes", (size_t)(out[0] != 1000));
	report("pointers to variables", (size_t)((out[1] != 30) + (out[2] != 40)));
	report("a variable that a kernel writes", (size_t)(out[3] != 11));
	report("text and doubles", (size_t)((out[4] != 'e') + (out[5] != 5)));
#ifdef __NVCC__
	managed[1] = 7;
	change_managed<<<1, 4>>>();
	CALL(cudaDeviceSynchronize());
	report("managed variables", (size_t)((managed[0] != 10) + (managed[1] != 70) + (managed[3] != 40)));
	cudaPointerAttributes kind;
	CALL(cudaPointerGetAttributes(&kind, &managed[2]));
	report("what managed variables are", (size_t)((kind.type != cudaMemoryTypeManaged) + (kind.hostPointer != &managed[2])));
#endif
	return finish();
}
#endif
