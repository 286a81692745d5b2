/*
 * The occupancy-vector model: exact cycles of small launches. Numbers marked with GPGPU-Sim were measured there (GTX 480,
 * perfect memory). The others were computed by hand.
 */
#include "tests/tests.h"

#include "tests/models/scene.h"

#include <stdio.h>

/* The cost of each further execution of block 1, in the long run. */
static double loop_cycles(struct scene *s)
{
	scene_loop(s, 60);
	double few = scene_run(s);
	scene_loop(s, 160);
	return (scene_run(s) - few) / 100;
}

/*
 * As in GATSim's Fig. 3: four warps on one SM, two blocks of code each. Every instruction needs the previous one. Block A has
 * latencies 2 and 6, block B has 3. The scheduler is loose round robin. Time here is two cycles ahead of Algorithm 1's: one in
 * which the group arrives, and one in which its instructions are fetched.
 *
 *   cycle 0 1 2 3: warps 0 1 2 3 issue A1; warp 0 is ready again at 2, but its turn is at 4
 *   cycle 4 5 6 7: warps 0 1 2 3 issue A2; l = (10, 11, 12, 13) - time
 *   cycle 8: no warp is ready, and the first will be ready at 10: time advances by 2
 *   cycle 10 11 12 13: warps 0 1 2 3 issue B1; the last is complete at 16
 */
static void test_walk_through(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", IDEAL ",scheduler_policy=lrr,int_latency=2,logic_latency=6,fp32_latency=3");
	build(&s.code, CODE_int, "1 <- 1");
	build(&s.code, CODE_logic, "1 <- 1");
	build_block(&s.code);
	build(&s.code, CODE_fp32, "1 <- 1");
	s.path[s.path_length++] = 1;
	s.warps = 4;
	const struct issue expected[] = {{2, 0, 0}, {3, 1, 0}, {4, 2, 0}, {5, 3, 0}, {6, 0, 1}, {7, 1, 1},
	                                 {8, 2, 1}, {9, 3, 1}, {12, 0, 2}, {13, 1, 2}, {14, 2, 2}, {15, 3, 2}};
	/* It is complete in cycle 2 + 16, which is the 19th. */
	CU_ASSERT_EQUAL(scene_run(&s), 19);
	scene_check(&s, expected, GS_ARRAY_LEN(expected));
}

/*
 * Three instructions of latency 2, each of which needs the previous one. A warp alone issues in cycles 2, 4 and 6 and is
 * complete in 8, the ninth cycle. The second warp issues in between, in 3, 5 and 7.
 */
static void test_two_warps(void)
{
	static struct scene s;
	const struct issue expected[] = {{2, 0, 0}, {3, 1, 0}, {4, 0, 1}, {5, 1, 1}, {6, 0, 2}, {7, 1, 2}};
	scene_start(&s, "gtx480", IDEAL ",scheduler_policy=lrr,int_latency=2");
	for (int i = 0; i < 3; i++)
		build(&s.code, CODE_int, "1 <- 1");
	CU_ASSERT_EQUAL(scene_run(&s), 9);
	s.warps = 2;
	CU_ASSERT_EQUAL(scene_run(&s), 10);
	scene_check(&s, expected, GS_ARRAY_LEN(expected));
}

/* A branch lets its warp wait for 5 cycles; another warp issues meanwhile. With units of their own, branches leave those of integers alone. */
static void test_branches_wait(void)
{
	static struct scene s;
	const struct issue expected[] = {{2, 0, 0}, {3, 1, 0}, {7, 0, 1}, {8, 1, 1}};
	scene_start(&s, "gtx480", IDEAL ",scheduler_policy=lrr,int_latency=2,branch_wait_cycles=5,control_units=1");
	build(&s.code, CODE_branch, "");
	build(&s.code, CODE_int, "1 <- 1");
	s.warps = 2;
	scene_run(&s);
	scene_check(&s, expected, GS_ARRAY_LEN(expected));
	/* One that all lanes take alike parts none. */
	const struct issue alike[] = {{2, 0, 0}, {3, 1, 0}, {4, 0, 1}, {5, 1, 1}};
	s.code.code.code[0].flags |= CODE_UNIFORM;
	scene_run(&s);
	scene_check(&s, alike, GS_ARRAY_LEN(alike));
}

/* Whichever units do a shuffle, what needs its result issues 32 cycles later. */
static void test_shuffles_have_units_of_loads(void)
{
	static struct scene s;
	const struct issue expected[] = {{2, 0, 0}, {34, 0, 1}};
	for (int ldst = 0; ldst < 2; ldst++) {
		scene_start(&s, "gtx480", ldst ? IDEAL ",shuffle_unit=ldst" : IDEAL);
		build(&s.code, CODE_shuffle, "1 <- 2");
		build(&s.code, CODE_int, "3 <- 1");
		scene_run(&s);
		scene_check(&s, expected, GS_ARRAY_LEN(expected));
	}
}

/* A way of a table of jumps takes the unit for 4 cycles, and its warp waits for 5: the second warp's is found when the first's is. */
static void test_tables_wait_for_their_unit(void)
{
	static struct scene s;
	const struct issue expected[] = {{2, 0, 0}, {3, 1, 0}, {7, 0, 1}, {10, 1, 1}};
	scene_start(&s, "gtx480", IDEAL ",scheduler_policy=lrr,int_latency=2,control_units=1,table_wait_cycles=5,table_way_cycles=4");
	build(&s.code, CODE_branch, "");
	build(&s.code, CODE_int, "1 <- 1");
	s.code.code.code[0].elements = CODE_TABLE_WAY;
	s.warps = 2;
	scene_run(&s);
	scene_check(&s, expected, GS_ARRAY_LEN(expected));
}

/* Algorithm 1 itself, oldest first; d[i]: latency of instruction i. Returns T. */
static uint64_t algorithm_1(const uint32_t *d, uint32_t count, uint32_t warps)
{
	uint32_t next[64] = {0}, done = 0;
	uint64_t ready[64] = {0}, time = 0, end = 0;
	while (done < warps) {
		uint32_t p = 0;
		while (p < warps && (next[p] == count || ready[p] > time))
			p++;
		if (p < warps) {
			ready[p] = time + d[next[p]++];
			end = ready[p] > end ? ready[p] : end;
			done += next[p] == count;
		}
		time++;
	}
	return end;
}

static void test_equals_algorithm_1(void)
{
	static const enum code_class classes[] = {CODE_int, CODE_logic, CODE_fp32, CODE_move, CODE_conv};
	static const uint32_t latencies[] = {2, 6, 3, 1, 17};
	static struct scene s;
	uint32_t d[64], state = 1;
	for (uint32_t round = 0; round < 20; round++) {
		scene_start(&s, "gtx480", IDEAL ",scheduler_policy=oldest,int_latency=2,logic_latency=6,fp32_latency=3,move_latency=1,"
		                          "conv_latency=17");
		for (uint32_t i = 0; i < 40; i++) {
			state = state * 1664525 + 1013904223;
			uint32_t kind = state >> 16 & 0xff;
			build(&s.code, classes[kind % 5], "1 <- 1");
			d[i] = latencies[kind % 5];
		}
		s.warps = 1 + round % 12;
		CU_ASSERT_EQUAL(scene_run(&s), algorithm_1(d, 40, s.warps) + 3);
	}
}

/* GPGPU-Sim: `ret` only. */
static void test_empty_kernels(void)
{
	static const struct {
		uint32_t sms;
		uint64_t groups;
		uint32_t warps, resident;
		double cycles;
	} cases[] = {{1, 1, 1, 8, 11},    {1, 1, 8, 6, 18},       {1, 64, 8, 6, 524},    {1, 1024, 8, 6, 8204},
	             {1, 64, 1, 8, 90},   {1, 1024, 1, 8, 1290},  {15, 1024, 8, 6, 564}};
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	scene_exit(&s);
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		s.gpu.sm_count = cases[i].sms;
		s.groups = cases[i].groups;
		s.warps = cases[i].warps;
		s.resident = cases[i].resident;
		CU_ASSERT_EQUAL(scene_run(&s), cases[i].cycles);
	}
}

/* GPGPU-Sim: cycles from issue to dependent issue, one warp. There are twelve in a row, so fetching is hidden. */
static void test_distances(void)
{
	static const struct {
		enum code_class class;
		enum code_space space;
		double distance;
	} cases[] = {{CODE_fp32_fma, 0, 7},   {CODE_int, 0, 10},     {CODE_int_mul, 0, 10}, {CODE_int_mad, 0, 11},
	             {CODE_fp32_minmax, 0, 19}, {CODE_sfu, 0, 14},     {CODE_fp32_div, 0, 45}, {CODE_int_div, 0, 151},
	             {CODE_load, SPACE_shared, 31}, {CODE_load, SPACE_global, 39},
	             /* 3 if the address is in the instruction; here it is in a register */
	             {CODE_load, SPACE_const, 4}};
	static struct scene s;
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		scene_start(&s, "gtx480", NULL);
		for (int n = 0; n < 12; n++)
			build(&s.code, cases[i].class, "1 <- 1")->space = (uint8_t)cases[i].space;
		scene_run(&s);
		for (int n = 2; n < 12; n++)
			CU_ASSERT_EQUAL(s.issues[n].cycle - s.issues[n - 1].cycle, cases[i].distance);
	}
}

/* Without a register to read, collection takes a cycle less: 6. */
static void test_no_operand_to_read(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	build(&s.code, CODE_move, "1 <-");
	build(&s.code, CODE_move, "2 <- 1");
	scene_run(&s);
	CU_ASSERT_EQUAL(s.issues[1].cycle - s.issues[0].cycle, 6);
}

/* Three reads of one bank take two cycles more than reads of three banks: 7 + 2. Registers 1, 17 and 33 share bank 1 of 16. */
static void test_bank_conflict(void)
{
	static struct scene s;
	for (int conflict = 0; conflict < 2; conflict++) {
		scene_start(&s, "gtx480", NULL);
		for (int n = 0; n < 8; n++)
			build(&s.code, CODE_fp32_fma, conflict ? "1 <- 1 17 33" : "1 <- 1 18 35");
		scene_run(&s);
		CU_ASSERT_EQUAL(s.issues[5].cycle - s.issues[4].cycle, conflict ? 9 : 7);
		CU_ASSERT_EQUAL(s.timing.bank_conflicts, conflict ? 16 : 0);
	}
}

/* A model of the banks gives the delay instead of the banks themselves: 1.5 cycles more on average. */
static void test_extra_read_cycles(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	for (int n = 0; n < 12; n++)
		build(&s.code, CODE_fp32_fma, "1 <- 1 17 33");
	s.options.resolve_banks = false;
	s.options.extra_read_cycles = 1.5;
	scene_run(&s);
	CU_ASSERT_EQUAL(s.issues[10].cycle - s.issues[2].cycle, 8 * 8.5);
}

/*
 * GPGPU-Sim: an instruction of a warp alone issues 1 cycle after the first of a fetched pair, 2 after the second. After a taken
 * branch it issues 3 after the first, because the second is flushed when the scheduler looks. It issues 4 after the second,
 * because the next instructions have been fetched by then.
 */
static void test_taken_branches(void)
{
	static struct scene s;
	for (int second = 0; second < 2; second++) {
		scene_start(&s, "gtx480", "icache_line_instructions=0");
		if (second)
			build(&s.code, CODE_move, "1 <-");
		build(&s.code, CODE_branch, "");
		build_block(&s.code);
		build(&s.code, CODE_move, "2 <-");
		build_block(&s.code);
		build(&s.code, CODE_move, "3 <-");
		build(&s.code, CODE_move, "4 <-");
		build(&s.code, CODE_move, "5 <-");
		s.path[s.path_length++] = 2;
		scene_run(&s);
		size_t branch = second ? 1 : 0;
		CU_ASSERT_EQUAL(s.issues[branch + 1].cycle - s.issues[branch].cycle, second ? 4 : 3);
		CU_ASSERT_EQUAL(s.issues[branch + 2].cycle - s.issues[branch + 1].cycle, 1);
		CU_ASSERT_EQUAL(s.issues[branch + 3].cycle - s.issues[branch + 2].cycle, 2);
	}
}

/* An instruction that is fetched with the last one of the code is flushed like any other: 3 after the first of a pair. */
static void test_branch_at_the_end_of_the_code(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", "icache_line_instructions=0");
	build(&s.code, CODE_move, "3 <-");
	build_block(&s.code);
	build(&s.code, CODE_branch, "");
	s.path[0] = 1;
	s.path[s.path_length++] = 0;
	scene_run(&s);
	CU_ASSERT_EQUAL(s.issues[1].cycle - s.issues[0].cycle, 3);
}

/* A front end that sees the branch fetches its target in the same cycle. The target issues in the next cycle. */
static void test_flush_at_branch(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", "icache_line_instructions=0,flush_at_branch=1,fetch_to_issue_cycles=1,refill_when_empty=0");
	build(&s.code, CODE_branch, "");
	build_block(&s.code);
	build(&s.code, CODE_move, "2 <-");
	build_block(&s.code);
	for (int i = 0; i < 6; i++)
		build(&s.code, CODE_move, "");
	s.path[s.path_length++] = 2;
	scene_run(&s);
	for (size_t i = 1; i < s.issue_count; i++)
		CU_ASSERT_EQUAL(s.issues[i].cycle - s.issues[i - 1].cycle, 1);
}

/*
 * GPGPU-Sim, fma_chain with one warp: 8 dependent fma, add, setp, @p bra, bra.uni back. 7 x 7 to the last fma, 2 to
 * add (a new pair), 10 to setp, 7 to bra, 1 to bra.uni in the second place, 4 to the first fma: 73.
 */
static void test_loop_of_one_warp(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	build(&s.code, CODE_move, "1 <-");
	build_block(&s.code);
	for (int i = 0; i < 8; i++)
		build(&s.code, CODE_fp32_fma, "1 <- 1 2 3");
	build(&s.code, CODE_int, "12 <- 12");
	build(&s.code, CODE_move, "13 <- 12");
	build(&s.code, CODE_branch, "? 13");
	build(&s.code, CODE_branch, "");
	build_block(&s.code);
	scene_exit(&s);
	CU_ASSERT_EQUAL(loop_cycles(&s), 73);
}

/* One sfu unit takes 8 cycles for each. Two warps have 10 independent sines each. */
static void test_sfu_contention(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	for (int i = 0; i < 10; i++)
		build(&s.code, CODE_sfu, "");
	scene_run(&s);
	double alone = s.timing.cycles;
	s.warps = 2;
	CU_ASSERT_EQUAL(scene_run(&s) - alone, 80);
	/* Ten wait in port, collectors and unit. The other ten wait for them, less the cycles in which they issue. */
	CU_ASSERT_TRUE(s.timing.by[CYCLES_unit_sfu] > 40);
	scene_start(&s, "gtx480", "sfu_units=2,sfu_ports=2");
	for (int i = 0; i < 10; i++)
		build(&s.code, CODE_sfu, "");
	s.warps = 2;
	CU_ASSERT_TRUE(scene_run(&s) < alone + 8);
}

/* 48 warps issue independent instructions of a mix. Returns their rate. GPGPU-Sim's is below 2 per cycle, because a unit cannot
 * finish two instructions at once. Registers are spread over the banks. */
static double rate(const char *overrides, const enum code_class *mix, size_t kinds)
{
	static struct scene s;
	scene_start(&s, "gtx480", overrides);
	build_block(&s.code);
	for (int i = 0; i < 32; i++) {
		enum code_class class = mix[(size_t)i % kinds];
		char operands[64];
		int n = snprintf(operands, sizeof operands, "%d <- %d", 20 + i, i * 3 % 16);
		if (class != CODE_logic && class != CODE_move && class != CODE_sfu)
			n += snprintf(operands + n, sizeof operands - (size_t)n, " %d", (i * 3 + 1) % 16);
		if (class == CODE_fp32_fma)
			snprintf(operands + n, sizeof operands - (size_t)n, " %d", (i * 3 + 2) % 16);
		build(&s.code, class, operands);
	}
	build(&s.code, CODE_int, "60 <- 60");
	build(&s.code, CODE_move, "61 <- 60");
	build(&s.code, CODE_branch, "? 61");
	build_block(&s.code);
	scene_exit(&s);
	scene_loop(&s, 50);
	s.warps = 8;
	s.groups = s.resident = 6;
	scene_run(&s);
	return (double)s.timing.warp_instructions / s.timing.cycles;
}
#define RATE(overrides, ...)                                                                                           \
	rate(overrides, (const enum code_class[]){__VA_ARGS__}, sizeof((const enum code_class[]){__VA_ARGS__}) / sizeof(enum code_class))

static void test_rates_of_mixes(void)
{
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_logic), 1.93, 0.02);
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_int, CODE_fp32_fma), 1.52, 0.02);
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_int, CODE_int, CODE_fp32_fma), 1.42, 0.02);
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_int, CODE_int_mul), 1.30, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_int_minmax, CODE_move), 1.20, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_int_minmax, CODE_move, CODE_move, CODE_move), 1.42, 0.02);
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_int_mul), 1.03, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_int_minmax), 1.02, 0.01);
	/* 32 sines take 256 cycles, and 35 instructions issue meanwhile. */
	CU_ASSERT_DOUBLE_EQUAL(RATE(NULL, CODE_sfu), 35.0 / 256, 0.002);
}

static void test_completion_slots(void)
{
	double with = RATE(NULL, CODE_int, CODE_fp32_fma), without = RATE("completion_slots=0", CODE_int, CODE_fp32_fma);
	CU_ASSERT_TRUE(without > 1.05 * with);
}

static const uint32_t all_blocks[] = {0, 1, 2};
#define BLOCKS(first, count) {.blocks = all_blocks + (first), .block_count = (count)}

/*
 * Two warps with a scheduler each. A division before the barrier delays warp 0. The scheduler that goes first alternates: it is
 * warp 0's in odd cycles. If warp 0 arrives in an odd cycle, warp 1 goes on in the same cycle. In an even cycle, warp 1's
 * scheduler has looked already. Warp 0 goes on in the next cycle.
 */
static void test_barrier(void)
{
	static struct scene s;
	const struct warp_path paths[] = {BLOCKS(0, 3), BLOCKS(1, 2)};
	for (uint32_t even = 0; even < 2; even++) {
		scene_start(&s, "gtx480", IDEAL);
		s.gpu.schedulers_per_sm = 2;
		s.gpu.fp32_div_latency = 45 + even;
		build(&s.code, CODE_fp32_div, "1 <- 1");
		build_block(&s.code);
		build(&s.code, CODE_barrier, "? 1");
		build_block(&s.code);
		build(&s.code, CODE_move, "2 <- 1");
		scene_run_paths(&s, paths, 2);
		const struct issue odd_cycle[] = {{2, 1, 1}, {2, 0, 0}, {47, 0, 1}, {47, 1, 2}, {48, 0, 2}};
		const struct issue even_cycle[] = {{2, 1, 1}, {2, 0, 0}, {48, 0, 1}, {49, 0, 2}, {49, 1, 2}};
		scene_check(&s, even ? even_cycle : odd_cycle, 5);
	}
}

/* As above, with a barrier that takes 14 cycles itself. The last warp arrives in cycle 47, and both go on in 61. */
static void test_barrier_takes_its_latency(void)
{
	static struct scene s;
	const struct warp_path paths[] = {BLOCKS(0, 3), BLOCKS(1, 2)};
	scene_start(&s, "gtx480", IDEAL);
	s.gpu.schedulers_per_sm = 2;
	s.gpu.fp32_div_latency = 45;
	s.gpu.barrier_latency = 14;
	build(&s.code, CODE_fp32_div, "1 <- 1");
	build_block(&s.code);
	build(&s.code, CODE_barrier, "? 1");
	build_block(&s.code);
	build(&s.code, CODE_move, "2 <- 1");
	scene_run_paths(&s, paths, 2);
	const struct issue expected[] = {{2, 1, 1}, {2, 0, 0}, {47, 0, 1}, {61, 0, 2}, {61, 1, 2}};
	scene_check(&s, expected, 5);
}

/* A warp that has ended does not keep the others at the barrier. */
static void test_barrier_without_the_ended(void)
{
	static struct scene s;
	const struct warp_path paths[] = {BLOCKS(0, 1), BLOCKS(1, 1)};
	scene_start(&s, "gtx480", NULL);
	build(&s.code, CODE_barrier, "");
	build(&s.code, CODE_move, "1 <-");
	build_block(&s.code);
	build(&s.code, CODE_fp32_div, "1 <- 1");
	scene_run_paths(&s, paths, 2);
	CU_ASSERT_EQUAL(s.issue_count, 3);
	CU_ASSERT_TRUE(s.timing.cycles < 100);
}

/* A warp issues two per cycle if the second does not need the first. */
static void test_dual_issue(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", IDEAL ",issue_per_scheduler=2,move_latency=1");
	build(&s.code, CODE_move, "1 <-");
	build(&s.code, CODE_move, "2 <-");
	build(&s.code, CODE_move, "3 <-");
	build(&s.code, CODE_move, "4 <- 3");
	build(&s.code, CODE_move, "5 <-");
	const struct issue expected[] = {{2, 0, 0}, {2, 0, 1}, {3, 0, 2}, {4, 0, 3}, {4, 0, 4}};
	scene_run(&s);
	scene_check(&s, expected, GS_ARRAY_LEN(expected));
}

/* Three warps with three independent instructions: in turn, or one warp after the other. */
static void test_turns(void)
{
	static struct scene s;
	static const char *const policies[] = {"lrr", "gto", "oldest", "two_level"};
	for (int policy = 0; policy < 4; policy++) {
		char overrides[1024];
		snprintf(overrides, sizeof overrides, IDEAL ",two_level_warps=1,scheduler_policy=%s", policies[policy]);
		scene_start(&s, "gtx480", overrides);
		for (int i = 0; i < 3; i++)
			build(&s.code, CODE_move, "");
		s.warps = 3;
		scene_run(&s);
		for (uint32_t i = 0; i < 9; i++) {
			CU_ASSERT_EQUAL(s.issues[i].cycle, 2 + i);
			CU_ASSERT_EQUAL(s.issues[i].slot, policy == 0 ? i % 3 : i / 3);
		}
	}
}

/* Warp 0 must wait until cycle 6. Warp 1 never waits. Greedy stays with warp 1 to its end, oldest first goes back. */
static void test_greedy_against_oldest(void)
{
	static struct scene s;
	const struct warp_path paths[] = {BLOCKS(0, 1), BLOCKS(1, 1)};
	static const uint32_t oldest[] = {0, 1, 1, 1, 0, 1, 1, 1}, greedy[] = {0, 1, 1, 1, 1, 1, 1, 0};
	for (int is_greedy = 0; is_greedy < 2; is_greedy++) {
		scene_start(&s, "gtx480", IDEAL ",int_latency=4");
		s.gpu.scheduler_policy = is_greedy ? GPU_SCHEDULER_gto : GPU_SCHEDULER_oldest;
		build(&s.code, CODE_int, "1 <- 1");
		build(&s.code, CODE_int, "1 <- 1");
		build_block(&s.code);
		for (int i = 0; i < 6; i++)
			build(&s.code, CODE_move, "");
		scene_run_paths(&s, paths, 2);
		for (uint32_t i = 0; i < 8; i++)
			CU_ASSERT_EQUAL(s.issues[i].slot, is_greedy ? greedy[i] : oldest[i]);
	}
}

/* One active warp. It gives way if it waits for memory, but not if it waits for a unit. */
static void test_two_levels(void)
{
	static struct scene s;
	for (int memory = 0; memory < 2; memory++) {
		scene_start(&s, "gtx480", IDEAL ",scheduler_policy=two_level,two_level_warps=1,int_latency=10,ldst_units=8,l1_latency=39");
		if (memory)
			build_memory(&s.code, CODE_load, SPACE_global, "1 <- 1");
		else
			build(&s.code, CODE_int, "1 <- 1");
		build(&s.code, CODE_move, "2 <- 1");
		s.warps = 2;
		scene_run(&s);
		const struct issue gives_way[] = {{2, 0, 0}, {3, 1, 0}, {41, 0, 1}, {42, 1, 1}};
		const struct issue stays[] = {{2, 0, 0}, {12, 0, 1}, {13, 1, 0}, {23, 1, 1}};
		scene_check(&s, memory ? gives_way : stays, 4);
	}
}

/*
 * A load of 32 accesses holds the unit for 32 cycles. It is issued at t, starts at t + 3 and arrives at t + 38 + 32. The next
 * load is issued at t + 1 and starts when the unit is free, at t + 35. It arrives 36 later.
 */
static void test_accesses_hold_the_unit(void)
{
	static struct scene s;
	static const uint32_t block = 0;
	static const uint16_t accesses[] = {32, 1}, usual[] = {32, 1, 1, 1};
	scene_start(&s, "gtx480", NULL);
	build_memory(&s.code, CODE_load, SPACE_global, "1 <- 3");
	build_memory(&s.code, CODE_load, SPACE_global, "2 <- 3");
	build(&s.code, CODE_move, "4 <- 1");
	build(&s.code, CODE_move, "5 <- 2");
	for (int own = 0; own < 2; own++) {
		struct warp_path path = {.blocks = &block, .block_count = 1, .accesses = own ? accesses : NULL, .access_count = 2};
		uint32_t path_of = 0;
		struct launch_warps launch = {.code = &s.code.code, .paths = &path, .path_count = 1, .groups = 1,
		                              .warps_per_group = 1, .path_of = &path_of, .pattern_groups = 1,
		                              .usual_accesses = own ? NULL : usual};
		s.issue_count = 0;
		CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), 0);
		uint64_t t = s.issues[0].cycle;
		CU_ASSERT_EQUAL(s.issues[1].cycle, t + 1);
		CU_ASSERT_EQUAL(s.issues[2].cycle, t + 70);
		CU_ASSERT_EQUAL(s.issues[3].cycle, t + 71);
	}
}

/* Of n different constants, the last comes 11 (n - 1) cycles after the first, and the unit is taken for 2 n cycles: so long a load waits that comes next. */
static void test_constants_follow_one_another(void)
{
	static struct scene s;
	static const uint32_t block = 0;
	static const uint16_t usual[][5] = {{1, 1, 1, 1, 1}, {4, 1, 1, 1, 1}, {8, 1, 1, 1, 1}};
	static const uint64_t later[] = {0, 11, 33};
	uint32_t path_of = 0;
	for (int waits = 0; waits < 2; waits++) {
		uint64_t alone = 0;
		scene_start(&s, "gtx480", "const_each_cycles=2,const_each_latency=11");
		build_memory(&s.code, CODE_load, SPACE_const, "1 <- 3");
		build_memory(&s.code, CODE_load, SPACE_global, "2 <- 3");
		build(&s.code, CODE_move, waits ? "5 <- 2" : "4 <- 1");
		for (int i = 0; i < 3; i++) {
			struct warp_path path = {.blocks = &block, .block_count = 1};
			struct launch_warps launch = {.code = &s.code.code, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1,
			                              .path_of = &path_of, .pattern_groups = 1, .usual_accesses = usual[i]};
			s.issue_count = 0;
			CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), 0);
			uint64_t took = s.issues[2].cycle - s.issues[0].cycle;
			alone = i ? alone : took;
			CU_ASSERT_EQUAL(took, alone + (waits ? usual[i][0] - 1u : later[i]));
		}
	}
}

/*
 * A load of 16 accesses is issued in cycle t. It misses L1, so its value comes 4 cycles later than a hit: complete in
 * t + 39 + 15 + 4 = t + 58. Its accesses write register 1 in cycles t + 43 to t + 58, and hold bank 1 for that time. A chain of
 * fmas uses register 17, which is in the same bank. It issues in t + 1 and every 7 cycles, and reads 2 cycles later. The seventh
 * is issued in t + 43 and reads in t + 59 instead of t + 45. Hits in L1 do not write through the banks.
 */
static void test_late_accesses_write_their_bank(void)
{
	static struct scene s;
	static const uint16_t accesses[] = {16}, hit[] = {0}, miss[] = {4};
	static const uint32_t block = 0;
	uint32_t path_of = 0;
	scene_start(&s, "gtx480", NULL);
	build_memory(&s.code, CODE_load, SPACE_global, "1 <- 3");
	for (int i = 0; i < 9; i++)
		build(&s.code, CODE_fp32_fma, "17 <- 17");
	for (int late = 0; late < 2; late++) {
		struct warp_path path = {.blocks = &block, .block_count = 1, .accesses = accesses, .access_count = 1,
		                         .waits = late ? miss : hit};
		struct launch_warps launch = {.code = &s.code.code, .paths = &path, .path_count = 1, .groups = 1,
		                              .warps_per_group = 1, .path_of = &path_of, .pattern_groups = 1};
		s.issue_count = 0;
		CU_ASSERT_EQUAL(model_occupancy_vector(&s.gpu, &launch, 1, &s.options, &s.timing, NULL), 0);
		CU_ASSERT_EQUAL(s.issues[1].cycle - s.issues[0].cycle, 1);
		for (int i = 1; i < 9; i++)
			CU_ASSERT_EQUAL(s.issues[i + 1].cycle - s.issues[i].cycle, late && i == 7 ? 7 + 14 : 7);
	}
}

/* GPGPU-Sim: a store to global memory is acknowledged 41 cycles after issue. A store to shared memory leaves after 4. */
static void test_stores_end_a_warp(void)
{
	static struct scene s;
	for (int shared = 0; shared < 2; shared++) {
		scene_start(&s, "gtx480", NULL);
		build_memory(&s.code, CODE_store, shared ? SPACE_shared : SPACE_global, "1 2")->flags = CODE_EXIT;
		scene_run(&s);
		CU_ASSERT_EQUAL(s.timing.cycles, (double)s.issues[0].cycle + (shared ? 4 : 41) + 1);
	}
}

/* GPGPU-Sim: an atomic of one access, without a register to read, returns after 6. Its warp issues nothing before 5. */
static void test_atomics_stop_a_warp(void)
{
	static struct scene s;
	static const uint64_t distances[] = {5, 6, 1, 6};
	for (int i = 0; i < 4; i++) {
		scene_start(&s, "gtx480", NULL);
		s.gpu.atomics_stop_warp = i < 2;
		build_memory(&s.code, CODE_atomic, SPACE_global, "1 <-");
		build(&s.code, CODE_move, i % 2 ? "2 <- 1" : "2 <-");
		scene_run(&s);
		CU_ASSERT_EQUAL(s.issues[1].cycle - s.issues[0].cycle, distances[i]);
	}
}

/* A warp at a fence goes on when its loads have arrived. */
static void test_fence(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	build_memory(&s.code, CODE_load, SPACE_global, "1 <- 2");
	build(&s.code, CODE_move, "3 <-");
	build_memory(&s.code, CODE_fence, SPACE_none, "");
	build(&s.code, CODE_move, "4 <-");
	scene_run(&s);
	CU_ASSERT_EQUAL(s.issues[3].cycle - s.issues[0].cycle, 39);
}

/* Cycles from a fence to the instruction behind it. */
static uint64_t wait_at_fence(uint32_t latency, uint8_t flags)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	s.gpu.fence_latency = latency;
	build_memory(&s.code, CODE_fence, SPACE_none, "")->flags = flags;
	build(&s.code, CODE_move, "4 <-");
	scene_run(&s);
	return s.issues[1].cycle - s.issues[0].cycle;
}

/* A fence of the GPU takes its time, from when all before it is done. One of the own group does not. */
static void test_fence_of_gpu(void)
{
	uint64_t least = wait_at_fence(0, CODE_OF_GPU), some = wait_at_fence(100, CODE_OF_GPU);
	CU_ASSERT_EQUAL(wait_at_fence(300, CODE_OF_GPU) - some, 200);
	CU_ASSERT_TRUE(some >= 100 && some <= least + 100 + 16);
	CU_ASSERT_EQUAL(wait_at_fence(300, 0), least);
}

/* Four warps of scheduler 0 alone, with arithmetic that takes 2 cycles of a unit: four units, or one of four. */
static void test_sub_cores(void)
{
	static struct scene s;
	double cycles[2];
	for (uint32_t own = 0; own < 2; own++) {
		scene_start(&s, "v100", "operand_collectors=0");
		s.gpu.sub_cores = own;
		for (int i = 0; i < 100; i++)
			build(&s.code, CODE_fp32_fma, "");
		struct warp_path paths[13];
		for (uint32_t i = 0; i < 13; i++)
			paths[i] = (struct warp_path){.blocks = all_blocks, .block_count = i % 4 == 0};
		scene_run_paths(&s, paths, 13);
		cycles[own] = s.timing.cycles;
	}
	CU_ASSERT_DOUBLE_EQUAL(cycles[0], 400, 20);
	CU_ASSERT_DOUBLE_EQUAL(cycles[1], 800, 20);
}

/* One warp, one dependent chain: nearly all of its cycles are spent waiting for results. */
static void test_cycles_by_kind(void)
{
	static struct scene s;
	scene_start(&s, "gtx480", NULL);
	for (int i = 0; i < 100; i++)
		build(&s.code, CODE_int, "1 <- 1");
	scene_run(&s);
	CU_ASSERT_EQUAL(s.timing.by[CYCLES_issue], 100);
	/* 99 times 9, less the cycle in which the second of a pair is still being fetched. */
	CU_ASSERT_TRUE(s.timing.by[CYCLES_dependency] > 99 * 9 - 120);
	CU_ASSERT_EQUAL(s.timing.by[CYCLES_barrier], 0);
	CU_ASSERT_EQUAL(s.timing.by[CYCLES_memory], 0);
	CU_ASSERT_TRUE(s.timing.by[CYCLES_launch] >= 3);
}

void add_occupancy_vector_tests(void)
{
	CU_pSuite s = CU_add_suite("occupancy vector", NULL, NULL);
	CU_add_test(s, "four warps on an SM, cycle by cycle, as in GATSim's Fig. 3", test_walk_through);
	CU_add_test(s, "two warps fill each other's gaps", test_two_warps);
	CU_add_test(s, "branches wait", test_branches_wait);
	CU_add_test(s, "shuffles have units of loads", test_shuffles_have_units_of_loads);
	CU_add_test(s, "tables of jumps wait for their unit", test_tables_wait_for_their_unit);
	CU_add_test(s, "an ideal pipeline is Algorithm 1", test_equals_algorithm_1);
	CU_add_test(s, "empty kernels take what the simulator says", test_empty_kernels);
	CU_add_test(s, "a result is there after latency and pipeline", test_distances);
	CU_add_test(s, "collection is shorter without registers to read", test_no_operand_to_read);
	CU_add_test(s, "reads of one bank wait for one another", test_bank_conflict);
	CU_add_test(s, "extra cycles of reading are given out in whole ones", test_extra_read_cycles);
	CU_add_test(s, "a taken branch wastes what was fetched", test_taken_branches);
	CU_add_test(s, "a branch at the end of the code is like any other", test_branch_at_the_end_of_the_code);
	CU_add_test(s, "a front end that flushes at once loses nothing", test_flush_at_branch);
	CU_add_test(s, "fma_chain's loop takes 73 cycles", test_loop_of_one_warp);
	CU_add_test(s, "warps wait for the sfu unit", test_sfu_contention);
	CU_add_test(s, "rates of instruction mixes", test_rates_of_mixes);
	CU_add_test(s, "completion slots are what mixes lose", test_completion_slots);
	CU_add_test(s, "a barrier holds a warp until the others arrive", test_barrier);
	CU_add_test(s, "a barrier takes its own latency after the last has arrived", test_barrier_takes_its_latency);
	CU_add_test(s, "a barrier does not wait for warps that ended", test_barrier_without_the_ended);
	CU_add_test(s, "dual issue", test_dual_issue);
	CU_add_test(s, "policies take turns or not", test_turns);
	CU_add_test(s, "greedy stays, oldest goes back", test_greedy_against_oldest);
	CU_add_test(s, "two levels give way for memory only", test_two_levels);
	CU_add_test(s, "accesses hold the load/store unit", test_accesses_hold_the_unit);
	CU_add_test(s, "constants follow one another", test_constants_follow_one_another);
	CU_add_test(s, "accesses from behind L1 write their bank one by one", test_late_accesses_write_their_bank);
	CU_add_test(s, "a warp ends when its stores are acknowledged", test_stores_end_a_warp);
	CU_add_test(s, "an atomic stops its warp", test_atomics_stop_a_warp);
	CU_add_test(s, "a fence waits for loads", test_fence);
	CU_add_test(s, "a fence of the GPU takes its time", test_fence_of_gpu);
	CU_add_test(s, "a scheduler's own units are all it has", test_sub_cores);
	CU_add_test(s, "cycles by kind", test_cycles_by_kind);
}
