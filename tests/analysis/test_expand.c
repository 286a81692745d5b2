/* Calls of library functions become machine instructions. */
#include "tests/tests.h"

#include "analysis/mapping/mapping.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

static uint32_t first_step; /* the first register of a step; it follows the registers of the PTX */

#define DECLARE(name) ".func (.param .b32 func_retval0) " name "(.param .b32 param0)\n;\n"
#define STORE "st.param.f32 [param0], %f1;\n"
#define LOAD "ld.param.f32 %f2, [retval0];\n"
#define CALL(name) "call.uni (retval0), " name ", (param0);\n"
#define SCOPE ".param .b32 param0;\n.param .b32 retval0;\n"

static struct kernel_code *make(const char *declarations, const char *body, const char *arch)
{
	struct gs_buf text = {0};
	struct ptx_module *module;
	struct mapping *mapping;
	struct kernel_code *code;
	gs_buf_printf(&text,
	              ".version 8.0\n.target sm_90\n.address_size 64\n.extern %s.visible .entry k(.param .b32 k_param_0)\n{\n"
	              ".reg .pred %%p<2>;\n.reg .f32 %%f<8>;\n%s}\n",
	              declarations, body);
	CU_ASSERT_EQUAL_FATAL(ptx_read(text.data, text.len, &module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_create(module, ptx_find(module, "k"), &mapping, &error), 0);
	CU_ASSERT_EQUAL_FATAL(
	    mapping_solve(mapping, &(struct mapping_source){.counter_count = 1, .entry = 0}, arch, &code, &error), 0);
	first_step = ptx_find(module, "k")->register_count;
	mapping_free(mapping);
	ptx_free(module);
	gs_buf_free(&text);
	return code;
}

/* "fp32 s1 < s0 f1": class, written registers, "<", read registers, "?", registers that are only waited for. s0 is the first
 * register of a step. */
static void describe(const struct kernel_code *c, uint32_t i, struct gs_buf *out)
{
	const struct code_instruction *in = &c->code[i];
	const uint16_t *operands = &c->operands[in->first_operand];
	gs_buf_puts(out, code_class_name(in->class));
	for (int k = 0; k < in->writes + in->reads + in->waits; k++)
		gs_buf_printf(out, "%s %c%d", k == in->writes + in->reads ? " ?" : k == in->writes ? " <" : "",
		              operands[k] < first_step ? 'f' : 's',
		              operands[k] < first_step ? c->register_table[operands[k]].number : operands[k] - (int)first_step);
	gs_buf_puts(out, "\n");
}

static void check_block(const struct kernel_code *c, uint32_t block, const char *expected)
{
	struct gs_buf text = {0};
	CU_ASSERT_TRUE_FATAL(block < c->block_count);
	for (uint32_t i = 0; i < c->blocks[block].count; i++)
		describe(c, c->blocks[block].first + i, &text);
	CU_ASSERT_STRING_EQUAL(text.data, expected);
	if (strcmp(text.data, expected))
		printf("\n%s instead of\n%s", text.data, expected);
	CU_ASSERT_EQUAL(c->blocks[block].call, -1);
	gs_buf_free(&text);
}

/*
 * exp2 is "m.frf": a move and a multiplication of the argument, the special function, a multiplication. An ld.param of the
 * kernel's own parameter stands before the call and stays. The sum that needs the result follows the call. 4 work-items run 7
 * instructions.
 */
static void a_call_becomes_its_steps(void)
{
	struct kernel_code *c = make(DECLARE("__gpusim_fn_exp2_f32"),
	                             ".pseudoprobe 1 0 0 0\nld.param.f32 %f1, [k_param_0];\n{\n" SCOPE STORE
	                             CALL("__gpusim_fn_exp2_f32") LOAD "}\nadd.f32 %f3, %f2, %f1;\nret;\n", "sm_90");
	CU_ASSERT_EQUAL(c->code_count, 7);
	CU_ASSERT_EQUAL(c->instructions, 6);
	CU_ASSERT_EQUAL_FATAL(c->block_count, 1); /* the call is part of it */
	check_block(c, 0, "load f1\nmove s0 < f1\nfp32 s1 < s0\nsfu s2 < s1\nfp32 f2 < s2\nfp32 f3 < f2 f1\nbranch\n");
	CU_ASSERT_EQUAL(c->register_count, first_step + 3);
	CU_ASSERT_EQUAL(c->register_table[first_step + 2].words, 1);
	for (uint32_t i = 0; i < c->code_count; i++) {
		CU_ASSERT_EQUAL(!!(c->code[i].flags & CODE_EXPANDED), i >= 1 && i <= 4);
		CU_ASSERT_FALSE(c->code[i].flags & CODE_CALL);
	}
	CU_ASSERT_STRING_EQUAL(c->strings + c->code[3].opcode, "call.uni");
	struct code_counts counts = {.edges = calloc(c->edge_count, sizeof(double)), .blocks = calloc(2, sizeof(double))};
	code_count(c, (const uint64_t[]){4}, &counts);
	CU_ASSERT_EQUAL(counts.thread_instructions, 4 * 7);
	free(counts.edges);
	free(counts.blocks);
	code_free(c);
}

/* Fermi reduces the range first, so it has one conversion more. */
static void the_steps_are_those_of_the_architecture(void)
{
	struct kernel_code *c = make(DECLARE("__gpusim_fn_exp2_f32"),
	                             "{\n" SCOPE STORE CALL("__gpusim_fn_exp2_f32") LOAD "}\nret;\n", "sm_20");
	check_block(c, 0, "move s0 < f1\nfp32 s1 < s0\nconv s2 < s1\nsfu s3 < s2\nfp32 f2 < s3\nbranch\n");
	code_free(c);
}

/* "m.wBvB": an instruction after a store or barrier waits for the values that the store or barrier read. The load makes the
 * result. */
static void steps_without_a_result_write_nothing(void)
{
	struct kernel_code *c = make(DECLARE("_Z20work_group_broadcastfm"),
	                             "{\n" SCOPE STORE CALL("_Z20work_group_broadcastfm") LOAD "}\nret;\n", "sm_90");
	check_block(c, 0, "move s0 < f1\nstore < s0\nbarrier < s0\nload f2 < s0\nbarrier < f2\n");
	code_free(c);
}

/* Two calls in a row. The second one takes the first one's result. Each has four steps, with registers of their own. */
static void calls_follow_one_another(void)
{
	struct kernel_code *c = make(DECLARE("__gpusim_fn_exp2_f32"),
	                             "{\n" SCOPE STORE CALL("__gpusim_fn_exp2_f32") LOAD "}\n{\n" SCOPE
	                             "st.param.f32 [param0], %f2;\n" CALL("__gpusim_fn_exp2_f32")
	                             "ld.param.f32 %f3, [retval0];\n}\nret;\n", "sm_90");
	check_block(c, 0,
	            "move s0 < f1\nfp32 s1 < s0\nsfu s2 < s1\nfp32 f2 < s2\n"
	            "move s3 < f2\nfp32 s4 < s3\nsfu s5 < s4\nfp32 f3 < s5\nbranch\n");
	code_free(c);
}

/* One step. Five registers are passed, and there is no result. */
static void more_than_three_arguments_are_waited_for(void)
{
	struct kernel_code *c = make(".func _Z6mad_hiiii(.param .b32 param0)\n;\n",
	                             "{\n.param .b32 param0;\n.param .b32 param1;\n"
	                             "st.param.v4.f32 [param0], {%f1, %f2, %f3, %f4};\nst.param.f32 [param1+4], %f5;\n"
	                             "call.uni _Z6mad_hiiii, (param0, param1);\n}\nret;\n", "sm_90");
	check_block(c, 0, "int_mad s0 < f1 f2 f3 ? f4 f5\n");
	code_free(c);
}

/* A call that is no function of mathematics ends its block. A label follows the ld.param, so the block of the ld.param must keep one instruction. */
static void a_block_of_only_the_result_moves_it(void)
{
	struct kernel_code *c = make(DECLARE("_Z20work_group_broadcastfm"),
	                             "@%p1 bra L;\n{\n" SCOPE STORE CALL("_Z20work_group_broadcastfm") LOAD "}\nL: ret;\n", "sm_90");
	CU_ASSERT_EQUAL_FATAL(c->block_count, 4);
	check_block(c, 1, "move s0 < f1\nstore < s0\nbarrier < s0\nload s1 < s0\nbarrier < s1\n");
	check_block(c, 2, "move f2 < s1\n");
	code_free(c);
}

/* The table does not have this function, so st.param, call, ld.param and ret stay. */
static void a_function_without_a_row_stays_a_call(void)
{
	struct kernel_code *c = make(DECLARE("mystery"), "{\n" SCOPE STORE CALL("mystery") LOAD "}\nret;\n", "sm_90");
	CU_ASSERT_EQUAL(c->code_count, 4);
	check_block(c, 0, "store < f1\nbranch\n");
	check_block(c, 1, "load f2\nbranch\n");
	CU_ASSERT_TRUE(c->code[1].flags & CODE_CALL);
	code_free(c);
}

/* 1,100 calls with 3 new registers each share 1,024 registers. The code can be written and read again. */
static void many_calls_share_registers(void)
{
	struct gs_buf body = {0}, packed = {0};
	struct kernel_code *copy = NULL;
	for (int i = 0; i < 1100; i++)
		gs_buf_puts(&body, "{\n" SCOPE STORE CALL("__gpusim_fn_exp2_f32") LOAD "}\n");
	gs_buf_puts(&body, "ret;\n");
	struct kernel_code *c = make(DECLARE("__gpusim_fn_exp2_f32"), body.data, "sm_90");
	CU_ASSERT_EQUAL(c->code_count, 4 * 1100 + 1);
	CU_ASSERT_EQUAL(c->register_count, first_step + 1024);
	code_write(c, &packed);
	CU_ASSERT_EQUAL(code_read(packed.data, packed.len, &copy, &error), 0);
	code_free(copy);
	code_free(c);
	gs_buf_free(&packed);
	gs_buf_free(&body);
}

void add_expand_tests(void)
{
	CU_pSuite suite = CU_add_suite("expand", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(a_call_becomes_its_steps);
	TEST(the_steps_are_those_of_the_architecture);
	TEST(steps_without_a_result_write_nothing);
	TEST(calls_follow_one_another);
	TEST(more_than_three_arguments_are_waited_for);
	TEST(a_block_of_only_the_result_moves_it);
	TEST(a_function_without_a_row_stays_a_call);
	TEST(many_calls_share_registers);
#undef TEST
}
