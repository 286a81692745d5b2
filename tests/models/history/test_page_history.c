/* How long launches wait for pages of managed memory. */
#include "tests/tests.h"

#include "models/history/page_history.h"

enum { MIB = 1 << 20, KIB = 1 << 10 };
static const struct gpu gpu = {.sm_count = 100, .page_block_ns = 60000, .page_gbps = 10, .page_crowd_ns = 100000};

static double waits(struct page_history *h, uint64_t groups, struct page_use use)
{
	return page_history_launch(h, &gpu, groups, &use, 1);
}

/* 3 MiB: two blocks, 3145728 bytes at 10 bytes a ns. One group: a hundredth of the SMs. */
static void pages_of_the_processor_come_once(void)
{
	struct page_history h = {0};
	const struct page_use use = {.buffer = 1, .bytes = 8 * MIB, .asked = 8 * MIB, .touched = 3 * MIB}, again = {.buffer = 1, .bytes = 8 * MIB, .asked = 8 * MIB};
	CU_ASSERT_DOUBLE_EQUAL(waits(&h, 1, use), 120000 + 314572.8 + 1000, 1e-6);
	CU_ASSERT_EQUAL(waits(&h, 1, again), 0);
	CU_ASSERT_DOUBLE_EQUAL(waits(&h, 1000, use), 120000 + 314572.8 + 100000, 1e-6);
}

/* Of 4 MiB the launch asks for 1 MiB; the rest stays for those after it: 3 MiB, and what the processor used again. */
static void what_a_launch_does_not_ask_for_stays(void)
{
	struct page_history h = {0};
	CU_ASSERT_DOUBLE_EQUAL(waits(&h, 100, (struct page_use){1, 4 * MIB, 1 * MIB, 4 * MIB, 0}), 60000 + 104857.6 + 100000, 1e-6);
	CU_ASSERT_EQUAL(waits(&h, 100, (struct page_use){2, 4 * MIB, 4 * MIB, 0, 0}), 0);
	CU_ASSERT_DOUBLE_EQUAL(waits(&h, 100, (struct page_use){1, 4 * MIB, 4 * MIB, 1 * MIB, 0}), 120000 + 419430.4 + 100000, 1e-6);
	CU_ASSERT_EQUAL(waits(&h, 100, (struct page_use){1, 4 * MIB, 4 * MIB, 0, 0}), 0);
}

/* One page of each of two small buffers: pieces of 64 KB, one block. */
static void small_buffers_share_blocks(void)
{
	struct page_history h = {0};
	const struct page_use uses[] = {{1, 8 * KIB, 8 * KIB, 4 * KIB, 0}, {2, 8 * KIB, 8 * KIB, 4 * KIB, 0}};
	CU_ASSERT_DOUBLE_EQUAL(page_history_launch(&h, &gpu, 100, uses, 2), 60000 + 13107.2 + 100000, 1e-6);
}

/* Large buffers that nobody has used have no pages yet; small ones are in a block that is there. */
static void pages_that_nobody_used(void)
{
	struct page_history h = {0};
	CU_ASSERT_EQUAL(waits(&h, 100, (struct page_use){1, 512 * KIB, 512 * KIB, 0, 512 * KIB}), 0);
	CU_ASSERT_DOUBLE_EQUAL(waits(&h, 100, (struct page_use){2, 2 * MIB, 2 * MIB, 0, 2 * MIB}), 60000 + 209715.2 + 100000, 1e-6);
}

/* More buffers than there is room for wait at once: those beyond are forgotten, not counted twice. */
static void there_is_room_for_so_many_buffers(void)
{
	struct page_history h = {0};
	for (uint64_t b = 1; b <= PAGE_HISTORY_BUFFERS + 5; b++)
		waits(&h, 100, (struct page_use){b, 4 * MIB, 1 * MIB, 4 * MIB, 0});
	CU_ASSERT_EQUAL(h.count, PAGE_HISTORY_BUFFERS);
	CU_ASSERT_EQUAL(waits(&h, 100, (struct page_use){PAGE_HISTORY_BUFFERS + 1, 4 * MIB, 4 * MIB, 0, 0}), 0);
}

void add_page_history_tests(void)
{
	CU_pSuite s = CU_add_suite("page_history", NULL, NULL);
	CU_add_test(s, "pages of the processor come once", pages_of_the_processor_come_once);
	CU_add_test(s, "what a launch does not ask for stays", what_a_launch_does_not_ask_for_stays);
	CU_add_test(s, "small buffers share blocks", small_buffers_share_blocks);
	CU_add_test(s, "pages that nobody used", pages_that_nobody_used);
	CU_add_test(s, "there is room for so many buffers", there_is_room_for_so_many_buffers);
}
