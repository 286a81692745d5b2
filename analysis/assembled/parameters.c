/*
 * Which pointers among the parameters an access may go to. In the machine code parameters are constants, and registers are used for one thing after
 * the other: the last instruction before that wrote a register says what is in it. A register of the PTX has what any of its writers puts there.
 */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { SLOT = 8, SLOTS = 64, REGISTERS = 256, UNIFORMS = 64 };

/* Where parameters begin in bank 0, by what ptxas 13.0 makes. */
static int32_t first_parameter(unsigned arch)
{
	return arch >= 100 ? 0x380 : arch >= 90 ? 0x210 : 0x160;
}

static uint64_t bit_of(int64_t byte)
{
	return byte >= 0 && byte < SLOT * SLOTS ? UINT64_C(1) << byte / SLOT : 0;
}

/* ---- the machine code ---- */

struct machine_pointers {
	uint64_t registers[REGISTERS], uniforms[UNIFORMS];
	int32_t base;
};

static void follow_machine(struct machine_pointers *p, const struct sass_instruction *in, const struct sass_opcode *o, uint64_t *out)
{
	uint64_t all = in->constant >= 0 ? bit_of(in->constant - p->base) : 0;
	bool guarded = in->predicate != SASS_PT || in->negated, access = assembled_is_access(o->class) && o->space != SPACE_const;
	/* Of an access the first two are the address, or the first if that has 32 bits. What is stored follows. */
	uint32_t reads = access && in->reads ? (o->space == SPACE_shared || o->space == SPACE_local ? 1 : in->reads > 2 ? 2 : in->reads) : in->reads;
	for (uint32_t i = 0; i < reads; i++)
		all |= p->registers[in->registers[i]];
	if (in->uniform < SASS_URZ)
		all |= p->uniforms[in->uniform];
	*out = all;
	if (access)
		all = 0;
	for (uint32_t r = in->result; r < in->result + (uint32_t)in->results && r < REGISTERS; r++)
		p->registers[r] = guarded ? p->registers[r] | all : all;
}

/* A load of constants into uniform registers: two of them at the most. */
static void follow_uniform(struct machine_pointers *p, const struct sass_instruction *in, uint32_t first)
{
	for (uint32_t r = first; r < first + 2 && r < UNIFORMS; r++)
		p->uniforms[r] = bit_of(in->constant - p->base);
}

/* ---- the PTX ---- */

static int64_t parameter_at(const struct ptx_function *f, const char *name)
{
	uint64_t at = 0;
	for (uint32_t i = 0; i < f->parameter_count; i++) {
		const struct ptx_variable *v = &f->variables[i];
		uint64_t align = v->align ? v->align : 1;
		at = (at + align - 1) / align * align;
		if (name && !strcmp(v->name, name))
			return v->bytes >= SLOT && at < SLOT * SLOTS ? (int64_t)at : -1;
		at += v->bytes;
	}
	return -1;
}

static uint64_t follow_ptx(const struct ptx_function *f, const struct ptx_instruction *in, const uint64_t *registers)
{
	uint64_t all = 0;
	bool access = assembled_is_access(in->class);
	for (uint32_t i = 0; i < in->operand_count; i++) {
		const struct ptx_operand *o = &in->operands[i];
		bool address = o->kind == PTX_ADDRESS;
		if (o->write || (access && !address) || (o->kind != PTX_REGISTER && !address))
			continue;
		if (o->reg >= 0)
			all |= registers[o->reg];
		else if (in->space == SPACE_param && address && parameter_at(f, o->text) >= 0)
			all |= bit_of(parameter_at(f, o->text) + o->value);
	}
	return all;
}

static void find_ptx(const struct ptx_function *f, uint64_t *registers, uint64_t *out)
{
	bool changed = true;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < f->instruction_count; i++) {
			const struct ptx_instruction *in = &f->instructions[i];
			bool loads = assembled_is_access(in->class) && in->space != SPACE_param;
			out[i] = follow_ptx(f, in, registers);
			for (uint32_t o = 0; o < in->operand_count && !loads; o++)
				if (in->operands[o].write && in->operands[o].reg >= 0 && out[i] & ~registers[in->operands[o].reg]) {
					registers[in->operands[o].reg] |= out[i];
					changed = true;
				}
		}
	}
}

/* Slots of parameters that are no pointers do not count. */
static uint64_t pointer_slots(const struct ptx_function *f)
{
	uint64_t slots = 0;
	for (uint32_t i = 0; i < f->parameter_count; i++) {
		int64_t at = parameter_at(f, f->variables[i].name);
		for (uint64_t byte = 0; at >= 0 && byte < f->variables[i].bytes && byte < SLOT * SLOTS; byte += SLOT)
			slots |= bit_of(at + (int64_t)byte);
	}
	return slots;
}

int assembled_pointers(const struct assembled_kernel *k, unsigned arch, uint64_t *machine, uint64_t *ptx, struct gs_error *why)
{
	struct machine_pointers p = {.base = first_parameter(arch)};
	uint64_t slots = pointer_slots(k->ptx), *registers = calloc(k->ptx->register_count + 1u, sizeof *registers);
	if (!registers)
		return gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < k->count; i++) {
		follow_machine(&p, &k->in[i], &k->opcodes[i], &machine[i]);
		if (k->in[i].constant >= 0 && k->in[i].name && !strcmp(k->in[i].name, "ULDC"))
			follow_uniform(&p, &k->in[i], k->sass->bytes[(size_t)i * CUBIN_WORD + 2]);
		machine[i] &= slots;
	}
	find_ptx(k->ptx, registers, ptx);
	for (uint32_t i = 0; i < k->ptx->instruction_count; i++)
		ptx[i] &= slots;
	free(registers);
	return 0;
}
