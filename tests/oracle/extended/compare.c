/* Comparisons beyond setp of plain types: set, testp, .ftz, halves and pairs of them. */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"
#include "tests/oracle/values.h"

#include <math.h>

static bool is_real(enum oracle_type type)
{
	return type == TYPE_f16 || type == TYPE_bf16 || type == TYPE_f32 || type == TYPE_f64;
}

/* -1, 0, 1; 2: not a number. */
static int order(uint64_t a, uint64_t b, enum oracle_type type, bool flush)
{
	if (is_real(type)) {
		double x = oracle_to_double(a, (uint8_t)type), y = oracle_to_double(b, (uint8_t)type);
		x = flush ? oracle_flushed(x, (uint8_t)type) : x;
		y = flush ? oracle_flushed(y, (uint8_t)type) : y;
		return isnan(x) || isnan(y) ? 2 : x < y ? -1 : x > y;
	}
	uint32_t bits = 8 * oracle_type_bytes(type);
	if (type == TYPE_s16 || type == TYPE_s32 || type == TYPE_s64) {
		int64_t x = (int64_t)(a << (64 - bits)) >> (64 - bits), y = (int64_t)(b << (64 - bits)) >> (64 - bits);
		return x < y ? -1 : x > y;
	}
	return a < b ? -1 : a > b;
}

/* The orders for which a comparison holds, as bits: less, equal, greater, not a number. */
static uint32_t wanted_orders(const char *opcode)
{
	enum { LT = 1, EQ = 2, GT = 4, UN = 8 };
	static const struct {
		const char *word;
		uint32_t orders;
	} words[] = {{"eq", EQ}, {"ne", LT | GT}, {"lt", LT}, {"le", LT | EQ}, {"gt", GT}, {"ge", GT | EQ}, {"lo", LT}, {"ls", LT | EQ}, {"hi", GT},
	             {"hs", GT | EQ}, {"equ", EQ | UN}, {"neu", LT | GT | UN}, {"ltu", LT | UN}, {"leu", LT | EQ | UN}, {"gtu", GT | UN},
	             {"geu", GT | EQ | UN}, {"num", LT | EQ | GT}, {"nan", UN}};
	for (size_t i = 0; i < GS_ARRAY_LEN(words); i++)
		if (oracle_has(opcode, words[i].word))
			return words[i].orders;
	return 0;
}

static bool holds(const struct oracle_op *o, uint64_t a, uint64_t b, enum oracle_type type)
{
	return wanted_orders(o->opcode) >> (order(a, b, type, oracle_has(o->opcode, "ftz")) + 1) & 1;
}

static bool combined(const struct oracle_op *o, bool yes, bool with)
{
	return o->combine == COMBINE_AND ? yes && with : o->combine == COMBINE_OR ? yes || with : o->combine == COMBINE_XOR ? yes != with : yes;
}

static uint64_t third(const struct oracle_op *o, uint64_t c)
{
	return o->negated & 4 ? !c : c;
}

/* Two results of setp: p, and that of the opposite comparison; of pairs of halves: one per half. */
static void set_predicates(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d), *d2 = o->d2 == NO_ROW ? NULL : oracle_row(w, o->d2);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	bool pairs = o->type == TYPE_f16x2 || o->type == TYPE_bf16x2;
	enum oracle_type type = o->type == TYPE_f16x2 ? TYPE_f16 : o->type == TYPE_bf16x2 ? TYPE_bf16 : (enum oracle_type)o->type;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		bool with = third(o, c[l]), yes = holds(o, pairs ? a[l] & 0xffff : a[l], pairs ? b[l] & 0xffff : b[l], type);
		bool other = pairs ? holds(o, a[l] >> 16, b[l] >> 16, type) : !yes;
		d[l] = combined(o, yes, with);
		if (d2)
			d2[l] = combined(o, other, with);
	}
}

static uint64_t truth(bool yes, enum oracle_type result)
{
	if (result == TYPE_f32)
		return yes ? put_f32(1.0f) : 0;
	if (result == TYPE_f16)
		return yes ? 0x3c00 : 0;
	if (result == TYPE_bf16)
		return yes ? 0x3f80 : 0;
	return yes ? UINT32_MAX : 0;
}

static void set_values(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	enum oracle_type result = oracle_type_of(o->opcode, 0), type = oracle_type_of(o->opcode, 1);
	bool pairs = type == TYPE_f16x2;
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		bool with = third(o, c[l]);
		if (!pairs) {
			d[l] = truth(combined(o, holds(o, a[l], b[l], type), with), result);
			continue;
		}
		uint64_t low = truth(combined(o, holds(o, a[l] & 0xffff, b[l] & 0xffff, TYPE_f16), with), TYPE_f16);
		uint64_t high = truth(combined(o, holds(o, a[l] >> 16, b[l] >> 16, TYPE_f16), with), TYPE_f16);
		d[l] = high << 16 | low;
	}
}

static uint64_t testp(const struct oracle_op *o, const uint64_t *v)
{
	double x = oracle_to_double(v[0], o->type);
	bool small = x != 0 && oracle_flushed(x, o->type) == 0;
	if (oracle_has(o->opcode, "finite"))
		return isfinite(x);
	if (oracle_has(o->opcode, "infinite"))
		return isinf(x) != 0;
	if (oracle_has(o->opcode, "number"))
		return !isnan(x);
	if (oracle_has(o->opcode, "notanumber"))
		return isnan(x) != 0;
	return oracle_has(o->opcode, "subnormal") ? small : isfinite(x) && !small; /* GPUs take 0 for normal */
}

oracle_handler oracle_predicate_handler(const char *opcode, enum oracle_type type)
{
	if (!strncmp(opcode, "set.", 4))
		return set_values;
	if (!strncmp(opcode, "setp.", 5))
		return wanted_orders(opcode) && type != TYPE_NONE ? set_predicates : NULL;
	return NULL;
}

oracle_lane oracle_test_lane(const char *opcode)
{
	return !strncmp(opcode, "testp.", 6) ? testp : NULL;
}
