/* An assertion that fails: the program gets an error, which stays. */
#include "tests/cuda/programs/program.h"

#ifdef __NVCC__
#include <cassert>
#endif

#ifdef WITH_KERNELS
extern "C" __global__ void assert_below(int limit, int *out)
{
	assert((int)threadIdx.x < limit);
	out[threadIdx.x] = 1;
}
#endif

#ifdef WITH_HOST
KERNEL(assert_below)

int main(void)
{
	enum { ASSERT_ERROR = 710 };
	int limit = 64, *out;
	begin();
	out = (int *)device_new(NULL, 64 * sizeof *out);
	LAUNCH(assert_below, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &limit, &out);
	report("an assertion that holds", (size_t)(cudaDeviceSynchronize() != 0));
	limit = 40;
	LAUNCH(assert_below, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &limit, &out);
	report("an assertion that fails", (size_t)((int)cudaDeviceSynchronize() != ASSERT_ERROR));
	report("its error stays", (size_t)((int)cudaMemset(out, 0, 4) != ASSERT_ERROR));
	return finish();
}
#endif
