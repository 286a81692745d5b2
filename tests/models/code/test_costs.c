/* What instructions and blocks take of a pipeline, for a warp alone. */
#include "tests/tests.h"

#include "tests/models/code_builder.h"
#include "models/code/costs.h"
#include "models/code/peaks.h"

#include <string.h>

struct expected_cost {
	enum code_class class;
	uint8_t flags;
	enum pipeline_resource unit;
	double latency, initiation, distance;
};

static void check_costs(const struct gpu *gpu, const struct expected_cost *expected, size_t count)
{
	for (size_t n = 0; n < count; n++) {
		const struct expected_cost *e = &expected[n];
		struct code_instruction i = {.class = (uint8_t)e->class, .flags = e->flags, .reads = 2, .writes = 1};
		struct instruction_cost c = gpu_instruction_cost(gpu, &i);
		CU_ASSERT_EQUAL(c.unit, e->unit);
		CU_ASSERT_EQUAL(c.latency, e->latency);
		CU_ASSERT_EQUAL(c.initiation, e->initiation);
		CU_ASSERT_EQUAL(c.distance, e->distance);
	}
}

/* GPGPU-Sim has no integer and no 64-bit units. distance = latency + 6. */
static void test_every_class_on_gtx480(void)
{
	static const struct expected_cost expected[] = {
		{CODE_int, 0, RESOURCE_fp32, 4, 1, 10},
		{CODE_int_mul, 0, RESOURCE_fp32, 4, 2, 10},
		{CODE_int_mad, 0, RESOURCE_fp32, 5, 1, 11},
		{CODE_int_minmax, 0, RESOURCE_fp32, 13, 2, 19},
		{CODE_int_div, 0, RESOURCE_sfu, 145, 8, 151},
		{CODE_int_div, CODE_REM, RESOURCE_fp32, 1, 1, 7},
		{CODE_fp32, 0, RESOURCE_fp32, 4, 1, 10},
		{CODE_fp32_fma, 0, RESOURCE_fp32, 1, 1, 7},
		{CODE_fp32_minmax, 0, RESOURCE_fp32, 13, 2, 19},
		{CODE_fp32_div, 0, RESOURCE_sfu, 39, 4, 45},
		{CODE_fp64, 0, RESOURCE_sfu, 8, 8, 14},
		{CODE_fp64_fma, 0, RESOURCE_fp32, 1, 1, 7},
		{CODE_fp64_minmax, 0, RESOURCE_sfu, 19, 16, 25},
		{CODE_fp64_div, 0, RESOURCE_sfu, 330, 130, 336},
		{CODE_sfu, 0, RESOURCE_sfu, 8, 8, 14},
		{CODE_conv, 0, RESOURCE_fp32, 1, 1, 7},
		{CODE_logic, 0, RESOURCE_fp32, 1, 1, 7},
		{CODE_move, 0, RESOURCE_fp32, 1, 1, 7},
		{CODE_shuffle, 0, RESOURCE_fp32, 32, 4, 38},
		{CODE_branch, 0, RESOURCE_fp32, 1, 1, 7},
		{CODE_barrier, 0, RESOURCE_fp32, 1, 1, 7},
		{CODE_tensor, 0, RESOURCE_fp32, 64, 64, 70}, /* 2,048 fused multiply-adds by 32 lanes */
		{CODE_nop, 0, RESOURCE_fp32, 1, 1, 7},
	};
	struct gpu gpu = test_gpu("gtx480", NULL);
	check_costs(&gpu, expected, GS_ARRAY_LEN(expected));
	/* Units of their own are never what others wait for. */
	gpu.control_units = 1;
	CU_ASSERT_TRUE(gpu_instruction_cost(&gpu, &(struct code_instruction){.class = CODE_branch}).initiation < 0.1);
	CU_ASSERT_EQUAL(gpu_instruction_cost(&gpu, &(struct code_instruction){.class = CODE_logic}).initiation, 1);
	gpu.control_units = 0;
	/* Without a register to read, it takes a cycle less. */
	struct code_instruction move = {.class = CODE_move, .writes = 1};
	CU_ASSERT_EQUAL(gpu_instruction_cost(&gpu, &move).distance, 6);
}

/* Whole latencies, and units of every kind. Remainders cost the same as divisions, unless the description says otherwise. */
static void test_classes_on_a_gpu_with_all_units(void)
{
	struct gpu gpu = test_gpu("v100", NULL);
	const struct expected_cost expected[] = {
		{CODE_shuffle, 0, RESOURCE_ldst, gpu.shuffle_latency, 1, gpu.shuffle_latency},
		{CODE_int_mad, 0, RESOURCE_fp32, gpu.int_mad_latency, gpu.int_mad_initiation, gpu.int_mad_latency},
		{CODE_int_div, CODE_REM, RESOURCE_sfu, gpu.int_div_latency, gpu.int_div_initiation, gpu.int_div_latency},
		{CODE_fp32_fma, 0, RESOURCE_fp32, gpu.fp32_fma_latency, gpu.fp32_fma_initiation, gpu.fp32_fma_latency},
		{CODE_fp64_fma, 0, RESOURCE_fp64, gpu.fp64_fma_latency, gpu.fp64_fma_initiation, gpu.fp64_fma_latency},
		{CODE_logic, 0, RESOURCE_int, gpu.logic_latency, gpu.logic_initiation, gpu.logic_latency},
	};
	check_costs(&gpu, expected, GS_ARRAY_LEN(expected));
	struct code_instruction fma = {.class = CODE_fp32_fma, .reads = 3, .writes = 1};
	gpu = test_gpu("v100", "fp32_fma_unit=int");
	CU_ASSERT_EQUAL(gpu_instruction_cost(&gpu, &fma).unit, RESOURCE_int);
	gpu = test_gpu("v100", "fp32_fma_unit=int,int_units=0");
	CU_ASSERT_EQUAL(gpu_instruction_cost(&gpu, &fma).unit, RESOURCE_fp32);
	struct code_instruction move = {.class = CODE_move, .writes = 1};
	CU_ASSERT_EQUAL(gpu_instruction_cost(&gpu, &move).distance, gpu.move_latency);
}

static void check_memory(const struct gpu *gpu, enum code_class class, enum code_space space, double distance)
{
	struct code_instruction i = {.class = (uint8_t)class, .space = (uint8_t)space, .reads = 1, .writes = 1};
	struct instruction_cost c = gpu_instruction_cost(gpu, &i);
	CU_ASSERT_EQUAL(c.unit, RESOURCE_ldst);
	CU_ASSERT_EQUAL(c.initiation, 1);
	CU_ASSERT_EQUAL(c.distance, distance);
}

static void test_memory_on_gtx480(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	check_memory(&gpu, CODE_load, SPACE_param, 3);
	check_memory(&gpu, CODE_load, SPACE_const, 3);
	check_memory(&gpu, CODE_load, SPACE_shared, 31);
	check_memory(&gpu, CODE_load, SPACE_global, 39);
	check_memory(&gpu, CODE_load, SPACE_local, 39);
	check_memory(&gpu, CODE_load, SPACE_generic, 39);
	check_memory(&gpu, CODE_texture, SPACE_texture, 39);
	check_memory(&gpu, CODE_atomic, SPACE_shared, 31);
	check_memory(&gpu, CODE_atomic, SPACE_global, 6); /* not 144: perfect memory */
	/* A store to global memory is acknowledged. A store to shared memory leaves the unit a cycle after it came, at 4. */
	check_memory(&gpu, CODE_store, SPACE_global, 41);
	check_memory(&gpu, CODE_store, SPACE_shared, 5);
	check_memory(&gpu, CODE_fence, SPACE_none, 5);
	gpu = test_gpu("gtx480", "atomic_fast_latency=0,store_latency=0");
	check_memory(&gpu, CODE_atomic, SPACE_global, 144); /* not 39: L1 does no atomics */
	check_memory(&gpu, CODE_store, SPACE_global, 5);
}

static void test_counts_of_units(void)
{
	struct gpu gpu = test_gpu("gtx480", "issue_per_scheduler=2");
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_fetch), 1);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_issue), 4);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_collector), 16);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_fp32), 2);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_int), 0);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_fp64), 0);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_sfu), 1);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_ldst), 1);
	CU_ASSERT_EQUAL(gpu_unit_count(&gpu, RESOURCE_writeback), 2);
	CU_ASSERT_EQUAL(gpu_collector_count(&gpu, RESOURCE_fp32), 6);
	CU_ASSERT_EQUAL(gpu_collector_count(&gpu, RESOURCE_sfu), 8);
	CU_ASSERT_EQUAL(gpu_collector_count(&gpu, RESOURCE_ldst), 2);
	CU_ASSERT_EQUAL(gpu_collector_count(&gpu, RESOURCE_int), 16);
	CU_ASSERT_STRING_EQUAL(resource_name(RESOURCE_fetch), "fetch");
	CU_ASSERT_STRING_EQUAL(resource_name(RESOURCE_writeback), "writeback");
	CU_ASSERT_STRING_EQUAL(resource_name(RESOURCE_COUNT), "unknown");
}

static struct block_cost cost_of(const struct gpu *gpu, const struct built_code *b, const uint32_t *blocks, size_t count)
{
	struct block_cost c;
	CU_ASSERT_EQUAL_FATAL(pipeline_block_cost(gpu, &b->code, blocks, count, NULL, &c), 0);
	return c;
}

static void check_issue_latencies(const struct gpu *gpu, const struct built_code *b, const double *expected)
{
	double latencies[BUILD_MAX];
	CU_ASSERT_EQUAL_FATAL(pipeline_issue_latencies(gpu, &b->code, 0, latencies), 0);
	for (uint32_t i = 0; i < b->blocks[0].count; i++)
		CU_ASSERT_EQUAL(latencies[i], expected[i]);
}

/*
 * As in Fig. 4 of the paper: two loads, a sum, a special function, a store.
 *            fetch  issue  unit  done   why
 *   ld.global  0      2      6     41   39 from issue to user
 *   ld.global  0      3      7     42
 *   add        3     42     46     52   needs the second load: 10 from issue to user; fetched when both loads were issued
 *   sin        3     52     56     66   needs the sum: 14
 *   st        52     66     70    107   needs the sine; acknowledged after 41
 */
static void test_longest_path_of_a_block(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build_memory(&b, CODE_load, SPACE_global, "3 <- 1");
	build_memory(&b, CODE_load, SPACE_global, "4 <- 2");
	build(&b, CODE_fp32, "5 <- 3 4");
	build(&b, CODE_sfu, "6 <- 5");
	build_memory(&b, CODE_store, SPACE_global, "<- 1 6");
	struct block_cost c = cost_of(&gpu, &b, (const uint32_t[]){0}, 1);
	CU_ASSERT_EQUAL(c.latency, 107);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_fetch], 3);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_issue], 5);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_collector], 5 * 2);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_fp32], 1);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_sfu], 8);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_ldst], 3);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_writeback], 4);
	CU_ASSERT_EQUAL(c.register_reads, 7);
	CU_ASSERT_EQUAL(c.register_writes, 4);
	CU_ASSERT_EQUAL(c.memory_instructions, 3);
	CU_ASSERT_EQUAL(c.barriers, 0);
	/* 1 to the second of a fetch, 39 for the load, 10, 14. The store is the first of a new fetch: 1 after it. */
	check_issue_latencies(&gpu, &b, (const double[]){1, 39, 10, 14, 1});

	/* The second load has 4 accesses: 3 cycles more for everything after it, and in the unit. */
	const uint16_t accesses[] = {1, 4, 1, 1, 1};
	CU_ASSERT_EQUAL(pipeline_block_cost(&gpu, &b.code, (const uint32_t[]){0}, 1, accesses, &c), 0);
	CU_ASSERT_EQUAL(c.latency, 110);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_ldst], 6);
}

/* A fetch brings two instructions, a refill takes 2 cycles. Issues at 2, 3, 5, 6. The last is done 7 later. */
static void test_independent_instructions_go_at_the_fetches_pace(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build(&b, CODE_fp32_fma, "10 <- 1 2 3");
	build(&b, CODE_fp32_fma, "11 <- 1 2 3");
	build(&b, CODE_fp32_fma, "12 <- 1 2 3");
	build(&b, CODE_fp32_fma, "13 <- 1 2 3");
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).latency, 6 + 7);
	check_issue_latencies(&gpu, &b, (const double[]){1, 2, 1, 2});
	/* A buffer that need not be empty first is refilled in time. */
	gpu = test_gpu("gtx480", "refill_when_empty=0");
	check_issue_latencies(&gpu, &b, (const double[]){1, 1, 1, 1});
	/* Two at a time: 0 within a pair. */
	gpu = test_gpu("gtx480", "refill_when_empty=0,issue_per_scheduler=2");
	check_issue_latencies(&gpu, &b, (const double[]){0, 1, 0, 1});
}

static void test_dependent_instructions_wait(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build(&b, CODE_move, "1 <-");          /* issue 2, no source: usable 6 later */
	build(&b, CODE_int, "2 <- 1");         /* 8, 10 */
	build(&b, CODE_move, "3 <- 2");        /* 18, 7: compares */
	build(&b, CODE_branch, "? 3");         /* 25: the guard is waited for, not read, so it is done 6 later */
	check_issue_latencies(&gpu, &b, (const double[]){6, 10, 7, 2});
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).latency, 25 + 6);
}

/* A register is written again only after the first result has arrived: 14 for the sine. */
static void test_second_write_waits_for_the_first(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build(&b, CODE_sfu, "1 <- 2");
	build(&b, CODE_move, "1 <- 3");
	check_issue_latencies(&gpu, &b, (const double[]){14, 2});
}

/* One special-function unit, 8 cycles each. The second one is issued at 3 and starts at 6 + 8 = 14. It is done 8 + 2 later. */
static void test_unit_is_busy_for_the_initiation_interval(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build(&b, CODE_sfu, "1 <- 3");
	build(&b, CODE_sfu, "2 <- 3");
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).latency, 14 + 10);
	gpu = test_gpu("gtx480", "sfu_units=2");
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).latency, 7 + 10);
}

/* Registers 1 and 17 are in bank 1 of 16, and x * x reads one bank twice: a cycle more, for the collector, too. */
static void test_operands_in_one_bank(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build(&b, CODE_fp32_fma, "2 <- 1 17 3");
	build(&b, CODE_fp32, "4 <- 2 2");
	check_issue_latencies(&gpu, &b, (const double[]){8, 2});
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).busy[RESOURCE_collector], 3 + 3);
	gpu = test_gpu("gtx480", "banks_by_name=0");
	check_issue_latencies(&gpu, &b, (const double[]){7, 2});
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).busy[RESOURCE_collector], 2 + 2);
}

/* A collector is held from the cycle after issue for 2 cycles. With two collectors there is no wait. With one, there is an issue
 * every second cycle. */
static void test_collectors_hold_back_issue(void)
{
	struct built_code b;
	build_start(&b);
	for (int i = 0; i < 4; i++)
		build(&b, CODE_fp32_fma, "10 <- 1 2 3")->writes = 0;
	struct gpu gpu = test_gpu("gtx480", "fp32_collectors=2,refill_when_empty=0");
	check_issue_latencies(&gpu, &b, (const double[]){1, 1, 1, 1});
	gpu = test_gpu("gtx480", "fp32_collectors=0,operand_collectors=1,refill_when_empty=0");
	check_issue_latencies(&gpu, &b, (const double[]){2, 2, 2, 1});
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

/*
 * GPGPU-Sim: 7 * 7 for the fma chain, 2 to the add in a new fetch, 10 to setp, 7 to bra, 1 to bra.uni, 4 for the jump out of the
 * second slot: 73. There are 6 fetches for 12 instructions and one useless fetch, but not after the last time around.
 */
static void test_loop_of_two_blocks_takes_what_the_simulator_says(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_fma_loop(&b);
	const uint32_t twice[] = {0, 1, 0, 1};
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, twice, 2).steady_latency, 73);
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, twice, 4).steady_latency, 2 * 73);
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, twice, 2).busy[RESOURCE_fetch], 6);
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, twice, 4).busy[RESOURCE_fetch], 13);
	/* Alone: fma at 2, 9 ... 51; add 53, setp 63, bra 70, bra.uni 71; done 6 later. */
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, twice, 2).latency, 77);
	/* Two executions in a row: the second begins 73 later. */
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, twice, 4).latency, 77 + 73);
}

/* A jump out of the first slot takes 3, and half a fetch is wasted. Without a jump, the fetch has another instruction: 1. */
static void test_chain_of_two_blocks_keeps_the_fetch(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build(&b, CODE_branch, "");
	build_block(&b);
	build(&b, CODE_move, "1 <- 2");
	build_block(&b);
	build(&b, CODE_move, "3 <- 4");
	/* Issues 2 and 3, done 7 later; one fetch. */
	struct block_cost c = cost_of(&gpu, &b, (const uint32_t[]){0, 1}, 2);
	CU_ASSERT_EQUAL(c.latency, 3 + 7);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_fetch], 1);
	/* Issues 2 and 5; two fetches. */
	c = cost_of(&gpu, &b, (const uint32_t[]){0, 2}, 2);
	CU_ASSERT_EQUAL(c.latency, 5 + 7);
	CU_ASSERT_EQUAL(c.busy[RESOURCE_fetch], 2);
	/* The loop of block 0 alone: 3 each. */
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).steady_latency, 3);
	/* If fetch and decode take one cycle, it is 2 from either slot. If the branch flushes at once, it is 1. */
	gpu = test_gpu("gtx480", "fetch_to_issue_cycles=1");
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).steady_latency, 2);
	gpu = test_gpu("gtx480", "fetch_to_issue_cycles=1,flush_at_branch=1");
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0}, 1).steady_latency, 1);
}

/* A load in one block, its user in the next: 2 + 39, and 10 for the sum. The pipeline is not empty in between. */
static void test_chain_of_two_blocks_keeps_dependences(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build_memory(&b, CODE_load, SPACE_global, "3 <- 1");
	build_block(&b);
	build(&b, CODE_fp32, "5 <- 3 4");
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){0, 1}, 2).latency, 41 + 10);
	CU_ASSERT_EQUAL(cost_of(&gpu, &b, (const uint32_t[]){1}, 1).latency, 2 + 10);
	struct block_cost nothing = cost_of(&gpu, &b, NULL, 0);
	CU_ASSERT_EQUAL(nothing.latency, 0);
	CU_ASSERT_EQUAL(nothing.busy[RESOURCE_issue], 0);
}

/* An atomic on shared memory takes 31. The next instructions wait for it, although they do not need its result. */
static void test_atomic_stops_its_warp(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	build_start(&b);
	build_memory(&b, CODE_atomic, SPACE_shared, "1 <- 2");
	build(&b, CODE_move, "3 <- 4");
	check_issue_latencies(&gpu, &b, (const double[]){31, 2});
	gpu = test_gpu("gtx480", "atomics_stop_warp=0");
	check_issue_latencies(&gpu, &b, (const double[]){1, 2});
}

/* Instructions after a barrier issue barrier_latency after it, but not before the next fetch brings them. */
static void test_barrier_takes_its_latency(void)
{
	struct gpu gpu = test_gpu("gtx480", "barrier_latency=14");
	struct built_code b;
	build_start(&b);
	build(&b, CODE_barrier, "");
	build(&b, CODE_move, "3 <- 4");
	check_issue_latencies(&gpu, &b, (const double[]){14, 2});
	gpu = test_gpu("gtx480", NULL);
	check_issue_latencies(&gpu, &b, (const double[]){1, 2});
}

static void test_graph_as_text(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	struct built_code b;
	struct gs_buf text = {0};
	build_start(&b);
	build(&b, CODE_fp32, "1 <- 2");
	build(&b, CODE_sfu, "3 <- 1");
	CU_ASSERT_EQUAL_FATAL(pipeline_dot(&gpu, &b.code, 0, &text), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "digraph block0 {"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "execute1 [label = \"sfu\\n16\"]"));
	/* The sum is done at 12, when the sine issues. This is on the longest path. */
	CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "done0 -> issue1 [color = red, style = bold]"));
	CU_ASSERT_PTR_NOT_NULL(strstr(text.data, "block 0: 26 cycles"));
	gs_buf_free(&text);
}

/* 15 SMs at 0.7 GHz: 2 warps of fused multiply-adds in a cycle, one access of 128 bytes in L1, 12 slices of L2 that give 32 bytes each. An
 * interconnect that carries less bounds L2. */
static void test_peaks_of_gtx480(void)
{
	struct gpu gpu = test_gpu("gtx480", NULL);
	CU_ASSERT_DOUBLE_EQUAL(gpu_peak_gflops(&gpu, CODE_fp32_fma), 2 * 2 * 32 * 15 * 0.7, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(gpu_l1_gbps(&gpu), 128 * 15 * 0.7, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(gpu_l2_gbps(&gpu), 12 * 32 * 0.7, 1e-9);
	gpu.icnt_slice_flits = 0.5;
	CU_ASSERT_DOUBLE_EQUAL(gpu_l2_gbps(&gpu), 12 * 16 * 0.7, 1e-9);
	gpu.icnt_sm_flits = 0.25;
	CU_ASSERT_DOUBLE_EQUAL(gpu_l2_gbps(&gpu), 15 * 8 * 0.7, 1e-9);
}

void add_costs_tests(void)
{
	CU_pSuite s = CU_add_suite("costs", NULL, NULL);
	CU_add_test(s, "every instruction class on a GTX 480", test_every_class_on_gtx480);
	CU_add_test(s, "classes on a GPU with units of all kinds", test_classes_on_a_gpu_with_all_units);
	CU_add_test(s, "loads and stores by space on a GTX 480", test_memory_on_gtx480);
	CU_add_test(s, "peak rates of a GTX 480", test_peaks_of_gtx480);
	CU_add_test(s, "counts of units and names of resources", test_counts_of_units);
	CU_add_test(s, "longest path of a block, as in Fig. 4", test_longest_path_of_a_block);
	CU_add_test(s, "independent instructions go at the fetches' pace",
	            test_independent_instructions_go_at_the_fetches_pace);
	CU_add_test(s, "dependent instructions wait", test_dependent_instructions_wait);
	CU_add_test(s, "a second write waits for the first", test_second_write_waits_for_the_first);
	CU_add_test(s, "a unit is busy for the initiation interval", test_unit_is_busy_for_the_initiation_interval);
	CU_add_test(s, "operands in one bank cost a cycle", test_operands_in_one_bank);
	CU_add_test(s, "collectors hold back issue", test_collectors_hold_back_issue);
	CU_add_test(s, "fma_chain's loop takes 73 cycles", test_loop_of_two_blocks_takes_what_the_simulator_says);
	CU_add_test(s, "a chain of two blocks keeps the fetch", test_chain_of_two_blocks_keeps_the_fetch);
	CU_add_test(s, "a chain of two blocks keeps dependences", test_chain_of_two_blocks_keeps_dependences);
	CU_add_test(s, "an atomic stops its warp", test_atomic_stops_its_warp);
	CU_add_test(s, "a barrier takes its latency", test_barrier_takes_its_latency);
	CU_add_test(s, "the graph as DOT text", test_graph_as_text);
}
