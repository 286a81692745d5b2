/* malloc and free in kernels. */
#include "tests/cuda/programs/program.h"

#ifdef WITH_KERNELS
#ifndef __NVCC__
extern "C" __device__ void *malloc(unsigned long);
extern "C" __device__ void free(void *);
#endif

/* Every thread builds a list of its own, as long as its number says, and keeps it. */
struct node {
	struct node *next;
	int value;
};
extern "C" __global__ void build_lists(struct node **lists)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x);
	struct node *list = 0;
	for (int k = 0; k < i % 7; k++) {
		struct node *n = (struct node *)malloc(sizeof *n);
		if (!n)
			break;
		n->next = list;
		n->value = i * 10 + k;
		list = n;
	}
	lists[i] = list;
}

/* Another kernel sums them up and frees them. */
extern "C" __global__ void end_lists(struct node **lists, int *sums)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), sum = 0;
	for (struct node *n = lists[i]; n;) {
		struct node *next = n->next;
		sum += n->value;
		free(n);
		n = next;
	}
	sums[i] = sum;
}

/* Blocks of several sizes must not overlap: each thread fills its own with its number, and looks at it afterwards. */
extern "C" __global__ void fill_blocks(int *wrong)
{
	int i = (int)(blockIdx.x * blockDim.x + threadIdx.x), count = 1 + i % 50;
	for (int round = 0; round < 3; round++) {
		int *own = (int *)malloc((unsigned long)count * sizeof(int));
		wrong[i] += own == 0 || ((unsigned long long)own & 15) != 0;
		for (int k = 0; k < count && own; k++)
			own[k] = i * 3 + round;
		__syncthreads();
		for (int k = 0; k < count && own; k++)
			wrong[i] += own[k] != i * 3 + round;
		free(own);
	}
	free(0);
}

/* Takes blocks until there are no more, and frees them all. */
extern "C" __global__ void fill_heap(int *counts, unsigned bytes)
{
	void *last = 0;
	int count = 0;
	for (void **p; (p = (void **)malloc(bytes)); count++) {
		*p = last;
		last = p;
	}
	counts[threadIdx.x] = count;
	__syncthreads();
	while (last) {
		void *next = *(void **)last;
		free(last);
		last = next;
	}
}
#endif

#ifdef WITH_HOST
KERNEL(build_lists)
KERNEL(end_lists)
KERNEL(fill_blocks)
KERNEL(fill_heap)

enum { BLOCKS = 6, BLOCK = 128, N = BLOCKS * BLOCK };
static int out[N];

static void try_lists(void)
{
	void **lists = (void **)device_new(NULL, N * sizeof *lists);
	int *sums = (int *)device_new(NULL, sizeof out);
	size_t wrong = 0;
	LAUNCH(build_lists, dims(BLOCKS, 1, 1), dims(BLOCK, 1, 1), 0, 0, &lists);
	LAUNCH(end_lists, dims(BLOCKS, 1, 1), dims(BLOCK, 1, 1), 0, 0, &lists, &sums);
	fetch(out, sums, sizeof out);
	for (int i = 0; i < N; i++)
		wrong += out[i] != i % 7 * i * 10 + i % 7 * (i % 7 - 1) / 2;
	report("lists that another kernel frees", wrong);
}

static void try_blocks(void)
{
	int *found = (int *)device_new(NULL, sizeof out);
	size_t wrong = 0;
	LAUNCH(fill_blocks, dims(BLOCKS, 1, 1), dims(BLOCK, 1, 1), 0, 0, &found);
	fetch(out, found, sizeof out);
	for (int i = 0; i < N; i++)
		wrong += out[i] != 0;
	report("blocks of many sizes", wrong);
}

/* The heap has 8 MiB: less than eight blocks of 1 MiB for all, and as many again once they are free. */
static void try_full(void)
{
	int *counts = (int *)device_new(NULL, 32 * sizeof(int)), sums[2] = {0, 0};
	unsigned bytes = 1000000;
	for (int round = 0; round < 2; round++) {
		LAUNCH(fill_heap, dims(1, 1, 1), dims(32, 1, 1), 0, 0, &counts, &bytes);
		fetch(out, counts, 32 * sizeof(int));
		for (int i = 0; i < 32; i++)
			sums[round] += out[i];
	}
	report("a heap that is full gives nothing", sums[0] < 4 || sums[0] > 8 || sums[0] != sums[1]);
}

int main(void)
{
	begin();
	try_lists();
	try_blocks();
	try_full();
	return finish();
}
#endif
