/* How the cycles in which an SM issued are divided among what its schedulers waited for. */
#include "tests/tests.h"

#include "models/full.h"

static double sum_of(const double by[CYCLE_KIND_COUNT])
{
	double sum = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		sum += by[k];
	return sum;
}

/* 400 cycles with an instruction, 100 of which four schedulers need: 300 are divided 3 to 1, as the waits are. */
static void test_divided(void)
{
	double by[CYCLE_KIND_COUNT] = {[CYCLES_issue] = 400, [CYCLES_dram] = 90, [CYCLES_dependency] = 30, [CYCLES_launch] = 50, [CYCLES_tail] = 7};
	divide_issue(by, 100);
	CU_ASSERT_DOUBLE_EQUAL(by[CYCLES_issue], 100, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(by[CYCLES_dram], 90 + 225, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(by[CYCLES_dependency], 30 + 75, 1e-9);
	CU_ASSERT_EQUAL(by[CYCLES_launch], 50);
	CU_ASSERT_EQUAL(by[CYCLES_tail], 7);
	CU_ASSERT_DOUBLE_EQUAL(sum_of(by), 577, 1e-9);
}

/* Every kind of wait takes part, the first and the last, too. */
static void test_all_waits(void)
{
	for (int k = 0; k < CYCLE_KIND_COUNT; k++) {
		bool wait = k != CYCLES_issue && k != CYCLES_launch && k != CYCLES_tail;
		double by[CYCLE_KIND_COUNT] = {0};
		by[CYCLES_issue] = 40;
		by[k] += 10;
		double issued = by[CYCLES_issue], before = by[k];
		divide_issue(by, 15);
		CU_ASSERT_DOUBLE_EQUAL(by[CYCLES_issue], wait ? 15 : issued, 1e-9);
		CU_ASSERT_DOUBLE_EQUAL(by[k], wait ? 35 : before, 1e-9);
	}
}

/* Schedulers that issued all the time waited for nothing: instructions are the limit. */
static void test_nothing_to_divide(void)
{
	double busy[CYCLE_KIND_COUNT] = {[CYCLES_issue] = 100, [CYCLES_memory] = 20}, alone[CYCLE_KIND_COUNT] = {[CYCLES_issue] = 100};
	divide_issue(busy, 100);
	CU_ASSERT_EQUAL(busy[CYCLES_issue], 100);
	CU_ASSERT_EQUAL(busy[CYCLES_memory], 20);
	divide_issue(busy, 130); /* more than there are: a part was simulated */
	CU_ASSERT_EQUAL(busy[CYCLES_issue], 100);
	CU_ASSERT_EQUAL(busy[CYCLES_memory], 20);
	divide_issue(alone, 25); /* nobody ever waited for anything that has a name */
	CU_ASSERT_EQUAL(alone[CYCLES_issue], 100);
	CU_ASSERT_EQUAL(sum_of(alone), 100);
}

/* 60 instructions in 100 cycles of slots; those of them for a unit keep it busy for 60, 100 or 120 cycles. */
static void test_units(void)
{
	static const struct {
		double busy, issue, unit;
	} cases[] = {{60, 70, 10}, {100, 70, 10}, {120, 0, 80}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		double by[CYCLE_KIND_COUNT] = {[CYCLES_issue] = 70, [CYCLES_unit_int] = 10, [CYCLES_memory] = 20};
		double limits[LIMIT_COUNT] = {[RESOURCE_issue] = 100, [RESOURCE_int] = cases[i].busy, [RESOURCE_fp32] = 40};
		give_issue_to_unit(by, limits);
		CU_ASSERT_EQUAL(by[CYCLES_issue], cases[i].issue);
		CU_ASSERT_EQUAL(by[CYCLES_unit_int], cases[i].unit);
		CU_ASSERT_EQUAL(by[CYCLES_memory], 20);
	}
}

void add_full_tests(void)
{
	CU_pSuite suite = CU_add_suite("full", NULL, NULL);
	CU_add_test(suite, "cycles with an instruction are divided among waits", test_divided);
	CU_add_test(suite, "they are a unit's that is busy for longer than issue slots", test_units);
	CU_add_test(suite, "all waits take part", test_all_waits);
	CU_add_test(suite, "nothing to divide", test_nothing_to_divide);
}
