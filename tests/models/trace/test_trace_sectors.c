/* Sectors per access of a trace. */
#include "tests/tests.h"

#include "models/trace/sectors.h"

enum { ITEMS = 32, EVENTS = 3 };

/* One group of 32 work-items. Each begins a block, accesses global memory at base + item * stride, and then shared memory. */
static struct trace_glance glance(uint64_t base, uint64_t stride, uint32_t bytes)
{
	static const struct trace_site sites[] = {{.kind = TRACE_load, .space = SPACE_global, .bytes = 4},
	                                          {.kind = TRACE_load, .space = SPACE_shared, .bytes = 4}};
	struct trace_event events[ITEMS][EVENTS];
	struct lane_trace lanes[ITEMS];
	struct traced_group group = {.group = 0, .lane_count = ITEMS, .lanes = lanes};
	struct launch_trace trace = {.sites = sites, .site_count = 2, .groups = &group, .group_count = 1};
	for (uint64_t i = 0; i < ITEMS; i++) {
		events[i][0] = (struct trace_event){.what = 0};
		events[i][1] = (struct trace_event){.what = TRACE_ACCESS, .bytes = bytes, .address = base + i * stride};
		events[i][2] = (struct trace_event){.what = TRACE_ACCESS + 1, .bytes = 4, .address = i * 128};
		lanes[i] = (struct lane_trace){.events = events[i], .count = EVENTS};
	}
	return trace_glance(&trace);
}

static double sectors(uint64_t base, uint64_t stride, uint32_t bytes)
{
	return glance(base, stride, bytes).sectors;
}

/* 31 strides of 128 KiB are 2^4.95 times 128 KiB, and each line is visited once. With no stride, too: one warp reads it once. */
static void reach_is_by_powers_of_two(void)
{
	CU_ASSERT_EQUAL(glance(1ull << 40, 128 << 10, 4).reach, 5 << 8);
	CU_ASSERT_EQUAL(glance(1ull << 40, 100 << 10, 4).reach, 5 << 8); /* 2^4.6 */
	CU_ASSERT_EQUAL(glance(1ull << 40, 64 << 10, 4).reach, 4 << 8);
	CU_ASSERT_EQUAL(glance(1ull << 40, 128, 4).reach, 0);
	CU_ASSERT_EQUAL(glance(1ull << 40, 0, 4).reach, 0);
}

/* Bytes of sectors by bytes that are asked for. */
static void words_far_apart_are_spread(void)
{
	CU_ASSERT_EQUAL(glance(1ull << 40, 128, 4).spread, 8);
	CU_ASSERT_EQUAL(glance(1ull << 40, 8, 4).spread, 2);
	CU_ASSERT_EQUAL(glance(1ull << 40, 4, 4).spread, 1);
	CU_ASSERT_EQUAL(glance(1ull << 40, 0, 4).spread, 1); /* all ask for the same: not less */
}

/* Three loads of the same line by a lane are three visits of one line: 2^1.6. */
static void lines_that_come_again(void)
{
	static const struct trace_site site = {.kind = TRACE_load, .space = SPACE_global, .bytes = 4};
	struct trace_event events[3];
	struct lane_trace lane = {.events = events, .count = 3};
	struct traced_group group = {.group = 0, .lane_count = 1, .lanes = &lane};
	struct launch_trace trace = {.sites = &site, .site_count = 1, .groups = &group, .group_count = 1};
	for (int i = 0; i < 3; i++)
		events[i] = (struct trace_event){.what = TRACE_ACCESS, .bytes = 4, .address = 1ull << 40};
	CU_ASSERT_EQUAL(trace_glance(&trace).reach, 2);
}

static void neighbours_share_sectors(void)
{
	CU_ASSERT_EQUAL(sectors(1 << 20, 4, 4), (4 + 4) / 32.0);
	CU_ASSERT_EQUAL(sectors((1 << 20) + 4, 4, 4), (5 + 8) / 32.0); /* one sector and one line more */
	CU_ASSERT_EQUAL(sectors((1 << 20) + 32, 4, 4), (4 + 8) / 32.0);
	CU_ASSERT_EQUAL(sectors(1 << 20, 0, 4), (1 + 4) / 32.0);
	CU_ASSERT_EQUAL(sectors(1 << 20, 128, 4), 1 + 4);
	CU_ASSERT_EQUAL(sectors((1 << 20) + 30, 128, 4), 2 + 4); /* each lies in two */
}

static void nothing_to_access(void)
{
	struct launch_trace trace = {.group_count = 0};
	CU_ASSERT_EQUAL(trace_glance(&trace).sectors, 0);
	CU_ASSERT_EQUAL(trace_glance(&trace).reach, 0);
}

void add_trace_sectors_tests(void)
{
	CU_pSuite suite = CU_add_suite("trace_sectors", NULL, NULL);
	CU_add_test(suite, "lanes that go to the same sector share it", neighbours_share_sectors);
	CU_add_test(suite, "reach is by powers of two", reach_is_by_powers_of_two);
	CU_add_test(suite, "words far apart are spread", words_far_apart_are_spread);
	CU_add_test(suite, "lines that come again", lines_that_come_again);
	CU_add_test(suite, "a trace without accesses", nothing_to_access);
}
