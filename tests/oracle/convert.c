/* cvt between all types. A value is converted through a double. Between integers it is converted through 64 bits. */
#include "tests/oracle/internal.h"

#include "tests/oracle/values.h"

#include <math.h>

static bool is_real(uint8_t type)
{
	return type == TYPE_f32 || type == TYPE_f64;
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

/* To an integer. Values beyond its range become its least or largest value. Not a number becomes 0. */
static uint64_t real_to_integer(double x, const struct oracle_op *o)
{
	uint32_t bits = 8 * oracle_type_bytes(o->type);
	bool negative = is_signed(o->type);
	double least = negative ? -ldexp(1, (int)bits - 1) : 0, beyond = ldexp(1, (int)bits - negative);
	x = to_integral(x, o->rounding);
	if (isnan(x))
		return 0;
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
	return o->type == TYPE_f32 ? put_f32((float)x) : put_f64(x);
}

static uint64_t from_real(uint64_t row, const struct oracle_op *o)
{
	double x = o->from == TYPE_f32 ? (double)get_f32(row) : get_f64(row);
	if (!is_real(o->type))
		return real_to_integer(x, o);
	return put_real(o->to_integer ? to_integral(x, o->rounding) : x, o);
}

static uint64_t from_integer(uint64_t row, const struct oracle_op *o)
{
	uint64_t x = extend(row, o->from);
	if (o->type == TYPE_f32) /* straight to float: rounded once */
		return put_f32(is_signed(o->from) ? (float)(int64_t)x : (float)x);
	if (o->type == TYPE_f64)
		return put_f64(is_signed(o->from) ? (double)(int64_t)x : (double)x);
	/* narrowing drops upper bits; in a wider register the value keeps its sign */
	uint64_t cut = extend(x, o->type);
	return o->register_bits < 64 ? cut & ((UINT64_C(1) << o->register_bits) - 1) : cut;
}

void oracle_convert(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a);
	if (is_real(o->from))
		LANES(mask, d[l] = from_real(a[l], o););
	else
		LANES(mask, d[l] = from_integer(a[l], o););
}
