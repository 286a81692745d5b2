/* How addresses follow from the number of a group, computed by hand. */
#include "tests/tests.h"

#include "models/trace/internal.h"
#include "models/trace/moves/fit.h"
#include "models/traffic/footprint.h"

#define BUFFER (1ull << 40)

static struct sighting at(uint64_t group, uint32_t witness, uint64_t offset)
{
	return (struct sighting){group, witness, BUFFER + offset, BUFFER + offset};
}

/* Two work-items, 64 bytes apart, of which no group has both; groups are 256 bytes apart. From one group of each nothing follows: their difference
 * is also that of the work-items. */
static void work_items_are_compared_with_themselves(void)
{
	const uint64_t grid[3] = {10, 1, 1};
	const struct sighting s[] = {at(1, 0, 256), at(5, 0, 1280), at(3, 1, 768 + 64), at(9, 1, 2304 + 64)}, apart[] = {s[0], s[2]};
	struct address_shift shift;
	CU_ASSERT_TRUE(fit_moves(s, 4, grid, &shift));
	CU_ASSERT_EQUAL(shift.step[0], 256);
	CU_ASSERT_EQUAL(shift.split, 0);
	CU_ASSERT_FALSE(fit_moves(apart, 2, grid, &shift));
	CU_ASSERT_FALSE(shift.linear);
}

/* A plane of 8 by 8 groups: 128 bytes to the right, 4096 down. In the first column and row, an index that would be outside is that of the
 * border: such groups do not agree with others, which do. */
static void borders_may_be_clamped(void)
{
	static const uint64_t inner[] = {9, 10, 19, 30, 44, 53}, outer[] = {0, 8, 24};
	const uint64_t grid[3] = {8, 8, 1};
	struct sighting s[9];
	struct address_shift shift;
	for (size_t i = 0; i < 3; i++)
		s[i] = at(outer[i], 0, outer[i] / 8 * 4096 + 4);
	for (size_t i = 0; i < 6; i++)
		s[3 + i] = at(inner[i], 0, inner[i] / 8 * 4096 + inner[i] % 8 * 128);
	CU_ASSERT_TRUE(fit_moves(s, 9, grid, &shift));
	CU_ASSERT_EQUAL(shift.step[0], 128);
	CU_ASSERT_EQUAL(shift.step[1], 4096);
	s[7].first += 4; /* an inner one */
	CU_ASSERT_FALSE(fit_moves(s, 9, grid, &shift));
	/* two steps from two differences, and only one more that agrees */
	s[7].first -= 4;
	CU_ASSERT_FALSE(fit_moves(s, 7, grid, &shift));
}

/* A step of a sorting network: groups of 1024 bytes, of which each run of four is followed by one as long that its partner has. */
static void a_row_may_be_a_plane(void)
{
	static const uint64_t ids[] = {0, 1, 6, 7, 12, 13, 31};
	const uint64_t grid[3] = {32, 1, 1};
	struct sighting s[7];
	struct address_shift shift;
	for (size_t i = 0; i < 7; i++)
		s[i] = at(ids[i], 0, ids[i] / 4 * 8192 + ids[i] % 4 * 1024);
	CU_ASSERT_TRUE(fit_moves(s, 7, grid, &shift));
	CU_ASSERT_EQUAL(shift.split, 4);
	CU_ASSERT_EQUAL(shift.step[0], 1024);
	CU_ASSERT_EQUAL(shift.step[1], 8192);
	const struct launch_warps launch = {.groups = 32, .grid = {32, 1, 1}, .shifts = &shift};
	/* group 22 does what group 7 did: 22 is the third of the sixth run, 7 the last of the second */
	const int64_t moved[3] = {15, 0, 0};
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 8192 + 3072, 22, moved, 128), BUFFER + 5 * 8192 + 2048);
	s[4].last += 4;
	CU_ASSERT_FALSE(fit_moves(s, 7, grid, &shift));
}

static void see(struct shift_finder *f, size_t n, uint32_t first_lane, uint64_t offset)
{
	uint32_t lanes[32];
	uint64_t addresses[32];
	for (uint32_t l = first_lane; l < 32; l++) {
		lanes[l - first_lane] = l;
		addresses[l - first_lane] = BUFFER + offset + (uint64_t)l * 4;
	}
	shift_finder_add(f, 0, n, 0, &(struct lane_addresses){lanes, addresses, 32 - first_lane, 4});
}

/* Of a kernel that is one load, in four traced groups. */
static struct shift_finder *new_finder(const uint64_t grid[3])
{
	static struct code_instruction load = {.class = CODE_load, .space = SPACE_global, .bytes = 4};
	static const struct kernel_code code = {.code = &load, .code_count = 1};
	struct shift_finder *f = shift_finder_new(&code, 4, grid);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	return f;
}

/* The first work-item of a group at the left border does nothing. Its others move as those of the next groups do. */
static void groups_at_a_border_have_fewer_lanes(void)
{
	static const uint64_t ids[] = {0, 1, 5, 11}, grid[3] = {4, 4, 1};
	struct shift_finder *f = new_finder(grid);
	struct address_shift shift;
	for (size_t n = 0; n < 4; n++)
		see(f, n, ids[n] % 4 == 0, ids[n] % 4 * 128 + ids[n] / 4 * 2048);
	uint64_t bytes = 4 * 2048;
	shift_finder_finish(f, &(struct launch_trace){.argument_bytes = &bytes, .argument_count = 1}, ids, &shift);
	CU_ASSERT_TRUE(shift.linear);
	CU_ASSERT_EQUAL(shift.step[0], 128);
	CU_ASSERT_EQUAL(shift.step[1], 2048);
	CU_ASSERT_EQUAL(shift.low, BUFFER);
	CU_ASSERT_EQUAL(shift.bytes, bytes);
	shift_finder_free(f);
}

/* Each group has other work-items, by its data: 31 alone, all, 31 alone, all. */
static void lanes_may_be_off_by_chance(void)
{
	static const uint64_t ids[] = {2, 3, 5, 7}, grid[3] = {8, 1, 1};
	struct shift_finder *f = new_finder(grid);
	struct address_shift shift;
	for (size_t n = 0; n < 4; n++)
		see(f, n, n % 2 ? 0 : 31, ids[n] * 128);
	shift_finder_finish(f, &(struct launch_trace){0}, ids, &shift);
	CU_ASSERT_EQUAL(shift.bytes, 0);
	CU_ASSERT_TRUE(shift.linear);
	CU_ASSERT_EQUAL(shift.step[0], 128);
	shift_finder_free(f);
}

/* Two loads touch bytes 0 to 1023 and 256 to 1151: in the rounds of gaps they meet, so that both go anywhere in all of it. A third one is elsewhere. */
static void loads_of_one_list_share_a_range(void)
{
	static struct code_instruction loads[3] = {{.class = CODE_load, .space = SPACE_global, .bytes = 4},
	                                           {.class = CODE_load, .space = SPACE_global, .bytes = 4},
	                                           {.class = CODE_load, .space = SPACE_global, .bytes = 4}};
	static const struct kernel_code code = {.code = loads, .code_count = 3};
	static const uint32_t lanes[1] = {0};
	static const uint64_t touched[3][2] = {{0, 1024}, {256, 1152}, {8192, 8256}};
	static const uint64_t id = 0, grid[3] = {1, 1, 1}, expected[3][2] = {{0, 1152}, {0, 1152}, {8192, 64}};
	struct shift_finder *f = shift_finder_new(&code, 1, grid);
	struct address_shift shifts[3];
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (uint32_t i = 0; i < 3; i++) {
		const uint64_t ends[2] = {BUFFER + touched[i][0], BUFFER + touched[i][1] - 4};
		shift_finder_add(f, i, 0, 0, &(struct lane_addresses){lanes, &ends[0], 1, 4});
		shift_finder_add(f, i, 0, 0, &(struct lane_addresses){lanes, &ends[1], 1, 4});
	}
	shift_finder_finish(f, &(struct launch_trace){0}, &id, shifts);
	for (uint32_t i = 0; i < 3; i++) {
		struct memory_span range = shift_finder_range(f, i, BUFFER);
		CU_ASSERT_EQUAL(range.low, BUFFER + expected[i][0]);
		CU_ASSERT_EQUAL(range.bytes, expected[i][1]);
	}
	shift_finder_free(f);
}

/* A pointer into one of two buffers: addresses of each stay in what was touched of it, 4 KB and 1 KB, for all groups. */
static void one_instruction_may_ask_for_two_buffers(void)
{
	enum { FIRST = 1, SECOND, LEAST = 4096, LESS = 1024 };
	static const uint64_t first = (uint64_t)FIRST << ARGUMENT_BITS, second = (uint64_t)SECOND << ARGUMENT_BITS, grid[3] = {1000, 1, 1};
	static const uint64_t id = 0, touched[4] = {first, second + LESS - 4, first + LEAST - 4, second};
	static const uint32_t lanes[1] = {0};
	struct code_instruction load = {.class = CODE_load, .space = SPACE_global};
	const struct kernel_code code = {.code = &load, .code_count = 1};
	struct shift_finder *f = shift_finder_new(&code, 1, grid);
	struct address_shift shift;
	struct memory_span spans[SPANNED_ARGUMENTS];
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	for (int i = 0; i < 4; i++)
		shift_finder_add(f, 0, 0, 0, &(struct lane_addresses){lanes, &touched[i], 1, 4});
	shift_finder_finish(f, &(struct launch_trace){0}, &id, &shift);
	shift_finder_spans(f, spans);
	shift.spans = spans;
	CU_ASSERT_EQUAL(shift_finder_range(f, 0, second + 64).low, second);
	CU_ASSERT_EQUAL(shift_finder_range(f, 0, second + 64).bytes, LESS);
	CU_ASSERT_EQUAL(shift_finder_range(f, 0, first).bytes, LEAST);
	const struct launch_warps launch = {.code = &code, .groups = 1000, .grid = {1000, 1, 1}, .shifts = &shift};
	for (int64_t g = 1; g < 1000; g++) {
		const int64_t moved[3] = {g, 0, 0};
		CU_ASSERT_TRUE(launch_address(&launch, 0, first + 128, (uint64_t)g, moved, 128) - first < LEAST);
		CU_ASSERT_TRUE(launch_address(&launch, 0, second + 128, (uint64_t)g, moved, 128) - second < LESS);
	}
	shift_finder_free(f);
}

/* Group 5 stands for one in the first row and for one in the last, whose neighbours above and below would be outside: they are mirrored. */
static void moves_end_where_the_buffer_does(void)
{
	const struct address_shift shift = {.linear = true, .step = {128, 2048, 0}, .low = BUFFER, .bytes = 8192 + 4};
	const struct launch_warps launch = {.groups = 16, .grid = {4, 4, 1}, .shifts = &shift};
	const int64_t up[3] = {0, -1, 0}, down[3] = {0, 2, 0};
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 128, 1, up, 128), BUFFER + 1920); /* 2048 - 128 before it */
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 2048, 1, up, 128), BUFFER);
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 2048 + 128, 1, up, 128), BUFFER + 128);
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 4096, 13, down, 128), BUFFER + 8192);
	CU_ASSERT_EQUAL(launch_address(&launch, 0, BUFFER + 4096 + 128, 13, down, 128), BUFFER + 63 * 128); /* 124 bytes after it */
}

void add_fit_tests(void)
{
	CU_pSuite suite = CU_add_suite("fit", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(work_items_are_compared_with_themselves);
	TEST(borders_may_be_clamped);
	TEST(a_row_may_be_a_plane);
	TEST(groups_at_a_border_have_fewer_lanes);
	TEST(lanes_may_be_off_by_chance);
	TEST(loads_of_one_list_share_a_range);
	TEST(one_instruction_may_ask_for_two_buffers);
	TEST(moves_end_where_the_buffer_does);
#undef TEST
}
