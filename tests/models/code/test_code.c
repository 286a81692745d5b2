/* The target's code as data: to bytes and back, and counts from sums. */
#include "tests/tests.h"

#include "models/code/code.h"
#include "models/code/code_map.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/*
 * A loop with a guarded call of a library function in it:
 *
 *   block 0 (3 instructions, the last a conditional branch) -> 1 taken, -> 3 falls
 *   block 1 (4, conditional) -> 2 taken (the slow path), -> 1 again is edge 3, -> 3
 * The test simplifies this: edges 0: 0->1, 1: 0->2, 2: 1->2. Block 1 is inside an if. Block 2 is the end (2 instructions).
 * Source counters: 0 = entries, 1 = the then branch. There is one unknown u: how often block 1 takes its branch.
 *   edge 0 = c1, edge 1 = c0 - c1, edge 2 = u (taken), edge 3 = c1 - u (falls), edge 4 = c0: out of block 2
 */
static struct code_instruction instructions[9] = {
	[2] = {.class = CODE_branch, .flags = CODE_CONDITIONAL | CODE_GUARDED, .waits = 1},
	[6] = {.class = CODE_branch, .flags = CODE_CONDITIONAL | CODE_GUARDED},
	[8] = {.class = CODE_branch, .flags = CODE_EXIT},
};
static struct code_block blocks[3] = {
	{.first = 0, .count = 3, .first_edge = 0, .edge_count = 2, .call = -1, .join = 2, .loop = -1},
	{.first = 3, .count = 4, .first_edge = 2, .edge_count = 2, .call = -1, .join = 2, .loop = -1},
	{.first = 7, .count = 2, .first_edge = 4, .edge_count = 1, .call = -1, .join = -1, .loop = -1},
};
static struct code_term terms[] = {{1, 1}, {0, 1}, {1, -1}, {2, 1}, {1, 1}, {2, -1}, {0, 1}, {0, 1}, {1, -2}};
static struct code_edge edges[5] = {
	{.from = 0, .to = 1, .taken = true, .first_term = 0, .term_count = 1, .denominator = 1},
	{.from = 0, .to = 2, .first_term = 1, .term_count = 2, .denominator = 1},
	{.from = 1, .to = 2, .taken = true, .first_term = 3, .term_count = 1, .denominator = 1},
	{.from = 1, .to = 2, .first_term = 4, .term_count = 2, .denominator = 1},
	{.from = 2, .to = -1, .taken = true, .first_term = 6, .term_count = 1, .denominator = 1},
};
static struct code_unknown unknowns[1] = {{.edge = 2}};
static struct code_check checks[1] = {{.first_term = 7, .term_count = 2}};
static uint16_t operands[1] = {1};
static struct code_register registers[2];
static uint32_t functions[1] = {0};
static char no_strings[1];

static struct kernel_code sample(void)
{
	unknowns[0].least = false;
	for (size_t i = 0; i < GS_ARRAY_LEN(instructions); i++)
		instructions[i].address = instructions[i].site = -1;
	return (struct kernel_code){
		.instructions = 9, .registers = 12, .counter_count = 2,
		.code = instructions, .code_count = 9, .blocks = blocks, .block_count = 3, .edges = edges, .edge_count = 5,
		.terms = terms, .term_count = GS_ARRAY_LEN(terms), .unknowns = unknowns, .unknown_count = 1,
		.operands = operands, .operand_count = 1, .register_table = registers, .register_count = 2,
		.functions = functions, .function_count = 1, .strings = no_strings, .string_bytes = 1,
	};
}

static struct code_counts count(const struct kernel_code *code, uint64_t entries, uint64_t then)
{
	static double edge_counts[5], block_counts[3];
	struct code_counts out = {.edges = edge_counts, .blocks = block_counts};
	code_count(code, (uint64_t[]){entries, then}, &out);
	return out;
}

/* 10 entries, 6 of them in the branch. u is between 0 and 6, and the middle is 3. Instructions: block 0 taken 6*3, falling
 * through 4*2; block 1: 3*4 taken, 3*3 falling; block 2: 10*2: 18 + 8 + 12 + 9 + 20 = 67. u = 0: 64, u = 6: 70. */
static void open_counts_are_bounded_and_taken_in_the_middle(void)
{
	struct kernel_code code = sample();
	struct code_counts c = count(&code, 10, 6);
	CU_ASSERT_EQUAL(c.edges[0], 6);
	CU_ASSERT_EQUAL(c.edges[1], 4);
	CU_ASSERT_EQUAL(c.edges[2], 3);
	CU_ASSERT_EQUAL(c.edges[3], 3);
	CU_ASSERT_EQUAL(c.blocks[1], 6);
	CU_ASSERT_EQUAL(c.blocks[2], 10);
	CU_ASSERT_EQUAL(c.thread_instructions, 67);
	CU_ASSERT_EQUAL(c.low, 64);
	CU_ASSERT_EQUAL(c.high, 70);
	CU_ASSERT_TRUE(c.bounded);
	CU_ASSERT_FALSE(c.inconsistent);
}

static void slow_paths_are_not_taken(void)
{
	struct kernel_code code = sample();
	unknowns[0].least = true;
	struct code_counts c = count(&code, 10, 6);
	CU_ASSERT_EQUAL(c.edges[2], 0);
	CU_ASSERT_EQUAL(c.edges[3], 6);
	CU_ASSERT_EQUAL(c.thread_instructions, 64);
}

static double mapped(const struct code_map *map, uint64_t entries, uint64_t then, double *block1)
{
	double out[4];
	code_map_count(map, (uint64_t[]){entries, then}, out);
	*block1 = out[1];
	return out[3];
}

/* Ten work-items, six of them in the branch: of u = 3 each has 0.3. One in the branch: 3 + 0.3 * 4 + 0.7 * 3 + 2 = 8.3; one that is not:
 * 2 + 0.3 * (4 - 3) + 2 = 4.3. 6 * 8.3 + 4 * 4.3 = 67. */
static void a_map_shares_what_is_open(void)
{
	struct kernel_code code = sample();
	struct code_map map;
	double block1;
	CU_ASSERT_EQUAL_FATAL(code_map_init(&map, &code, (uint64_t[]){10, 6}, 10), 0);
	CU_ASSERT_DOUBLE_EQUAL(mapped(&map, 1, 1, &block1), 8.3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(block1, 1, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(mapped(&map, 1, 0, &block1), 4.3, 1e-9);
	CU_ASSERT_DOUBLE_EQUAL(block1, 0, 1e-9);
	code_map_free(&map);
}

/* Block 1 is a copy of block 0: the share s of taken branches is (6 + u) / 16, and u = 6 s, so s = 0.6. In the branch: 3 + 0.6 * 4 + 0.4 * 3 +
 * 2 = 8.6. Others have nothing of u: 2 + 2. */
static void a_map_keeps_the_shares_of_all(void)
{
	struct kernel_code code = sample();
	struct code_map map;
	double block1;
	edges[0].alike = edges[2].alike = 1;
	edges[1].alike = edges[3].alike = 2;
	CU_ASSERT_EQUAL_FATAL(code_map_init(&map, &code, (uint64_t[]){10, 6}, 10), 0);
	CU_ASSERT_DOUBLE_EQUAL(mapped(&map, 1, 1, &block1), 8.6, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(mapped(&map, 1, 0, &block1), 4, 0.01);
	CU_ASSERT_DOUBLE_EQUAL(block1, 0, 0.01);
	code_map_free(&map);
	for (int i = 0; i < 4; i++)
		edges[i].alike = 0;
}

static void counts_that_contradict_are_told(void)
{
	struct kernel_code code = sample();
	CU_ASSERT_TRUE(count(&code, 5, 6).inconsistent); /* edge 1 would be -1 */
	code.checks = checks;                            /* c0 = 2 * c1 */
	code.check_count = 1;
	CU_ASSERT_FALSE(count(&code, 12, 6).inconsistent);
	CU_ASSERT_TRUE(count(&code, 11, 6).inconsistent);
	code.check_count = 0;
	edges[4].denominator = 2;
	CU_ASSERT_FALSE(count(&code, 12, 6).inconsistent);
	CU_ASSERT_TRUE(count(&code, 11, 6).inconsistent);
	edges[4].denominator = 1;
}

static void code_comes_back_from_its_bytes(void)
{
	struct kernel_code code = sample(), *back = NULL;
	struct gs_buf bytes = {0}, again = {0};
	struct gs_error err;
	code_write(&code, &bytes);
	CU_ASSERT_EQUAL_FATAL(code_read(bytes.data, bytes.len, &back, &err), 0);
	CU_ASSERT_EQUAL(back->registers, 12);
	CU_ASSERT_EQUAL(count(back, 10, 6).thread_instructions, 67);
	code_write(back, &again);
	CU_ASSERT_TRUE(again.len == bytes.len && !memcmp(again.data, bytes.data, bytes.len));
	code_free(back);
	gs_buf_free(&again);
	gs_buf_free(&bytes);
}

static int read_with_steps(const struct code_step *steps, uint32_t count)
{
	struct kernel_code code = sample(), *copy = NULL;
	struct code_step own[4];
	struct gs_buf packed = {0};
	memcpy(own, steps, count * sizeof *own);
	code.steps = own;
	code.step_count = count;
	code_write(&code, &packed);
	int result = code_read(packed.data, packed.len, &copy, NULL);
	if (!result)
		CU_ASSERT_EQUAL(copy->step_count, count);
	code_free(copy);
	gs_buf_free(&packed);
	return result;
}

/* Constants come first, then steps in the order of the code; only an instruction of the code has an address. */
static void steps_are_in_order(void)
{
	struct code_node leaf = {.op = NODE_value, .from_bits = 64, .to_bits = 64, .a = -1, .b = -1, .c = -1};
	struct code_node move = {.op = NODE_cvt, .from_bits = 64, .to_bits = 64, .a = 0, .b = -1, .c = -1};
	struct code_step constant = {STEP_FIRST, 0, leaf}, early = {1, 1, move}, late = {4, -1, move};
	CU_ASSERT_EQUAL(read_with_steps((struct code_step[]){constant, early, early, late}, 4), 0);
	CU_ASSERT_EQUAL(read_with_steps((struct code_step[]){constant, late, early}, 3), -EINVAL);
	CU_ASSERT_EQUAL(read_with_steps((struct code_step[]){early, constant}, 2), -EINVAL);
	CU_ASSERT_EQUAL(read_with_steps((struct code_step[]){{STEP_FIRST, -1, move}}, 1), -EINVAL);
	CU_ASSERT_EQUAL(read_with_steps((struct code_step[]){{9, 1, move}}, 1), -EINVAL);
	CU_ASSERT_EQUAL(read_with_steps((struct code_step[]){{1, -1, leaf}}, 1), -EINVAL);
	CU_ASSERT_EQUAL(read_with_steps((struct code_step[]){{1, STEP_MOST_SLOTS, move}}, 1), -EINVAL);
}

/* Every byte is changed in turn, and every shorter length is tried. The result is an error, or code whose indices are all valid. */
static void damaged_code_is_refused_or_harmless(void)
{
	struct kernel_code code = sample(), *back;
	struct gs_buf bytes = {0};
	struct gs_error err;
	double edge_counts[64], block_counts[64];
	uint64_t counts[300] = {1};
	code_write(&code, &bytes);
	for (size_t length = 0; length < bytes.len; length++)
		CU_ASSERT_EQUAL(code_read(bytes.data, length, &back, &err), -EINVAL);
	for (size_t i = 0; i < bytes.len; i++) {
		char kept = bytes.data[i];
		bytes.data[i] = (char)0xff;
		if (!code_read(bytes.data, bytes.len, &back, &err)) {
			struct code_counts out = {.edges = edge_counts, .blocks = block_counts};
			if (back->counter_count < GS_ARRAY_LEN(counts))
				code_count(back, counts, &out);
			code_free(back);
		}
		bytes.data[i] = kept;
	}
	gs_buf_free(&bytes);
}

static int read_back(const struct kernel_code *code)
{
	struct kernel_code *back = NULL;
	struct gs_buf bytes = {0};
	code_write(code, &bytes);
	int result = code_read(bytes.data, bytes.len, &back, NULL);
	gs_buf_free(&bytes);
	code_free(back);
	return result;
}

/* The indices are all valid. But the models would still run forever, or far longer than the length of the file justifies. */
static void code_that_goes_round_is_refused(void)
{
	struct code_loop loops[2] = {{.header = 1, .outer = -1}, {.header = 1, .outer = 0}};
	struct kernel_code code = sample();
	code.loops = loops;
	code.loop_count = 2;
	CU_ASSERT_EQUAL(read_back(&code), 0);
	loops[0].outer = 1;
	CU_ASSERT_EQUAL(read_back(&code), -EINVAL);
	loops[0].outer = 0;
	CU_ASSERT_EQUAL(read_back(&code), -EINVAL);
	loops[0].outer = -1;
	blocks[2].first = 0; /* includes the instructions of the others */
	blocks[2].count = 9;
	CU_ASSERT_EQUAL(read_back(&code), -EINVAL);
	blocks[2].first = 7;
	blocks[2].count = 2;
	edges[4].first_term = 0; /* includes the terms of others */
	edges[4].term_count = 9;
	CU_ASSERT_EQUAL(read_back(&code), -EINVAL);
	edges[4].first_term = 6;
	edges[4].term_count = 1;
	CU_ASSERT_EQUAL(read_back(&code), 0);
}

void add_code_tests(void)
{
	CU_pSuite suite = CU_add_suite("code", NULL, NULL);
	CU_add_test(suite, "open counts are bounded and taken in the middle", open_counts_are_bounded_and_taken_in_the_middle);
	CU_add_test(suite, "slow paths are not taken", slow_paths_are_not_taken);
	CU_add_test(suite, "a map shares what is open", a_map_shares_what_is_open);
	CU_add_test(suite, "a map keeps the shares of all", a_map_keeps_the_shares_of_all);
	CU_add_test(suite, "counts that contradict are told", counts_that_contradict_are_told);
	CU_add_test(suite, "code comes back from its bytes", code_comes_back_from_its_bytes);
	CU_add_test(suite, "steps are in order", steps_are_in_order);
	CU_add_test(suite, "damaged code is refused or harmless", damaged_code_is_refused_or_harmless);
	CU_add_test(suite, "code that goes round is refused", code_that_goes_round_is_refused);
}
