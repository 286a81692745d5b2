/* cvt between all types. Real values are converted through a double, which holds each of them. Integers go straight, so that they are rounded
 * once. */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"
#include "tests/oracle/values.h"

#include <math.h>

static bool is_real(uint8_t type)
{
	return type == TYPE_f32 || type == TYPE_f64 || type == TYPE_f16 || type == TYPE_bf16;
}

static bool is_signed(uint8_t type)
{
	return type == TYPE_s8 || type == TYPE_s16 || type == TYPE_s32 || type == TYPE_s64;
}

static uint64_t extend(uint64_t row, uint8_t type)
{
	uint32_t unused = 64 - 8 * oracle_type_bytes(type);
	return is_signed(type) ? (uint64_t)((int64_t)(row << unused) >> unused) : row << unused >> unused;
}

static double to_integral(double x, uint8_t rounding)
{
	switch (rounding) {
	case ROUND_ZERO: return trunc(x);
	case ROUND_DOWN: return floor(x);
	case ROUND_UP: return ceil(x);
	default: return rint(x);
	}
}

/* An integer in a register that may be wider. */
static uint64_t in_register(uint64_t value, const struct oracle_op *o)
{
	uint64_t wide = extend(value, o->type);
	return o->register_bits < 64 ? wide & ((UINT64_C(1) << o->register_bits) - 1) : wide;
}

/* To an integer. Values beyond its range become its least or largest value. Not a number becomes 0, or the upper bit alone where 64 bits are
 * involved. */
static uint64_t real_to_integer(double x, const struct oracle_op *o)
{
	uint32_t bits = 8 * oracle_type_bytes(o->type);
	bool negative = is_signed(o->type);
	double least = negative ? -ldexp(1, (int)bits - 1) : 0, beyond = ldexp(1, (int)bits - negative);
	x = to_integral(x, o->rounding);
	if (isnan(x))
		return o->from == TYPE_f64 || bits == 64 ? UINT64_C(1) << (bits - 1) : 0;
	if (x >= beyond)
		return negative ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
	if (x <= least)
		return negative ? UINT64_C(1) << (bits - 1) : 0;
	return (negative ? (uint64_t)(int64_t)x : (uint64_t)x) & UINT64_MAX >> (64 - bits);
}

static uint64_t put_real(double x, const struct oracle_op *o)
{
	if (o->saturate)
		x = x > 1 ? 1 : x > 0 ? x : 0;
	if (oracle_has(o->opcode, "relu"))
		x = x < 0 || x == 0 ? 0 : x;
	oracle_round_as(o->to_integer ? ROUND_NEAREST : o->rounding);
	uint64_t bits = oracle_from_double(x, o->type);
	if (oracle_has(o->opcode, "ftz") && o->type == TYPE_f32)
		bits = oracle_from_double(oracle_flushed(oracle_to_double(bits, o->type), o->type), o->type);
	oracle_round_as(ROUND_NEAREST);
	return bits;
}

static uint64_t from_real(uint64_t row, const struct oracle_op *o)
{
	double x = oracle_to_double(row, o->from);
	if (oracle_has(o->opcode, "ftz") && o->from == TYPE_f32)
		x = oracle_flushed(x, o->from);
	if (!is_real(o->type))
		return in_register(real_to_integer(x, o), o);
	return put_real(o->to_integer ? to_integral(x, o->rounding) : x, o);
}

static uint64_t integer_to_real(uint64_t x, const struct oracle_op *o)
{
	bool negative = is_signed(o->from);
	oracle_round_as(o->rounding);
	volatile double twice = negative ? (double)(int64_t)x : (double)x;
	volatile float once = negative ? (float)(int64_t)x : (float)x;
	oracle_round_as(ROUND_NEAREST);
	double r = o->type == TYPE_f32 ? (double)once : twice;
	if (o->type == TYPE_f16 && fabs(r) > 1e6) /* far beyond: rounded twice it is still far beyond */
		r = copysign(1e6, r);
	if (o->saturate)
		r = r > 1 ? 1 : r > 0 ? r : 0;
	oracle_round_as(o->rounding);
	uint64_t bits = oracle_from_double(r, o->type);
	oracle_round_as(ROUND_NEAREST);
	return bits;
}

static uint64_t saturated(uint64_t x, const struct oracle_op *o)
{
	uint32_t bits = 8 * oracle_type_bytes(o->type);
	__int128 value = is_signed(o->from) ? (__int128)(int64_t)x : (__int128)x;
	__int128 high = is_signed(o->type) ? ((__int128)1 << (bits - 1)) - 1 : ((__int128)1 << bits) - 1;
	__int128 low = is_signed(o->type) ? -((__int128)1 << (bits - 1)) : 0;
	return (uint64_t)(value < low ? low : value > high ? high : value);
}

static uint64_t from_integer(uint64_t row, const struct oracle_op *o)
{
	uint64_t x = extend(row, o->from);
	if (is_real(o->type))
		return integer_to_real(x, o);
	/* narrowing drops upper bits; in a wider register the value keeps its sign */
	return in_register(o->saturate ? saturated(x, o) : x, o);
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half. */
static uint64_t pair_from_real(uint64_t a, uint64_t b, const struct oracle_op *o)
{
	struct oracle_op one = *o;
	one.type = o->type == TYPE_f16x2 ? TYPE_f16 : TYPE_bf16;
	return from_real(a, &one) << 16 | from_real(b, &one);
}

void oracle_convert(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b);
	if (o->type == TYPE_f16x2 || o->type == TYPE_bf16x2)
		LANES(mask, d[l] = pair_from_real(a[l], b[l], o););
	else if (is_real(o->from))
		LANES(mask, d[l] = from_real(a[l], o););
	else
		LANES(mask, d[l] = from_integer(a[l], o););
}
