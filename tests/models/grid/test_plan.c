/* What is left out of a launch that is simulated as a whole. */
#include "tests/tests.h"

#include "models/grid/plan.h"

enum { SMS = 4, GROUPS = 8, LONG = 5 };

static struct group_work groups[GROUPS];
static const struct gpu gpu = {.sm_count = SMS};
static const struct launch_warps warps = {.groups = GROUPS, .pattern_groups = GROUPS};

/* Two groups for each SM. One has a warp of so many instructions, the others of 4. */
static struct ov_work launch_of(double longest, double traffic)
{
	struct ov_work work = {.gpu = &gpu, .warps = &warps, .pattern = groups, .stepped = 1, .weight = 1, .hierarchy = true};
	for (int g = 0; g < GROUPS; g++) {
		groups[g] = g == LONG ? (struct group_work){.warp_instructions = longest, .longest = longest, .traffic = 30}
		                      : (struct group_work){.warp_instructions = 20, .longest = 4, .traffic = traffic};
		work.instructions += groups[g].warp_instructions;
		work.traffic += groups[g].traffic;
	}
	return work;
}

/* The groups that are simulated, as bits. */
static unsigned simulated(const struct ov_work *work, uint32_t residency)
{
	struct ov_plan plan;
	unsigned bits = 0;
	CU_ASSERT_EQUAL_FATAL(ov_plan_make(work, residency, &plan), 0);
	for (int g = 0; g < GROUPS; g++)
		bits |= (unsigned)(!plan.left_out || !plan.left_out[g]) << g;
	ov_plan_free(&plan);
	return bits;
}

/* 100 is more than four times the mean, (7 * 4 + 100) / 8 = 16. Group 5 is on SM 1, with group 1. The six others do 120 of 240 instructions,
 * and ask for 6 of 37 parts. */
static void sms_that_nothing_hangs_on_are_left_out(void)
{
	struct ov_work work = launch_of(100, 1);
	CU_ASSERT_EQUAL(simulated(&work, 2), 1u << 1 | 1u << LONG);
	work.exact = true;
	CU_ASSERT_EQUAL(simulated(&work, 2), 0xff);
}

/* 12 is less than four times (7 * 4 + 12) / 8 = 5. With 5 parts each, six groups ask for 30 of 65. With room for one group, SMs get their
 * second when the first has ended. Where one does 640 instructions, the 120 of six others are less than a third of 780. */
static void all_are_simulated_where_others_matter(void)
{
	struct ov_work work = launch_of(12, 1);
	CU_ASSERT_EQUAL(simulated(&work, 2), 0xff);
	work = launch_of(100, 5);
	CU_ASSERT_EQUAL(simulated(&work, 2), 0xff);
	work = launch_of(100, 1);
	CU_ASSERT_EQUAL(simulated(&work, 1), 0xff);
	work = launch_of(640, 1);
	CU_ASSERT_EQUAL(simulated(&work, 2), 0xff);
}

/* 64 groups on as many SMs, each 8,000 instructions: 512,000 steps, of which a quarter is more than 60,000, and 16 SMs have groups. 12 channels have
 * a part that shares lines as all do, and 16, a power of two, have none. Nor has an L2 of 1 MB, where groups load from anywhere in 2 MB. */
static void some_sms_stand_for_all_where_channels_divide(void)
{
	enum { MANY = 64 };
	static const struct { uint32_t channels; bool anywhere, alike; } cases[] = {{12, false, true}, {16, false, false}, {12, true, false}};
	static struct group_work same[MANY];
	static const struct kernel_code code;
	struct memory_range range = {.bytes = 2 << 20};
	const struct launch_warps w = {.groups = MANY, .pattern_groups = MANY, .code = &code, .warm = &range, .warm_count = 1};
	for (int g = 0; g < MANY; g++)
		same[g] = (struct group_work){.warp_instructions = 8000, .longest = 1000, .traffic = 10};
	for (size_t c = 0; c < GS_ARRAY_LEN(cases); c++) {
		const struct gpu g = {.sm_count = MANY, .dram_channels = cases[c].channels, .l2_bytes = 1 << 20, .l2_partitions = 1};
		range.anywhere = cases[c].anywhere;
		struct ov_work work = {.gpu = &g, .warps = &w, .pattern = same, .instructions = 8000. * MANY, .traffic = 10. * MANY, .stepped = 1, .weight = 1,
		                       .hierarchy = true};
		struct ov_plan plan;
		CU_ASSERT_EQUAL_FATAL(ov_plan_make(&work, 1, &plan), 0);
		CU_ASSERT_EQUAL(plan.alike, cases[c].alike);
		CU_ASSERT_EQUAL(plan.sm_count == MANY, !cases[c].alike);
		ov_plan_free(&plan);
	}
}

/* 528 groups run at once on 132 SMs, too many to simulate all. One has a warp twice as long as others: its SM is among the few. */
static void the_longest_group_is_among_the_few(void)
{
	enum { MANY = 528, SM_COUNT = 132, LONGEST = 17 };
	static struct group_work work_of[MANY];
	static uint32_t kinds[MANY];
	static const struct kernel_code code;
	const struct gpu g = {.sm_count = SM_COUNT, .dram_channels = 48, .l2_bytes = 1 << 20, .l2_partitions = 1};
	const struct launch_warps w = {.groups = MANY, .pattern_groups = MANY, .code = &code};
	for (int n = 0; n < 2; n++) {
		struct ov_work work = {.gpu = &g, .warps = &w, .pattern = work_of, .kinds = kinds, .stepped = 1, .weight = 1, .hierarchy = true};
		struct ov_plan plan;
		bool there = false;
		for (uint32_t i = 0; i < MANY; i++) {
			work_of[i] = (struct group_work){.warp_instructions = i % 2 ? 70000 : 50000, .longest = i == LONGEST && n ? 40000 : 20000, .traffic = 10};
			work.instructions += work_of[i].warp_instructions;
			work.traffic += 10;
		}
		CU_ASSERT_EQUAL_FATAL(ov_plan_make(&work, 4, &plan), 0);
		CU_ASSERT_TRUE_FATAL(plan.sm_count < SM_COUNT / 2 && plan.groups < MANY);
		for (uint64_t i = 0; i < plan.groups; i++)
			there |= ov_group_id(&plan, i) == LONGEST;
		CU_ASSERT_EQUAL(there, n);
		ov_plan_free(&plan);
	}
}

void add_plan_tests(void)
{
	CU_pSuite suite = CU_add_suite("plan", NULL, NULL);
	CU_add_test(suite, "SMs that nothing hangs on are left out", sms_that_nothing_hangs_on_are_left_out);
	CU_add_test(suite, "all are simulated where others matter", all_are_simulated_where_others_matter);
	CU_add_test(suite, "some SMs stand for all where channels divide", some_sms_stand_for_all_where_channels_divide);
	CU_add_test(suite, "the longest group is among the few", the_longest_group_is_among_the_few);
}
