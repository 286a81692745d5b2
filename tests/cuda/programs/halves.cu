/* Half precision: conversions of all 65,536 values to float and back, sums, products and comparisons. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void there_and_back(const half *in, float *reals, half *out)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	reals[i] = __half2float(in[i]);
	out[i] = __float2half(reals[i]);
}

/* r = a * b + c, rounded after each step. */
extern "C" __global__ void half_sums(const half *in, half *out, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	half a = in[i], b = in[(i * 7 + 1) % n], c = in[(i * 3 + 2) % n];
	out[i] = a * b;
	out[i + n] = a + c;
	out[i + 2 * n] = a < b ? a : b;
	out[i + 3 * n] = __float2half(__half2float(a) * 3.14159f);
}
#endif

#ifdef WITH_HOST
KERNEL(there_and_back)
KERNEL(half_sums)

static float to_float(unsigned h)
{
	unsigned exponent = h >> 10 & 31, fraction = h & 1023, bits;
	float r;
	if (exponent == 31) {
		bits = (h & 0x8000) << 16 | 0x7f800000 | fraction << 13;
	} else if (exponent == 0) {
		r = (float)fraction / 16777216.0f;
		return h & 0x8000 ? -r : r;
	} else {
		bits = (h & 0x8000) << 16 | (exponent + 112) << 23 | fraction << 13;
	}
	memcpy(&r, &bits, 4);
	return r;
}

/* The nearest half, even if two are as near, by trying: slow and sure. Values are finite and not beyond 65504. */
static unsigned to_half(double x)
{
	unsigned sign = x < 0 ? 0x8000 : 0, low = 0, high = 0x7bff;
	double a = x < 0 ? -x : x;
	while (high - low > 1) {
		unsigned middle = (low + high) / 2;
		if ((double)to_float(middle) <= a)
			low = middle;
		else
			high = middle;
	}
	double below = a - (double)to_float(low), above = (double)to_float(high) - a;
	return sign | (above < below || (above == below && !(high & 1)) ? high : low);
}

int main(void)
{
	enum { ALL = 65536, N = 512 };
	static unsigned short in[ALL], back[ALL], values[N], out[4 * N];
	static float reals[ALL];
	unsigned state = 11;
	size_t wrong = 0, wrong_sums = 0;
	int n = N;
	begin();
	for (int i = 0; i < ALL; i++)
		in[i] = (unsigned short)i;
	void *a = device_new(in, sizeof in), *b = device_new(NULL, sizeof reals), *c = device_new(NULL, sizeof back);
	LAUNCH(there_and_back, dims(ALL / 256, 1, 1), dims(256, 1, 1), 0, 0, &a, &b, &c);
	fetch(reals, b, sizeof reals);
	fetch(back, c, sizeof back);
	for (int i = 0; i < ALL; i++) {
		float expected = to_float((unsigned)i);
		int not_a_number = (i & 0x7c00) == 0x7c00 && i & 0x3ff;
		wrong += not_a_number ? reals[i] == reals[i] : memcmp(&reals[i], &expected, 4) || back[i] != i;
	}
	report("conversions of all values", wrong);
	for (int i = 0; i < N; i++)
		values[i] = (unsigned short)to_half((double)(next_number(&state) % 2000) / 16 - 60);
	void *d = device_new(values, sizeof values), *e = device_new(NULL, sizeof out);
	LAUNCH(half_sums, dims(N / 64, 1, 1), dims(64, 1, 1), 0, 0, &d, &e, &n);
	fetch(out, e, sizeof out);
	for (int i = 0; i < N; i++) {
		double x = (double)to_float(values[i]), y = (double)to_float(values[(i * 7 + 1) % N]), z = (double)to_float(values[(i * 3 + 2) % N]);
		wrong_sums += to_float(out[i]) != to_float(to_half(x * y));
		wrong_sums += to_float(out[i + N]) != to_float(to_half(x + z));
		wrong_sums += to_float(out[i + 2 * N]) != (float)(x < y ? x : y);
		wrong_sums += to_float(out[i + 3 * N]) != to_float(to_half((double)(float)(x * (double)3.14159f)));
	}
	report("sums, products and comparisons", wrong_sums);
	return finish();
}
#endif
