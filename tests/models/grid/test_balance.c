/* How much longer all SMs take than some of them, from the work of groups alone. */
#include "tests/tests.h"

#include "models/grid/balance.h"

#include <math.h>

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

/* Two SMs hold two groups each, 40 and 10, and 15 and 15. Where these take turns, the one of 10 ends first, at 20, and that SM gets the last group, of
 * 20: it ends at 70. Where the oldest goes first, the first group of 15 ends first, and both SMs end at 50. One SM that has the first two has 55 to do. */
static void the_oldest_group_goes_first(void)
{
	static const double lengths[] = {40, 15, 10, 15, 20};
	make_launch(2, 5, lengths);
	gpu.scheduler_policy = GPU_SCHEDULER_lrr;
	CU_ASSERT_DOUBLE_EQUAL(balance_with(2, 1, 2).shared, 70.0 / 55, 1e-9);
	gpu.scheduler_policy = GPU_SCHEDULER_gto;
	CU_ASSERT_DOUBLE_EQUAL(balance_with(2, 1, 2).shared, 50.0 / 55, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(balance_with(2, 1, 2).alone, 40.0 / 40, 1e-9);
}

/* A launch on SMs of two schedulers. A warp of path 0 does 10 instructions, one of path 1 does 30. */
static void make_warps(uint32_t sms, uint64_t count, uint32_t per_group, const uint32_t *path_of)
{
	static struct group_work paths[] = {{.warp_instructions = 10}, {.warp_instructions = 30}};
	double instructions[MOST_GROUPS] = {0};
	for (uint64_t i = 0; i < count * per_group; i++)
		instructions[i / per_group] += paths[path_of[i]].warp_instructions;
	make_launch(sms, count, instructions);
	for (uint64_t g = 0; g < count; g++)
		groups[g].longest = 0;
	for (uint64_t i = 0; i < count * per_group; i++)
		groups[i / per_group].longest = fmax(groups[i / per_group].longest, paths[path_of[i]].warp_instructions);
	gpu.schedulers_per_sm = 2;
	gpu.sub_cores = true;
	warps.warps_per_group = per_group;
	warps.path_of = path_of;
	work.paths = paths;
}

/* Two SMs hold two groups each, so that groups 0 and 2 are on the first, 1 and 3 on the other; all do 40. The first SM's schedulers have 30 + 30
 * and 10 + 10 to do, those of the other 40 each. One SM with the first two groups has 30 + 10 and 10 + 30. */
static void the_scheduler_with_the_most_to_do_ends_last(void)
{
	static const uint32_t first_is_long[] = {1, 0, 0, 1, 1, 0, 1, 0};
	make_warps(2, 4, 2, first_is_long);
	struct balance b = balance_with(2, 1, 2);
	CU_ASSERT_DOUBLE_EQUAL(b.shared, 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(b.issue, 60.0 / 40, 1e-9);
	gpu.sub_cores = false;
	CU_ASSERT_DOUBLE_EQUAL(balance_with(2, 1, 2).issue, 1, 1e-9);
}

/* An SM holds one group. Where its first scheduler is through after 10, the other goes on to 30: until then no group comes. Two SMs take
 * 30 + 30 for two groups each, one SM 30 for the first of them. */
static void a_group_stays_until_its_last_warp_ends(void)
{
	static const uint32_t second_is_long[] = {0, 1, 0, 1, 0, 1, 0, 1};
	make_warps(2, 4, 2, second_is_long);
	CU_ASSERT_DOUBLE_EQUAL(balance_with(1, 1, 1).issue, 60.0 / 30, 1e-9);
}

/* Groups of one warp. Of two that an SM holds, the second one's warp goes to the other scheduler. So two SMs with groups of 30, 30, 10 and 10
 * take 30, as one SM with those of 30 does; where schedulers help one another, these have 40 and 60 to do. */
static void places_take_turns_at_schedulers(void)
{
	static const uint32_t long_ones_first[] = {1, 1, 0, 0};
	make_warps(2, 4, 1, long_ones_first);
	struct balance b = balance_with(2, 1, 2);
	CU_ASSERT_DOUBLE_EQUAL(b.shared, 40.0 / 60, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(b.issue, 30.0 / 30, 1e-9);
}

/* Groups of 10 and 30 as above: 1.5 or 1, by what SMs wait for, and 1 by the launch's work. So 1.25 is off by a fifth at most. Equal groups leave
 * no doubt, neither does a launch that is simulated as a whole. */
static void ways_to_share_that_differ_leave_doubt(void)
{
	static const double lengths[] = {10, 10, 10, 30, 10, 10, 10, 30}, equal[] = {10, 10, 10, 10, 10, 10, 10, 10};
	const struct ov_plan half = {.groups = 4, .all = 8, .sm_count = 2}, whole = {.groups = 8, .all = 8, .sm_count = 4};
	make_launch(4, 8, lengths);
	struct balance b = balance_with(4, 2, 2);
	CU_ASSERT_DOUBLE_EQUAL(balance_doubt(&b, &half, 60), 0.2, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(balance_doubt(&b, &whole, 120), 0, 1e-9);
	make_launch(4, 8, equal);
	b = balance_with(4, 2, 2);
	CU_ASSERT_DOUBLE_EQUAL(balance_doubt(&b, &half, 40), 0, 1e-9);
	b.counted = false; /* two groups on each SM: one more is half of that */
	CU_ASSERT_DOUBLE_EQUAL(balance_doubt(&b, &half, 40), 0.5, 1e-9);
}

void add_balance_tests(void)
{
	CU_pSuite suite = CU_add_suite("balance", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(equal_groups_are_balanced);
	TEST(the_sm_with_the_most_to_do_ends_last);
	TEST(groups_go_where_there_is_room);
	TEST(the_oldest_group_goes_first);
	TEST(the_scheduler_with_the_most_to_do_ends_last);
	TEST(a_group_stays_until_its_last_warp_ends);
	TEST(places_take_turns_at_schedulers);
	TEST(ways_to_share_that_differ_leave_doubt);
#undef TEST
}
