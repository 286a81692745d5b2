/* How much longer all SMs take than some of them, from the work of groups alone. */
#include "tests/tests.h"

#include "models/grid/balance.h"

enum { MOST_GROUPS = 16 };

static struct group_work groups[MOST_GROUPS];
static struct launch_warps warps;
static struct gpu gpu;
static struct ov_work work;

/* A launch on so many SMs. The warps of a group, four each, do its work in equal parts. */
static void make_launch(uint32_t sms, uint64_t count, const double *instructions)
{
	gpu = (struct gpu){.sm_count = sms};
	warps = (struct launch_warps){.groups = count, .pattern_groups = count};
	work = (struct ov_work){.gpu = &gpu, .warps = &warps, .pattern = groups};
	for (uint64_t g = 0; g < count; g++) {
		groups[g] = (struct group_work){.warp_instructions = instructions[g], .longest = instructions[g] / 4};
		work.instructions += instructions[g];
	}
}

/* The first groups of the launch, on the first SMs. */
static struct balance balance_with(uint64_t count, uint32_t sms, uint32_t residency)
{
	const struct group_run run = {0, 0};
	const struct ov_plan plan = {.groups = count, .all = warps.groups, .sm_count = sms, .runs = &run, .run_count = 1};
	struct balance b;
	CU_ASSERT_EQUAL(balance_of(&work, &plan, residency, &b), 0);
	return b;
}

/* Four SMs have two groups each, as two SMs have. */
static void equal_groups_are_balanced(void)
{
	static const double equal[] = {10, 10, 10, 10, 10, 10, 10, 10};
	make_launch(4, 8, equal);
	struct balance b = balance_with(4, 2, 2);
	CU_ASSERT_DOUBLE_EQUAL(b.shared, 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(b.alone, 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(b.work, 40, 1e-9);
}

/* Four SMs hold two groups each. The last SM has groups 3 and 7, of 30 each: 60 where the others have 20. Two SMs with the first four groups
 * have 10 + 10 and 10 + 30. Where groups do not wait for one another, the longest takes as long in both. */
static void the_sm_with_the_most_to_do_ends_last(void)
{
	static const double lengths[] = {10, 10, 10, 30, 10, 10, 10, 30};
	make_launch(4, 8, lengths);
	struct balance b = balance_with(4, 2, 2);
	CU_ASSERT_DOUBLE_EQUAL(b.shared, 60.0 / 40, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(b.alone, 1, 1e-9);
}

/* Two SMs hold one group each, so that others come when these end: 0 to 40 on the first, and 10, 10, 10, 10, 20 on the other, to 60. One SM
 * that has the first two has 50 to do. */
static void groups_go_where_there_is_room(void)
{
	static const double lengths[] = {40, 10, 10, 10, 10, 20};
	make_launch(2, 6, lengths);
	CU_ASSERT_DOUBLE_EQUAL(balance_with(2, 1, 1).shared, 60.0 / 50, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(balance_with(2, 1, 1).alone, 60.0 / 50, 1e-9);
}

void add_balance_tests(void)
{
	CU_pSuite suite = CU_add_suite("balance", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(equal_groups_are_balanced);
	TEST(the_sm_with_the_most_to_do_ends_last);
	TEST(groups_go_where_there_is_room);
#undef TEST
}
