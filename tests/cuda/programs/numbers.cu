/* Double precision and integers of 64 bits: every operator, with values at the ends of their ranges. */
#include "tests/cuda/programs/program.h"

#ifndef WITH_KERNELS
#include <math.h>
#elif defined(__NVCC__)
#include <cmath>
#endif

FUNCTION long long integers(long long a, long long b)
{
	unsigned long long u = (unsigned long long)a, v = (unsigned long long)b | 1, r;
	r = u * v + u / v + u % v + (u << (v & 63)) + (u >> (v & 63));
	r ^= (unsigned long long)(a >> (b & 31));
	r += (unsigned long long)(a < b) + 2 * (unsigned long long)(u > v);
	if (!(a == (-9223372036854775807ll - 1) && (long long)v == -1))
		r += (unsigned long long)(a / (long long)v) * 5 + (unsigned long long)(a % (long long)v);
	return (long long)r;
}

#ifdef WITH_KERNELS
extern "C" __global__ void use_integers(const long long *in, long long *out, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n * n)
		out[i] = integers(in[i / n], in[i % n]);
}

extern "C" __global__ void use_reals(const double *in, double *out, long long *whole, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	if (i < n * n) {
		out[i] = fma(in[i / n], in[i % n], 1.0) / 3.0;
		whole[i] = (long long)(in[i / n] * 1000.0) + (long long)(float)in[i % n];
	}
}
#endif

#ifdef WITH_HOST
KERNEL(use_integers)
KERNEL(use_reals)

int main(void)
{
	static const long long ints[] = {0, 1, -1, 2, 3, -7, 63, 64, 1000000007, -1000000007, 0x7fffffff, 0x80000000ll, 0xffffffffll, 0x100000000ll,
	                                 9223372036854775807ll, -9223372036854775807ll - 1, 0x123456789abcdefll, -0x123456789abcdefll};
	static const double doubles[] = {0.0, 1.0, -1.0, 0.1, -0.1, 3.5, 1e10, -1e10, 1e-10, 123456.789, -2.5e-5, 7e12};
	enum { N = sizeof ints / sizeof *ints, M = sizeof doubles / sizeof *doubles };
	long long out[N * N], whole[M * M];
	double out_reals[M * M];
	size_t wrong = 0, wrong_reals = 0, wrong_whole = 0;
	int n = N, m = M;
	begin();
	void *a = device_new(ints, sizeof ints), *b = device_new(NULL, sizeof out);
	LAUNCH(use_integers, dims((N * N + 63) / 64, 1, 1), dims(64, 1, 1), 0, 0, &a, &b, &n);
	fetch(out, b, sizeof out);
	for (int i = 0; i < N * N; i++)
		wrong += out[i] != integers(ints[i / N], ints[i % N]);
	report("integers of 64 bits", wrong);
	void *c = device_new(doubles, sizeof doubles), *d = device_new(NULL, sizeof out_reals), *e = device_new(NULL, sizeof whole);
	LAUNCH(use_reals, dims((M * M + 63) / 64, 1, 1), dims(64, 1, 1), 0, 0, &c, &d, &e, &m);
	fetch(out_reals, d, sizeof out_reals);
	fetch(whole, e, sizeof whole);
	for (int i = 0; i < M * M; i++) {
		wrong_reals += out_reals[i] != fma(doubles[i / M], doubles[i % M], 1.0) / 3.0;
		wrong_whole += whole[i] != (long long)(doubles[i / M] * 1000.0) + (long long)(float)doubles[i % M];
	}
	report("double precision", wrong_reals);
	report("conversions of doubles", wrong_whole);
	return finish();
}
#endif
