/* What each instruction of a launch did, and its share of the cycles. */
#include "tests/tests.h"

#include "tests/models/code_builder.h"
#include "models/warps/access_counts.h"
#include "models/warps/attribution.h"
#include "models/warps/machine/machine.h"

#include <math.h>
#include <string.h>

/* Block 0: a load and an addition; block 1: a multiplication by the fused unit and a barrier. */
static void two_blocks(struct built_code *b)
{
	build_start(b);
	build_memory(b, CODE_load, SPACE_global, "1 <- 2");
	build(b, CODE_int, "3 <- 1");
	build_block(b);
	build(b, CODE_fp32_fma, "4 <- 3 3 3");
	build(b, CODE_barrier, "");
}

/*
 * Two paths: 0 1 1, whose load takes 4 accesses, and 0, whose load takes 1. Three groups of two warps, in a pattern of two
 * groups. Group 0 has both paths. Group 1 has the second path twice. Group 0 comes twice: 2 warps of the first path, 4 of the
 * second.
 */
static void executions_follow_the_paths(void)
{
	struct built_code b;
	static const uint32_t long_blocks[] = {0, 1, 1}, short_blocks[] = {0}, path_of[] = {0, 1, 1, 1};
	static const uint16_t four[] = {4}, one[] = {1};
	const struct warp_path paths[] = {{.blocks = long_blocks, .block_count = 3, .accesses = four, .access_count = 1},
	                                  {.blocks = short_blocks, .block_count = 1, .accesses = one, .access_count = 1}};
	struct instruction_count counts[4];
	two_blocks(&b);
	struct launch_warps w = {.code = &b.code, .paths = paths, .path_count = 2, .groups = 3, .warps_per_group = 2,
	                         .path_of = path_of, .pattern_groups = 2};
	memset(counts, 0, sizeof counts);
	CU_ASSERT_EQUAL(count_warp_executions(&w, 1, counts), 0);
	CU_ASSERT_EQUAL(counts[0].warps, 6);
	CU_ASSERT_EQUAL(counts[0].transactions, 2 * 4 + 4 * 1);
	CU_ASSERT_EQUAL(counts[1].warps, 6);
	CU_ASSERT_EQUAL(counts[1].transactions, 0);
	CU_ASSERT_EQUAL(counts[2].warps, 4);
	CU_ASSERT_EQUAL(counts[3].warps, 4);
	/* In the pattern the first path is taken once, 6 instructions, the second three times, 2 instructions each. */
	double by_pipe[MACHINE_PIPE_COUNT];
	CU_ASSERT_EQUAL(machine_share_pipes(&w, by_pipe), 0);
	CU_ASSERT_DOUBLE_EQUAL(by_pipe[PIPE_lsu], 4 / 12., 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(by_pipe[PIPE_alu], 4 / 12., 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(by_pipe[PIPE_fma], 2 / 12., 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(by_pipe[PIPE_other], 2 / 12., 1e-9);
	b.code.code[0].space = SPACE_param;
	CU_ASSERT_EQUAL(machine_share_pipes(&w, by_pipe), 0);
	CU_ASSERT_EQUAL(by_pipe[PIPE_lsu], 0);
}

/*
 * On a GTX 480: 30 cycles of issue are divided among 10, 10, 20, 20 executions. 8 cycles of barriers go to the barrier. 12
 * cycles of dependency are divided by latency, 10 * 10 for the addition and 20 * 7 for the multiply-add: 5 and 7. The tail goes
 * to no instruction.
 */
static void cycles_go_to_what_is_behind_them(void)
{
	struct built_code b;
	struct gpu gpu = test_gpu("gtx480", NULL);
	const struct instruction_count counts[] = {{.threads = 320, .warps = 10, .transactions = 10}, {.threads = 320, .warps = 10},
	                                           {.threads = 640, .warps = 20}, {.threads = 640, .warps = 20}};
	double by[CYCLE_KIND_COUNT] = {[CYCLES_issue] = 30, [CYCLES_barrier] = 8, [CYCLES_dependency] = 12, [CYCLES_tail] = 99};
	double cycles[4];
	two_blocks(&b);
	attribute_cycles(&gpu, &b.code, counts, by, cycles);
	CU_ASSERT_DOUBLE_EQUAL(cycles[0], 5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cycles[1], 5 + 5, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cycles[2], 10 + 7, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(cycles[3], 10 + 8, 1e-9);
}

/*
 * A load, a store and a load of shared memory. Path 0: the load touches 4 + 1 sectors in two parts, the store 2, shared memory
 * takes 3 turns. Path 1: 4, 1 and 1 turn. Two warps each: 2 * 5 + 2 * 4 sectors of loads, 2 * 2 + 2 * 1 of stores, 2 * 2
 * conflicts.
 */
static void accesses_are_counted_as_hardware_does(void)
{
	struct built_code b;
	static const uint32_t blocks[] = {0}, path_of[] = {0, 1}, first[2][4] = {{0, 2, 3, 3}, {3, 4, 5, 5}};
	static const struct memory_part parts[] = {{.sectors = 15}, {.sectors = 4}, {.sectors = 3}, {.sectors = 15}, {.sectors = 8}};
	static const uint16_t accesses[2][3] = {{2, 1, 3}, {1, 1, 1}};
	const struct path_requests requests[] = {{first[0], parts}, {first[1], parts}};
	struct warp_path paths[] = {{.blocks = blocks, .block_count = 1, .accesses = accesses[0], .access_count = 3, .requests = &requests[0]},
	                            {.blocks = blocks, .block_count = 1, .accesses = accesses[1], .access_count = 3, .requests = &requests[1]}};
	struct access_counts n;
	build_start(&b);
	build_memory(&b, CODE_load, SPACE_global, "1 <- 2");
	build_memory(&b, CODE_store, SPACE_global, "<- 1 2");
	build_memory(&b, CODE_load, SPACE_shared, "3 <- 2");
	struct launch_warps w = {.code = &b.code, .paths = paths, .path_count = 2, .groups = 2, .warps_per_group = 2, .path_of = path_of,
	                         .pattern_groups = 1};
	CU_ASSERT_EQUAL(count_accesses(&w, 1, &n), 0);
	CU_ASSERT_EQUAL(n.load_requests, 4);
	CU_ASSERT_EQUAL(n.load_sectors, 18);
	CU_ASSERT_EQUAL(n.store_sectors, 6);
	CU_ASSERT_EQUAL(n.shared_conflicts, 4);
	CU_ASSERT_EQUAL(n.store_requests, 4);
	CU_ASSERT_EQUAL(n.shared_requests, 4);
	CU_ASSERT_EQUAL(n.atomic_requests + n.texture_requests + n.private_requests, 0);
	/* The same by instruction, and from these. Shared memory has no sectors. */
	struct instruction_count counts[3] = {{0}};
	struct access_counts sum;
	CU_ASSERT_EQUAL(count_warp_executions(&w, 1, counts), 0);
	CU_ASSERT(counts[0].requests == 4 && counts[0].sectors == 18);
	CU_ASSERT(counts[1].requests == 4 && counts[1].sectors == 6);
	CU_ASSERT(counts[2].requests == 0 && counts[2].sectors == 0 && counts[2].transactions == 8);
	sum_accesses(&b.code, counts, &sum);
	CU_ASSERT(!memcmp(&n, &sum, sizeof n));
	/* 32 lanes with 8 bytes each need two turns: three are one conflict; fewer lanes may need one. */
	b.code.code[2].bytes = 8;
	CU_ASSERT_EQUAL(count_accesses(&w, 1, &n), 0);
	CU_ASSERT_EQUAL(n.shared_conflicts, 2);
	b.code.code[2].bytes = 4;
	/* An access that no lane makes. */
	b.code.code[2].flags = CODE_EXPANDED | CODE_GUARDED;
	CU_ASSERT_EQUAL(count_accesses(&w, 1, &n), 0);
	CU_ASSERT_EQUAL(n.shared_requests, 0);
	b.code.code[2].flags = 0;
	/* Without addresses the sectors are not known. Everything else is. */
	paths[0].requests = paths[1].requests = NULL;
	CU_ASSERT_EQUAL(count_accesses(&w, 2, &n), 0);
	CU_ASSERT_EQUAL(n.load_requests, 8);
	CU_ASSERT_TRUE(isnan(n.load_sectors) && isnan(n.store_sectors));
	CU_ASSERT_EQUAL(n.shared_conflicts, 8);
	memset(counts, 0, sizeof counts);
	CU_ASSERT_EQUAL(count_warp_executions(&w, 1, counts), 0);
	CU_ASSERT(counts[0].requests == 0 && counts[0].warps == 4);
	sum_accesses(&b.code, counts, &sum);
	CU_ASSERT_TRUE(sum.load_requests == 4 && isnan(sum.load_sectors) && isnan(sum.store_sectors));
}

static void a_fused_multiply_add_is_two_operations(void)
{
	CU_ASSERT_EQUAL(instruction_flops(&(struct code_instruction){.class = CODE_fp32_fma}, 32), 2);
	CU_ASSERT_EQUAL(instruction_flops(&(struct code_instruction){.class = CODE_fp32_fma}, 64), 0);
	CU_ASSERT_EQUAL(instruction_flops(&(struct code_instruction){.class = CODE_fp64}, 64), 1);
	CU_ASSERT_EQUAL(instruction_flops(&(struct code_instruction){.class = CODE_int}, 32), 0);
}

void add_attribution_tests(void)
{
	CU_pSuite s = CU_add_suite("attribution", NULL, NULL);
	CU_ADD_TEST(s, executions_follow_the_paths);
	CU_ADD_TEST(s, cycles_go_to_what_is_behind_them);
	CU_ADD_TEST(s, accesses_are_counted_as_hardware_does);
	CU_ADD_TEST(s, a_fused_multiply_add_is_two_operations);
}
