/* What L2 lacks of a launch's buffers: an L2 of 1000 bytes. */
#include "tests/tests.h"

#include "models/history/memory_history.h"

enum { A = 1, B, C }; /* buffers */

static const struct gpu small = {.l2_bytes = 1000, .l2_partitions = 1, .l2_kept = 1, .l2_warm = 1};

/* Quarters that are cold of the first argument's memory, and of the second's. */
static unsigned launch(struct memory_history *h, const struct gpu *gpu, struct memory_use first, struct memory_use second)
{
	struct memory_before before;
	second.argument = 1;
	memory_history_launch(h, gpu, (struct memory_use[]){first, second}, 2, &before);
	CU_ASSERT_TRUE(before.known);
	return before.cold[0] * 10u + before.cold[1];
}

#define USE(n, size, ...) ((struct memory_use){.buffer = (n), .bytes = (size), .length = (size), ##__VA_ARGS__})

static void test_what_fits_stays(void)
{
	struct memory_history h = {0};
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 400), USE(B, 600)), 44); /* nothing is there yet */
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 400), USE(B, 600)), 0);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(C, 700), USE(0, 0)), 40); /* leaves 300 of B, which was used last */
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 400), USE(B, 600)), 42);
	CU_ASSERT_EQUAL(h.count, 2); /* C is gone */
}

/* 4000 bytes do not fit: each buffer keeps a quarter of itself. */
static void test_large_launch(void)
{
	struct memory_history h = {0};
	for (int i = 0; i < 2; i++)
		CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 1000), USE(B, 3000)), i ? 33 : 44);
}

/* Two partitions: a half of what was stored is in one alone, and all that the host copied, until somebody loads it. */
static void test_written_lines_are_alone(void)
{
	const struct gpu two = {.l2_bytes = 4000, .l2_partitions = 2, .l2_kept = 1, .l2_warm = 1, .l2_copies = 1000};
	struct memory_history h = {0};
	struct memory_before before;
	memory_history_launch(&h, &two, (struct memory_use[]){USE(A, 400, .stored = 400), USE(B, 400, .argument = 1)}, 2, &before);
	CU_ASSERT_EQUAL(before.alone[0], 0);
	memory_history_launch(&h, &two, (struct memory_use[]){USE(A, 400), USE(B, 400, .argument = 1, .copied = 400, .largest = 400)}, 2, &before);
	CU_ASSERT_EQUAL(before.alone[0], ALL_ALONE / 2);
	CU_ASSERT_EQUAL(before.alone[1], ALL_ALONE);
	memory_history_launch(&h, &two, (struct memory_use[]){USE(A, 400), USE(B, 400, .argument = 1)}, 2, &before);
	CU_ASSERT_EQUAL(before.alone[0] + before.alone[1], 0);
	/* A third of A is loaded after it was stored to; of the rest, half is alone. */
	memory_history_launch(&h, &two, &USE(A, 600, .stored = 600), 1, &before);
	memory_history_launch(&h, &two, &USE(A, 200), 1, &before);
	memory_history_launch(&h, &two, &USE(A, 600), 1, &before);
	CU_ASSERT_EQUAL(before.alone[0], 1); /* 200 of 600 are 1.3 quarters */
}

/* Launches that use 10 bytes of A keep these young, not all 500. */
static void test_parts_of_a_buffer(void)
{
	struct memory_history h = {0};
	launch(&h, &small, USE(A, 500), USE(B, 400));
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 10), USE(C, 500)), 4); /* 510 of these, 400 of B, and 90 of A */
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 10), USE(B, 400)), 0);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 500), USE(0, 0)), 30); /* 10 and 90 of 500 */
}

/* Each launch reads the next 300 bytes of A, which are not there yet. */
static void test_one_part_after_another(void)
{
	struct memory_history h = {0};
	for (uint64_t i = 0; i < 3; i++)
		CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 300, .begin = 300 * i), USE(0, 0)), 40);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 900), USE(0, 0)), 0); /* all three */
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 300, .begin = 300), USE(0, 0)), 0);
	CU_ASSERT_EQUAL(h.count, 3); /* 300 to 600, and what is left on both sides: 600 bytes, as old as each other */
	CU_ASSERT_EQUAL(launch(&h, &small, USE(B, 550), USE(0, 0)), 40); /* 150 of A's 600 are left, those that come first */
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 300, .begin = 300), USE(0, 0)), 0);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 300), USE(A, 300, .begin = 600)), 24); /* half of the first, and none of the last */
}

/* A launch that stores to the second half of A makes this dirty; reading the first half does not count it. */
static void test_parts_are_dirty(void)
{
	struct memory_history h = {0};
	launch(&h, &small, USE(A, 400, .begin = 400, .stored = 400), USE(0, 0));
	launch(&h, &small, USE(A, 400, .stored = 0), USE(0, 0));
	CU_ASSERT_EQUAL(h.count, 2);
	CU_ASSERT_EQUAL(h.recent[0].dirty, 0);
	CU_ASSERT_EQUAL(h.recent[1].dirty, 400);
	launch(&h, &small, USE(A, 200, .begin = 300), USE(0, 0)); /* a quarter of what is dirty */
	CU_ASSERT_EQUAL(h.recent[0].dirty, 100);
	CU_ASSERT_EQUAL(h.recent[2].dirty, 300);
}

/* Bytes 0 to 100 and 400 to 500 of an argument's memory. Nothing is there of what is between them, and 200 of 400 bytes of 0 to 100 and 400 to 700. */
static void test_parts_of_an_argument(void)
{
	struct memory_history h = {0};
	struct memory_before before;
	memory_history_launch(&h, &small, (struct memory_use[]){USE(A, 100), USE(A, 100, .begin = 400)}, 2, &before);
	CU_ASSERT_EQUAL(before.cold[0], 4);
	CU_ASSERT_EQUAL(h.count, 2);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 300, .begin = 100), USE(0, 0)), 40);
	memory_history_launch(&h, &small, (struct memory_use[]){USE(A, 100), USE(A, 300, .begin = 400)}, 2, &before);
	CU_ASSERT_EQUAL(before.cold[0], 2); /* 200 of 400 */
}

static void test_copies(void)
{
	struct memory_history h = {0};
	struct gpu gpu = small;
	gpu.l2_copies = 100;
	CU_ASSERT_EQUAL(launch(&h, &gpu, USE(A, 400, .copied = 400, .largest = 101), USE(B, 400, .written = 400)), 40); /* the GPU wrote B itself */
	CU_ASSERT_EQUAL(launch(&h, &gpu, USE(A, 400), USE(B, 400, .copied = 200, .largest = 200)), 2);
	CU_ASSERT_EQUAL(launch(&h, &gpu, USE(C, 400, .copied = 400, .largest = 100), USE(B, 400)), 0);
}

static void test_not_known(void)
{
	struct memory_history h = {0};
	struct memory_before before;
	struct gpu forgets = small, cold = small;
	forgets.l2_kept = 0;
	memory_history_launch(&h, &forgets, &USE(A, 400), 1, &before);
	CU_ASSERT_FALSE(before.known);
	memory_history_launch(&h, &small, &USE(0, 400), 1, &before);
	CU_ASSERT_FALSE(before.known);
	cold.l2_warm = 0; /* says what is not known of an argument beside one that is */
	CU_ASSERT_EQUAL(launch(&h, &cold, USE(0, 0), USE(A, 400)), 44);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(0, 0), USE(A, 400)), 0);
}

/* 800 bytes anywhere in 4000: the next launch finds a fifth of its own there. The first 800 bytes are all there. */
static void test_what_is_spread(void)
{
	struct memory_history h = {0};
	const struct memory_use spread = {.buffer = A, .bytes = 800, .length = 4000};
	CU_ASSERT_EQUAL(launch(&h, &small, spread, USE(0, 0)), 40);
	CU_ASSERT_EQUAL(launch(&h, &small, spread, USE(0, 0)), 30);
	CU_ASSERT_EQUAL(h.recent[0].bytes, 1000); /* 800, and four fifths of those before, as far as there is room */
	CU_ASSERT_EQUAL(launch(&h, &small, USE(B, 800), USE(0, 0)), 40);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(B, 800), USE(0, 0)), 0);
}

/* Sixteenths of what a launch replaces that are dirty, and that are dirty and not its own. */
static unsigned dirty(struct memory_history *h, const struct gpu *gpu, struct memory_use first, struct memory_use second)
{
	struct memory_before before;
	memory_history_launch(h, gpu, (struct memory_use[]){first, second}, 2, &before);
	return before.dirty * 100u + before.others_dirty;
}

static void test_dirty_lines_are_written_when_others_come(void)
{
	struct memory_history h = {0};
	CU_ASSERT_EQUAL(dirty(&h, &small, USE(A, 800, .stored = 800), USE(0, 0)), 0); /* there is room */
	CU_ASSERT_EQUAL(dirty(&h, &small, USE(B, 800), USE(0, 0)), 1212); /* 600 of A's 800 make place for as many of 800: 12 sixteenths */
	CU_ASSERT_EQUAL(dirty(&h, &small, USE(A, 800, .stored = 800), USE(0, 0)), 0); /* 600 come in the place of B, which is not dirty */
	CU_ASSERT_EQUAL(dirty(&h, &small, USE(A, 800), USE(B, 200)), 0);
	CU_ASSERT_EQUAL(dirty(&h, &small, USE(C, 800), USE(0, 0)), 1616); /* all in the place of A, which was used before B, and is dirty still */
}

/* Of A's 800 bytes the launch stores to 200. */
/* Of 4200 bytes a quarter stays, about, but all of those that groups use when they end. */
static void test_results_of_groups_that_end_together(void)
{
	struct memory_history h = {0};
	launch(&h, &small, USE(A, 200, .stored = 200), USE(B, 4000));
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 200), USE(0, 0)), 30);
	launch(&h, &small, USE(A, 200, .stored = 200, .last = true), USE(B, 4000));
	CU_ASSERT_EQUAL(launch(&h, &small, USE(A, 200), USE(0, 0)), 0);
}

static void test_some_lines_are_dirty(void)
{
	struct memory_history h = {0};
	CU_ASSERT_EQUAL(dirty(&h, &small, USE(A, 800, .stored = 200), USE(0, 0)), 0);
	CU_ASSERT_EQUAL(dirty(&h, &small, USE(B, 1000), USE(0, 0)), 303); /* 200 of 1000: 3.2 sixteenths */
}

static void test_some_lines_may_be_dirty(void)
{
	struct memory_history h = {0};
	struct gpu gpu = small;
	gpu.l2_dirty_bytes = 400;
	CU_ASSERT_EQUAL(dirty(&h, &gpu, USE(A, 800, .stored = 800), USE(0, 0)), 800); /* 400 of 800 are written at once */
	CU_ASSERT_EQUAL(dirty(&h, &gpu, USE(B, 800), USE(0, 0)), 606); /* 200 of A are left, of which half are dirty: 300 of 800 */
}

/* 600 bytes of A and 600 of B, of which 500 each stay: 600 of A's are written each time. Half of what comes in takes the place of these. */
static void test_launched_again_and_again(void)
{
	struct memory_history h = {0};
	struct gpu gpu = small;
	gpu.l2_kept = 0;
	CU_ASSERT_EQUAL(dirty(&h, &gpu, USE(A, 600, .stored = 600), USE(B, 600)), 800);
	CU_ASSERT_EQUAL(dirty(&h, &gpu, USE(A, 500, .stored = 500), USE(B, 500)), 0);
	CU_ASSERT_EQUAL(h.count, 0);
}

static void test_many_buffers(void)
{
	struct memory_history h = {0};
	for (uint64_t i = 1; i <= 3 * MEMORY_HISTORY_BUFFERS; i++)
		CU_ASSERT_EQUAL(launch(&h, &small, USE(i, 1), USE(0, 0)), 40);
	CU_ASSERT_EQUAL(h.count, MEMORY_HISTORY_BUFFERS);
	CU_ASSERT_EQUAL(launch(&h, &small, USE(3 * MEMORY_HISTORY_BUFFERS, 1), USE(1, 1)), 4);
}

void add_memory_history_tests(void)
{
	CU_pSuite s = CU_add_suite("memory_history", NULL, NULL);
	CU_add_test(s, "what fits stays until others come", test_what_fits_stays);
	CU_add_test(s, "of a launch that does not fit, a share stays", test_large_launch);
	CU_add_test(s, "written lines are in one partition", test_written_lines_are_alone);
	CU_add_test(s, "launches that use a part of a buffer", test_parts_of_a_buffer);
	CU_add_test(s, "one part of a buffer after another", test_one_part_after_another);
	CU_add_test(s, "parts of an argument's memory", test_parts_of_an_argument);
	CU_add_test(s, "parts of buffers are dirty", test_parts_are_dirty);
	CU_add_test(s, "copies by the host, and within the GPU", test_copies);
	CU_add_test(s, "dirty lines are written when others come", test_dirty_lines_are_written_when_others_come);
	CU_add_test(s, "results of groups that end together", test_results_of_groups_that_end_together);
	CU_add_test(s, "some lines are dirty", test_some_lines_are_dirty);
	CU_add_test(s, "some lines may be dirty", test_some_lines_may_be_dirty);
	CU_add_test(s, "a launch that follows itself", test_launched_again_and_again);
	CU_add_test(s, "what is spread over a buffer", test_what_is_spread);
	CU_add_test(s, "what is not known", test_not_known);
	CU_add_test(s, "more buffers than are remembered", test_many_buffers);
}
