/*
 * Floating point with all roundings, .ftz and .sat, for halves, bfloats, floats and doubles. The host's own rounding mode does it for float and
 * double. Halves and bfloats are computed in double, to an odd last bit where that is not exact, and rounded once.
 */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"
#include "tests/oracle/values.h"

#include <fenv.h>
#include <math.h>

void oracle_round_as(uint8_t rounding)
{
	static const int modes[] = {FE_TONEAREST, FE_TOWARDZERO, FE_DOWNWARD, FE_UPWARD};
	fesetround(modes[rounding]);
}

/* Of significant bits, least and largest exponent. */
struct shape {
	int bits, least, largest;
};
static struct shape shape_of(uint8_t type)
{
	switch (type) {
	case TYPE_f16: return (struct shape){11, -14, 15};
	case TYPE_bf16: return (struct shape){8, -126, 127};
	case TYPE_f32: return (struct shape){24, -126, 127};
	default: return (struct shape){53, -1022, 1023};
	}
}

double oracle_flushed(double x, uint8_t type)
{
	return fabs(x) < ldexp(1, shape_of(type).least) ? copysign(0, x) : x;
}

static double small_to_double(uint64_t row, struct shape s)
{
	int fraction_bits = s.bits - 1, exponent = (int)(row >> fraction_bits & (0x7fffu >> fraction_bits));
	uint64_t fraction = row & ((UINT64_C(1) << fraction_bits) - 1);
	double x;
	if (exponent == 0x7fff >> fraction_bits)
		x = fraction ? (double)NAN : (double)INFINITY;
	else if (exponent == 0)
		x = ldexp((double)fraction, s.least - fraction_bits);
	else
		x = ldexp((double)(fraction | UINT64_C(1) << fraction_bits), exponent - 1 + s.least - fraction_bits);
	return row & 0x8000 ? -x : x;
}

double oracle_to_double(uint64_t row, uint8_t type)
{
	switch (type) {
	case TYPE_f16:
	case TYPE_bf16: return small_to_double(row & 0xffff, shape_of(type));
	case TYPE_f32: return (double)get_f32(row);
	default: return get_f64(row);
	}
}

/* What a value that is too large becomes. */
static double beyond(double x, struct shape s)
{
	double largest = ldexp(2 - ldexp(1, 1 - s.bits), s.largest);
	int mode = fegetround();
	bool to_infinity = mode == FE_TONEAREST || mode == (x < 0 ? FE_DOWNWARD : FE_UPWARD);
	return copysign(to_infinity ? (double)INFINITY : largest, x);
}

static uint64_t small_from_double(double x, struct shape s)
{
	int fraction_bits = s.bits - 1, exponent;
	uint64_t sign = signbit(x) ? 0x8000 : 0, infinity = 0x7fffu >> fraction_bits << fraction_bits;
	if (isnan(x))
		return 0x7fff;
	if (isfinite(x) && x != 0) {
		frexp(x, &exponent);
		exponent = exponent - 1 < s.least ? s.least : exponent - 1;
		double unit = ldexp(1, exponent - fraction_bits);
		x = rint(x / unit) * unit;
		if (fabs(x) >= ldexp(2, s.largest))
			x = beyond(x, s);
	}
	if (isinf(x))
		return sign | infinity;
	double a = fabs(x);
	if (a < ldexp(1, s.least))
		return sign | (uint64_t)ldexp(a, fraction_bits - s.least);
	frexp(a, &exponent);
	exponent--;
	uint64_t whole = (uint64_t)ldexp(a, fraction_bits - exponent);
	return sign | ((uint64_t)(exponent - s.least + 1) << fraction_bits) | (whole & ((UINT64_C(1) << fraction_bits) - 1));
}

uint64_t oracle_from_double(double x, uint8_t type)
{
	switch (type) {
	case TYPE_f16:
	case TYPE_bf16: return small_from_double(x, shape_of(type));
	case TYPE_f32: return put_f32((float)x);
	default: return put_f64(x);
	}
}

/* x + y, to an odd last bit if it is not exact: a later rounding to fewer bits is then as if there had been one. */
static double odd_sum(double x, double y)
{
	int mode = fegetround();
	fesetround(FE_TONEAREST);
	volatile double s = x + y, t = s - x, error = (x - (s - t)) + (y - t);
	fesetround(mode);
	uint64_t bits = put_f64(s);
	if (!isfinite(s) || error == 0 || bits & 1)
		return s;
	return nextafter(s, error > 0 ? (double)INFINITY : -(double)INFINITY);
}

enum real_operation { REAL_ADD, REAL_SUB, REAL_MUL, REAL_FMA, REAL_DIV, REAL_SQRT, REAL_RCP, REAL_ABS, REAL_NEG, REAL_MIN, REAL_MAX, REAL_NONE };

static enum real_operation operation_of(const char *opcode)
{
	static const char *const names[] = {"add", "sub", "mul", "fma", "div", "sqrt", "rcp", "abs", "neg", "min", "max"};
	size_t length = strcspn(opcode, ".");
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (strlen(names[i]) == length && !strncmp(names[i], opcode, length))
			return (enum real_operation)i;
	return length == 3 && !strncmp(opcode, "mad", 3) ? REAL_FMA : REAL_NONE;
}

/* -0 is less than 0. */
static double lesser(double a, double b)
{
	if (a == b)
		return signbit(a) ? a : b;
	return a < b ? a : b;
}

static double extreme(const struct oracle_op *o, double a, double b, bool least)
{
	bool signs = oracle_has(o->opcode, "xorsign"), negative = !signbit(a) != !signbit(b);
	if (signs) {
		a = fabs(a);
		b = fabs(b);
	}
	double r = isnan(a) ? b : isnan(b) ? a : least ? lesser(a, b) : -lesser(-a, -b);
	if (oracle_has(o->opcode, "NaN") && (isnan(a) || isnan(b)))
		r = (double)NAN;
	return signs ? copysign(r, negative ? -1.0 : 1.0) : r;
}

/* One operation in float or double, in the host's mode. */
#define COMPUTE(type, fused, root)                                                                                     \
	static double compute_##type(enum real_operation what, type a, type b, type c)                                 \
	{                                                                                                              \
		switch (what) {                                                                                        \
		case REAL_ADD: return (double)(type)(a + b);                                                           \
		case REAL_SUB: return (double)(type)(a - b);                                                           \
		case REAL_MUL: return (double)(type)(a * b);                                                           \
		case REAL_FMA: return (double)fused(a, b, c);                                                          \
		case REAL_DIV: return (double)(type)(a / b);                                                           \
		case REAL_SQRT: return (double)root(a);                                                                \
		default: return (double)(type)(1 / a);                                                                 \
		}                                                                                                      \
	}
COMPUTE(float, fmaf, sqrtf)
COMPUTE(double, fma, sqrt)

static double compute_small(enum real_operation what, double a, double b, double c)
{
	switch (what) {
	case REAL_ADD: return odd_sum(a, b);
	case REAL_SUB: return odd_sum(a, -b);
	case REAL_MUL: return a * b;
	case REAL_FMA: return odd_sum(a * b, c);
	default: return (double)NAN;
	}
}

static double compute(const struct oracle_op *o, enum real_operation what, double a, double b, double c)
{
	switch (what) {
	case REAL_ABS: return fabs(a);
	case REAL_NEG: return -a;
	case REAL_MIN: return extreme(o, a, b, true);
	case REAL_MAX: return extreme(o, a, b, false);
	default: break;
	}
	if (o->type == TYPE_f32)
		return compute_float(what, (float)a, (float)b, (float)c);
	return o->type == TYPE_f64 ? compute_double(what, a, b, c) : compute_small(what, a, b, c);
}

static uint64_t rounded(const struct oracle_op *o, const uint64_t *v)
{
	double x[3];
	bool flush = oracle_has(o->opcode, "ftz");
	for (uint32_t i = 0; i < 3; i++) {
		x[i] = oracle_to_double(v[i], o->type);
		x[i] = flush ? oracle_flushed(x[i], o->type) : x[i];
	}
	oracle_round_as(o->rounding);
	double r = compute(o, operation_of(o->opcode), x[0], x[1], x[2]);
	if (flush) /* in f16, what is small before it is rounded */
		r = oracle_flushed(r, o->type);
	if (o->saturate)
		r = r > 1 ? 1 : r > 0 ? r : 0;
	if (oracle_has(o->opcode, "relu"))
		r = r < 0 || r == 0 ? 0 : r;
	uint64_t bits = oracle_from_double(r, o->type);
	oracle_round_as(ROUND_NEAREST);
	return bits;
}

/* Two halves, each by itself. */
static uint64_t rounded_pair(const struct oracle_op *o, const uint64_t *v)
{
	struct oracle_op one = *o;
	uint64_t r = 0;
	one.type = o->type == TYPE_f16x2 ? TYPE_f16 : TYPE_bf16;
	for (uint32_t h = 0; h < 2; h++) {
		uint64_t half[4] = {v[0] >> 16 * h & 0xffff, v[1] >> 16 * h & 0xffff, v[2] >> 16 * h & 0xffff, 0};
		r |= rounded(&one, half) << 16 * h;
	}
	return r;
}

/* Functions that PTX only approximates. */
static double approximated(const char *opcode, double a, double b)
{
	if (!strncmp(opcode, "div.", 4)) /* of a divisor above 2^126, the reciprocal is 0 */
		return oracle_has(opcode, "approx") && fabs(b) > ldexp(1, 126) ? a * copysign(0, b) : a / b;
	if (!strncmp(opcode, "rcp.", 4))
		return 1 / a;
	if (!strncmp(opcode, "sqrt.", 5))
		return sqrt(a);
	if (!strncmp(opcode, "rsqrt.", 6))
		return 1 / sqrt(a);
	if (!strncmp(opcode, "sin.", 4))
		return sin(a);
	if (!strncmp(opcode, "cos.", 4))
		return cos(a);
	if (!strncmp(opcode, "lg2.", 4))
		return log2(a);
	return !strncmp(opcode, "ex2.", 4) ? exp2(a) : tanh(a);
}

static uint64_t approximate(const struct oracle_op *o, const uint64_t *v)
{
	double a = oracle_to_double(v[0], o->type), b = oracle_to_double(v[1], o->type);
	if (!oracle_has(o->opcode, "ftz"))
		return oracle_from_double(approximated(o->opcode, a, b), o->type);
	uint64_t bits = oracle_from_double(approximated(o->opcode, oracle_flushed(a, o->type), oracle_flushed(b, o->type)), o->type);
	return oracle_from_double(oracle_flushed(oracle_to_double(bits, o->type), o->type), o->type);
}

oracle_lane oracle_rounded_lane(const char *opcode, enum oracle_type type)
{
	bool loose = oracle_has(opcode, "approx") || oracle_has(opcode, "full");
	if ((oracle_has(opcode, "ftz") && loose) || !strncmp(opcode, "div.approx", 10))
		return approximate;
	if (operation_of(opcode) == REAL_NONE || loose)
		return NULL;
	if (type == TYPE_f16x2 || type == TYPE_bf16x2)
		return rounded_pair;
	return type == TYPE_f16 || type == TYPE_bf16 || type == TYPE_f32 || type == TYPE_f64 ? rounded : NULL;
}
