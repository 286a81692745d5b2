/* Products of matrices: how many products are added up at a time. */
#include "tests/tests.h"

#include "runtime/format/matrices.h"
#include "runtime/guest/support/trace_native.h"

NATIVE_DECLARED(void, matrix_multiply, const struct matrix_product *p, const void *a, const void *b, const void *c, void *d);

enum { LANES = 32, ONE = 0x3f800000, LESS_ONE = 0xbf800000u, SMALL = 0x39000000 /* 2^-13 */, SMALL_SQUARED = 0x32800000 /* 2^-26 */ };

static void fill(const struct matrix_product *p, enum matrix_part part, const uint32_t by_k[8], uint32_t *words)
{
	for (uint32_t word = 0; word < matrix_words(p, part, MATRIX_TF32); word++)
		for (uint32_t lane = 0; lane < LANES; lane++) {
			struct matrix_place at = matrix_place(p, part, MATRIX_TF32, lane, word, 0);
			words[word * LANES + lane] = by_k[part == MATRIX_A ? at.column : at.row];
		}
}

/* 1 - 1 + 2^-26: beside 1, the last is too small to be seen. In the second of two steps it is all there is. */
static void check_sum(struct matrix_product p, uint32_t expected)
{
	static const uint32_t as[8] = {ONE, ONE, 0, 0, SMALL, 0, 0, 0}, bs[8] = {ONE, LESS_ONE, 0, 0, SMALL, 0, 0, 0};
	uint32_t a[8 * LANES], b[8 * LANES], c[8 * LANES] = {0}, d[8 * LANES], wrong = 0;
	fill(&p, MATRIX_A, as, a);
	fill(&p, MATRIX_B, bs, b);
	native_matrix_multiply(&p, a, b, c, d);
	for (uint32_t i = 0; i < matrix_words(&p, MATRIX_C, MATRIX_F32) * LANES; i++)
		wrong += d[i] != expected;
	CU_ASSERT_EQUAL(wrong, 0);
}

static void wmma_has_two_steps(void)
{
	check_sum((struct matrix_product){16, 16, 8, MATRIX_TF32, MATRIX_TF32, MATRIX_F32, MATRIX_F32, 0}, SMALL_SQUARED);
	check_sum((struct matrix_product){16, 8, 8, MATRIX_TF32, MATRIX_TF32, MATRIX_F32, MATRIX_F32, 0}, 0);
}

void add_matrices_tests(void)
{
	CU_pSuite suite = CU_add_suite("matrices", NULL, NULL);
	CU_add_test(suite, "wmma of tf32 has two steps, mma one", wmma_has_two_steps);
}
