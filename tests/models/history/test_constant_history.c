/* Whether constant caches have a launch's parameters. GPGPU-Sim's GTX 480: 15 SMs, a miss takes 276 cycles where a hit takes 3. */
#include "tests/models/scene.h"
#include "tests/tests.h"

#include "models/history/constant_history.h"

static const struct gpu gtx = {.sm_count = 15, .const_kept = 1};

/* Launches of 6 groups: SMs 0 to 5, 6 to 11, 12 to 2. Then all 15 have run one. */
static void test_every_sm_misses_once(void)
{
	struct constant_history h = {0};
	for (int i = 0; i < 3; i++)
		CU_ASSERT_FALSE(constant_history_launch(&h, &gtx, 6));
	CU_ASSERT_TRUE(constant_history_launch(&h, &gtx, 1));
	CU_ASSERT_TRUE(constant_history_launch(&h, &gtx, UINT64_MAX));
}

static void test_not_kept(void)
{
	struct constant_history h = {0};
	struct gpu forgets = gtx;
	forgets.const_kept = 0;
	for (int i = 0; i < 2; i++)
		CU_ASSERT_FALSE(constant_history_launch(&h, &forgets, 15));
}

/* One warp that loads a parameter and uses it. */
static void test_a_miss_takes_its_time(void)
{
	static struct scene s;
	double cycles[2];
	for (int known = 0; known < 2; known++) {
		scene_start(&s, "gtx480", "icache_line_instructions=0");
		build_memory(&s.code, CODE_load, SPACE_param, "1 <-");
		build(&s.code, CODE_move, "2 <- 1");
		scene_exit(&s);
		s.options.hierarchy = true;
		s.options.parameters_before = known;
		cycles[known] = scene_run(&s);
	}
	CU_ASSERT_EQUAL(cycles[0] - cycles[1], 276 - 3);
}

void add_constant_history_tests(void)
{
	CU_pSuite s = CU_add_suite("constant_history", NULL, NULL);
	CU_add_test(s, "every SM misses once", test_every_sm_misses_once);
	CU_add_test(s, "descriptions whose caches forget", test_not_kept);
	CU_add_test(s, "a miss takes its time", test_a_miss_takes_its_time);
}
