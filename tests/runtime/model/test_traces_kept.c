/* Which launches are traced, and which traces are kept. */
#include "tests/tests.h"

#include "runtime/format/traces.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_decode.h"

#include <stdlib.h>
#include <string.h>

static struct simulation simulation = SIMULATION_INIT;
static const uint64_t small[3] = {64, 1, 1}, large[3] = {8192, 1, 1}, local[3] = {64, 1, 1}, open[3] = {0, 0, 0};

/* The numbers, below 64, of the traced ones among `count` launches, as bits. */
static uint64_t traced_of(struct artifact_kernel *k, const uint64_t global[3], unsigned count, bool taken)
{
	uint64_t bits = 0;
	for (unsigned i = 1; i <= count; i++)
		if (trace_due(&simulation, k, global, local, 0)) {
			bits |= i < 64 ? UINT64_C(1) << i : 0;
			if (taken)
				trace_taken(k, global, local);
		}
	return bits;
}

static void launches_1_8_and_64_of_a_shape_are_traced(void)
{
	struct artifact_kernel k = {0};
	simulation.options.trace.number = TRACE_AUTO;
	CU_ASSERT_EQUAL(traced_of(&k, large, 63, true), 1u << 1 | 1u << 8);
	CU_ASSERT(trace_due(&simulation, &k, large, local, 0)); /* the 64th */
	CU_ASSERT_EQUAL(traced_of(&k, small, 40, true), (1u << 17) - 2); /* the first 16 of small ones */
	/* If a launch could not be traced, the next one is traced instead. */
	trace_shapes_free(&k);
	CU_ASSERT_EQUAL(traced_of(&k, small, 3, false), 1u << 1 | 1u << 2 | 1u << 3);
	simulation.options.trace.number = TRACE_ALL;
	CU_ASSERT_EQUAL(traced_of(&k, small, 3, true), 1u << 1 | 1u << 2 | 1u << 3);
	simulation.options.trace.number = TRACE_AUTO;
	trace_shapes_free(&k);
	CU_ASSERT_PTR_NULL(k.shapes);
}

/* 64 sizes are traced, and then every eighth of the 800 that follow. */
static void not_every_new_size_is_traced_when_there_are_many(void)
{
	struct artifact_kernel k = {0};
	unsigned traced = 0;
	for (uint64_t n = 0; n < 864; n++)
		traced += traced_of(&k, (const uint64_t[3]){n + 1, 1, 1}, 1, true) != 0;
	CU_ASSERT_EQUAL(traced, 64 + 100);
	trace_shapes_free(&k);
}

/* Where traced launches take long: numbers 1 to 4 of new sizes, then every eighth up to 120, then fewer: 128, 144, 160, 176, 192, 216,
 * 240. Small launches are as others, and four launches of a size with other arguments are traced. */
static void fewer_are_traced_where_that_takes_long(void)
{
	struct artifact_kernel k = {.dear_traces = true};
	unsigned early = 0, late = 0;
	for (uint64_t n = 1; n < 256; n++)
		*(n <= 64 ? &early : &late) += traced_of(&k, (const uint64_t[3]){n * 64, 1, 1}, 1, true) != 0;
	CU_ASSERT_EQUAL(early, 4 + 8);
	CU_ASSERT_EQUAL(late, 7 + 4 + 3);
	trace_shapes_free(&k);
	k.shape_count = 4;
	CU_ASSERT_EQUAL(traced_of(&k, (const uint64_t[3]){64, 2, 1}, 1, true), 1u << 1); /* the trace of no other size would do */
	trace_shapes_free(&k);
	struct artifact_kernel other = {.dear_traces = true};
	CU_ASSERT_EQUAL(traced_of(&other, small, 40, true), 1u << 1 | 1u << 8);
	unsigned traced = 0;
	for (uint64_t stride = 1; stride <= 7; stride++)
		if (trace_due(&simulation, &other, large, local, trace_arguments(&stride, 1))) {
			trace_taken(&other, large, local);
			traced++;
		}
	CU_ASSERT_EQUAL(traced, 4);
	trace_shapes_free(&other);
}

/* Strides 1 to 100: the first eight are traced, the first of them anyway. Then the launch whose turn it is. */
static void launches_with_other_arguments_are_traced(void)
{
	struct artifact_kernel k = {0};
	unsigned traced = 0;
	for (uint64_t stride = 1; stride <= 100; stride++)
		if (trace_due(&simulation, &k, large, local, trace_arguments(&stride, 1))) {
			trace_taken(&k, large, local);
			traced++;
		}
	CU_ASSERT_EQUAL(traced, 8 + 1); /* 1 to 8, and 64 */
	trace_shapes_free(&k);
}

static void the_drivers_choice_of_a_local_size_is_known_at_the_next_launch(void)
{
	struct artifact_kernel k = {0};
	uint64_t chosen[3];
	CU_ASSERT(trace_due(&simulation, &k, large, open, 0));
	trace_chosen(&k, large, open, chosen);
	CU_ASSERT_EQUAL(chosen[0], 0);
	trace_learn(&k, large, open, local);
	trace_chosen(&k, large, open, chosen);
	CU_ASSERT_EQUAL(chosen[0], 64);
	CU_ASSERT(trace_due(&simulation, &k, large, small, 0)); /* the application asked for this local size */
	trace_chosen(&k, large, small, chosen);
	CU_ASSERT_EQUAL(chosen[0], small[0]);
	trace_shapes_free(&k);
}

/* Only launches of the same sizes count. Earlier needs stay after the latest one while there is room. */
static void what_launches_needed_is_known_at_the_next_one(void)
{
	struct artifact_kernel k = {0};
	trace_due(&simulation, &k, large, local, 0);
	trace_due(&simulation, &k, small, local, 0);
	trace_need(&k, large, local, &(struct needed_groups){{7, 9}, 2});
	trace_need(&k, large, local, &(struct needed_groups){.count = 0});
	trace_need(&k, large, local, &(struct needed_groups){{1, 9, 2, 3, 4}, 5});
	struct needed_groups n = trace_needed(&k, large, local);
	CU_ASSERT_EQUAL_FATAL(n.count, 6);
	CU_ASSERT(n.ids[0] == 1 && n.ids[1] == 9 && n.ids[4] == 4 && n.ids[5] == 7);
	CU_ASSERT_EQUAL(trace_needed(&k, small, local).count, 0);
	trace_shapes_free(&k);
}

/* Kernels with loops have 16 chunks for a work-item. A trace that missed the longest work-items, of 1.5 chunks each, makes the next ones larger:
 * 3 chunks for each of sixteen times as many. One that is cut needs more. */
static void more_is_traced_where_the_longest_work_items_were_missed(void)
{
	struct artifact_kernel k = {0};
	double each;
	unsigned traced = 0;
	CU_ASSERT(trace_due(&simulation, &k, large, local, 1));
	trace_taken(&k, large, local);
	CU_ASSERT_EQUAL(trace_items(&k, large, local, 4096, 1 << 18, &each), 4096);
	CU_ASSERT_EQUAL(each, 16);
	CU_ASSERT_EQUAL(trace_items(&k, large, local, 4096, 1 << 14, &each), 1024);
	CU_ASSERT(!trace_due(&simulation, &k, large, local, 1));
	trace_missed(&k, large, local, 1.5);
	CU_ASSERT_EQUAL(trace_items(&k, large, local, 4096, 1 << 18, &each), 65536);
	CU_ASSERT_EQUAL(each, 3);
	CU_ASSERT_EQUAL(trace_items(&k, small, local, 4096, 1 << 18, &each), 4096); /* of another shape */
	for (unsigned i = 3; i <= 2000; i++)
		if (trace_due(&simulation, &k, large, local, 1)) {
			trace_taken(&k, large, local);
			traced++;
		}
	CU_ASSERT_EQUAL(traced, 8 + 2); /* 3 to 10, 80 and 640 */
	trace_was_cut(&k, large, local);
	CU_ASSERT_EQUAL(trace_items(&k, large, local, 4096, 1 << 18, &each), (1 << 18) / 12);
	CU_ASSERT_EQUAL(each, 12);
	trace_shapes_free(&k);
}

/* Work-items count a loop, so that data may decide how long it is. Of 200 launches, 2 to 128 choose, and then every eighth: 136 to
 * 200. Four chunks for each, of 16. No trace makes the others larger. Once four launches in a row had nothing to choose, none does. */
static void counters_choose_where_data_may_decide(void)
{
	struct artifact_kernel k = {.column_count = 2, .flag_count = 1}, straight = {.column_count = 2, .flag_count = 2};
	const uint64_t too_large[3] = {65536 + 64, 1, 1};
	unsigned chosen = 0;
	uint64_t chunks = 0;
	double each;
	for (unsigned i = 1; i <= 200; i++) {
		trace_due(&simulation, &k, large, local, 1);
		chosen += trace_chooses(&simulation, &k, large, local, &chunks);
	}
	CU_ASSERT_EQUAL(chosen, 127 + 9);
	CU_ASSERT_EQUAL(chunks, 4);
	trace_missed(&k, large, local, 1.5);
	CU_ASSERT_EQUAL(trace_items(&k, large, local, 4096, 1 << 18, &each), 4096);
	k.even_launches = 4;
	CU_ASSERT(!trace_chooses(&simulation, &k, large, local, &chunks));
	k.even_launches = 0;
	for (unsigned i = 1; i <= 2; i++)
		CU_ASSERT(trace_due(&simulation, &k, small, local, 1) && !trace_chooses(&simulation, &k, small, local, &chunks));
	for (unsigned i = 1; i <= 2; i++)
		trace_due(&simulation, &k, too_large, local, 1);
	CU_ASSERT(!trace_chooses(&simulation, &k, too_large, local, &chunks));
	for (unsigned i = 1; i <= 2; i++)
		trace_due(&simulation, &straight, large, local, 1);
	CU_ASSERT(!trace_chooses(&simulation, &straight, large, local, &chunks));
	trace_shapes_free(&k);
	trace_shapes_free(&straight);
}

/* The application is 39 launches further when it is known that the first trace missed the longest work-items. The next 8 are traced all the same. */
static void more_is_traced_however_late_that_is_known(void)
{
	struct artifact_kernel k = {0};
	unsigned traced = 0;
	for (unsigned i = 1; i <= 40; i++)
		if (trace_due(&simulation, &k, large, local, 1))
			trace_taken(&k, large, local);
	trace_missed(&k, large, local, 1.5);
	for (unsigned i = 41; i <= 300; i++)
		if (trace_due(&simulation, &k, large, local, 1)) {
			trace_taken(&k, large, local);
			traced++;
		}
	CU_ASSERT_EQUAL(traced, 8); /* 41 to 48; then 384 */
	trace_shapes_free(&k);
}

/* Nothing is known before a trace came back, and nothing any more once one was cut. 1.9 times the most that one took. */
static void less_room_may_do_where_traces_came_back(void)
{
	struct artifact_kernel k = {0};
	CU_ASSERT_EQUAL(trace_least_room(&k, small, local), 0);
	CU_ASSERT(trace_due(&simulation, &k, small, local, 1));
	CU_ASSERT_EQUAL(trace_least_room(&k, small, local), 0);
	trace_took(&k, small, local, 2);
	trace_took(&k, small, local, 1);
	CU_ASSERT_DOUBLE_EQUAL(trace_least_room(&k, small, local), 3.8, 1e-9);
	CU_ASSERT_EQUAL(trace_least_room(&k, large, local), 0); /* of another shape */
	trace_was_cut(&k, small, local);
	trace_took(&k, small, local, 1);
	CU_ASSERT_EQUAL(trace_least_room(&k, small, local), 0);
	trace_shapes_free(&k);
}

/* Of small launches 1 to 16 and 128 are traced. Where one of three counters is of a loop, and not a bit, 1 to 128. */
static void more_small_launches_are_traced_whose_loops_are_counted(void)
{
	for (int loops = 0; loops < 2; loops++) {
		struct artifact_kernel k = {.column_count = 3, .flag_count = 3 - (size_t)loops};
		unsigned traced = 0;
		for (unsigned i = 0; i < 200; i++)
			if (trace_due(&simulation, &k, small, local, 0)) {
				trace_taken(&k, small, local);
				traced++;
			}
		CU_ASSERT_EQUAL(traced, loops ? 128 : 16 + 1);
		trace_shapes_free(&k);
	}
}

static struct kept_trace *trace_of_length(size_t length)
{
	struct kept_trace *t = calloc(1, sizeof *t);
	t->bytes = calloc(1, length);
	t->length = length;
	return t;
}

/* Finds a trace, and does not hold it. */
static const struct kept_trace *found(struct artifact_kernel *k, const uint64_t global[3], const uint64_t local_size[3])
{
	struct kept_trace *t = trace_find(k, global, local_size, &(struct launch_work){0}, NULL);
	trace_let_go(t);
	return t;
}

/* An eighth of 8192 bytes is for kept traces: one of 700 bytes, but not two. */
static void the_trace_that_was_not_used_for_longest_goes(void)
{
	struct artifact_kernel k = {0};
	simulation.options.trace_memory.number = 8192;
	CU_ASSERT_PTR_NULL(found(&k, small, local));
	struct kept_trace *first = trace_of_length(300), *second = trace_of_length(700), *third = trace_of_length(5000);
	trace_keep(&simulation, &k, small, local, first);
	CU_ASSERT_PTR_EQUAL(found(&k, small, local), first);
	CU_ASSERT_PTR_EQUAL(found(&k, large, local), first); /* the same local size */
	CU_ASSERT_PTR_NULL(found(&k, small, open));
	trace_keep(&simulation, &k, large, local, second);
	CU_ASSERT_PTR_EQUAL(found(&k, large, local), second);
	CU_ASSERT_PTR_EQUAL(found(&k, small, local), second); /* the first is gone */
	/* A trace that is too large by itself is kept until there is another. */
	trace_keep(&simulation, &k, small, local, third);
	CU_ASSERT_PTR_EQUAL(found(&k, large, local), third);
	trace_shapes_free(&k);
	simulation.options.trace_memory.number = 0;
}

/* Of 1,000 bytes in files, a trace of 700 has room and one of 400 beside it has not. */
static void bytes_that_wait_in_files(void)
{
	struct kept_trace *first = trace_of_length(700), *second = trace_of_length(400);
	for (size_t i = 0; i < first->length; i++)
		first->bytes[i] = (char)(i * 7);
	CU_ASSERT_TRUE_FATAL(kept_trace_to_file(first, "/tmp", 1000));
	CU_ASSERT_EQUAL(kept_trace_memory(first), 0);
	for (size_t i = 0; i < first->length; i++)
		CU_ASSERT_EQUAL(first->bytes[i], (char)(i * 7));
	CU_ASSERT_FALSE(kept_trace_to_file(second, "/tmp", 1000));
	CU_ASSERT_EQUAL(kept_trace_memory(second), 400);
	kept_trace_free(first);
	CU_ASSERT_TRUE(kept_trace_to_file(second, "/tmp", 1000));
	kept_trace_free(second);
	second = trace_of_length(400);
	CU_ASSERT_FALSE(kept_trace_to_file(second, "/no/such/folder", 1000));
	kept_trace_free(second);
}

static struct kept_trace *trace_of_work(double together, double longest)
{
	struct kept_trace *t = trace_of_length(10);
	t->work = (struct launch_work){together, longest, 0};
	return t;
}

/* Launches of one shape that do different things keep traces of their own; one that did about the same takes the place of another. */
static void a_launch_takes_the_trace_of_one_that_did_the_same(void)
{
	struct artifact_kernel k = {0};
	simulation.options.trace_memory.number = 1 << 20;
	struct kept_trace *wide = trace_of_work(1000, 10), *deep = trace_of_work(1000, 50), *again = trace_of_work(1010, 50);
	trace_keep(&simulation, &k, small, local, wide);
	trace_keep(&simulation, &k, small, local, deep);
	struct kept_trace *t = trace_find(&k, small, local, &(struct launch_work){900, 11, 0}, NULL);
	CU_ASSERT_PTR_EQUAL(t, wide);
	CU_ASSERT_DOUBLE_EQUAL(trace_unlike(t, &(struct launch_work){900, 11, 0}), 0.1, 1e-9); /* 1000 and 900 more than 10 and 11 */
	trace_let_go(t);
	t = trace_find(&k, small, local, &(struct launch_work){1000, 40, 0}, NULL);
	CU_ASSERT_PTR_EQUAL(t, deep);
	trace_let_go(t);
	trace_keep(&simulation, &k, small, local, again);
	t = trace_find(&k, small, local, &(struct launch_work){1000, 50, 0}, NULL);
	CU_ASSERT_PTR_EQUAL(t, again);
	trace_let_go(t);
	trace_shapes_free(&k);
	simulation.options.trace_memory.number = 0;
}

/* A launch whose longest work-items, of 50, are not in its own trace takes one that has such; of 11 and 10 it takes its own. */
static void an_own_trace_without_the_longest_work_items_is_left(void)
{
	struct artifact_kernel k = {0};
	simulation.options.trace_memory.number = 1 << 20;
	struct kept_trace *deep = trace_of_work(1000, 49), *own = trace_of_work(1000, 10);
	trace_keep(&simulation, &k, small, local, deep);
	trace_keep(&simulation, &k, small, local, own);
	struct kept_trace *t = trace_find(&k, small, local, &(struct launch_work){1000, 50, 0}, own);
	CU_ASSERT_PTR_EQUAL(t, deep);
	trace_let_go(t);
	t = trace_find(&k, small, local, &(struct launch_work){1000, 11, 0}, own);
	CU_ASSERT_PTR_EQUAL(t, own);
	trace_let_go(t);
	CU_ASSERT(trace_misses(own, &(struct launch_work){1000, 50, 0}));
	CU_ASSERT(!trace_misses(own, &(struct launch_work){1000, 11, 0}));
	trace_shapes_free(&k);
	simulation.options.trace_memory.number = 0;
}

/* Three chunks were taken. The second was not used. */
static void a_trace_is_kept_without_what_it_does_not_use(void)
{
	enum { CHUNK = TRACE_CHUNK_BYTES / 8 };
	uint64_t words[TRACE_HEADER_WORDS + 3 * CHUNK] = {3};
	uint64_t *one = words + TRACE_HEADER_WORDS, *three = one + 2 * CHUNK;
	memcpy(one, (const uint64_t[]){7, 1, 5, UINT64_C(0x9988776655443322)}, 32);
	memcpy(three, (const uint64_t[]){8, 2, 2 | UINT64_C(1) << 32, 0x1234}, 32);
	struct kept_trace *t = trace_pack(words, 3);
	CU_ASSERT_PTR_NOT_NULL_FATAL(t);
	CU_ASSERT_EQUAL(t->chunks, 2);
	CU_ASSERT_EQUAL(t->length, 24 + 5 + 24 + 2);
	CU_ASSERT_EQUAL(memcmp(t->bytes, one, 29), 0);
	CU_ASSERT_EQUAL(memcmp(t->bytes + 29, three, 26), 0);
	/* A trace that was kept on disk comes back complete, or not at all. */
	const uint64_t sizes[2] = {4096, 0};
	struct kept_trace *again = trace_from_bytes(t->bytes, t->length, sizes, 2);
	CU_ASSERT_PTR_NOT_NULL_FATAL(again);
	CU_ASSERT(again->chunks == 2 && again->length == t->length && again->argument_bytes[0] == 4096);
	kept_trace_free(again);
	CU_ASSERT_PTR_NULL(trace_from_bytes(t->bytes, t->length - 1, sizes, 2));
	t->bytes[16] = 100; /* bytes of the first chunk */
	CU_ASSERT_PTR_NULL(trace_from_bytes(t->bytes, t->length, sizes, 2));
	kept_trace_free(t);
}

void add_traces_kept_tests(void)
{
	CU_pSuite s = CU_add_suite("traces_kept", NULL, NULL);
	CU_add_test(s, "more small launches are traced whose loops are counted", more_small_launches_are_traced_whose_loops_are_counted);
	CU_add_test(s, "more is traced where the longest work-items were missed", more_is_traced_where_the_longest_work_items_were_missed);
	CU_add_test(s, "counters choose where data may decide", counters_choose_where_data_may_decide);
	CU_add_test(s, "more is traced however late it is known that they were missed", more_is_traced_however_late_that_is_known);
	CU_add_test(s, "less room may do where traces came back", less_room_may_do_where_traces_came_back);
	CU_add_test(s, "launches 1, 8 and 64 of a shape are traced", launches_1_8_and_64_of_a_shape_are_traced);
	CU_add_test(s, "launches with other arguments are traced", launches_with_other_arguments_are_traced);
	CU_add_test(s, "not every new size is traced when there are many", not_every_new_size_is_traced_when_there_are_many);
	CU_add_test(s, "fewer launches are traced where that takes long", fewer_are_traced_where_that_takes_long);
	CU_add_test(s, "the driver's choice of a local size is known at the next launch",
	            the_drivers_choice_of_a_local_size_is_known_at_the_next_launch);
	CU_add_test(s, "what launches needed is known at the next one", what_launches_needed_is_known_at_the_next_one);
	CU_add_test(s, "the trace that was not used for longest goes", the_trace_that_was_not_used_for_longest_goes);
	CU_add_test(s, "a launch takes the trace of one that did the same", a_launch_takes_the_trace_of_one_that_did_the_same);
	CU_add_test(s, "a launch takes the trace of one that did the same", an_own_trace_without_the_longest_work_items_is_left);
	CU_add_test(s, "bytes that wait are in files", bytes_that_wait_in_files);
	CU_add_test(s, "a trace is kept without what it does not use", a_trace_is_kept_without_what_it_does_not_use);
}
