/* Static and dynamic shared memory, both in one kernel, of several types, and addresses of it that go through generic pointers. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
/* Reverses the block's values by dynamic memory, and sums them up by static memory. */
extern "C" __global__ void both(const int *in, int *reversed, long long *sums)
{
	extern __shared__ int room[];
	__shared__ long long sum[128];
	__shared__ char odd_size[37];
	int t = (int)threadIdx.x, n = (int)blockDim.x, i = (int)blockIdx.x * n + t;
	room[t] = in[i];
	sum[t] = in[i];
	if (t < 37)
		odd_size[t] = (char)t;
	__syncthreads();
	reversed[i] = room[n - 1 - t] + odd_size[t % 37];
	for (int s = n / 2; s > 0; s >>= 1) {
		if (t < s)
			sum[t] += sum[t + s];
		__syncthreads();
	}
	if (t == 0)
		sums[blockIdx.x] = sum[0];
}

__device__ __noinline__ static int read_it(const int *p, int at)
{
	return p[at];
}

/* A pointer that is to shared memory in one half of the threads, to global memory in the other. */
extern "C" __global__ void either(const int *in, int *out)
{
	__shared__ int copy[64];
	int t = (int)threadIdx.x;
	copy[t] = in[t] * 2;
	__syncthreads();
	const int *from = t & 1 ? copy : in;
	out[t] = read_it(from, 63 - t);
}
#endif

#ifdef WITH_HOST
KERNEL(both)
KERNEL(either)

int main(void)
{
	enum { BLOCKS = 6, THREADS = 128, N = BLOCKS * THREADS };
	int in[N], reversed[N], out[64];
	long long sums[BLOCKS];
	size_t wrong = 0, wrong_sums = 0;
	begin();
	for (int i = 0; i < N; i++)
		in[i] = i * i - 5000;
	int *a = (int *)device_new(in, sizeof in), *b = (int *)device_new(NULL, sizeof reversed);
	long long *c = (long long *)device_new(NULL, sizeof sums);
	LAUNCH(both, dims(BLOCKS, 1, 1), dims(THREADS, 1, 1), THREADS * sizeof(int), 0, &a, &b, &c);
	fetch(reversed, b, sizeof reversed);
	fetch(sums, c, sizeof sums);
	for (int g = 0; g < BLOCKS; g++) {
		long long sum = 0;
		for (int t = 0; t < THREADS; t++) {
			sum += in[g * THREADS + t];
			wrong += reversed[g * THREADS + t] != in[g * THREADS + THREADS - 1 - t] + t % 37;
		}
		wrong_sums += sums[g] != sum;
	}
	report("dynamic shared memory", wrong);
	report("static shared memory", wrong_sums);
	LAUNCH(either, dims(1, 1, 1), dims(64, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	wrong = 0;
	for (int t = 0; t < 64; t++)
		wrong += out[t] != (t & 1 ? 2 : 1) * in[63 - t];
	report("pointers to either memory", wrong);
	return finish();
}
#endif
