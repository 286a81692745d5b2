/* The bound of the time that modelling takes. */
#include "tests/tests.h"

#include "runtime/estimates/budget.h"
#include "runtime/estimates/job.h"

#include <unistd.h>

static void the_clock_runs_only_while_simulations_are_under_way(void)
{
	struct budget b = {.most_ns = 40000000}, none = {0};
	CU_ASSERT_EQUAL(budget_left_ns(&b), UINT64_MAX);
	usleep(50000);
	CU_ASSERT_FALSE(budget_is_over(&b));
	budget_run(&b, true);
	CU_ASSERT(budget_left_ns(&b) <= 40000000);
	CU_ASSERT_FALSE(budget_is_over(&b));
	usleep(50000);
	CU_ASSERT(budget_is_over(&b));
	CU_ASSERT_EQUAL(budget_left_ns(&b), 0);
	budget_run(&b, false);
	CU_ASSERT(budget_is_over(&b));
	CU_ASSERT_EQUAL(budget_left_ns(&b), UINT64_MAX);
	budget_run(&none, true);
	CU_ASSERT_FALSE(budget_is_over(&none));
	CU_ASSERT_EQUAL(budget_left_ns(&none), UINT64_MAX);
}

/* Kernels of 900 and 100 ns: of 10 simulations, 9 and 1. */
static void simulations_get_the_shares_of_the_time(void)
{
	struct kernel_estimates k[2] = {{.weight = 0}, {.weight = 0}};
	budget_weigh(&k[0], &(struct launch_record){.measured_ns = 900});
	budget_weigh(&k[1], &(struct launch_record){.global = {10, 5, 2}}); /* no time is known: 100 work-items */
	CU_ASSERT_EQUAL(k[1].weight, 100);
	for (int i = 0; i < 10; i++)
		k[budget_priority(&k[1]) > budget_priority(&k[0])].simulations++;
	CU_ASSERT_EQUAL(k[0].simulations, 9);
	CU_ASSERT_EQUAL(k[1].simulations, 1);
}

/* Sizes 100 and 1000: 300 is 1.6 doublings from 100 and 1.7 from 1000; 10 is 3.3 doublings from the nearest, which is too far. */
static void a_launch_is_scaled_from_one_that_is_near(void)
{
	struct kernel_estimates k = {.weight = 0};
	struct estimate_job small = {.kernel = &k, .size = 100, .refs = 1}, large = {.kernel = &k, .size = 1000, .refs = 1};
	CU_ASSERT_PTR_NULL(budget_like(&k, 100));
	budget_simulated(&small);
	budget_simulated(&large);
	CU_ASSERT_PTR_EQUAL(budget_like(&k, 300), &small);
	CU_ASSERT_PTR_EQUAL(budget_like(&k, 3000), &large);
	CU_ASSERT_PTR_NULL(budget_like(&k, 10));
}

void add_budget_tests(void)
{
	CU_pSuite s = CU_add_suite("budget", NULL, NULL);
	CU_add_test(s, "the clock runs only while simulations are under way", the_clock_runs_only_while_simulations_are_under_way);
	CU_add_test(s, "simulations get the shares of the time", simulations_get_the_shares_of_the_time);
	CU_add_test(s, "a launch is scaled from one that is near in size", a_launch_is_scaled_from_one_that_is_near);
}
