/* Shuffles of all kinds, in segments of a warp, and while lanes are off. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
extern "C" __global__ void shuffle_all(const int *in, int *out)
{
	int t = threadIdx.x, v = in[t];
	out[t] = __shfl_sync(0xffffffffu, v, (t * 7 + 3) & 31);
	out[t + 32] = __shfl_up_sync(0xffffffffu, v, 5);
	out[t + 64] = __shfl_down_sync(0xffffffffu, v, 9);
	out[t + 96] = __shfl_xor_sync(0xffffffffu, v, 13);
	out[t + 128] = __shfl_sync(0xffffffffu, v, t + 3, 8);
	out[t + 160] = __shfl_up_sync(0xffffffffu, v, 3, 16);
	out[t + 192] = __shfl_down_sync(0xffffffffu, v, 1, 4);
	out[t + 224] = __shfl_xor_sync(0xffffffffu, v, 12, 8);
}

/* Odd and even lanes exchange among themselves, in two branches. */
extern "C" __global__ void shuffle_halves(const int *in, int *out)
{
	int t = threadIdx.x, v = in[t], r;
	if (t & 1)
		r = __shfl_xor_sync(0xaaaaaaaau, v, 2);
	else
		r = __shfl_down_sync(0x55555555u, v, 4) + 1;
	out[t] = r;
}

/* Lanes leave a loop one after the other; those that are left pass a value around. */
extern "C" __global__ void shuffle_while(const int *in, int *out)
{
	int t = threadIdx.x, v = in[t];
#if defined __CUDACC__ && !defined __clang__
#pragma unroll 1 /* or lanes of one iteration are at different instructions */
#endif
	for (int k = 0; k < t; k++)
		v += __shfl_sync(0xfffffffeu << k, v, 31);
	out[t] = v;
}

extern "C" __global__ void sum_floats(const float *in, float *out)
{
	float v = in[blockIdx.x * blockDim.x + threadIdx.x];
	for (int by = 16; by > 0; by >>= 1)
		v += __shfl_down_sync(0xffffffffu, v, by);
	if (threadIdx.x % 32 == 0)
		out[(blockIdx.x * blockDim.x + threadIdx.x) / 32] = v;
}

/* Fewer lanes than a warp has sum up with the steps of a whole warp. CUDA does not define what the others give; GPUs give 0. */
extern "C" __global__ void sum_few(const int *in, int *out)
{
	int t = threadIdx.x, v = in[t];
	if (t < 8) {
		for (int by = 16; by > 0; by >>= 1)
			v += __shfl_down_sync(0xffu, v, by);
	}
	out[t] = v;
}
#endif

#ifdef WITH_HOST
KERNEL(shuffle_all)
KERNEL(shuffle_halves)
KERNEL(shuffle_while)
KERNEL(sum_floats)
KERNEL(sum_few)

static size_t check_all(const int *v, const int *out)
{
	size_t wrong = 0;
	for (int t = 0; t < 32; t++) {
		int segment8 = t & ~7;
		wrong += out[t] != v[(t * 7 + 3) & 31];
		wrong += out[t + 32] != v[t < 5 ? t : t - 5];
		wrong += out[t + 64] != v[t + 9 > 31 ? t : t + 9];
		wrong += out[t + 96] != v[t ^ 13];
		wrong += out[t + 128] != v[segment8 + ((t + 3) & 7)];
		wrong += out[t + 160] != v[t % 16 < 3 ? t : t - 3];
		wrong += out[t + 192] != v[t % 4 == 3 ? t : t + 1];
		/* a lane of a segment before its own may be read, one after it not */
		wrong += out[t + 224] != v[(t ^ 12) > (t | 7) ? t : t ^ 12];
	}
	return wrong;
}

int main(void)
{
	int v[32], out[256], w[32];
	float reals[256], sums[8];
	unsigned state = 7;
	size_t wrong = 0;
	begin();
	for (int i = 0; i < 32; i++)
		v[i] = w[i] = (int)(next_number(&state) % 100000);
	int *a = (int *)device_new(v, sizeof v), *b = (int *)device_new(NULL, sizeof out);
	LAUNCH(shuffle_all, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	report("all kinds of shuffles", check_all(v, out));
	LAUNCH(shuffle_halves, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	for (int t = 0; t < 32; t++)
		wrong += out[t] != (t & 1 ? v[t ^ 2] : v[t + 4 > 31 ? t : t + 4] + 1);
	report("shuffles in two branches", wrong);
	LAUNCH(shuffle_while, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	wrong = 0;
	for (int k = 0; k < 31; k++) {
		int last = w[31];
		for (int t = k + 1; t < 32; t++)
			w[t] += last;
	}
	for (int t = 0; t < 32; t++)
		wrong += out[t] != w[t];
	report("shuffles in a loop that lanes leave", wrong);
	LAUNCH(sum_few, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	wrong = 0;
	for (int t = 1; t < 8; t++)
		v[0] += v[t];
	wrong += out[0] != v[0];
	for (int t = 8; t < 32; t++)
		wrong += out[t] != v[t];
	report("sums of fewer lanes than a warp has", wrong);
	for (int i = 0; i < 256; i++)
		reals[i] = (float)(i % 17);
	float *c = (float *)device_new(reals, sizeof reals), *d = (float *)device_new(NULL, sizeof sums);
	LAUNCH(sum_floats, dims(2, 1, 1), dims(128, 1, 1), 0, 0, &c, &d);
	fetch(sums, d, sizeof sums);
	wrong = 0;
	for (int s = 0; s < 8; s++) {
		float sum = 0;
		for (int i = 0; i < 32; i++)
			sum += reals[s * 32 + i];
		wrong += sums[s] != sum;
	}
	report("sums of floats by shuffles", wrong);
	return finish();
}
#endif
