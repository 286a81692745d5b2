/* Linking PTX of several objects: every name means one thing afterwards. */
#include "tests/tests.h"

#include "analysis/ptx/ptx.h"

#include <string.h>

static struct gs_error error;
static struct ptx_module *module;

static const char first[] = ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"a.cu\"\n"
                            ".extern .func (.param .b32 r) helper(.param .b32 helper_param_0);\n"
                            ".extern .global .align 4 .u32 counter;\n.extern .shared .align 16 .b8 dynamic[];\n"
                            ".global .align 1 .b8 $str[3] = {97, 98};\n.weak .global .u32 both = 1;\n"
                            ".weak .func w() { ret; }\n.func own() { ret; }\n"
                            ".visible .entry k()\n{\n.reg .b64 %rd<9>;\n.loc 1 5 1\nmov.u64 %rd1, counter; // counter\nmov.u64 %rd2, $str;\n"
                            "call w;\ncall own;\nret;\n}\n";
static const char second[] = ".version 8.0\n.target sm_75\n.address_size 64\n.file 1 \"b.cu\"\n.visible .global .align 4 .u32 counter = 7;\n"
                             ".global .align 1 .b8 $str[2] = {99};\n.global .u64 points = generic($str);\n.weak .global .u32 both = 1;\n"
                             ".extern .shared .align 16 .b8 dynamic[];\n.shared .align 4 .b8 tile[64];\n"
                             ".weak .func w() { trap; }\n.func own() { trap; }\n"
                             ".visible .func (.param .b32 r) helper(.param .b32 helper_param_0)\n{\n.reg .b64 %rd<9>;\n.loc 1 9 2\n"
                             "mov.u64 %rd1, $str;\n/* own */\ncall own;\ncall w;\nmov.u64 %rd2, both;\nmov.u64 %rd3, dynamic;\nret;\n}\n";

static void link_both(void)
{
	struct gs_buf texts[2] = {{0}, {0}}, out = {0};
	gs_buf_puts(&texts[0], first);
	gs_buf_puts(&texts[1], second);
	CU_ASSERT_EQUAL_FATAL(ptx_link(texts, 2, &out, &error), 0);
	CU_ASSERT_EQUAL_FATAL(ptx_read(out.data, out.len, &module, &error), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "// counter"));
	CU_ASSERT_PTR_NOT_NULL(strstr(out.data, "/* own */"));
	gs_buf_free(&texts[0]);
	gs_buf_free(&texts[1]);
	gs_buf_free(&out);
}

static uint32_t count_variable(const char *name, const struct ptx_variable **last)
{
	uint32_t count = 0;
	for (uint32_t i = 0; i < module->variable_count; i++)
		if (!strcmp(module->variables[i].name, name)) {
			*last = &module->variables[i];
			count++;
		}
	return count;
}

static void variables_are_those_that_are_defined(void)
{
	const struct ptx_variable *v = NULL;
	link_both();
	CU_ASSERT_EQUAL(count_variable("counter", &v), 1);
	CU_ASSERT_TRUE(v->linkage == PTX_VISIBLE && v->initial[0] == 7);
	CU_ASSERT_EQUAL(count_variable("both", &v), 2); /* whoever looks for it finds the first */
	CU_ASSERT_EQUAL(count_variable("dynamic", &v), 2);
	CU_ASSERT_EQUAL(count_variable("tile", &v), 1);
	CU_ASSERT_EQUAL(count_variable("$str", &v), 1);
	CU_ASSERT_EQUAL(v->initial[0], 97);
	CU_ASSERT_EQUAL(count_variable("$str$1", &v), 1);
	CU_ASSERT_EQUAL(v->initial[0], 99);
	CU_ASSERT_EQUAL(count_variable("points", &v), 1);
	CU_ASSERT_STRING_EQUAL(v->relocations[0].symbol, "$str$1");
	ptx_free(module);
}

static void functions_call_their_own(void)
{
	link_both();
	const struct ptx_function *k = ptx_find(module, "k"), *helper = ptx_find(module, "helper");
	CU_ASSERT_TRUE_FATAL(k && helper && !helper->external);
	CU_ASSERT_STRING_EQUAL(k->instructions[1].operands[1].text, "$str");
	CU_ASSERT_STRING_EQUAL(ptx_callee(&k->instructions[3])->text, "own");
	CU_ASSERT_STRING_EQUAL(helper->instructions[0].operands[1].text, "$str$1");
	CU_ASSERT_STRING_EQUAL(ptx_callee(&helper->instructions[1])->text, "own$1");
	CU_ASSERT_STRING_EQUAL(ptx_callee(&helper->instructions[2])->text, "w$1");
	CU_ASSERT_STRING_EQUAL(helper->instructions[3].operands[1].text, "both");
	CU_ASSERT_STRING_EQUAL(ptx_find(module, "own")->instructions[0].opcode, "ret");
	CU_ASSERT_STRING_EQUAL(ptx_find(module, "own$1")->instructions[0].opcode, "trap");
	CU_ASSERT_EQUAL(helper->parameter_count, 1);
	ptx_free(module);
}

static void files_stay_apart(void)
{
	link_both();
	CU_ASSERT_EQUAL_FATAL(module->file_count, 2);
	CU_ASSERT_EQUAL(ptx_find(module, "k")->instructions[0].file, module->files[0].number);
	CU_ASSERT_EQUAL(ptx_find(module, "helper")->instructions[0].file, module->files[1].number);
	CU_ASSERT_NOT_EQUAL(module->files[0].number, module->files[1].number);
	CU_ASSERT_EQUAL(ptx_find(module, "helper")->instructions[0].line, 9);
	ptx_free(module);
}

static void one_text_stays_as_it_is(void)
{
	struct gs_buf text = {0}, out = {0};
	gs_buf_puts(&text, second);
	CU_ASSERT_EQUAL_FATAL(ptx_link(&text, 1, &out, &error), 0);
	CU_ASSERT_EQUAL(strncmp(out.data, second, 150), 0);
	CU_ASSERT_PTR_NULL(strstr(out.data, "$1"));
	gs_buf_free(&text);
	gs_buf_free(&out);
}

void add_ptx_link_tests(void)
{
	CU_pSuite suite = CU_add_suite("ptx_link", NULL, NULL);
	CU_ADD_TEST(suite, variables_are_those_that_are_defined);
	CU_ADD_TEST(suite, functions_call_their_own);
	CU_ADD_TEST(suite, files_stay_apart);
	CU_ADD_TEST(suite, one_text_stays_as_it_is);
}
