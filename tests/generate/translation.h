/*
 * translation.h - the basis of the C translation of a generated program: OpenCL C's words in plain C (GNU vectors), and the
 * work-items of a group, which are coroutines that wait at barriers.
 *
 * BLOCKS is the number of blocks in the program. The translation exports block_count, count_ and execute.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <ucontext.h>

#include "work.h"

#define __kernel
#define __global
#define __local
#define __constant static
#define CLK_LOCAL_MEM_FENCE 1

typedef uint32_t uint;
typedef uint8_t uchar;
typedef uint16_t ushort;
typedef uint64_t ulong;
typedef uint uint4 __attribute__((vector_size(16)));

const int block_count = BLOCKS;
uint64_t count_[BLOCKS];

enum { MOST_ITEMS = 256, STACK_BYTES = 256 << 10 };

static struct {
	uint global[3], local[3], group[3], item[3]; /* item: within its group */
	ucontext_t scheduler, items[MOST_ITEMS];
	int done[MOST_ITEMS], current;
	char *stacks;
	const struct work *work;
	void (*call)(const struct work *w);
} run_;

static uint local_argument_[MOST_ITEMS];

static uint get_global_id(int d) { return run_.group[d] * run_.local[d] + run_.item[d]; }
static uint get_global_size(int d) { return run_.global[d]; }
static uint get_local_id(int d) { return run_.item[d]; }
static uint get_local_size(int d) { return run_.local[d]; }
static uint get_group_id(int d) { return run_.group[d]; }

static uint min(uint a, uint b) { return a < b ? a : b; }
static uint max(uint a, uint b) { return a > b ? a : b; }
static uint rotate(uint a, uint b) { return b & 31 ? a << (b & 31) | a >> (32 - (b & 31)) : a; }
static uint mul_hi(uint a, uint b) { return (uint)((ulong)a * b >> 32); }
static uint abs_diff(uint a, uint b) { return a > b ? a - b : b - a; }
static uint popcount(uint a) { return (uint)__builtin_popcount(a); }
static uint clz(uint a) { return a ? (uint)__builtin_clz(a) : 32; }
static float fabs(float a) { return a > 0 ? a : 0 - a; } /* never -0 */
static float fmin(float a, float b) { return a < b ? a : b; }
static float fmax(float a, float b) { return a > b ? a : b; }
static float mad(float a, float b, float c) { return a * b + c; }
static uint as_uint(float a) { return (union { float f; uint u; }){a}.u; }
static uint atomic_add(uint *p, uint a) { uint old = *p; *p += a; return old; }

static uint4 make4(uint a, uint b, uint c, uint d) { return (uint4){a, b, c, d}; }
static uint4 shuffle4(uint4 v, uint a, uint b, uint c, uint d) { return (uint4){v[a], v[b], v[c], v[d]}; }
static void set2(uint4 *v, uint a, uint b, uint x, uint y) { (*v)[a] = x; (*v)[b] = y; }
static uint4 vload4(uint i, const uint *p) { return (uint4){p[4 * i], p[4 * i + 1], p[4 * i + 2], p[4 * i + 3]}; }

static void vstore4(uint4 v, uint i, uint *p)
{
	for (int c = 0; c < 4; c++)
		p[4 * i + c] = v[c];
}

static void barrier(int flags)
{
	(void)flags;
	swapcontext(&run_.items[run_.current], &run_.scheduler);
}

static void start_item(void)
{
	run_.call(run_.work);
	run_.done[run_.current] = 1;
}

/* Runs a group from barrier to barrier. All work-items must reach the same barrier, or none does. Otherwise the generator is
 * wrong. */
static void run_with_barriers(int items)
{
	int left = items;

	for (int i = 0; i < items; i++) {
		run_.done[i] = 0;
		getcontext(&run_.items[i]);
		run_.items[i].uc_stack.ss_sp = run_.stacks + (size_t)i * STACK_BYTES;
		run_.items[i].uc_stack.ss_size = STACK_BYTES;
		run_.items[i].uc_link = &run_.scheduler;
		makecontext(&run_.items[i], start_item, 0);
	}
	while (left == items) {
		for (run_.current = 0; run_.current < items; run_.current++) {
			run_.item[0] = (uint)run_.current % run_.local[0];
			run_.item[1] = (uint)run_.current / run_.local[0] % run_.local[1];
			run_.item[2] = (uint)run_.current / run_.local[0] / run_.local[1];
			swapcontext(&run_.scheduler, &run_.items[run_.current]);
			left -= run_.done[run_.current];
		}
	}
	if (left) {
		fprintf(stderr, "a barrier that not all work-items reach\n");
		abort();
	}
}

static void run_group(const struct work *w, int barriers, void (*call)(const struct work *w))
{
	if (barriers) {
		run_with_barriers((int)(w->local[0] * w->local[1] * w->local[2]));
		return;
	}
	for (run_.item[2] = 0; run_.item[2] < w->local[2]; run_.item[2]++)
		for (run_.item[1] = 0; run_.item[1] < w->local[1]; run_.item[1]++)
			for (run_.item[0] = 0; run_.item[0] < w->local[0]; run_.item[0]++)
				call(w);
}

static void run_kernel(const struct work *w, int barriers, void (*call)(const struct work *w))
{
	run_.work = w;
	run_.call = call;
	if (!run_.stacks)
		run_.stacks = malloc((size_t)MOST_ITEMS * STACK_BYTES);
	for (int d = 0; d < 3; d++) {
		run_.global[d] = w->global[d];
		run_.local[d] = w->local[d];
	}
	for (run_.group[2] = 0; run_.group[2] < w->global[2] / w->local[2]; run_.group[2]++)
		for (run_.group[1] = 0; run_.group[1] < w->global[1] / w->local[1]; run_.group[1]++)
			for (run_.group[0] = 0; run_.group[0] < w->global[0] / w->local[0]; run_.group[0]++)
				run_group(w, barriers, call);
}
