/*
 * matrices: how a warp holds the matrices that it multiplies, and what lifted text tells native code about them.
 *
 * D (m rows, n columns) = A (m rows, k columns) times B (k rows, n columns) plus C. Each lane holds words of each matrix: its *fragment*.
 * A word has 32 bits, or 64 of doubles, and as many elements as fit. The PTX manual says which elements a lane holds for mma (chapter "Warp
 * level matrix multiply-accumulate instructions"). It leaves that open for wmma; there it is as on an H200, where it was measured: tiles of
 * mma, one after the other, and 8 rows by 32 columns are the transpose of 32 rows by 8 columns.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_MATRICES_H
#define GPUSIM_RUNTIME_FORMAT_MATRICES_H

#include <stdbool.h>
#include <stdint.h>

enum matrix_kind {
	MATRIX_NONE, MATRIX_F16, MATRIX_BF16, MATRIX_TF32, MATRIX_E4M3, MATRIX_E5M2, MATRIX_F32, MATRIX_F64, MATRIX_S8, MATRIX_U8, MATRIX_S4, MATRIX_U4,
	MATRIX_B1, MATRIX_S32,
};
enum matrix_part { MATRIX_A, MATRIX_B, MATRIX_C };

/* One multiplication. Kernel text passes it as 32-bit words, in this order. */
struct matrix_product {
	uint32_t m, n, k;
	uint32_t a, b, c, d;  /* enum matrix_kind of each */
	uint32_t flags;       /* enum matrix_flags */
};
enum matrix_flags {
	MATRIX_SATURATES = 1, /* sums of integers stop at their limits */
	MATRIX_AND = 2,       /* single bits: and, else xor */
	MATRIX_QUADS = 4,     /* m8n8k4 of halves: eight lanes multiply matrices of their own, four times */
	MATRIX_A_COLUMNS = 8, /* its A is in columns, where that changes who holds what */
	MATRIX_B_COLUMNS = 16,
};

/* Reads m16n8k16, up to a dot or the end of the text. false: it is none, and *p is as before. */
bool matrix_shape_of(const char *word, struct matrix_product *p);
enum matrix_kind matrix_kind_of(const char *type); /* "f16", "s4"; MATRIX_NONE: it is none */
uint32_t matrix_bits(enum matrix_kind kind);
uint32_t matrix_elements(enum matrix_kind kind); /* of a word */
/* How many words of a part a lane holds. */
uint32_t matrix_words(const struct matrix_product *p, enum matrix_part part, enum matrix_kind kind);
/* Which element it is: `element` of `word` in a lane's fragment. */
struct matrix_place {
	uint32_t row, column;
};
struct matrix_place matrix_place(const struct matrix_product *p, enum matrix_part part, enum matrix_kind kind, uint32_t lane, uint32_t word,
                                 uint32_t element);

#endif
