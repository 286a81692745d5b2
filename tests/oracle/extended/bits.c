/*
 * Instructions that the kernels of the suite do not have, lane by lane: bit fields, permutations, products of parts, saturation, carries.
 * They follow the pseudo code of the PTX manual. Speed does not matter here.
 */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"
#include "tests/oracle/values.h"

static uint32_t width(const struct oracle_op *o)
{
	return 8 * oracle_type_bytes((enum oracle_type)o->type);
}

static bool is_signed(uint8_t type)
{
	return type == TYPE_s8 || type == TYPE_s16 || type == TYPE_s32 || type == TYPE_s64;
}

static int64_t signed_value(uint64_t v, uint32_t bits)
{
	return (int64_t)(v << (64 - bits)) >> (64 - bits);
}

static uint64_t saturated(__int128 v)
{
	return (uint32_t)(v > INT32_MAX ? INT32_MAX : v < INT32_MIN ? INT32_MIN : (int32_t)v);
}

/* Saturation exists for s32 only. */
static uint64_t add_sat(const struct oracle_op *o, const uint64_t *v)
{
	(void)o;
	return saturated((__int128)(int32_t)v[0] + (int32_t)v[1]);
}

static uint64_t sub_sat(const struct oracle_op *o, const uint64_t *v)
{
	(void)o;
	return saturated((__int128)(int32_t)v[0] - (int32_t)v[1]);
}

static uint64_t mad_hi_sat(const struct oracle_op *o, const uint64_t *v)
{
	(void)o;
	return saturated((((__int128)(int32_t)v[0] * (int32_t)v[1]) >> 32) + (int32_t)v[2]);
}

/* The product of the lower 24 bits, 48 bits wide: its lower 32 bits, or its upper 32. */
static int64_t product24(const struct oracle_op *o, const uint64_t *v)
{
	int64_t p = o->type == TYPE_s32 ? signed_value(v[0], 24) * signed_value(v[1], 24)
	                                : (int64_t)((v[0] & 0xffffff) * (v[1] & 0xffffff));
	return oracle_has(o->opcode, "hi") ? p >> 16 : p;
}

static uint64_t mul24(const struct oracle_op *o, const uint64_t *v)
{
	return (uint32_t)product24(o, v);
}

static uint64_t mad24(const struct oracle_op *o, const uint64_t *v)
{
	if (o->saturate)
		return saturated((__int128)(int32_t)product24(o, v) + (int32_t)v[2]);
	return (uint32_t)(product24(o, v) + (int64_t)v[2]);
}

/* The highest bit that is not like the sign. */
static uint64_t bfind(const struct oracle_op *o, const uint64_t *v)
{
	uint32_t bits = width(o);
	uint64_t a = v[0];
	if (is_signed(o->type) && a >> (bits - 1))
		a = ~a & (UINT64_MAX >> (64 - bits));
	for (uint32_t i = bits; i--;)
		if (a >> i & 1)
			return oracle_has(o->opcode, "shiftamt") ? bits - 1 - i : i;
	return UINT32_MAX;
}

static uint64_t brev(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t r = 0;
	for (uint32_t i = 0; i < width(o); i++)
		r |= (v[0] >> i & 1) << (width(o) - 1 - i);
	return r;
}

static uint64_t szext(const struct oracle_op *o, const uint64_t *v)
{
	uint32_t n = (uint32_t)v[1];
	if (oracle_has(o->opcode, "wrap"))
		n &= 31;
	else if (n >= 32)
		return v[0];
	if (n == 0)
		return 0;
	return (uint32_t)(is_signed(o->type) ? (uint64_t)signed_value(v[0], n) : v[0] & ((UINT64_C(1) << n) - 1));
}

static uint64_t bmsk(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t from = (uint32_t)v[0], count = (uint32_t)v[1];
	if (oracle_has(o->opcode, "wrap")) {
		from &= 31;
		count &= 31;
	}
	uint64_t ones = count >= 32 ? UINT32_MAX : (UINT64_C(1) << count) - 1;
	return from >= 32 ? 0 : (uint32_t)(ones << from);
}

/* The place of the n-th set bit of a from a base on, upwards or downwards. */
static uint64_t fns(const struct oracle_op *o, const uint64_t *v)
{
	uint32_t a = (uint32_t)v[0], base = (uint32_t)v[1];
	int32_t n = (int32_t)v[2], step = n < 0 ? -1 : 1, left = n < 0 ? -n : n;
	(void)o;
	if (n == 0)
		return base < 32 && a >> base & 1 ? base : UINT32_MAX;
	for (int32_t i = (int32_t)base; i >= 0 && i < 32; i += step)
		if (a >> i & 1 && !--left)
			return (uint32_t)i;
	return UINT32_MAX;
}

static int64_t part(uint64_t v, uint32_t bits, uint32_t index, bool negative)
{
	uint64_t cut = v >> index * bits & ((UINT64_C(1) << bits) - 1);
	return negative ? signed_value(cut, bits) : (int64_t)cut;
}

static uint64_t dp4a(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t sum = v[2];
	bool sa = oracle_type_of(o->opcode, 0) == TYPE_s32, sb = oracle_type_of(o->opcode, 1) == TYPE_s32;
	for (uint32_t i = 0; i < 4; i++)
		sum += (uint64_t)(part(v[0], 8, i, sa) * part(v[1], 8, i, sb));
	return (uint32_t)sum;
}

static uint64_t dp2a(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t sum = v[2];
	bool sa = oracle_type_of(o->opcode, 0) == TYPE_s32, sb = oracle_type_of(o->opcode, 1) == TYPE_s32;
	uint32_t first = oracle_has(o->opcode, "hi") ? 2 : 0;
	for (uint32_t i = 0; i < 2; i++)
		sum += (uint64_t)(part(v[0], 16, i, sa) * part(v[1], 8, first + i, sb));
	return (uint32_t)sum;
}

static uint64_t lop3(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t r = 0;
	(void)o;
	for (uint32_t i = 0; i < 32; i++)
		r |= (v[3] >> ((v[0] >> i & 1) * 4 + (v[1] >> i & 1) * 2 + (v[2] >> i & 1)) & 1) << i;
	return r;
}

/* The four bytes that a mode of prmt chooses, for the lower two bits of c. */
static uint32_t prmt_choice(const char *opcode, uint32_t c)
{
	static const struct {
		const char *mode;
		uint16_t choices[4];
	} modes[] = {{"f4e", {0x3210, 0x4321, 0x5432, 0x6543}}, {"b4e", {0x5670, 0x6701, 0x7012, 0x0123}}, {"rc8", {0x0000, 0x1111, 0x2222, 0x3333}},
	             {"ecl", {0x3210, 0x3211, 0x3222, 0x3333}}, {"ecr", {0x0000, 0x1110, 0x2210, 0x3210}}, {"rc16", {0x1010, 0x3232, 0x1010, 0x3232}}};
	for (size_t i = 0; i < GS_ARRAY_LEN(modes); i++)
		if (oracle_has(opcode, modes[i].mode))
			return modes[i].choices[c & 3];
	return c;
}

static uint64_t prmt(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t bytes = v[1] << 32 | (uint32_t)v[0], r = 0;
	uint32_t choice = prmt_choice(o->opcode, (uint32_t)v[2]);
	for (uint32_t i = 0; i < 4; i++) {
		uint32_t c = choice >> i * 4;
		uint64_t byte = bytes >> (c & 7) * 8 & 255;
		r |= (c & 8 ? (byte >> 7) * 255 : byte) << i * 8;
	}
	return r;
}

static uint64_t shf(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t both = v[1] << 32 | (uint32_t)v[0];
	uint32_t n = (uint32_t)v[2];
	n = oracle_has(o->opcode, "wrap") ? n & 31 : n > 32 ? 32 : n;
	return oracle_has(o->opcode, "l") ? (uint32_t)(n == 32 ? both : both << n >> 32) : (uint32_t)(both >> n);
}

/* Fields of 64 bits: GPUs take all 32 bits of place and length, where those of 32 bits have 8 bits of them. */
static uint64_t bfi64(const struct oracle_op *o, const uint64_t *v)
{
	uint32_t at = (uint32_t)v[2], count = (uint32_t)v[3];
	uint64_t field = count >= 64 ? UINT64_MAX : (UINT64_C(1) << count) - 1;
	(void)o;
	return at > 63 ? v[1] : (v[1] & ~(field << at)) | (v[0] & field) << at;
}

static uint64_t bfe64(const struct oracle_op *o, const uint64_t *v)
{
	uint64_t from = (uint32_t)v[1], length = (uint32_t)v[2], last = from + length - 1, r = 0;
	uint64_t sign = is_signed(o->type) && length ? v[0] >> (last > 63 ? 63 : last) & 1 : 0;
	for (uint64_t i = 0; i < 64; i++)
		r |= (i < length && from + i < 64 ? v[0] >> (from + i) & 1 : sign) << i;
	return r;
}

/* Of 16 bits: the distance has 32. */
static uint64_t shift16(const struct oracle_op *o, const uint64_t *v)
{
	uint32_t by = (uint32_t)v[1] > 16 ? 16 : (uint32_t)v[1];
	if (!strncmp(o->opcode, "shl", 3))
		return (uint16_t)(v[0] << by);
	return (uint16_t)(is_signed(o->type) ? (uint64_t)(signed_value(v[0], 16) >> by) : (v[0] & 0xffff) >> by);
}

/* d = c >= 0 ? a : b. -0 is 0, not a number is not. */
static uint64_t slct(const struct oracle_op *o, const uint64_t *v)
{
	if (oracle_type_of(o->opcode, 1) == TYPE_s32)
		return (int32_t)v[2] >= 0 ? v[0] : v[1];
	float c = get_f32(v[2]);
	if (oracle_has(o->opcode, "ftz") && !((uint32_t)v[2] & 0x7f800000))
		c = 0;
	return c >= 0 ? v[0] : v[1];
}

static uint64_t negated_mov(const struct oracle_op *o, const uint64_t *v)
{
	(void)o;
	return v[0];
}

static const struct {
	const char *words;
	oracle_lane lane;
} lanes[] = {{"add.sat.s32", add_sat}, {"sub.sat.s32", sub_sat}, {"mad.hi.sat.s32", mad_hi_sat}, {"mul24", mul24}, {"mad24", mad24}, {"bfind", bfind},
             {"brev", brev}, {"szext", szext}, {"bmsk", bmsk}, {"fns", fns}, {"dp4a", dp4a}, {"dp2a", dp2a}, {"lop3", lop3}, {"prmt", prmt},
             {"shf", shf}, {"bfi.b64", bfi64}, {"bfe.u64", bfe64}, {"bfe.s64", bfe64}, {"slct", slct}, {"mov.pred", negated_mov},
             {"shl.b16", shift16}, {"shr.b16", shift16}, {"shr.u16", shift16}, {"shr.s16", shift16}};

oracle_lane oracle_bits_lane(const char *opcode)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(lanes); i++) {
		size_t length = strlen(lanes[i].words);
		if (!strncmp(opcode, lanes[i].words, length) && (!opcode[length] || opcode[length] == '.'))
			return lanes[i].lane;
	}
	return NULL;
}

/* ---- carries ---- */

/* The sum of three operands, or the first less the others, in 32 or 64 bits; the carry goes to the lane's flag. Without a borrow, a difference has a carry. */
static void carry_chain(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c);
	uint32_t bits = 8 * oracle_type_bytes((enum oracle_type)o->type);
	bool subtract = !strncmp(o->opcode, "sub", 3), product = !strncmp(o->opcode, "mad", 3);
	bool takes = o->opcode[3] == 'c', gives = oracle_has(o->opcode, "cc");
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint64_t cut = UINT64_MAX >> (64 - bits);
		unsigned __int128 x = a[l], y = b[l], in = takes && w->carry[l] != subtract;
		if (product) {
			bool negative = is_signed(o->type);
			unsigned __int128 p = negative ? (unsigned __int128)((__int128)signed_value(a[l], bits) * signed_value(b[l], bits)) : x * y;
			x = (oracle_has(o->opcode, "hi") ? p >> bits : p) & cut;
			y = c[l];
		}
		unsigned __int128 r = subtract ? x - y - in : x + y + in;
		d[l] = (uint64_t)r & cut;
		if (gives)
			w->carry[l] = (r >> bits & 1) != subtract;
	}
}

oracle_handler oracle_carry_handler(const char *opcode)
{
	bool chain = !strncmp(opcode, "addc.", 5) || !strncmp(opcode, "subc.", 5) || !strncmp(opcode, "madc.", 5);
	bool begins = oracle_has(opcode, "cc") && (!strncmp(opcode, "add.", 4) || !strncmp(opcode, "sub.", 4) || !strncmp(opcode, "mad.", 4));
	return chain || begins ? carry_chain : NULL;
}

void oracle_each_lane(struct warp *w, const struct oracle_op *o, uint32_t mask)
{
	uint64_t *d = oracle_row(w, o->d);
	const uint64_t *a = oracle_row(w, o->a), *b = oracle_row(w, o->b), *c = oracle_row(w, o->c), *e = oracle_row(w, o->rows[0]);
	for (uint32_t rest = mask; rest; rest &= rest - 1) {
		uint32_t l = (uint32_t)__builtin_ctz(rest);
		uint64_t v[4] = {a[l], b[l], c[l], e[l]};
		for (uint32_t i = 0; i < 4; i++)
			v[i] = o->negated & 1u << i ? !v[i] : v[i];
		d[l] = o->lane(o, v);
	}
}
