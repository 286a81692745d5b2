/*
 * Memory: addresses, loads and stores, mov, and conversions between spaces.
 *
 * Every access goes through types that may alias (prelude_memory.cl), because PTX has no types in memory.
 */
#include "annotator/opcodes/opcode.h"

#include <stdio.h>
#include <string.h>

/* A .param variable of a function or of a call. Such memory is named by its address, other local memory by its offset. */
static bool is_parameter(const struct opcode_work *w, const char *name)
{
	const struct ptx_function *f = w->scope->function;
	for (uint32_t i = 0; i < f->variable_count; i++)
		if (f->variables[i].space == SPACE_param && !strcmp(f->variables[i].name, name))
			return true;
	return false;
}

void opcode_put_symbol(struct opcode_work *w, const char *name, int64_t offset)
{
	struct lift_place place;
	if (!w->scope->find(w->scope, name, &place)) {
		opcode_refuse(w, "%s is not known", name);
		return;
	}
	unsigned long long at = place.offset + (unsigned long long)offset;
	switch (place.kind) {
	case LIFT_PARAMETER: opcode_put(w, "(GS_PARAMETERS + %lluul)", at); break;
	case LIFT_VARIABLE: opcode_put(w, "(GS_VARIABLES + %lluul)", at); break;
	case LIFT_LOCAL: opcode_put(w, is_parameter(w, name) ? "(GS_LOCAL + %lluul)" : "%lluul", at); break;
	case LIFT_SHARED:
	case LIFT_FUNCTION: opcode_put(w, "%lluul", at); break;
	}
}

/* The offset in a space, or the address. Arithmetic of 32-bit registers wraps. */
void opcode_put_place(struct opcode_work *w, const struct ptx_operand *o, uint8_t space)
{
	(void)space;
	if (o->reg >= 0) {
		const struct ptx_register *r = &w->scope->function->registers[o->reg];
		struct ptx_operand reg = {.kind = PTX_REGISTER, .reg = o->reg, .label = -1};
		bool narrow = r->bits <= 32;
		opcode_put(w, narrow ? "(ulong)(" : "(");
		opcode_put_operand(w, &reg, opcode_type_of(narrow ? "u32" : "u64"));
		if (o->value && narrow)
			opcode_put(w, " + %#xu)", (uint32_t)o->value);
		else if (o->value)
			opcode_put(w, " + %#llxul)", (unsigned long long)o->value);
		else
			opcode_put(w, ")");
	} else if (o->text) {
		opcode_put_symbol(w, o->text, o->value);
	} else {
		opcode_put(w, "%#llxul", (unsigned long long)o->value);
	}
}

void opcode_put_address(struct opcode_work *w, const struct ptx_operand *o, uint8_t space)
{
	bool cluster = space == SPACE_shared && opcode_has(w, "shared::cluster");
	opcode_put(w, cluster ? "GS_SHARED + (long)(int)(" : space == SPACE_shared ? "GS_SHARED + " : space == SPACE_local ? "GS_LOCAL + " : "");
	opcode_put_place(w, o, space);
	opcode_put(w, cluster ? ")" : "");
}

/* The first address of an instruction, and the operand after it. */
static uint32_t find_address(struct opcode_work *w)
{
	for (uint32_t i = 0; i < w->i->operand_count; i++)
		if (w->i->operands[i].kind == PTX_ADDRESS)
			return i;
	opcode_refuse(w, "it has no address");
	return 0;
}

static bool is_volatile(const struct opcode_work *w)
{
	static const char *const words[] = {"volatile", "relaxed", "acquire", "release", "mmio", NULL};
	return opcode_which(w, words) >= 0;
}

static uint32_t elements_of(const struct opcode_work *w)
{
	return opcode_has(w, "v2") ? 2 : opcode_has(w, "v4") ? 4 : opcode_has(w, "v8") ? 8 : 1;
}

static bool check_access(struct opcode_work *w, uint32_t elements, uint32_t operands)
{
	if (!w->type_count || w->type.bits < 8)
		opcode_refuse(w, "it has no type");
	else if (operands < elements)
		opcode_refuse(w, "its vector has another number of elements");
	return !w->rc;
}

void opcode_put_check(struct opcode_work *w)
{
	uint32_t bits = w->scope->checks ? lift_low_bits(w->i) : 0;
	if (bits)
		opcode_put(w, "bad |= (uint)gs_a & %uu;\n", bits);
}

/* Begins a block in which put_access() knows the address. */
static void open_access(struct opcode_work *w, const struct ptx_operand *address)
{
	opcode_put(w, "{ ");
	if (w->scope->straight)
		return;
	opcode_put(w, "ulong gs_a = ");
	opcode_put_address(w, address, w->i->space);
	opcode_put(w, ";\n");
	opcode_put_check(w);
}

static void put_access(struct opcode_work *w, uint32_t bits, uint32_t offset, bool ordered)
{
	if (w->scope->straight && w->scope->stride) {
		opcode_put(w, "((__global gs_m%u *)(a%u + %uul))[(long)n * %ld]", bits, w->scope->first, offset, (long)(w->scope->stride / (int64_t)(bits / 8)));
		return;
	}
	if (w->scope->straight) {
		opcode_put(w, "*(__global gs_m%u *)(a%u + %uul)", bits, w->scope->first, offset);
		return;
	}
	opcode_put(w, "*(%s__global gs_m%u *)(gs_a + %uul)", ordered ? "volatile " : "", bits, offset);
}

void opcode_put_load(struct opcode_work *w, struct opcode_type t, uint32_t n, bool ordered)
{
	uint32_t bytes = t.bits / 8u;
	if (t.bits == 128) {
		opcode_put(w, "(ulong2)(");
		put_access(w, 64, n * 16, ordered);
		opcode_put(w, ", ");
		put_access(w, 64, n * 16 + 8, ordered);
		opcode_put(w, ")");
		return;
	}
	bool real = t.kind == 'f' && t.parts == 1 && t.bits >= 32;
	opcode_put(w, real ? (t.bits == 32 ? "as_float(" : "as_double(") : "");
	put_access(w, t.bits, n * bytes, ordered);
	opcode_put(w, real ? ")" : "");
}

void opcode_write_load(struct opcode_work *w)
{
	uint32_t elements = elements_of(w), at = find_address(w);
	if (w->rc || !check_access(w, elements, w->results))
		return;
	open_access(w, &w->i->operands[at]);
	for (uint32_t e = 0; e < elements; e++) {
		if (w->i->operands[e].kind == PTX_SPECIAL)
			continue;
		opcode_open(w, e, w->type);
		opcode_put_load(w, w->type, e, is_volatile(w));
		opcode_close(w, e, w->type);
	}
	opcode_put(w, "}\n");
}

static void put_store(struct opcode_work *w, const struct ptx_operand *o, struct opcode_type t, uint32_t n, bool ordered)
{
	struct opcode_type bits = opcode_type_as(t, 'b');
	if (t.bits == 128) {
		opcode_put(w, "{ ulong2 gs_v = ");
		opcode_put_operand(w, o, bits);
		opcode_put(w, "; ");
		put_access(w, 64, n * 16, ordered);
		opcode_put(w, " = gs_v.x; ");
		put_access(w, 64, n * 16 + 8, ordered);
		opcode_put(w, " = gs_v.y; }\n");
		return;
	}
	bool real = o->kind == PTX_IMMEDIATE && t.kind == 'f' && t.parts == 1 && t.bits >= 32;
	put_access(w, t.bits, n * (t.bits / 8u), ordered);
	opcode_put(w, real ? (t.bits == 32 ? " = as_uint(" : " = as_ulong(") : " = ");
	opcode_put_operand(w, o, real ? t : bits);
	opcode_put(w, real ? ");\n" : ";\n");
}

void opcode_write_store(struct opcode_work *w)
{
	uint32_t elements = elements_of(w), at = find_address(w);
	if (w->rc || !check_access(w, elements, w->i->operand_count - at - 1))
		return;
	open_access(w, &w->i->operands[at]);
	for (uint32_t e = 0; e < elements; e++)
		put_store(w, &w->i->operands[at + 1 + e], w->type, e, is_volatile(w));
	opcode_put(w, "}\n");
}

/* mov.b64 {a, b}, c and mov.b64 d, {a, b}: the first is the lowest. */
static void write_parts(struct opcode_work *w)
{
	uint32_t sources = opcode_sources(w), parts = w->results > 1 ? w->results : sources;
	struct opcode_type all = opcode_type_as(w->type, 'b'), part = all;
	part.bits = (uint8_t)(all.bits / parts);
	part = opcode_type_as(part, 'b');
	if ((w->results > 1 && sources > 1) || part.bits * parts != all.bits || part.bits < 8) {
		opcode_refuse(w, "its vectors are not known");
		return;
	}
	opcode_put(w, "{ %s gs_x = ", opcode_c_type(all));
	if (w->results > 1) {
		opcode_put_operand(w, opcode_source(w, 0), all);
	} else if (all.bits == 128) {
		opcode_put(w, "(ulong2)(0, 0)");
	} else {
		for (uint32_t i = 0; i < parts; i++) {
			opcode_put(w, i ? " | (%s)" : "(%s)", opcode_c_type(all));
			opcode_put_operand(w, opcode_source(w, i), part);
			opcode_put(w, " << %u", i * part.bits);
		}
	}
	opcode_put(w, ";\n");
	for (uint32_t i = 0; i < parts && all.bits == 128 && w->results == 1; i++) {
		opcode_put(w, "gs_x.%c |= (ulong)", i * part.bits < 64 ? 'x' : 'y');
		opcode_put_operand(w, opcode_source(w, i), part);
		opcode_put(w, " << %u;\n", i * part.bits % 64);
	}
	for (uint32_t i = 0; i < w->results; i++) {
		char text[48];
		if (w->results == 1)
			snprintf(text, sizeof text, "gs_x");
		else if (all.bits == 128)
			snprintf(text, sizeof text, "gs_x.%c >> %u", i * part.bits < 64 ? 'x' : 'y', i * part.bits % 64);
		else
			snprintf(text, sizeof text, "gs_x >> %u", i * part.bits);
		opcode_assign(w, i, w->results == 1 ? all : part, text);
	}
	opcode_put(w, "}\n");
}

void opcode_write_mov(struct opcode_work *w)
{
	if (!w->type_count || !w->results)
		opcode_refuse(w, "it has no type or no result");
	else if (w->results > 1 || opcode_sources(w) > 1)
		write_parts(w);
	else
		opcode_assign(w, 0, w->type, "$a");
}

/* What a space adds to offsets to make them generic addresses. */
static const char *base_of(const struct opcode_work *w)
{
	return opcode_has(w, "shared") || opcode_has(w, "shared::cta") || opcode_has(w, "shared::cluster") ? "GS_SHARED" : opcode_has(w, "local") ? "GS_LOCAL" : NULL;
}

/* An address in the shared memory of another group of the cluster is so far away from the same one in this group's. */
void opcode_write_mapa(struct opcode_work *w)
{
	if (w->results != 1 || (w->type.bits != 64 && w->type.bits != 32))
		opcode_refuse(w, "its type is not known");
	else
		opcode_assign(w, 0, w->type, "$a:u64 + GS_TO_PEER($b:u32)");
}

void opcode_write_getctarank(struct opcode_work *w)
{
	bool offset = opcode_has(w, "shared::cluster") || opcode_has(w, "shared::cta");
	if (w->results != 1)
		opcode_refuse(w, "it has no result");
	else
		opcode_assign(w, 0, opcode_type_of("u32"), offset ? "GS_RANK_OF(GS_SHARED + (long)(int)($a:u32))" : "GS_RANK_OF($a:u64)");
}

/* Of a symbol, the offset in its space is meant, as in mov. */
void opcode_write_cvta(struct opcode_work *w)
{
	const char *base = base_of(w);
	char text[64];
	if (w->type.bits != 64 && w->type.bits != 32) {
		opcode_refuse(w, "its type is not known");
		return;
	}
	snprintf(text, sizeof text, base ? "$a:u64 %c %s" : "$a:u64", opcode_has(w, "to") ? '-' : '+', base);
	opcode_assign(w, 0, w->type, text);
}

/* Whether the address gs_a is one of the module's variables in constant memory. */
static void put_is_constant(struct opcode_work *w)
{
	const struct ptx_module *m = w->scope->module;
	struct lift_place place;
	opcode_put(w, "(0");
	for (uint32_t i = 0; i < m->variable_count; i++)
		if (m->variables[i].space == SPACE_const && w->scope->find(w->scope, m->variables[i].name, &place))
			opcode_put(w, " | (gs_a - (GS_VARIABLES + %lluul) < %lluul)", (unsigned long long)place.offset,
				   (unsigned long long)m->variables[i].bytes);
	opcode_put(w, ")");
}

/* Whether it is in the parameters of the kernel. */
static void put_is_parameter(struct opcode_work *w)
{
	const struct ptx_function *f = w->scope->function;
	struct lift_place place;
	opcode_put(w, "(0");
	for (uint32_t i = 0; i < f->parameter_count && f->entry; i++)
		if (w->scope->find(w->scope, f->variables[i].name, &place))
			opcode_put(w, " | (gs_a - (GS_PARAMETERS + %lluul) < %lluul)", (unsigned long long)place.offset,
				   (unsigned long long)f->variables[i].bytes);
	opcode_put(w, ")");
}

void opcode_write_isspacep(struct opcode_work *w)
{
	static const char *const spaces[] = {"global", "shared", "shared::cta", "shared::cluster", "local", "const", "param", "param::entry",
					     NULL};
	static const char *const texts[] = {"(gs_d | gs_l | gs_c | gs_p) ^ 1u", "gs_s", "gs_s", "gs_d", "gs_l", "gs_c", "gs_p", "gs_p"};
	int space = opcode_which(w, spaces);
	if (space < 0 || w->results != 1) {
		opcode_refuse(w, "the space is not known");
		return;
	}
	opcode_put(w, "{ ulong gs_a = ");
	opcode_expand(w, "$a:u64;\nuint gs_s = gs_a - GS_SHARED < GS_SHARED_BYTES, gs_d = GS_IN_CLUSTER(gs_a), gs_l = gs_a - GS_LOCAL < GS_LOCAL_BYTES, gs_c = ");
	put_is_constant(w);
	opcode_put(w, ", gs_p = ");
	put_is_parameter(w);
	opcode_put(w, ";\n");
	opcode_assign(w, 0, opcode_type_of("pred"), texts[space]);
	opcode_put(w, "}\n");
}

/* cp.async: copies at once. Bytes after the source's size, if one is given, are 0. */
void opcode_write_copy(struct opcode_work *w)
{
	const struct ptx_operand *o = w->i->operands;
	uint32_t count = w->i->operand_count;
	if (count < 3 || o[0].kind != PTX_ADDRESS || o[1].kind != PTX_ADDRESS || o[2].kind != PTX_IMMEDIATE || o[2].value < 4 ||
	    o[2].value > 16) {
		opcode_refuse(w, "its operands are not known");
		return;
	}
	bool hint = opcode_has(w, "L2::cache_hint");
	uint32_t bytes = (uint32_t)o[2].value;
	opcode_put(w, "{ ulong gs_d = ");
	opcode_put_address(w, &o[0], SPACE_shared);
	opcode_put(w, ", gs_a = ");
	opcode_put_address(w, &o[1], SPACE_global);
	opcode_put(w, "; uint gs_n = ");
	if (count < 4u + hint) {
		opcode_put(w, "%uu", bytes);
	} else if (o[3].kind == PTX_REGISTER && w->scope->function->registers[o[3].reg].bits == 1) { /* ignore-src */
		opcode_put_operand(w, &o[3], opcode_type_of("pred"));
		opcode_put(w, " ? 0 : %uu", bytes);
	} else {
		opcode_put_operand(w, &o[3], opcode_type_of("u32"));
	}
	opcode_put(w, ";\nfor (uint gs_i = 0; gs_i < %uu; gs_i += 4)\n", bytes);
	opcode_put(w, "\t*(__global gs_m32 *)(gs_d + gs_i) = gs_copied(gs_a, gs_i, gs_n);\n}\n");
}
