/* What L2 keeps of launches that ask for more than it surely holds. */
#include "tests/tests.h"

#include "models/gpu/kept.h"

enum { MB = 1 << 20 };

static const struct gpu parted = {.l2_bytes = 60 * MB, .l2_partitions = 2}, whole = {.l2_bytes = 60 * MB, .l2_partitions = 1};

static void all_of_l2_is_there_for_what_is_between(void)
{
	CU_ASSERT_EQUAL(kept_room(&parted, 30 * MB), 30 * MB);
	CU_ASSERT_EQUAL(kept_room(&parted, 30 * MB + 1), 60 * MB);
	CU_ASSERT_EQUAL(kept_room(&parted, 60 * MB), 60 * MB);
	CU_ASSERT_EQUAL(kept_room(&parted, 60 * MB + 1), 30 * MB);
	CU_ASSERT_EQUAL(kept_room(&whole, 61 * MB), 60 * MB);
}

/* What fits is there. Of lines that several SMs ask for, h = exp(-(1 - h) N / 30): 0.203 = exp(-0.797 x 2), and 0.546 = exp(-0.454 x 4 / 3). */
static void a_part_is_found_again(void)
{
	CU_ASSERT_EQUAL(kept_share(&parted, 20 * MB, true), 1);
	CU_ASSERT_EQUAL(kept_share(&parted, 30 * MB, true), 1);
	CU_ASSERT_DOUBLE_EQUAL(kept_share(&parted, 34 * MB, true), 0.77, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(kept_share(&parted, 40 * MB, true), 0.546, 0.001);
	CU_ASSERT_DOUBLE_EQUAL(kept_share(&parted, 60 * MB, true), 0.203, 0.001);
	CU_ASSERT_EQUAL(kept_share(&parted, 61 * MB, true), 0);
	CU_ASSERT_EQUAL(kept_share(&whole, 60 * MB, true), 1);
	CU_ASSERT_EQUAL(kept_share(&whole, 61 * MB, true), 0);
}

/* Lines with one SM each have one and a half copies in the mean, so that 40 MB fit nearly: an H200 finds 0.94 of them, and 0.64 of 44 MB. */
static void lines_of_one_sm_have_fewer_copies(void)
{
	CU_ASSERT_EQUAL(kept_share(&parted, 34 * MB, false), 1);
	CU_ASSERT_DOUBLE_EQUAL(kept_share(&parted, 40 * MB, false), 0.94, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(kept_share(&parted, 42 * MB, false), 0.79, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(kept_share(&parted, 44 * MB, false), 0.64, 1e-9);
	CU_ASSERT_EQUAL(kept_share(&parted, 56 * MB, false), 0);
	CU_ASSERT_EQUAL(kept_share(&whole, 60 * MB, false), 1);
	CU_ASSERT_EQUAL(kept_share(&whole, 61 * MB, false), 0);
}

/* Of 36 MB a partition has 18 at home, and 12 for copies of the other 18: h = exp(-(1 - h) 1.5) = 0.417 of them, or two thirds at random.
 * The rest, of half of all loads, is far. */
static void copies_have_what_lines_at_home_leave(void)
{
	CU_ASSERT_EQUAL(kept_far(&parted, 30 * MB, false), 0);
	CU_ASSERT_EQUAL(kept_far(&parted, 30 * MB, true), 0);
	CU_ASSERT_DOUBLE_EQUAL(kept_far(&parted, 36 * MB, false), 0.2914, 0.0001);
	CU_ASSERT_DOUBLE_EQUAL(kept_far(&parted, 36 * MB, true), 1 / 6.0, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(kept_far(&parted, 60 * MB, false), 0.5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(kept_far(&parted, 60 * MB, true), 0.5, 1e-9);
	CU_ASSERT_EQUAL(kept_far(&parted, 61 * MB, false), 0);
	CU_ASSERT_EQUAL(kept_far(&whole, 60 * MB, false), 0);
}

void add_kept_tests(void)
{
	CU_pSuite suite = CU_add_suite("kept", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(all_of_l2_is_there_for_what_is_between);
	TEST(a_part_is_found_again);
	TEST(lines_of_one_sm_have_fewer_copies);
	TEST(copies_have_what_lines_at_home_leave);
#undef TEST
}
