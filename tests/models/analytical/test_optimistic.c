/* The analytical models: paths, waves and resources, and their fixed points. */
#include "tests/tests.h"

#include "tests/models/code_builder.h"
#include "models/full.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A launch whose warps all take one path. */
struct built_launch {
	struct launch_warps warps;
	struct warp_path path;
	uint32_t path_of[64];
};

static void launch_all(struct built_launch *l, const struct built_code *b, const uint32_t *blocks, size_t count,
                       uint64_t groups, uint32_t warps_per_group)
{
	memset(l, 0, sizeof *l);
	l->path = (struct warp_path){.blocks = blocks, .block_count = count};
	l->warps = (struct launch_warps){.code = &b->code,
	                                 .paths = &l->path,
	                                 .path_count = 1,
	                                 .groups = groups,
	                                 .warps_per_group = warps_per_group,
	                                 .path_of = l->path_of,
	                                 .pattern_groups = 1};
}

static const uint32_t only_block[] = {0};

static void check_sum(const double by[CYCLE_KIND_COUNT], double cycles)
{
	double sum = 0;
	for (int k = 0; k < CYCLE_KIND_COUNT; k++) {
		CU_ASSERT(by[k] >= 0);
		sum += by[k];
	}
	CU_ASSERT_DOUBLE_EQUAL(sum, cycles, 1e-9 * cycles);
}

static struct optimistic_timing optimistic(const struct gpu *gpu, const struct built_launch *l, uint32_t blocks_per_sm)
{
	struct optimistic_timing t;
	CU_ASSERT_EQUAL_FATAL(model_optimistic(gpu, &l->warps, blocks_per_sm, NULL, &t, NULL), 0);
	check_sum(t.by, t.cycles);
	return t;
}

static struct probabilistic_timing probabilistic(const struct gpu *gpu, const struct built_launch *l,
                                                 uint32_t blocks_per_sm, double start)
{
	struct probabilistic_timing t;
	const struct fixed_point_options options = {.start_cycles = start};
	CU_ASSERT_EQUAL_FATAL(model_probabilistic(gpu, &l->warps, blocks_per_sm, &options, &t, NULL), 0);
	check_sum(t.timing.by, t.timing.cycles);
	return t;
}

/* fma_chain's loop: 8 dependent fma, add, setp, @p bra; then bra.uni back. */
static void build_fma_loop(struct built_code *b)
{
	build_start(b);
	for (int i = 0; i < 8; i++)
		build(b, CODE_fp32_fma, "22 <- 22 9 10");
	build(b, CODE_int, "12 <- 12");
	build(b, CODE_move, "3 <- 12");
	build(b, CODE_branch, "? 3")->flags = CODE_CONDITIONAL;
	build_block(b);
	build(b, CODE_branch, "");
}

/* 77 cycles the first time, 73 each further time (tests/models/code/test_costs.c). 6 fetches each time, and one useless fetch at
 * each jump back. */
static void test_one_warp_takes_its_path(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1,completion_slots=0");
	struct built_code b;
	struct built_launch l;
	uint32_t path[2000];
	for (uint32_t i = 0; i < 2000; i++)
		path[i] = i % 2;
	build_fma_loop(&b);
	launch_all(&l, &b, path, 6, 1, 1);
	struct optimistic_timing t = optimistic(&gpu, &l, 1);
	CU_ASSERT_EQUAL(t.cycles, 77 + 2 * 73);
	CU_ASSERT_EQUAL(t.limiter, LIMIT_latency);
	CU_ASSERT_EQUAL(t.limits[RESOURCE_fetch], 3 * 6 + 2);
	CU_ASSERT_EQUAL(t.limits[RESOURCE_issue], 3 * 12); /* one warp keeps one scheduler busy */
	CU_ASSERT_EQUAL(t.limits[RESOURCE_fp32], 3 * 12 / 2.0);
	CU_ASSERT_EQUAL(t.warp_instructions, 3 * 12);
	CU_ASSERT_EQUAL(t.register_reads, 3 * (8 * 3 + 2));
	CU_ASSERT_EQUAL(t.register_writes, 3 * 10);
	launch_all(&l, &b, path, 2000, 1, 1);
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 1).cycles, 77 + 999 * 73);
}

static void random_instruction(struct built_code *b, uint32_t *random)
{
	static const enum code_class classes[] = {CODE_int,  CODE_int_mul, CODE_fp32,  CODE_fp32_fma, CODE_fp32_minmax,
	                                          CODE_sfu,  CODE_logic,   CODE_move,  CODE_load,     CODE_load,
	                                          CODE_store};
	static const char *const operands[] = {"%u <- %u %u", "%u <- %u", "%u <- %u %u %u"};
	char text[32];
	enum code_class class = classes[next_random(random) % GS_ARRAY_LEN(classes)];
	snprintf(text, sizeof text, operands[next_random(random) % 3], next_random(random) % 12, next_random(random) % 12,
	         next_random(random) % 12, next_random(random) % 12);
	if (class == CODE_load)
		build_memory(b, class, next_random(random) % 2 ? SPACE_global : SPACE_shared, "4 <- 5");
	else if (class == CODE_store)
		build_memory(b, class, SPACE_global, "<- 6 7");
	else
		build(b, class, text);
}

static void random_code(struct built_code *b, uint32_t *random)
{
	build_start(b);
	for (int block = 0; block < 5; block++) {
		if (block)
			build_block(b);
		for (uint32_t i = 0; i <= next_random(random) % 9; i++)
			random_instruction(b, random);
	}
}

/* States at the ends of blocks form an automaton. It must not change the longest path of the whole. */
static void test_path_is_the_graph_of_all_its_blocks(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1");
	uint32_t random = 7;
	for (int round = 0; round < 50; round++) {
		struct built_code b;
		struct built_launch l;
		struct block_cost whole;
		uint32_t path[300];
		random_code(&b, &random);
		for (size_t i = 0; i < GS_ARRAY_LEN(path); i++)
			path[i] = next_random(&random) % 3 ? next_random(&random) % 5 : i ? (path[i - 1] + 1) % 5 : 0;
		launch_all(&l, &b, path, GS_ARRAY_LEN(path), 1, 1);
		CU_ASSERT_EQUAL_FATAL(pipeline_block_cost(&gpu, &b.code, path, GS_ARRAY_LEN(path), NULL, &whole), 0);
		struct optimistic_timing t = optimistic(&gpu, &l, 1);
		CU_ASSERT_EQUAL(t.cycles, whole.latency);
		CU_ASSERT_EQUAL(t.limits[RESOURCE_fetch], whole.busy[RESOURCE_fetch]);
	}
}

/* 40 blocks in any order, each with a result that takes long. These are more states than are kept. States beyond the limit
 * forget the results that are on their way, so they do not wait for them. */
static void test_path_with_too_many_states(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1,fp32_latency=100");
	struct built_code b;
	struct built_launch l;
	struct block_cost whole;
	static uint32_t path[20000];
	uint32_t random = 3;
	build_start(&b);
	for (unsigned i = 0; i < 40; i++) {
		char text[32];
		snprintf(text, sizeof text, "%u <- 50", i);
		if (i)
			build_block(&b);
		build(&b, CODE_fp32, text);
	}
	for (size_t i = 0; i < GS_ARRAY_LEN(path); i++)
		path[i] = next_random(&random) % 40;
	launch_all(&l, &b, path, GS_ARRAY_LEN(path), 1, 1);
	CU_ASSERT_EQUAL_FATAL(pipeline_block_cost(&gpu, &b.code, path, GS_ARRAY_LEN(path), NULL, &whole), 0);
	double cycles = optimistic(&gpu, &l, 1).cycles;
	CU_ASSERT(cycles < whole.latency && cycles > 3 * GS_ARRAY_LEN(path) * 0.9);
}

static void build_independent(struct built_code *b, enum code_class class, int count)
{
	static const char *const operands[] = {"10 <- 1", "11 <- 1", "12 <- 1", "13 <- 1", "14 <- 1", "15 <- 1", "16 <- 1"};
	build_start(b);
	for (int i = 0; i < count; i++)
		build(b, class, operands[i % 7]);
}

/*
 * 4 special functions of 8 cycles, 8 warps: 256 cycles a group, 1536 a wave of 6. A warp alone issues them at 2, 3, 5, 6. The
 * unit starts them at 6, 14, 22, 30. They are done at 40.
 */
static void test_resource_limits_full_waves(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1");
	struct built_code b;
	struct built_launch l;
	build_independent(&b, CODE_sfu, 4);
	launch_all(&l, &b, only_block, 1, 60, 8);
	struct optimistic_timing t = optimistic(&gpu, &l, 6);
	CU_ASSERT_EQUAL(t.cycles, 10 * 1536);
	CU_ASSERT_EQUAL(t.limiter, RESOURCE_sfu);
	CU_ASSERT_STRING_EQUAL(limit_name(t.limiter), "sfu");
	CU_ASSERT_EQUAL(t.waves, 10);
	CU_ASSERT_EQUAL(t.resident_groups, 6);
	CU_ASSERT_EQUAL(t.limits[RESOURCE_issue], 60 * 8 * 4 / 2);
	CU_ASSERT_EQUAL(t.limits[RESOURCE_fetch], 60 * 8 * 2);
	CU_ASSERT_EQUAL(t.limits[RESOURCE_collector], 60 * 8 * 4 * 2 / 8.0); /* 8 collectors are for special functions */
	CU_ASSERT_EQUAL(t.limits[RESOURCE_writeback], 60 * 8 * 4 / 2);
	CU_ASSERT_EQUAL(t.limits[LIMIT_latency], 10 * 40);
	/* Issue takes 960, and fetch the same. The unit takes the rest. */
	CU_ASSERT_EQUAL(t.by[CYCLES_issue], 960);
	CU_ASSERT_EQUAL(t.by[CYCLES_fetch], 0);
	CU_ASSERT_EQUAL(t.by[CYCLES_unit_sfu], 15360 - 960);
	/* 15 SMs: 4 groups each, all at once. */
	gpu = test_gpu("gtx480", NULL);
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 6).cycles, 4 * 256);
}

/* Groups of one warp: 40 cycles alone, 32 of the unit. 2 at once take 64. The last of 5 is alone: 64 + 64 + 40. */
static void test_last_wave_has_fewer_warps(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1");
	struct built_code b;
	struct built_launch l;
	build_independent(&b, CODE_sfu, 4);
	launch_all(&l, &b, only_block, 1, 5, 1);
	struct optimistic_timing t = optimistic(&gpu, &l, 2);
	CU_ASSERT_EQUAL(t.cycles, 2 * 64 + 40);
	CU_ASSERT_EQUAL(t.waves, 2.5);
	CU_ASSERT_EQUAL(t.by[CYCLES_tail], 40 - 32); /* its share of a full wave would be 32 */
	/* One at a time: only latency counts. The same holds for a group that does not fit. */
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 1).cycles, 5 * 40);
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 0).cycles, 5 * 40);
	/* 3 SMs: two of them get 2 groups. 5 SMs or more: one each. */
	gpu = test_gpu("gtx480", "sm_count=3");
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 2).cycles, 64);
	gpu = test_gpu("gtx480", "sm_count=7");
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 2).cycles, 40);
}

/* Accesses of the path: 4 + 1 for each of 8 warps in 6 groups. If the description has no number for a load, it takes 1. */
static void test_accesses_occupy_the_load_store_unit(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1");
	struct built_code b;
	struct built_launch l;
	const uint16_t accesses[] = {4, 1}, usual[] = {7, 0};
	build_start(&b);
	build_memory(&b, CODE_load, SPACE_global, "1 <- 2");
	build_memory(&b, CODE_load, SPACE_global, "3 <- 4");
	launch_all(&l, &b, only_block, 1, 6, 8);
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 6).limits[RESOURCE_ldst], 2 * 48);
	l.path.accesses = accesses;
	l.path.access_count = 2;
	struct optimistic_timing t = optimistic(&gpu, &l, 6);
	CU_ASSERT_EQUAL(t.limits[RESOURCE_ldst], 5 * 48);
	CU_ASSERT_EQUAL(t.cycles, 5 * 48);
	/* Alone: issued at 2 and 3. The second starts when the first has left the unit, at 6 + 4, and takes 35. */
	CU_ASSERT_EQUAL(t.limits[LIMIT_latency], 10 + 35);
	/* 4 and 1: mean 2.5, mean square 8.5, so 8.5 / 6.25 - 1. */
	struct launch_costs costs;
	CU_ASSERT_EQUAL_FATAL(launch_costs(&gpu, &l.warps, &costs, NULL), 0);
	CU_ASSERT_DOUBLE_EQUAL(costs.ldst_variation, 0.36, 1e-9);
	launch_costs_free(&costs);
	l.path.accesses = NULL;
	l.warps.usual_accesses = usual;
	CU_ASSERT_EQUAL(optimistic(&gpu, &l, 6).limits[RESOURCE_ldst], 8 * 48);
}

/* Groups of 3, 1, 3, 1 instructions on 2 SMs. If groups go round the SMs, SM 0 gets 6 of 8, which is 3 average groups. If an SM
 * takes one at a time, the third goes to SM 1, which has done 1, and the fourth to SM 0: 4 each, 2 average groups. */
static void test_busiest_sm(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=2");
	struct built_code b;
	struct launch_costs c;
	const uint32_t long_path[] = {0, 0, 0}, path_of[] = {0, 1};
	const struct warp_path paths[] = {{.blocks = long_path, .block_count = 3}, {.blocks = only_block, .block_count = 1}};
	build_independent(&b, CODE_sfu, 1);
	struct launch_warps w = {.code = &b.code, .paths = paths, .path_count = 2, .groups = 4, .warps_per_group = 1,
	                         .path_of = path_of, .pattern_groups = 2};
	CU_ASSERT_EQUAL_FATAL(launch_costs(&gpu, &w, &c, NULL), 0);
	CU_ASSERT_EQUAL(c.path_warps[0], 2);
	CU_ASSERT_EQUAL(c.total.instructions, 8);
	CU_ASSERT_EQUAL(busiest_sm_groups(&gpu, &w, &c, 2), 3);
	CU_ASSERT_EQUAL(busiest_sm_groups(&gpu, &w, &c, 1), 2);
	w.groups = 3; /* the pattern's first group comes twice */
	launch_costs_free(&c);
	CU_ASSERT_EQUAL_FATAL(launch_costs(&gpu, &w, &c, NULL), 0);
	CU_ASSERT_EQUAL(c.path_warps[0], 2);
	CU_ASSERT_EQUAL(c.path_warps[1], 1);
	launch_costs_free(&c);
}

/* Instructions per cycle of GPGPU-Sim's two SP units for mixes of 32 instructions and a loop's add, setp and bra. */
static void test_units_that_complete_one_per_cycle(void)
{
	static const struct {
		enum code_class mix[8];
		int length;
		double ipc;
	} cases[] = {
		{{CODE_fp32_fma}, 1, 1.93},
		{{CODE_fp32}, 1, 1.67},
		{{CODE_fp32, CODE_fp32_fma}, 2, 1.52},
		{{CODE_fp32, CODE_fp32, CODE_fp32_fma}, 3, 1.42},
		{{CODE_fp32, CODE_fp32, CODE_fp32, CODE_fp32, CODE_fp32, CODE_fp32, CODE_fp32, CODE_fp32_fma}, 8, 1.41},
		{{CODE_fp32, CODE_int_mul}, 2, 1.30},
		{{CODE_fp32, CODE_fp32, CODE_fp32, CODE_int_mul}, 4, 1.48},
		{{CODE_int_minmax, CODE_move}, 2, 1.20},
		{{CODE_int_minmax, CODE_move, CODE_move, CODE_move}, 4, 1.42},
		{{CODE_int_mul}, 1, 1.03},
		{{CODE_int_minmax}, 1, 1.02},
	};
	struct gpu gpu = test_gpu("gtx480", NULL), other = test_gpu("gtx480", "completion_slots=0");
	const double once[] = {1};
	for (size_t n = 0; n < GS_ARRAY_LEN(cases); n++) {
		struct built_code b;
		build_start(&b);
		for (int i = 0; i < 32; i++)
			build(&b, cases[n].mix[i % cases[n].length], "1 <- 2 3");
		build(&b, CODE_int, "4 <- 4");
		build(&b, CODE_move, "5 <- 4");
		build(&b, CODE_branch, "? 5");
		double cycles;
		CU_ASSERT_EQUAL(unit_cycles_per_instruction(&gpu, &b.code, once, RESOURCE_fp32, &cycles), 0);
		CU_ASSERT_DOUBLE_EQUAL(1 / cycles, cases[n].ipc, 0.04 * cases[n].ipc);
		CU_ASSERT(!unit_cycles_per_instruction(&other, &b.code, once, RESOURCE_fp32, &cycles) && cycles == 0);
		CU_ASSERT(!unit_cycles_per_instruction(&gpu, &b.code, once, RESOURCE_sfu, &cycles) && cycles == 0);
	}
	/* Equal latencies never meet. */
	struct built_code b;
	build_independent(&b, CODE_fp32_minmax, 8);
	double cycles;
	CU_ASSERT(!unit_cycles_per_instruction(&gpu, &b.code, once, RESOURCE_fp32, &cycles) && cycles == 0);
}

/* One resource of 10 cycles and nothing else: n warps take 10 n. Without a resource: the latency. */
static void test_contention(void)
{
	const double ten = 10, none = 0, one = 1, balanced[] = {10, 10};
	CU_ASSERT_DOUBLE_EQUAL(contention_cycles(&ten, NULL, 1, 10, 7), 70, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(contention_cycles(&none, NULL, 1, 25, 7), 25, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(contention_cycles(&ten, NULL, 1, 100, 1), 100, 1e-9);
	/* Two warps, latency 100. 10 of it are at the resource. The other warp holds the resource a tenth of the time, for 5 more
	 * cycles. */
	CU_ASSERT_DOUBLE_EQUAL(contention_cycles(&ten, NULL, 1, 100, 2), 100.5, 1e-9);
	/* Services of different lengths, variance = mean^2. A warp that comes meets long services more often: 10 cycles are left. */
	CU_ASSERT_DOUBLE_EQUAL(contention_cycles(&ten, &one, 1, 100, 2), 101, 1e-9);
	/* Many warps: the busiest resource. */
	CU_ASSERT_DOUBLE_EQUAL(contention_cycles(&ten, NULL, 1, 100, 1000), 10000, 1e-6);
	CU_ASSERT(contention_cycles(balanced, NULL, 2, 20, 4) > 40);
	CU_ASSERT(contention_cycles(balanced, NULL, 2, 20, 4) < 60);
	CU_ASSERT_EQUAL(contention_cycles(&ten, NULL, 1, 10, 0), 0);
}

/* Three different operands each, all independent: many reads per cycle, and two collectors to wait in. */
static void build_reader(struct built_code *b)
{
	static const char *const operands[] = {"20 <- 1 2 3", "21 <- 4 5 6", "22 <- 7 8 9", "23 <- 10 11 12"};
	build_start(b);
	for (int i = 0; i < 32; i++)
		build(b, CODE_fp32_fma, operands[i % 4]);
}

static void test_fixed_point_from_below_and_above(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1,fp32_collectors=4");
	struct built_code b;
	struct built_launch l;
	build_reader(&b);
	launch_all(&l, &b, only_block, 1, 60, 8);
	struct probabilistic_timing t = probabilistic(&gpu, &l, 6, 0);
	/* Collectors: 2 cycles for each of 480 * 32 instructions, in 4 collectors. Conflicts add to this. */
	CU_ASSERT_EQUAL(t.optimistic_cycles, 480 * 32 * 2 / 4.0);
	CU_ASSERT(t.timing.cycles > 1.05 * t.optimistic_cycles);
	CU_ASSERT_EQUAL(t.timing.limiter, RESOURCE_collector);
	CU_ASSERT(t.timing.by[CYCLES_bank_conflicts] > 0.05 * t.optimistic_cycles);
	CU_ASSERT(t.register_bank_conflicts > 0 && t.extra.read_cycles > 0);
	CU_ASSERT(t.fixed_point.converged && t.fixed_point.count <= 20);
	CU_ASSERT_EQUAL(t.fixed_point.history[0], t.optimistic_cycles);
	const double starts[] = {1, t.optimistic_cycles / 3, 3 * t.timing.cycles, 1e12, INFINITY};
	for (size_t i = 0; i < GS_ARRAY_LEN(starts); i++) {
		struct probabilistic_timing other = probabilistic(&gpu, &l, 6, starts[i]);
		CU_ASSERT(other.fixed_point.converged);
		CU_ASSERT_EQUAL(other.fixed_point.history[0], starts[i]);
		CU_ASSERT_DOUBLE_EQUAL(other.timing.cycles, t.timing.cycles, 0.002 * t.timing.cycles);
	}
}

/* Each has 3 reads and a write, all in one bank: at least 4 cycles per instruction. Waiting at most doubles this. */
static void test_saturated_banks(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1,register_banks=1,banks_by_name=0");
	struct built_code b;
	struct built_launch l;
	build_reader(&b);
	launch_all(&l, &b, only_block, 1, 60, 8);
	struct probabilistic_timing t = probabilistic(&gpu, &l, 6, 0);
	CU_ASSERT_EQUAL(t.optimistic_cycles, 480 * 32 * 4);
	CU_ASSERT(t.fixed_point.converged);
	CU_ASSERT(t.timing.cycles >= t.optimistic_cycles && t.timing.cycles < 2 * t.optimistic_cycles);
	CU_ASSERT_DOUBLE_EQUAL(probabilistic(&gpu, &l, 6, 1e12).timing.cycles, t.timing.cycles, 0.002 * t.timing.cycles);
	/* An assembler that avoids conflicts. */
	gpu = test_gpu("gtx480", "sm_count=1,register_banks=1,banks_by_name=0,banks_without_conflicts=1");
	t = probabilistic(&gpu, &l, 6, 0);
	CU_ASSERT_EQUAL(t.register_bank_conflicts, 0);
	CU_ASSERT_EQUAL(t.extra.read_cycles, 0);
	CU_ASSERT(t.timing.cycles < 480 * 32);
}

static void test_iteration_limit(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1,fp32_collectors=4");
	struct built_code b;
	struct built_launch l;
	struct probabilistic_timing t;
	build_reader(&b);
	launch_all(&l, &b, only_block, 1, 60, 8);
	const struct fixed_point_options once = {.iterations = 1}, strict = {.tolerance = 1e-12, .iterations = 60};
	CU_ASSERT_EQUAL(model_probabilistic(&gpu, &l.warps, 6, &once, &t, NULL), 0);
	CU_ASSERT(!t.fixed_point.converged);
	CU_ASSERT_EQUAL(t.fixed_point.count, 2);
	CU_ASSERT_EQUAL(t.fixed_point.history[1], t.timing.cycles);
	CU_ASSERT_EQUAL(model_probabilistic(&gpu, &l.warps, 6, &strict, &t, NULL), 0);
	CU_ASSERT(t.fixed_point.converged);
}

/* One warp meets no other warp. Only x * x and the like are conflicts, and the optimistic time stays. */
static void test_one_warp_has_no_conflicts_by_chance(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1");
	struct built_code b;
	struct built_launch l;
	build_reader(&b);
	launch_all(&l, &b, only_block, 1, 1, 1);
	struct probabilistic_timing t = probabilistic(&gpu, &l, 8, 0);
	CU_ASSERT_EQUAL(t.register_bank_conflicts, 0);
	CU_ASSERT_EQUAL(t.timing.cycles, t.optimistic_cycles);
	build_start(&b);
	build(&b, CODE_fp32, "1 <- 2 2");
	build(&b, CODE_fp32_fma, "3 <- 4 20 36"); /* three in bank 4 */
	launch_all(&l, &b, only_block, 1, 1, 1);
	CU_ASSERT_EQUAL(probabilistic(&gpu, &l, 8, 0).register_bank_conflicts, 1 + 2);
}

/* More of anything never takes longer, in either model. */
static void test_more_is_never_slower(void)
{
	static const char *const lines[][5] = {
		{"sm_count=1", "sm_count=2", "sm_count=3", "sm_count=8", "sm_count=60"},
		{"register_banks=4", "register_banks=8", "register_banks=16", "register_banks=17", "register_banks=64"},
		{"fp32_units=1", "fp32_units=2", "fp32_units=3", "fp32_units=4", "fp32_units=16"},
		{"sfu_units=1", "sfu_units=2", "sfu_units=3", "sfu_units=4", "sfu_units=16"},
		{"ldst_units=1", "ldst_units=2", "ldst_units=3", "ldst_units=4", "ldst_units=16"},
		{"fp32_collectors=1", "fp32_collectors=2", "fp32_collectors=3", "fp32_collectors=6", "fp32_collectors=15"},
		{"fetches_per_cycle=1", "fetches_per_cycle=2", "fetches_per_cycle=3", "fetches_per_cycle=4",
		 "fetches_per_cycle=8"},
		{"result_buses=1", "result_buses=2", "result_buses=3", "result_buses=4", "result_buses=8"},
	};
	uint32_t random = 99;
	for (int round = 0; round < 20; round++) {
		struct built_code b;
		struct built_launch l;
		uint32_t path[40];
		random_code(&b, &random);
		for (size_t i = 0; i < GS_ARRAY_LEN(path); i++)
			path[i] = next_random(&random) % 5;
		launch_all(&l, &b, path, GS_ARRAY_LEN(path), 1 + next_random(&random) % 70, 1 + next_random(&random) % 8);
		for (size_t k = 0; k < GS_ARRAY_LEN(lines); k++) {
			double before = INFINITY, chance = INFINITY;
			for (size_t v = 0; v < GS_ARRAY_LEN(lines[k]); v++) {
				struct gpu gpu = test_gpu("gtx480", lines[k][v]);
				double planned = optimistic(&gpu, &l, 6).cycles, now = probabilistic(&gpu, &l, 6, 0).timing.cycles;
				CU_ASSERT(planned <= before * (1 + 1e-9));
				CU_ASSERT(now <= chance * 1.002); /* within the tolerance of the fixed point */
				CU_ASSERT(now >= planned * (1 - 1e-9));
				before = planned;
				chance = now;
			}
		}
	}
}

static void check_nothing(const struct gpu *gpu, const struct launch_warps *w)
{
	struct optimistic_timing o;
	struct probabilistic_timing p;
	struct full_timing f;
	const struct full_options options = {0};
	CU_ASSERT_EQUAL(model_optimistic(gpu, w, 1, NULL, &o, NULL), 0);
	CU_ASSERT_EQUAL(o.cycles, 0);
	CU_ASSERT_STRING_EQUAL(limit_name(o.limiter), "none");
	CU_ASSERT_EQUAL(model_probabilistic(gpu, w, 1, NULL, &p, NULL), 0);
	CU_ASSERT_EQUAL(p.timing.cycles, 0);
	CU_ASSERT(p.fixed_point.converged);
	CU_ASSERT_EQUAL(model_full(gpu, w, 1, &options, &f, NULL), 0);
	CU_ASSERT_EQUAL(f.cycles, 0);
	CU_ASSERT_STRING_EQUAL(f.limiter, "none");
}

static void test_launches_without_work(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	struct built_launch l;
	build_independent(&b, CODE_sfu, 4);
	launch_all(&l, &b, only_block, 1, 0, 8);
	check_nothing(&gpu, &l.warps);
	launch_all(&l, &b, only_block, 0, 5, 8);
	check_nothing(&gpu, &l.warps);
	launch_all(&l, &b, only_block, 1, 5, 0);
	check_nothing(&gpu, &l.warps);
	launch_all(&l, &b, only_block, 1, 5, 8);
	l.warps.path_count = 0;
	check_nothing(&gpu, &l.warps);
	launch_all(&l, &b, only_block, 1, 5, 8);
	l.warps.pattern_groups = 0;
	check_nothing(&gpu, &l.warps);
	build_start(&b); /* a block without instructions */
	launch_all(&l, &b, only_block, 1, 5, 8);
	check_nothing(&gpu, &l.warps);
}

static void test_paths_that_lead_nowhere(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	struct built_launch l;
	struct optimistic_timing o;
	const uint32_t outside[] = {0, 1};
	build_independent(&b, CODE_sfu, 4);
	launch_all(&l, &b, outside, 2, 5, 8);
	CU_ASSERT_EQUAL(model_optimistic(&gpu, &l.warps, 1, NULL, &o, NULL), -EINVAL);
	CU_ASSERT_EQUAL(o.cycles, 0);
	launch_all(&l, &b, outside, 1, 5, 8);
	l.path_of[3] = 1;
	CU_ASSERT_EQUAL(model_optimistic(&gpu, &l.warps, 1, NULL, &o, NULL), -EINVAL);
	/* The largest possible numbers: the result is finite. */
	launch_all(&l, &b, outside, 1, UINT64_MAX, 8);
	CU_ASSERT_EQUAL(model_optimistic(&gpu, &l.warps, UINT32_MAX, NULL, &o, NULL), 0);
	CU_ASSERT(isfinite(o.cycles) && o.cycles > 1e18);
}

/* An occupancy vector that takes 1000 cycles, plus 1000 for each cycle of delay. */
static int delayed_model(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                         const struct warp_options *options, struct warp_timing *out, struct gs_error *err)
{
	(void)gpu, (void)warps, (void)blocks_per_sm, (void)err;
	double delay = options->extra_read_cycles + options->extra_write_cycles;
	*out = (struct warp_timing){.cycles = 1000 + 1000 * delay, .warp_instructions = 77, .bank_conflicts = 5};
	out->by[CYCLES_unit_sfu] = 1000;
	out->by[CYCLES_bank_conflicts] = 1000 * delay;
	return 0;
}

static int failing_model(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                         const struct warp_options *options, struct warp_timing *out, struct gs_error *err)
{
	(void)gpu, (void)warps, (void)blocks_per_sm, (void)options, (void)out, (void)err;
	return -ENOMEM;
}

static void test_all_models_to_a_fixed_point(void)
{
	struct gpu gpu = test_gpu("gtx480", "sm_count=1");
	struct built_code b;
	struct built_launch l;
	struct full_timing t;
	struct full_options options = {.occupancy = delayed_model};
	build_reader(&b);
	launch_all(&l, &b, only_block, 1, 6, 8);
	CU_ASSERT_EQUAL_FATAL(model_full(&gpu, &l.warps, 6, &options, &t, NULL), 0);
	check_sum(t.by, t.cycles);
	CU_ASSERT(t.fixed_point.converged && t.fixed_point.count >= 2);
	CU_ASSERT_EQUAL(t.fixed_point.history[0], t.probabilistic.timing.cycles);
	CU_ASSERT_EQUAL(t.fixed_point.history[t.fixed_point.count - 1], t.cycles);
	CU_ASSERT_STRING_EQUAL(t.fixed_point.start, "probabilistic");
	CU_ASSERT_STRING_EQUAL(t.fixed_point.model, "occupancy");
	CU_ASSERT_STRING_EQUAL(t.limiter, "sfu");
	CU_ASSERT_EQUAL(t.warp_instructions, 77);
	CU_ASSERT(t.cycles > 1000 && t.register_bank_conflicts > 0);
	/* 48 warps, 32 instructions of 3 reads: so many reads per cycle of t.cycles. Their delays are what was assumed. */
	double assumed = (t.cycles - 1000) / 1000;
	const struct bank_traffic traffic = {.reads = 48 * 32 * 3 / t.cycles, .writes = 48 * 32 / t.cycles,
	                                     .read_width = 2, .write_width = 2, .banks = 16};
	struct bank_queue q = bank_queue(&traffic);
	CU_ASSERT_DOUBLE_EQUAL(assumed, (bank_collect_delay(&q, 3) + q.write_delay) * 47 / 48, 0.005);

	options.fixed_point.start_cycles = 1e9;
	struct full_timing above;
	CU_ASSERT_EQUAL(model_full(&gpu, &l.warps, 6, &options, &above, NULL), 0);
	CU_ASSERT_DOUBLE_EQUAL(above.cycles, t.cycles, 0.002 * t.cycles);

	/* The engine resolves banks: no delays are added, it has its own count, and runs once. */
	options = (struct full_options){.occupancy = delayed_model, .warps.resolve_banks = true};
	CU_ASSERT_EQUAL(model_full(&gpu, &l.warps, 6, &options, &t, NULL), 0);
	CU_ASSERT_EQUAL(t.cycles, 1000);
	CU_ASSERT_EQUAL(t.register_bank_conflicts, 5);
	CU_ASSERT_EQUAL(t.fixed_point.count, 2);
	CU_ASSERT(t.fixed_point.converged);

	options.occupancy = NULL;
	CU_ASSERT_EQUAL(model_full(&gpu, &l.warps, 6, &options, &t, NULL), 0);
	CU_ASSERT_EQUAL(t.cycles, t.probabilistic.timing.cycles);
	check_sum(t.by, t.cycles);
	options.occupancy = failing_model;
	CU_ASSERT_EQUAL(model_full(&gpu, &l.warps, 6, &options, &t, NULL), -ENOMEM);
	CU_ASSERT_EQUAL(t.cycles, 0);
}

void add_optimistic_tests(void)
{
	CU_pSuite s = CU_add_suite("optimistic", NULL, NULL);
	CU_add_test(s, "one warp takes its path's latency", test_one_warp_takes_its_path);
	CU_add_test(s, "a path is the graph of all its blocks", test_path_is_the_graph_of_all_its_blocks);
	CU_add_test(s, "a path with too many states", test_path_with_too_many_states);
	CU_add_test(s, "a resource limits full waves", test_resource_limits_full_waves);
	CU_add_test(s, "the last wave has fewer warps", test_last_wave_has_fewer_warps);
	CU_add_test(s, "accesses occupy the load/store unit", test_accesses_occupy_the_load_store_unit);
	CU_add_test(s, "the busiest SM", test_busiest_sm);
	CU_add_test(s, "units that complete one instruction per cycle", test_units_that_complete_one_per_cycle);
	CU_add_test(s, "contention of few and many warps", test_contention);
	CU_add_test(s, "the fixed point from below and above", test_fixed_point_from_below_and_above);
	CU_add_test(s, "saturated banks", test_saturated_banks);
	CU_add_test(s, "the iteration limit", test_iteration_limit);
	CU_add_test(s, "one warp has no conflicts by chance", test_one_warp_has_no_conflicts_by_chance);
	CU_add_test(s, "more is never slower", test_more_is_never_slower);
	CU_add_test(s, "launches without work take no time", test_launches_without_work);
	CU_add_test(s, "paths that lead nowhere are refused", test_paths_that_lead_nowhere);
	CU_add_test(s, "all models to a fixed point", test_all_models_to_a_fixed_point);
}
