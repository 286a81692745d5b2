/* How far off estimates may be of which a part was simulated or traced. */
#include "tests/tests.h"

#include "models/grid/plan.h"

#include <math.h>

enum { SMS = 16, GROUPS = 64 };

static const struct gpu gpu = {.sm_count = SMS};

static struct ov_plan whole_plan(void)
{
	return (struct ov_plan){.groups = GROUPS, .all = GROUPS, .sm_count = SMS};
}

/* A launch of 1000 instructions with the memory hierarchy. */
static struct ov_work launch_work(void)
{
	return (struct ov_work){.gpu = &gpu, .instructions = 1000, .hierarchy = true};
}

static double spread(const struct ov_work *work, const struct ov_plan *plan, const struct ov_outcome *o)
{
	return ov_spread(work, plan, o, 100, 0);
}

/* All groups were traced and simulated. */
static void nothing_is_left_to_chance(void)
{
	struct ov_work work = launch_work();
	struct ov_plan plan = whole_plan();
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){0}), 0, 1e-12);
}

/* What stands for groups that were not traced counts alone where all is simulated. With perfect memory it does not matter. */
static void groups_that_were_not_traced_may_meet_other_lines(void)
{
	struct ov_work work = launch_work();
	struct ov_plan plan = whole_plan();
	work.stand_in = 0.01;
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){0}), 0.01, 1e-12);
	work.stand_in = MEMORY_CHANCE;
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){0}), MEMORY_CHANCE, 1e-12);
	work.hierarchy = false;
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){0}), 0, 1e-12);
}

/* Chance is there once: where loops have gaps, where groups are skipped, and where some are left out. */
static void what_is_not_stepped_through_is_left_to_chance(void)
{
	struct ov_work work = launch_work();
	struct ov_plan plan = whole_plan();
	work.stand_in = 0.01;
	work.gaps = true;
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){0}), MEMORY_CHANCE, 1e-12);
	work.gaps = false;
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){.skipped_instructions = 10}), MEMORY_CHANCE, 1e-12);
	plan.groups = GROUPS / 2;
	plan.unlike = 0.03; /* the chosen groups ask memory for so much more: 3, 4, 5 */
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){0}), MEMORY_CHANCE * 5 / 4, 1e-12);
}

/* Few SMs stand for all to a quarter. Regions that differ by 5 of 100 cycles add 0.05. */
static void what_may_be_off_alone_adds_in_squares(void)
{
	struct ov_work work = launch_work();
	struct ov_plan plan = whole_plan();
	work.hierarchy = false;
	plan.sm_count = SMS / 2;
	plan.groups = GROUPS / 2;
	CU_ASSERT_DOUBLE_EQUAL(ov_spread(&work, &plan, &(struct ov_outcome){.spread_cycles = 5}, 100, 0.25), hypot(0.25, 0.05), 1e-12);
}

/* 600 of 1000 instructions were done when it was stopped; the rate of the rest is known to a tenth. */
static void a_simulation_that_was_stopped_knows_the_rest_to_a_tenth(void)
{
	struct ov_work work = launch_work();
	struct ov_plan plan = whole_plan();
	CU_ASSERT_DOUBLE_EQUAL(spread(&work, &plan, &(struct ov_outcome){.stopped = 600}), 0.04, 1e-12);
}

/* Long loops, with two parts of requests for each instruction: three steps. A part weighs as much as three instructions, so an instruction weighs 7. */
static void steps_bound_what_is_stepped_through_of_long_loops(void)
{
	struct launch_warps warps = {.groups = GROUPS};
	struct ov_work work = {.gpu = &gpu, .warps = &warps, .instructions = 1e6, .stepped = 0.1, .weight = 7, .hierarchy = true, .gaps = true};
	struct ov_plan plan;
	CU_ASSERT_EQUAL(ov_plan_make(&work, 4, &plan), 0);
	double usual = plan.most_stepped;
	CU_ASSERT(plan.jumps && usual > 30000);
	work.most_steps = 90000;
	CU_ASSERT_EQUAL(ov_plan_make(&work, 4, &plan), 0);
	CU_ASSERT_DOUBLE_EQUAL(plan.most_stepped, 30000, 1e-9);
	work.most_steps = 1e12;
	CU_ASSERT_EQUAL(ov_plan_make(&work, 4, &plan), 0);
	CU_ASSERT_DOUBLE_EQUAL(plan.most_stepped, usual, 1e-9);
	work.exact = true;
	CU_ASSERT_EQUAL(ov_plan_make(&work, 4, &plan), 0);
	CU_ASSERT_EQUAL(plan.most_stepped, 0);
}

void add_spread_tests(void)
{
	CU_pSuite suite = CU_add_suite("spread", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(nothing_is_left_to_chance);
	TEST(groups_that_were_not_traced_may_meet_other_lines);
	TEST(what_is_not_stepped_through_is_left_to_chance);
	TEST(what_may_be_off_alone_adds_in_squares);
	TEST(a_simulation_that_was_stopped_knows_the_rest_to_a_tenth);
	TEST(steps_bound_what_is_stepped_through_of_long_loops);
#undef TEST
}
