/* Grids and blocks of two and three dimensions, and blocks that are no multiple of a warp. */
#include "tests/cuda/programs/program.h"

FUNCTION int mix(int a, int b, int c)
{
	return (a * 131 + b) * 137 + c;
}

#ifdef WITH_KERNELS
extern "C" __global__ void ids(int *out)
{
	int threads = (int)(blockDim.x * blockDim.y * blockDim.z);
	int thread = (int)(threadIdx.x + blockDim.x * (threadIdx.y + blockDim.y * threadIdx.z));
	int block = (int)(blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z));
	out[block * threads + thread] = mix(mix((int)threadIdx.x, (int)threadIdx.y, (int)threadIdx.z),
	                                    mix((int)blockIdx.x, (int)blockIdx.y, (int)blockIdx.z), (int)(gridDim.x + gridDim.y * gridDim.z));
}
#endif

#ifdef WITH_HOST
KERNEL(ids)

static size_t try_shape(unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz)
{
	size_t n = (size_t)gx * gy * gz * bx * by * bz, wrong = 0, at = 0;
	int *out = (int *)malloc(n * sizeof *out), *d = (int *)device_new(NULL, n * sizeof *out);
	LAUNCH(ids, dims(gx, gy, gz), dims(bx, by, bz), 0, 0, &d);
	fetch(out, d, n * sizeof *out);
	for (unsigned g = 0; g < gx * gy * gz; g++)
		for (unsigned t = 0; t < bx * by * bz; t++)
			wrong += out[at++] != mix(mix((int)(t % bx), (int)(t / bx % by), (int)(t / bx / by)),
			                          mix((int)(g % gx), (int)(g / gx % gy), (int)(g / gx / gy)), (int)(gx + gy * gz));
	CALL(cudaFree(d));
	free(out);
	return wrong;
}

int main(void)
{
	begin();
	report("one thread", try_shape(1, 1, 1, 1, 1, 1));
	report("a line", try_shape(7, 1, 1, 100, 1, 1));
	report("two dimensions", try_shape(5, 3, 1, 8, 9, 1));
	report("three dimensions", try_shape(2, 3, 4, 3, 5, 7));
	report("many small blocks", try_shape(300, 2, 1, 5, 1, 1));
	report("the largest block", try_shape(2, 1, 1, 32, 8, 4));
	return finish();
}
#endif
