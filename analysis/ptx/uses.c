/* The registers of an instruction: those that it writes, those that it reads through the operand collectors, and those that it
 * only waits for. The functions that code calls, or may call by their addresses. */
#include "analysis/ptx/internal.h"

#include <string.h>

/* Matrix instructions write up to 128 registers. These limits keep room for the registers that they read. */
enum { MOST_WRITES = PTX_MAX_REGISTERS - 24, MOST_READS = PTX_MAX_REGISTERS - 1 };

static bool is_listed(const struct ptx_operand *o)
{
	return (o->kind == PTX_REGISTER || o->kind == PTX_ADDRESS) && o->reg >= 0 && o->reg <= UINT16_MAX;
}

void ptx_uses(const struct ptx_instruction *instruction, struct ptx_uses *out)
{
	uint8_t count = 0;
	const struct ptx_operand *operands = instruction->operands;
	memset(out, 0, sizeof *out);
	for (uint32_t i = 0; i < instruction->operand_count && count < MOST_WRITES; i++)
		if (operands[i].write && is_listed(&operands[i]))
			out->list[count++] = (uint16_t)operands[i].reg;
	bool copies = instruction->copies && instruction->class != CODE_move && strncmp(instruction->opcode, "mbarrier.", 9); /* not a wait */
	for (uint32_t i = 0; i < instruction->copy_count && copies && count < MOST_WRITES; i++)
		out->list[count++] = (uint16_t)(instruction->copies - 1 + i);
	out->writes = count;
	for (uint32_t i = 0; i < instruction->operand_count && count < MOST_READS; i++)
		if (!operands[i].write && is_listed(&operands[i]))
			out->list[count++] = (uint16_t)operands[i].reg;
	out->reads = (uint8_t)(count - out->writes);
	if (instruction->guard >= 0 && instruction->guard <= UINT16_MAX) {
		out->list[count++] = (uint16_t)instruction->guard;
		out->waits = 1;
	}
	for (uint32_t i = 0; i < instruction->copy_count && !copies && count < PTX_MAX_REGISTERS; i++) {
		out->list[count++] = (uint16_t)(instruction->copies - 1 + i);
		out->waits++;
	}
}

const struct ptx_operand *ptx_callee(const struct ptx_instruction *instruction)
{
	if (strncmp(instruction->opcode, "call", 4) || (instruction->opcode[4] && instruction->opcode[4] != '.'))
		return NULL;
	for (uint32_t i = 0; i < instruction->operand_count; i++) {
		const struct ptx_operand *o = &instruction->operands[i];
		if (!o->write && (o->kind == PTX_SYMBOL || o->kind == PTX_REGISTER))
			return o;
	}
	return NULL;
}

bool ptx_is_bulk(const struct ptx_instruction *instruction)
{
	return !strncmp(instruction->opcode, "cp.async.bulk.", 14) && instruction->space == SPACE_global &&
	       (instruction->class == CODE_load || instruction->class == CODE_store) && instruction->operand_count > 2;
}

static void mark_symbol(const struct ptx_module *m, const char *name, bool *out)
{
	const struct ptx_function *f = name ? ptx_find(m, name) : NULL;
	if (f && !f->entry && !f->external)
		out[f - m->functions] = true;
}

void ptx_mark_addressed(const struct ptx_module *module, bool *out)
{
	for (uint32_t f = 0; f < module->function_count; f++)
		for (uint32_t i = 0; i < module->functions[f].instruction_count; i++) {
			const struct ptx_instruction *in = &module->functions[f].instructions[i];
			const struct ptx_operand *called = ptx_callee(in);
			for (uint32_t o = 0; o < in->operand_count; o++)
				if (&in->operands[o] != called && in->operands[o].kind == PTX_SYMBOL)
					mark_symbol(module, in->operands[o].text, out);
		}
	for (uint32_t v = 0; v < module->variable_count; v++)
		for (uint32_t r = 0; r < module->variables[v].relocation_count; r++)
			mark_symbol(module, module->variables[v].relocations[r].symbol, out);
}
