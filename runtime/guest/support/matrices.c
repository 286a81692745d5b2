/*
 * What tensor cores compute, for lifted kernels (annotator/opcodes/matrices.c).
 *
 * PTX leaves the order and the rounding of sums of reals open. Here they are those of an H200, found by comparing bits (tests/reference has
 * its results): the products of a whole row are exact. They and C are aligned to the largest exponent among them, with 2 bits more than a float
 * has, and cut there; the sum of these is exact and then cut to a float, or rounded to a half. Other GPUs add up fewer products at a time.
 */
#include "runtime/format/matrices.h"
#include "runtime/guest/support/trace_native.h"

#include <math.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <string.h>

enum { LANES = 32, MOST = 32, TILE = 8, NO_EXPONENT = -100000, SPECIAL = 300000, FRACTION = 23 + 2 };

/* ---- numbers ---- */

static uint64_t bits_of(double d)
{
	uint64_t u;
	memcpy(&u, &d, sizeof u);
	return u;
}

static double double_of(uint64_t bits)
{
	double d;
	memcpy(&d, &bits, sizeof d);
	return d;
}

/* A real of 1 sign bit, some bits of exponent and some of fraction. */
static double small_real(uint32_t bits, uint32_t exponent_bits, uint32_t fraction_bits)
{
	uint32_t most = (1u << exponent_bits) - 1, bias = most / 2;
	uint32_t exponent = bits >> fraction_bits & most, fraction = bits & ((1u << fraction_bits) - 1);
	uint64_t sign = (uint64_t)(bits >> (exponent_bits + fraction_bits) & 1) << 63;
	if (exponent == most)
		return double_of(sign | 0x7ff0000000000000u | (uint64_t)fraction << (52 - fraction_bits));
	if (exponent)
		return double_of(sign | (uint64_t)(exponent + 1023 - bias) << 52 | (uint64_t)fraction << (52 - fraction_bits));
	double value = ldexp(fraction, 1 - (int)bias - (int)fraction_bits);
	return sign ? -value : value;
}

/* e4m3 has no infinity, and one NaN. */
static double e4m3_real(uint32_t bits)
{
	if ((bits & 0x7f) == 0x7f)
		return NAN;
	double value = bits & 0x78 ? ldexp(8 + (bits & 7), (int)(bits >> 3 & 15) - 10) : ldexp(bits & 7, -9);
	return bits & 0x80 ? -value : value;
}

static double real_of(enum matrix_kind kind, uint32_t bits)
{
	switch (kind) {
	case MATRIX_F16: return small_real(bits, 5, 10);
	case MATRIX_BF16: return small_real(bits, 8, 7);
	case MATRIX_TF32: return small_real(bits >> 13, 8, 10);
	case MATRIX_E4M3: return e4m3_real(bits);
	case MATRIX_E5M2: return small_real(bits, 5, 2);
	default: return small_real(bits, 8, 23);
	}
}

static int least_exponent(enum matrix_kind kind)
{
	return kind == MATRIX_F16 || kind == MATRIX_E5M2 ? -14 : kind == MATRIX_E4M3 ? -6 : -126;
}

static int exponent_of(double d, int least)
{
	int e = (int)(bits_of(d) >> 52 & 0x7ff) - 1023;
	return d == 0 ? NO_EXPONENT : e > 1000 ? SPECIAL : e < least ? least : e;
}

static uint32_t cut_to_float(double v)
{
	uint64_t bits = bits_of(v);
	uint32_t sign = (uint32_t)(bits >> 32) & 0x80000000u;
	if (v != v)
		return 0x7fffffff;
	if (fabs(v) >= 0x1p128)
		return sign | 0x7f800000;
	if (fabs(v) < 0x1p-126)
		return sign | (uint32_t)(fabs(v) * 0x1p149);
	return sign | (uint32_t)(((bits >> 52 & 0x7ff) - 1023 + 127) << 23) | (uint32_t)(bits >> 29 & 0x7fffff);
}

static uint32_t round_to_half(double v)
{
	uint32_t sign = (uint32_t)(bits_of(v) >> 48) & 0x8000u;
	double size = fabs(v);
	if (v != v)
		return 0x7fff;
	if (size >= 65520)
		return sign | 0x7c00;
	int e = size < 0x1p-14 ? -14 : ilogb(size);
	uint32_t steps = (uint32_t)nearbyint(ldexp(size, 10 - e)); /* to even: the mode of C programs */
	return sign | ((uint32_t)(e + 14) * 1024 + steps);
}

/* ---- matrices ---- */

/* Where the elements of fragments belong: by word, lane and element. */
enum { MOST_BITS = 256, MOST_ELEMENTS = 16 * MOST_BITS };
struct matrix_at {
	uint16_t row, column;
};
struct places {
	_Atomic int state; /* enum places_state */
	struct matrix_product of;
	uint32_t counts[MATRIX_C + 2];
	struct matrix_at at[MATRIX_C + 2][MOST_ELEMENTS]; /* of A, B, C, and D, which C's kind may not be */
};
enum places_state { FREE, FILLING, READY };

static void find_places(struct places *places, enum matrix_part part, uint32_t which, enum matrix_kind kind)
{
	uint32_t count = 0, words = matrix_words(&places->of, part, kind), each = matrix_elements(kind);
	for (uint32_t word = 0; word < words; word++)
		for (uint32_t lane = 0; lane < LANES; lane++)
			for (uint32_t element = 0; element < each; element++) {
				struct matrix_place at = matrix_place(&places->of, part, kind, lane, word, element);
				places->at[which][count++] = (struct matrix_at){(uint16_t)at.row, (uint16_t)at.column};
			}
	places->counts[which] = count;
}

static void fill_places(struct places *places, const struct matrix_product *p)
{
	places->of = *p;
	find_places(places, MATRIX_A, 0, p->a);
	find_places(places, MATRIX_B, 1, p->b);
	find_places(places, MATRIX_C, 2, p->c);
	find_places(places, MATRIX_C, 3, p->d);
}

/* Those of all forms that were used are kept; there are some fifty. A thread that meets one while another fills its place uses `spare`. */
static const struct places *places_of(const struct matrix_product *p, struct places *spare)
{
	static struct places kept[128]; /* memory is used when it is written */
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		int state = atomic_load_explicit(&kept[i].state, memory_order_acquire);
		if (state == READY && !memcmp(&kept[i].of, p, sizeof *p))
			return &kept[i];
		if (state == FREE && atomic_compare_exchange_strong(&kept[i].state, &state, FILLING)) {
			fill_places(&kept[i], p);
			atomic_store_explicit(&kept[i].state, READY, memory_order_release);
			return &kept[i];
		}
		if (state != READY)
			break;
	}
	fill_places(spare, p);
	return spare;
}

/* The bits of element i of all fragments. */
static uint32_t bits_at(const uint32_t *words, uint32_t bits, uint32_t i)
{
	uint32_t each = 32 / bits, value = words[i / each] >> i % each * bits;
	return bits == 32 ? value : value & ((1u << bits) - 1);
}

/* A by rows; B by k, so that its columns can be added up together. */
struct reals {
	double a[MOST][MOST], b[MOST][MOST], c[MOST][MOST], d[MOST][MOST];
	int ea[MOST][MOST], eb[MOST][MOST];
};

/* Lanes that hold something of the product. */
static bool takes_part(uint32_t lanes, uint32_t i, uint32_t each)
{
	return lanes >> i / each % LANES & 1;
}

static void take_factor(enum matrix_kind kind, const uint32_t *words, const struct matrix_at *at, uint32_t count, uint32_t lanes, double to[MOST][MOST],
                        int exponents[MOST][MOST])
{
	uint32_t bits = matrix_bits(kind), each = matrix_elements(kind);
	int least = least_exponent(kind);
	for (uint32_t i = 0; i < count; i++) {
		if (!takes_part(lanes, i, each))
			continue;
		double value = real_of(kind, bits_at(words, bits, i));
		to[at[i].row][at[i].column] = value;
		exponents[at[i].row][at[i].column] = exponent_of(value, least);
	}
}

static void take_reals(const struct places *places, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t lanes, struct reals *r)
{
	const struct matrix_product *p = &places->of;
	uint32_t bits = matrix_bits(p->c), each = matrix_elements(p->c);
	take_factor(p->a, a, places->at[0], places->counts[0], lanes, r->a, r->ea);
	take_factor(p->b, b, places->at[1], places->counts[1], lanes, r->b, r->eb);
	for (uint32_t i = 0; i < places->counts[2]; i++)
		if (takes_part(lanes, i, each))
			r->c[places->at[2][i].row][places->at[2][i].column] = real_of(p->c, bits_at(c, bits, i));
}

static void give_reals(const struct places *places, uint32_t *d, uint32_t lanes, const struct reals *r)
{
	const struct matrix_product *p = &places->of;
	uint32_t bits = matrix_bits(p->d), each = matrix_elements(p->d);
	for (uint32_t i = 0; i < places->counts[3]; i++) {
		if (!takes_part(lanes, i, each))
			continue;
		double value = r->d[places->at[3][i].row][places->at[3][i].column];
		uint32_t result = p->d == MATRIX_F16 ? round_to_half(value) : cut_to_float(value), *to = &d[i / each];
		*to = i % each ? *to | result << i % each * bits : result;
	}
}

/* With infinities and NaNs, or where nothing is to be added. */
static double plain_sum(const struct reals *r, uint32_t row, uint32_t column, uint32_t from, uint32_t to, double c)
{
	for (uint32_t k = from; k < to; k++)
		c += r->a[row][k] * r->b[k][column];
	return c;
}

/* Adds products of one row of A and a tile of columns of B. */
static void add_some(const struct reals *r, uint32_t row, uint32_t column, uint32_t from, uint32_t to, double sum[TILE])
{
	int top[TILE];
	double scale[TILE], total[TILE];
	for (int j = 0; j < TILE; j++)
		top[j] = exponent_of(sum[j], -1022);
	for (uint32_t k = from; k < to; k++)
		for (int j = 0; j < TILE; j++) {
			int e = r->ea[row][k] + r->eb[k][column + (uint32_t)j];
			top[j] = e > top[j] ? e : top[j];
		}
	for (int j = 0; j < TILE; j++) {
		bool plain = top[j] > 1000 || top[j] < -1000;
		scale[j] = double_of((uint64_t)(1023 + FRACTION - (plain ? 0 : top[j])) << 52);
		total[j] = plain ? 0 : (double)(int32_t)(sum[j] * scale[j]);
	}
	for (uint32_t k = from; k < to; k++)
		for (int j = 0; j < TILE; j++) {
			double part = r->a[row][k] * r->b[k][column + (uint32_t)j] * scale[j];
			total[j] += part < 0x1p30 && part > -0x1p30 ? (double)(int32_t)part : 0;
		}
	for (int j = 0; j < TILE; j++)
		sum[j] = top[j] > 1000 || top[j] < -1000 ? plain_sum(r, row, column + (uint32_t)j, from, to, sum[j]) : total[j] / scale[j];
}

static void add_products(const struct reals *r, uint32_t row, uint32_t column, uint32_t count, double sum[TILE])
{
	add_some(r, row, column, 0, count, sum);
}

/* wmma makes two instructions of m16n16k8, each of four products; mma.sync of m16n8k8 is one. */
static bool in_two_steps(const struct matrix_product *p)
{
	return p->a == MATRIX_TF32 && p->n == 16;
}

static void add_in_two_steps(const struct reals *r, uint32_t row, uint32_t column, uint32_t count, double sum[TILE])
{
	add_some(r, row, column, 0, count / 2, sum);
	for (int j = 0; j < TILE; j++)
		sum[j] = small_real(cut_to_float(sum[j]), 8, 23);
	add_some(r, row, column, count / 2, count, sum);
}

static void multiply_reals(const struct places *places, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d)
{
	const struct matrix_product *p = &places->of;
	struct reals r;
	take_reals(places, a, b, c, ~0u, &r);
	for (uint32_t row = 0; row < p->m; row++)
		for (uint32_t column = 0; column < p->n; column += TILE) {
			memcpy(&r.d[row][column], &r.c[row][column], TILE * sizeof(double));
			(in_two_steps(p) ? add_in_two_steps : add_products)(&r, row, column, p->k, &r.d[row][column]);
		}
	give_reals(places, d, ~0u, &r);
}

/* Reals of 8 bits become halves. An H200 multiplies the first two of each word, then the others, and adds C in the end. */
static void multiply_bytes(const struct places *places, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d)
{
	const struct matrix_product *p = &places->of;
	struct reals all, half;
	take_reals(places, a, b, c, ~0u, &all);
	memset(all.d, 0, sizeof all.d);
	for (uint32_t second = 0; second < 2; second++) {
		for (uint32_t k = 0; k < p->k / 2; k++) {
			uint32_t from = k / 2 * 4 + k % 2 + second * 2;
			for (uint32_t row = 0; row < p->m; row++) {
				half.a[row][k] = all.a[row][from];
				half.ea[row][k] = exponent_of(all.a[row][from], -14);
			}
			for (uint32_t column = 0; column < p->n; column++) {
				half.b[k][column] = all.b[from][column];
				half.eb[k][column] = exponent_of(all.b[from][column], -14);
			}
		}
		for (uint32_t row = 0; row < p->m; row++) {
			add_products(&half, row, 0, p->k / 2, all.d[row]);
			for (uint32_t column = 0; column < p->n; column++)
				all.d[row][column] = small_real(cut_to_float(all.d[row][column]), 8, 23);
		}
	}
	for (uint32_t row = 0; row < p->m; row++)
		for (uint32_t column = 0; column < p->n; column++)
			all.d[row][column] = (float)all.d[row][column] + (float)all.c[row][column];
	give_reals(places, d, ~0u, &all);
}

/*
 * m8n8k4 of halves: lanes 0 to 3 and 16 to 19 multiply matrices, lanes 4 to 7 and 20 to 23 others, and so on. Only the first tensor cores have
 * it. An H200 adds up the products of halves as it always does if D is halves too; else by fused multiply-adds, and C in the end.
 */
static void multiply_quads(const struct places *places, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d)
{
	const struct matrix_product *p = &places->of;
	struct reals r;
	for (uint32_t quad = 0; quad < 4; quad++) {
		uint32_t lanes = 0x000f000fu << quad * 4;
		take_reals(places, a, b, c, lanes, &r);
		memcpy(r.d, r.c, sizeof r.d);
		for (uint32_t row = 0; row < p->m && p->d == MATRIX_F16; row++)
			add_products(&r, row, 0, p->k, r.d[row]);
		for (uint32_t row = 0; row < p->m && p->d != MATRIX_F16; row++)
			for (uint32_t column = 0; column < p->n; column++) {
				float sum = 0;
				for (uint32_t k = 0; k < p->k; k++)
					sum = fmaf((float)r.a[row][k], (float)r.b[k][column], sum);
				r.d[row][column] = sum + (float)r.c[row][column];
			}
		give_reals(places, d, lanes, &r);
	}
}

static void multiply_doubles(const struct places *places, const double *a, const double *b, const double *c, double *d)
{
	const struct matrix_product *p = &places->of;
	double as[MOST][MOST], bs[MOST][MOST];
	for (uint32_t i = 0; i < places->counts[0]; i++)
		as[places->at[0][i].row][places->at[0][i].column] = a[i];
	for (uint32_t i = 0; i < places->counts[1]; i++)
		bs[places->at[1][i].row][places->at[1][i].column] = b[i];
	for (uint32_t i = 0; i < places->counts[2]; i++) {
		double sum = c[i];
		for (uint32_t k = 0; k < p->k; k++)
			sum = fma(as[places->at[2][i].row][k], bs[k][places->at[2][i].column], sum);
		d[i] = sum;
	}
}

static int32_t integer_at(const uint32_t *words, enum matrix_kind kind, uint32_t i)
{
	uint32_t bits = matrix_bits(kind), value = bits_at(words, bits, i);
	bool is_signed = kind == MATRIX_S8 || kind == MATRIX_S4;
	return is_signed && value >> (bits - 1) ? (int32_t)value - (1 << bits) : (int32_t)value;
}

/* Of B, a row here is a column. */
static int32_t add_integers(const struct matrix_product *p, const int32_t *a, const int32_t *b)
{
	int32_t sum = 0; /* of 256 products of 16 bits at most */
	for (uint32_t k = 0; k < p->k; k++)
		sum += p->a != MATRIX_B1 ? a[k] * b[k] : p->flags & MATRIX_AND ? a[k] & b[k] : a[k] ^ b[k];
	return sum;
}

static void multiply_integers(const struct places *places, const uint32_t *a, const uint32_t *b, const uint32_t *c, uint32_t *d)
{
	const struct matrix_product *p = &places->of;
	int32_t as[MOST][MOST_BITS], bs[MOST][MOST_BITS];
	for (uint32_t i = 0; i < places->counts[0]; i++)
		as[places->at[0][i].row][places->at[0][i].column] = integer_at(a, p->a, i);
	for (uint32_t i = 0; i < places->counts[1]; i++)
		bs[places->at[1][i].column][places->at[1][i].row] = integer_at(b, p->b, i);
	for (uint32_t i = 0; i < places->counts[2]; i++) {
		int64_t sum = (int64_t)(int32_t)c[i] + add_integers(p, as[places->at[2][i].row], bs[places->at[2][i].column]);
		if (p->flags & MATRIX_SATURATES)
			sum = sum > INT32_MAX ? INT32_MAX : sum < INT32_MIN ? INT32_MIN : sum;
		d[i] = (uint32_t)sum;
	}
}

/* Words of all lanes, word by word. Those of doubles have 64 bits. */
NATIVE(void, matrix_multiply, const struct matrix_product *p, const void *a, const void *b, const void *c, void *d)
{
	struct places spare;
	const struct places *places = places_of(p, &spare);
	if (p->flags & MATRIX_QUADS)
		multiply_quads(places, a, b, c, d);
	else if (p->a == MATRIX_F64)
		multiply_doubles(places, a, b, c, d);
	else if (p->d == MATRIX_S32)
		multiply_integers(places, a, b, c, d);
	else if (matrix_bits(p->a) == 8)
		multiply_bytes(places, a, b, c, d);
	else
		multiply_reals(places, a, b, c, d);
}
