/* Code of old that relies on lanes in lock step: the last 32 threads of a reduction use volatile shared memory without barriers. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
__device__ static void reduce_warp(volatile int *s, int t)
{
	s[t] += s[t + 32];
	s[t] += s[t + 16];
	s[t] += s[t + 8];
	s[t] += s[t + 4];
	s[t] += s[t + 2];
	s[t] += s[t + 1];
}

extern "C" __global__ void reduce_volatile(const int *in, int *out)
{
	__shared__ int s[256];
	int t = threadIdx.x;
	s[t] = in[blockIdx.x * 512 + t] + in[blockIdx.x * 512 + 256 + t];
	__syncthreads();
	if (t < 128)
		s[t] += s[t + 128];
	__syncthreads();
	if (t < 64)
		s[t] += s[t + 64];
	__syncthreads();
	if (t < 32)
		reduce_warp(s, t);
	if (t == 0)
		out[blockIdx.x] = s[0];
}

/* An inclusive scan of a warp: every lane reads what its neighbours wrote in the step before. */
extern "C" __global__ void scan_volatile(const int *in, int *out)
{
	__shared__ volatile int s[64];
	int t = threadIdx.x;
	s[t] = 0;
	s[t + 32] = in[t];
	for (int by = 1; by < 32; by <<= 1) {
		int left = s[t + 32 - by];
		s[t + 32] = s[t + 32] + left;
	}
	out[t] = s[t + 32];
}
#endif

#ifdef WITH_HOST
KERNEL(reduce_volatile)
KERNEL(scan_volatile)

int main(void)
{
	enum { BLOCKS = 16 };
	int in[BLOCKS * 512], out[BLOCKS], scanned[32], sum = 0;
	unsigned state = 1;
	size_t wrong = 0;
	begin();
	for (int i = 0; i < BLOCKS * 512; i++)
		in[i] = (int)(next_number(&state) % 1000);
	int *a = (int *)device_new(in, sizeof in), *b = (int *)device_new(NULL, sizeof out), *c = (int *)device_new(NULL, sizeof scanned);
	LAUNCH(reduce_volatile, dims(BLOCKS, 1, 1), dims(256, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	for (int g = 0; g < BLOCKS; g++) {
		int expected = 0;
		for (int i = 0; i < 512; i++)
			expected += in[g * 512 + i];
		wrong += out[g] != expected;
	}
	report("reductions with volatile shared memory", wrong);
	LAUNCH(scan_volatile, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &a, &c);
	fetch(scanned, c, sizeof scanned);
	wrong = 0;
	for (int i = 0; i < 32; i++)
		wrong += scanned[i] != (sum += in[i]);
	report("a scan with volatile shared memory", wrong);
	return finish();
}
#endif
