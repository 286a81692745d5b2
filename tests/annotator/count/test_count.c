/* PTX that counts: which instructions are added, and where (annotator/count). */
#include "annotator/count/count.h"
#include "tests/tests.h"

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

static int count(const char *ptx, struct counted_text *out)
{
	struct gs_error err = {""};
	struct ptx_module *m = NULL;
	struct lifted *l = NULL;
	*out = (struct counted_text){0};
	int failed = ptx_read(ptx, strlen(ptx), &m, &err);
	if (!failed)
		failed = lift_module(m, &l, &err);
	if (!failed)
		failed = count_write(l, ptx, strlen(ptx), &out->text, &out->kernels, &err);
	lift_free(l);
	ptx_free(m);
	return failed;
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
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, ".address_size 64\n.visible .global .align 8 .b64 gpusim_counts[2];\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "@%p1 red.global.add.u32 [%gpusim_d2+0], 1;\n"
	                                           "@!%p1 red.global.add.u32 [%gpusim_d2+128], 1;\n"
	                                           "@%p1 bra $L_loop;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "$L_end:\nred.global.add.u32 [%gpusim_d2+256], 1;\nret;\n"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "mad.lo.u64 %gpusim_d2, %gpusim_d1, 384, %gpusim_d3;\n")); /* 3 columns of 32 words */
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
	CU_ASSERT_PTR_NOT_NULL(strstr(t.text.data, "@!%p1 red.global.add.u32 [%gpusim_d2+0], 1;\n"
	                                           "@%p1 red.global.add.u32 [%gpusim_d2+128], 1;\n"
	                                           "@!%p1 bra $L_loop;\n"));
	counted_free(&t);
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

/* A kernel that calls a function is not counted; another of its module is. */
static void test_calls(void)
{
	static const char text[] =
		".version 6.4\n.target sm_70\n.address_size 64\n"
		".func f()\n{\nret;\n}\n"
		".visible .entry a()\n{\ncall.uni f, ();\nret;\n}\n"
		".visible .entry b()\n{\nret;\n}\n";
	struct counted_text t;
	CU_ASSERT_EQUAL_FATAL(count(text, &t), 0);
	CU_ASSERT_STRING_EQUAL(t.kernels.data, "b\n");
	counted_free(&t);
}

void add_ptx_counts_tests(void)
{
	CU_pSuite suite = CU_add_suite("ptx_counts", NULL, NULL);
	CU_add_test(suite, "a loop", test_loop);
	CU_add_test(suite, "a negated guard", test_negated);
	CU_add_test(suite, "two instructions on a line", test_not_a_line_each);
	CU_add_test(suite, "calls", test_calls);
}
