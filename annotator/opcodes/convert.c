/* Conversions between types. */
#include "annotator/opcodes/opcode.h"

#include <string.h>

static bool is_integer(struct opcode_type t)
{
	return t.parts == 1 && t.bits <= 64 && strchr("usb", t.kind);
}

/* Whether conversions from one integer type to the other keep every value. */
static bool contains(struct opcode_type wide, struct opcode_type narrow)
{
	if (wide.kind == 's')
		return narrow.kind == 's' ? narrow.bits <= wide.bits : narrow.bits < wide.bits;
	return narrow.kind != 's' && narrow.bits <= wide.bits;
}

static void integers(struct opcode_work *w, struct opcode_type to, struct opcode_type from)
{
	opcode_open(w, 0, to);
	if (opcode_has(w, "sat") && !contains(to, from)) {
		opcode_put(w, "convert_%s_sat(", opcode_c_type(to));
		opcode_put_operand(w, opcode_source(w, 0), from);
		opcode_put(w, ")");
	} else {
		opcode_put_operand(w, opcode_source(w, 0), from);
	}
	opcode_close(w, 0, to);
}

/* Writes operand n as a float or double with the same value, .ftz applied. Returns the bits. */
static uint32_t put_as_real(struct opcode_work *w, uint32_t n, struct opcode_type from)
{
	char letter = opcode_type_letter(from);
	bool flush = w->flush && letter == 'f';
	if (letter == 'h' || letter == 'g')
		opcode_put(w, "gs_f32_of_%s(", from.name);
	opcode_put(w, flush ? "gs_ftz_f32(" : "");
	opcode_put_operand(w, opcode_source(w, n), from);
	opcode_put(w, flush ? ")" : "");
	opcode_put(w, letter == 'h' || letter == 'g' ? ")" : "");
	return letter == 'd' ? 64 : 32;
}

static const char *to_integer(const struct opcode_work *w)
{
	static const char *const words[] = {"rni", "rzi", "rmi", "rpi", NULL}, *const functions[] = {"rint", "trunc", "floor", "ceil"};
	int which = opcode_which(w, words);
	return which < 0 ? NULL : functions[which];
}

static void real_to_integer(struct opcode_work *w, struct opcode_type to, struct opcode_type from)
{
	const char *round = to_integer(w);
	bool is_double = from.kind == 'f' && from.bits == 64;
	opcode_open(w, 0, to);
	opcode_put(w, "gs_%c%u_of_%s(", to.kind == 's' ? 's' : 'u', to.bits, is_double ? "f64" : "f32");
	opcode_put(w, "%s(", round && strcmp(round, "trunc") ? round : ""); /* C truncates */
	put_as_real(w, 0, from);
	opcode_put(w, "))");
	opcode_close(w, 0, to);
}

/* Functions around the result: what the modifiers ask for. Returns how many parentheses are open. */
static uint32_t open_finish(struct opcode_work *w, struct opcode_type to)
{
	uint32_t open = 0;
	const char *name = to.kind == 't' ? "tf32" : to.kind == 'g' ? "bf16" : to.bits == 16 ? "f16" : to.bits == 64 ? "f64" : "f32";
	if (opcode_has(w, "relu"))
		open++, opcode_put(w, "gs_relu_%s(", name);
	if (opcode_has(w, "sat"))
		open++, opcode_put(w, "gs_sat_%s(", name);
	if (opcode_has(w, "satfinite"))
		open++, opcode_put(w, "gs_satfinite_%s(", name);
	if (w->flush && to.kind == 'f' && to.bits == 32)
		open++, opcode_put(w, "gs_ftz_f32(");
	return open;
}

static void close_all(struct opcode_work *w, uint32_t open)
{
	while (open--)
		opcode_put(w, ")");
}

static void integer_to_real(struct opcode_work *w, struct opcode_type to, struct opcode_type from)
{
	bool nearest = !strcmp(opcode_rounding(w), "GS_RN"), wide = from.bits == 64, small = to.bits == 16;
	char sign = from.kind == 's' ? 's' : 'u';
	opcode_open(w, 0, to);
	uint32_t open = open_finish(w, to);
	if (nearest && !small) {
		opcode_put(w, "(%s)(", opcode_c_type(to));
		open++;
	} else if (to.bits == 64 && wide) {
		opcode_put(w, "gs_f64_of_%c64(", sign);
	} else if (to.bits == 64) {
		opcode_put(w, "(double)(");
	} else {
		opcode_put(w, "gs_%s_of_f64(", to.name);
		if (wide)
			opcode_put(w, "gs_f64_of_%c64(", sign);
		else
			opcode_put(w, "(double)(");
	}
	opcode_put_operand(w, opcode_source(w, 0), from);
	if (nearest && !small)
		; /* closed below */
	else if (to.bits == 64)
		opcode_put(w, wide ? ", %s)" : ")", opcode_rounding(w));
	else
		opcode_put(w, wide ? ", GS_ODD), %s)" : "), %s)", opcode_rounding(w));
	close_all(w, open);
	opcode_close(w, 0, to);
}

/* Operand n, rounded to the type `to`. */
static void put_real_as(struct opcode_work *w, uint32_t n, struct opcode_type to, struct opcode_type from)
{
	const char *round = to_integer(w), *mode = opcode_rounding(w);
	uint32_t open = open_finish(w, to), have = from.kind == 'f' && from.bits == 64 ? 64 : 32;
	bool same = to.kind == 'f' && to.bits == have;
	bool plain = to.kind == 'f' && to.bits >= 32 && (to.bits > have || !strcmp(mode, "GS_RN"));
	if (!same && plain)
		opcode_put(w, "(%s)", opcode_c_type(to));
	else if (!same)
		opcode_put(w, "gs_%s_of_f%u(", to.name, have);
	opcode_put(w, round ? "%s(" : "(", round);
	put_as_real(w, n, from);
	opcode_put(w, ")");
	if (!same && !plain)
		opcode_put(w, ", %s)", mode);
	close_all(w, open);
}

static void reals(struct opcode_work *w, struct opcode_type to, struct opcode_type from)
{
	opcode_open(w, 0, to.kind == 't' ? opcode_type_of("b32") : to);
	put_real_as(w, 0, to, from);
	opcode_close(w, 0, to.kind == 't' ? opcode_type_of("b32") : to);
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half. */
static void pair(struct opcode_work *w, struct opcode_type to, struct opcode_type from)
{
	struct opcode_type each = opcode_type_of(to.kind == 'g' ? "bf16" : "f16");
	if (opcode_sources(w) != 2 || from.kind != 'f' || from.bits != 32) {
		opcode_refuse(w, "it is not known for %s", from.name);
		return;
	}
	opcode_open(w, 0, to);
	opcode_put(w, "gs_pair(");
	put_real_as(w, 1, each, from);
	opcode_put(w, ", ");
	put_real_as(w, 0, each, from);
	opcode_put(w, ")");
	opcode_close(w, 0, to);
}

/* cvt.rn.satfinite.e4m3x2.f32 d, a, b; cvt.rn.satfinite.e4m3x2.f16x2 d, a; cvt.rn.f16x2.e4m3x2 d, a. */
static void bytes(struct opcode_work *w, struct opcode_type to, struct opcode_type from)
{
	const char *name = strchr("eE", to.kind) ? to.name : from.name, *relu = opcode_has(w, "relu") ? "1" : "0";
	bool halves = from.kind == 'f' && from.parts == 2 && from.bits == 32, floats = from.kind == 'f' && from.parts == 1 && from.bits == 32;
	if (to.kind == 'f' && to.parts == 2 && to.bits == 32 && opcode_sources(w) == 1) {
		opcode_open(w, 0, to);
		opcode_put(w, "%sgs_f16x2_of_%s(", *relu == '1' ? "gs_relu_f16x2(" : "", name);
		opcode_put_operand(w, opcode_source(w, 0), opcode_type_of("b16"));
		opcode_put(w, *relu == '1' ? "))" : ")");
	} else if (strchr("eE", to.kind) && halves && opcode_sources(w) == 1) {
		opcode_open(w, 0, opcode_type_of("b16"));
		opcode_put(w, "gs_%s_of_f16x2(", name);
		opcode_put_operand(w, opcode_source(w, 0), from);
		opcode_put(w, ", %s)", relu);
	} else if (strchr("eE", to.kind) && floats && opcode_sources(w) == 2) {
		opcode_open(w, 0, opcode_type_of("b16"));
		opcode_put(w, "gs_%s_of_f32(", name);
		opcode_put_operand(w, opcode_source(w, 1), from);
		opcode_put(w, ", ");
		opcode_put_operand(w, opcode_source(w, 0), from);
		opcode_put(w, ", %s)", relu);
	} else {
		opcode_refuse(w, "it is not known for these types");
		return;
	}
	opcode_close(w, 0, to.kind == 'f' ? to : opcode_type_of("b16"));
}

void opcode_write_cvt(struct opcode_work *w)
{
	if (w->type_count != 2 || w->results != 1) {
		opcode_refuse(w, "its types are not known");
		return;
	}
	struct opcode_type to = w->types[0], from = w->types[1];
	if ((opcode_has(w, "relu") && to.bits == 64) || (opcode_has(w, "satfinite") && to.kind != 't' && to.bits != 16)) {
		opcode_refuse(w, "its modifiers are not known for %s", to.name);
		return;
	}
	if (strchr("eE", to.kind) || strchr("eE", from.kind)) {
		bytes(w, to, from);
		return;
	}
	bool packed = to.parts == 2 && (to.kind == 'f' || to.kind == 'g') && to.bits == 32;
	bool real = from.parts == 1 && strchr("fg", from.kind), makes_real = to.parts == 1 && strchr("fgt", to.kind);
	if (packed)
		pair(w, to, from);
	else if (is_integer(to) && is_integer(from))
		integers(w, to, from);
	else if (is_integer(to) && real)
		real_to_integer(w, to, from);
	else if (makes_real && is_integer(from))
		integer_to_real(w, to, from);
	else if (makes_real && real)
		reals(w, to, from);
	else
		opcode_refuse(w, "it is not known for these types");
}

/* cvt.pack.sat.u8.s32.b32 d, a, b, c: a and b are clamped and joined; what is left of d is from c. */
void opcode_write_cvt_pack(struct opcode_work *w)
{
	struct opcode_type to = w->types[0], b32 = opcode_type_of("b32");
	bool third = w->type_count == 3;
	if (w->type_count < 2 || !is_integer(to) || to.bits > 16 || (to.bits == 16) == third) {
		opcode_refuse(w, "its types are not known");
		return;
	}
	const char *c = opcode_c_type(to), *bits = to.bits == 8 ? "uchar" : "ushort";
	struct opcode_type from = w->types[1];
	opcode_open(w, 0, b32);
	for (uint32_t i = 0; i < 2; i++) {
		opcode_put(w, "(uint)(%s)convert_%s_sat(", bits, c);
		opcode_put_operand(w, opcode_source(w, i), from);
		opcode_put(w, i ? ")" : ") << %u | ", to.bits);
	}
	if (third) {
		opcode_put(w, " | ");
		opcode_put_operand(w, opcode_source(w, 2), b32);
		opcode_put(w, " << 16");
	}
	opcode_close(w, 0, b32);
}
