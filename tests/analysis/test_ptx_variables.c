/* The reader of PTX: what variables begin with, how functions and calls pass values, and names in braces. */
#include "tests/tests.h"

#include "tests/analysis/ptx_check.h"

#include <string.h>

static struct gs_error error;
static struct ptx_module *module;

static void read_text(const char *text)
{
	ptx_free(module);
	module = NULL;
	const char *wrong = ptx_check(text, strlen(text));
	CU_ASSERT_PTR_NULL(wrong);
	if (wrong)
		fprintf(stderr, "%s\n", wrong);
	CU_ASSERT_EQUAL_FATAL(ptx_read(text, strlen(text), &module, &error), 0);
}

static const struct ptx_variable *variable(const char *name)
{
	for (uint32_t i = 0; i < module->variable_count; i++)
		if (!strcmp(module->variables[i].name, name))
			return &module->variables[i];
	CU_FAIL_FATAL("there is no such variable");
	return NULL;
}

/* Reads ".global DECLARATION;", which declares x. */
static const struct ptx_variable *read_variable(const char *declaration)
{
	char text[400];
	snprintf(text, sizeof text, ".version 8.0\n.target sm_70\n.global %s;\n.global .u8 next = 3;\n", declaration);
	read_text(text);
	CU_ASSERT_EQUAL(*variable("next")->initial, 3);
	return variable("x");
}

static bool begins(const struct ptx_variable *v, const void *bytes, size_t count)
{
	return !v->unclear && v->initial_bytes == count && !memcmp(v->initial, bytes, count);
}

static void scalars_and_lists_are_bytes(void)
{
	static const uint8_t five[] = {5, 0, 0, 0}, minus[] = {0xfd, 0xff}, list[] = {1, 0, 2, 0, 255, 0};
	CU_ASSERT_TRUE(begins(read_variable(".align 4 .u32 x = 5"), five, 4));
	CU_ASSERT_TRUE(begins(read_variable(".u16 x = -3"), minus, 2));
	const struct ptx_variable *v = read_variable(".align 8 .b16 x[5] = {1, 2, 0xFF}");
	CU_ASSERT_TRUE(begins(v, list, 6)); /* the others are 0 */
	CU_ASSERT_EQUAL(v->bytes, 10);
	CU_ASSERT_EQUAL(v->align, 8);
	CU_ASSERT_TRUE(v->array);
	CU_ASSERT_STRING_EQUAL(v->type, "b16");
	v = read_variable(".b8 x[] = {1, 2, 3}");
	CU_ASSERT_EQUAL(v->bytes, 3);
	CU_ASSERT_FALSE(v->unsized);
	CU_ASSERT_TRUE(begins(read_variable(".b8 x[4] = \"ab\""), "ab", 2));
	CU_ASSERT_EQUAL(read_variable(".b8 x[4]")->initial_bytes, 0);
}

static void real_numbers_have_the_bits_of_the_type(void)
{
	static const float singles[] = {1.5f, -2.0f, 0.25f, 3.0f};
	static const double doubles[] = {1.5, -0.0, 1e3};
	CU_ASSERT_TRUE(begins(read_variable(".f32 x[4] = {0f3FC00000, -2.0, 0d3FD0000000000000, 3}"), singles, sizeof singles));
	CU_ASSERT_TRUE(begins(read_variable(".f64 x[3] = {1.5, -0d0000000000000000, 1e3}"), doubles, sizeof doubles));
	CU_ASSERT_TRUE(read_variable(".f16 x = 1.5")->unclear);
}

static void inner_lists_begin_at_their_places(void)
{
	static const uint8_t matrix[] = {1, 0, 0, 2, 3, 0}, vectors[] = {1, 2, 0, 0, 3, 4, 5, 6};
	CU_ASSERT_TRUE(begins(read_variable(".u8 x[2][3] = {{1}, {2, 3}}"), matrix, 6));
	const struct ptx_variable *v = read_variable(".u8 x[][3] = {{1}, {2, 3}}");
	CU_ASSERT_EQUAL(v->bytes, 6);
	CU_ASSERT_TRUE(begins(v, matrix, 6));
	CU_ASSERT_TRUE(begins(read_variable(".v4 .u8 x[2] = {{1, 2}, {3, 4, 5, 6}}"), vectors, 8));
}

static bool points(const struct ptx_relocation *r, uint64_t offset, const char *symbol, int64_t addend, uint8_t bytes)
{
	return r->offset == offset && !strcmp(r->symbol, symbol) && r->addend == addend && r->bytes == bytes;
}

static void addresses_are_relocations(void)
{
	const struct ptx_variable *v = read_variable(".align 8 .u64 x[5] = {120, generic(gi), generic($str)+8, f, generic(a+4)-1}");
	CU_ASSERT_EQUAL_FATAL(v->relocation_count, 4);
	CU_ASSERT_TRUE(points(&v->relocations[0], 8, "gi", 0, 8));
	CU_ASSERT_TRUE(points(&v->relocations[1], 16, "$str", 8, 8));
	CU_ASSERT_TRUE(points(&v->relocations[2], 24, "f", 0, 8));
	CU_ASSERT_TRUE(points(&v->relocations[3], 32, "a", 3, 8));
	CU_ASSERT_EQUAL(v->initial[0], 120);
	v = read_variable(".u64 x = a");
	CU_ASSERT_EQUAL_FATAL(v->relocation_count, 1);
	CU_ASSERT_TRUE(points(&v->relocations[0], 0, "a", 0, 8));
}

static void masked_bytes_are_one_address(void)
{
	const struct ptx_variable *v = read_variable(
	    ".align 1 .u8 x[10] = {122, 0XFF(generic(gi)), 0xFF00(generic(gi)), 0xFF0000(generic(gi)), 0xFF000000(generic(gi)), "
	    "0xFF00000000(generic(gi)), 0xFF0000000000(generic(gi)), 0xFF000000000000(generic(gi)), 0xFF00000000000000(generic(gi)), 7}");
	CU_ASSERT_FALSE(v->unclear);
	CU_ASSERT_EQUAL_FATAL(v->relocation_count, 1);
	CU_ASSERT_TRUE(points(&v->relocations[0], 1, "gi", 0, 8));
	CU_ASSERT_EQUAL(v->initial[9], 7);
	CU_ASSERT_TRUE(read_variable(".u8 x[2] = {0xFF00(a), 0xFF(a)}")->unclear);
	CU_ASSERT_TRUE(read_variable(".u8 x[2] = {0xFF(a), 0xFF00(b)}")->unclear);
	CU_ASSERT_TRUE(read_variable(".u32 x = 0xFF(a)")->unclear);
}

static void what_is_not_understood_is_unclear(void)
{
	static const char *const wrong[] = {".u32 x = 1 + 2",      ".u32 x = (1)",        ".u32 x[2] = {1, 2, 3}", ".u32 x = *",
	                                    ".u8 x[2] = {1 2 3}",  ".u32 x[2] = {{{{1}}", ".b128 x = 1",           ".u64 x = -a",
	                                    ".u64 x = generic(a+", ".u32 x[1000000000000][1000000000000] = {{1},{2}}"};
	for (size_t i = 0; i < GS_ARRAY_LEN(wrong); i++) {
		char text[200];
		snprintf(text, sizeof text, ".global %s;\n.global .u8 next;", wrong[i]);
		read_text(text);
		CU_ASSERT_TRUE(variable("x")->unclear);
		CU_ASSERT_EQUAL(variable("x")->relocation_count, 0);
	}
}

static void one_statement_declares_several(void)
{
	read_text(".global .u32 a = 1, b[2] = {2, 3}, c;\n");
	CU_ASSERT_EQUAL_FATAL(module->variable_count, 3);
	CU_ASSERT_EQUAL(variable("b")->initial[4], 3);
	CU_ASSERT_EQUAL(variable("c")->initial_bytes, 0);
}

static void variables_have_linkage(void)
{
	read_text(".extern .shared .align 16 .b8 dynamic[];\n.extern .global .u32 elsewhere;\n.visible .const .u32 c = 4;\n"
	          ".weak .global .u32 w;\n.common .global .u32 m;\n.global .attribute(.managed) .align 4 .u32 managed = 9;\n.global .u32 own;\n"
	          ".weak .entry k() { ret; }\n.visible .func f() { ret; }\n.func g() { ret; }\n.extern .func h() .noreturn;\n");
	CU_ASSERT_TRUE(variable("dynamic")->unsized && variable("dynamic")->linkage == PTX_EXTERN);
	CU_ASSERT_EQUAL(variable("dynamic")->bytes, 0);
	CU_ASSERT_TRUE(!variable("elsewhere")->unsized && variable("elsewhere")->linkage == PTX_EXTERN);
	CU_ASSERT_EQUAL(variable("c")->linkage, PTX_VISIBLE);
	CU_ASSERT_EQUAL(variable("w")->linkage, PTX_WEAK);
	CU_ASSERT_EQUAL(variable("m")->linkage, PTX_COMMON);
	CU_ASSERT_EQUAL(variable("own")->linkage, PTX_INTERNAL);
	CU_ASSERT_TRUE(variable("managed")->managed && !variable("own")->managed);
	CU_ASSERT_EQUAL(variable("managed")->initial[0], 9);
	CU_ASSERT_EQUAL(ptx_find(module, "k")->linkage, PTX_WEAK);
	CU_ASSERT_EQUAL(ptx_find(module, "f")->linkage, PTX_VISIBLE);
	CU_ASSERT_EQUAL(ptx_find(module, "g")->linkage, PTX_INTERNAL);
	CU_ASSERT_TRUE(ptx_find(module, "h")->linkage == PTX_EXTERN && ptx_find(module, "h")->noreturn);
}

static const char calls[] =
    ".target sm_75, debug\n.address_size 64\n.alias second, helper;\n"
    ".func (.param .align 4 .b8 func_retval0[40]) helper(.param .b32 helper_param_0, .param .align 8 .b8 helper_param_1[48]) { ret; }\n"
    ".visible .entry k(.param .u64 .ptr .global .align 4 k_param_0, .param .u8 k_param_1)\n.maxnreg 40\n.reqnctapercluster 2, 4, 1\n{\n"
    ".reg .b32 %r<9>; .reg .b64 %rd<9>; .reg .f32 %f<9>;\n"
    "{ .reg .b32 temp_param_reg; .param .b32 param0; st.param.b32 [param0+0], %r1; .param .align 8 .b8 param1[48];\n"
    ".param .align 4 .b8 retval0[40]; call.uni (retval0), helper, (param0, param1); ld.param.b32 %r2, [retval0+4]; }\n"
    "{ .param .b32 param0; st.param.f32 [param0], %f1; .param .b32 retval0;\n"
    "prototype_1 : .callprototype (.param .b32 _) _ (.param .b32 _, .param .b64 _);\n"
    "call (retval0), %rd5, (param0), prototype_1; { .param .b64 param0; st.param.b64 [param0], %rd1; } ld.param.f32 %f2, [retval0];\n"
    "st.param.b32 [param0+8], %r3; }\n"
    "{ .param .b64 param0; call f, (param0); call %rd2, (param0), targets; }\n"
    "targets: .calltargets helper, second;\nadd.f32 %f1, %f2, -1.5; add.f32 %f1, %f2, 0f3F800000; mov.b32 %r1, 7;\n"
    "vadd.s32.s32.s32 %r1, %r2.h0, %r3.b3, %r4; ret;\n}\n";

static const struct ptx_instruction *instruction(uint32_t number)
{
	const struct ptx_function *k = ptx_find(module, "k");
	CU_ASSERT_TRUE_FATAL(number < k->instruction_count);
	return &k->instructions[number];
}

static void functions_have_results_and_limits(void)
{
	read_text(calls);
	const struct ptx_function *k = ptx_find(module, "k"), *helper = ptx_find(module, "helper");
	CU_ASSERT_EQUAL(helper->result_count, 1);
	CU_ASSERT_EQUAL(helper->parameter_count, 2);
	CU_ASSERT_EQUAL(helper->variables[2].bytes, 40);
	CU_ASSERT_TRUE(helper->variables[1].array && !helper->variables[0].array);
	CU_ASSERT_PTR_EQUAL(ptx_find(module, "second"), helper);
	CU_ASSERT_EQUAL(k->result_count, 0);
	CU_ASSERT_TRUE(k->variables[0].pointer && !k->variables[1].pointer);
	CU_ASSERT_EQUAL(k->maxnreg, 40);
	CU_ASSERT_EQUAL(k->reqnctapercluster[1], 4);
	CU_ASSERT_TRUE(module->debug && !module->narrow);
	read_text(".func (.reg .f64 %r) old (.reg .u32 %a) { ret; }\n.address_size 32\n");
	CU_ASSERT_TRUE(module->functions[0].passes_registers && module->narrow);
}

static void names_in_braces_are_unique(void)
{
	read_text(calls);
	const struct ptx_function *k = ptx_find(module, "k");
	static const char *const names[] = {"k_param_0", "k_param_1", "param0",    "param1",  "retval0",
	                                    "param0$1",  "retval0$1", "param0$2", "param0$3"};
	CU_ASSERT_EQUAL_FATAL(k->variable_count, GS_ARRAY_LEN(names));
	for (uint32_t i = 0; i < k->variable_count; i++)
		CU_ASSERT_STRING_EQUAL(k->variables[i].name, names[i]);
	CU_ASSERT_STRING_EQUAL(instruction(0)->operands[0].text, "param0");
	CU_ASSERT_STRING_EQUAL(instruction(1)->operands[0].text, "retval0");
	CU_ASSERT_STRING_EQUAL(instruction(3)->operands[0].text, "param0$1");
	CU_ASSERT_STRING_EQUAL(instruction(4)->operands[2].text, "param0$1");
	CU_ASSERT_STRING_EQUAL(instruction(5)->operands[0].text, "param0$2");
	CU_ASSERT_STRING_EQUAL(instruction(6)->operands[1].text, "retval0$1");
	CU_ASSERT_STRING_EQUAL(instruction(7)->operands[0].text, "param0$1"); /* the braces inside are closed */
	CU_ASSERT_EQUAL(instruction(7)->operands[0].value, 8);
	CU_ASSERT_STRING_EQUAL(instruction(8)->operands[1].text, "param0$3");
}

static void calls_have_callees_and_prototypes(void)
{
	read_text(calls);
	const struct ptx_function *k = ptx_find(module, "k");
	CU_ASSERT_STRING_EQUAL(ptx_callee(instruction(1))->text, "helper");
	CU_ASSERT_EQUAL(instruction(1)->prototype, -1);
	CU_ASSERT_EQUAL(ptx_callee(instruction(4))->kind, PTX_REGISTER);
	CU_ASSERT_STRING_EQUAL(ptx_callee(instruction(8))->text, "f");
	CU_ASSERT_PTR_NULL(ptx_callee(instruction(0)));
	CU_ASSERT_EQUAL_FATAL(k->prototype_count, 2);
	CU_ASSERT_EQUAL_FATAL(instruction(4)->prototype, 0);
	CU_ASSERT_EQUAL(k->prototypes[0].result_count, 1);
	CU_ASSERT_EQUAL(k->prototypes[0].parameter_count, 2);
	CU_ASSERT_EQUAL(k->prototypes[0].variables[1].bytes, 8); /* parameters first, then results */
	CU_ASSERT_EQUAL(k->prototypes[0].variables[2].bytes, 4);
	CU_ASSERT_EQUAL_FATAL(instruction(9)->prototype, 1);
	CU_ASSERT_EQUAL_FATAL(k->prototypes[1].target_count, 2);
	CU_ASSERT_STRING_EQUAL(k->prototypes[1].targets[1], "second");
}

static void constants_say_what_they_are(void)
{
	read_text(calls);
	const struct ptx_operand *o = &instruction(10)->operands[2];
	double value;
	memcpy(&value, &o->value, sizeof value);
	CU_ASSERT_TRUE(o->constant == PTX_DOUBLE && value == -1.5);
	o = &instruction(11)->operands[2];
	CU_ASSERT_TRUE(o->constant == PTX_FLOAT && o->value == 0x3F800000);
	CU_ASSERT_EQUAL(instruction(12)->operands[1].constant, PTX_INTEGER);
	CU_ASSERT_STRING_EQUAL(instruction(13)->operands[1].text, ".h0");
	CU_ASSERT_STRING_EQUAL(instruction(13)->operands[2].text, ".b3");
	CU_ASSERT_PTR_NULL(instruction(13)->operands[3].text);
}

static int finish(void)
{
	ptx_free(module);
	module = NULL;
	return 0;
}

void add_ptx_variables_tests(void)
{
	CU_pSuite suite = CU_add_suite("ptx_variables", NULL, finish);
	CU_ADD_TEST(suite, scalars_and_lists_are_bytes);
	CU_ADD_TEST(suite, real_numbers_have_the_bits_of_the_type);
	CU_ADD_TEST(suite, inner_lists_begin_at_their_places);
	CU_ADD_TEST(suite, addresses_are_relocations);
	CU_ADD_TEST(suite, masked_bytes_are_one_address);
	CU_ADD_TEST(suite, what_is_not_understood_is_unclear);
	CU_ADD_TEST(suite, one_statement_declares_several);
	CU_ADD_TEST(suite, variables_have_linkage);
	CU_ADD_TEST(suite, functions_have_results_and_limits);
	CU_ADD_TEST(suite, names_in_braces_are_unique);
	CU_ADD_TEST(suite, calls_have_callees_and_prototypes);
	CU_ADD_TEST(suite, constants_say_what_they_are);
}
