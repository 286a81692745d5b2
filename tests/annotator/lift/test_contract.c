/*
 * Products that join sums, as ptxas has them. a is 1 + 2^-12, and its square 1 + 2^-11 + 2^-24, which is c = 1 + 2^-11 when it is rounded. So c less the
 * square is 0, or -2^-24 where the product has joined.
 */
#include "tests/tests.h"

#include "tests/annotator/lift/run_kernel.h"

#define NUMBERS BEGIN "mov.f32 %f1, 0f3F800800;\nmov.f32 %f2, 0f3F801000;\n"
#define STORE "st.global.f32 [%rd1], %f7;\nret;\n"
enum { LESS = 0xb3800000, MORE = 0x33800000 };

#define GIVES(text, expected) \
	run(HEAD KERNEL(NUMBERS text STORE), 1, 32); \
	CHECK_WORDS(32, expected)

static void products_join_sums(void)
{
	GIVES("mul.f32 %f3, %f1, %f1;\nsub.f32 %f7, %f2, %f3;\n", LESS);
	GIVES("mul.f32 %f3, %f1, %f1;\nsub.f32 %f7, %f3, %f2;\n", MORE);
	GIVES("mul.f32 %f3, %f1, 0f3F800800;\nadd.f32 %f7, %f3, 0fBF801000;\n", MORE);
	GIVES("mul.ftz.f32 %f3, %f1, %f1;\nsub.ftz.f32 %f7, %f2, %f3;\n", LESS);
}

/* In f16, a is 1 + 2^-6 and c 1 + 2^-5, which leaves 2^-12; in bf16 1 + 2^-5 and 1 + 2^-4, which leaves 2^-10. */
static void products_of_short_numbers_join(void)
{
#define SHORT(text) BEGIN ".reg .b16 %h<4>;\n.reg .b32 %x<4>;\n" text "ret;\n"
	run(HEAD KERNEL(SHORT("mov.b16 %h1, 0x3C10;\nmov.b16 %h2, 0x3C20;\nmul.f16 %h3, %h1, %h1;\nsub.f16 %h0, %h2, %h3;\ncvt.u32.u16 %x1, %h0;\n"
	                      "st.global.u32 [%rd1], %x1;\n")), 1, 32);
	CHECK_WORDS(32, 0x8c00);
	run(HEAD KERNEL(SHORT("mov.b32 %x1, 0x3C103C00;\nmov.b32 %x2, 0x3C203C00;\nmul.f16x2 %x3, %x1, %x1;\nsub.f16x2 %x0, %x3, %x2;\n"
	                      "st.global.u32 [%rd1], %x0;\n")), 1, 32);
	CHECK_WORDS(32, 0x0c000000);
	run(".version 7.8\n.target sm_90\n.address_size 64\n"
	    KERNEL(SHORT("mov.b32 %x1, 0x3F843F80;\nmov.b32 %x2, 0x3F883F80;\nmul.bf16x2 %x3, %x1, %x1;\nsub.bf16x2 %x0, %x2, %x3;\n"
	                 "st.global.u32 [%rd1], %x0;\n")), 1, 32);
	CHECK_WORDS(32, 0xba800000);
}

static void products_join_all_their_sums(void)
{
	GIVES("mul.f32 %f3, %f1, %f1;\nsub.f32 %f4, %f2, %f3;\nsub.f32 %f5, %f3, %f2;\nsub.f32 %f7, %f5, %f4;\n", 0x34000000); /* 2^-23 */
}

static void the_first_of_two_products_joins(void)
{
	GIVES("mul.f32 %f3, %f1, %f1;\nmul.f32 %f4, %f1, %f1;\nsub.f32 %f7, %f3, %f4;\n", MORE);
	GIVES("mul.f32 %f3, %f1, %f1;\nmul.f32 %f4, %f2, 0f3F800000;\nsub.f32 %f7, %f4, %f3;\n", 0);
}

/* 1 / 3 is r = 11184811 / 2^25, and a r = 45824170667 / 2^37, which is 11187542 / 2^25 when it is rounded: 1365 / 2^37 more than it is. */
static void quotients_join(void)
{
#define ROUNDED "mov.f32 %f4, 0f40400000;\nrcp.approx.f32 %f5, %f4;\nmul.rn.f32 %f6, %f1, %f5;\n"
	GIVES(ROUNDED "div.approx.f32 %f3, %f1, %f4;\nsub.f32 %f7, %f3, %f6;\n", 0xb22aa000);
	GIVES(ROUNDED "div.approx.f32 %f3, %f1, %f4;\nsub.f32 %f7, %f6, %f3;\n", 0x322aa000);
	GIVES(ROUNDED "neg.f32 %f6, %f6;\ndiv.approx.ftz.f32 %f3, %f1, %f4;\nadd.ftz.f32 %f7, %f3, %f6;\n", 0xb22aa000);
	GIVES(ROUNDED "div.approx.f32 %f3, %f1, %f4;\nsub.rn.f32 %f7, %f3, %f6;\n", 0);
}

static void guarded_sums_take_products(void)
{
	run(HEAD KERNEL(NUMBERS "mul.f32 %f3, %f1, %f1;\nsetp.lt.u32 %p1, %r0, 8;\nmov.f32 %f7, %f2;\n@%p1 sub.f32 %f7, %f2, %f3;\n" STORE), 1, 32);
	CHECK_WORDS(32, i < 8 ? LESS : 0x3f801000);
}

static void other_products_are_rounded(void)
{
	GIVES("mul.rn.f32 %f3, %f1, %f1;\nsub.f32 %f7, %f2, %f3;\n", 0);
	GIVES("mul.f32 %f3, %f1, %f1;\nsub.rn.f32 %f7, %f2, %f3;\n", 0);
	GIVES("mul.ftz.f32 %f3, %f1, %f1;\nsub.f32 %f7, %f2, %f3;\n", 0);
	GIVES("mul.f32 %f3, %f1, %f1;\nsub.f32 %f7, %f2, %f3;\nst.global.f32 [%rd1], %f3;\n", 0);       /* another use */
	GIVES("mul.f32 %f3, %f1, %f1;\nsetp.ge.u32 %p1, %r0, 99;\n@%p1 bra L;\nsub.f32 %f7, %f2, %f3;\nbar.sync 0;\nL:\n", 0); /* of another block */
	GIVES("mul.f32 %f3, %f1, %f1;\nmov.f32 %f1, %f2;\nsub.f32 %f7, %f2, %f3;\n", 0);                 /* its factor has changed */
	GIVES("mul.f32 %f3, %f1, %f1;\nsetp.lt.u32 %p1, %r0, 99;\n@%p1 mul.f32 %f3, %f1, %f1;\nsub.f32 %f7, %f2, %f3;\n", 0);
}

static void code_to_debug_stays(void)
{
	run(".version 7.8\n.target sm_80, debug\n.address_size 64\n" KERNEL(NUMBERS "mul.f32 %f3, %f1, %f1;\nsub.f32 %f7, %f2, %f3;\n" STORE), 1, 32);
	CHECK_WORDS(32, 0);
}

void add_contract_tests(void)
{
	CU_pSuite suite = CU_add_suite("contract", NULL, NULL);
	CU_add_test(suite, "products join sums", products_join_sums);
	CU_add_test(suite, "products of short numbers join", products_of_short_numbers_join);
	CU_add_test(suite, "products join all their sums", products_join_all_their_sums);
	CU_add_test(suite, "the first of two products joins", the_first_of_two_products_joins);
	CU_add_test(suite, "quotients join", quotients_join);
	CU_add_test(suite, "guarded sums take products", guarded_sums_take_products);
	CU_add_test(suite, "other products are rounded", other_products_are_rounded);
	CU_add_test(suite, "code to debug stays", code_to_debug_stays);
}
