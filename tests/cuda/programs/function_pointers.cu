/* Functions by their addresses: a table in constant memory, an argument of another function, different ones in the lanes of a warp. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
typedef int (*operation)(int, int);

__device__ __noinline__ static int plus(int a, int b) { return a + b; }
__device__ __noinline__ static int minus(int a, int b) { return a - b; }
__device__ __noinline__ static int times(int a, int b) { return a * b; }
__device__ __noinline__ static int larger(int a, int b) { return a > b ? a : b; }

__constant__ operation table[4] = {plus, minus, times, larger};
__device__ operation chosen = times;

__device__ __noinline__ static int fold(operation f, int n)
{
	int r = 1;
	for (int i = 1; i <= n; i++)
		r = f(r, i);
	return r;
}

extern "C" __global__ void by_table(int *out, int uniform)
{
	int t = (int)threadIdx.x;
	out[t] = table[t & 3](t, 7);
	out[t + 64] = fold(table[uniform], t % 6);
	out[t + 128] = chosen(t, 11);
}
#endif

#ifdef WITH_HOST
KERNEL(by_table)

static int apply(int which, int a, int b)
{
	return which == 0 ? a + b : which == 1 ? a - b : which == 2 ? a * b : a > b ? a : b;
}

int main(void)
{
	int out[192], uniform = 1;
	size_t wrong = 0, wrong_fold = 0, wrong_variable = 0;
	begin();
	int *d = (int *)device_new(NULL, sizeof out);
	LAUNCH(by_table, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &d, &uniform);
	fetch(out, d, sizeof out);
	for (int t = 0; t < 64; t++) {
		int r = 1;
		for (int i = 1; i <= t % 6; i++)
			r = apply(uniform, r, i);
		wrong += out[t] != apply(t & 3, t, 7);
		wrong_fold += out[t + 64] != r;
		wrong_variable += out[t + 128] != t * 11;
	}
	report("a table of functions, different in each lane", wrong);
	report("a function as an argument", wrong_fold);
	report("a variable that holds a function", wrong_variable);
	return finish();
}
#endif
