/*
 * Executes PTX that counts and traces on the CPU, as a CUDA program that gpusim runs itself, and looks at what it wrote.
 *   columns PTX_FILE
 * The kernel is `step` of program.c by another name, because OpenCL C has a function of that one. Thread t of 128 goes through its loop LAST - t times.
 * Of two groups, the second is traced.
 */
#include "runtime/format/counted.h"
#include "runtime/format/traces.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

extern int cuInit(unsigned flags);
extern int cuCtxCreate_v2(void **out, unsigned flags, int device);
extern int cuModuleLoadData(void **out, const void *image);
extern int cuModuleGetFunction(void **out, void *module, const char *name);
extern int cuModuleGetGlobal_v2(uint64_t *address, size_t *bytes, void *module, const char *name);
extern int cuMemAlloc_v2(uint64_t *out, size_t bytes);
extern int cuMemcpyHtoD_v2(uint64_t to, const void *from, size_t bytes);
extern int cuMemcpyDtoH_v2(void *to, uint64_t from, size_t bytes);
extern int cuLaunchKernel(void *f, unsigned gx, unsigned gy, unsigned gz, unsigned bx, unsigned by, unsigned bz, unsigned shared, void *stream, void **params,
                          void **extra);

enum { GROUPS = 2, THREADS = 128, LAST = 1100, ROOM = 4000, TOLD = 5, COLUMNS = 3, BUFFER_WORDS = TRACE_HEADER_WORDS + THREADS * (ROOM + 14) };
enum { ENTRY = 3, BEFORE = 4, BODY = 5, END = 2, WINDOW = 64 }; /* rows of blocks, and the iterations of the first window */

static struct {
	void *module, *function;
	uint64_t data, counts, table, buffer, places;
} on = {.places = GROUPS * THREADS};
static uint64_t words[BUFFER_WORDS];
static uint32_t counts[((GROUPS * THREADS + COUNT_SHARED) / 32 + 1) * COLUMNS * 32]; /* counted_room */
static int wrong;

static int set(const char *name, const uint64_t *values, size_t bytes)
{
	uint64_t address;
	size_t size;
	return cuModuleGetGlobal_v2(&address, &size, on.module, name) || size != bytes || cuMemcpyHtoD_v2(address, values, bytes);
}

static int launch(uint64_t windows, uint64_t room, uint64_t alone)
{
	const uint32_t table[GROUPS] = {0, 1};
	const uint64_t counted[COUNT_WORDS] = {on.counts, on.places, 0};
	const uint64_t traced[TRACE_WORDS] = {on.buffer, on.table, THREADS, room, windows, TOLD, alone};
	unsigned last = LAST;
	void *params[] = {&on.data, &last};
	memset(words, 0, sizeof words);
	memset(counts, 0, sizeof counts);
	return cuMemcpyHtoD_v2(on.buffer, words, sizeof words) || cuMemcpyHtoD_v2(on.counts, counts, sizeof counts) ||
	       cuMemcpyHtoD_v2(on.table, table, sizeof table) || set(COUNT_VARIABLE, counted, sizeof counted) || set(TRACE_VARIABLE, traced, sizeof traced) ||
	       cuLaunchKernel(on.function, GROUPS, 1, 1, THREADS, 1, 1, 0, NULL, params, NULL) || cuMemcpyDtoH_v2(words, on.buffer, sizeof words) ||
	       cuMemcpyDtoH_v2(counts, on.counts, sizeof counts);
}

/* The next word of a thread's column. */
static void expect(unsigned thread, uint64_t *at, uint64_t word)
{
	uint64_t got = words[TRACE_HEADER_WORDS + thread + (COLUMN_HEADER_WORDS + *at) * THREADS];
	if (got != word && wrong++ < 5)
		printf("thread %u, word %llu: %llx instead of %llx\n", thread, (unsigned long long)*at, (unsigned long long)got, (unsigned long long)word);
	++*at;
}

static void expect_rounds(unsigned thread, uint64_t *at, unsigned count)
{
	const uint64_t address = (on.data + thread * sizeof(uint32_t)) << COLUMN_ADDRESS_SHIFT;
	for (unsigned i = 0; i < count; i++) {
		expect(thread, at, BODY << COLUMN_TAG_BITS);
		expect(thread, at, address | COLUMN_ACCESS);
		expect(thread, at, address | 1 << COLUMN_SITE_SHIFT | COLUMN_ACCESS);
	}
}

static void expect_gap(unsigned thread, uint64_t *at, unsigned kept, unsigned left_out)
{
	expect(thread, at, BODY << COLUMN_TOLD_SHIFT | COLUMN_GAP << COLUMN_TAG_BITS | COLUMN_TOLD);
	expect(thread, at, kept);
	expect(thread, at, left_out);
}

/* The first window, one of half its size at 4 times its iterations, and one at 16 times, which has as many as are left. */
static void expect_windows(unsigned thread, uint64_t *at, unsigned rounds)
{
	expect_rounds(thread, at, WINDOW);
	expect_gap(thread, at, WINDOW, 3 * WINDOW);
	expect_rounds(thread, at, WINDOW / 2);
	unsigned begin = 16 * WINDOW, size = WINDOW / 2, first_end = 4 * WINDOW + size;
	expect_gap(thread, at, size, (rounds < begin ? rounds : begin) - first_end);
	if (rounds <= begin)
		return;
	expect_rounds(thread, at, rounds - begin < size ? rounds - begin : size);
	if (rounds > begin + size)
		expect_gap(thread, at, size, rounds - begin - size);
}

static void check_thread(unsigned thread, bool whole)
{
	const unsigned rounds = LAST - thread;
	const uint64_t *column = words + TRACE_HEADER_WORDS + thread, told = thread ? 0 : TOLD;
	uint64_t at = told;
	expect(thread, &at, ENTRY << COLUMN_TAG_BITS);
	expect(thread, &at, BEFORE << COLUMN_TAG_BITS);
	if (whole)
		expect_rounds(thread, &at, rounds);
	else
		expect_windows(thread, &at, rounds);
	expect(thread, &at, END << COLUMN_TAG_BITS);
	if ((column[0] != 1 || column[THREADS] != (at << 32 | thread)) && wrong++ < 5)
		printf("thread %u: group %llu, %llx instead of %llu words\n", thread, (unsigned long long)column[0], (unsigned long long)column[THREADS],
		       (unsigned long long)at);
}

/* Rows that are counted: the loop goes on, it ends, and the end. Where the second group is alone, the first counts nothing. */
static void check_counts(bool alone)
{
	for (unsigned i = 0; i < GROUPS * THREADS; i++) {
		const bool none = alone && i < THREADS;
		const uint32_t want[COLUMNS] = {none ? 0 : LAST - i % THREADS - 1, !none, !none};
		for (unsigned c = 0; c < COLUMNS; c++)
			if (counts[counted_word(i, c, COLUMNS)] != want[c] && wrong++ < 5)
				printf("thread %u, column %u: %u instead of %u\n", i, c, counts[counted_word(i, c, COLUMNS)], want[c]);
	}
}

/* A column that is too short has the first events, and says so. */
static void check_cut(uint64_t room)
{
	for (unsigned t = 1; t < THREADS; t++) {
		uint64_t who = words[TRACE_HEADER_WORDS + t + THREADS], at = 0;
		expect(t, &at, ENTRY << COLUMN_TAG_BITS);
		expect(t, &at, BEFORE << COLUMN_TAG_BITS);
		expect_rounds(t, &at, 6);
		if (who != (room << 32 | UINT64_C(1) << COLUMN_CUT_BIT | t) && wrong++ < 5)
			printf("thread %u: %llx\n", t, (unsigned long long)who);
	}
}

int main(int argc, char **argv)
{
	static char ptx[1 << 20];
	void *context;
	FILE *f = argc > 1 ? fopen(argv[1], "r") : NULL;
	if (!f || !fread(ptx, 1, sizeof ptx - 1, f) || cuInit(0) || cuCtxCreate_v2(&context, 0, 0) || cuModuleLoadData(&on.module, ptx) ||
	    cuModuleGetFunction(&on.function, on.module, "walk") || cuMemAlloc_v2(&on.data, LAST * sizeof(uint32_t)) || cuMemAlloc_v2(&on.counts, sizeof counts) ||
	    cuMemAlloc_v2(&on.table, GROUPS * sizeof(uint32_t)) || cuMemAlloc_v2(&on.buffer, sizeof words))
		return 1;
	fclose(f);
	for (int whole = 0; whole < 2; whole++) {
		if (launch((uint64_t)whole, ROOM, 0))
			return 1;
		for (unsigned t = 0; t < THREADS; t++)
			check_thread(t, whole);
		check_counts(false);
	}
	enum { SHORT = 20 };
	if (launch(0, SHORT, 1))
		return 1;
	check_cut(SHORT);
	check_counts(true);
	on.places = GROUPS * THREADS - 64; /* threads that have none do not meet behind the last */
	if (launch(0, ROOM, 0))
		return 1;
	check_counts(false);
	printf("%d words are wrong\n", wrong);
	return wrong != 0;
}
