#include "runtime/format/matrices.h"

#include <stddef.h>
#include <stdio.h>
#include <string.h>

static const struct {
	const char *name;
	uint32_t bits;
} kinds[] = {
	[MATRIX_NONE] = {"", 32},    [MATRIX_F16] = {"f16", 16},  [MATRIX_BF16] = {"bf16", 16}, [MATRIX_TF32] = {"tf32", 32}, [MATRIX_E4M3] = {"e4m3", 8},
	[MATRIX_E5M2] = {"e5m2", 8}, [MATRIX_F32] = {"f32", 32},  [MATRIX_F64] = {"f64", 64},   [MATRIX_S8] = {"s8", 8},      [MATRIX_U8] = {"u8", 8},
	[MATRIX_S4] = {"s4", 4},     [MATRIX_U4] = {"u4", 4},     [MATRIX_B1] = {"b1", 1},      [MATRIX_S32] = {"s32", 32},
};
enum { KINDS = sizeof kinds / sizeof *kinds };

bool matrix_shape_of(const char *word, struct matrix_product *p)
{
	uint32_t m, n, k;
	int end = 0;
	if (sscanf(word, "m%3un%3uk%3u%n", &m, &n, &k, &end) != 3 || !end || (word[end] && word[end] != '.'))
		return false;
	p->m = m;
	p->n = n;
	p->k = k;
	return true;
}

enum matrix_kind matrix_kind_of(const char *type)
{
	for (uint32_t i = MATRIX_F16; i < KINDS; i++)
		if (!strcmp(type, kinds[i].name))
			return (enum matrix_kind)i;
	return MATRIX_NONE;
}

uint32_t matrix_bits(enum matrix_kind kind)
{
	return (uint32_t)kind < KINDS ? kinds[kind].bits : 32;
}

uint32_t matrix_elements(enum matrix_kind kind)
{
	return kind == MATRIX_F64 ? 1 : 32 / matrix_bits(kind);
}

/* 8 rows by 32 columns: computed as its transpose. */
static bool is_turned(const struct matrix_product *p)
{
	return p->m == 8 && p->n == 32;
}

uint32_t matrix_words(const struct matrix_product *p, enum matrix_part part, enum matrix_kind kind)
{
	uint32_t elements = part == MATRIX_A ? p->m * p->k : part == MATRIX_B ? p->k * p->n : p->m * p->n;
	uint32_t lanes = p->flags & MATRIX_QUADS ? 8 : 32;
	return elements / lanes / matrix_elements(kind);
}

/* The lanes of a quad pair: four, and the four that are 16 later. */
static struct matrix_place quad_place(const struct matrix_product *p, enum matrix_part part, enum matrix_kind kind, uint32_t lane, uint32_t i)
{
	uint32_t line = lane % 4 + (lane >= 16 ? 4 : 0), four = i + (lane >= 16 ? 4 : 0);
	bool columns = part == MATRIX_A ? p->flags & MATRIX_A_COLUMNS : p->flags & MATRIX_B_COLUMNS;
	if (part == MATRIX_A)
		return columns ? (struct matrix_place){four, lane % 4} : (struct matrix_place){line, i};
	if (part == MATRIX_B)
		return columns ? (struct matrix_place){i, line} : (struct matrix_place){lane % 4, four};
	if (kind == MATRIX_F16)
		return (struct matrix_place){line, i};
	return (struct matrix_place){(lane & 1) + (i & 2) + (lane >= 16 ? 4 : 0), (i & 4) + (lane & 2) + (i & 1)};
}

/* Of A in tiles of 16 rows, or of 8 where there are no more. `place.row` is the row, `place.column` goes along k. */
static struct matrix_place tall_place(uint32_t rows, uint32_t k, uint32_t each, uint32_t lane, uint32_t word, uint32_t element)
{
	uint32_t halves = rows >= 16 ? 2 : 1, in_tile = halves * k / (4 * each), tile = word / in_tile, at = word % in_tile;
	return (struct matrix_place){tile * 16 + lane / 4 + at % halves * 8, lane % 4 * each + element + at / halves * 4 * each};
}

/* Of B, by tiles of 8 columns: `place.row` is the column, `place.column` goes along k. */
static struct matrix_place flat_place(uint32_t k, uint32_t each, uint32_t lane, uint32_t word, uint32_t element)
{
	uint32_t in_tile = k / (4 * each);
	return (struct matrix_place){word / in_tile * 8 + lane / 4, lane % 4 * each + element + word % in_tile * 4 * each};
}

static struct matrix_place sum_place(uint32_t rows, uint32_t lane, uint32_t i)
{
	uint32_t in_tile = rows >= 16 ? 4 : 2, tile = i / in_tile;
	struct matrix_place place = {lane / 4 + i % in_tile / 2 * 8, lane % 4 * 2 + i % 2};
	if (rows > 16)
		place.row += tile * 16;
	else
		place.column += tile * 8;
	return place;
}

static struct matrix_place turn(struct matrix_place p)
{
	return (struct matrix_place){p.column, p.row};
}

struct matrix_place matrix_place(const struct matrix_product *p, enum matrix_part part, enum matrix_kind kind, uint32_t lane, uint32_t word,
                                 uint32_t element)
{
	uint32_t each = matrix_elements(kind), rows = is_turned(p) ? p->n : p->m;
	if (p->flags & MATRIX_QUADS)
		return quad_place(p, part, kind, lane, word * each + element);
	if (part == MATRIX_C) {
		struct matrix_place place = sum_place(rows, lane, word * each + element);
		return is_turned(p) ? turn(place) : place;
	}
	if ((part == MATRIX_A) != is_turned(p)) {
		struct matrix_place place = tall_place(rows, p->k, each, lane, word, element);
		return part == MATRIX_A ? place : turn(place);
	}
	struct matrix_place place = flat_place(p->k, each, lane, word, element);
	return part == MATRIX_A ? place : turn(place);
}
