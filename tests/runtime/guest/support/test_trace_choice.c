/* Which groups are traced where counters say it. */
#include "tests/tests.h"

#include "runtime/base/base.h"
#include "runtime/guest/support/trace_choice.h"

#include <string.h>

enum { GROUPS = 64, ITEMS = 32, ALL = GROUPS * ITEMS };

/* 64 groups of one run of 32 work-items, with a word of flags and one counter; the first and the last group are the sample. */
static uint32_t words[2 * ALL];
static const uint64_t grid[3] = {GROUPS, 1, 1};
static const struct choice_counters counters = {
	.words = words, .places = ALL, .word_count = 2, .flag_words = 1, .groups = GROUPS, .group_items = ITEMS,
};
static const struct boxes sample = {
	.list = {{.count = {1, 1, 1}, .traced = true}, {.first = {1, 0, 0}, .count = {62, 1, 1}}, {.first = {63, 0, 0}, .count = {1, 1, 1}, .traced = true}},
	.count = 3, .traced_groups = 2,
};

/* Work-items have 3 flags, and the last one of a group so many trips. */
static void count(uint64_t group, uint32_t trips)
{
	words[group * ITEMS] = 7;
	words[ALL + group * ITEMS + ITEMS - 1] = trips;
}

static void count_all(uint32_t trips)
{
	memset(words, 0, sizeof words);
	for (uint64_t g = 0; g < GROUPS; g++)
		count(g, trips);
}

/* The groups that are recorded, as bits. */
static uint64_t chosen(uint64_t most, bool always, atomic_uint *none)
{
	uint64_t bits = 0;
	struct trace_choice *c = trace_choice_new(&counters, &sample, grid, most, always, none);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	for (uint64_t g = 0; g < GROUPS; g++)
		bits |= (uint64_t)trace_choice_has(c, g) << g;
	CU_ASSERT(!trace_choice_has(c, GROUPS));
	trace_choice_free(c);
	return bits;
}

#define BIT(n) (UINT64_C(1) << (n))

/* A run of 1 trip does 3 + 1. Groups 10, 20 and 30 do 3 + 97, 3 + 60 and 3 + 40 instead. The mean is (61 * 4 + 100 + 63 + 43) / 64 =
 * 7: the longest is 14 times as long. 43 is less than half of it. */
static void the_longest_groups_are_traced_beside_the_sample(void)
{
	atomic_uint none = 3;
	count_all(1);
	count(10, 97);
	count(20, 60);
	count(30, 40);
	CU_ASSERT_EQUAL(chosen(8, false, &none), BIT(0) | BIT(63) | BIT(10) | BIT(20));
	CU_ASSERT_EQUAL(none, 0);
	CU_ASSERT_EQUAL(chosen(1, false, NULL), BIT(0) | BIT(63) | BIT(10));
	count(0, 97); /* is in the sample, and the first of two that are as long */
	CU_ASSERT_EQUAL(chosen(1, false, NULL), BIT(0) | BIT(63));
	CU_ASSERT_EQUAL(chosen(2, false, NULL), BIT(0) | BIT(63) | BIT(10));
}

/* Group 10 does 15, all others 4: that is less than four times the mean. */
static void nothing_is_traced_where_none_is_much_longer(void)
{
	atomic_uint none = 3;
	count_all(1);
	count(10, 12);
	CU_ASSERT_EQUAL(chosen(8, false, &none), 0);
	CU_ASSERT_EQUAL(none, 4);
	CU_ASSERT_EQUAL(chosen(8, true, &none), BIT(0) | BIT(63)); /* the sample is due */
	CU_ASSERT_EQUAL(none, 5);
}

/* Of a grid of 8 x 4 x 2 groups, a box of 2 x 2 x 2 from (1, 2, 0) on: groups 17, 18, 25, 26, and 32 more. */
static void a_box_of_the_sample_may_have_rows_and_planes(void)
{
	const struct boxes box = {.list = {{.first = {1, 2, 0}, .count = {2, 2, 2}, .traced = true}}, .count = 1, .traced_groups = 8};
	uint64_t bits = 0;
	count_all(1);
	struct trace_choice *c = trace_choice_new(&counters, &box, (const uint64_t[3]){8, 4, 2}, 8, true, NULL);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c);
	for (uint64_t g = 0; g < GROUPS; g++)
		bits |= (uint64_t)trace_choice_has(c, g) << g;
	CU_ASSERT_EQUAL(bits, (BIT(17) | BIT(18) | BIT(25) | BIT(26)) * (1 + BIT(32)));
	trace_choice_free(c);
}

void add_trace_choice_tests(void)
{
	CU_pSuite s = CU_add_suite("trace_choice", NULL, NULL);
	CU_add_test(s, "the longest groups are traced beside the sample", the_longest_groups_are_traced_beside_the_sample);
	CU_add_test(s, "nothing is traced where none is much longer", nothing_is_traced_where_none_is_much_longer);
	CU_add_test(s, "a box of the sample may have rows and planes", a_box_of_the_sample_may_have_rows_and_planes);
}
