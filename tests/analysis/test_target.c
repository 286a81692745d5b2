/* The target compile: how options, architectures and libraries change the code of a program. */
#include "tests/tests.h"

#include "analysis/builtins/target_name.h"
#include "analysis/target/target.h"
#include "models/gpu/gpu.h"
#include "runtime/config/gpus.h"

#include <stdio.h>
#include <string.h>

static struct gs_error error;

/* The PTX of one text. The caller frees it. It is empty after a failure. */
static struct gs_buf compile(const char *text, const char *options, const char *arch)
{
	struct gs_buf ptx = {0};
	struct target_unit unit = {.text = text, .length = strlen(text), .options = options};
	error.text[0] = 0;
	CU_ASSERT_EQUAL(target_compile(&unit, 1, arch, &ptx, &error), 0);
	CU_ASSERT_STRING_EQUAL(error.text, "");
	gs_buf_add(&ptx, "", 0);
	return ptx;
}

static size_t count(const char *text, const char *options, const char *arch, const char *word)
{
	struct gs_buf ptx = compile(text, options, arch);
	size_t found = 0;
	for (const char *p = ptx.data; p && (p = strstr(p, word)); p++)
		found++;
	gs_buf_free(&ptx);
	return found;
}

#define HAS(text, options, arch, word) CU_ASSERT(count(text, options, arch, word) > 0)
#define LACKS(text, options, arch, word) CU_ASSERT_EQUAL(count(text, options, arch, word), 0)

/* ---- options ---- */

#define KERNEL(statement) "__kernel void k(__global float *p) { " statement " }\n"

static void contraction_across_statements_needs_mad_enable(void)
{
	/* By default, OpenCL C contracts within an expression. NVIDIA's compiler does so, too. */
	static const char within[] = KERNEL("p[0] = p[1] * p[2] + p[3];");
	static const char across[] = KERNEL("float t = p[1] * p[2]; p[0] = t + p[3];");
	HAS(within, "", "sm_70", "fma.rn.f32");
	LACKS(across, "", "sm_70", "fma.rn.f32");
	HAS(across, "-cl-mad-enable", "sm_70", "fma.rn.f32");
}

/* NVIDIA's front end loads a vector whole even if an element is not used. */
static void vectors_are_loaded_whole(void)
{
	static const char text[] = "__kernel void k(__global float4 *v, __global float *p) { float4 a = v[1]; p[0] = a.x * a.y - a.z; }\n";
	HAS(text, "", "sm_90:vendor:sass", "ld.global.v4.f32");
}

static void denormals_are_flushed_on_demand(void)
{
	static const char text[] = KERNEL("p[0] = p[1] * p[2];");
	LACKS(text, "", "sm_20", ".ftz");
	HAS(text, "-cl-denorms-are-zero", "sm_20", "mul.rn.ftz.f32");
	HAS(text, "-cl-denorms-are-zero", "sm_90:vendor", "mul.rn.ftz.f32");
	HAS(text, "-cl-fast-relaxed-math", "sm_90:vendor", "mul.ftz.f32");
	LACKS(text, "-cl-fast-relaxed-math", "sm_90", ".ftz");
}

static void relaxed_arithmetic_divides_approximately(void)
{
	static const char text[] = KERNEL("p[0] = p[1] / p[2] + sin(p[3]);");
	HAS(text, "", "sm_70:vendor", "div.full.f32");
	HAS(text, "-cl-fast-relaxed-math", "sm_70:vendor", "div.approx.ftz.f32");
	HAS(text, "-cl-unsafe-math-optimizations", "sm_70:vendor", "div.approx.ftz.f32");
	HAS(text, "-cl-fast-relaxed-math", "sm_70:vendor", "__gpusim_fn_relaxed_sin_f32");
	LACKS(text, "", "sm_70:vendor", "relaxed");
}

static void finite_values_need_no_test(void)
{
	static const char text[] = KERNEL("p[0] = p[1] == p[1] ? p[2] : 7.0f;");
	HAS(text, "", "sm_70", "setp");
	LACKS(text, "-cl-finite-math-only", "sm_70", "setp");
}

static void adding_zero_is_nothing_without_signed_zeros(void)
{
	static const char text[] = KERNEL("p[0] = p[1] + 0.0f;");
	HAS(text, "", "sm_70", "add.rn.f32");
	LACKS(text, "-cl-no-signed-zeros", "sm_70", "add.rn.f32");
}

static void constants_may_be_single(void)
{
	static const char text[] = KERNEL("p[0] = p[1] * 1.1;");
	HAS(text, "-cl-ext=+cl_khr_fp64,+__opencl_c_fp64", "sm_70", "mul.rn.f64");
	LACKS(text, "-cl-single-precision-constant -cl-ext=+cl_khr_fp64,+__opencl_c_fp64", "sm_70", "f64");
}

/* OpenCL C allows 2.5 and 3 ulp, and NVIDIA's compiler uses this freedom. The reference's clang does not. */
static void rounding_of_division_and_root(void)
{
	static const char text[] = KERNEL("p[0] = p[1] / p[2]; p[3] = sqrt(p[4]);");
	static const char correct[] = "-cl-fp32-correctly-rounded-divide-sqrt";
	HAS(text, "", "sm_20:vendor", "div.full.f32");
	HAS(text, "", "sm_20:vendor", "sqrt.approx.f32");
	HAS(text, correct, "sm_20:vendor", "div.rn.f32");
	HAS(text, correct, "sm_20:vendor", "sqrt.rn.f32");
	HAS(text, "", "sm_20:libclc", "div.rn.f32");
	HAS(text, "", "sm_20:libclc", "sqrt.rn.f32");
}

static void uniform_work_groups_change_nothing(void)
{
	static const char text[] = "# 1 \"a.cl\"\n" KERNEL("p[get_global_id(0)] = p[get_local_id(0)];");
	struct gs_buf plain = compile(text, "", "sm_70"), uniform = compile(text, "-cl-uniform-work-group-size", "sm_70");
	CU_ASSERT(plain.len > 0 && plain.len == uniform.len && !memcmp(plain.data, uniform.data, plain.len));
	gs_buf_free(&plain);
	gs_buf_free(&uniform);
}

static void every_standard_compiles(void)
{
	static const char text[] = "__kernel void k(__global int *p) { p[0] = __OPENCL_C_VERSION__; }\n";
	static const char *const versions[] = {"100", "110", "120", "200", "300"};
	for (size_t i = 0; i < GS_ARRAY_LEN(versions); i++) {
		char option[32], value[8];
		snprintf(option, sizeof option, "-cl-std=CL%c.%c", versions[i][0], versions[i][1]);
		snprintf(value, sizeof value, ", %s;", versions[i]);
		HAS(text, option, "sm_35:vendor", value);
	}
}

/* ---- architectures and libraries ---- */

static void every_shipped_gpu_has_its_code(void)
{
	static const char text[] = KERNEL("p[0] = exp(p[1]);");
	struct target_unit unit = {.text = text, .length = strlen(text), .options = ""};
	struct target_bitcode *bitcode;
	CU_ASSERT_EQUAL_FATAL(target_bitcode_create(&unit, 1, &bitcode, &error), 0);
	for (const struct builtin_gpu *g = builtin_gpus; g->name; g++) {
		struct gpu gpu;
		struct target_job *job;
		struct gs_buf ptx = {0};
		char arch[96], line[96];
		CU_ASSERT_EQUAL_FATAL(gpu_load(&gpu, g->name, gpus_read, NULL, NULL, NULL, &error), 0);
		snprintf(arch, sizeof arch, "%s:%s", gpu.arch, gpu_library_name(gpu.math_library));
		snprintf(line, sizeof line, ".target %s,", gpu.arch);
		CU_ASSERT_EQUAL_FATAL(target_compile_start(bitcode, arch, &job, &error), 0);
		CU_ASSERT_EQUAL_FATAL(target_compile_finish(job, &ptx, &error), 0);
		CU_ASSERT_PTR_NOT_NULL(strstr(ptx.data, line));
		bool calls = strstr(ptx.data, "__gpusim_fn_exp_f32") != NULL;
		CU_ASSERT_EQUAL(calls, gpu.math_library == GPU_MATH_vendor);
		gs_buf_free(&ptx);
	}
	target_bitcode_free(bitcode);
}

static void unknown_libraries_are_errors(void)
{
	static const char *const names[] = {"sm_70:", "sm_70:nvidia", "sm_70:vendor2", ":vendor", "sm_70 vendor"};
	struct target_unit unit = {.text = "", .length = 0, .options = ""};
	struct gs_buf ptx = {0};
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		CU_ASSERT_NOT_EQUAL(target_compile(&unit, 1, names[i], &ptx, &error), 0);
	gs_buf_free(&ptx);
}

/* Counts calls: the name stands alone in a line. In a declaration, parameters follow the name. */
static size_t calls_of(const char *text, const char *options, const char *name)
{
	char line[96];
	snprintf(line, sizeof line, "\t%s, \n", name);
	return count(text, options, "sm_70:vendor", line);
}

static void functions_of_the_vendor_are_pure(void)
{
	/* merged: the same argument twice; hoisted: a loop does not change it; dropped: the result is not needed */
	CU_ASSERT_EQUAL(calls_of(KERNEL("float x = p[1]; p[0] = sin(x) + 2 * sin(x);"), "", "__gpusim_fn_sin_f32"), 1);
	CU_ASSERT_EQUAL(calls_of("__kernel void k(__global float *p, float x, int n) {\n"
	                         "for (int i = 0; i < n; i++) p[i] *= log(x); }\n",
	                         "", "__gpusim_fn_log_f32"),
	                1);
	CU_ASSERT_EQUAL(calls_of(KERNEL("float x = tan(p[1]); p[0] = 1;"), "", "__gpusim_fn_tan_f32"), 0);
}

static void functions_of_the_program_are_its_own(void)
{
	static const char text[] = "float __attribute__((overloadable)) exp(float x) { return x * 77.0f; }\n"
	                           KERNEL("p[0] = exp(p[1]);");
	HAS(text, "-cl-std=CL1.2", "sm_70:vendor", "0f429A0000"); /* 77 */
	LACKS(text, "-cl-std=CL1.2", "sm_70:vendor", "__gpusim_fn");
}

static void every_unit_has_the_vendors_functions(void)
{
	static const char *const texts[] = {"float f(float x) { return cos(x); }\n",
	                                    "float f(float x); " KERNEL("p[0] = f(p[1]) + cos(p[2]);")};
	struct target_unit units[2];
	struct gs_buf ptx = {0};
	for (size_t i = 0; i < 2; i++)
		units[i] = (struct target_unit){.text = texts[i], .length = strlen(texts[i]), .options = "-cl-std=CL1.2"};
	CU_ASSERT_EQUAL_FATAL(target_compile(units, 2, "sm_70:vendor", &ptx, &error), 0);
	const char *first = strstr(ptx.data, "\t__gpusim_fn_cos_f32, \n");
	CU_ASSERT_PTR_NOT_NULL_FATAL(first);
	CU_ASSERT_PTR_NOT_NULL(strstr(first + 1, "\t__gpusim_fn_cos_f32, \n"));
	CU_ASSERT_PTR_NULL(strstr(ptx.data, "fma")); /* no code of libclc is left */
	gs_buf_free(&ptx);
}

static void vectors_call_once_per_element(void)
{
	CU_ASSERT_EQUAL(calls_of("__kernel void k(__global float4 *p) { p[0] = pow(p[1], p[2]); }\n", "",
	                         "__gpusim_fn_pow_f32"),
	                4);
	CU_ASSERT_EQUAL(calls_of("__kernel void k(__global float3 *p, __global int3 *n) { p[0] = pown(p[1], n[0]); }\n", "",
	                         "__gpusim_fn_pown_f32"),
	                3);
	CU_ASSERT_EQUAL(calls_of("__kernel void k(__global double2 *p) { p[0] = exp(p[1]); }\n",
	                         "-cl-ext=+cl_khr_fp64,+__opencl_c_fp64", "__gpusim_fn_exp_f64"),
	                2);
}

static void second_results_come_with_the_first(void)
{
	static const char both[] = KERNEL("float c; p[0] = sincos(p[1], &c); p[2] = c;");
	static const char whole[] = KERNEL("int e; p[0] = frexp(p[1], &e); p[2] = e;");
	CU_ASSERT_EQUAL(calls_of(both, "", "__gpusim_fn_sincos_f32"), 1);
	HAS(both, "", "sm_70:vendor", "ld.param.f32 \t%f3, [retval0+4];");
	CU_ASSERT_EQUAL(calls_of(whole, "", "__gpusim_fn_frexp_f32"), 1);
	HAS(whole, "", "sm_70:vendor", "cvt.rn.f32.s32");
}

static void without_optimisation_functions_are_the_vendors_too(void)
{
	HAS(KERNEL("p[0] = exp(p[1]);"), "-cl-opt-disable", "sm_70:vendor", "__gpusim_fn_exp_f32");
}

/* ---- builtins that clang or libclc lacks ---- */

static void atomics_of_64_bits_and_of_opencl_2(void)
{
	static const char wide[] = "__kernel void k(__global long *p, __global ulong *u) { atom_max(p, 3L); atom_min(u, 3UL);\n"
	                           "p[1] = atom_cmpxchg(p + 2, 4L, 5L); }\n";
	static const char modern[] =
		"__kernel void k(__global atomic_int *p, __global int *q, __local atomic_uint *l, __global atomic_float *f) {\n"
		"q[0] = atomic_fetch_add_explicit(p, 1, memory_order_relaxed, memory_scope_device);\n"
		"q[1] = atomic_fetch_max_explicit(l, 2u, memory_order_relaxed, memory_scope_work_group);\n"
		"int e = q[2]; q[3] = atomic_compare_exchange_strong(p, &e, 7); q[4] = e;\n"
		"atomic_store(p + 1, 5); work_group_barrier(CLK_LOCAL_MEM_FENCE); q[5] = atomic_load(p); }\n";
	static const char extension[] = "-cl-std=CL1.2 -cl-ext=+cl_khr_int64_base_atomics,+cl_khr_int64_extended_atomics";
	static const char *const expected[] = {"atom.global.add.u32", "atom.shared.max.u32", "atom.global.cas.b32", "membar",
	                                       "bar.sync"};
	HAS(wide, extension, "sm_70", "atom.global.max.s64");
	HAS(wide, extension, "sm_70", "atom.global.min.u64");
	HAS(wide, extension, "sm_70", "atom.global.cas.b64");
	HAS(wide, extension, "sm_20", "atom.global.cas.b64"); /* the maximum is a loop there */
	LACKS(wide, extension, "sm_20", "atom.global.max.s64");
	HAS("__kernel void k(__global long *p) { atom_add(p, 3L); }\n", extension, "sm_20", "_Z8atom_add");
	for (size_t i = 0; i < GS_ARRAY_LEN(expected); i++)
		HAS(modern, "-cl-std=CL2.0", "sm_70", expected[i]);
	LACKS(modern, "-cl-std=CL2.0", "sm_70", "_Z");
}

static void what_has_no_code_stays_a_call(void)
{
	static const char pipes[] = "__kernel void k(read_only pipe int a, write_only pipe int b) {\n"
	                            "int x; if (!read_pipe(a, &x)) write_pipe(b, &x); }\n";
	static const char groups[] = "__kernel void k(__global float *p) { p[0] = work_group_reduce_add(p[1]);\n"
	                             "p[2] = sub_group_broadcast(p[3], 1u); }\n";
	static const char collective[] = "-cl-std=CL2.0 -cl-ext=+cl_khr_subgroups";
	HAS(pipes, "-cl-std=CL2.0", "sm_20", "__read_pipe_2");
	HAS(groups, collective, "sm_90:vendor", "_Z21work_group_reduce_addf");
	HAS(groups, collective, "sm_90:vendor", "_Z19sub_group_broadcastfj");
	HAS("__kernel void k(__global char2 *p) { p[0] = ctz(p[1]); }\n", "-cl-std=CL2.0", "sm_20", "_Z3ctzDv2_c");
}

/* A call that exchanges nothing must allow unrolling. A call that exchanges values must prevent it. */
static void only_exchanges_hold_loops_together(void)
{
	static const char image[] =
		"__kernel void k(read_only image2d_t a, sampler_t s, __global float4 *p) {\n"
		"for (int i = 0; i < 4; i++) p[i] = read_imagef(a, s, (int2)(i, 0)); }\n";
	CU_ASSERT_EQUAL(calls_of(image, "-cl-std=CL1.2 -cl-ext=+__opencl_c_images",
	                         "_Z11read_imagef14ocl_image2d_ro11ocl_samplerDv2_i"),
	                4);
	CU_ASSERT_EQUAL(calls_of("__kernel void k(__global float *p, int n) {\n"
	                         "for (int i = 0; i < n; i++) p[i] = work_group_reduce_add(p[i]); }\n",
	                         "-cl-std=CL2.0", "_Z21work_group_reduce_addf"),
	                1);
}

/* libclc's functions call LLVM's own as if these exchanged values. A loop of unknown length becomes four copies, and one for what
 * is left. */
static void functions_of_llvm_do_not_hold_loops_together(void)
{
	static const char arch[] = "sm_90:vendor:sass";
	static const char fabs[] = "__kernel void k(__global float *p, int n) { for (int i = 0; i < n; i++) p[i] = fabs(p[i]); }\n";
	static const char floor[] = "__kernel void k(__global float *p, int n) { for (int i = 0; i < n; i++) p[i] = floor(p[i]); }\n";
	CU_ASSERT_EQUAL(count(fabs, "", arch, "abs.f32"), 5);
	CU_ASSERT_EQUAL(count(floor, "", arch, "cvt.rmi"), 5);
}

static void programs_may_need_the_whole_header(void)
{
	/* Only the header declares it; clang's own list does not. */
	HAS("__kernel void k(read_write image1d_t a, sampler_t s, __global float4 *p) { p[0] = read_imagef(a, s, 0.5f, 1.0f); }\n",
	    "-cl-std=CL2.0 -cl-ext=+cl_khr_mipmap_image,+__opencl_c_images", "sm_70", "read_imagef");
}

/* ---- loops and lines ---- */

static void pragmas_of_loops_are_followed(void)
{
	static const char rolled[] = KERNEL("\n#pragma unroll 1\nfor (int i = 0; i < 4; i++) p[i] = p[i + 9] + 1;");
	static const char unrolled[] =
		"__kernel void k(__global float *p, int n) {\n#pragma unroll 2\nfor (int i = 0; i < n; i++) p[i] += 2.5f; }\n";
	CU_ASSERT_EQUAL(count(rolled, "", "sm_70", "add.rn.f32"), 1);
	CU_ASSERT_EQUAL(count(KERNEL("for (int i = 0; i < 4; i++) p[i] = p[i + 9] + 1;"), "", "sm_70", "add.rn.f32"), 4);
	CU_ASSERT_EQUAL(count(unrolled, "", "sm_70", "add.rn.f32"), 3); /* two, and one for the remainder */
}

static void lines_are_the_users(void)
{
	static const char text[] = "# 7 \"dir/user.cl\"\n__kernel void k(__global float *p) {\n\tp[0] = p[1] * 3.0f;\n}\n";
	HAS(text, "", "sm_70", "\"./dir/user.cl\"");
	HAS(text, "", "sm_70", ".loc\t1 8 ");
	LACKS(text, "", "sm_70", ", debug");
	/* no line stands between a call and the name of its function */
	HAS("# 1 \"a.cl\"\n" KERNEL("p[0] = sin(p[1]);"), "", "sm_70:vendor", "call.uni (retval0), \n\t__gpusim_fn_sin_f32");
}

/* Only read: `a` through another pointer and a function, `d` by vload4, `e` through a member. Written: `b` by a function, `c` by
 * an atomic, `f` by +=. A pointer that is not used is not written. */
static void pointers_that_are_only_read_are_found(void)
{
	static const char text[] =
	    "void put(__global float *p, int i, float v) { p[i] = v; }\n"
	    "float get(__global float *p, int i) { return p[i]; }\n"
	    "__kernel void kk(__global float *a) { *a = 1; }\n"
	    "__kernel void k(__global float *a, __global float *b, __global int *c, __global float *d, __global float4 *e, int n,\n"
	    "                __global int *f, __global float *unused)\n"
	    "{\n"
	    "	int i = get_global_id(0);\n"
	    "	__global float *q = n > 3 ? a + i : a;\n"
	    "	put(b, i, get(q, 1) + e[i].x + vload4(i, d).y);\n"
	    "	atomic_inc(&c[0]);\n"
	    "	*(f + i) += 1;\n"
	    "}\n";
	static const bool expected[] = {true, false, false, true, true, false, false, true};
	for (int vendor = 0; vendor < 2; vendor++) {
		struct gs_buf ptx = compile(text, "", vendor ? "sm_90:vendor" : "sm_20");
		for (unsigned i = 0; i < GS_ARRAY_LEN(expected); i++)
			CU_ASSERT_EQUAL(target_only_reads(ptx.data, "k", i), expected[i]);
		CU_ASSERT(!target_only_reads(ptx.data, "kk", 0));
		CU_ASSERT(!target_only_reads(ptx.data, "put", 1));
		gs_buf_free(&ptx);
	}
	struct gs_buf plain = compile(text, "-cl-opt-disable", "sm_20");
	CU_ASSERT(!target_only_reads(plain.data, "k", 0)); /* no comment says it, so it is not known */
	gs_buf_free(&plain);
}

/* Which code a GPU's description asks for, of a CUDA program and of an OpenCL program. */
static void names_say_which_code_is_wanted(void)
{
	static const struct {
		const char *set, *name;
		bool of_cuda, of_opencl;
	} cases[] = {{NULL, "sm_90:vendor:sass", true, false},
	             {"machine_code=sass", "sm_90:vendor:sass", true, false},
	             {"machine_code=machine", "sm_90:vendor:machine:sass", true, true},
	             {"machine_code=selected", "sm_90:vendor:selected:sass", false, false},
	             {"machine_code=selected,assembler_arch=sm_86", "sm_90:vendor:sm_86:selected:sass", false, false},
	             {"machine_code=ptx", "sm_90:vendor", false, false},
	             {"math_library=libclc", "sm_90:libclc", false, false}};
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gpu gpu;
		char name[GPU_TARGET_SIZE];
		CU_ASSERT_EQUAL_FATAL(gpu_load(&gpu, "h200", gpus_read, NULL, cases[i].set, NULL, &error), 0);
		gpu_target_name(&gpu, name);
		CU_ASSERT_STRING_EQUAL(name, cases[i].name);
		CU_ASSERT_EQUAL(target_wants_assembled(name, true), cases[i].of_cuda);
		CU_ASSERT_EQUAL(target_wants_assembled(name, false), cases[i].of_opencl);
	}
}

void add_target_tests(void)
{
	CU_pSuite suite = CU_add_suite("target", NULL, NULL);
#define TEST(name) CU_add_test(suite, #name, name)
	TEST(contraction_across_statements_needs_mad_enable);
	TEST(vectors_are_loaded_whole);
	TEST(denormals_are_flushed_on_demand);
	TEST(relaxed_arithmetic_divides_approximately);
	TEST(finite_values_need_no_test);
	TEST(adding_zero_is_nothing_without_signed_zeros);
	TEST(constants_may_be_single);
	TEST(rounding_of_division_and_root);
	TEST(uniform_work_groups_change_nothing);
	TEST(every_standard_compiles);
	TEST(every_shipped_gpu_has_its_code);
	TEST(names_say_which_code_is_wanted);
	TEST(unknown_libraries_are_errors);
	TEST(functions_of_the_vendor_are_pure);
	TEST(functions_of_the_program_are_its_own);
	TEST(every_unit_has_the_vendors_functions);
	TEST(vectors_call_once_per_element);
	TEST(second_results_come_with_the_first);
	TEST(without_optimisation_functions_are_the_vendors_too);
	TEST(atomics_of_64_bits_and_of_opencl_2);
	TEST(what_has_no_code_stays_a_call);
	TEST(only_exchanges_hold_loops_together);
	TEST(functions_of_llvm_do_not_hold_loops_together);
	TEST(programs_may_need_the_whole_header);
	TEST(pragmas_of_loops_are_followed);
	TEST(lines_are_the_users);
	TEST(pointers_that_are_only_read_are_found);
#undef TEST
}
