/*
 * Machine code in place of selected code: walk.ptx and sums.ptx as ptxas 13.0 assembled them for sm_90. In walk.ptx an arm of a branch became a
 * predicate: the loop's three blocks of the PTX are one of the machine's. ptxas has unrolled the loop of sums.ptx. calls.ptx has divisions, whose rare
 * cases are calls.
 * Numbers of instructions were counted in the listing of nvdisasm.
 */
#include "tests/tests.h"

#include "analysis/assembled/assembled.h"
#include "analysis/mapping/mapping.h"
#include "models/code/costs.h"
#include "models/warps/machine/machine.h"
#include "runtime/config/gpus.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

struct assembled_case {
	struct gs_buf ptx, bytes;
	struct ptx_module *module;
	const struct ptx_function *function;
	struct cubin cubin;
	struct kernel_code *code;
};

static void read_part(const char *name, const char *ending, struct gs_buf *out)
{
	char path[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/analysis/sass/%s%s", root ? root : ".", name, ending);
	CU_ASSERT_EQUAL_FATAL(gs_read_file(path, out, &error), 0);
}

static void make_case_of(const char *name, const char *kernel, struct assembled_case *c)
{
	const struct mapping_source nothing = {.counter_count = 0};
	struct mapping *m = NULL;
	*c = (struct assembled_case){.code = NULL};
	read_part(name, ".ptx", &c->ptx);
	read_part(name, "-sm_90.cubin", &c->bytes);
	CU_ASSERT_EQUAL_FATAL(ptx_read(c->ptx.data, c->ptx.len, &c->module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(cubin_read(c->bytes.data, c->bytes.len, &c->cubin, &error), 0);
	c->function = ptx_find(c->module, kernel);
	CU_ASSERT_PTR_NOT_NULL_FATAL(c->function);
	CU_ASSERT_EQUAL_FATAL(mapping_create(c->module, c->function, &m, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_solve(m, &nothing, "sm_90:vendor:sass", &c->code, &error), 0);
	mapping_free(m);
}

static void make_case(const char *name, struct assembled_case *c)
{
	make_case_of(name, name, c);
}

static void free_case(struct assembled_case *c)
{
	code_free(c->code);
	cubin_free(&c->cubin);
	ptx_free(c->module);
	gs_buf_free(&c->ptx);
	gs_buf_free(&c->bytes);
}

static bool is_waited_for(const struct kernel_code *c, const struct code_instruction *in, uint16_t reg)
{
	const uint16_t *waits = &c->machine_operands[in->first_operand + in->writes + in->reads];
	for (uint32_t i = 0; i < in->waits; i++)
		if (waits[i] == reg)
			return true;
	return false;
}

/* The way into the loop (LDC, UMOV) is no block of the PTX: it is executed when the loop is entered. */
static void blocks_are_those_of_the_ptx(void)
{
	static const uint32_t counts[] = {11, 8, 0, 0, 2, 2};
	static const int32_t merged[] = {-1, -1, 1, 1, -1, -1};
	struct assembled_case c;
	make_case("walk", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "walk"), c.code, &error), 0);
	CU_ASSERT_EQUAL(c.code->origin, CODE_ASSEMBLED);
	CU_ASSERT_EQUAL(c.code->registers, 10);
	CU_ASSERT_EQUAL(c.code->machine_count, 23);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, 6);
	CU_ASSERT_TRUE(c.code->machine_blocks[5].of == 1 && c.code->machine_blocks[5].times == 0);
	for (uint32_t b = 0; b < 6; b++) {
		CU_ASSERT_EQUAL(c.code->machine_blocks[b].count, counts[b]);
		CU_ASSERT_EQUAL(c.code->machine_blocks[b].merged, merged[b]);
	}
	free_case(&c);
}

/* The loop: LDG, UIADD3, ISETP, IADD3, IADD3, FSETP (waits for LDG, stalls for 13 cycles), FADD under a predicate, BRA. */
static void instructions_issue_by_control_fields(void)
{
	struct assembled_case c;
	make_case("walk", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "walk"), c.code, &error), 0);
	const struct code_instruction *loop = &c.code->machine[c.code->machine_blocks[1].first];
	uint16_t loaded = c.code->machine_operands[loop[0].first_operand], stalled = c.code->machine_operands[loop[5].first_operand];
	CU_ASSERT_TRUE(loop[0].class == CODE_load && loop[0].space == SPACE_global && loop[0].bytes == 4 && loop[0].writes == 1 && loop[0].stall & CODE_STALL_READ);
	uint32_t origin = c.code->machine_origins[c.code->machine_blocks[1].first];
	CU_ASSERT_TRUE(origin < c.code->code_count && c.code->code[origin].class == CODE_load);
	CU_ASSERT_EQUAL(loop[5].stall, 13);
	CU_ASSERT_TRUE(is_waited_for(c.code, &loop[5], loaded));
	for (int i = 1; i < 5; i++)
		CU_ASSERT_FALSE(is_waited_for(c.code, &loop[i], loaded));
	CU_ASSERT_TRUE(is_waited_for(c.code, &loop[6], stalled));
	/* The load's address may be moved on (IADD3) when the load has read it. */
	uint16_t read = c.code->machine_operands[loop[0].first_operand + loop[0].writes + loop[0].reads];
	for (int i = 1; i < 8; i++)
		CU_ASSERT_EQUAL(is_waited_for(c.code, &loop[i], read), i == 3);
	CU_ASSERT_NOT_EQUAL(stalled, loaded);
	CU_ASSERT_TRUE(loop[6].class == CODE_fp32 && loop[6].flags & CODE_GUARDED && loop[6].stall == 0 && loop[6].writes == 0);
	CU_ASSERT_TRUE(loop[7].class == CODE_branch && loop[7].flags & CODE_CONDITIONAL);
	/* Names are the machine's, and registers of results follow the operands that count: one of LDG's, none of FSETP's. */
	CU_ASSERT_STRING_EQUAL(c.code->strings + loop[0].opcode, "LDG");
	CU_ASSERT_STRING_EQUAL(c.code->strings + loop[5].opcode, "FSETP");
	CU_ASSERT_EQUAL(loop[1].first_operand - loop[0].first_operand, loop[0].writes + loop[0].reads + loop[0].waits + 1u);
	CU_ASSERT_TRUE(c.code->machine_operands[loop[1].first_operand - 1] < 255);
	CU_ASSERT_EQUAL(loop[6].first_operand - loop[5].first_operand, loop[5].writes + loop[5].reads + loop[5].waits);
	free_case(&c);
}

/* What the engine makes of a stall: so many cycles until the next instruction, whatever the class takes. */
static uint32_t count_waited(const struct kernel_code *c, const struct code_instruction *in, const uint16_t *loaded, uint32_t count)
{
	uint32_t waited = 0;
	for (uint32_t i = 0; i < count; i++)
		waited += is_waited_for(c, in, loaded[i]);
	return waited;
}

/* Of the 24 loads, barrier 2 counts two, 3 and 4 one each, and 5 the other 20. Each has a register of its own, so that none waits for another one. The
 * first four sums wait for 2, 1, 1 and 20 of them. */
static void loads_of_one_barrier_do_not_wait_for_one_another(void)
{
	enum { LOADS = 24 };
	static const uint32_t waited[] = {2, 1, 1, 20, 0};
	uint16_t loaded[LOADS];
	uint32_t loads = 0, sums = 0;
	struct assembled_case c;
	make_case("loads", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "loads"), c.code, &error), 0);
	for (uint32_t i = 0; i < c.code->machine_count; i++) {
		const struct code_instruction *in = &c.code->machine[i];
		if (in->class == CODE_load && in->space == SPACE_global && loads < LOADS) {
			loaded[loads++] = c.code->machine_operands[in->first_operand];
			for (uint32_t k = 0; k + 1 < loads; k++)
				CU_ASSERT_NOT_EQUAL(loaded[k], loaded[loads - 1]);
		} else if (in->class == CODE_fp32 && sums < GS_ARRAY_LEN(waited)) {
			CU_ASSERT_EQUAL(count_waited(c.code, in, loaded, loads), waited[sums++]);
		}
	}
	CU_ASSERT_EQUAL(loads, LOADS);
	CU_ASSERT_EQUAL(sums, GS_ARRAY_LEN(waited));
	free_case(&c);
}

static void stalls_are_cycles(void)
{
	struct gpu gpu;
	struct code_instruction in = {.class = CODE_fp32, .reads = 2, .stall = 13};
	CU_ASSERT_EQUAL_FATAL(gpu_load(&gpu, "h200", gpus_read, NULL, NULL, NULL, &error), 0);
	CU_ASSERT_DOUBLE_EQUAL(gpu_instruction_cost(&gpu, &in).distance, 13, 0);
	in.stall = 0;
	CU_ASSERT_TRUE(gpu_instruction_cost(&gpu, &in).distance < 13);
	in = (struct code_instruction){.class = CODE_nop, .space = SPACE_const, .writes = 1}; /* LDC */
	CU_ASSERT_DOUBLE_EQUAL(gpu_instruction_cost(&gpu, &in).distance, 30, 0);
}

/* What was read back is what was written, with the fields that only machine code has. */
static void machine_code_is_kept(void)
{
	struct assembled_case c;
	struct gs_buf bytes = {0};
	struct kernel_code *again = NULL;
	make_case("walk", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "walk"), c.code, &error), 0);
	code_write(c.code, &bytes);
	CU_ASSERT_EQUAL_FATAL(code_read(bytes.data, bytes.len, &again, &error), 0);
	CU_ASSERT_EQUAL(again->origin, CODE_ASSEMBLED);
	CU_ASSERT_EQUAL(again->machine_count, 23);
	CU_ASSERT_EQUAL(again->machine[again->machine_blocks[1].first + 5].stall, 13);
	code_free(again);
	gs_buf_free(&bytes);
	free_case(&c);
}

/*
 * The loop of sums.ptx: 15 instructions for four executions, 10 for two, 9 for one, and 11 that choose: before the four (4 and 2), before the two (3) and
 * before the one (2). A warp that goes round 7 times executes all of them once. Each load is that of its own execution.
 */
static void unrolled_loops_have_pieces(void)
{
	static const struct code_machine_block expected[] = {{0, 14, 0, 1, -1}, {14, 9, 1, 1, -1}, {23, 12, 2, 1, -1},
	                                                     {35, 11, 1, 0, -1}, {46, 15, 1, 4, -1}, {61, 10, 1, 2, -1}};
	static const uint32_t blocks[] = {0, 1, 1, 1, 1, 1, 1, 1, 2}, path_of[] = {0}, written[] = {0, 3, 4, 5, 1, 2};
	static const uint16_t accesses[] = {1, 1, 1, 11, 12, 13, 14, 15, 16, 17, 2, 3, 4}; /* parameters, 7 rounds, then two of shared memory and a store */
	static const uint16_t kept[] = {11, 12, 13, 14, 15, 16, 17, 2, 3, 4};
	struct warp_path path = {.blocks = blocks, .block_count = 9, .accesses = accesses, .access_count = 13};
	struct machine_paths m;
	struct assembled_case c;
	make_case("sums", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "sums"), c.code, &error), 0);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, GS_ARRAY_LEN(expected));
	CU_ASSERT_EQUAL(memcmp(c.code->machine_blocks, expected, sizeof expected), 0);
	struct launch_warps warps = {.code = c.code, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1, .path_of = path_of, .pattern_groups = 1};
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].block_count, GS_ARRAY_LEN(written));
	CU_ASSERT_EQUAL(memcmp(m.warps.paths[0].blocks, written, sizeof written), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].access_count, GS_ARRAY_LEN(kept));
	CU_ASSERT_EQUAL(memcmp(m.warps.paths[0].accesses, kept, sizeof kept), 0);
	machine_paths_free(&m);
	free_case(&c);
}

/* By its table of lines, the block of four copies has five of a product of the loop. */
static void copies_are_those_of_all_products(void)
{
	uint32_t copies[5] = {0};
	struct assembled_case c;
	make_case("products", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "products"), c.code, &error), 0);
	for (uint32_t b = 0; b < c.code->machine_block_count; b++) {
		const struct code_machine_block *m = &c.code->machine_blocks[b];
		CU_ASSERT_TRUE_FATAL(m->times < 5);
		copies[m->times] += m->of == 1;
	}
	CU_ASSERT_TRUE(copies[4] == 1 && copies[2] == 1 && copies[1] == 1);
	free_case(&c);
}

static void names_are(const struct kernel_code *c, uint32_t block, const char *const *names, size_t count)
{
	const struct code_machine_block *m = &c->machine_blocks[block];
	CU_ASSERT_FATAL(m->count >= count);
	for (size_t i = 0; i < count; i++)
		CU_ASSERT_STRING_EQUAL(c->strings + c->machine[m->first + i].opcode, names[i]);
}

/* The machine has a block (BSYNC, BRA) behind the inner loop that leads back to the outer one. The outer loop's first block has it, and it comes first. */
static void ways_back_to_an_outer_loop_come_first(void)
{
	struct assembled_case c;
	make_case_of("nests", "chunks", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "chunks"), c.code, &error), 0);
	CU_ASSERT_EQUAL(c.code->machine_blocks[6].count, 6);
	names_are(c.code, 6, (const char *[]){"BSYNC", "BRA", "ISETP", "BSSY", "IMAD", "BRA"}, 6);
	free_case(&c);
}

/* Behind the pieces of a loop lanes meet (BSYNC, UMOV, BRA.DIV), which the table of lines says of the loop. The block of the shuffles has that. */
static void lanes_that_meet_behind_a_loop_are_no_piece_of_it(void)
{
	struct assembled_case c;
	make_case_of("nests", "rows", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "rows"), c.code, &error), 0);
	CU_ASSERT_EQUAL(c.code->machine_blocks[10].count, 12);
	names_are(c.code, 10, (const char *[]){"BSYNC", "UMOV", "BRA", "SHFL", "FADD"}, 5);
	free_case(&c);
}

/* A window of 8 rounds that is repeated: the instructions that enter the loop are not. */
static void entries_of_loops_are_not_repeated(void)
{
	static const uint32_t blocks[] = {0, 1, 1, 1, 1, 1, 1, 1, 1, 2}, path_of[] = {0};
	static const double expected[] = {1, 1, 4, 4, 1};
	struct path_gap gap = {.from = 1, .at = 9, .rounds = 3, .iterations = 8, .outer = -1};
	struct assembled_case c;
	struct machine_paths m;
	double weights[10];
	make_case("sums", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "sums"), c.code, &error), 0);
	path_weigh(c.code, blocks, 10, &gap, 1, weights);
	struct warp_path path = {.blocks = blocks, .block_count = 10, .gaps = &gap, .gap_count = 1, .weights = weights};
	struct launch_warps warps = {.code = c.code, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1, .path_of = path_of, .pattern_groups = 1};
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].block_count, 5);
	for (size_t i = 0; i < 5; i++)
		CU_ASSERT_DOUBLE_EQUAL(m.warps.paths[0].weights[i], expected[i], 1e-9);
	machine_paths_free(&m);
	free_case(&c);
}

/* 16 instructions come before the rare case of a division, which is a call, and 3 after it. One of whole numbers with 64 bits has a call that is not rare. */
/* Writes a path of blocks anew. */
static void paths_are(const struct kernel_code *code, const uint32_t *blocks, size_t count, const uint32_t *expected, size_t expected_count)
{
	static const uint32_t path_of[] = {0};
	struct warp_path path = {.blocks = blocks, .block_count = count};
	struct launch_warps warps = {.code = code, .paths = &path, .path_count = 1, .groups = 1, .warps_per_group = 1, .path_of = path_of, .pattern_groups = 1};
	struct machine_paths m;
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, &m), 0);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].block_count, expected_count);
	CU_ASSERT_EQUAL(memcmp(m.warps.paths[0].blocks, expected, expected_count * sizeof *expected), 0);
	machine_paths_free(&m);
}

/* Two arms meet at a BSYNC, which both execute: a warp whose lanes go both ways does so twice. BSSY keeps nobody waiting; branches that are taken do, and BSYNC. */
static void parted_lanes_arrive_one_by_one(void)
{
	static const struct code_machine_block expected[] = {{0, 8, 0, 1, -1}, {8, 9, 1, 1, -1}, {17, 8, 2, 1, -1}, {25, 5, 3, 1, -1}, {30, 1, 3, CODE_ARRIVES, -1}};
	static const struct { uint32_t at; bool waits; } branches[] = {{3, false}, {7, true}, {16, true}, {25, true}, {30, true}};
	struct assembled_case c;
	make_case("arms", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "arms"), c.code, &error), 0);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, GS_ARRAY_LEN(expected));
	CU_ASSERT_EQUAL(memcmp(c.code->machine_blocks, expected, sizeof expected), 0);
	for (size_t i = 0; i < GS_ARRAY_LEN(branches); i++) {
		CU_ASSERT_EQUAL(c.code->machine[branches[i].at].class, CODE_branch);
		CU_ASSERT_EQUAL(!(c.code->machine[branches[i].at].flags & CODE_UNIFORM), branches[i].waits);
	}
	paths_are(c.code, (uint32_t[]){0, 2, 1, 3}, 4, (uint32_t[]){0, 2, 4, 1, 3}, 5);
	paths_are(c.code, (uint32_t[]){0, 1, 3}, 3, (uint32_t[]){0, 1, 3}, 3);
	free_case(&c);
}

/* A table of three ways (block 1, with the comparisons of block 2): its jump is executed once for each that lanes go. */
static void tables_jump_once_for_each_way(void)
{
	struct assembled_case c;
	make_case_of("arms", "ways", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "ways"), c.code, &error), 0);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, 10);
	CU_ASSERT_EQUAL(c.code->machine_blocks[8].times, CODE_GOES_AGAIN);
	CU_ASSERT_EQUAL(c.code->machine_blocks[8].of, 1);
	CU_ASSERT_EQUAL(c.code->machine_blocks[9].times, CODE_ARRIVES);
	paths_are(c.code, (uint32_t[]){0, 4, 1, 2, 6, 3, 5, 7}, 8, (uint32_t[]){0, 4, 9, 1, 8, 8, 6, 9, 3, 9, 5, 7}, 12);
	paths_are(c.code, (uint32_t[]){0, 1, 2, 3, 7}, 5, (uint32_t[]){0, 1, 3, 7}, 4);
	free_case(&c);
}

static void rare_calls_are_left_out(void)
{
	struct assembled_case c;
	make_case("calls", &c);
	CU_ASSERT_EQUAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "calls"), c.code, &error), 0);
	CU_ASSERT_EQUAL(c.code->machine_count, 19);
	free_case(&c);
}

/* A division of 64 bits: 12 instructions, and the 69 of the function that it calls, but for its RET. */
static void plain_functions_are_executed_where_they_are_called(void)
{
	struct assembled_case c;
	make_case_of("calls", "whole", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "whole"), c.code, &error), 0);
	CU_ASSERT_EQUAL(c.code->machine_count, 12 + 69);
	free_case(&c);
}

static uint32_t count_of(const struct kernel_code *c, uint32_t of, uint32_t times)
{
	for (uint32_t b = 0; b < c->machine_block_count; b++)
		if (c->machine_blocks[b].of == of && c->machine_blocks[b].times == times)
			return c->machine_blocks[b].count;
	return 0;
}

/*
 * halves: who goes past the loop has been in block 2 of the PTX, of which the assembler has one instruction on the way into the loop.
 * push: block 4 has 6 instructions, and 17 more for warps of which no lane is missing.
 * copy: ISETP, BSSY, PLOP3, BRA; PLOP3; BSYNC, ISETP, BSSY, BRA; BSYNC, ISETP, BREAK, BRA; BSYNC stand between pieces of the loop.
 * mutate: block 7 has BSYNC, BSSY, IMAD, ULDC, and VIADD from block 1.
 */
static void the_assembler_has_other_ways(void)
{
	static const struct {
		const char *kernel;
		uint32_t of, times, count;
	} cases[] = {{"halves", 0, 1, 22}, {"halves", 2, 1, 1},  {"push", 3, 1, 5},   {"push", 4, 1, 6},    {"copy", 4, 0, 14},
	             {"copy", 4, 4, 39},   {"copy", 4, 1, 17}, {"mutate", 7, 1, 5}, {"mutate", 4, 1, 3}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct assembled_case c;
		make_case_of("ways", cases[i].kernel, &c);
		CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, cases[i].kernel), c.code, &error), 0);
		CU_ASSERT_EQUAL(count_of(c.code, cases[i].of, cases[i].times), cases[i].count);
		free_case(&c);
	}
}

/* The machine code has loads of 8 bytes (ULDC.64), two for each of 16 bytes in the PTX, and one for two of 4 bytes. All have a place. */
static void constants_by_a_shared_index_have_addresses(void)
{
	static const struct {
		const char *kernel;
		uint32_t loads;
	} cases[] = {{"shared", 8}, {"pairs", 10}};
	for (uint32_t n = 0; n < 2 * GS_ARRAY_LEN(cases); n++) {
		struct assembled_case c;
		uint32_t loads = 0;
		make_case_of("constants", cases[n / 2].kernel, &c);
		struct cubin_code sass = *cubin_find(&c.cubin, cases[n / 2].kernel);
		sass.lines = n % 2 ? sass.lines : NULL;
		CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, &sass, c.code, &error), 0);
		for (uint32_t i = 0; i < c.code->machine_count; i++) {
			const struct code_instruction *in = &c.code->machine[i];
			if (in->class != CODE_uniform)
				continue;
			const struct code_instruction *from = &c.code->code[c.code->machine_origins[i]];
			loads++;
			CU_ASSERT_TRUE(in->space == SPACE_const && from->class == CODE_load && from->space == SPACE_const && in->bytes == from->bytes);
		}
		CU_ASSERT_EQUAL(loads, cases[n / 2].loads);
		free_case(&c);
	}
}

/* The block that ends with this instruction of the PTX. */
static const struct code_block *block_at(const struct kernel_code *c, uint32_t last)
{
	for (uint32_t b = 0; b < c->block_count; b++)
		if (c->blocks[b].first + c->blocks[b].count == last + 1)
			return &c->blocks[b];
	return NULL;
}

static int32_t block_with(const struct kernel_code *c, enum code_class class)
{
	for (uint32_t b = 0; b < c->block_count; b++)
		for (uint32_t i = c->blocks[b].first; i < c->blocks[b].first + c->blocks[b].count; i++)
			if (c->code[i].class == class)
				return (int32_t)b;
	return -1;
}

/* Lanes that leave a loop with YIELD, or go past it, meet again at the end, or before a barrier. In both kernels the second conditional branch goes past the
 * loop, and the third one goes round it; before, they met at what follows the loop. */
static void lanes_leave_loops_with_yields_for_good(void)
{
	static const char *const kernels[] = {"alone", "block"};
	for (size_t i = 0; i < GS_ARRAY_LEN(kernels); i++) {
		struct assembled_case c;
		uint32_t branches = 0;
		make_case_of("yields", kernels[i], &c);
		CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, kernels[i]), c.code, &error), 0);
		for (uint32_t n = 0; n < c.code->code_count; n++) {
			const struct code_block *b = c.code->code[n].flags & CODE_CONDITIONAL ? block_at(c.code, n) : NULL;
			if (b && (++branches == 2 || branches == 3))
				CU_ASSERT_EQUAL(b->join, i ? block_with(c.code, CODE_barrier) : -1);
		}
		CU_ASSERT_TRUE(branches >= 3);
		free_case(&c);
	}
}

/* Instructions 5 to 7 of the PTX are fetches, 12 is a store. The assembler keeps their order. */
static void fetches_need_no_lines(void)
{
	struct assembled_case c;
	uint32_t origins[4], count = 0;
	make_case("fetches", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "fetches"), c.code, &error), 0);
	for (uint32_t i = 0; i < c.code->machine_count; i++)
		if (c.code->machine_origins[i] != UINT32_MAX && count < GS_ARRAY_LEN(origins))
			origins[count++] = c.code->machine_origins[i];
	CU_ASSERT_EQUAL_FATAL(count, 4);
	CU_ASSERT_TRUE(origins[0] == 5 && origins[1] == 6 && origins[2] == 7 && origins[3] == 12);
	free_case(&c);
}

/* Nobody takes the branch (BRA.DIV) to code for lanes that are not together, 21 instructions. The blocks have 9, 11 and 3. */
static void lanes_of_a_mask_are_together(void)
{
	struct assembled_case c;
	for (int with_lines = 0; with_lines < 2; with_lines++) {
		make_case_of("lanes", "few", &c);
		struct cubin_code sass = *cubin_find(&c.cubin, "few");
		sass.lines = with_lines ? sass.lines : NULL;
		CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, &sass, c.code, &error), 0);
		CU_ASSERT_TRUE(c.code->machine_count >= 23 && c.code->machine_blocks[0].count == 9 && c.code->machine_blocks[1].count == 11 && c.code->machine_blocks[2].count == 3);
		free_case(&c);
	}
}

/* The last three registers stand for the open group, the newest and all older ones: a wait may leave one. Loads that no lane makes are no accesses. */
static void groups_of_copies_are_waited_for(void)
{
	struct assembled_case c;
	uint32_t copies = 0, commits = 0, waits[2] = {0, 0}, accesses = 0;
	make_case("stages", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "stages"), c.code, &error), 0);
	CU_ASSERT_TRUE_FATAL(c.code->machine_register_count > 256 + 3);
	uint32_t first = c.code->machine_register_count - 3;
	CU_ASSERT_TRUE(c.code->machine_registers[first].copies == 1 && c.code->machine_registers[first + 2].copies == 3);
	for (uint32_t i = 0; i < c.code->machine_count; i++) {
		const struct code_instruction *in = &c.code->machine[i];
		const char *name = c.code->strings + in->opcode;
		bool writes = in->writes && c.code->machine_operands[in->first_operand] == first;
		accesses += c.code->machine_origins[i] != UINT32_MAX;
		copies += writes && in->writes == 1 && !strcmp(name, "LDGSTS");
		commits += writes && in->writes == 3 && !strcmp(name, "LDGDEPBAR");
		for (uint16_t g = 1; g <= 2; g++)
			waits[g - 1] += !strcmp(name, "DEPBAR") && is_waited_for(c.code, in, (uint16_t)(first + g));
	}
	CU_ASSERT_TRUE(copies == 3 && commits == 3 && accesses == 7);
	CU_ASSERT_TRUE(waits[0] == 1 && waits[1] == 2); /* the first wait leaves the newest */
	free_case(&c);
}

/* Of five accesses to local memory none is left, and of 18 instructions two are accesses. */
static void local_memory_may_become_registers(void)
{
	struct assembled_case c;
	make_case_of("lanes", "own", &c);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "own"), c.code, &error), 0);
	CU_ASSERT_EQUAL(c.code->machine_count, 18);
	CU_ASSERT_EQUAL(c.code->local_bytes, 0);
	uint32_t accesses = 0;
	for (uint32_t i = 0; i < c.code->machine_count; i++)
		accesses += c.code->machine_origins[i] != UINT32_MAX;
	CU_ASSERT_EQUAL(accesses, 2);
	free_case(&c);
}

static void what_does_not_fit_stays_selected(void)
{
	struct assembled_case c;
	make_case("sums", &c);
	uint32_t count = c.code->machine_count, registers = c.code->registers;
	*error.text = 0;
	/* Code of another kernel has lines that are others'. */
	CU_ASSERT_EQUAL(assembled_apply(c.function, &c.cubin, cubin_find(&c.cubin, "empty"), c.code, &error), -ENOTSUP);
	CU_ASSERT_TRUE(c.code->machine_count == count && c.code->registers == registers && c.code->origin == CODE_SELECTED);
	free_case(&c);
}

/* The code of both must be the same, block by block, with the same accesses. */
static void expect_same_code(const struct kernel_code *a, const struct kernel_code *b)
{
	CU_ASSERT_EQUAL_FATAL(a->machine_block_count, b->machine_block_count);
	CU_ASSERT_EQUAL(memcmp(a->machine_blocks, b->machine_blocks, a->machine_block_count * sizeof *a->machine_blocks), 0);
	CU_ASSERT_EQUAL_FATAL(a->machine_count, b->machine_count);
	CU_ASSERT_EQUAL(memcmp(a->machine_origins, b->machine_origins, a->machine_count * sizeof *a->machine_origins), 0);
	for (uint32_t i = 0; i < a->machine_count; i++)
		CU_ASSERT_EQUAL(a->machine[i].class, b->machine[i].class);
}

/* An arm that is a predicate, an unrolled loop with what chooses between its pieces, two arms, a rare call: nothing is lost without the table of lines. */
static void lines_are_not_needed(void)
{
	static const char *const names[] = {"walk", "sums", "arms", "calls"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		struct assembled_case with, without;
		make_case(names[i], &with);
		make_case(names[i], &without);
		struct cubin_code sass = *cubin_find(&without.cubin, names[i]);
		CU_ASSERT_EQUAL_FATAL(assembled_apply(with.function, &with.cubin, &sass, with.code, &error), 0);
		sass.lines = NULL;
		CU_ASSERT_EQUAL_FATAL(assembled_apply(without.function, &without.cubin, &sass, without.code, &error), 0);
		expect_same_code(with.code, without.code);
		free_case(&with);
		free_case(&without);
	}
}

/* Where a table of jumps leads is only in the lines. */
static void what_only_lines_say(void)
{
	struct assembled_case c;
	make_case_of("arms", "ways", &c);
	struct cubin_code sass = *cubin_find(&c.cubin, "ways");
	sass.lines = NULL;
	CU_ASSERT_EQUAL(assembled_apply(c.function, &c.cubin, &sass, c.code, &error), -ENOTSUP);
	CU_ASSERT_STRING_EQUAL(error.text, "the machine code has no table of lines, which would say where its table of jumps leads");
	free_case(&c);
}

/* sums-sm_75 is other code of the same PTX. */
static void the_same_code_is_known(void)
{
	struct assembled_case c;
	struct gs_buf bytes = {0};
	struct cubin other;
	make_case("sums", &c);
	read_part("sums", "-sm_75.cubin", &bytes);
	CU_ASSERT_EQUAL_FATAL(cubin_read(bytes.data, bytes.len, &other, &error), 0);
	const struct cubin_code *sums = cubin_find(&c.cubin, "sums");
	CU_ASSERT_TRUE(assembled_same(90, sums, sums));
	CU_ASSERT_FALSE(assembled_same(90, sums, cubin_find(&other, "sums")));
	CU_ASSERT_FALSE(assembled_same(90, sums, cubin_find(&c.cubin, "empty")));
	cubin_free(&other);
	gs_buf_free(&bytes);
	free_case(&c);
}

/* Whatever instructions and lines are, they fit or they do not. */
static void damage(const char *kernel, bool with_lines)
{
	struct assembled_case c;
	uint32_t state = 7, fitting = 0, tried = 0;
	make_case(kernel, &c);
	for (unsigned round = 0; round < 300; round++) {
		struct cubin cubin;
		char *copy = malloc(c.bytes.len);
		memcpy(copy, c.bytes.data, c.bytes.len);
		for (unsigned k = 0; k < 1 + round % 24; k++)
			copy[next_random(&state) % c.bytes.len] ^= (char)(1 << next_random(&state) % 8);
		if (!cubin_read(copy, c.bytes.len, &cubin, &error)) {
			const struct cubin_code *walk = cubin_find(&cubin, kernel);
			tried += walk != NULL;
			struct cubin_code sass = walk ? *walk : (struct cubin_code){0};
			sass.lines = with_lines ? sass.lines : NULL;
			if (walk)
				fitting += !assembled_apply(c.function, &cubin, &sass, c.code, &error);
			cubin_free(&cubin);
		}
		free(copy);
	}
	CU_ASSERT_TRUE(fitting > 0 && fitting < tried);
	free_case(&c);
}

static void damaged_machine_code(void)
{
	for (int with_lines = 0; with_lines < 2; with_lines++) {
		damage("walk", with_lines);
		damage("sums", with_lines);
		damage("calls", with_lines);
	}
}

void add_assembled_tests(void)
{
	CU_pSuite suite = CU_add_suite("assembled", NULL, NULL);
	CU_add_test(suite, "blocks are those of the PTX", blocks_are_those_of_the_ptx);
	CU_add_test(suite, "instructions issue by control fields", instructions_issue_by_control_fields);
	CU_add_test(suite, "loads of one barrier do not wait for one another", loads_of_one_barrier_do_not_wait_for_one_another);
	CU_add_test(suite, "stalls are cycles", stalls_are_cycles);
	CU_add_test(suite, "machine code is kept", machine_code_is_kept);
	CU_add_test(suite, "unrolled loops have pieces", unrolled_loops_have_pieces);
	CU_add_test(suite, "copies are those of all products", copies_are_those_of_all_products);
	CU_add_test(suite, "entries of loops are not repeated", entries_of_loops_are_not_repeated);
	CU_add_test(suite, "parted lanes arrive one by one", parted_lanes_arrive_one_by_one);
	CU_add_test(suite, "tables jump once for each way", tables_jump_once_for_each_way);
	CU_add_test(suite, "ways back to an outer loop come first", ways_back_to_an_outer_loop_come_first);
	CU_add_test(suite, "lanes that meet behind a loop are no piece of it", lanes_that_meet_behind_a_loop_are_no_piece_of_it);
	CU_add_test(suite, "rare calls are left out", rare_calls_are_left_out);
	CU_add_test(suite, "plain functions are executed where they are called", plain_functions_are_executed_where_they_are_called);
	CU_add_test(suite, "the assembler has other ways", the_assembler_has_other_ways);
	CU_add_test(suite, "lanes leave loops with yields for good", lanes_leave_loops_with_yields_for_good);
	CU_add_test(suite, "constants by a shared index have addresses", constants_by_a_shared_index_have_addresses);
	CU_add_test(suite, "fetches need no lines", fetches_need_no_lines);
	CU_add_test(suite, "lanes of a mask are together", lanes_of_a_mask_are_together);
	CU_add_test(suite, "groups of copies are waited for", groups_of_copies_are_waited_for);
	CU_add_test(suite, "local memory may become registers", local_memory_may_become_registers);
	CU_add_test(suite, "what does not fit stays selected", what_does_not_fit_stays_selected);
	CU_add_test(suite, "lines are not needed", lines_are_not_needed);
	CU_add_test(suite, "what only lines say", what_only_lines_say);
	CU_add_test(suite, "the same code is known", the_same_code_is_known);
	CU_add_test(suite, "damaged machine code", damaged_machine_code);
}
