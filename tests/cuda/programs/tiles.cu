/* What cooperative groups do within a block, by hand: tiles of a warp, lanes that are together by chance, lanes with equal values, votes. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
/* The sum of every tile of 4, 8 and 16 lanes. */
extern "C" __global__ void tile_sums(const int *in, int *out, int n)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	for (int tile = 4, k = 0; tile <= 16; tile *= 2, k++) {
		int v = in[i];
		for (int by = tile / 2; by > 0; by /= 2)
			v += __shfl_xor_sync(0xffffffffu, v, by, tile);
		out[k * n + i] = v;
	}
}

/* Lanes that are together add once for all of them, and each takes its own place. */
extern "C" __global__ void append_odd(const int *in, int *out, int *count)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), v = in[i];
	if (v & 1) {
		unsigned together = __activemask();
		int lane = threadIdx.x & 31, leader = __ffs((int)together) - 1, place = 0;
		if (lane == leader)
			place = atomicAdd(count, __popc(together));
		place = __shfl_sync(together, place, leader) + __popc(together & ((1u << lane) - 1));
		out[place] = v;
	}
}

/* Lanes with equal keys find each other. */
extern "C" __global__ void count_keys(const int *in, int *counts)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), key = in[i] % 5;
	unsigned peers = __match_any_sync(0xffffffffu, key);
	if ((int)(threadIdx.x & 31) == __ffs((int)peers) - 1)
		atomicAdd(&counts[key], __popc(peers));
}

extern "C" __global__ void votes(const int *in, int *out)
{
	int t = (int)threadIdx.x, v = in[t];
	out[t] = __all_sync(0xffffffffu, v >= 0) | __any_sync(0xffffffffu, v % 97 == 0) << 1 | (int)(__ballot_sync(0xffffffffu, v & 1) & 1) << 2;
	__syncwarp();
	int odd = __syncthreads_count(v & 1), all = __syncthreads_and(v >= 0), any = __syncthreads_or(v == 12345678);
	out[t] += odd * 8 + (all != 0) * 4096 + (any != 0) * 8192;
}
#endif

#ifdef WITH_HOST
KERNEL(tile_sums)
KERNEL(append_odd)
KERNEL(count_keys)
KERNEL(votes)

enum { N = 512 };

static size_t try_votes(const int *in, int *a)
{
	int out[128], odd = 0;
	size_t wrong = 0;
	int *b = (int *)device_new(NULL, sizeof out);
	LAUNCH(votes, dims(1, 1, 1), dims(128, 1, 1), 0, 0, &a, &b);
	fetch(out, b, sizeof out);
	for (int t = 0; t < 128; t++)
		odd += in[t] & 1;
	for (int t = 0; t < 128; t++) {
		int any = 0, warp = t / 32 * 32;
		for (int l = warp; l < warp + 32; l++)
			any |= in[l] % 97 == 0;
		wrong += out[t] != (1 | any << 1 | (in[warp] & 1) << 2) + odd * 8 + 4096;
	}
	return wrong;
}

static size_t try_append(const int *in, int *a)
{
	int out[N], count, odd = 0;
	long long sum = 0, expected = 0;
	int *b = (int *)device_new(NULL, sizeof out), *c = (int *)device_new(NULL, sizeof count);
	LAUNCH(append_odd, dims(N / 64, 1, 1), dims(64, 1, 1), 0, 0, &a, &b, &c);
	fetch(out, b, sizeof out);
	fetch(&count, c, sizeof count);
	for (int i = 0; i < N; i++) {
		odd += in[i] & 1;
		expected += in[i] & 1 ? (long long)in[i] * in[i] : 0;
		sum += i < count ? (long long)out[i] * out[i] : 0;
	}
	return (size_t)(count != odd) + (sum != expected);
}

int main(void)
{
	int in[N], out[3 * N], counts[5], n = N, expected[5] = {0};
	unsigned state = 3;
	size_t wrong = 0;
	begin();
	for (int i = 0; i < N; i++) {
		in[i] = (int)(next_number(&state) % 10000);
		expected[in[i] % 5]++;
	}
	int *a = (int *)device_new(in, sizeof in), *b = (int *)device_new(NULL, sizeof out), *c = (int *)device_new(NULL, sizeof counts);
	LAUNCH(tile_sums, dims(N / 128, 1, 1), dims(128, 1, 1), 0, 0, &a, &b, &n);
	fetch(out, b, sizeof out);
	for (int k = 0; k < 3; k++) {
		for (int i = 0; i < N; i++) {
			int tile = 4 << k, sum = 0;
			for (int j = i / tile * tile; j < i / tile * tile + tile; j++)
				sum += in[j];
			wrong += out[k * N + i] != sum;
		}
	}
	report("sums of tiles", wrong);
	report("lanes that are together append", try_append(in, a));
	LAUNCH(count_keys, dims(N / 64, 1, 1), dims(64, 1, 1), 0, 0, &a, &c);
	fetch(counts, c, sizeof counts);
	wrong = 0;
	for (int k = 0; k < 5; k++)
		wrong += counts[k] != expected[k];
	report("lanes with equal keys", wrong);
	report("votes of warps and blocks", try_votes(in, a));
	return finish();
}
#endif
