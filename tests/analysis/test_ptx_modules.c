/* The reader of PTX: directives, variables and functions of a module, and text that is not PTX. */
#include "tests/tests.h"

#include "tests/analysis/ptx_check.h"

#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

static struct gs_error error;
static struct ptx_module *module;

static void read_text(const char *text)
{
	ptx_free(module);
	module = NULL;
	CU_ASSERT_PTR_NULL(ptx_check(text, strlen(text)));
	CU_ASSERT_EQUAL_FATAL(ptx_read(text, strlen(text), &module, &error), 0);
}

static const char whole[] =
    "//\n// .version 1.0 is only a comment\n/* .target sm_10\n*/\n"
    ".version 8.5\n.target sm_90a, texmode_independent\n.address_size 64\n"
    "\t.file\t1 \"a dir/b \\\"c\\\".cu\", 123, 456\n\t.file 2 \"second.h\"\n"
    ".extern .func  (.param .b32 func_retval0) vprintf\n(\n\t.param .b64 vprintf_param_0,\n\t.param .b64 "
    "vprintf_param_1\n)\n;\n"
    ".extern .shared .align 16 .b8 dynamic[];\n"
    ".shared .align 8 .b8 tile[64];\n.weak .shared .f64 unused[9];\n"
    ".visible .const .align 4 .b8 table[8] = {1, 2, 3, 4, 5, 6, 7, 8};\n"
    ".global .align 8 .u64 pointers[2] = {generic(table), table+4};\n.global .b32 open[] = {1, 2, 3};\n"
    ".global .attribute(.managed) .align 4 .u32 managed;\n.common .global .v4 .f32 c;\n.global .texref image;\n.global .surfref plane;\n"
    ".visible .func (.param .b32 r, .param .b64 s) helper(.param .align 8 .b8 p[24], .param .b32 "
    "q)\n.noreturn\n{\n\tret;\n}\n"
    ".alias other, helper;\n"
    ".visible .entry kernel(\n\t.param .u64 .ptr .global .align 4 kernel_param_0,\n\t.param .align 16 .b8 "
    "kernel_param_1[32]\n)\n"
    ".maxntid 256, 2, 1\n.reqntid 128\n.minnctapersm 4\n.maxnreg 32\n.explicitcluster\n.reqnctapercluster 2, 1, 1\n"
    ".pragma \"nounroll; {\";\n{\n"
    "\t.local .align 4 .b8 \t__local_depot0[40];\n\t.shared .u32 own[4][8], more;\n\t.reg .b32 %r<5>;\n\t.reg .b64 "
    "%SP;\n"
    "\t.pseudoprobe\t18446744073709551615 1 0 0\n"
    "\t.loc\t1 12 5\n$L__func_begin0:\n\tmov.u64 %SP, tile;\n\tld.shared.u32 %r1, [tile+4];\n"
    "\t.loc\t2 34 7, function_name $L__info_string0, inlined_at 1 12 5\n\t.pseudoprobe\t7 2 0 0 @ 5:1\n\tst.shared.u32 "
    "[own], %r1; ret;\n"
    "\t.pseudoprobe 7 3 0 0\n}\n"
    ".section .debug_abbrev\n{\n.b8 1 // {\n.b32 .debug_info+4\n$L__label:\n.b8 "
    "0\n}\n\t.section\t.debug_macinfo\t{\t}\n"
    ".entry last() { ret; }\n";

static void module_has_version_target_and_files(void)
{
	read_text(whole);
	CU_ASSERT_STRING_EQUAL(module->version, "8.5");
	CU_ASSERT_STRING_EQUAL(module->target, "sm_90a");
	CU_ASSERT_EQUAL_FATAL(module->file_count, 2);
	CU_ASSERT_STRING_EQUAL(module->files[0].name, "a dir/b \\\"c\\\".cu");
	CU_ASSERT_EQUAL(module->files[1].number, 2);
	CU_ASSERT_EQUAL(module->unknown_count, 0);
}

static void variables_have_space_size_and_alignment(void)
{
	static const struct {
		const char *name;
		uint8_t space;
		uint64_t bytes;
		uint32_t align;
	} expected[] = {
		{"dynamic", SPACE_shared, 0, 16}, {"tile", SPACE_shared, 64, 8},     {"unused", SPACE_shared, 72, 8},
		{"table", SPACE_const, 8, 4},     {"pointers", SPACE_global, 16, 8}, {"open", SPACE_global, 12, 4},
		{"managed", SPACE_global, 4, 4},  {"c", SPACE_global, 16, 16},       {"image", SPACE_global, 8, 8},  {"plane", SPACE_global, 8, 8},
	};
	read_text(whole);
	CU_ASSERT_EQUAL_FATAL(module->variable_count, GS_ARRAY_LEN(expected));
	for (uint32_t i = 0; i < module->variable_count; i++) {
		const struct ptx_variable *v = &module->variables[i];
		CU_ASSERT_STRING_EQUAL(v->name, expected[i].name);
		CU_ASSERT_EQUAL(v->space, expected[i].space);
		CU_ASSERT_EQUAL(v->bytes, expected[i].bytes);
		CU_ASSERT_EQUAL(v->align, expected[i].align);
	}
}

static void functions_have_parameters_and_limits(void)
{
	read_text(whole);
	CU_ASSERT_EQUAL_FATAL(module->function_count, 4);
	CU_ASSERT_TRUE(ptx_find(module, "vprintf")->external);
	CU_ASSERT_EQUAL(ptx_find(module, "vprintf")->parameter_count, 2);
	const struct ptx_function *helper = ptx_find(module, "helper"), *kernel = ptx_find(module, "kernel");
	CU_ASSERT_FALSE(helper->entry || helper->external);
	CU_ASSERT_EQUAL(helper->parameter_count, 2);
	CU_ASSERT_EQUAL(helper->variable_count, 4);
	CU_ASSERT_STRING_EQUAL(helper->variables[0].name, "p"); /* parameters first, then results */
	CU_ASSERT_STRING_EQUAL(helper->variables[3].name, "s");
	CU_ASSERT_TRUE(kernel->entry);
	CU_ASSERT_EQUAL(kernel->parameter_count, 2);
	CU_ASSERT_EQUAL(kernel->variables[0].align, 8); /* the alignment of the pointer itself, not of its target */
	CU_ASSERT_EQUAL(kernel->variables[1].bytes, 32);
	CU_ASSERT_EQUAL(kernel->maxntid[0] * 100 + kernel->maxntid[1] * 10 + kernel->maxntid[2], 25621);
	CU_ASSERT_EQUAL(kernel->reqntid[0], 128);
	CU_ASSERT_EQUAL(kernel->reqntid[1], 0);
	CU_ASSERT_EQUAL(kernel->minnctapersm, 4);
	CU_ASSERT_PTR_NULL(ptx_find(module, "nobody"));
}

static void shared_memory_is_what_a_kernel_declares_and_mentions(void)
{
	read_text(whole);
	/* tile 64, own 4 * 8 * 4 = 128, more 4; the kernel does not mention `dynamic` and `unused` */
	CU_ASSERT_EQUAL(ptx_shared_bytes(module, ptx_find(module, "kernel")), 196);
	CU_ASSERT_EQUAL(ptx_shared_bytes(module, ptx_find(module, "last")), 0);
}

static void instructions_know_their_source_lines(void)
{
	read_text(whole);
	const struct ptx_function *k = ptx_find(module, "kernel");
	CU_ASSERT_EQUAL_FATAL(k->instruction_count, 4);
	CU_ASSERT_EQUAL(k->instructions[0].file * 10000 + k->instructions[0].line * 100 + k->instructions[0].column,
			11205);
	CU_ASSERT_EQUAL(k->instructions[2].file * 10000 + k->instructions[2].line * 100 + k->instructions[2].column,
			23407);
	CU_ASSERT_EQUAL(ptx_find(module, "last")->instructions[0].line, 0);
	CU_ASSERT_EQUAL(k->instructions[2].ptx_line, k->instructions[3].ptx_line);
	CU_ASSERT_EQUAL(k->instructions[1].ptx_line + 3, k->instructions[2].ptx_line);
}

static void probes_stand_before_instructions(void)
{
	read_text(whole);
	const struct ptx_function *k = ptx_find(module, "kernel");
	CU_ASSERT_EQUAL_FATAL(k->probe_count, 3);
	CU_ASSERT_EQUAL(k->probes[0].guid, 18446744073709551615u);
	CU_ASSERT_EQUAL(k->probes[0].at, 0);
	CU_ASSERT_EQUAL(k->probes[1].guid, 7);
	CU_ASSERT_EQUAL(k->probes[1].id, 2);
	CU_ASSERT_EQUAL(k->probes[1].at, 2);
	CU_ASSERT_EQUAL(k->probes[2].at, 4); /* at the end */
	struct gs_buf clean = {0};
	ptx_without_probes(whole, sizeof whole - 1, &clean);
	CU_ASSERT_PTR_NULL(strstr(clean.data, "probe"));
	CU_ASSERT_PTR_NOT_NULL(strstr(clean.data, "12 5\n$L__func_begin0:"));
	gs_buf_free(&clean);
}

static void old_functions_pass_registers(void)
{
	read_text(".func (.reg .f64 %r) old (.reg .u32 %a, .reg .pred b)\n{ cvt.rn.f64.u32 %r, %a; @b ret; ret; }\n");
	const struct ptx_function *f = &module->functions[0];
	CU_ASSERT_EQUAL_FATAL(f->instruction_count, 3);
	CU_ASSERT_EQUAL(f->registers[f->instructions[0].operands[0].reg].bits, 64);
	CU_ASSERT_EQUAL(f->registers[f->instructions[1].guard].bits, 1);
	CU_ASSERT_EQUAL(f->parameter_count, 0);
}

static void a_definition_is_found_before_a_declaration(void)
{
	read_text(".func f(.param .b32 a);\n.func f(.param .b32 a) { ret; }\n.func f(.param .b32 a);\n");
	CU_ASSERT_EQUAL(module->function_count, 3);
	CU_ASSERT_EQUAL(ptx_find(module, "f"), &module->functions[1]);
}

static void a_lost_brace_does_not_take_the_next_kernel(void)
{
	read_text(".entry a() { { mov.u32 %r1, 1; \n.visible .entry b() { ret; } } }\n.entry c() { ret }");
	CU_ASSERT_EQUAL_FATAL(module->function_count, 3);
	CU_ASSERT_EQUAL(module->functions[0].instruction_count, 1);
	CU_ASSERT_STRING_EQUAL(module->functions[1].name, "b");
	CU_ASSERT_EQUAL(module->functions[2].instruction_count, 1);
}

static void every_beginning_of_a_text_is_read(void)
{
	for (size_t length = 0; length < sizeof whole; length++) {
		const char *wrong = ptx_check(whole, length);
		CU_ASSERT_PTR_NULL(wrong);
		if (wrong)
			fprintf(stderr, "first %zu characters: %s\n", length, wrong);
	}
}

/* Replaces every byte of the text in turn by bytes that could mislead the reader. */
static void every_changed_byte_is_survived(void)
{
	static const char bytes[] = "{}()[];:.@\"/*%,<=\0\n9a";
	static char text[sizeof whole];
	for (size_t at = 0; at + 1 < sizeof whole; at++) {
		memcpy(text, whole, sizeof whole);
		text[at] = bytes[at % (sizeof bytes - 1)];
		CU_ASSERT_PTR_NULL(ptx_check(text, sizeof whole - 1));
	}
}

/* Seconds to read the beginning of a kernel and `count` copies of a text. */
static double seconds_for(const char *piece, size_t count)
{
	struct gs_buf text = {0};
	struct timespec before, after;
	gs_buf_puts(&text, ".entry k()\n{\n.reg .b32 %r<9>;\n");
	for (size_t i = 0; i < count; i++)
		gs_buf_puts(&text, piece);
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &before);
	CU_ASSERT_PTR_NULL(ptx_check(text.data, text.len));
	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &after);
	gs_buf_free(&text);
	return (double)(after.tv_sec - before.tv_sec) + 1e-9 * (double)(after.tv_nsec - before.tv_nsec);
}

/* For each piece: eight times as much text takes about eight times as long, not 64 times. */
static void time_grows_with_the_length(void)
{
	static const char *const pieces[] = {"{",
					     "}",
					     "{ L: bra M; ",
					     "L: bra L;\n",
					     "[",
					     "a",
					     "%r<99999999>",
					     "{ .reg .b32 %r<9>; ",
					     "mov.u32 %r1, %r2;",
					     "t: .branchtargets L; brx.idx %r1, t;",
					     "\"",
					     ".loc 1 2 ",
					     "/*",
					     ".section a {",
					     "@",
					     "mov ",
					     "99999",
					     ".b8 a[] = ",
					     ".shared .b8 a[] = }",
					     "=, ",
					     ".param .b8 x[9]",
					     ".entry ",
					     ".func (",
					     "::",
					     "L ",
					     "(",
					     ".reg .b32 a;"};
	enum { SMALL = 2500, TIMES = 16 };
	for (size_t i = 0; i < GS_ARRAY_LEN(pieces); i++) {
		double once = seconds_for(pieces[i], SMALL), more = seconds_for(pieces[i], SMALL * TIMES);
		bool slow = more > 0.5 && more > once * TIMES * 6;
		CU_ASSERT_FALSE(slow);
		if (slow)
			fprintf(stderr, "%s: %.3f s, then %.3f s\n", pieces[i], once, more);
	}
}

/* Inputs that the fuzzer found, and those that it started from. */
static void the_corpus_of_the_fuzzer_is_read(void)
{
	char path[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/fuzz/ptx", root ? root : ".");
	DIR *folder = opendir(path);
	CU_ASSERT_PTR_NOT_NULL_FATAL(folder);
	size_t files = 0;
	for (struct dirent *entry; (entry = readdir(folder));) {
		struct gs_buf text = {0};
		if (entry->d_name[0] == '.')
			continue;
		snprintf(path, sizeof path, "%s/tests/fuzz/ptx/%s", root ? root : ".", entry->d_name);
		CU_ASSERT_EQUAL(gs_read_file(path, &text, &error), 0);
		CU_ASSERT_PTR_NULL(ptx_check(text.data ? text.data : "", text.len));
		gs_buf_free(&text);
		files++;
	}
	closedir(folder);
	CU_ASSERT_TRUE(files >= 10);
}

static int finish(void)
{
	ptx_free(module);
	module = NULL;
	return 0;
}

void add_ptx_modules_tests(void)
{
	CU_pSuite suite = CU_add_suite("ptx_modules", NULL, finish);
	CU_ADD_TEST(suite, module_has_version_target_and_files);
	CU_ADD_TEST(suite, variables_have_space_size_and_alignment);
	CU_ADD_TEST(suite, functions_have_parameters_and_limits);
	CU_ADD_TEST(suite, shared_memory_is_what_a_kernel_declares_and_mentions);
	CU_ADD_TEST(suite, instructions_know_their_source_lines);
	CU_ADD_TEST(suite, probes_stand_before_instructions);
	CU_ADD_TEST(suite, old_functions_pass_registers);
	CU_ADD_TEST(suite, a_definition_is_found_before_a_declaration);
	CU_ADD_TEST(suite, a_lost_brace_does_not_take_the_next_kernel);
	CU_ADD_TEST(suite, every_beginning_of_a_text_is_read);
	CU_ADD_TEST(suite, every_changed_byte_is_survived);
	CU_ADD_TEST(suite, time_grows_with_the_length);
	CU_ADD_TEST(suite, the_corpus_of_the_fuzzer_is_read);
}
