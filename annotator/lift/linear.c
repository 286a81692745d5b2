/*
 * Which registers grow by the same number from lane to lane.
 *
 * In most blocks the threads of a warp follow each other in x, in rows of 32 or at least 16 lanes: such a warp is straight. In a row %tid.x
 * is linear with stride 1, and so is what is computed from it by additions and multiplications with constants: addresses of neighbouring
 * elements. Loops over the lanes of a straight warp can then load and store vectors (straight.c), where others gather and scatter.
 *
 * Numbers of 32 bits wrap. One that is extended to 64 bits is linear only if it does not wrap between the first and the last lane of a row. The
 * text checks that. A warp in which it is not so is not straight from there on.
 */
#include "annotator/lift/linear.h"

#include "annotator/lift/internal.h"

#include <stdlib.h>
#include <string.h>

enum { MOST_STRIDE = 1 << 20, MOST_SOURCES = 3 };

/* What is known of a value. */
struct spread {
	enum register_spread kind;
	int64_t stride;
};

static const struct spread varying = {SPREAD_VARYING, 0}, unknown = {SPREAD_UNKNOWN, 0};

static struct spread linear(int64_t stride)
{
	return stride > MOST_STRIDE || stride < -MOST_STRIDE ? varying : (struct spread){SPREAD_LINEAR, stride};
}

static struct spread spread_of(const struct planned_function *f, const struct ptx_operand *o)
{
	switch (o->kind) {
	case PTX_IMMEDIATE:
	case PTX_SYMBOL: return linear(0);
	case PTX_SPECIAL:
		if (!strcmp(o->text, "%tid.x") || !strcmp(o->text, "%laneid"))
			return linear(1);
		return !strcmp(o->text, "%tid.y") || !strcmp(o->text, "%tid.z") || special_is_uniform(o->text) ? linear(0) : varying;
	case PTX_REGISTER:
	case PTX_ADDRESS:
		if (o->reg < 0 || f->registers[o->reg].uniform)
			return linear(0);
		return o->text && o->kind == PTX_REGISTER ? varying
		                                          : (struct spread){f->registers[o->reg].spread, f->registers[o->reg].stride};
	default: return varying;
	}
}

/* ---- one instruction ---- */

struct linear_work {
	const struct planned_function *f;
	const struct ptx_instruction *i;
	const struct ptx_operand *result, *sources[MOST_SOURCES];
	struct spread spreads[MOST_SOURCES];
	uint32_t count;
};

static bool begins_with(const char *opcode, const char *word)
{
	return !strncmp(opcode, word, strlen(word));
}

/* Bits of the last type of an opcode, if it is one of integers; 0: it is another. */
static uint32_t type_bits(const char *opcode)
{
	const char *last = strrchr(opcode, '.');
	if (!last || !strchr("usb", last[1]))
		return 0;
	unsigned long bits = strtoul(last + 2, NULL, 10);
	return bits == 32 || bits == 64 ? (uint32_t)bits : 0;
}

static bool has_bits(const struct linear_work *w, const struct ptx_operand *o, uint32_t bits)
{
	return o->kind != PTX_REGISTER || (w->f->function->registers[o->reg].bits == bits && !o->negated);
}

/* a * b, where one of them is a constant. */
static struct spread product(const struct linear_work *w)
{
	for (uint32_t k = 0; k < 2; k++)
		if (w->sources[k]->kind == PTX_IMMEDIATE && w->sources[k]->value < MOST_STRIDE && w->sources[k]->value > -MOST_STRIDE)
			return linear(w->spreads[1 - k].stride * w->sources[k]->value);
	return w->spreads[0].stride || w->spreads[1].stride ? varying : linear(0);
}

static struct spread product_and_sum(const struct linear_work *w)
{
	struct spread p = product(w);
	return p.kind == SPREAD_LINEAR && w->count == 3 ? linear(p.stride + w->spreads[2].stride) : p;
}

static struct spread shifted(const struct linear_work *w)
{
	bool constant = w->sources[1]->kind == PTX_IMMEDIATE && w->sources[1]->value >= 0 && w->sources[1]->value < 20;
	return constant ? linear(w->spreads[0].stride * (INT64_C(1) << w->sources[1]->value)) : varying;
}

/* Conversions between integers of 32 and 64 bits. */
static struct spread converted(const struct linear_work *w, uint32_t from)
{
	char to[4] = {0};
	memcpy(to, w->i->opcode + 4, 3);
	bool fits = strchr("us", *to) && (!strcmp(to + 1, "32") || !strcmp(to + 1, "64")) && strlen(w->i->opcode) == 11;
	return fits && from && has_bits(w, w->sources[0], from) ? w->spreads[0] : varying;
}

static struct spread computed(const struct linear_work *w)
{
	const char *o = w->i->opcode;
	uint32_t bits = type_bits(o), result = w->f->function->registers[w->result->reg].bits;
	bool wide = has_word(o, "wide");
	if (begins_with(o, "cvt."))
		return w->count == 1 ? converted(w, bits) : varying;
	if (!bits || has_word(o, "sat") || has_word(o, "hi") || result != (wide ? 64 : bits))
		return varying;
	for (uint32_t k = 0; k < w->count; k++)
		if (!has_bits(w, w->sources[k], wide && k == 2 ? 64 : begins_with(o, "shl.") && k == 1 ? 32 : bits))
			return varying;
	if (w->count == 1 && (begins_with(o, "mov.") || begins_with(o, "cvta.")))
		return w->spreads[0];
	if (w->count == 2 && begins_with(o, "add."))
		return linear(w->spreads[0].stride + w->spreads[1].stride);
	if (w->count == 2 && begins_with(o, "sub."))
		return linear(w->spreads[0].stride - w->spreads[1].stride);
	if (w->count == 2 && begins_with(o, "shl."))
		return shifted(w);
	if ((w->count == 2 && begins_with(o, "mul.")) || (w->count == 3 && begins_with(o, "mad.")))
		return product_and_sum(w);
	return varying;
}

static struct spread spread_of_result(const struct planned_function *f, const struct ptx_instruction *i)
{
	struct linear_work w = {.f = f, .i = i};
	bool constant = true;
	if (i->guard >= 0 || !computes_alike(f, i))
		return varying;
	for (uint32_t o = 0; o < i->operand_count; o++) {
		const struct ptx_operand *own = &i->operands[o];
		struct spread s = own->write ? linear(0) : spread_of(f, own);
		if ((own->write && (w.result || own->kind != PTX_REGISTER)) || s.kind == SPREAD_VARYING || (!own->write && w.count == MOST_SOURCES))
			return varying;
		if (s.kind == SPREAD_UNKNOWN)
			return unknown;
		constant &= !s.stride;
		if (own->write) {
			w.result = own;
			continue;
		}
		w.sources[w.count] = own;
		w.spreads[w.count++] = s;
	}
	if (!w.result || f->function->registers[w.result->reg].bits > 64)
		return varying;
	return constant ? linear(0) : computed(&w);
}

/* ---- all of them ---- */

static bool note_result(struct planned_function *f, int32_t reg, struct spread s)
{
	struct planned_register *r = &f->registers[reg];
	if (r->uniform || s.kind == SPREAD_UNKNOWN || r->spread == SPREAD_VARYING)
		return false;
	if (r->parted || (r->spread == SPREAD_LINEAR && (s.kind != SPREAD_LINEAR || s.stride != r->stride)))
		s = varying;
	bool changed = r->spread != s.kind;
	r->spread = s.kind;
	r->stride = s.stride;
	return changed;
}

void plan_linear(struct planned_function *f)
{
	for (bool changed = !f->apart; changed;) {
		changed = false;
		for (uint32_t i = 0; i < f->function->instruction_count; i++) {
			const struct ptx_instruction *in = &f->function->instructions[i];
			struct spread s = spread_of_result(f, in);
			for (uint32_t o = 0; o < in->operand_count; o++)
				if (in->operands[o].write && in->operands[o].reg >= 0)
					changed |= note_result(f, in->operands[o].reg, s);
		}
	}
}

/* ---- what the text asks ---- */

int32_t linear_result(const struct planned_function *f, const struct ptx_instruction *i)
{
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].write && i->operands[o].reg >= 0)
			return f->registers[i->operands[o].reg].spread == SPREAD_LINEAR ? i->operands[o].reg : -1;
	return -1;
}

const struct ptx_operand *extended_operand(const struct planned_function *f, const struct ptx_instruction *i, bool *is_signed)
{
	const char *last = strrchr(i->opcode, '.');
	bool extends = has_word(i->opcode, "wide") || begins_with(i->opcode, "cvt.");
	for (uint32_t o = 0; o < i->operand_count && extends; o++) {
		const struct ptx_operand *own = &i->operands[o];
		if (own->write || own->kind == PTX_IMMEDIATE || !spread_of(f, own).stride)
			continue;
		if (own->kind == PTX_REGISTER && f->function->registers[own->reg].bits > 32)
			continue;
		*is_signed = last && last[1] == 's';
		return own;
	}
	return NULL;
}

static uint32_t element_bytes(const struct ptx_instruction *i)
{
	const char *last = strrchr(i->opcode, '.');
	unsigned long bits = last && last[1] ? strtoul(last + 2, NULL, 10) : 0;
	return bits == 8 || bits == 16 || bits == 32 || bits == 64 ? (uint32_t)bits / 8 : 0;
}

const struct ptx_operand *linear_address(const struct planned_function *f, const struct ptx_instruction *i, int64_t *stride)
{
	uint32_t bytes = element_bytes(i);
	bool load = begins_with(i->opcode, "ld."), store = begins_with(i->opcode, "st.");
	if ((!load && !store) || !bytes || lift_kind(i) != LIFT_LANE || i->space == SPACE_local || i->space == SPACE_param || has_word(i->opcode, "shared::cluster"))
		return NULL;
	for (uint32_t o = 0; o < i->operand_count; o++) {
		if (i->operands[o].kind != PTX_ADDRESS)
			continue;
		struct spread s = spread_of(f, &i->operands[o]);
		*stride = s.stride;
		return s.kind != SPREAD_LINEAR || s.stride % bytes || (store && !s.stride) ? NULL : &i->operands[o];
	}
	return NULL;
}
