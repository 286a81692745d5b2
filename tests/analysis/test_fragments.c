/* Loads and stores of fragments as those of words: which ones, and where they are. */
#include "tests/tests.h"

#include "analysis/ptx/ptx.h"

#include <string.h>

static struct gs_buf made;

static const char *expand(const char *statement)
{
	struct gs_buf text = {0};
	struct gs_error err;
	gs_buf_free(&made);
	made = (struct gs_buf){0};
	gs_buf_printf(&text, ".visible .entry k()\n{\n\t%s\n\tret;\n}\n", statement);
	CU_ASSERT_EQUAL(ptx_expand_fragments(text.data, text.len, &made, &err), 0);
	gs_buf_free(&text);
	return made.data;
}

static size_t times(const char *text, const char *word)
{
	size_t n = 0;
	for (const char *at = text; (at = strstr(at, word)); at++)
		n++;
	return n;
}

/* 16 by 16 halves are 4 words of a lane: rows r and r + 8, columns c and c + 8, where r is lane / 4 and c twice lane % 4. */
static void rows_of_halves_are_loaded_by_words(void)
{
	const char *t = expand("wmma.load.a.sync.aligned.row.m16n16k16.global.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1+64], %r9;");
	CU_ASSERT_EQUAL(times(t, "wmma"), 0);
	CU_ASSERT_EQUAL(times(t, "ld.global.b32"), 4);
	CU_ASSERT_PTR_NOT_NULL(strstr(t, "mad.lo.u32 %gs_t, %gs_quad, %r9, %gs_in2; mad.wide.u32 %gs_a0, %gs_t, 2, %rd1;"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t, "mad.wide.u32 %gs_a1, %r9, 16, %gs_a0;"));
	CU_ASSERT_PTR_NOT_NULL(strstr(t, "ld.global.b32 %r1, [%gs_a0+64]; "));
	CU_ASSERT_PTR_NOT_NULL(strstr(t, "ld.global.b32 %r2, [%gs_a1+64]; ld.global.b32 %r3, [%gs_a0+80]; ld.global.b32 %r4, [%gs_a1+80];"));
	CU_ASSERT_EQUAL(times(t, "mov.b32"), 4); /* the other four registers have the same again */
	CU_ASSERT_EQUAL(times(t, "\n"), 5);
	CU_ASSERT_EQUAL(times(t, "%laneid"), 1);
}

/* In rows the two halves of a word of B lie in two of them: four matrices of 8 by 8 are loaded by rows, and turned around. */
static void halves_that_lie_apart_are_turned_around(void)
{
	const char *t = expand("wmma.load.b.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9;");
	CU_ASSERT_EQUAL(times(t, "ld.b32"), 4);
	CU_ASSERT_PTR_NOT_NULL(strstr(t, "mad.lo.u32 %gs_t, %gs_quad, %r9, %gs_in2;"));
	CU_ASSERT_EQUAL(times(t, "movmatrix.sync.aligned.m8n8.trans.b16"), 4);
	t = expand("wmma.load.b.sync.aligned.col.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9;");
	CU_ASSERT_TRUE(times(t, "ld.b32") == 4 && !times(t, "movmatrix"));
}

/* Sums of 32 bits: two of a row are neighbours. */
static void neighbouring_sums_are_stored_together(void)
{
	const char *t = expand("wmma.store.d.sync.aligned.row.m16n16k16.global.f32 [%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, %r9;");
	CU_ASSERT_EQUAL(times(t, "st.global.v2.f32"), 4);
	CU_ASSERT_PTR_NOT_NULL(strstr(t, "st.global.v2.f32 [%gs_a0+0], {%f1, %f2};"));
	t = expand("wmma.store.d.sync.aligned.col.m16n16k16.global.f32 [%rd1], {%f1, %f2, %f3, %f4, %f5, %f6, %f7, %f8}, 16;");
	CU_ASSERT_EQUAL(times(t, "st.global.f32"), 8);
}

static void others_stay_as_they_are(void)
{
	static const char *const texts[] = {
		"@%p1 wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9;",
		"wmma.load.a.sync.aligned.row.m16n16k16.shared.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%r10], %r9;",
		"wmma.load.a.sync.aligned.row.m8n8k4.f64 {%fd1}, [%rd1], %r9;",
		"// wmma.load.a.sync.aligned.row.m16n16k16.f16 {%r1, %r2, %r3, %r4, %r5, %r6, %r7, %r8}, [%rd1], %r9;",
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(texts); i++) {
		CU_ASSERT_PTR_NOT_NULL(strstr(expand(texts[i]), texts[i]));
		CU_ASSERT_EQUAL(times(made.data, "gs_"), 0);
	}
	gs_buf_free(&made);
	made = (struct gs_buf){0};
}

void add_fragments_tests(void)
{
	CU_pSuite suite = CU_add_suite("fragments", NULL, NULL);
	CU_ADD_TEST(suite, rows_of_halves_are_loaded_by_words);
	CU_ADD_TEST(suite, halves_that_lie_apart_are_turned_around);
	CU_ADD_TEST(suite, neighbouring_sums_are_stored_together);
	CU_ADD_TEST(suite, others_stay_as_they_are);
}
