/*
 * Floating point: C's float and double with one rounding each, and fma as in C. Functions of the special units use libm, because
 * counts do not depend on their last bits. All roundings are treated as to nearest, except when the result is an integer.
 */
#include "tests/oracle/internal.h"

#include "tests/oracle/values.h"

#include <math.h>

#define THREE(name, type, expression)                                                                                  \
	static void name##_##type(struct warp *w, const struct oracle_op *o, uint32_t mask)                            \
	{                                                                                                              \
		uint64_t *d = oracle_row(w, o->d);                                                                     \
		const uint64_t *ra = oracle_row(w, o->a), *rb = oracle_row(w, o->b), *rc = oracle_row(w, o->c);        \
		LANES(mask, type a = get_##type(ra[l]); type b = get_##type(rb[l]); type c = get_##type(rc[l]);        \
		      (void)b; (void)c; type r = (type)(expression); if (o->saturate) r = r > 1 ? 1 : r > 0 ? r : 0;   \
		      d[l] = put_##type(r););                                                                          \
	}
#define BOTH(name, single, twice) THREE(name, f32, single) THREE(name, f64, twice)

BOTH(add, a + b, a + b)
BOTH(sub, a - b, a - b)
BOTH(mul, a *b, a *b)
BOTH(fma, fmaf(a, b, c), fma(a, b, c))
BOTH(div, a / b, a / b)
BOTH(min, fminf(a, b), fmin(a, b))
BOTH(max, fmaxf(a, b), fmax(a, b))
BOTH(neg, -a, -a)
BOTH(abs, fabsf(a), fabs(a))
BOTH(sqrt, sqrtf(a), sqrt(a))
BOTH(rsqrt, 1.0f / sqrtf(a), 1.0 / sqrt(a))
BOTH(rcp, 1.0f / a, 1.0 / a)
BOTH(sin, sinf(a), sin(a))
BOTH(cos, cosf(a), cos(a))
BOTH(ex2, exp2f(a), exp2(a))
BOTH(lg2, log2f(a), log2(a))
BOTH(tanh, tanhf(a), tanh(a))
BOTH(copysign, copysignf(b, a), copysign(b, a))

#define ROW(name) {#name, {name##_f32, name##_f64}},
static const struct {
	const char *word;
	oracle_handler by_type[2];
} handlers[] = {ROW(add) ROW(sub) ROW(mul) ROW(fma) {"mad", {fma_f32, fma_f64}}, ROW(div) ROW(min) ROW(max) ROW(neg)
                ROW(abs) ROW(sqrt) ROW(rsqrt) ROW(rcp) ROW(sin) ROW(cos) ROW(ex2) ROW(lg2) ROW(tanh) ROW(copysign)};

oracle_handler oracle_real_handler(const char *opcode, enum oracle_type type)
{
	size_t length = strcspn(opcode, ".");
	for (size_t i = 0; i < GS_ARRAY_LEN(handlers); i++)
		if (strlen(handlers[i].word) == length && !strncmp(opcode, handlers[i].word, length) &&
		    (type == TYPE_f32 || type == TYPE_f64))
			return handlers[i].by_type[type - TYPE_f32];
	return NULL;
}
