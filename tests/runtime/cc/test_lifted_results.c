/* Results for CUDA modules: what gpusim-cc makes of a fat binary, and what the guest reads in it. */
#include "tests/tests.h"

#include "runtime/cc/compile.h"
#include "runtime/config/cache.h"
#include "runtime/format/protocol.h"
#include "runtime/model/artifact.h"
#include "runtime/model/lifted_facts.h"
#include "runtime/model/simulation.h"
#include "tests/lift/pack.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct gs_error error;

/* scale: a loop, a call, two variables. strange: what nobody can lift. */
static const char text[] =
    ".version 8.0\n.target sm_70\n.address_size 64\n"
    ".const .align 4 .f32 factors[4] = {1.0, 2.0, 3.0, 4.0};\n.global .align 8 .u64 where = generic(factors)+4;\n"
    ".func (.param .b32 func_retval0) twice(.param .b32 twice_param_0)\n{\n.reg .f32 %f<3>;\nld.param.f32 %f1, [twice_param_0];\n"
    "add.f32 %f2, %f1, %f1;\nst.param.f32 [func_retval0], %f2;\nret;\n}\n"
    ".visible .entry scale(.param .u64 scale_param_0, .param .align 4 .b8 scale_param_1[12], .param .u8 scale_param_2)\n"
    ".maxntid 128, 1, 1\n{\n.reg .pred %p<2>;\n.reg .b32 %r<5>;\n.reg .f32 %f<5>;\n.reg .b64 %rd<5>;\n"
    "ld.param.u64 %rd1, [scale_param_0];\ncvta.to.global.u64 %rd2, %rd1;\nmov.u32 %r1, %tid.x;\nmul.wide.u32 %rd3, %r1, 4;\n"
    "add.s64 %rd4, %rd2, %rd3;\nld.global.f32 %f1, [%rd4];\nmov.u32 %r2, 0;\n"
    "AGAIN:\n{\n.param .b32 param0;\nst.param.f32 [param0], %f1;\n.param .b32 retval0;\ncall.uni (retval0), twice, (param0);\n"
    "ld.param.f32 %f1, [retval0];\n}\nadd.u32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n@%p1 bra AGAIN;\n"
    "st.global.f32 [%rd4], %f1;\nret;\n}\n"
    ".visible .entry strange()\n{\nunheardof.u32;\nret;\n}\n";

static void ask_about(const void *image, size_t bytes, const char *targets, bool count, struct gs_pack *result)
{
	struct gs_pack request = {0};
	gs_pack_puts(&request, "version", GPUSIM_CC_VERSION);
	if (count)
		gs_pack_puts(&request, "count", "1");
	gs_pack_puts(&request, "targets", targets);
	gs_pack_add(&request, "fatbin", image, bytes);
	compile_request(&request, result);
	gs_pack_free(&request);
}

static void request_of(const void *image, size_t bytes, const char *targets, struct gs_pack *result)
{
	ask_about(image, bytes, targets, false, result);
}

static void make_result(const char *targets, struct gs_pack *result)
{
	struct gs_buf packed = {0};
	pack_ptx(text, 70, PACK_ZSTD, &packed);
	request_of(packed.data, packed.len, targets, result);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(result, "failure"), "");
	gs_buf_free(&packed);
}

static void facts_are_those_of_the_module(void)
{
	struct gs_pack result = {0};
	struct lifted_facts *f = NULL;
	make_result("sm_70:vendor\n", &result);
	CU_ASSERT_EQUAL_FATAL(lifted_facts_read(&result, &f, &error), 0);
	CU_ASSERT_TRUE(f->ptx_version == 80 && f->ptx_arch == 70);
	const struct lifted_kernel *k = lifted_facts_kernel(f, "scale"), *strange = lifted_facts_kernel(f, "strange");
	CU_ASSERT_PTR_NULL(k->refused);
	CU_ASSERT_EQUAL_FATAL(k->parameter_count, 3);
	CU_ASSERT_TRUE(k->parameters[1].offset == 8 && k->parameters[1].bytes == 12);
	CU_ASSERT_TRUE(k->parameters[2].offset == 20 && k->parameters[2].bytes == 1);
	CU_ASSERT_TRUE(k->maxntid[0] == 128 && k->sizes.parameter_bytes == 21);
	CU_ASSERT_PTR_NOT_NULL_FATAL(strange->refused);
	CU_ASSERT_PTR_NOT_NULL(strstr(strange->refused, "unheardof.u32"));
	const struct lifted_variable *factors = lifted_facts_variable(f, "factors"), *where = lifted_facts_variable(f, "where");
	CU_ASSERT_TRUE(factors->constant && factors->bytes == 16 && !where->constant && where->bytes == 8);
	static char image[4096];
	CU_ASSERT_TRUE_FATAL(f->image_bytes <= sizeof image);
	lifted_facts_place(f, image);
	float *second, *expected = (float *)(image + factors->offset) + 1;
	memcpy(&second, image + where->offset, sizeof second);
	CU_ASSERT_PTR_EQUAL(second, expected);
	CU_ASSERT_EQUAL(*expected, 2.0f);
	lifted_facts_free(f);
	gs_pack_free(&result);
}

/* The tables that every program has, as the guest reads them. */
static void the_guest_reads_the_same_tables(void)
{
	static struct simulation simulation = SIMULATION_INIT;
	struct gs_pack result = {0};
	struct artifact *a = NULL;
	strcpy(simulation.archs[0], "sm_70:vendor");
	strcpy(simulation.archs[1], "sm_90:vendor");
	simulation.arch_count = 2;
	make_result("sm_70:vendor\nsm_90:vendor\n", &result);
	CU_ASSERT_EQUAL_FATAL(artifact_read(&simulation, &a, &result, &error), 0);
	CU_ASSERT_EQUAL(a->kernel_count, 1); /* strange cannot run */
	struct artifact_kernel *k = artifact_kernel(a, "scale");
	CU_ASSERT_PTR_NOT_NULL_FATAL(k);
	CU_ASSERT_TRUE(a->counts_by_item && k->flag_count == 0 && k->column_count > 0);
	unsigned entries = 0;
	for (size_t i = 0; i < a->block_count; i++)
		entries += !strcmp(a->blocks[i].kind, "entry") && !strcmp(a->blocks[i].function, "scale");
	CU_ASSERT_EQUAL(entries, 1);
	CU_ASSERT_EQUAL(k->arguments, 3);
	CU_ASSERT_TRUE(k->argument_kinds[0] == ARGUMENT_GLOBAL && k->argument_kinds[1] == ARGUMENT_VALUE);
	for (int t = 0; t < 2; t++) {
		CU_ASSERT_PTR_NOT_NULL_FATAL(k->code[t]);
		CU_ASSERT_EQUAL(k->code[t]->function_count, 2);
		CU_ASSERT_EQUAL(k->code[t]->counter_count, a->block_count);
		CU_ASSERT_EQUAL(k->code[t]->site_count, a->site_count);
		CU_ASSERT_EQUAL(k->code[t]->unknown_count, 0);
	}
	CU_ASSERT_EQUAL(a->host_count, 1);
	CU_ASSERT_PTR_NOT_NULL(a->traced_texts);
	artifact_release(a);
	gs_pack_free(&result);
}

/* A site names its row; its instruction has that site, and the row is a probe of the instruction's block. */
static void sites_and_rows_belong_together(void)
{
	static struct simulation simulation = SIMULATION_INIT;
	struct gs_pack result = {0};
	struct artifact *a = NULL;
	uint32_t found = 0;
	strcpy(simulation.archs[0], "sm_70:vendor");
	simulation.arch_count = 1;
	make_result("sm_70:vendor\n", &result);
	CU_ASSERT_EQUAL_FATAL(artifact_read(&simulation, &a, &result, &error), 0);
	const struct kernel_code *c = artifact_kernel(a, "scale")->code[0];
	for (uint32_t b = 0; b < c->block_count; b++)
		for (uint32_t i = c->blocks[b].first; i < c->blocks[b].first + c->blocks[b].count; i++) {
			if (c->code[i].site < 0)
				continue;
			const struct trace_site *s = &a->sites[c->code[i].site];
			CU_ASSERT_EQUAL(s->block, c->probes[c->blocks[b].first_probe]);
			CU_ASSERT_EQUAL(s->kind, c->code[i].class == CODE_load ? TRACE_load : TRACE_store);
			CU_ASSERT_EQUAL(s->bytes, c->code[i].bytes);
			found += c->code[i].space == SPACE_global;
		}
	CU_ASSERT_EQUAL(found, 2); /* the load and the store of scale */
	artifact_release(a);
	gs_pack_free(&result);
}

static void failures_say_what_is_missing(void)
{
	struct gs_buf packed = {0};
	struct gs_pack result = {0};
	struct pack_image image = {.kind = FATBIN_ELF, .arch = 86, .data = "\177ELF", .bytes = 4};
	pack_fatbin(&image, 1, &packed);
	request_of(packed.data, packed.len, "sm_90:vendor\n", &result);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"),
	                       "no-ptx: the kernels have no PTX, only machine code for sm_86: compile them with "
	                       "-gencode arch=compute_86,code=compute_86 as well");
	gs_pack_free(&result);
	result = (struct gs_pack){0};
	request_of("something", 9, "sm_90:vendor\n", &result);
	CU_ASSERT_EQUAL(strncmp(gs_pack_text(&result, "failure"), "not-image: ", 11), 0);
	gs_pack_free(&result);
	result = (struct gs_pack){0};
	request_of(text, sizeof text, "sm_20:libclc\n", &result); /* PTX alone, newer than the target */
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), "");
	CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&result, "note"), "sm_70"));
	gs_pack_free(&result);
	gs_buf_free(&packed);
}

/* 3 MiB of empty lines are PTX, too. */
static void large_modules_are_not_built_again_for_a_real_gpu(void)
{
	enum { LARGE = 3 << 20 };
	struct gs_pack result = {0}, counted = {0};
	char *large = malloc(LARGE + sizeof text);
	CU_ASSERT_PTR_NOT_NULL_FATAL(large);
	memset(large, '\n', LARGE);
	memcpy(large + LARGE, text, sizeof text);
	ask_about(large, LARGE + sizeof text, "sm_70:vendor\n", true, &counted);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&counted, "failure"),
	                       "too-large: its module has 3.0 MiB of PTX, more than 2: it would take long to build that again with counters");
	CU_ASSERT_TRUE(cache_worth_keeping(&counted));
	request_of(large, LARGE + sizeof text, "sm_70:vendor\n", &result);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), "");
	gs_pack_free(&counted);
	gs_pack_free(&result);
	free(large);
}

/* Objects of -rdc=true: the kernel is in one, what it calls and reads in the other. The linked container has no PTX. */
static void objects_are_linked(void)
{
	static const char kernel[] = ".version 8.0\n.target sm_70\n.address_size 64\n.extern .func set();\n.extern .global .u32 counter;\n"
	                             ".visible .entry k()\n{\n.reg .b32 %r<3>;\nld.global.u32 %r1, [counter];\ncall set;\nret;\n}\n";
	static const char other[] = ".version 8.0\n.target sm_70\n.address_size 64\n.visible .global .u32 counter = 5;\n"
	                            ".visible .func set()\n{\nst.global.u32 [counter], 1;\nret;\n}\n";
	struct pack_image linked = {.kind = FATBIN_ELF, .arch = 70, .data = "\177ELF", .bytes = 4};
	struct gs_buf packed = {0};
	struct gs_pack result = {0};
	struct lifted_facts *f = NULL;
	pack_fatbin(&linked, 1, &packed);
	pack_ptx(kernel, 70, PACK_PLAIN, &packed);
	size_t without = packed.len;
	pack_ptx(other, 70, PACK_LZ4, &packed);
	request_of(packed.data, packed.len, "sm_70:vendor\n", &result);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), "");
	CU_ASSERT_EQUAL_FATAL(lifted_facts_read(&result, &f, &error), 0);
	CU_ASSERT_TRUE(f->kernel_count == 1 && !f->kernels[0].refused);
	CU_ASSERT_TRUE(f->variable_count == 1 && f->image[f->variables[0].offset] == 5);
	lifted_facts_free(f);
	gs_pack_free(&result);
	result = (struct gs_pack){0};
	request_of(packed.data, without, "sm_70:vendor\n", &result);
	CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), "lift: variable counter is not defined in the module");
	gs_pack_free(&result);
	gs_buf_free(&packed);
}

static void read_sass(const char *name, struct gs_buf *out)
{
	char path[4096];
	const char *root = getenv("GPUSIM_TEST_ROOT");
	snprintf(path, sizeof path, "%s/tests/analysis/sass/%s", root ? root : ".", name);
	CU_ASSERT_EQUAL_FATAL(gs_read_file(path, out, &error), 0);
}

/* walk.ptx with its cubin for sm_90, which takes 10 registers. No word asks for it, and none is needed. Selected code has the same number of registers;
 * without the cubin it is an estimate. */
static void machine_code_of_the_program_is_used(void)
{
	static const struct {
		const char *target, *code, *registers;
	} cases[] = {{"sm_90:vendor:machine:sass\n", "code walk program\n", " registers=10\n"}, {"sm_90:vendor:sass\n", "code walk program\n", " registers=10\n"},
	             {"sm_90:vendor:selected:sass\n", "", " registers=10\n"}, {"sm_80:vendor:selected:sass\n", "", " registers="}};
	struct gs_buf ptx = {0}, cubin = {0}, packed = {0};
	read_sass("walk.ptx", &ptx);
	read_sass("walk-sm_90.cubin", &cubin);
	const struct pack_image images[] = {{.kind = FATBIN_ELF, .arch = 90, .form = PACK_ZSTD, .data = cubin.data, .bytes = cubin.len},
	                                    {.kind = FATBIN_PTX, .arch = 70, .form = PACK_LZ4, .data = ptx.data, .bytes = ptx.len + 1}};
	pack_fatbin(images, 2, &packed);
	for (size_t i = 0; i < GS_ARRAY_LEN(cases); i++) {
		struct gs_pack result = {0};
		request_of(packed.data, packed.len, cases[i].target, &result);
		CU_ASSERT_STRING_EQUAL(gs_pack_text(&result, "failure"), "");
		CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&result, "target"), cases[i].code));
		CU_ASSERT_PTR_NOT_NULL(strstr(gs_pack_text(&result, "target"), cases[i].registers));
		CU_ASSERT_EQUAL(strstr(gs_pack_text(&result, "target"), "code walk") != NULL, *cases[i].code != 0);
		gs_pack_free(&result);
	}
	gs_buf_free(&ptx);
	gs_buf_free(&cubin);
	gs_buf_free(&packed);
}

void add_lifted_results_tests(void)
{
	CU_pSuite suite = CU_add_suite("lifted_results", NULL, NULL);
	CU_ADD_TEST(suite, facts_are_those_of_the_module);
	CU_ADD_TEST(suite, the_guest_reads_the_same_tables);
	CU_ADD_TEST(suite, sites_and_rows_belong_together);
	CU_ADD_TEST(suite, failures_say_what_is_missing);
	CU_ADD_TEST(suite, large_modules_are_not_built_again_for_a_real_gpu);
	CU_ADD_TEST(suite, objects_are_linked);
	CU_ADD_TEST(suite, machine_code_of_the_program_is_used);
}
