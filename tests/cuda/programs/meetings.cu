/* Lanes of a warp that wait for each other at different places of the code. */
#include "tests/cuda/programs/program.h"

#define ALL 0xffffffffu

#ifdef WITH_KERNELS
/* Both halves of a warp exchange values, each in its own branch. */
extern "C" __global__ void exchange(const int *in, int *out)
{
	int t = (int)threadIdx.x, lane = t & 31, v = in[t];
	if (lane < 16)
		out[t] = __shfl_sync(ALL, v, lane + 16) * 2;
	else
		out[t] = __shfl_sync(ALL, v + 1000, lane - 16) * 3;
}

/* Both sides run a loop of as many iterations, and meet in each. What the loops count is the same for the lanes of a side. */
extern "C" __global__ void exchange_often(const int *in, int *out, int n)
{
	int t = (int)threadIdx.x, lane = t & 31, v = in[t];
	if (lane % 3) {
#pragma unroll 1
		for (int k = 0; k < n; k++)
			v = __shfl_sync(ALL, v, (lane + k) & 31) + k;
	} else {
#pragma unroll 1
		for (int k = n; k > 0; k--)
			v = __shfl_sync(ALL, v, (lane * 7 + k) & 31) - 5 * k;
	}
	out[t] = v;
}

/* Lanes leave the loop one after the other, and vote behind it as often as those that are still in it. */
extern "C" __global__ void vote_everywhere(const int *in, int *out)
{
	int t = (int)threadIdx.x, lane = t & 31, v = in[t], k = 0;
	unsigned sum = 0;
#pragma unroll 1
	for (; k < lane; k++)
		sum += __ballot_sync(ALL, (v >> k) & 1) * (unsigned)(k + 1);
#pragma unroll 1
	for (; k < 32; k++)
		sum ^= __ballot_sync(ALL, (v >> k) & 1) + (unsigned)k;
	out[t] = (int)sum;
}

/* Halves that talk by shared memory: each writes, waits, and reads what the other wrote. */
extern "C" __global__ void talk(const int *in, int *out)
{
	__shared__ int place[64];
	int t = (int)threadIdx.x, lane = t & 31, v = in[t];
	if (lane & 1) {
		place[t] = v * 5;
		__syncwarp();
		v = place[t ^ 1];
		__syncwarp();
		place[t] = v + 1;
		__syncwarp();
	} else {
		place[t] = v * 7;
		__syncwarp();
		v += place[t ^ 1];
		__syncwarp();
		__syncwarp();
		v += place[t ^ 1] * 100;
	}
	out[t] = v;
}

/* The lanes below 10 wait for all. Some others end, and the rest comes in a branch of its own. */
extern "C" __global__ void wait_for_the_rest(const int *in, int *out)
{
	int t = (int)threadIdx.x, lane = t & 31, v = in[t];
	out[t] = -1;
	if (lane < 10) {
		out[t] = (int)__ballot_sync(ALL, v & 1);
	} else if (lane < 20) {
		if (v & 2)
			return;
		out[t] = (int)__ballot_sync(ALL, v & 1) + 1;
	}
}

/* Tiles of eight lanes. Those of odd lanes take another way than those of even lanes, and all tiles wait for their own lanes only. */
extern "C" __global__ void tiles_apart(const int *in, int *out)
{
	int t = (int)threadIdx.x, lane = t & 31, v = in[t];
	unsigned tile = 0xffu << (lane & 24);
	int sum = v;
	if (lane & 1) {
		for (int by = 4; by > 0; by /= 2)
			sum += __shfl_xor_sync(tile, sum, by, 8);
		sum *= 2;
	} else {
		for (int by = 4; by > 0; by /= 2)
			sum += __shfl_xor_sync(tile, sum, by, 8);
		sum += __any_sync(__activemask(), v < 0);
	}
	out[t] = sum;
}

/* Lanes with equal keys find one another from three places. */
extern "C" __global__ void match_apart(const int *in, int *out)
{
	int t = (int)threadIdx.x, lane = t & 31, key = in[t] % 4;
	if (lane < 8)
		out[t] = (int)__match_any_sync(ALL, key);
	else if (lane < 20)
		out[t] = (int)__match_any_sync(ALL, key + 1);
	else
		out[t] = (int)__match_any_sync(ALL, key + 2);
	__syncthreads();
	out[t] += __all_sync(ALL, key < 4);
}
#endif

#ifdef WITH_HOST
KERNEL(exchange)
KERNEL(exchange_often)
KERNEL(vote_everywhere)
KERNEL(talk)
KERNEL(wait_for_the_rest)
KERNEL(tiles_apart)
KERNEL(match_apart)

enum { N = 64, ITERATIONS = 9 };
static int *a, *b;

#define TRY(name, ...) \
	do { \
		LAUNCH(name, dims(1, 1, 1), dims(N, 1, 1), 0, 0, &a, &b, ##__VA_ARGS__); \
		fetch(out, b, sizeof out); \
	} while (0)

static unsigned ballot(const int *v, int warp, int bit)
{
	unsigned mask = 0;
	for (int l = 0; l < 32; l++)
		mask |= (unsigned)(v[warp * 32 + l] >> bit & 1) << l;
	return mask;
}

static size_t compare(const int *out, const int *expected)
{
	size_t wrong = 0;
	for (int t = 0; t < N; t++)
		wrong += out[t] != expected[t];
	return wrong;
}

static void try_exchanges(const int *v)
{
	int out[N], expected[N], next[N], n = ITERATIONS;
	TRY(exchange);
	for (int t = 0; t < N; t++)
		expected[t] = t % 32 < 16 ? (v[t + 16] + 1000) * 2 : v[t - 16] * 3;
	report("two branches exchange values", compare(out, expected));
	TRY(exchange_often, &n);
	memcpy(expected, v, sizeof expected);
	for (int k = 0; k < ITERATIONS; k++) {
		for (int t = 0; t < N; t++) {
			int lane = t % 32, down = ITERATIONS - k;
			next[t] = lane % 3 ? expected[t - lane + ((lane + k) & 31)] + k : expected[t - lane + ((lane * 7 + down) & 31)] - 5 * down;
		}
		memcpy(expected, next, sizeof next);
	}
	report("two loops exchange values", compare(out, expected));
}

static void try_votes(const int *v)
{
	int out[N], expected[N];
	TRY(vote_everywhere);
	for (int t = 0; t < N; t++) {
		unsigned sum = 0;
		for (int k = 0; k < 32; k++)
			sum = k < t % 32 ? sum + ballot(v, t / 32, k) * (unsigned)(k + 1) : sum ^ (ballot(v, t / 32, k) + (unsigned)k);
		expected[t] = (int)sum;
	}
	report("lanes vote in a loop and behind it", compare(out, expected));
	TRY(wait_for_the_rest);
	for (int t = 0; t < N; t++) {
		unsigned mask = 0;
		for (int l = 0; l < 20; l++)
			if (l < 10 || !(v[t / 32 * 32 + l] & 2))
				mask |= (unsigned)(v[t / 32 * 32 + l] & 1) << l;
		expected[t] = t % 32 < 10 ? (int)mask : t % 32 < 20 && !(v[t] & 2) ? (int)mask + 1 : -1;
	}
	report("lanes wait until others vote or end", compare(out, expected));
}

static void try_others(const int *v)
{
	int out[N], expected[N];
	TRY(talk);
	for (int t = 0; t < N; t++)
		expected[t] = t & 1 ? v[t ^ 1] * 7 : v[t] + v[t ^ 1] * 5 + (v[t] * 7 + 1) * 100;
	report("halves of a warp talk by shared memory", compare(out, expected));
	TRY(tiles_apart);
	for (int t = 0; t < N; t++) {
		int sum = 0;
		for (int i = 0; i < 8; i++)
			sum += v[(t & ~7) + i];
		expected[t] = t & 1 ? sum * 2 : sum;
	}
	report("tiles whose lanes are in two branches", compare(out, expected));
	TRY(match_apart);
	for (int t = 0; t < N; t++) {
		unsigned mask = 0;
		for (int l = 0; l < 32; l++) {
			int lane = t % 32, mine = v[t] % 4 + (lane < 8 ? 0 : lane < 20 ? 1 : 2), its = v[t - lane + l] % 4 + (l < 8 ? 0 : l < 20 ? 1 : 2);
			mask |= (unsigned)(mine == its) << l;
		}
		expected[t] = (int)mask + 1;
	}
	report("lanes with equal keys in three branches", compare(out, expected));
}

int main(void)
{
	int v[N];
	unsigned state = 11;
	begin();
	for (int i = 0; i < N; i++)
		v[i] = (int)(next_number(&state) % 100000);
	a = (int *)device_new(v, sizeof v);
	b = (int *)device_new(NULL, sizeof v);
	try_exchanges(v);
	try_votes(v);
	try_others(v);
	return finish();
}
#endif
