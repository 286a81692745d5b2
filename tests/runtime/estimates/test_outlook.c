/* How long launches that are left will take: by kernel, and by what those of a family cost. */
#include "runtime/estimates/outlook.h"
#include "tests/tests.h"

/* 900 launches of one kernel took 1 ms each, and one of another a second. One of each is left: 1.001 s. By the number of launches it would be
 * 2 * 1.9 s / 901, 4 ms. */
static void kernels_differ(void)
{
	struct outlook cheap = {0}, dear = {0};
	for (int i = 0; i < 900; i++)
		outlook_done(&cheap, 1000000, true);
	outlook_done(&dear, 1000000000, true);
	outlook_add(&cheap, false);
	outlook_add(&dear, false);
	CU_ASSERT_DOUBLE_EQUAL(outlook_take(&cheap, 0) + outlook_take(&dear, 0), 1.001e9, 1);
	CU_ASSERT_DOUBLE_EQUAL(outlook_take(&cheap, 0) + outlook_take(&dear, 0), 0, 0); /* none is left */
}

static void a_new_kernel_takes_the_usual_time(void)
{
	struct outlook all = {0}, o = {0};
	CU_ASSERT_EQUAL(outlook_simulation_ns(&all), 0);
	outlook_done(&all, 300, true);
	outlook_done(&all, 500, true);
	outlook_add(&o, false);
	outlook_add(&o, false);
	CU_ASSERT_DOUBLE_EQUAL(outlook_take(&o, outlook_simulation_ns(&all)), 800, 1e-9); /* twice (300 + 500) / 2 */
}

/* Of 64 that wait, both ends and one for each of 6 halvings: 8 simulations. Of 2, both. */
static void most_that_wait_are_not_simulated(void)
{
	struct outlook o = {0};
	outlook_done(&o, 100, true);
	for (int i = 0; i < 64; i++)
		outlook_add(&o, true);
	CU_ASSERT_DOUBLE_EQUAL(outlook_take(&o, 0), 800, 1e-9);
	outlook_add(&o, true);
	outlook_add(&o, true);
	CU_ASSERT_DOUBLE_EQUAL(outlook_take(&o, 0), 200, 1e-9);
}

/* 4 simulations of 1000 and 36 others of 10 each: 4360 for 40, so 109 for each that waits. */
static void a_known_family_goes_on_as_it_did(void)
{
	struct outlook o = {0};
	for (int i = 0; i < 40; i++)
		outlook_done(&o, i < 4 ? 1000 : 10, i < 4);
	for (int i = 0; i < 10; i++)
		outlook_add(&o, true);
	CU_ASSERT_DOUBLE_EQUAL(outlook_take(&o, 0), 1090, 1e-9);
}

void add_outlook_tests(void)
{
	CU_pSuite s = CU_add_suite("outlook", NULL, NULL);
	CU_add_test(s, "kernels whose launches cost a thousand times as much", kernels_differ);
	CU_add_test(s, "a kernel that was not modelled takes the usual time", a_new_kernel_takes_the_usual_time);
	CU_add_test(s, "most launches that wait for others are not simulated", most_that_wait_are_not_simulated);
	CU_add_test(s, "a known family goes on as it did", a_known_family_goes_on_as_it_did);
}
