/*
 * Video instructions: arithmetic on bytes and halves of registers, which operands name as in %r1.b3 and %r1.h0.
 *
 * Everything is computed in 64 bits, then clamped if asked, then merged into a third operand or combined with it, as the manual says. GPUs
 * of today, which have no such instructions, clamp unsigned sums that overflow to 0.
 */
#include "annotator/opcodes/opcode.h"

#include <stdio.h>
#include <string.h>

static const char *const compares[] = {"eq", "ne", "lt", "le", "gt", "ge", NULL};
static const char *const compare_signs[] = {"==", "!=", "<", "<=", ">", ">="};

/* A part of 32 bits: how many bits, and from which on. Without a name it is all of them. */
struct video_part {
	uint32_t bits, first;
};

static struct video_part part_of(struct opcode_work *w, const struct ptx_operand *o)
{
	const char *text = o ? o->text : NULL;
	if (!o || o->kind != PTX_REGISTER || !text)
		return (struct video_part){32, 0};
	uint32_t bits = text[1] == 'b' ? 8 : 16, n = (uint32_t)(text[2] - '0');
	if (strlen(text) != 3 || !strchr("bh", text[1]) || n >= 32 / bits)
		opcode_refuse(w, "%s is not a part of a register", text);
	return (struct video_part){bits, n * bits};
}

/* A part of a 32-bit expression as a long. */
static void put_part(struct opcode_work *w, const struct ptx_operand *o, struct video_part p, bool is_signed)
{
	struct opcode_type t = {.kind = is_signed ? 's' : 'u', .bits = (uint8_t)p.bits, .parts = 1};
	struct ptx_operand plain = *o;
	plain.negated = false;
	opcode_put(w, "(long)(%s)(", opcode_c_type(t));
	opcode_put_operand(w, &plain, opcode_type_of("u32"));
	opcode_put(w, " >> %u)", p.first);
}

static void put_clamped(struct opcode_work *w, const char *name, uint32_t bits, bool is_signed)
{
	unsigned long long most = is_signed ? (1ull << (bits - 1)) - 1 : (1ull << bits) - 1;
	opcode_put(w, "%s = clamp(%s, %lldl, %lldl);\n", name, name, is_signed ? -(long long)most - 1 : 0ll, (long long)most);
}

/* gs_r = gs_x OP gs_y. `name` begins after the v. */
static void put_operation(struct opcode_work *w, const char *name)
{
	bool saturate = opcode_has(w, "sat");
	int compare = opcode_which(w, compares);
	opcode_put(w, "long gs_r = ");
	if (!strncmp(name, "add", 3))
		opcode_put(w, "gs_x + gs_y");
	else if (!strncmp(name, "sub", 3))
		opcode_put(w, "gs_x - gs_y");
	else if (!strncmp(name, "absdiff", 7))
		opcode_put(w, "gs_x < gs_y ? gs_y - gs_x : gs_x - gs_y");
	else if (!strncmp(name, "avrg", 4))
		opcode_put(w, "(gs_x + gs_y + (gs_x + gs_y >= 0)) >> 1");
	else if (!strncmp(name, "min", 3) || !strncmp(name, "max", 3))
		opcode_put(w, "%.3s(gs_x, gs_y)", name);
	else if (!strcmp(name, "shl"))
		opcode_put(w, "gs_vshl(gs_x, %s, %u)", opcode_has(w, "wrap") ? "gs_y & 31" : "min(gs_y, 32l)", saturate);
	else if (!strcmp(name, "shr"))
		opcode_put(w, "gs_x >> %s", opcode_has(w, "wrap") ? "(gs_y & 31)" : "min(gs_y, 32l)");
	else if (!strncmp(name, "set", 3) && compare >= 0)
		opcode_put(w, "gs_x %s gs_y", compare_signs[compare]);
	else
		opcode_refuse(w, "the operation is not known");
	opcode_put(w, ";\n");
}

static bool check_types(struct opcode_work *w, uint32_t count)
{
	for (uint32_t i = 0; i < w->type_count; i++)
		if (w->types[i].bits != 32 || w->types[i].parts != 1)
			opcode_refuse(w, "its types are not known");
	if (w->type_count != count || w->results != 1)
		opcode_refuse(w, "its types are not known");
	return !w->rc;
}

/* d = c, with the result in one of its parts; or the result combined with c. */
static void finish(struct opcode_work *w, struct video_part d, bool is_signed)
{
	static const char *const seconds[] = {"add", "min", "max", NULL};
	int second = opcode_which(w, seconds);
	char text[160];
	if (opcode_sources(w) < 3) {
		opcode_assign(w, 0, opcode_type_of("u32"), "(uint)gs_r");
		return;
	}
	if (second < 0) {
		unsigned mask = (d.bits == 8 ? 0xffu : d.bits == 16 ? 0xffffu : ~0u) << d.first;
		snprintf(text, sizeof text, "((uint)gs_r << %u & %#xu) | ($c:u32 & ~%#xu)", d.first, mask, mask);
	} else if (second == 0) {
		snprintf(text, sizeof text, "(uint)gs_r + $c:u32");
	} else {
		const char *c = is_signed ? "int" : "uint";
		snprintf(text, sizeof text, "%s((%s)gs_r, (%s)$c:u32)", seconds[second], c, c);
	}
	opcode_assign(w, 0, opcode_type_of("u32"), text);
}

/* vmad.u32.u32.u32.sat.shr7 d, a, b, c: a * b + c, with a sign for each, or one more. */
static void write_vmad(struct opcode_work *w)
{
	const struct ptx_operand *a = opcode_source(w, 0), *b = opcode_source(w, 1), *c = opcode_source(w, 2);
	if (!a || !b || !c)
		return;
	bool product = a->negated != b->negated, unsigned_product = w->types[1].kind != 's' && w->types[2].kind != 's';
	bool is_signed = !unsigned_product || product || c->negated;
	struct ptx_operand plain = *c;
	plain.negated = false;
	if (unsigned_product && is_signed && opcode_has(w, "sat")) {
		opcode_refuse(w, "a difference of unsigned numbers is not lifted");
		return;
	}
	opcode_put(w, "{ ulong gs_r = (ulong)(");
	put_part(w, a, part_of(w, a), w->types[1].kind == 's');
	opcode_put(w, ") * (ulong)(");
	put_part(w, b, part_of(w, b), w->types[2].kind == 's');
	opcode_put(w, "), gs_c = (ulong)(long)(%s)", is_signed ? "int" : "uint");
	opcode_put_operand(w, &plain, opcode_type_of("u32"));
	opcode_put(w, ";\n");
	if (opcode_has(w, "po"))
		opcode_put(w, "gs_r += gs_c + 1;\n");
	else
		opcode_put(w, "gs_r = %sgs_r %c gs_c;\n", product ? "0 - " : "", c->negated && !product ? '-' : '+');
	const char *shift = opcode_has(w, "shr7") ? "7" : opcode_has(w, "shr15") ? "15" : "0";
	opcode_put(w, "gs_r = (ulong)((%s)gs_r >> %s);\n", is_signed ? "long" : "ulong", shift);
	if (opcode_has(w, "sat"))
		opcode_put(w, is_signed ? "gs_r = (ulong)clamp((long)gs_r, -2147483648l, 2147483647l);\n" : "gs_r = min(gs_r, 4294967295ul);\n");
	opcode_assign(w, 0, opcode_type_of("u32"), "(uint)gs_r");
	opcode_put(w, "}\n");
}

void opcode_write_video(struct opcode_work *w)
{
	const char *name = w->words[0] + 1;
	bool set = !strcmp(name, "set");
	if (!check_types(w, set ? 2 : 3))
		return;
	if (!strcmp(name, "mad")) {
		write_vmad(w);
		return;
	}
	const struct ptx_operand *a = opcode_source(w, 0), *b = opcode_source(w, 1);
	if (!a || !b)
		return;
	struct video_part d = part_of(w, &w->i->operands[0]);
	bool is_signed = !set && w->types[0].kind == 's';
	opcode_put(w, "{ long gs_x = ");
	put_part(w, a, part_of(w, a), w->types[set ? 0 : 1].kind == 's');
	opcode_put(w, ", gs_y = ");
	put_part(w, b, part_of(w, b), w->types[set ? 1 : 2].kind == 's');
	opcode_put(w, ";\n");
	put_operation(w, name);
	if (opcode_has(w, "sat"))
		put_clamped(w, "gs_r", d.bits, is_signed);
	finish(w, d, is_signed);
	opcode_put(w, "}\n");
}

/* The number that an operand's name gives for part i (the last digit is that of part 0), or `otherwise`. */
static uint32_t choice(struct opcode_work *w, const struct ptx_operand *o, uint32_t i, uint32_t parts, uint32_t otherwise)
{
	if (o->kind != PTX_REGISTER || !o->text)
		return otherwise;
	size_t length = strlen(o->text);
	uint32_t digit = length == parts + 2 ? (uint32_t)(o->text[length - 1 - i] - '0') : UINT32_MAX;
	if (digit < 2 * parts && o->text[1] == (parts == 2 ? 'h' : 'b'))
		return digit;
	opcode_refuse(w, "%s does not choose parts", o->text);
	return 0;
}

/* Whether the result has part i. */
static bool is_masked(const struct ptx_operand *o, uint32_t i)
{
	return o->kind != PTX_REGISTER || !o->text || strchr(o->text + 2, (char)('0' + i));
}

static void put_choice(struct opcode_work *w, uint32_t which, uint32_t parts, bool is_signed)
{
	uint32_t bits = 32 / parts;
	put_part(w, opcode_source(w, which / parts), (struct video_part){bits, which % parts * bits}, is_signed);
}

void opcode_write_video_parts(struct opcode_work *w)
{
	const char *name = w->words[0] + 1;
	uint32_t parts = name[strlen(name) - 1] == '2' ? 2 : 4, bits = 32 / parts, mask = bits == 8 ? 0xffu : 0xffffu;
	bool set = !strncmp(name, "set", 3), sum = opcode_has(w, "add");
	if (!check_types(w, set ? 2 : 3))
		return;
	const struct ptx_operand *a = opcode_source(w, 0), *b = opcode_source(w, 1);
	if (!a || !b || !opcode_source(w, 2))
		return;
	bool is_signed = !set && w->types[0].kind == 's';
	opcode_put(w, "{ uint gs_d = ");
	opcode_expand(w, "$c:u32;\n");
	for (uint32_t i = 0; i < parts; i++) {
		if (!is_masked(&w->i->operands[0], i))
			continue;
		opcode_put(w, "{ long gs_x = ");
		put_choice(w, choice(w, a, i, parts, i), parts, w->types[set ? 0 : 1].kind == 's');
		opcode_put(w, ", gs_y = ");
		put_choice(w, choice(w, b, i, parts, i + parts), parts, w->types[set ? 1 : 2].kind == 's');
		opcode_put(w, ";\n");
		put_operation(w, name);
		if (opcode_has(w, "sat"))
			put_clamped(w, "gs_r", bits, is_signed);
		if (sum)
			opcode_put(w, "gs_d += (uint)gs_r; }\n");
		else
			opcode_put(w, "gs_d = (gs_d & ~%#xu) | ((uint)gs_r & %#xu) << %u; }\n", mask << i * bits, mask, i * bits);
	}
	opcode_assign(w, 0, opcode_type_of("u32"), "gs_d");
	opcode_put(w, "}\n");
}
