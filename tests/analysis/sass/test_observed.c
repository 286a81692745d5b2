/* Code from what warps were seen to execute. The flow of each case was drawn by hand. */
#include "analysis/sass/observed.h"
#include "tests/tests.h"

#include <errno.h>
#include <string.h>

static int64_t execute(struct observed_code *c, struct observed_warp *w, uint64_t pc, uint32_t mask, const char *opcode)
{
	struct observed_instruction i = {.pc = pc, .mask = mask, .result = 4, .source_count = 1, .sources = {2}, .opcode = opcode,
	                                 .opcode_length = strlen(opcode), .addresses = !strncmp(opcode, "LD", 2), .space = SPACE_global};
	return observed_execute(c, w, &i);
}

static void write_and_read(const struct kernel_code *code)
{
	struct gs_buf bytes = {0};
	struct kernel_code *again = NULL;
	struct gs_error err;
	code_write(code, &bytes);
	CU_ASSERT_EQUAL(code_read(bytes.data, bytes.len, &again, &err), 0);
	code_free(again);
	gs_buf_free(&bytes);
}

/* A name with a zero in it is none that begins as it does: files may have any bytes. */
static void zeros_in_names(void)
{
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct observed_instruction i = {.pc = 0, .mask = 1, .opcode = "STL\0........", .opcode_length = 12};
	observed_begin(&w);
	CU_ASSERT_EQUAL(execute(c, &w, 0x00, 1, "STL"), 0);
	CU_ASSERT_EQUAL(execute(c, &w, 0x10, 1, "........"), 1);
	CU_ASSERT_EQUAL(observed_execute(c, &w, &i), -EEXIST);
	observed_free(c);
}

/* Lanes 0-15 go one way at a branch and the others another; both meet again. */
static void arms(void)
{
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct kernel_code *code = NULL;
	struct gs_error err;
	observed_begin(&w);
	execute(c, &w, 0x00, 0xffffffff, "ISETP.GE.AND");
	execute(c, &w, 0x10, 0xffffffff, "BRA");
	execute(c, &w, 0x20, 0x0000ffff, "FADD");
	execute(c, &w, 0x30, 0x0000ffff, "BRA");
	execute(c, &w, 0x40, 0xffff0000, "LDG.E.64");
	execute(c, &w, 0x50, 0xffffffff, "EXIT");
	CU_ASSERT_EQUAL(observed_end(c, &w), 0);
	CU_ASSERT_EQUAL_FATAL(observed_finish(c, 16, 0, &code, &err), 0);
	write_and_read(code);
	CU_ASSERT_EQUAL(code->block_count, 4);
	CU_ASSERT_EQUAL(code->edge_count, 5);
	CU_ASSERT_EQUAL(code->counter_count, 5); /* blocks, and one of the two ways out of the first */
	CU_ASSERT_EQUAL(code->blocks[0].count, 2);
	CU_ASSERT_EQUAL(code->blocks[0].join, 3);
	CU_ASSERT_EQUAL(code->code[1].flags & CODE_UNIFORM, 0);
	CU_ASSERT_EQUAL(code->code[3].flags & CODE_UNIFORM, CODE_UNIFORM);
	CU_ASSERT_EQUAL(code->code[4].bytes, 8);
	CU_ASSERT_EQUAL(code->code[4].writes, 2);
	CU_ASSERT_EQUAL(code->code[4].site, 0);
	CU_ASSERT_EQUAL(code->code[5].flags & CODE_EXIT, CODE_EXIT);
	CU_ASSERT_EQUAL(code->site_count, 1);
	CU_ASSERT_EQUAL(observed_block(c, observed_find(c, 0x40)), 2);
	CU_ASSERT_EQUAL(observed_block(c, observed_find(c, 0x10)), OBSERVED_NONE);
	CU_ASSERT_EQUAL(observed_edge(c, 0, 1), 4);
	CU_ASSERT_EQUAL(observed_edge(c, 0, 2), OBSERVED_NONE);
	CU_ASSERT_EQUAL(observed_find(c, 0x60), OBSERVED_NONE);
	code_free(code);
	observed_free(c);
}

/* A loop of two trips, whose second instruction half of the lanes skip under a predicate. */
static void loop(void)
{
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct kernel_code *code = NULL;
	struct gs_error err;
	observed_begin(&w);
	execute(c, &w, 0x00, 0xff, "MOV");
	for (int i = 0; i < 2; i++) {
		execute(c, &w, 0x10, 0xff, "IADD3");
		execute(c, &w, 0x20, 0x0f, "FMUL");
		execute(c, &w, 0x30, 0xff, "BRA");
	}
	execute(c, &w, 0x40, 0xff, "EXIT");
	observed_end(c, &w);
	CU_ASSERT_EQUAL_FATAL(observed_finish(c, 16, 0, &code, &err), 0);
	write_and_read(code);
	CU_ASSERT_EQUAL(code->block_count, 5);
	CU_ASSERT_EQUAL(code->loop_count, 1);
	CU_ASSERT_EQUAL(code->loops[0].header, 1);
	CU_ASSERT_EQUAL(code->blocks[1].join, 3); /* lanes meet after the predicate */
	CU_ASSERT_EQUAL(code->blocks[2].loop, 0);
	CU_ASSERT_EQUAL(code->blocks[4].loop, -1);
	code_free(code);
	observed_free(c);
}

/* Which arm comes first: what most warps did, not what stands first. */
static void order_of_arms(void)
{
	for (int back = 0; back < 2; back++) {
		struct observed_code *c = observed_new();
		struct observed_warp w;
		struct kernel_code *code = NULL;
		struct gs_error err;
		for (int warp = 0; warp < 5; warp++) {
			bool far = (warp == 0 || warp == 3) != back;
			observed_begin(&w);
			execute(c, &w, 0x00, 0xf, "BRA");
			execute(c, &w, far ? 0x20 : 0x10, 0x3, "FADD");
			execute(c, &w, far ? 0x10 : 0x20, 0xc, "FADD");
			execute(c, &w, 0x30, 0xf, "EXIT");
			observed_end(c, &w);
		}
		CU_ASSERT_EQUAL_FATAL(observed_finish(c, 16, 16, &code, &err), 0);
		CU_ASSERT_EQUAL_FATAL(code->blocks[0].edge_count, 2);
		CU_ASSERT_EQUAL(code->edges[0].to, 1);
		CU_ASSERT_EQUAL(code->edges[0].taken, !back);
		CU_ASSERT_EQUAL(code->edges[1].taken, back);
		code_free(code);
		observed_free(c);
	}
}

/* Lanes begin at different instructions: there is a block before both. */
static void entries(void)
{
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct kernel_code *code = NULL;
	struct gs_error err;
	observed_begin(&w);
	execute(c, &w, 0x00, 0x1, "MOV");
	execute(c, &w, 0x10, 0x3, "EXIT");
	observed_end(c, &w);
	CU_ASSERT_EQUAL_FATAL(observed_finish(c, 16, 0, &code, &err), 0);
	write_and_read(code);
	CU_ASSERT_EQUAL(observed_entry(c), 0);
	CU_ASSERT_EQUAL(code->blocks[0].count, 0);
	CU_ASSERT_EQUAL(code->blocks[0].edge_count, 2);
	code_free(code);
	observed_free(c);
}

/* What lies between instructions and is never executed keeps its place; operands of 64 bits have two registers, and predicates are only waited for. */
static void places(void)
{
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct kernel_code *code = NULL;
	struct gs_error err;
	struct observed_instruction in[] = {
		{.pc = 0x00, .mask = 1, .result = 240, .opcode = "ISETP.LT.AND", .opcode_length = 12, .source_count = 1, .sources = {4}},
		{.pc = 0x10, .mask = 1, .result = -1, .opcode = "BRA", .opcode_length = 3, .source_count = 1, .sources = {240}},
		{.pc = 0x50, .mask = 1, .result = 6, .opcode = "LDG.E", .opcode_length = 5, .source_count = 1, .sources = {8}, .addresses = true},
		{.pc = 0x60, .mask = 1, .result = -1, .opcode = "EXIT", .opcode_length = 4},
	};
	observed_begin(&w);
	for (size_t i = 0; i < GS_ARRAY_LEN(in); i++)
		observed_execute(c, &w, &in[i]);
	observed_end(c, &w);
	CU_ASSERT_EQUAL_FATAL(observed_finish(c, 16, 16, &code, &err), 0);
	write_and_read(code);
	CU_ASSERT_EQUAL(code->origin, CODE_OF_TRACE);
	CU_ASSERT_EQUAL_FATAL(code->code_count, 7);
	CU_ASSERT_EQUAL(code->instructions, 4);
	CU_ASSERT_EQUAL(code->block_count, 2);
	CU_ASSERT_EQUAL(code->blocks[1].first, 5);
	CU_ASSERT_EQUAL(code->code[3].class, CODE_nop);
	CU_ASSERT_EQUAL(code->code[5].reads, 2);
	CU_ASSERT_EQUAL(code->operands[code->code[5].first_operand + 2], 9);
	CU_ASSERT_EQUAL(code->register_table[240].words, 0);
	CU_ASSERT_EQUAL(code->register_table[4].words, 1);
	CU_ASSERT(code->code[1].reads == 0 && code->code[1].waits == 1);
	code_free(code);
	observed_free(c);
}

/* A product with 64 bits, one with 32, and halves, by their names. */
static void what_is_computed_with(void)
{
	static const char *const opcodes[] = {"IMAD.WIDE.U32", "IMAD", "HFMA2", "FFMA", "EXIT"};
	static const int bytes[] = {8, 0, 2, 0, 0};
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct kernel_code *code = NULL;
	struct gs_error err;
	observed_begin(&w);
	for (size_t i = 0; i < GS_ARRAY_LEN(opcodes); i++)
		execute(c, &w, 16 * i, 1, opcodes[i]);
	observed_end(c, &w);
	CU_ASSERT_EQUAL_FATAL(observed_finish(c, 16, 16, &code, &err), 0);
	write_and_read(code);
	for (size_t i = 0; i < GS_ARRAY_LEN(opcodes); i++)
		CU_ASSERT_EQUAL(code->code[i].bytes, bytes[i]);
	code_free(code);
	observed_free(c);
}

/* Addresses that say nothing about places: instructions follow one another. */
static void far_places(void)
{
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct kernel_code *code = NULL;
	struct gs_error err;
	observed_begin(&w);
	execute(c, &w, UINT64_C(0x7f0000000000), 1, "MOV");
	execute(c, &w, UINT64_C(0x7fffffffff00), 1, "EXIT");
	observed_end(c, &w);
	CU_ASSERT_EQUAL_FATAL(observed_finish(c, 16, 16, &code, &err), 0);
	CU_ASSERT_EQUAL(code->code_count, 2);
	code_free(code);
	observed_free(c);
}

static void other_code(void)
{
	struct observed_code *c = observed_new();
	struct observed_warp w;
	struct kernel_code *code = NULL;
	struct gs_error err;
	CU_ASSERT_EQUAL(observed_finish(c, 16, 0, &code, &err), -EINVAL);
	observed_begin(&w);
	CU_ASSERT_EQUAL(execute(c, &w, 0x10, 1, "MOV"), 0);
	CU_ASSERT_EQUAL(execute(c, &w, 0x10, 1, "MOV32I"), -EEXIST);
	CU_ASSERT_EQUAL(execute(c, &w, 0x10, 1, "MO"), -EEXIST);
	observed_free(c);
}

void add_sass_observed_tests(void)
{
	CU_pSuite suite = CU_add_suite("sass_observed", NULL, NULL);
	CU_add_test(suite, "arms of a branch", arms);
	CU_add_test(suite, "which arm comes first", order_of_arms);
	CU_add_test(suite, "a loop with a predicate", loop);
	CU_add_test(suite, "two entries", entries);
	CU_add_test(suite, "places of instructions", places);
	CU_add_test(suite, "what is computed with", what_is_computed_with);
	CU_add_test(suite, "addresses that are no places", far_places);
	CU_add_test(suite, "zeros in names", zeros_in_names);
	CU_add_test(suite, "other instructions at the same place", other_code);
}
