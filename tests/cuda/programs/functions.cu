/* Device functions that are called, not inlined: arguments and results of many kinds, recursion, mutual recursion, calls while lanes are off. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
#ifdef __NVCC__
#define CALLED __host__ __device__ __noinline__ static
#else
#define CALLED __device__ __noinline__ static
#endif
#else
#define CALLED static
#endif

struct triple {
	int a;
	double b;
	short c;
};

CALLED int fibonacci(int n)
{
	return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}

CALLED int is_odd(int n);
CALLED int is_even(int n)
{
	return n == 0 ? 1 : is_odd(n - 1);
}
CALLED int is_odd(int n)
{
	return n == 0 ? 0 : is_even(n - 1);
}

CALLED int ackermann(int m, int n)
{
	if (m == 0)
		return n + 1;
	return n == 0 ? ackermann(m - 1, 1) : ackermann(m - 1, ackermann(m, n - 1));
}

CALLED struct triple change(struct triple t, int by)
{
	t.a += by;
	t.b *= 2;
	t.c = (short)(t.c - by);
	return t;
}

/* Writes to the caller's variable, by its address. */
CALLED void divide(int a, int b, int *quotient, int *rest)
{
	*quotient = a / b;
	*rest = a % b;
}

/* Sorts an array of the caller's by itself: a small quicksort. */
CALLED void sort(int *v, int low, int high)
{
	if (low >= high)
		return;
	int pivot = v[(low + high) / 2], i = low, j = high;
	while (i <= j) {
		while (v[i] < pivot)
			i++;
		while (v[j] > pivot)
			j--;
		if (i <= j) {
			int t = v[i];
			v[i++] = v[j];
			v[j--] = t;
		}
	}
	sort(v, low, j);
	sort(v, i, high);
}

FUNCTION long long all_of_it(int t)
{
	struct triple s = {t, t * 0.5, (short)(t + 3)};
	int quotient = 0, rest = 0, v[9];
	long long sum = fibonacci(t % 12);
	if (t & 1)
		sum += 10 * is_even(t % 20);
	if (t % 3 == 0)
		sum += 100 * ackermann(2, t % 4);
	s = change(s, t % 5);
	divide(t * 37, t % 7 + 1, &quotient, &rest);
	for (int i = 0; i < 9; i++)
		v[i] = (t * 31 + i * 17) % 23;
	sort(v, 0, 8);
	for (int i = 0; i < 9; i++)
		sum = sum * 3 + v[i];
	return sum + s.a + (long long)(s.b * 4) + s.c + quotient * 7 + rest;
}

#ifdef WITH_KERNELS
extern "C" __global__ void call_all(long long *out)
{
	int t = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	out[t] = all_of_it(t);
}
#endif

#ifdef WITH_HOST
KERNEL(call_all)

int main(void)
{
	enum { N = 192 };
	long long out[N];
	size_t wrong = 0;
	begin();
	long long *d = (long long *)device_new(NULL, sizeof out);
	LAUNCH(call_all, dims(3, 1, 1), dims(64, 1, 1), 0, 0, &d);
	fetch(out, d, sizeof out);
	for (int t = 0; t < N; t++)
		wrong += out[t] != all_of_it(t);
	report("functions that are called", wrong);
	return finish();
}
#endif
