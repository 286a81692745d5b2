/* Tests of the target compile, and of reading its PTX. */
#include "tests/tests.h"

#include "analysis/target/target.h"
#include "analysis/ptx/ptx.h"

#include <stdlib.h>
#include <string.h>

#define PROBE "void __gpusim_probe(ulong, ulong, uint, ulong) __asm__(\"llvm.pseudoprobe\");\n"

static struct gs_error error;

/* Compiles units. The list ends with NULL. The caller frees *ptx. */
static int compile(const char *const *texts, const char *options, const char *arch, struct gs_buf *ptx)
{
	struct target_unit units[4];
	size_t count = 0;
	for (; texts[count]; count++)
		units[count] =
		    (struct target_unit){.text = texts[count], .length = strlen(texts[count]), .options = options};
	error.text[0] = 0;
	return target_compile(units, count, arch, ptx, &error);
}

static void check_compiles(const char *text, const char *options, const char *arch, const char *contains)
{
	struct gs_buf ptx = {0};
	CU_ASSERT_EQUAL(compile((const char *const[]){text, NULL}, options, arch, &ptx), 0);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data ? ptx.data : "", contains));
	gs_buf_free(&ptx);
}

static void ptx_version_fits_the_architecture(void)
{
	static const char *const expected[][2] = {
		{"sm_20", ".version 3.2\n.target sm_20"}, {"sm_30", ".version 3.2\n.target sm_30"},
		{"sm_32", ".version 4.0\n.target sm_32"}, {"sm_35", ".version 3.2\n.target sm_35"},
		{"sm_52", ".version 4.1\n.target sm_52"}, {"sm_70", ".version 6.0\n.target sm_70"},
		{"sm_80", ".version 7.0\n.target sm_80"}, {"sm_90", ".version 7.8\n.target sm_90"},
		/* newer than the compiler knows: its newest; between two that it knows: the older one */
		{"sm_120", ".version 7.8\n.target sm_90"}, {"sm_88", ".version 7.4\n.target sm_87"},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(expected); i++)
		check_compiles("__kernel void k(__global int *p) { p[get_global_id(0)] = 1; }\n", "-cl-std=CL1.2",
		               expected[i][0], expected[i][1]);
}

static void unknown_architecture_is_an_error(void)
{
	static const char *const names[] = {"sm_13", "gfx90a", "sm_", "", "sm_70ab", "sm_7x0"};
	struct gs_buf ptx = {0};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++) {
		CU_ASSERT_NOT_EQUAL(compile((const char *const[]){"", NULL}, "", names[i], &ptx), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(error.text, "unknown architecture"));
	}
	gs_buf_free(&ptx);
}

static void probes_survive_and_do_not_stop_unrolling(void)
{
	static const char text[] =
		PROBE "__kernel void k(__global float *p) { __gpusim_probe(1, 0, 0, -1); float x = p[0];\n"
		      "for (int i = 0; i < 4; i++) { __gpusim_probe(1, 1, 0, -1); x = x * x + 1.0f; } p[0] = x; }\n";
	struct gs_buf ptx = {0}, clean = {0};
	CU_ASSERT_EQUAL_FATAL(compile((const char *const[]){text, NULL}, "", "sm_70", &ptx), 0);
	size_t probes = 0;
	for (const char *p = ptx.data; (p = strstr(p, ".pseudoprobe\t1 1 ")); p++)
		probes++;
	CU_ASSERT_EQUAL(probes, 4); /* four trips, four copies of the body */
	CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data, ".pseudoprobe\t1 0 "));
	CU_ASSERT_PTR_NULL(strstr(ptx.data, "bra"));
	ptx_without_probes(ptx.data, ptx.len, &clean);
	CU_ASSERT_PTR_NULL(strstr(clean.data, "pseudoprobe"));
	CU_ASSERT_PTR_NOT_NULL(strstr(clean.data, "fma.rn.f32"));
	gs_buf_free(&ptx);
	gs_buf_free(&clean);
}

static void lines_are_told_outside_of_calls(void)
{
	static const char text[] = "# 7 \"program.cl\"\nint f(int, int);\n__kernel void k(__global int *p)\n{\n"
				   "p[0] = f(p[1],\np[2]);\n}\n";
	struct gs_buf ptx = {0};
	CU_ASSERT_EQUAL_FATAL(compile((const char *const[]){text, NULL}, "", "sm_70", &ptx), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data, ".loc\t1 10 ")); /* the call is in the 4th line after the 7th */
	CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data, ".loc\t1 11 "));
	CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data, "\t.file\t1 \"./program.cl\""));
	CU_ASSERT_PTR_NULL(strstr(ptx.data, "$L__tmp"));
	const char *call = strstr(ptx.data, "call.uni"), *loc = call ? strstr(call, ".loc") : NULL;
	CU_ASSERT_PTR_NOT_NULL_FATAL(call);
	CU_ASSERT(!loc || loc > strchr(call, ';'));
	gs_buf_free(&ptx);
}

static void native_functions_are_single_instructions(void)
{
	static const char text[] =
	    "__kernel void k(__global float4 *p) { p[0] = native_sin(p[1]); p[2].x = native_exp2(p[3].x); }\n";
	for (size_t i = 0; i < 2; i++) {
		const char *arch = i ? "sm_90" : "sm_20";
		check_compiles(text, "-cl-std=CL1.2", arch, "sin.approx.f32");
		check_compiles(text, "-cl-std=CL1.2", arch, "ex2.approx.f32");
	}
}

static void images_doubles_and_atomics_compile(void)
{
	check_compiles(
	    "__kernel void k(read_only image2d_t a, sampler_t s, write_only image2d_t b) {\n"
	    "int2 c = (int2)(get_global_id(0), get_global_id(1)); write_imagef(b, c, read_imagef(a, s, c)); }\n",
	    "-cl-std=CL1.2 -cl-ext=+__opencl_c_images", "sm_35", "read_image");
	check_compiles("__kernel void k(__global double *p) { p[0] = sqrt(p[1]) * p[2]; }\n", "-cl-std=CL1.2", "sm_20",
	               "sqrt.rn.f64");
	check_compiles("__kernel void k(__global int *p, __local int *l) { atomic_add(p, 3); atomic_inc(l); }\n",
	               "-cl-std=CL1.2", "sm_70", "atom.global.add.u32");
	check_compiles("#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable\n"
	               "__kernel void k(__global long *p) { atom_add(p, 3L); }\n",
	               "-cl-std=CL1.2 -cl-ext=+cl_khr_int64_base_atomics", "sm_35", "atom.global.add.u64");
	check_compiles("__kernel void k(__global int *p) { printf(\"%d\\n\", p[0]); }\n", "-cl-std=CL1.2", "sm_70",
	               "printf");
}

static void options_change_the_code(void)
{
	static const char divide[] = "__kernel void k(__global float *p) { p[0] = p[1] / p[2]; }\n";
	static const char helper[] =
	    "int f(int x) { return x + 1; }\n__kernel void k(__global int *p) { p[0] = f(p[0]); }\n";
	struct gs_buf ptx = {0};
	check_compiles(divide, "", "sm_70", "div.rn.f32");
	check_compiles(divide, "-cl-fast-relaxed-math", "sm_70", "div.approx");
	check_compiles(helper, "-cl-opt-disable", "sm_70", "call");
	CU_ASSERT_EQUAL_FATAL(compile((const char *const[]){helper, NULL}, "", "sm_70", &ptx), 0);
	CU_ASSERT_PTR_NULL(strstr(ptx.data, "call"));
	gs_buf_free(&ptx);
}

static void units_are_linked(void)
{
	struct gs_buf ptx = {0};
	CU_ASSERT_EQUAL_FATAL(
	    compile((const char *const[]){"int f(int x) { return x * 77; }\n",
	                                  "int f(int); __kernel void k(__global int *p) { p[0] = f(p[1]); }\n", NULL},
	            "-cl-std=CL1.2", "sm_20", &ptx),
	    0);
	CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data, "77"));
	CU_ASSERT_PTR_NULL(strstr(ptx.data, "call"));
	gs_buf_free(&ptx);
}

static void compiler_failures_are_errors_with_a_reason(void)
{
	struct gs_buf ptx = {0};
	CU_ASSERT_NOT_EQUAL(
	    compile((const char *const[]){"# 9 \"program.cl\"\n__kernel void k() { x; }\n", NULL}, "", "sm_70", &ptx),
	    0);
	CU_ASSERT_STRING_EQUAL(error.text, "program.cl:9:21: use of undeclared identifier 'x'");
	/* NVPTX has no exact sine. LLVM ends the process when it meets one. Only the child process ends. */
	CU_ASSERT_NOT_EQUAL(compile((const char *const[]){"float sine(float x) __asm__(\"llvm.sin.f32\");\n"
	                                                  "__kernel void k(__global float *p) { p[0] = sine(p[0]); }\n",
	                                                  NULL},
	                            "", "sm_70", &ptx),
	                    0);
	CU_ASSERT(!strncmp(error.text, "LLVM: ", 6));
	gs_buf_free(&ptx);
}

/* Two kernels, a function between them, and text that looks like instructions but is not. */
static const char ptx_text[] =
	"//\n// Generated by LLVM NVPTX Back-End\n//\n\n"
	".version 3.2\n.target sm_20, texmode_independent\n.address_size 64\n\n"
	".extern .func helper\n(\n\t.param .b32 helper_param_0\n)\n;\n"
	".shared .align 4 .b8 both[100];\n"
	".shared .align 8 .f64 scalar;\n"
	".global .align 1 .b8 text[4] = {97, 59, 125, 0};\n"
	".visible .entry first(\n\t.param .u64 .ptr .global .align 4 first_param_0,\n\t.param .u32 first_param_1\n)\n"
	".maxntid 64, 1, 1\n{\n"
	"\t.reg .pred \t%p<3>;\n\t.reg .b64 \t%rd<3>;\n"
	"\t// demoted variable\n\t.shared .align 4 .b8 first_tile[256];\n"
	"\t.loc\t1 3 5\n\t.pseudoprobe\t1 0 0 0 first\n"
	"\tld.param.u64 \t%rd1, [first_param_0];\n"            /* 1 */
	"\tmov.u64 \t%rd2, both;\n"                            /* 2 */
	"$L__BB0_1: // loop; not {an} instruction;\n"
	"\t.pragma \"nounroll;{\";\n"
	"\tld.global.v2.f32 \t{%f1, %f2}, [%rd1];\n"           /* 3 */
	"\t{ // callseq 0, 0\n\t.param .b32 param0;\n"
	"\tst.param.f32 \t[param0+0], %f1;\n"                  /* 4 */
	"\tcall.uni \n\thelper, \n\t(\n\tparam0\n\t);\n"       /* 5 */
	"\t} // callseq 0\n"
	"\t@%p1 bra \t$L__BB0_1;\n"                            /* 6 */
	"\tbar.sync \t0; ret;\n"                               /* 7, 8 */
	"}\n"
	".func  (.param .b32 func_retval0) other()\n{\n\tmov.f64 %fd1, scalar;\n\tret;\n}\n"
	"\t// .globl\tsecond\n"
	".entry second()\n{\n\n\tmov.u64 \t%rd2, bothered;\n\tret;\n\n}\n";

/* `first` has 256 bytes of its own and 100 of `both`. `second` mentions only a longer name. The scalar's 8 bytes are not used. */
static void instructions_and_shared_memory_are_counted_per_kernel(void)
{
	struct ptx_module *module;
	CU_ASSERT_EQUAL_FATAL(ptx_read(ptx_text, strlen(ptx_text), &module, &error), 0);
	const struct ptx_function *first = ptx_find(module, "first"), *second = ptx_find(module, "second");
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	CU_ASSERT_PTR_NOT_NULL_FATAL(second);
	CU_ASSERT(first->entry && second->entry);
	CU_ASSERT_EQUAL(first->instruction_count, 8);
	CU_ASSERT_EQUAL(second->instruction_count, 2);
	CU_ASSERT_EQUAL(ptx_shared_bytes(module, first), 356);
	CU_ASSERT_EQUAL(ptx_shared_bytes(module, second), 0);
	ptx_free(module);
}

void add_analysis_tests(void)
{
	CU_pSuite suite = CU_add_suite("analysis", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(ptx_version_fits_the_architecture);
	TEST(unknown_architecture_is_an_error);
	TEST(probes_survive_and_do_not_stop_unrolling);
	TEST(lines_are_told_outside_of_calls);
	TEST(native_functions_are_single_instructions);
	TEST(images_doubles_and_atomics_compile);
	TEST(options_change_the_code);
	TEST(units_are_linked);
	TEST(compiler_failures_are_errors_with_a_reason);
	TEST(instructions_and_shared_memory_are_counted_per_kernel);
#undef TEST
}
