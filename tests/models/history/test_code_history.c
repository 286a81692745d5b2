/* Where instructions are when a kernel is launched again. A cache of 256 instructions on 15 SMs, as GPGPU-Sim's GTX 480 has. */
#include "tests/tests.h"

#include "models/history/code_history.h"

enum { SMALL = 1, HALF, LARGE, OTHER }; /* kernels */

static const struct gpu gtx = {.sm_count = 15, .icache_line_instructions = 16, .icache_bytes = 256 * GPU_INSTRUCTION_BYTES, .icache_kept = 1};

static void test_second_launch(void)
{
	struct code_history h = {0};
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, SMALL, 40, 15), CODE_IN_DRAM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, SMALL, 40, 15), CODE_IN_SM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, LARGE, 257, 100), CODE_IN_DRAM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, LARGE, 257, 100), CODE_IN_L2); /* it does not fit */
}

/* 128 + 128 instructions fit, one more does not. The cache has the latest ones. */
static void test_others_between(void)
{
	struct code_history h = {0};
	code_history_launch(&h, &gtx, HALF, 128, 15);
	code_history_launch(&h, &gtx, OTHER, 128, 15);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, HALF, 128, 15), CODE_IN_SM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, SMALL, 1, 15), CODE_IN_DRAM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, OTHER, 128, 15), CODE_IN_L2); /* HALF and SMALL came since */
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, OTHER, 128, 15), CODE_IN_SM);
}

/* Launches of 6 groups: SMs 0 to 5, 6 to 11, 12 to 2. Then all 15 have run it. */
static void test_small_launches_go_round(void)
{
	struct code_history h = {0};
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, SMALL, 40, 6), CODE_IN_DRAM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, SMALL, 40, 6), CODE_IN_L2);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, SMALL, 40, 6), CODE_IN_L2);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, SMALL, 40, 6), CODE_IN_SM);
}

static void test_descriptions_without(void)
{
	struct code_history h = {0};
	struct gpu none = gtx, forgets = gtx;
	none.icache_line_instructions = 0;
	forgets.icache_kept = 0;
	for (int i = 0; i < 2; i++) {
		CU_ASSERT_EQUAL(code_history_launch(&h, &none, SMALL, 40, 15), CODE_IN_DRAM);
		CU_ASSERT_EQUAL(code_history_launch(&h, &forgets, SMALL, 40, 15), CODE_IN_DRAM);
	}
}

/* More kernels than are remembered. */
static void test_many_kernels(void)
{
	struct code_history h = {0};
	for (uint64_t kernel = 1; kernel <= 3 * CODE_HISTORY_KERNELS; kernel++)
		CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, kernel, 10, 15), CODE_IN_DRAM);
	CU_ASSERT_EQUAL(h.count, CODE_HISTORY_KERNELS);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, 1, 10, 15), CODE_IN_DRAM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, 3 * CODE_HISTORY_KERNELS, 10, 15), CODE_IN_SM);
	CU_ASSERT_EQUAL(code_history_launch(&h, &gtx, 2 * CODE_HISTORY_KERNELS + 3, 10, 15), CODE_IN_L2); /* the last but one that is known */
}

void add_code_history_tests(void)
{
	CU_pSuite s = CU_add_suite("code_history", NULL, NULL);
	CU_add_test(s, "the second launch finds what fits", test_second_launch);
	CU_add_test(s, "kernels launched in between", test_others_between);
	CU_add_test(s, "small launches go round the SMs", test_small_launches_go_round);
	CU_add_test(s, "descriptions without such a cache", test_descriptions_without);
	CU_add_test(s, "more kernels than are remembered", test_many_kernels);
}
