/* Launches whose groups do the same: which part of the SMs stands for all. */
#include "tests/tests.h"

#include "models/sampling/alike.h"

enum { SMS = 132, GROUPS = 264 };

/* A launch of two groups per SM, each of 1000 instructions, and its code of one instruction. */
struct launch {
	struct code_instruction instruction;
	struct kernel_code code;
	struct group_work pattern[GROUPS];
	struct launch_warps warps;
};

static struct launch *make(struct launch *l)
{
	*l = (struct launch){.instruction = {.class = CODE_load, .space = SPACE_global}};
	l->code = (struct kernel_code){.code = &l->instruction, .code_count = 1};
	l->warps = (struct launch_warps){.code = &l->code, .groups = GROUPS, .pattern_groups = GROUPS};
	for (int g = 0; g < GROUPS; g++)
		l->pattern[g] = (struct group_work){.warp_instructions = 1000, .longest = 125, .traffic = 100};
	return l;
}

static double share(const struct launch *l, double steps)
{
	return alike_share(&l->warps, l->pattern, SMS, steps);
}

/* Half of the groups do d more than the mean, and half d less: the deviation is d. */
static void vary(struct launch *l, double instructions, double traffic)
{
	for (int g = 0; g < GROUPS; g++) {
		double sign = g % 2 ? 1 : -1;
		l->pattern[g].warp_instructions = 1000 * (1 + sign * instructions);
		l->pattern[g].traffic = 100 * (1 + sign * traffic);
	}
}

static void groups_that_do_the_same_need_a_quarter_of_the_sms(void)
{
	struct launch l;
	CU_ASSERT_DOUBLE_EQUAL(share(make(&l), 1e6), 0.25, 1e-12);
	vary(&l, 0.019, 0);
	CU_ASSERT_DOUBLE_EQUAL(share(&l, 1e6), 0.25, 1e-12);
}

/* In instructions, in requests, or in addresses that nobody has seen. */
static void groups_that_differ_need_half_or_all(void)
{
	struct launch l;
	vary(make(&l), 0.021, 0);
	CU_ASSERT_DOUBLE_EQUAL(share(&l, 1e6), 0.5, 1e-12);
	vary(&l, 0, 0.099);
	CU_ASSERT_DOUBLE_EQUAL(share(&l, 1e6), 0.5, 1e-12);
	vary(&l, 0, 0.101);
	CU_ASSERT_EQUAL(share(&l, 1e6), 1);
	vary(&l, 0, 0);
	l.warps.stand_in = MEMORY_CHANCE;
	CU_ASSERT_DOUBLE_EQUAL(share(&l, 1e6), 0.5, 1e-12);
	make(&l)->pattern[0].longest = 1000; /* 8 times the usual of 125, in one of 264: a deviation of 0.42 */
	CU_ASSERT_EQUAL(share(&l, 1e6), 1);
}

/* 60,000 of 125,000 steps are 48% of the SMs; of 100,000, they would be three fifths, which is not worth it. */
static void short_simulations_are_left_whole(void)
{
	struct launch l;
	CU_ASSERT_DOUBLE_EQUAL(share(make(&l), 1.25e5), 0.48, 1e-12);
	CU_ASSERT_EQUAL(share(&l, 1e5), 1);
}

/* 16 SMs with groups of 32, and of 28 all. */
static void launches_of_few_groups_need_a_larger_part(void)
{
	struct launch l;
	make(&l);
	l.warps.groups = l.warps.pattern_groups = 32;
	CU_ASSERT_DOUBLE_EQUAL(share(&l, 1e6), 0.5, 1e-12);
	l.warps.groups = l.warps.pattern_groups = 28;
	CU_ASSERT_EQUAL(share(&l, 1e6), 1);
}

static void all_sms_meet_in_atomics_of_global_memory(void)
{
	struct launch l;
	make(&l)->instruction.class = CODE_atomic;
	CU_ASSERT_EQUAL(share(&l, 1e6), 1);
	l.instruction.space = SPACE_shared;
	CU_ASSERT_DOUBLE_EQUAL(share(&l, 1e6), 0.25, 1e-12);
}

void add_alike_tests(void)
{
	CU_pSuite suite = CU_add_suite("alike groups", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(groups_that_do_the_same_need_a_quarter_of_the_sms);
	TEST(groups_that_differ_need_half_or_all);
	TEST(short_simulations_are_left_whole);
	TEST(launches_of_few_groups_need_a_larger_part);
	TEST(all_sms_meet_in_atomics_of_global_memory);
#undef TEST
}
