/* Atomic operations of all kinds and types, on global and on shared memory, with and without their results. */
#include "tests/cuda/programs/program.h"

enum { THREADS = 96, BLOCKS = 5, INTS = 12 };

struct totals {
	int ints[INTS];
	unsigned unsigneds[4];
	unsigned long long longs[4];
	long long least;
	float real;
	double twice;
};

#ifdef WITH_KERNELS
__device__ static void update(totals *t, int i)
{
	atomicAdd(&t->ints[0], i);
	atomicSub(&t->ints[1], i);
	atomicMin(&t->ints[2], 50 - i);
	atomicMax(&t->ints[3], i - 50);
	atomicAnd(&t->ints[4], ~(1 << i % 30));
	atomicOr(&t->ints[5], 1 << i % 30);
	atomicXor(&t->ints[6], i * 12345);
	atomicAdd(&t->unsigneds[0], 0x80000000u + (unsigned)i);
	atomicMin(&t->unsigneds[1], 4000000000u - (unsigned)i);
	atomicMax(&t->unsigneds[2], 3000000000u + (unsigned)i);
	atomicInc(&t->unsigneds[3], 100u);
	atomicAdd(&t->longs[0], (unsigned long long)i << 33);
	atomicMax(&t->longs[1], 1ull << i % 60);
	atomicMin(&t->least, -(long long)i << 34);
	atomicAdd(&t->real, 0.25f);
	atomicAdd(&t->twice, 0.125);
}

extern "C" __global__ void on_global(totals *t)
{
	update(t, (int)(blockIdx.x * blockDim.x + threadIdx.x));
}

extern "C" __global__ void on_shared(totals *out)
{
	__shared__ totals t;
	if (threadIdx.x == 0)
		t = *out;
	__syncthreads();
	for (int b = 0; b < BLOCKS; b++)
		update(&t, b * THREADS + (int)threadIdx.x);
	__syncthreads();
	if (threadIdx.x == 0)
		*out = t;
}

/* Results: tickets that nobody has twice, a chain of exchanges, and a lock made of compare-and-swap, which lanes take one after the other. */
extern "C" __global__ void results(int *tickets, int *next, int *lock, int *guarded, unsigned *down)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	tickets[i] = atomicAdd(next, 1);
	atomicDec(down, 1000u);
	bool done = false;
	while (!done) {
		if (atomicCAS(lock, 0, 1) == 0) {
			*(volatile int *)guarded = *(volatile int *)guarded + 1;
			__threadfence();
			atomicExch(lock, 0);
			done = true;
		}
	}
}

/* Compare-and-swap makes operations that do not exist: a product modulo 2^64. */
extern "C" __global__ void product(unsigned long long *p)
{
	unsigned long long factor = 2ull * (blockIdx.x * blockDim.x + threadIdx.x) + 1, was = *p, now;
	do {
		now = was;
		was = atomicCAS(p, now, now * factor);
	} while (was != now);
}
#endif

#ifdef WITH_HOST
KERNEL(on_global)
KERNEL(on_shared)
KERNEL(results)
KERNEL(product)

static struct totals start(void)
{
	struct totals t;
	memset(&t, 0, sizeof t);
	t.ints[2] = t.ints[4] = 0x7fffffff;
	t.ints[3] = -0x7fffffff;
	t.unsigneds[1] = 0xffffffffu;
	return t;
}

static struct totals expected(void)
{
	struct totals t = start();
	for (int i = 0; i < THREADS * BLOCKS; i++) {
		t.ints[0] += i;
		t.ints[1] -= i;
		t.ints[2] = t.ints[2] < 50 - i ? t.ints[2] : 50 - i;
		t.ints[3] = t.ints[3] > i - 50 ? t.ints[3] : i - 50;
		t.ints[4] &= ~(1 << i % 30);
		t.ints[5] |= 1 << i % 30;
		t.ints[6] ^= i * 12345;
		t.unsigneds[0] += 0x80000000u + (unsigned)i;
		t.unsigneds[1] = t.unsigneds[1] < 4000000000u - (unsigned)i ? t.unsigneds[1] : 4000000000u - (unsigned)i;
		t.unsigneds[2] = t.unsigneds[2] > 3000000000u + (unsigned)i ? t.unsigneds[2] : 3000000000u + (unsigned)i;
		t.unsigneds[3] = t.unsigneds[3] >= 100 ? 0 : t.unsigneds[3] + 1;
		t.longs[0] += (unsigned long long)i << 33;
		t.longs[1] = t.longs[1] > 1ull << i % 60 ? t.longs[1] : 1ull << i % 60;
		t.least = t.least < -((long long)i * (1ll << 34)) ? t.least : -((long long)i * (1ll << 34));
		t.real += 0.25f;
		t.twice += 0.125;
	}
	return t;
}

static size_t compare(const struct totals *t)
{
	struct totals e = expected();
	size_t wrong = 0;
	for (int i = 0; i < INTS; i++)
		wrong += t->ints[i] != e.ints[i];
	for (int i = 0; i < 4; i++)
		wrong += (t->unsigneds[i] != e.unsigneds[i]) + (t->longs[i] != e.longs[i]);
	return wrong + (t->least != e.least) + (t->real != e.real) + (t->twice != e.twice);
}

static size_t try_results(void)
{
	enum { ALL = THREADS * BLOCKS };
	int tickets[ALL], seen[ALL] = {0}, words[3] = {0}, guarded;
	unsigned down = 5;
	size_t wrong = 0;
	int *t = (int *)device_new(NULL, sizeof tickets), *w = (int *)device_new(words, sizeof words);
	unsigned *d = (unsigned *)device_new(&down, sizeof down);
	int *next = w, *lock = w + 1, *g = w + 2;
	LAUNCH(results, dims(BLOCKS, 1, 1), dims(THREADS, 1, 1), 0, 0, &t, &next, &lock, &g, &d);
	fetch(tickets, t, sizeof tickets);
	fetch(&guarded, g, sizeof guarded);
	fetch(&down, d, sizeof down);
	for (int i = 0; i < ALL; i++) {
		int mine = tickets[i];
		wrong += mine < 0 || mine >= ALL || seen[mine]++;
	}
	/* 480 times: 5 to 0 and to 1000 are six, then down from there */
	return wrong + (guarded != ALL) + (down != 1000 - (ALL - 6));
}

int main(void)
{
	struct totals t = start();
	unsigned long long p = 1, product_expected = 1;
	begin();
	struct totals *d = (struct totals *)device_new(&t, sizeof t);
	LAUNCH(on_global, dims(BLOCKS, 1, 1), dims(THREADS, 1, 1), 0, 0, &d);
	fetch(&t, d, sizeof t);
	report("atomics on global memory", compare(&t));
	t = start();
	CALL(cudaMemcpy(d, &t, sizeof t, cudaMemcpyHostToDevice));
	LAUNCH(on_shared, dims(1, 1, 1), dims(THREADS, 1, 1), 0, 0, &d);
	fetch(&t, d, sizeof t);
	report("atomics on shared memory", compare(&t));
	report("results of atomics, and a lock", try_results());
	unsigned long long *q = (unsigned long long *)device_new(&p, sizeof p);
	LAUNCH(product, dims(3, 1, 1), dims(100, 1, 1), 0, 0, &q);
	fetch(&p, q, sizeof p);
	for (unsigned long long i = 0; i < 300; i++)
		product_expected *= 2 * i + 1;
	report("a product by compare-and-swap", p != product_expected);
	return finish();
}
#endif
