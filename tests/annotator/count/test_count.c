/* PTX that counts: which instructions are added, and where (annotator/count). */
#include "annotator/count/count.h"
#include "tests/tests.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char loop[] =
	".version 6.4\n.target sm_70\n.address_size 64\n"
	".visible .entry step(\n.param .u64 step_param_0,\n.param .u32 step_param_1\n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<6>;\n.reg .b64 %rd<4>;\n"
	"ld.param.u32 %r1, [step_param_1];\nmov.u32 %r2, %tid.x;\nsetp.ge.u32 %p1, %r2, %r1;\n"
	"@%p1 bra $L_end;\n"
	"$L_loop:\nadd.s32 %r2, %r2, 1;\nsetp.lt.u32 %p1, %r2, %r1;\n"
	"@%p1 bra $L_loop;\n"
	"$L_end:\nret;\n}\n";

struct counted_text {
	struct gs_buf text, kernels;
};

static int write_lifted(enum count_form form, const char *ptx, const struct gs_buf *lifted, struct counted_text *out)
{
	struct gs_error err = {""};
	struct ptx_module *m = NULL;
	struct lifted *l = NULL;
	*out = (struct counted_text){0};
	int failed = ptx_read(lifted->data, lifted->len, &m, &err);
	if (!failed)
		failed = lift_module(m, &l, &err);
	if (!failed)
		failed = count_write(l, form, ptx, strlen(ptx), &out->text, &out->kernels, &err);
	lift_free(l);
	ptx_free(m);
	return failed;
}

static int write_form(enum count_form form, const char *ptx, struct counted_text *out)
{
	return write_lifted(form, ptx, &(struct gs_buf){.data = (char *)(uintptr_t)ptx, .len = strlen(ptx)}, out);
}

static int write_expanded(enum count_form form, const char *ptx, struct counted_text *out)
{
	struct gs_error err = {""};
	struct gs_buf expanded = {0};
	int failed = ptx_expand_fragments(ptx, strlen(ptx), &expanded, &err);
	if (!failed)
		failed = write_lifted(form, ptx, &expanded, out);
	gs_buf_free(&expanded);
	return failed;
}

static int count(const char *ptx, struct counted_text *out)
{
	return write_form(COUNT_ROWS, ptx, out);
}

static void counted_free(struct counted_text *t)
{
	gs_buf_free(&t->text);
	gs_buf_free(&t->kernels);
}

/* Without lines that have "gpusim" in them, a text is what it was. */
static bool is_otherwise(const char *text, const char *before)
{
	for (const char *end; *text; text = end + 1) {
		end = strchr(text, '\n');
		size_t length = (size_t)(end - text) + 1;
		if (memmem(text, length, "gpusim", 6))
			continue;
		if (strncmp(text, before, length))
			return false;
		before += length;
	}
	return !*before;
}

/* Two of the three ways out of blocks are counted, and the block where they meet: the branch at the begin follows from these. */
static void test_loop(void)
{
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(count(loop, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "step\n");
	CU_ASSERT_TRUE(is_otherwise(t.text.data, loop));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, ".address_size 64\n.visible .global .align 8 .b64 gpusim_counts[3];\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "@%p1 add.u32 %gpusim_c0, %gpusim_c0, 1;\n"
	                                           "@!%p1 add.u32 %gpusim_c1, %gpusim_c1, 1;\n"
	                                           "@%p1 bra $L_loop;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "$L_end:\nadd.u32 %gpusim_c2, %gpusim_c2, 1;\n"
	                                           "red.global.add.u32 [%gpusim_d2+0], %gpusim_c0;\n"
	                                           "red.global.add.u32 [%gpusim_d2+128], %gpusim_c1;\n"
	                                           "red.global.add.u32 [%gpusim_d2+256], %gpusim_c2;\nret;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "ld.volatile.global.u32 %gpusim_look, [gpusim_counts+16];\n")); /* in its loop */
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "mov.u64 %gpusim_d4, 384;\n")); /* 3 columns of 32 words */
	counted_free(&t);
}

/* The guard of a branch may be negated: `@!p` is taken where p is false. */
static void test_negated(void)
{
	char text[sizeof loop + 1];
	struct counted_text t;
	const char *branch = strstr(loop, "@%p1 bra $L_loop");
	size_t before = (size_t)(branch - loop) + 1;
	memcpy(text, loop, before);
	text[before] = '!';
	strcpy(text + before + 1, branch + 1);
	CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "@!%p1 add.u32 %gpusim_c0, %gpusim_c0, 1;\n"
	                                           "@%p1 add.u32 %gpusim_c1, %gpusim_c1, 1;\n"
	                                           "@!%p1 bra $L_loop;\n"));
	counted_free(&t);
}

/* In a twin, nothing is bound to a texture that is a variable. An object is a parameter like others. */
static void test_texture_variables(void)
{
	static const char begin[] = ".version 7.0\n.target sm_70\n.address_size 64\n.global .surfref image;\n.visible .entry put(.param .u64 put_object)\n{\n"
				    ".reg .b32 %r<3>;\n.reg .b64 %rd<3>;\nld.param.u64 %rd1, [put_object];\nmov.u32 %r1, %tid.x;\n";
	static const char *const objects[] = {"image", "%rd1"};
	for (int counts = 0; counts < 2; counts++) {
		char text[sizeof begin + 100];
		struct counted_text t;
		snprintf(text, sizeof text, "%ssust.b.1d.b32.zero [%s, {%%r1}], {%%r1};\nret;\n}\n", begin, objects[counts]);
		CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
		CU_ASSERT_EQUAL(t.kernels.len, counts ? strlen("put\n") : 0);
		counted_free(&t);
	}
}

/* Two instructions on a line: nothing may be put between them, so the kernel stays as it is. */
static void test_not_a_line_each(void)
{
	char text[sizeof loop];
	struct counted_text t;
	strcpy(text, loop);
	*(strstr(text, "\n@%p1 bra $L_loop")) = ' ';
	CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
	CU_ASSERT_EQUAL(t.kernels.len, 0);
	CU_ASSERT_TRUE(is_otherwise(t.text.data, text));
	CU_ASSERT_PTR_NULL(strstr(t.text.data, "red.global"));
	counted_free(&t);
}

/* Where the first block is in a loop, registers would be cleared in each iteration. */
static void test_loop_at_begin(void)
{
	static const char text[] =
		".version 6.4\n.target sm_70\n.address_size 64\n"
		".visible .entry k(\n.param .u32 k_param_0\n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<2>;\n"
		"$L_loop:\nld.param.u32 %r1, [k_param_0];\nsetp.ne.u32 %p1, %r1, 0;\n@%p1 bra $L_loop;\nret;\n}\n";
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "k\n");
	CU_ASSERT_PTR_NULL(strstr(t.text.data, "%gpusim_c0"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "red.global.add.u32 [%gpusim_d2+"));
	counted_free(&t);
	CU_ASSERT_EQUAL_FATAL(write_form(COUNT_AND_TRACE, text, &t), 0);
	CU_ASSERT_EQUAL(t.kernels.len, 0);
	counted_free(&t);
}

/* Accesses of all kinds of addresses, some under a condition. */
static const char accesses[] =
	".version 6.4\n.target sm_70\n.address_size 64\n"
	".visible .entry k(\n.param .u64 k_param_0\n)\n{\n"
	".reg .pred %p<2>;\n.reg .b32 %r<4>;\n.reg .b64 %rd<4>;\n.shared .align 4 .b8 room[128];\n"
	"ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\nsetp.lt.u32 %p1, %r1, 7;\n"
	"ld.global.u32 %r2, [%rd1+12];\n"
	"@!%p1 st.shared.u32 [room+8], %r2;\n"
	"@%p1 st.shared.u32 [%r1], %r2;\n"
	"ret;\n}\n";

/* An access is one word: the address above bit 16, the site above bit 5, the class of its space (0 global, 1 shared) above bit 2, and 1. */
static void test_accesses(void)
{
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(write_form(COUNT_AND_TRACE, accesses, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "k\n");
	CU_ASSERT_TRUE(is_otherwise(t.text.data, accesses));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "setp.eq.u32 %gpusim_p, %gpusim_on, 1;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "mov.u64 %gpusim_e, %rd1;\nadd.s64 %gpusim_e, %gpusim_e, 12;\nshl.b64 %gpusim_e, %gpusim_e, 16;\n"
	                                           "or.b64 %gpusim_e, %gpusim_e, 1;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "setp.eq.and.u32 %gpusim_p, %gpusim_on, 1, !%p1;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "mov.u64 %gpusim_e, room;\nadd.s64 %gpusim_e, %gpusim_e, 8;\nshl.b64 %gpusim_e, %gpusim_e, 16;\n"
	                                           "or.b64 %gpusim_e, %gpusim_e, 37;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "setp.eq.and.u32 %gpusim_p, %gpusim_on, 1, %p1;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "cvt.u64.u32 %gpusim_e, %r1;\nshl.b64 %gpusim_e, %gpusim_e, 16;\nor.b64 %gpusim_e, %gpusim_e, 69;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "@%gpusim_p st.global.u64 [%gpusim_top], %gpusim_group;\n"));
	counted_free(&t);
}

/* The header of the loop begins its iterations; both ways out of it end it, and the way in begins it. */
static void test_windows(void)
{
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(write_form(COUNT_AND_TRACE, loop, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "step\n");
	CU_ASSERT_TRUE(is_otherwise(t.text.data, loop));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, ".visible .global .align 8 .b64 gpusim_traces[7];\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "setp.ne.and.u32 %gpusim_p, %gpusim_on, 0, !%p1;\n"));    /* entered where the branch is not taken */
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "setp.eq.and.u32 %gpusim_p, %gpusim_closed, 1, !%p1;\n")); /* left likewise */
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "mov.u32 %gpusim_u, 64;\n"));                              /* iterations of the first window */
	counted_free(&t);
}

/* What a texture fetch accesses only the GPU knows. */
static void test_textures(void)
{
	static const char text[] =
		".version 6.4\n.target sm_70\n.address_size 64\n"
		".visible .entry k(\n.param .u64 k_param_0\n)\n{\n.reg .b32 %r<2>;\n.reg .f32 %f<5>;\n.reg .b64 %rd<2>;\n"
		"ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r1, %tid.x;\ntex.1d.v4.f32.s32 {%f1, %f2, %f3, %f4}, [%rd1, {%r1}];\nret;\n}\n";
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "k\n");
	counted_free(&t);
	CU_ASSERT_EQUAL_FATAL(write_form(COUNT_AND_TRACE, text, &t), 0);
	CU_ASSERT_EQUAL(t.kernels.len, 0);
	counted_free(&t);
}

/* A loop that begins with a part of wmma, of which the lifted text has other instructions in the same line: it is counted, and cannot be traced. */
static void test_fragments(void)
{
	static const char text[] =
		".version 7.0\n.target sm_80\n.address_size 64\n"
		".visible .entry k(\n.param .u64 k_param_0\n)\n{\n.reg .pred %p<2>;\n.reg .b32 %r<12>;\n.reg .b64 %rd<2>;\n"
		"ld.param.u64 %rd1, [k_param_0];\nmov.u32 %r9, 4;\nmov.u32 %r10, 16;\n"
		"$L_loop:\nwmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r10;\n"
		"add.s32 %r9, %r9, -1;\nsetp.ne.s32 %p1, %r9, 0;\n@%p1 bra $L_loop;\nret;\n}\n";
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(write_expanded(COUNT_ROWS, text, &t), 0);
	CU_ASSERT_EQUAL_FATAL(t.kernels.len, 2);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "k\n");
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "mov.u32 %gpusim_c1, 0;\nld.param.u64 %rd1"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "$gpusim_go_0:\nwmma.load.a"));
	CU_ASSERT_TRUE(is_otherwise(t.text.data, text));
	counted_free(&t);
	CU_ASSERT_EQUAL_FATAL(write_expanded(COUNT_AND_TRACE, text, &t), 0);
	CU_ASSERT_EQUAL(t.kernels.len, 0);
	counted_free(&t);
}

/*
 * Functions and kernels have one counted block each, in a call after it. The column of function 0 is the second of kernel a, and the third of b, which
 * calls function 1.
 */
static void test_calls(void)
{
	static const char text[] =
		".version 6.4\n.target sm_70\n.address_size 64\n"
		".func f()\n{\nret;\n}\n"
		".func g()\n{\ncall.uni f, ();\nret;\n}\n"
		".visible .entry a()\n{\ncall.uni f, ();\nret;\n}\n"
		".visible .entry b()\n{\ncall.uni g, ();\nret;\n}\n";
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "a\nb\n");
	CU_ASSERT_TRUE(is_otherwise(t.text.data, text));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, ".b64 gpusim_calls[5];\n")); /* a word for each of 4, and one for the bytes of all columns */
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "st.global.u64 [gpusim_calls], %gpusim_d4;\nmov.u64 %gpusim_d5, 128;\nst.global.u64 [gpusim_calls+8], %gpusim_d5;\n"
	                                           "call.uni f, ();\nred.global.add.u32 [%gpusim_d2+0], 1;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "ld.global.u64 %gpusim_d3, [gpusim_calls+8];\nadd.u64 %gpusim_d2, %gpusim_d2, %gpusim_d3;\n"
	                                           "red.global.add.u32 [%gpusim_d2+0], 1;\nret;\n"));
	counted_free(&t);
	CU_ASSERT_EQUAL_FATAL(write_form(COUNT_AND_TRACE, text, &t), 0);
	CU_ASSERT_EQUAL(t.kernels.len, 0);
	counted_free(&t);
}

/* Calls of functions that are not there, and of functions that call themselves. */
static void test_other_calls(void)
{
	static const char text[] =
		".version 6.4\n.target sm_70\n.address_size 64\n"
		".extern .func outside();\n"
		".func again()\n{\n.reg .pred %p<2>;\n@%p1 bra L;\ncall.uni again, ();\nL:\nret;\n}\n"
		".visible .entry a()\n{\ncall.uni outside, ();\nret;\n}\n"
		".visible .entry b()\n{\ncall.uni again, ();\nret;\n}\n"
		".visible .entry c()\n{\nret;\n}\n";
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "c\n");
	counted_free(&t);
}

void add_ptx_counts_tests(void)
{
	CU_pSuite suite = CU_add_suite("ptx_counts", NULL, NULL);
	CU_add_test(suite, "a loop", test_loop);
	CU_add_test(suite, "a negated guard", test_negated);
	CU_add_test(suite, "textures that are variables", test_texture_variables);
	CU_add_test(suite, "two instructions on a line", test_not_a_line_each);
	CU_add_test(suite, "calls", test_calls);
	CU_add_test(suite, "calls that are not counted", test_other_calls);
	CU_add_test(suite, "a loop at the begin", test_loop_at_begin);
	CU_add_test(suite, "traced accesses", test_accesses);
	CU_add_test(suite, "traced loops", test_windows);
	CU_add_test(suite, "textures are not traced", test_textures);
	CU_add_test(suite, "loops that begin with wmma are counted", test_fragments);
}
