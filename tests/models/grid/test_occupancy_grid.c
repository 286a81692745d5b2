/* The occupancy-vector model: grids on several SMs, extrapolation, unusual launches. */
#include "tests/tests.h"

#include "models/grid/grid.h"
#include "models/sm/variants.h"
#include "tests/models/scene.h"

#include <errno.h>
#include <math.h>

/* A kernel with many kinds of instructions: 15 instructions around a loop of 12. */
static void build_mixture(struct scene *s)
{
	build(&s->code, CODE_move, "1 <-");
	build_memory(&s->code, CODE_load, SPACE_global, "2 <- 1");
	build_block(&s->code);
	for (int i = 0; i < 6; i++)
		build(&s->code, CODE_fp32_fma, "3 <- 3 2 4");
	build_memory(&s->code, CODE_load, SPACE_shared, "5 <- 1");
	build(&s->code, CODE_sfu, "6 <- 5");
	build(&s->code, CODE_int, "7 <- 7");
	build(&s->code, CODE_move, "8 <- 7");
	build(&s->code, CODE_branch, "? 8");
	build_block(&s->code);
	build(&s->code, CODE_barrier, "");
	build_memory(&s->code, CODE_store, SPACE_global, "1 6");
	scene_exit(s);
}

static void test_more_sms_are_not_slower(void)
{
	static struct scene s;
	double before = 1e18;
	scene_start(&s, "gtx480", NULL);
	build_mixture(&s);
	scene_loop(&s, 20);
	s.groups = 61;
	s.warps = 8;
	s.resident = 6;
	for (uint32_t sms = 1; sms <= 64; sms *= 2) {
		s.gpu.sm_count = sms;
		CU_ASSERT_TRUE(scene_run(&s) <= before);
		before = s.timing.cycles;
	}
	/* If each group has an SM, more SMs do not help. */
	s.gpu.sm_count = 128;
	CU_ASSERT_EQUAL(scene_run(&s), before);
}

static double mixture_cycles(const char *overrides)
{
	static struct scene s;
	scene_start(&s, "gtx480", overrides);
	build_mixture(&s);
	scene_loop(&s, 20);
	s.groups = 24;
	s.warps = 8;
	s.resident = 6;
	return scene_run(&s);
}

static void test_more_hardware_is_not_slower(void)
{
	double usual = mixture_cycles(NULL);
	CU_ASSERT_TRUE(mixture_cycles("sfu_units=4,sfu_ports=4") < usual);
	CU_ASSERT_TRUE(mixture_cycles("fp32_units=8") <= usual * 1.01);
	CU_ASSERT_TRUE(mixture_cycles("register_banks=64") <= usual * 1.01);
	CU_ASSERT_TRUE(mixture_cycles("schedulers_per_sm=1") >= usual);
	CU_ASSERT_TRUE(mixture_cycles("fetches_per_cycle=4,sfu_units=4,sfu_ports=4,schedulers_per_sm=4") < usual);
}

/* All groups are the same, and SMs get 21 or 22 of them. One SM represents the others until they differ. */
static void test_equal_sms_are_one(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	build_mixture(&s);
	scene_loop(&s, 3);
	s.gpu.sm_count = 7;
	s.groups = 150;
	s.warps = 4;
	s.resident = 5;
	double once = scene_run(&s);
	uint32_t path_of[8] = {0, 0, 0, 0, 0, 0, 0, 1};
	struct warp_path paths[] = {{.blocks = s.path, .block_count = s.path_length},
	                            {.blocks = s.path, .block_count = s.path_length}};
	struct launch_warps launch = {.code = &s.code.code, .paths = paths, .path_count = 2, .groups = 150,
	                              .warps_per_group = 4, .path_of = path_of, .pattern_groups = 2};
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 5, &s.options, &s.timing, NULL), 0);
	CU_ASSERT_EQUAL(s.timing.cycles, once);
	CU_ASSERT_EQUAL(s.timing.warp_instructions, 150 * 4 * (2 + 3 * 11 + 3));
}

/*
 * Groups of two kinds in a pattern of five, on SMs that get 15 to 17 of them. SMs that got the same groups are simulated once.
 * In the other run, every group's paths have numbers of their own, so that no two SMs are the same. The results must agree.
 */
static void test_sms_with_equal_groups_are_one(void)
{
	enum { GROUPS = 110, WARPS = 2 };
	static const uint32_t pattern[] = {0, 1, 1, 0, 1};
	static struct scene s;
	static struct warp_path paths[GROUPS];
	static uint32_t path_of[GROUPS * WARPS];
	struct warp_timing once;
	scene_start(&s, "gtx480", NULL);
	build_mixture(&s);
	scene_loop(&s, 20);
	s.gpu.sm_count = 7;
	for (uint32_t i = 0; i < GROUPS; i++)
		paths[i] = (struct warp_path){.blocks = s.path, .block_count = pattern[i % 5] ? 9 : 21};
	struct launch_warps launch = {.code = &s.code.code, .paths = paths, .path_count = GROUPS, .groups = GROUPS,
	                              .warps_per_group = WARPS, .path_of = path_of, .pattern_groups = 5};
	for (uint32_t i = 0; i < 5 * WARPS; i++)
		path_of[i] = pattern[i / WARPS];
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 3, &s.options, &once, NULL), 0);
	for (uint32_t i = 0; i < GROUPS * WARPS; i++)
		path_of[i] = i / WARPS;
	launch.pattern_groups = GROUPS;
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 3, &s.options, &s.timing, NULL), 0);
	CU_ASSERT_EQUAL(s.timing.cycles, once.cycles);
	CU_ASSERT_EQUAL(s.timing.warp_instructions, once.warp_instructions);
	CU_ASSERT_EQUAL(s.timing.bank_conflicts, once.bank_conflicts);
}

/* The result for an SM must not depend on the simplifications that a variant makes. */
static void check_variants(const char *overrides)
{
	static ov_run_fn *const others[] = {ov_run_plain, ov_run_single, ov_run_word, ov_run_any};
	static struct scene s;
	static const uint32_t path_of[] = {0, 1, 0, 0, 1, 1};
	struct warp_options options = {.exact = true, .resolve_banks = true};
	struct ov_machine m;
	struct ov_outcome first = {0};
	scene_start(&s, "gtx480", overrides);
	build_mixture(&s);
	scene_loop(&s, 20);
	struct warp_path paths[] = {{.blocks = s.path, .block_count = s.path_length}, {.blocks = s.path, .block_count = 9}};
	struct launch_warps launch = {.code = &s.code.code, .paths = paths, .path_count = 2, .groups = 40, .warps_per_group = 3,
	                              .path_of = path_of, .pattern_groups = 2};
	struct ov_plan plan = {.groups = launch.groups, .all = launch.groups, .sm_count = 3};
	CU_ASSERT_EQUAL(ov_machine_init(&m, &s.gpu, &launch, 5, &options, NULL), 0);
	CU_ASSERT_TRUE(m.masks && m.run == (ov_has_bmi() ? ov_run_masks : ov_run_plain));
	CU_ASSERT_EQUAL(ov_simulate(&m, &plan, &first), 0);
	CU_ASSERT_TRUE(first.cycles > 0 && first.conflicts > 0);
	for (size_t i = 0; i < 2 * GS_ARRAY_LEN(others); i++) { /* with masks of registers, and without */
		struct ov_outcome again = {0};
		m.masks = i < GS_ARRAY_LEN(others);
		m.run = others[i % GS_ARRAY_LEN(others)];
		CU_ASSERT_EQUAL(ov_simulate(&m, &plan, &again), 0);
		CU_ASSERT_EQUAL(again.cycles, first.cycles);
		CU_ASSERT_EQUAL(again.instructions, first.instructions);
		CU_ASSERT_EQUAL(again.conflicts, first.conflicts);
		for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
			CU_ASSERT_EQUAL(again.by[k], first.by[k]);
	}
	ov_machine_finish(&m);
}

static void test_variants_agree(void)
{
	check_variants("scheduler_policy=gto");
	check_variants("scheduler_policy=lrr,schedulers_per_sm=1");
	check_variants("scheduler_policy=two_level,flush_at_branch=1,refill_when_empty=0");
	check_variants("scheduler_policy=oldest,completion_slots=0,fp32_collectors=0");
}

/* Groups of 1 to 16 lengths, from 4 to 19 blocks. Measures the error of extrapolation. */
static double extrapolation_error(uint64_t groups, uint32_t lengths, double *fraction)
{
	static struct scene s;
	struct warp_path paths[16];
	uint32_t path_of[16 * 8];
	scene_start(&s, "gtx480", NULL);
	build_mixture(&s);
	scene_loop(&s, 400);
	for (uint32_t i = 0; i < lengths; i++)
		paths[i] = (struct warp_path){.blocks = s.path, .block_count = 4 + 37 * i % 16};
	for (uint32_t i = 0; i < lengths * 8; i++)
		path_of[i] = i / 8;
	struct launch_warps launch = {.code = &s.code.code, .paths = paths, .path_count = lengths, .groups = groups,
	                              .warps_per_group = 8, .path_of = path_of, .pattern_groups = lengths};
	s.gpu.sm_count = 4;
	s.options.on_issue = NULL;
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 6, &s.options, &s.timing, NULL), 0);
	double exact = s.timing.cycles;
	CU_ASSERT_EQUAL(s.timing.spread, 0);
	s.options.exact = false;
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 6, &s.options, &s.timing, NULL), 0);
	*fraction = s.timing.simulated_fraction;
	CU_ASSERT_TRUE(s.timing.spread >= 0 && s.timing.spread < 0.1);
	double sum = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		sum += s.timing.by[k];
	CU_ASSERT_DOUBLE_EQUAL(sum, s.timing.cycles, 1e-6 * sum);
	double error = fabs(s.timing.cycles - exact) / exact;
	CU_ASSERT_TRUE(error <= s.timing.spread);
	return error;
}

static void test_extrapolation(void)
{
	static const struct {
		uint64_t groups;
		uint32_t lengths;
		double fraction;
	} cases[] = {{6001, 1, 0.02}, {1500, 16, 0.15}, {1499, 7, 0.15}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		double fraction, error = extrapolation_error(cases[i].groups, cases[i].lengths, &fraction);
		CU_ASSERT_TRUE(error < 0.01);
		CU_ASSERT_TRUE(fraction < cases[i].fraction);
	}
}

static void test_odd_launches(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	scene_exit(&s);
	s.groups = 0;
	CU_ASSERT_EQUAL(scene_run(&s), 0);
	/* A path without a block: the group arrives in cycle 0 and leaves in cycle 1. */
	s.groups = 1;
	s.path_length = 0;
	CU_ASSERT_EQUAL(scene_run(&s), 2);
	/* A billion groups: 8 of 1 warp take 10 cycles on an SM, as the empty kernels show. */
	s.path_length = 1;
	s.groups = 1000000000;
	s.resident = 8;
	s.options.exact = false;
	CU_ASSERT_DOUBLE_EQUAL(scene_run(&s), 1.25e9, 0.01e9);
	CU_ASSERT_EQUAL(s.timing.warp_instructions, 1000000000);
}

static void test_impossible_launches(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	scene_exit(&s);
	const uint32_t blocks[] = {0, 1}, path_of[] = {0, 1};
	struct warp_path path = {.blocks = blocks, .block_count = 1};
	struct launch_warps launch = {.code = &s.code.code, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1,
	                              .path_of = path_of, .pattern_groups = 1};
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), 0);
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 0, &s.options, &s.timing, NULL), -EINVAL);
	launch.warps_per_group = 2; /* the second one has no path */
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), -EINVAL);
	launch.warps_per_group = 1;
	path.block_count = 2; /* block 1 does not exist either */
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), -EINVAL);
	launch.path_count = 0;
	CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), -EINVAL);
}

static double starts_cycles(const char *overrides, uint64_t groups, uint32_t resident)
{
	static struct scene s;
	scene_start(&s, "gtx480", overrides);
	build_mixture(&s);
	scene_loop(&s, 20);
	s.gpu.sm_count = 1;
	s.groups = groups;
	s.warps = 2;
	s.resident = resident;
	return scene_run(&s);
}

static void test_groups_start_when_they_may(void)
{
	/* There is one place. Each of the two groups after the first starts so much later. */
	double plain = starts_cycles(NULL, 3, 1);
	CU_ASSERT_EQUAL(starts_cycles("group_turnaround=100", 3, 1) - plain, 200);
	CU_ASSERT_EQUAL(starts_cycles("group_turnaround=5000", 3, 1) - plain, 10000);
	/* There are two places, and two groups end at once. From then on, the distributor takes back one of ten in such an interval: the groups
	 * are shorter than that. */
	double alone = starts_cycles(NULL, 1, 1), two = starts_cycles(NULL, 2, 2);
	CU_ASSERT_DOUBLE_EQUAL(starts_cycles("grid_interval=20000", 10, 2), two + 10 * 20000, 10); /* the first ends some cycles before the second */
	/* An SM does not start the second of two before that. */
	CU_ASSERT_DOUBLE_EQUAL(starts_cycles("group_interval=30000", 2, 2), 30000 + alone, 2);
	/* Without these limits, two groups that fit run side by side. */
	CU_ASSERT_TRUE(two < 2 * alone);
}

/* ns that groups which do nothing take, 128 work-items each, all of which fit at once. */
static double empty_groups_ns(uint64_t groups, bool hierarchy)
{
	static struct scene s;
	scene_start(&s, "h200", NULL);
	scene_exit(&s);
	s.gpu.sm_count = 132;
	s.options.on_issue = NULL;
	s.options.hierarchy = hierarchy;
	s.groups = groups;
	s.warps = 4;
	s.resident = 16;
	return scene_run(&s) * 1000 / s.gpu.clock_mhz;
}

/* Launches of 1, 132, 528, 1056 and 2112 such groups take an H200 1440, 1504, 1728, 2064 and 2688 ns (docs/notes/groups.md), in steps of 32. */
static void test_groups_are_taken_back_in_turn(void)
{
	static const struct {
		uint64_t groups;
		double ns;
	} measured[] = {{132, 1504}, {528, 1728}, {1056, 2064}, {2112, 2688}};
	for (int hierarchy = 0; hierarchy <= 1; hierarchy++) {
		double one = empty_groups_ns(1, hierarchy);
		for (size_t i = 0; i < GS_ARRAY_LEN(measured); i++)
			CU_ASSERT_DOUBLE_EQUAL(empty_groups_ns(measured[i].groups, hierarchy) - one, measured[i].ns - 1440, 32);
	}
}

/* Cycles per instruction of a scheduler with 16 warps. The numbers in brackets are those of an H200 in the same case. */
static double cycles_per_fma(const char *a, const char *b, double *conflicts)
{
	static struct scene s;
	enum { TIMES = 400 };
	scene_start(&s, "h200", NULL);
	build(&s.code, CODE_move, "1 <-");
	build_block(&s.code);
	for (int i = 0; i < 16; i++)
		build(&s.code, CODE_fp32_fma, i % 2 ? b : a);
	build(&s.code, CODE_branch, "");
	build_block(&s.code);
	scene_exit(&s);
	scene_loop(&s, TIMES);
	s.gpu.sm_count = 1;
	s.groups = 1;
	s.warps = 64;
	s.resident = 1;
	double cycles = scene_run(&s);
	*conflicts = s.timing.bank_conflicts;
	return cycles / (16.0 * 16 * TIMES) - 1 / 16.0;
}

static void test_registers_are_read_through_ports(void)
{
	double conflicts;
	CU_ASSERT_DOUBLE_EQUAL(cycles_per_fma("3 <- 3 4 5", "3 <- 3 4 5", &conflicts), 2, 0.1); /* a chain, three registers (1.99) */
	CU_ASSERT_TRUE(conflicts > 4 * 16 * 16 * 300); /* nearly each of the 4 * 16 * 16 * 400 waits a cycle */
	CU_ASSERT_DOUBLE_EQUAL(cycles_per_fma("3 <- 3 3 5", "3 <- 3 3 5", &conflicts), 1, 0.1); /* two, of both banks (1.04) */
	CU_ASSERT_DOUBLE_EQUAL(cycles_per_fma("3 <- 3 4 5", "6 <- 6 4 5", &conflicts), 1, 0.15); /* two chains: two operands are there (1.03) */
}

void add_occupancy_grid_tests(void)
{
	CU_pSuite s = CU_add_suite("occupancy vector: grids", NULL, NULL);
	CU_add_test(s, "more SMs are not slower", test_more_sms_are_not_slower);
	CU_add_test(s, "more hardware is not slower", test_more_hardware_is_not_slower);
	CU_add_test(s, "one SM stands for its equals, exactly", test_equal_sms_are_one);
	CU_add_test(s, "one SM stands for those with the same groups", test_sms_with_equal_groups_are_one);
	CU_add_test(s, "variants of the stages do the same", test_variants_agree);
	CU_add_test(s, "groups start when they may", test_groups_start_when_they_may);
	CU_add_test(s, "groups are taken back one after the other", test_groups_are_taken_back_in_turn);
	CU_add_test(s, "registers are read through ports", test_registers_are_read_through_ports);
	CU_add_test(s, "extrapolation loses less than 1%", test_extrapolation);
	CU_add_test(s, "no groups, no instructions, a billion groups", test_odd_launches);
	CU_add_test(s, "impossible launches are refused", test_impossible_launches);
}
