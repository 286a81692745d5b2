/* Lists that groups have one after the other, computed by hand. */
#include "tests/tests.h"

#include "models/trace/internal.h"
#include "models/traffic/footprint.h"

#include <stdlib.h>

#define BUFFER (1ull << 40)
enum { GROUPS = 10, TRACED = 6, PIECE = 128 };

/* Pieces that groups go through, and those before each of them: lists of groups that were traced begin there. */
static const double pieces[GROUPS] = {4, 1, 7, 1, 2, 2, 2, 1, 1, 4};
static const uint64_t before[GROUPS] = {0, 4, 5, 12, 13, 15, 17, 19, 20, 21};
static const uint64_t ids[TRACED] = {1, 3, 4, 6, 7, 8};
static struct code_instruction load = {.class = CODE_load, .space = SPACE_global, .bytes = 4};
static const struct kernel_code code = {.code = &load, .code_count = 1};

/* A finder that saw a lane of each traced group go down from the second piece of its list to the first. `other`: one begins elsewhere, `none`: one
 * has no list; TRACED: all are as they should be. */
static struct shift_finder *see_lists(size_t other, size_t none)
{
	static const uint64_t grid[3] = {GROUPS, 1, 1};
	static const uint32_t lane = 0;
	struct shift_finder *f = shift_finder_new(&code, TRACED, grid);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (size_t n = 0; n < TRACED; n++)
		for (uint64_t piece = 2; piece-- > 0 && n != none;) {
			uint64_t address = BUFFER + (n == other ? 0 : before[ids[n]] + piece) * PIECE;
			shift_finder_add(f, 0, n, 0, &(struct lane_addresses){&lane, &address, 1, 4});
		}
	return f;
}

/* Traced groups begin after 4, 12, 13, 17, 19 and 20 pieces. The others, by what groups did: 0 is 4 before the first, which is 1/4 of the 16
 * pieces from the first to the last; 2 is 1 of 8 after group 1; 5 is 2 of 4 after group 4; 9 is 17/16 of 16 pieces after the first. */
static void lists_are_as_long_as_groups_work(void)
{
	struct shift_finder *f = see_lists(TRACED, TRACED);
	struct address_shift shift = {.bytes = 1};
	struct counted_work work[GROUPS];
	const struct traced_ids traced = {.ids = ids, .count = TRACED};
	struct trace_store store = {.shifts = &shift};
	uint64_t bytes = 32 * PIECE;
	store.starts = shift_finder_lists(f, &(struct launch_trace){.argument_bytes = &bytes, .argument_count = 1}, ids, TRACED, &shift);
	CU_ASSERT_PTR_NOT_NULL_FATAL(store.starts);
	CU_ASSERT_TRUE(shift.linear);
	CU_ASSERT_EQUAL(shift.step[0], 16 * PIECE / 7); /* from group 1 to group 8 */
	CU_ASSERT_EQUAL(shift.low, BUFFER);
	CU_ASSERT_EQUAL(shift.bytes, bytes);
	for (int g = 0; g < GROUPS; g++)
		work[g] = (struct counted_work){.threads = pieces[g]};
	CU_ASSERT_EQUAL_FATAL(lists_place(&store, &code, &traced, work, GROUPS), 0);
	for (uint64_t g = 0; g < GROUPS; g++)
		CU_ASSERT_EQUAL(shift_start(&shift, g), BUFFER + before[g] * PIECE);
	const struct launch_warps launch = {.groups = GROUPS, .grid = {GROUPS, 1, 1}, .shifts = &shift};
	const int64_t moved[3] = {2, 0, 0}, last[3] = {1, 0, 0};
	/* group 5 does what group 3 did: 15 pieces after the begin, not 12; and 9 what 8 did */
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 13 * PIECE, 5, moved, PIECE), BUFFER + 16 * PIECE);
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 20 * PIECE, 9, last, PIECE), BUFFER + 21 * PIECE);
	/* one more than the launch has is a step after the last */
	CU_ASSERT_EQUAL(shift_start(&shift, GROUPS), BUFFER + before[GROUPS - 1] * PIECE + 16 * PIECE / 7);
	free(store.places);
	/* as much each: 2 is half way from 1 to 3, 0 is 1/7 of all before 1 */
	CU_ASSERT_EQUAL_FATAL(lists_place(&store, &code, &traced, NULL, GROUPS), 0);
	CU_ASSERT_EQUAL(shift_start(&shift, 2), BUFFER + 8 * PIECE);
	CU_ASSERT_EQUAL(shift_start(&shift, 0), BUFFER + 4 * PIECE - 16 * PIECE / 7);
	free(store.places);
	free(store.starts);
	shift_finder_free(f);
}

/* One group begins where the one before does, or at the begin; five lists are too few; steps are better. */
static void lists_follow_one_another(void)
{
	struct shift_finder *f = see_lists(3, TRACED);
	struct address_shift shift = {.bytes = 1};
	CU_ASSERT_PTR_NULL(shift_finder_lists(f, &(struct launch_trace){0}, ids, TRACED, &shift));
	CU_ASSERT_FALSE(shift.linear);
	shift_finder_free(f);
	f = see_lists(TRACED, 2);
	CU_ASSERT_PTR_NULL(shift_finder_lists(f, &(struct launch_trace){0}, ids, TRACED, &shift));
	CU_ASSERT_PTR_NULL(shift_finder_lists(f, &(struct launch_trace){0}, ids, TRACED - 1, &shift));
	shift_finder_free(f);
	f = see_lists(TRACED, TRACED);
	shift = (struct address_shift){.linear = true, .step = {PIECE, 0, 0}};
	CU_ASSERT_PTR_NULL(shift_finder_lists(f, &(struct launch_trace){0}, ids, TRACED, &shift));
	CU_ASSERT_PTR_NULL(shift.starts);
	shift_finder_free(f);
}

void add_lists_tests(void)
{
	CU_pSuite suite = CU_add_suite("lists", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(lists_are_as_long_as_groups_work);
	TEST(lists_follow_one_another);
#undef TEST
}
