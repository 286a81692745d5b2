/* Costs of library functions. Also checks that every builtin of OpenCL C can be compiled. */
#include "tests/tests.h"

#include "analysis/target/target.h"
#include "analysis/builtins/builtins.h"
#include "analysis/mapping/internal.h"
#include "runtime/base/tool.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

static size_t expand(const char *function, const char *arch, struct builtin_step *steps)
{
	const struct builtin_cost *cost = builtin_find(function);
	CU_ASSERT_PTR_NOT_NULL_FATAL(cost);
	return builtin_expand(cost, arch, steps, BUILTIN_MAX_STEPS);
}

static void check_step(const struct builtin_step *step, enum code_class class, int depends_on)
{
	CU_ASSERT_EQUAL(step->class, class);
	CU_ASSERT_EQUAL(step->depends_on, depends_on);
}

/* expf needs two constants. x * log2(e) is rounded to an integer (two FFMA, FADD) and shifted into the exponent. The rest of x
 * (two FFMA) goes through EX2 and is multiplied by that power of two. */
static void a_function_is_a_sequence_of_instructions(void)
{
	static const struct {
		enum code_class class;
		int depends_on;
	} expected[] = {
		{CODE_move, -1},    {CODE_move, -1},    {CODE_fp32_fma, 0}, {CODE_fp32_fma, 2}, {CODE_fp32, 3},
		{CODE_logic, 3},    {CODE_fp32_fma, 4}, {CODE_fp32_fma, 6}, {CODE_sfu, 7},      {CODE_fp32, 8},
	};
	struct builtin_step steps[BUILTIN_MAX_STEPS];
	CU_ASSERT_EQUAL_FATAL(expand("__gpusim_fn_exp_f32", "sm_90", steps), GS_ARRAY_LEN(expected));
	for (size_t i = 0; i < GS_ARRAY_LEN(expected); i++)
		check_step(&steps[i], expected[i].class, expected[i].depends_on);
}

/* Relaxed sin(x) is x times 1/(2 pi), then SIN. GPUs up to Pascal have a range reduction between them. */
static void older_gpus_reduce_the_range_first(void)
{
	struct builtin_step steps[BUILTIN_MAX_STEPS];
	CU_ASSERT_EQUAL_FATAL(expand("__gpusim_fn_relaxed_sin_f32", "sm_70", steps), 2);
	check_step(&steps[0], CODE_fp32, -1);
	check_step(&steps[1], CODE_sfu, 0);
	CU_ASSERT_EQUAL_FATAL(expand("__gpusim_fn_relaxed_sin_f32", "sm_61:vendor", steps), 3);
	check_step(&steps[1], CODE_conv, 0);
	check_step(&steps[2], CODE_sfu, 1);
	/* exp has 10 steps. The step before the last one is EX2. The steps after it move by one. */
	CU_ASSERT_EQUAL_FATAL(expand("__gpusim_fn_exp_f32", "sm_35", steps), 11);
	check_step(&steps[8], CODE_conv, 7);
	check_step(&steps[9], CODE_sfu, 8);
	check_step(&steps[10], CODE_fp32, 9);
}

/* log(x) has one conversion, of the exponent. From Hopper on, it runs on the integer units. */
static void newer_gpus_convert_where_they_add(void)
{
	static const char *const archs[] = {"sm_80", "sm_90"};
	for (unsigned n = 0; n < 2; n++) {
		struct builtin_step steps[BUILTIN_MAX_STEPS];
		size_t count = expand("__gpusim_fn_log_f32", archs[n], steps), conversions = 0, additions = 0;
		for (size_t i = 0; i < count; i++) {
			conversions += steps[i].class == CODE_conv;
			additions += steps[i].class == CODE_int;
		}
		CU_ASSERT_EQUAL(conversions, 1 - n);
		CU_ASSERT_EQUAL(additions, 2 + n);
	}
}

static void only_what_there_is_room_for_is_written(void)
{
	struct builtin_step steps[4] = {[2] = {.class = CODE_nop}, [3] = {.class = CODE_nop}};
	const struct builtin_cost *cost = builtin_find("__gpusim_fn_exp_f32");
	CU_ASSERT_PTR_NOT_NULL_FATAL(cost);
	CU_ASSERT_EQUAL(builtin_expand(cost, "sm_35", steps, 2), 11);
	CU_ASSERT(steps[2].class == CODE_nop && steps[3].class == CODE_nop);
	CU_ASSERT_EQUAL(builtin_expand(cost, "sm_35", NULL, 0), 11);
}

static const char *const function_names[] = {
	"acos", "acosh", "acospi", "asin", "asinh", "asinpi", "atan", "atan2", "atan2pi", "atanh", "atanpi", "cbrt", "cos",
	"cosh", "cospi", "erf", "erfc", "exp", "exp10", "exp2", "expm1", "fmod", "fract", "frexp", "hypot", "ilogb", "ldexp",
	"lgamma", "lgamma_r", "log", "log10", "log1p", "log2", "logb", "modf", "nextafter", "pow", "pown", "powr",
	"remainder", "remquo", "rootn", "rsqrt", "sin", "sincos", "sinh", "sinpi", "tan", "tanh", "tanpi", "tgamma",
};

static void check_sequence(const char *function, const char *arch, bool doubles)
{
	struct builtin_step steps[BUILTIN_MAX_STEPS];
	bool has_double = false, has_argument = false;
	size_t count = expand(function, arch, steps);
	CU_ASSERT(count >= 1 && count < 300);
	for (size_t i = 0; i < count; i++) {
		CU_ASSERT(steps[i].depends_on >= -1 && steps[i].depends_on < (int)i);
		CU_ASSERT(steps[i].class < CODE_CLASS_COUNT && steps[i].space < CODE_SPACE_COUNT);
		CU_ASSERT_EQUAL(steps[i].bytes > 0, steps[i].space != SPACE_none);
		has_double |= steps[i].class == CODE_fp64 || steps[i].class == CODE_fp64_fma;
		has_argument |= steps[i].depends_on == -1;
	}
	CU_ASSERT(has_argument);
	CU_ASSERT_EQUAL(has_double, doubles);
}

static void all_functions_of_mathematics_are_there(void)
{
	static const char *const archs[] = {"sm_20", "sm_70", "sm_90"};
	char name[64];
	for (size_t i = 0; i < GS_ARRAY_LEN(function_names); i++)
		for (size_t a = 0; a < GS_ARRAY_LEN(archs); a++) {
			snprintf(name, sizeof name, "__gpusim_fn_%s_f32", function_names[i]);
			check_sequence(name, archs[a], false);
			snprintf(name, sizeof name, "__gpusim_fn_%s_f64", function_names[i]);
			check_sequence(name, archs[a], true);
		}
}

static void builtins_are_found_by_mangled_name(void)
{
	struct builtin_step steps[BUILTIN_MAX_STEPS];
	/* a level of detail, two coordinates converted from integers, the access */
	CU_ASSERT_EQUAL_FATAL(expand("_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i", "sm_70", steps), 4);
	CU_ASSERT(steps[3].class == CODE_texture && steps[3].space == SPACE_texture && steps[3].bytes == 16);
	CU_ASSERT_EQUAL(expand("_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_f", "sm_70", steps), 2);
	/* five exchanges, each with an addition */
	CU_ASSERT_EQUAL_FATAL(expand("_Z20sub_group_reduce_addf", "sm_70", steps), 10);
	CU_ASSERT_EQUAL(steps[8].class, CODE_shuffle);
	/* half precision costs the same as single precision */
	CU_ASSERT_PTR_EQUAL(builtin_find("_Z3expDh"), builtin_find("__gpusim_fn_exp_f32"));
	CU_ASSERT_PTR_EQUAL(builtin_find("_Z3expDv4_Dh"), builtin_find("__gpusim_fn_exp_f32"));
	CU_ASSERT_PTR_EQUAL(builtin_find("_Z3expd"), builtin_find("__gpusim_fn_exp_f64"));
	CU_ASSERT_PTR_NOT_NULL(builtin_find("printf"));
	CU_ASSERT_PTR_NOT_NULL(builtin_find("__read_pipe_2"));
}

static void functions_of_programs_are_not_found(void)
{
	static const char *const names[] = {"helper", "read_image_rows", "get_row", "_ZN", "_Z", "_Z99x", "",
	                                    "__gpusim_fn_helper_f32", "__gpusim_fn_"};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		CU_ASSERT_PTR_NULL(builtin_find(names[i]));
}

static void divisions_are_found_by_opcode(void)
{
	struct builtin_step steps[BUILTIN_MAX_STEPS];
	const struct builtin_cost *cost = builtin_find_opcode("div.approx.ftz.f32");
	CU_ASSERT_PTR_NOT_NULL_FATAL(cost);
	CU_ASSERT_EQUAL_FATAL(builtin_expand(cost, "sm_80", steps, BUILTIN_MAX_STEPS), 2); /* reciprocal, product */
	check_step(&steps[0], CODE_sfu, -1);
	check_step(&steps[1], CODE_fp32, 0);
	CU_ASSERT_PTR_NOT_NULL(builtin_find_opcode("rem.u64"));
	CU_ASSERT_PTR_NULL(builtin_find_opcode("add.f32"));
	CU_ASSERT_PTR_NULL(builtin_find("div.rn.f32"));
}

static void the_functions_of_a_text_are_listed(void)
{
	static const char ptx[] =
		".version 7.0\n.target sm_80\n.address_size 64\n"
		".func (.param .b32 r) __gpusim_fn_sin_f32 (.param .b32 a);\n.func helper ();\n.func own ();\n"
		".func (.param .b32 r) _Z15get_image_width14ocl_image2d_ro (.param .b64 a);\n"
		".func (.param .b32 r) _Z15get_image_width14ocl_image1d_ro (.param .b64 a);\n"
		".func own()\n{\n\tcall.uni helper, ();\n\tret;\n}\n"
		".entry k(.param .f32 x)\n{\n\tcall.uni own, ();\n\tcall.uni (r0), __gpusim_fn_sin_f32, (a0);\n"
		"\tcall.uni own, ();\n\tret;\n}\n";
	struct ptx_module *module;
	struct gs_buf list = {0};
	CU_ASSERT_EQUAL_FATAL(ptx_read(ptx, strlen(ptx), &module, &error), 0);
	builtin_list(module, NULL, &list);
	CU_ASSERT_STRING_EQUAL(list.data, "sin (f32)\n?helper\nget_image_width\n");
	list.len = 0;
	builtin_list(module, ptx_find(module, "k"), &list); /* in the order of its calls */
	CU_ASSERT_STRING_EQUAL(list.data, "?helper\nsin (f32)\n");
	gs_buf_free(&list);
	ptx_free(module);
}

/* The relaxed sine becomes a product and SIN. They replace st.param, call and ld.param. */
static void a_call_becomes_its_instructions(void)
{
	static const char ptx[] =
		".version 7.0\n.target sm_80\n.address_size 64\n"
		".func (.param .b32 func_retval0) __gpusim_fn_relaxed_sin_f32 (.param .b32 a);\n"
		".entry k(.param .u64 k_param_0)\n{\n.reg .f32 %f<4>;\n.reg .b64 %rd<2>;\n"
		"ld.param.u64 %rd1, [k_param_0];\nld.global.f32 %f1, [%rd1];\n{\n.param .b32 param0;\n"
		"st.param.f32 [param0+0], %f1;\n.param .b32 retval0;\n"
		"call.uni (retval0), __gpusim_fn_relaxed_sin_f32, (param0);\nld.param.f32 %f2, [retval0+0];\n}\n"
		"st.global.f32 [%rd1], %f2;\nret;\n}\n";
	static const enum code_class expected[] = {CODE_load, CODE_load, CODE_fp32, CODE_sfu, CODE_store, CODE_branch};
	struct ptx_module *module;
	struct mapping *m;
	struct kernel_code *code;
	CU_ASSERT_EQUAL_FATAL(ptx_read(ptx, strlen(ptx), &module, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_create(module, ptx_find(module, "k"), &m, &error), 0);
	CU_ASSERT_EQUAL_FATAL(mapping_code(m, &(struct mapping_source){0}, NULL, "sm_80:vendor", &code, &error), 0);
	CU_ASSERT_EQUAL_FATAL(code->code_count, GS_ARRAY_LEN(expected));
	for (size_t i = 0; i < GS_ARRAY_LEN(expected); i++)
		CU_ASSERT_EQUAL(code->code[i].class, expected[i]);
	const struct code_instruction *load = &code->code[1], *product = &code->code[2], *sine = &code->code[3],
				      *store = &code->code[4];
	CU_ASSERT(product->flags == CODE_EXPANDED && product->writes == 1 && product->reads == 1);
	CU_ASSERT_EQUAL(code->operands[product->first_operand + 1], code->operands[load->first_operand]);
	CU_ASSERT_EQUAL(code->operands[sine->first_operand + 1], code->operands[product->first_operand]);
	bool stored = false;
	for (unsigned i = 0; i < store->reads; i++)
		stored |= code->operands[store->first_operand + i] == code->operands[sine->first_operand];
	CU_ASSERT(stored);
	/* The call does not end its block, and its result is not loaded any more. */
	CU_ASSERT_EQUAL_FATAL(code->block_count, 1);
	CU_ASSERT(code->blocks[0].first == 0 && code->blocks[0].count == GS_ARRAY_LEN(expected));
	struct gs_buf bytes = {0};
	struct kernel_code *again = NULL;
	code_write(code, &bytes);
	CU_ASSERT_EQUAL(code_read(bytes.data, bytes.len, &again, &error), 0); /* every index is valid */
	code_free(again);
	gs_buf_free(&bytes);
	code_free(code);
	mapping_free(m);
	ptx_free(module);
}

/* ---- all builtins of OpenCL C ---- */

#define EXTENSIONS                                                                                                     \
	"-cl-ext=-all,+cl_khr_fp64,+__opencl_c_fp64,+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics,"        \
	"+__opencl_c_images,+cl_khr_3d_image_writes,+__opencl_c_3d_image_writes,+__opencl_c_read_write_images,"        \
	"+__opencl_c_generic_address_space,+__opencl_c_atomic_order_acq_rel,+__opencl_c_atomic_order_seq_cst,"         \
	"+__opencl_c_atomic_scope_device,+__opencl_c_atomic_scope_all_devices,+__opencl_c_subgroups,"                  \
	"+__opencl_c_work_group_collective_functions,+__opencl_c_pipes,+__opencl_c_device_enqueue,"                    \
	"+__opencl_c_program_scope_global_variables,+__opencl_c_int64,+cl_khr_subgroups,+cl_khr_depth_images,"         \
	"+cl_khr_mipmap_image,+cl_khr_mipmap_image_writes,+cl_khr_gl_msaa_sharing,+cl_khr_subgroup_ballot,"            \
	"+cl_khr_subgroup_shuffle,+cl_khr_subgroup_shuffle_relative,+cl_khr_subgroup_non_uniform_vote,"                \
	"+cl_khr_subgroup_non_uniform_arithmetic,+cl_khr_subgroup_clustered_reduce,+cl_ext_float_atomics,"             \
	"+__opencl_c_ext_fp32_global_atomic_add,+__opencl_c_ext_fp32_local_atomic_add,"                                \
	"+__opencl_c_ext_fp32_global_atomic_min_max,+__opencl_c_ext_fp64_global_atomic_add"

/* clang's own header, preprocessed: one declaration per line. */
static void read_header(const char *standard, struct gs_buf *out)
{
	struct words args = {0}, files = {0};
	const char *folder = test_folder();
	static const char *const fixed[] = {"-x", "cl", "-target", "nvptx64-nvidia-nvcl", "-E", "-P", "-cl-no-stdinc",
	                                    "-include", "opencl-c.h", "-Xclang", EXTENSIONS, "/dev/null"};
	words_printf(&files, "%s/header", folder);
	words_printf(&files, "%s/messages", folder);
	words_add(&args, standard);
	for (size_t i = 0; i < GS_ARRAY_LEN(fixed); i++)
		words_add(&args, fixed[i]);
	CU_ASSERT_EQUAL_FATAL(clang_run(&(struct clang_run){.args = (const char *const *)args.items,
	                                                    .output = files.items[0], .messages = files.items[1]}, &error), 0);
	CU_ASSERT_EQUAL_FATAL(gs_read_file(files.items[0], out, &error), 0);
	words_free(&args);
	words_free(&files);
}

/* Leaves out bytes, shorts, halves, and vectors that do not have four elements. The compiler treats them like the types that are
 * tried. */
static bool is_wanted_type(const char *word, size_t length)
{
	static const char *const skipped[] = {"char", "uchar", "short", "ushort", "half"};
	size_t letters = length;
	while (letters && isdigit((unsigned char)word[letters - 1]))
		letters--;
	for (size_t i = 0; i < GS_ARRAY_LEN(skipped); i++)
		if (letters == strlen(skipped[i]) && !strncmp(word, skipped[i], letters))
			return false;
	static const char *const vectors[] = {"int", "uint", "long", "ulong", "float", "double"};
	for (size_t i = 0; i < GS_ARRAY_LEN(vectors); i++)
		if (letters == strlen(vectors[i]) && letters < length && !strncmp(word, vectors[i], letters))
			return length == letters + 1 && word[letters] == '4';
	return true;
}

static bool is_wanted(const char *line)
{
	if (!strstr(line, "__attribute__((overloadable))") || line[strlen(line) - 1] != ';' || strpbrk(line, "^[") ||
	    strstr(line, "..."))
		return false;
	for (const char *p = line; *p;) {
		size_t length = strspn(p, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ_0123456789");
		if (length && !is_wanted_type(p, length))
			return false;
		p += length ? length : 1;
	}
	/* The 400 conversions follow one pattern, so two are enough. */
	return !strstr(line, "convert_") || strstr(line, "convert_int_sat_rte") || strstr(line, "convert_float4_rtz");
}

static void drop_attributes(char *line)
{
	char *from;
	while ((from = strstr(line, "__attribute__"))) {
		char *to = from + strlen("__attribute__");
		int depth = 0;
		do
			depth += *to == '(' ? 1 : *to == ')' ? -1 : 0;
		while (*to++ && depth);
		memmove(from, to, strlen(to) + 1);
	}
}

/* The header names some parameters. A name follows a blank or star, and it is not a type. */
static void drop_name(char *parameter)
{
	static const char *const words[] = {"int", "uint", "long", "ulong", "float", "double", "void", "bool", "const",
	                                    "volatile", "memory_order", "memory_scope", "cl_mem_fence_flags",
	                                    "clk_profiling_info", "kernel_enqueue_flags_t"};
	char *last = strrchr(parameter, ' '), *star = strrchr(parameter, '*');
	char *name = star > last ? star + 1 : last ? last + 1 : NULL;
	if (!name || !*name || isdigit((unsigned char)name[strlen(name) - 1]))
		return;
	size_t length = strlen(name);
	if ((length > 2 && !strcmp(name + length - 2, "_t")) || !strncmp(name, "atomic_", 7))
		return;
	for (size_t i = 0; i < GS_ARRAY_LEN(words); i++)
		if (!strcmp(name, words[i]))
			return;
	*name = 0;
}

/* Turns "R name(T, U);" into a function with the same parameters that calls it and is not removed. */
static void add_caller(char *line, unsigned number, struct gs_buf *out)
{
	drop_attributes(line);
	char *open = strchr(line, '('), *close = strrchr(line, ')'), *rest = open + 1, *parameter;
	if (!open || !close)
		return;
	*open = *close = 0;
	while (open > line && open[-1] == ' ')
		*--open = 0;
	char *name = strrchr(line, ' ');
	if (!name)
		return;
	gs_buf_printf(out, "%.*s __attribute__((used)) t%u(", (int)(name - line), line, number);
	unsigned count = 0;
	while (*rest && strcmp(rest, "void") && (parameter = strsep(&rest, ","))) {
		drop_name(parameter);
		gs_buf_printf(out, "%s%s a%u", count ? ", " : "", parameter, count);
		count++;
		if (!rest)
			break;
	}
	gs_buf_printf(out, "%s) { return%s(", count ? "" : "void", name);
	for (unsigned i = 0; i < count; i++)
		gs_buf_printf(out, "%sa%u", i ? ", " : "", i);
	gs_buf_puts(out, "); }\n");
}

static unsigned write_callers(const char *standard, struct gs_buf *program)
{
	struct gs_buf header = {0};
	unsigned count = 0;
	read_header(standard, &header);
	for (char *rest = header.data, *line; (line = strsep(&rest, "\n"));)
		if (*line && is_wanted(line))
			add_caller(line, count++, program);
	gs_buf_free(&header);
	return count;
}

static void check_list(const struct gs_buf *ptx)
{
	struct ptx_module *module;
	struct gs_buf list = {0};
	CU_ASSERT_EQUAL_FATAL(ptx_read(ptx->data, ptx->len, &module, &error), 0);
	builtin_list(module, NULL, &list);
	CU_ASSERT_PTR_NOT_NULL_FATAL(list.data);
	CU_ASSERT_PTR_NULL(strchr(list.data, '?'));
	CU_ASSERT_PTR_NOT_NULL(strstr(list.data, "read_imagef\n"));
	gs_buf_free(&list);
	ptx_free(module);
}

static void check_all(const char *standard, unsigned at_least, const char *const *archs)
{
	struct gs_buf program = {0}, options = {0};
	struct target_bitcode *bitcode;
	CU_ASSERT(write_callers(standard, &program) >= at_least);
	gs_buf_printf(&options, "%s %s", standard, EXTENSIONS);
	struct target_unit unit = {.text = program.data, .length = program.len, .options = options.data};
	int failed = target_bitcode_create(&unit, 1, &bitcode, &error);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_EQUAL_FATAL(failed, 0);
	struct target_job *jobs[4];
	size_t count = 0;
	for (; archs[count]; count++)
		CU_ASSERT_EQUAL_FATAL(target_compile_start(bitcode, archs[count], &jobs[count], &error), 0);
	for (size_t i = 0; i < count; i++) {
		struct gs_buf ptx = {0};
		CU_ASSERT_EQUAL_FATAL(target_compile_finish(jobs[i], &ptx, &error), 0);
		check_list(&ptx);
		gs_buf_free(&ptx);
	}
	target_bitcode_free(bitcode);
	gs_buf_free(&program);
	gs_buf_free(&options);
}

static void every_builtin_of_opencl_c_compiles(void)
{
	error.text[0] = 0;
	check_all("-cl-std=CL1.2", 800, (const char *const[]){"sm_20:vendor", NULL});
	check_all("-cl-std=CL3.0", 1000, (const char *const[]){"sm_20:vendor", "sm_70:libclc", "sm_90:vendor", NULL});
}

void add_builtins_tests(void)
{
	CU_pSuite suite = CU_add_suite("builtins", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(a_function_is_a_sequence_of_instructions);
	TEST(older_gpus_reduce_the_range_first);
	TEST(newer_gpus_convert_where_they_add);
	TEST(only_what_there_is_room_for_is_written);
	TEST(all_functions_of_mathematics_are_there);
	TEST(builtins_are_found_by_mangled_name);
	TEST(functions_of_programs_are_not_found);
	TEST(divisions_are_found_by_opcode);
	TEST(the_functions_of_a_text_are_listed);
	TEST(a_call_becomes_its_instructions);
	TEST(every_builtin_of_opencl_c_compiles);
#undef TEST
}
