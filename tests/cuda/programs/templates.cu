/* Kernels and functions that are templates. In C their handles have the names that C++ gives them. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
template <typename T> struct pair {
	T first, second;
};

template <typename T, int COUNT> __device__ static pair<T> extremes(const T *v)
{
	pair<T> p = {v[0], v[0]};
	for (int i = 1; i < COUNT; i++) {
		p.first = v[i] < p.first ? v[i] : p.first;
		p.second = v[i] > p.second ? v[i] : p.second;
	}
	return p;
}

template <typename T, int COUNT> __global__ void span(const T *in, T *out)
{
	pair<T> p = extremes<T, COUNT>(in + threadIdx.x * COUNT);
	out[threadIdx.x] = p.second - p.first;
}

template __global__ void span<int, 4>(const int *, int *);
template __global__ void span<double, 8>(const double *, double *);
template __global__ void span<unsigned char, 16>(const unsigned char *, unsigned char *);
#ifdef __NVCC__
#define _Z4spanIiLi4EEvPKT_PS0_ (span<int, 4>)
#define _Z4spanIdLi8EEvPKT_PS0_ (span<double, 8>)
#define _Z4spanIhLi16EEvPKT_PS0_ (span<unsigned char, 16>)
#endif
#endif

#ifdef WITH_HOST
KERNEL(_Z4spanIiLi4EEvPKT_PS0_)
KERNEL(_Z4spanIdLi8EEvPKT_PS0_)
KERNEL(_Z4spanIhLi16EEvPKT_PS0_)

enum { THREADS = 40 };

#define TRY(type, count, kernel) \
	static size_t try_##type(void) \
	{ \
		type in[THREADS * count], out[THREADS]; \
		unsigned state = 5; \
		size_t wrong = 0; \
		for (int i = 0; i < THREADS * count; i++) \
			in[i] = (type)(next_number(&state) % 200); \
		type *a = (type *)device_new(in, sizeof in), *b = (type *)device_new(NULL, sizeof out); \
		LAUNCH(kernel, dims(1, 1, 1), dims(THREADS, 1, 1), 0, 0, &a, &b); \
		fetch(out, b, sizeof out); \
		for (int t = 0; t < THREADS; t++) { \
			type low = in[t * count], high = low; \
			for (int i = 0; i < count; i++) { \
				low = in[t * count + i] < low ? in[t * count + i] : low; \
				high = in[t * count + i] > high ? in[t * count + i] : high; \
			} \
			wrong += out[t] != (type)(high - low); \
		} \
		return wrong; \
	}
typedef unsigned char byte_type;
TRY(int, 4, _Z4spanIiLi4EEvPKT_PS0_)
TRY(double, 8, _Z4spanIdLi8EEvPKT_PS0_)
TRY(byte_type, 16, _Z4spanIhLi16EEvPKT_PS0_)

int main(void)
{
	begin();
	report("a template for int", try_int());
	report("a template for double", try_double());
	report("a template for unsigned char", try_byte_type());
	return finish();
}
#endif
