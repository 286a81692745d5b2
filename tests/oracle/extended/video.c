/* Video instructions: sums, differences and extremes of words or of their bytes and halves. */
#include "tests/oracle/internal.h"

#include "tests/oracle/extended/extended.h"

/* The value of an operand with its selector (".b1", ".h0"), extended by its sign if it is signed. */
static int64_t selected(uint64_t v, const char *part, bool negative)
{
	uint32_t bits = 32, at = 0;
	if (part && part[0] == '.') {
		bits = part[1] == 'b' ? 8 : 16;
		at = (uint32_t)(part[2] - '0') * bits;
	}
	uint64_t cut = v >> at & (UINT64_MAX >> (64 - bits));
	return negative ? (int64_t)(cut << (64 - bits)) >> (64 - bits) : (int64_t)cut;
}

static int64_t within(int64_t v, int64_t low, int64_t high)
{
	return v < low ? low : v > high ? high : v;
}

static int64_t compared(const char *opcode, int64_t a, int64_t b)
{
	return oracle_has(opcode, "eq") ? a == b : oracle_has(opcode, "ne") ? a != b : oracle_has(opcode, "lt") ? a < b : oracle_has(opcode, "le") ? a <= b
	       : oracle_has(opcode, "gt") ? a > b : a >= b;
}

static int64_t shifted(const struct oracle_op *o, int64_t a, uint32_t by, bool left)
{
	by = oracle_has(o->opcode, "wrap") ? by & 31 : by > 32 ? 32 : by;
	return left ? (int64_t)((uint64_t)a << by) : a >> by;
}

/* What "vadd", "vmin2" and so on make of two numbers. */
static int64_t operated(const char *opcode, int64_t a, int64_t b)
{
	if (!strncmp(opcode, "vadd", 4))
		return a + b;
	if (!strncmp(opcode, "vsub", 4))
		return a - b;
	if (!strncmp(opcode, "vabsdiff", 8))
		return a > b ? a - b : b - a;
	if (!strncmp(opcode, "vavrg", 5)) /* rounded away from zero at the half */
		return (a + b + (a + b >= 0)) >> 1;
	if (!strncmp(opcode, "vmin", 4))
		return a < b ? a : b;
	return a > b ? a : b;
}

static uint64_t video_word(const struct oracle_op *o, const uint64_t *v)
{
	bool sd = oracle_type_of(o->opcode, 0) == TYPE_s32, sa = oracle_type_of(o->opcode, 1) == TYPE_s32;
	bool vset = !strncmp(o->opcode, "vset", 4), sb = oracle_type_of(o->opcode, vset ? 1 : 2) == TYPE_s32, shift = !strncmp(o->opcode, "vsh", 3);
	if (vset)
		sa = oracle_type_of(o->opcode, 0) == TYPE_s32;
	int64_t a = selected(v[0], o->parts[0], sa), b = selected(v[1], o->parts[1], sb && !shift), r;
	if (vset)
		r = compared(o->opcode, a, b);
	else if (shift)
		r = shifted(o, a, (uint32_t)b, o->opcode[3] == 'l');
	else
		r = operated(o->opcode, a, b);
	if (oracle_has(o->opcode, "sat"))
		r = sd ? within(r, INT32_MIN, INT32_MAX) : within(r, 0, UINT32_MAX);
	if (oracle_has(o->opcode, "add"))
		r = (int64_t)((uint64_t)r + v[2]);
	if (oracle_has(o->opcode, "min"))
		r = sd ? ((int32_t)r < (int32_t)v[2] ? r : (int64_t)v[2]) : ((uint32_t)r < (uint32_t)v[2] ? r : (int64_t)v[2]);
	if (oracle_has(o->opcode, "max"))
		r = sd ? ((int32_t)r > (int32_t)v[2] ? r : (int64_t)v[2]) : ((uint32_t)r > (uint32_t)v[2] ? r : (int64_t)v[2]);
	return (uint32_t)r;
}

static uint64_t vmad(const struct oracle_op *o, const uint64_t *v)
{
	bool sa = oracle_type_of(o->opcode, 1) == TYPE_s32, sb = oracle_type_of(o->opcode, 2) == TYPE_s32;
	__int128 c = sa || sb ? (__int128)(int32_t)v[2] : (__int128)(uint32_t)v[2];
	__int128 r = (__int128)selected(v[0], o->parts[0], sa) * selected(v[1], o->parts[1], sb) + c;
	r >>= oracle_has(o->opcode, "shr7") ? 7 : oracle_has(o->opcode, "shr15") ? 15 : 0;
	return (uint32_t)r;
}

/* vadd2, vadd4 and so on: every part by itself; with .add, their sum and c. */
static uint64_t video_parts(const struct oracle_op *o, const uint64_t *v)
{
	uint32_t count = strchr(o->opcode, '.')[-1] == '2' ? 2 : 4, bits = 32 / count;
	bool sd = oracle_type_of(o->opcode, 0) == TYPE_s32, sa = oracle_type_of(o->opcode, 1) == TYPE_s32, sb = oracle_type_of(o->opcode, 2) == TYPE_s32;
	bool sum = oracle_has(o->opcode, "add");
	uint64_t mask = (UINT64_C(1) << bits) - 1, r = sum ? v[2] : 0;
	for (uint32_t i = 0; i < count; i++) {
		uint64_t x = v[0] >> i * bits & mask, y = v[1] >> i * bits & mask;
		int64_t a = sa ? (int64_t)(x << (64 - bits)) >> (64 - bits) : (int64_t)x, b = sb ? (int64_t)(y << (64 - bits)) >> (64 - bits) : (int64_t)y;
		int64_t one = operated(o->opcode, a, b);
		if (oracle_has(o->opcode, "sat"))
			one = sd ? within(one, -(int64_t)(mask / 2) - 1, (int64_t)(mask / 2)) : within(one, 0, (int64_t)mask);
		r = sum ? r + (uint64_t)one : r | ((uint64_t)one & mask) << i * bits;
	}
	return (uint32_t)r;
}

oracle_lane oracle_video_lane(const char *opcode)
{
	static const char *const words[] = {"vadd", "vsub", "vabsdiff", "vmin", "vmax", "vshl", "vshr", "vset"};
	size_t length = strcspn(opcode, ".");
	if (!strncmp(opcode, "vmad.", 5))
		return vmad;
	for (size_t i = 0; i < GS_ARRAY_LEN(words); i++)
		if (strlen(words[i]) == length && !strncmp(opcode, words[i], length))
			return video_word;
	if (opcode[0] == 'v' && length > 4 && (opcode[length - 1] == '2' || opcode[length - 1] == '4') && strncmp(opcode, "vset", 4))
		return video_parts;
	return NULL;
}
