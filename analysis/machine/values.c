/*
 * Finds facts about a function's registers before machine instructions are chosen.
 *
 *   - The upper half of a 64-bit value is not needed if every reader drops it. Such readers are cvt.u32.u64, cvt.s64.s32, a shift by 32
 *     or more, addresses of shared and local memory (32 bits wide), and arithmetic whose own upper half is not needed.
 *   - The upper half is zero after cvt.u64.u32, and after and.b64 with a constant of 32 bits.
 *
 * Source: ptxas 13.0, sm_90: a 64-bit get_global_id that becomes an int is one IMAD; see machine.h.
 */
#include "analysis/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

bool machine_is(const struct ptx_instruction *i, const char *name)
{
	size_t length = strlen(name);
	return !strncmp(i->opcode, name, length) && (!i->opcode[length] || i->opcode[length] == '.');
}

bool machine_has_word(const struct ptx_instruction *i, const char *word)
{
	size_t length = strlen(word);
	for (const char *p = strchr(i->opcode, '.'); p; p = strchr(p + 1, '.'))
		if (!strncmp(p + 1, word, length) && (!p[1 + length] || p[1 + length] == '.'))
			return true;
	return false;
}

static const char *last_word(const struct ptx_instruction *i)
{
	const char *p = strrchr(i->opcode, '.');
	return p ? p + 1 : "";
}

unsigned machine_bits(const struct ptx_instruction *i)
{
	const char *type = last_word(i);
	if (!strcmp(type, "pred"))
		return 1;
	unsigned bits = *type ? (unsigned)strtoul(type + 1, NULL, 10) : 0;
	return bits ? bits : 32;
}

bool machine_is_real(const struct ptx_instruction *i)
{
	return *last_word(i) == 'f';
}

struct machine_types machine_conversion(const struct ptx_instruction *i)
{
	const char *to = i->opcode, *from = last_word(i);
	for (const char *p = strchr(i->opcode, '.'); p && p + 1 != from; p = strchr(p + 1, '.'))
		to = p + 1;
	return (struct machine_types){.to_bits = (unsigned)strtoul(to + 1, NULL, 10),
	                              .from_bits = (unsigned)strtoul(*from ? from + 1 : "", NULL, 10),
	                              .to_real = *to == 'f' || *to == 'b',
	                              .from_real = *from == 'f' || *from == 'b',
	                              .from_signed = *from == 's'};
}

const struct ptx_operand *machine_source(const struct ptx_instruction *i, uint32_t n)
{
	for (uint32_t k = 0; k < i->operand_count; k++)
		if (!i->operands[k].write && !n--)
			return &i->operands[k];
	return NULL;
}

int32_t machine_result(const struct ptx_instruction *i)
{
	for (uint32_t k = 0; k < i->operand_count; k++)
		if (i->operands[k].write && i->operands[k].kind == PTX_REGISTER)
			return i->operands[k].reg;
	return -1;
}

const struct ptx_instruction *machine_def(const struct machine_function *f, const struct ptx_operand *o)
{
	if (!o || o->kind != PTX_REGISTER || o->reg < 0 || f->values[o->reg].def < 0)
		return NULL;
	return &f->ptx->instructions[f->values[o->reg].def];
}

uint32_t machine_index(const struct machine_function *f, const struct ptx_instruction *i)
{
	return (uint32_t)(i - f->ptx->instructions);
}

static bool is_register(const struct machine_function *f, const struct ptx_operand *o)
{
	return (o->kind == PTX_REGISTER || o->kind == PTX_ADDRESS) && o->reg >= 0 &&
	       (uint32_t)o->reg < f->ptx->register_count;
}

/* Calls `visit` for every register operand and guard. */
static void each_register(struct machine_function *f, void (*visit)(struct machine_function *, uint32_t, int32_t, bool))
{
	for (uint32_t i = 0; i < f->ptx->instruction_count; i++) {
		const struct ptx_instruction *in = &f->ptx->instructions[i];
		for (uint32_t k = 0; k < in->operand_count; k++)
			if (is_register(f, &in->operands[k]))
				visit(f, i, in->operands[k].reg, in->operands[k].write);
		if (in->guard >= 0 && (uint32_t)in->guard < f->ptx->register_count)
			visit(f, i, in->guard, false);
	}
}

static void count(struct machine_function *f, uint32_t i, int32_t reg, bool write)
{
	struct machine_value *v = &f->values[reg];
	if (write)
		v->def = v->defs++ ? -1 : (int32_t)i;
	else
		v->uses++;
}

static void list(struct machine_function *f, uint32_t i, int32_t reg, bool write)
{
	struct machine_value *v = &f->values[reg];
	if (!write)
		f->use_list[v->first_use + v->uses++] = i;
}

static bool is_arithmetic(const struct ptx_instruction *i)
{
	static const char *const names[] = {"add", "sub", "and", "or", "xor", "not", "neg", "mov", "selp"};
	for (size_t k = 0; k < GS_ARRAY_LEN(names); k++)
		if (machine_is(i, names[k]))
			return !machine_is_real(i);
	return (machine_is(i, "mul") || machine_is(i, "mad")) && machine_has_word(i, "lo");
}

/* Whether a use needs the upper half of a 64-bit register. */
static bool needs_high(const struct machine_function *f, const struct ptx_instruction *i, int32_t reg)
{
	int32_t result = machine_result(i);
	const struct ptx_operand *second = machine_source(i, 1);
	bool result_needs = result >= 0 && !f->values[result].high_unused;
	if (i->space == SPACE_shared || i->space == SPACE_local)
		for (uint32_t k = 0; k < i->operand_count; k++)
			if (i->operands[k].kind == PTX_ADDRESS && i->operands[k].reg == reg)
				return false;
	if (machine_is(i, "cvt")) {
		struct machine_types t = machine_conversion(i);
		return t.from_bits == 64 && (t.to_bits == 64 || t.to_real);
	}
	if (machine_is(i, "shl") && second && second->kind == PTX_IMMEDIATE)
		return second->value < 32 && result_needs;
	return is_arithmetic(i) && result >= 0 && f->ptx->registers[result].bits == 64 ? result_needs : true;
}

/* Starts from the assumption that no upper half is needed. Corrects it for each reader that needs one, until nothing changes. */
static void find_unused_halves(struct machine_function *f)
{
	for (uint32_t r = 0; r < f->ptx->register_count; r++)
		f->values[r].high_unused = f->values[r].bits == 64;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t r = 0; r < f->ptx->register_count; r++) {
			struct machine_value *v = &f->values[r];
			for (uint32_t u = 0; u < v->uses && v->high_unused; u++)
				if (needs_high(f, &f->ptx->instructions[f->use_list[v->first_use + u]], (int32_t)r)) {
					v->high_unused = false;
					changed = true;
				}
		}
	}
}

static bool makes_zero_high(const struct ptx_instruction *i)
{
	const struct ptx_operand *second = machine_source(i, 1);
	bool small = second && second->kind == PTX_IMMEDIATE && (uint64_t)second->value <= UINT32_MAX;
	if (machine_is(i, "cvt")) {
		struct machine_types t = machine_conversion(i);
		return t.from_bits <= 32 && !t.from_signed && !t.from_real;
	}
	return machine_is(i, "and") && small;
}

static bool is_constant_bank(const struct ptx_instruction *i)
{
	const struct ptx_operand *source = machine_source(i, 0);
	if (i->class == CODE_load && i->space == SPACE_param)
		return true;
	return machine_is(i, "mov") && source && source->kind == PTX_SPECIAL &&
	       (!strncmp(source->text, "%ntid", 5) || !strncmp(source->text, "%nctaid", 7));
}

static void find_origins(struct machine_function *f)
{
	for (uint32_t r = 0; r < f->ptx->register_count; r++) {
		struct machine_value *v = &f->values[r];
		if (v->def < 0)
			continue;
		const struct ptx_instruction *i = &f->ptx->instructions[v->def];
		const struct ptx_operand *source = machine_source(i, 0);
		v->constant = machine_is(i, "mov") && source && source->kind == PTX_IMMEDIATE;
		v->parameter = is_constant_bank(i);
		v->high_zero = v->bits == 64 && makes_zero_high(i);
	}
}

int machine_values_find(struct machine_function *f, struct gs_error *err)
{
	uint32_t total = 0;
	f->values = calloc(f->ptx->register_count + 1u, sizeof *f->values);
	if (!f->values)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t r = 0; r < f->ptx->register_count; r++) {
		f->values[r].def = -1;
		f->values[r].bits = f->ptx->registers[r].bits;
	}
	each_register(f, count);
	for (uint32_t r = 0; r < f->ptx->register_count; r++) {
		f->values[r].first_use = total;
		total += f->values[r].uses;
		f->values[r].uses = 0;
	}
	f->use_list = calloc(total + 1u, sizeof *f->use_list);
	if (!f->use_list)
		return gs_fail(err, ENOMEM, "out of memory");
	each_register(f, list);
	find_unused_halves(f);
	find_origins(f);
	return 0;
}
