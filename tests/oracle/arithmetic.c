/* Integer and logic instructions, comparisons and moves. */
#include "tests/oracle/internal.h"

#include "tests/oracle/values.h"

#pragma GCC diagnostic ignored "-Wtype-limits" /* a < 0 is also compiled for unsigned types */

/* d = expression of a, b and c, all of one type. Sums and products are computed in 64 bits and cut to the width of the result. */
#define THREE(name, type, expression)                                                                                  \
	static void name##_##type(struct warp *w, const struct oracle_op *o, uint32_t mask)                            \
	{                                                                                                              \
		uint64_t *d = oracle_row(w, o->d);                                                                     \
		const uint64_t *ra = oracle_row(w, o->a), *rb = oracle_row(w, o->b), *rc = oracle_row(w, o->c);        \
		LANES(mask, type a = get_##type(ra[l]); type b = get_##type(rb[l]); type c = get_##type(rc[l]);        \
		      (void)a; (void)b; (void)c; d[l] = put_##type(expression););                                      \
	}
#define INTEGERS(X, name, expression)                                                                                  \
	X(name, u16, expression) X(name, s16, expression) X(name, u32, expression) X(name, s32, expression)            \
	X(name, u64, expression) X(name, s64, expression)

#define BITS(x) ((int)sizeof(x) * 8)
#define WIDE(x) ((uint64_t)(int64_t)(x))

INTEGERS(THREE, add, WIDE(a) + WIDE(b))
INTEGERS(THREE, sub, WIDE(a) - WIDE(b))
INTEGERS(THREE, mul_lo, WIDE(a) * WIDE(b))
INTEGERS(THREE, mul_hi, (uint64_t)(((unsigned __int128)a * (unsigned __int128)b) >> BITS(a)))
INTEGERS(THREE, mad_lo, WIDE(a) * WIDE(b) + WIDE(c))
INTEGERS(THREE, mad_hi, (uint64_t)(((unsigned __int128)a * (unsigned __int128)b) >> BITS(a)) + WIDE(c))
INTEGERS(THREE, sad, WIDE(c) + (a < b ? WIDE(b) - WIDE(a) : WIDE(a) - WIDE(b)))
INTEGERS(THREE, min, WIDE(a < b ? a : b))
INTEGERS(THREE, max, WIDE(a > b ? a : b))
INTEGERS(THREE, div, b == 0 ? UINT64_MAX : (uint64_t)((__int128)a / (__int128)b))
INTEGERS(THREE, rem, b == 0 ? WIDE(a) : (uint64_t)((__int128)a % (__int128)b))
INTEGERS(THREE, neg, 0 - WIDE(a))
INTEGERS(THREE, abs, a < 0 ? 0 - WIDE(a) : WIDE(a))
INTEGERS(THREE, and, WIDE(a) & WIDE(b))
INTEGERS(THREE, or, WIDE(a) | WIDE(b))
INTEGERS(THREE, xor, WIDE(a) ^ WIDE(b))
INTEGERS(THREE, not, ~WIDE(a))
INTEGERS(THREE, cnot, a == 0)
INTEGERS(THREE, mov, WIDE(a))
INTEGERS(THREE, shl, (uint32_t)b >= (uint32_t)BITS(a) ? 0 : WIDE(a) << ((uint32_t)b & 63))
INTEGERS(THREE, shr, WIDE((uint32_t)b >= (uint32_t)BITS(a) ? (a < 0 ? -1 : 0) : a >> ((uint32_t)b & 63)))
INTEGERS(THREE, popc, (uint64_t)__builtin_popcountll(put_own(a)))
INTEGERS(THREE, clz, a == 0 ? (uint64_t)BITS(a) : (uint64_t)(__builtin_clzll(put_own(a)) - (64 - BITS(a))))

static void mul_wide_u32(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	LANES(mask, d[l] = (uint64_t)(uint32_t)a[l] * (uint32_t)b[l] + c[l];);
}

static void mul_wide_s32(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	LANES(mask, d[l] = (uint64_t)((int64_t)(int32_t)a[l] * (int32_t)b[l]) + c[l];);
}

static void mul_wide_u16(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	LANES(mask, d[l] = (uint32_t)((uint32_t)(uint16_t)a[l] * (uint16_t)b[l] + c[l]););
}

static void mul_wide_s16(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	LANES(mask, d[l] = (uint32_t)((int32_t)(int16_t)a[l] * (int16_t)b[l] + (int64_t)c[l]););
}

/* Bits b to b + c - 1 of a. Signed values are extended. */
#define EXTRACT(type, wide)                                                                                            \
	static void bfe_##type(struct warp *w, const struct oracle_op *o, uint32_t mask)                               \
	{                                                                                                              \
		uint64_t *d = oracle_row(w, o->d);                                                                     \
		const uint64_t *ra = oracle_row(w, o->a), *rb = oracle_row(w, o->b), *rc = oracle_row(w, o->c);        \
		LANES(mask, uint32_t from = (uint8_t)rb[l]; uint32_t length = (uint8_t)rc[l];                          \
		      wide a = (wide)get_##type(ra[l]); uint32_t bits = (uint32_t)BITS((type)0);                       \
		      if (length > bits) length = bits; if (from > bits - 1) a = a < 0 ? -1 : 0; else a >>= from;      \
		      wide cut = !length ? 0 : (wide)((unsigned __int128)a << (128 - length)) >> (128 - length);       \
		      d[l] = put_##type((uint64_t)cut););                                                              \
	}
EXTRACT(u32, unsigned __int128)
EXTRACT(s32, __int128)
EXTRACT(u64, unsigned __int128)
EXTRACT(s64, __int128)

/* Puts the low c bits of a at bit b of the fourth row's value. */
static void bfi_u32(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *into = oracle_row(w, o->b), *from = oracle_row(w, o->c);
	const uint64_t *length = oracle_row(w, o->rows[0]);
	LANES(mask, uint32_t at = (uint8_t)from[l]; uint32_t count = (uint8_t)length[l];
	      uint64_t field = count >= 32 ? UINT32_MAX : (UINT64_C(1) << count) - 1;
	      d[l] = at > 31 ? (uint32_t)into[l]
	                     : (uint32_t)((into[l] & ~(field << at)) | ((a[l] & field) << at)););
}

static void shf_l_u32(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	LANES(mask, d[l] = ((b[l] << 32 | (uint32_t)a[l]) << (c[l] & 31)) >> 32;);
}

static void shf_r_u32(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	LANES(mask, d[l] = (uint32_t)((b[l] << 32 | (uint32_t)a[l]) >> (c[l] & 31)););
}

static void select_lanes(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	LANES(mask, d[l] = c[l] ? a[l] : b[l];);
}

static void copy(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a);
	LANES(mask, d[l] = a[l];);
}

static void pred_and(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b);
	LANES(mask, d[l] = a[l] & b[l] & 1;);
}

static void pred_or(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b);
	LANES(mask, d[l] = (a[l] | b[l]) & 1;);
}

static void pred_xor(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b);
	LANES(mask, d[l] = (a[l] ^ b[l]) & 1;);
}

static void pred_not(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a);
	LANES(mask, d[l] = !a[l];);
}

static void nothing(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	(void)w;
	(void)o;
	(void)mask;
}

/* A row of handlers, one for each type from TYPE_u16 to TYPE_s64. */
#define ROW(words, name) {words, {name##_u16, name##_s16, name##_u32, name##_s32, name##_u64, name##_s64}, NULL},
#define WORD(words, handler) {words, {NULL}, handler},
static const struct {
	const char *words;
	oracle_handler by_type[6];
	oracle_handler any;
} handlers[] = {
	ROW("add", add) ROW("sub", sub) ROW("mul.lo", mul_lo) ROW("mul.hi", mul_hi) ROW("mad.lo", mad_lo)
	ROW("mad.hi", mad_hi) ROW("sad", sad) ROW("min", min) ROW("max", max) ROW("div", div) ROW("rem", rem) ROW("neg", neg) ROW("abs", abs)
	ROW("and", and) ROW("or", or) ROW("xor", xor) ROW("not", not) ROW("cnot", cnot) ROW("shl", shl) ROW("shr", shr)
	ROW("popc", popc) ROW("clz", clz) ROW("mov", mov)
	{"mul.wide", {mul_wide_u16, mul_wide_s16, mul_wide_u32, mul_wide_s32}, NULL},
	{"mad.wide", {mul_wide_u16, mul_wide_s16, mul_wide_u32, mul_wide_s32}, NULL},
	{"bfe", {NULL, NULL, bfe_u32, bfe_s32, bfe_u64, bfe_s64}, NULL},
	{"bfi", {NULL, NULL, bfi_u32, bfi_u32}, NULL},
	{"shf.l", {NULL, NULL, shf_l_u32, shf_l_u32}, NULL},
	{"shf.r", {NULL, NULL, shf_r_u32, shf_r_u32}, NULL},
	WORD("selp", select_lanes) WORD("mov.pred", copy) WORD("mov.f32", copy) WORD("mov.f64", copy)
	WORD("and.pred", pred_and) WORD("or.pred", pred_or) WORD("xor.pred", pred_xor) WORD("not.pred", pred_not) WORD("membar", nothing)
	WORD("fence", nothing) WORD("prefetch", nothing) WORD("bar.warp", nothing) WORD("griddepcontrol", nothing) WORD("nanosleep", nothing)
};

static bool begins(const char *opcode, const char *words)
{
	size_t length = strlen(words);
	return !strncmp(opcode, words, length) && (!opcode[length] || opcode[length] == '.');
}

oracle_handler oracle_integer_handler(const char *opcode, enum oracle_type type)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(handlers); i++) {
		if (!begins(opcode, handlers[i].words))
			continue;
		if (handlers[i].any)
			return handlers[i].any;
		if (type >= TYPE_u16 && type <= TYPE_s64)
			return handlers[i].by_type[type - TYPE_u16];
	}
	return NULL;
}

/* Comparisons: the result, then its combination with a predicate by .and, .or or .xor. */
static void combine(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d), *d2 = o->d2 == NO_ROW ? NULL : oracle_row(w, o->d2);
	const uint64_t *c = oracle_row(w, o->c);
	LANES(mask, uint64_t yes = d[l]; uint64_t no = !yes; uint64_t with = c[l];
	      if (o->combine == COMBINE_AND) { yes &= with; no &= with; }
	      if (o->combine == COMBINE_OR) { yes |= with; no |= with; }
	      if (o->combine == COMBINE_XOR) { yes ^= with; no ^= with; }
	      d[l] = yes; if (d2) d2[l] = no;);
}

#define COMPARE(name, type, expression)                                                                                \
	static void name##_##type(struct warp *w, const struct oracle_op *o, uint32_t mask)                            \
	{                                                                                                              \
		uint64_t *d = oracle_row(w, o->d);                                                                     \
		const uint64_t *ra = oracle_row(w, o->a), *rb = oracle_row(w, o->b);                                   \
		LANES(mask, type a = get_##type(ra[l]); type b = get_##type(rb[l]); d[l] = (expression););             \
		if (o->combine || o->d2 != NO_ROW)                                                                     \
			combine(w, o, mask);                                                                           \
	}
#define ALL_TYPES(X, name, expression) INTEGERS(X, name, expression) X(name, f32, expression) X(name, f64, expression)
#define REALS(X, name, expression) X(name, f32, expression) X(name, f64, expression)
#define ALIAS_ROW(name) name##_u16, name##_s16, name##_u32, name##_s32, name##_u64, name##_s64, name##_f32, name##_f64
#define REAL_ROW(name) NULL, NULL, NULL, NULL, NULL, NULL, name##_f32, name##_f64

ALL_TYPES(COMPARE, eq, a == b)
ALL_TYPES(COMPARE, ne, a < b || a > b)
ALL_TYPES(COMPARE, lt, a < b)
ALL_TYPES(COMPARE, le, a <= b)
ALL_TYPES(COMPARE, gt, a > b)
ALL_TYPES(COMPARE, ge, a >= b)
REALS(COMPARE, equ, !(a < b || a > b))
REALS(COMPARE, neu, a != b)
REALS(COMPARE, ltu, !(a >= b))
REALS(COMPARE, leu, !(a > b))
REALS(COMPARE, gtu, !(a <= b))
REALS(COMPARE, geu, !(a < b))
REALS(COMPARE, num, a == a && b == b)
REALS(COMPARE, nan, a != a || b != b)

static const struct {
	const char *word;
	oracle_handler by_type[8];
} comparisons[] = {
	{"eq", {ALIAS_ROW(eq)}},  {"ne", {ALIAS_ROW(ne)}},  {"lt", {ALIAS_ROW(lt)}},  {"le", {ALIAS_ROW(le)}},
	{"gt", {ALIAS_ROW(gt)}},  {"ge", {ALIAS_ROW(ge)}},  {"lo", {ALIAS_ROW(lt)}},  {"ls", {ALIAS_ROW(le)}},
	{"hi", {ALIAS_ROW(gt)}},  {"hs", {ALIAS_ROW(ge)}},  {"equ", {REAL_ROW(equ)}}, {"neu", {REAL_ROW(neu)}},
	{"ltu", {REAL_ROW(ltu)}}, {"leu", {REAL_ROW(leu)}}, {"gtu", {REAL_ROW(gtu)}}, {"geu", {REAL_ROW(geu)}},
	{"num", {REAL_ROW(num)}}, {"nan", {REAL_ROW(nan)}},
};

oracle_handler oracle_compare_handler(const char *opcode, enum oracle_type type)
{
	if (!begins(opcode, "setp") || type < TYPE_u16 || type > TYPE_f64)
		return NULL;
	for (size_t i = 0; i < GS_ARRAY_LEN(comparisons); i++)
		if (oracle_has(opcode, comparisons[i].word))
			return comparisons[i].by_type[type - TYPE_u16];
	return NULL;
}
