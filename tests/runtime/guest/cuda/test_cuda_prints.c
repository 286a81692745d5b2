/* What kernels print, and which groups of a launch are traced. */
#include "tests/tests.h"

#include "runtime/guest/cuda/groups.h"
#include "runtime/guest/cuda/prints.h"

#include <stdlib.h>
#include <string.h>

static struct {
	struct lifted_prints head;
	uint64_t words[128];
} buffer;

static void add_record(const char *format, size_t count, const uint64_t *arguments)
{
	uint64_t *at = buffer.words + buffer.head.used / 8;
	at[0] = 16 + 8 * count;
	at[1] = (uint64_t)(uintptr_t)format;
	if (count)
		memcpy(at + 2, arguments, 8 * count);
	buffer.head.used += at[0];
}

static uint64_t bits_of(double value)
{
	uint64_t word;
	memcpy(&word, &value, sizeof word);
	return word;
}

static void check(const char *expected)
{
	struct gs_buf text = {0};
	prints_format(&buffer.head, &text);
	CU_ASSERT_STRING_EQUAL(text.data ? text.data : "", expected);
	gs_buf_free(&text);
	memset(&buffer, 0, sizeof buffer);
	buffer.head.room = sizeof buffer.words;
}

static void numbers_and_strings_are_formatted_as_by_printf(void)
{
	buffer.head.room = sizeof buffer.words;
	add_record("thread %d of %u: %f\n", 3, (const uint64_t[]){(uint32_t)-5, 0xffffffffu, bits_of(1.5)});
	add_record("%-4d|%04x|%+.2e|%s|%c|%5s|\n", 6,
	           (const uint64_t[]){7, 255, bits_of(0.125), (uint64_t)(uintptr_t)"text", 'z', (uint64_t)(uintptr_t)"ab"});
	check("thread -5 of 4294967295: 1.500000\n7   |00ff|+1.25e-01|text|z|   ab|\n");
	add_record("%lld %llu %hhd %hu %zx %*d|%-*d|%.*f %%\n", 11,
	           (const uint64_t[]){UINT64_MAX, UINT64_MAX, 0x1ff, 0x12345, UINT64_C(1) << 40, 3, 1, 3, 2, 1, bits_of(2.25)});
	check("-1 18446744073709551615 -1 9029 10000000000   1|2  |2.2 %\n");
}

static void bad_formats_do_no_harm(void)
{
	buffer.head.room = sizeof buffer.words;
	add_record("%n %s %d", 2, (const uint64_t[]){0, 0});
	check("%n %s 0"); /* %n takes nothing: the first argument is that of %s, which has no string */
	add_record("%d %d|", 1, (const uint64_t[]){1});
	check("1 %d|");
	add_record("%", 0, NULL);
	add_record("100%", 0, NULL);
	add_record("%99999999d|%y", 1, (const uint64_t[]){1});
	struct gs_buf text = {0};
	prints_format(&buffer.head, &text);
	CU_ASSERT_EQUAL(text.len, 1 + 4 + 4096 + 1 + 2);
	gs_buf_free(&text);
	memset(&buffer, 0, sizeof buffer);
}

static void records_that_do_not_fit_are_left_out(void)
{
	buffer.head.room = 40;
	add_record("a\n", 0, NULL);
	add_record("b\n", 0, NULL);
	buffer.head.used += 1000; /* others found no room */
	check("a\nb\n");
	buffer.head.room = sizeof buffer.words;
	add_record("a\n", 0, NULL);
	buffer.words[2] = 7; /* no record is that short */
	buffer.head.used += 16;
	check("a\n");
}

static void every_group_is_in_one_list(void)
{
	const uint64_t grid[3] = {7, 5, 3};
	struct boxes boxes;
	struct group_lists lists;
	int times[7 * 5 * 3] = {0};
	boxes_choose(grid, 20, 42, NULL, &boxes);
	CU_ASSERT_FATAL(groups_divide(&boxes, grid, &lists));
	CU_ASSERT_EQUAL(lists.traced_count, boxes.traced_groups);
	CU_ASSERT_EQUAL(lists.traced_count + lists.other_count, 105);
	CU_ASSERT_EQUAL(lists.traced[0], 0); /* the first box has the first group */
	for (size_t i = 0; i < lists.traced_count; i++)
		times[lists.traced[i]]++;
	for (size_t i = 0; i < lists.other_count; i++)
		times[lists.others[i]] += 10;
	for (int i = 0; i < 105; i++)
		CU_ASSERT(times[i] == 1 || times[i] == 10);
	free(lists.traced);
	CU_ASSERT(!groups_divide(&boxes, (const uint64_t[3]){1 << 30, 4, 1}, &lists));
}

static void groups_that_run_together_are_marked(void)
{
	const uint64_t grid[3] = {7, 5, 3};
	struct boxes boxes;
	struct group_lists divided, marked;
	uint64_t traced = 0;
	boxes_choose(grid, 20, 42, NULL, &boxes);
	CU_ASSERT_FATAL(groups_divide(&boxes, grid, &divided) && groups_mark(&boxes, grid, &marked));
	CU_ASSERT_EQUAL(marked.traced_count, 105);
	for (uint32_t i = 0; i < 105; i++) {
		CU_ASSERT_EQUAL(marked.traced[i] & ~LIFTED_TRACED, i);
		traced += marked.traced[i] >> 31;
	}
	CU_ASSERT_EQUAL(traced, divided.traced_count);
	for (size_t i = 0; i < divided.traced_count; i++)
		CU_ASSERT(marked.traced[divided.traced[i]] & LIFTED_TRACED);
	free(divided.traced);
	free(marked.traced);
}

/* A group that begins when another one has ended comes to its instructions after it: 50 groups apart or more, the order stays. The first 50 begin
 * at once and have ended when group 99 begins. Any of them may be first: about half of 1225 pairs change their order. */
static void groups_come_in_the_order_of_a_gpu(void)
{
	enum { COUNT = 200, HELD = 50 };
	const uint64_t grid[3] = {20, 10, 1};
	struct group_lists lists;
	uint32_t place[COUNT] = {0}, changed = 0;
	CU_ASSERT_FATAL(groups_list(grid, true, &lists));
	CU_ASSERT(lists.traced_count == COUNT && lists.other_count == 0);
	CU_ASSERT(groups_mix(lists.traced, COUNT, HELD));
	for (uint32_t i = 0; i < COUNT; i++)
		place[lists.traced[i]] += i + 1;
	for (uint32_t i = 0; i < COUNT; i++) {
		CU_ASSERT(place[i] >= 1 && place[i] <= COUNT);
		for (uint32_t j = (i < HELD ? HELD - 1 : i) + HELD; j < COUNT; j++)
			CU_ASSERT(place[i] < place[j]);
		for (uint32_t j = i + 1; j < HELD; j++)
			changed += place[i] > place[j];
	}
	CU_ASSERT(changed > 1225 * 2 / 5 && changed < 1225 * 3 / 5);
	free(lists.traced);
	CU_ASSERT_FATAL(groups_list(grid, false, &lists));
	CU_ASSERT(lists.traced_count == 0 && lists.other_count == COUNT);
	CU_ASSERT(groups_mix(lists.others, COUNT, 1)); /* one after the other */
	for (uint32_t i = 0; i < COUNT; i++)
		CU_ASSERT_EQUAL(lists.others[i], i);
	free(lists.traced);
}

void add_cuda_prints_tests(void)
{
	CU_pSuite s = CU_add_suite("cuda_prints", NULL, NULL);
	CU_add_test(s, "numbers and strings are formatted as by printf", numbers_and_strings_are_formatted_as_by_printf);
	CU_add_test(s, "bad formats do no harm", bad_formats_do_no_harm);
	CU_add_test(s, "records that do not fit are left out", records_that_do_not_fit_are_left_out);
	CU_add_test(s, "every group of a launch is in one list", every_group_is_in_one_list);
	CU_add_test(s, "groups that run together are marked", groups_that_run_together_are_marked);
	CU_add_test(s, "groups come in the order of a GPU", groups_come_in_the_order_of_a_gpu);
}
