/*
 * Ends and begins of loops in machine code, loop_ends.ptx as ptxas 13.0 assembled it for sm_90: rounds that are left are executed under predicates, the last round
 * loads nothing for the next one, a known number of rounds leaves nothing, and what stays the same is computed on a way that the PTX has no block for. Numbers of instructions were counted in a listing.
 */
#include "tests/tests.h"

#include "analysis/assembled/assembled.h"
#include "analysis/mapping/mapping.h"
#include "models/warps/machine/machine.h"
#include "models/warps/replay.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

struct loop_case {
	struct gs_buf ptx, bytes;
	struct ptx_module *module;
	struct cubin cubin;
	struct kernel_code *code;
};

static void read_part(const char *ending, struct gs_buf *out)
{
	char path[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/analysis/sass/loop_ends%s", root ? root : ".", ending);
	CU_ASSERT_EQUAL_FATAL(gs_read_file(path, out, &error), 0);
}

static void make_case(const char *kernel, struct loop_case *c)
{
	const struct mapping_source nothing = {.counter_count = 0};
	struct mapping *m = NULL;
	*c = (struct loop_case){.code = NULL};
	read_part(".ptx", &c->ptx);
	read_part("-sm_90.cubin", &c->bytes);
	CU_ASSERT_EQUAL_FATAL(ptx_read(c->ptx.data, c->ptx.len, &c->module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(cubin_read(c->bytes.data, c->bytes.len, &c->cubin, &error), 0);
	const struct ptx_function *f = ptx_find(c->module, kernel);
	CU_ASSERT_PTR_NOT_NULL_FATAL(f);
	CU_ASSERT_EQUAL_FATAL(mapping_create(c->module, f, &m, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_solve(m, &nothing, "sm_90:vendor:sass", &c->code, &error), 0);
	CU_ASSERT_EQUAL_FATAL(assembled_apply(f, &c->cubin, cubin_find(&c->cubin, kernel), c->code, &error), 0);
	mapping_free(m);
}

static void free_case(struct loop_case *c)
{
	code_free(c->code);
	cubin_free(&c->cubin);
	ptx_free(c->module);
	gs_buf_free(&c->ptx);
	gs_buf_free(&c->bytes);
}

static void piece_is(const struct kernel_code *c, uint32_t piece, uint32_t of, uint32_t times, uint32_t count)
{
	CU_ASSERT_FATAL(piece < c->machine_block_count);
	CU_ASSERT_EQUAL(c->machine_blocks[piece].of, of);
	CU_ASSERT_EQUAL(c->machine_blocks[piece].times, times);
	CU_ASSERT_EQUAL(c->machine_blocks[piece].count, count);
}

static uint32_t count_class(const struct kernel_code *c, uint32_t block, enum code_class class)
{
	const struct code_machine_block *b = &c->machine_blocks[block];
	uint32_t count = 0;
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		count += c->machine[i].class == class;
	return count;
}

/* Writes a path of blocks anew, with as many turns for each of its accesses. */
static void make_paths(const struct kernel_code *code, const struct warp_path *path, struct machine_paths *m)
{
	static const uint32_t path_of[] = {0};
	struct launch_warps warps = {.code = code, .paths = path, .path_count = 1, .groups = 1, .warps_per_group = 1, .path_of = path_of, .pattern_groups = 1};
	CU_ASSERT_EQUAL_FATAL(machine_paths_make(&(struct gpu){.warp_size = 32}, &warps, m), 0);
}

static void path_is(const struct kernel_code *code, const uint32_t *blocks, size_t count, const uint32_t *expected, size_t expected_count)
{
	struct warp_path path = {.blocks = blocks, .block_count = count};
	struct machine_paths m;
	make_paths(code, &path, &m);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].block_count, expected_count);
	CU_ASSERT_EQUAL(memcmp(m.warps.paths[0].blocks, expected, expected_count * sizeof *expected), 0);
	machine_paths_free(&m);
}
#define PATH_IS(code, from, to) path_is(code, (const uint32_t[])from, sizeof((const uint32_t[])from) / 4, (const uint32_t[])to, sizeof((const uint32_t[])to) / 4)
#define LIST(...) {__VA_ARGS__}

/* Blocks 0 to 3 are the PTX's: 2 is the loop. 4 is what enters it (9 instructions, and 2 where there are four rounds), 5 four rounds, 6 the rest (29), which has two rounds
 * under one predicate and one under another; 7 the BSYNC of block 3, for lanes that arrive alone. */
static void what_is_left_of_a_loop_is_under_predicates(void)
{
	struct loop_case c;
	make_case("halves", &c);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, 8);
	piece_is(c.code, 2, 2, 1, 0);
	piece_is(c.code, 4, 2, 0, 11);
	piece_is(c.code, 5, 2, 4, 29);
	piece_is(c.code, 6, 2, CODE_REST, 29);
	CU_ASSERT_EQUAL(count_class(c.code, 5, CODE_load), 12);
	CU_ASSERT_EQUAL(count_class(c.code, 6, CODE_load), 9);
	CU_ASSERT_TRUE(machine_executes(c.code, 2));
	PATH_IS(c.code, LIST(0, 3), LIST(0, 3));
	PATH_IS(c.code, LIST(0, 1, 2, 2, 3), LIST(0, 4, 6, 3));
	PATH_IS(c.code, LIST(0, 1, 2, 2, 2, 2, 2, 3), LIST(0, 4, 5, 6, 3));
	PATH_IS(c.code, LIST(0, 1, 2, 2, 2, 2, 2, 2, 2, 2, 3), LIST(0, 4, 5, 5, 6, 3));
	free_case(&c);
}

/* Of 4, 2 and 1 executions that a piece may stand for: copies 0 and 1 are for two of them, 2 for one. */
static void copies_of_a_rest_are_those_that_are_left(void)
{
	static const uint32_t expected[4][4] = {{UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX},
	                                        {UINT32_MAX, UINT32_MAX, 0, UINT32_MAX},
	                                        {0, 1, UINT32_MAX, UINT32_MAX},
	                                        {0, 1, 2, UINT32_MAX}};
	for (uint32_t left = 0; left < 4; left++)
		for (uint32_t copy = 0; copy < 4; copy++)
			CU_ASSERT_EQUAL(machine_execution_of_rest(4, copy, left), expected[left][copy]);
}

/* Four loads of parameters and two others before the loop, a store after it, and of each round its three: the column (0), what it leads to (1), and a value (2). The machine loads the columns of
 * all three rounds first, then their values, then what the columns lead to. Of two rounds, the third one's loads are off. */
static void accesses_of_a_rest_are_those_of_the_rounds(void)
{
	static const uint32_t blocks[] = {0, 1, 2, 2, 3};
	static const uint16_t accesses[] = {1, 1, 1, 1, 1, 1, 2, 3, 4, 5, 6, 7, 8}, expected[] = {1, 1, 2, 5, 1, 4, 7, 1, 3, 6, 1, 8};
	struct warp_path path = {.blocks = blocks, .block_count = GS_ARRAY_LEN(blocks), .accesses = accesses, .access_count = GS_ARRAY_LEN(accesses)};
	struct loop_case c;
	struct machine_paths m;
	make_case("halves", &c);
	make_paths(c.code, &path, &m);
	CU_ASSERT_EQUAL_FATAL(m.warps.paths[0].access_count, GS_ARRAY_LEN(expected));
	CU_ASSERT_EQUAL(memcmp(m.warps.paths[0].accesses, expected, sizeof expected), 0);
	machine_paths_free(&m);
	free_case(&c);
}

/* Four loads and stores of each round, of which the last one leaves its fourth load out. Pieces for four rounds, two and one. */
static void last_rounds_load_nothing_for_the_next(void)
{
	struct loop_case c;
	make_case("running", &c);
	CU_ASSERT_EQUAL(count_class(c.code, 1, CODE_load), 3);
	CU_ASSERT_EQUAL(count_class(c.code, 1, CODE_store), 4);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, 6);
	for (uint32_t b = 3; b < 6; b++)
		CU_ASSERT_EQUAL(count_class(c.code, b, CODE_load), 4 * c.code->machine_blocks[b].times);
	free_case(&c);
}

/* The last round has no counter and no address: a load and a maximum, 2 instructions. Four rounds have 15, two 10. */
static void last_rounds_may_be_short(void)
{
	struct loop_case c;
	make_case("largest", &c);
	piece_is(c.code, 2, 2, 1, 2);
	piece_is(c.code, 4, 2, 0, 21);
	piece_is(c.code, 5, 2, 4, 15);
	piece_is(c.code, 6, 2, 2, 10);
	PATH_IS(c.code, LIST(0, 1, 2, 2, 2, 2, 2, 2, 2, 3), LIST(0, 4, 5, 6, 2, 3));
	free_case(&c);
}

/* 64 rounds of 16 loads and stores, of which a piece of 136 instructions has four. Of a window that has not as many, there is a piece if it has half of them. */
static void known_rounds_leave_nothing(void)
{
	struct loop_case c;
	make_case("known", &c);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, 4);
	piece_is(c.code, 1, 1, 1, 0);
	piece_is(c.code, 3, 1, 4, 136);
	PATH_IS(c.code, LIST(0, 1, 1, 1, 1, 1, 1, 1, 1, 2), LIST(0, 3, 3, 2));
	PATH_IS(c.code, LIST(0, 1, 1, 1, 1, 1, 1, 2), LIST(0, 3, 3, 2));
	PATH_IS(c.code, LIST(0, 1, 1, 1, 1, 1, 2), LIST(0, 3, 2));
	free_case(&c);
}

/* Both loads have the line of the one that goes to the higher address. */
static void parts_of_a_load_may_go_down(void)
{
	struct loop_case c;
	uint32_t loads = 0, origins = 0;
	make_case("parted", &c);
	for (uint32_t i = 0; i < c.code->machine_count; i++)
		if (c.code->machine[i].class == CODE_load) {
			loads++;
			origins += c.code->machine_origins[i];
		}
	CU_ASSERT_EQUAL(loads, 2);
	CU_ASSERT_EQUAL(origins, 5 + 6); /* instructions of the PTX, counted from 0 */
	free_case(&c);
}

/* Blocks 1 and 3 are loops that block 0 branches to. The first parts of their remainders, 16 instructions each, are computed once when they are entered. */
static void ways_into_loops_are_executed_when_they_are_entered(void)
{
	struct loop_case c;
	make_case("entered", &c);
	CU_ASSERT_EQUAL_FATAL(c.code->machine_block_count, 7);
	piece_is(c.code, 5, 1, 0, 16);
	piece_is(c.code, 6, 3, 0, 16);
	PATH_IS(c.code, LIST(0, 1, 1, 1, 2, 4), LIST(0, 5, 1, 1, 1, 2, 4));
	PATH_IS(c.code, LIST(0, 3, 3, 4), LIST(0, 6, 3, 3, 4));
	free_case(&c);
}

/* 19 instructions come before the rare case of a reciprocal root, which is a call, and 3 after it. */
static void reciprocal_roots_have_rare_calls(void)
{
	struct loop_case c;
	make_case("root", &c);
	CU_ASSERT_EQUAL(c.code->machine_count, 22);
	free_case(&c);
}

void add_loop_ends_tests(void)
{
	CU_pSuite suite = CU_add_suite("loop_ends", NULL, NULL);
	CU_add_test(suite, "what is left of a loop is under predicates", what_is_left_of_a_loop_is_under_predicates);
	CU_add_test(suite, "copies of a rest are those that are left", copies_of_a_rest_are_those_that_are_left);
	CU_add_test(suite, "accesses of a rest are those of the rounds", accesses_of_a_rest_are_those_of_the_rounds);
	CU_add_test(suite, "last rounds load nothing for the next", last_rounds_load_nothing_for_the_next);
	CU_add_test(suite, "last rounds may be short", last_rounds_may_be_short);
	CU_add_test(suite, "known rounds leave nothing", known_rounds_leave_nothing);
	CU_add_test(suite, "parts of a load may go down", parts_of_a_load_may_go_down);
	CU_add_test(suite, "ways into loops are executed when they are entered", ways_into_loops_are_executed_when_they_are_entered);
	CU_add_test(suite, "reciprocal roots have rare calls", reciprocal_roots_have_rare_calls);
}
