#include "tests/analysis/ptx_check.h"

#include <stdlib.h>
#include <string.h>

static bool is_register(const struct ptx_function *f, int32_t reg)
{
	return reg == -1 || (reg >= 0 && (uint32_t)reg < f->register_count);
}

static const char *check_operand(const struct ptx_function *f, const struct ptx_operand *o)
{
	if (!is_register(f, o->reg) || o->label < -1 || (o->label >= 0 && (uint32_t)o->label >= f->label_count))
		return "an operand has no such register or label";
	if (o->kind > PTX_LABEL || (o->kind == PTX_REGISTER && o->reg < 0) || (o->kind == PTX_SYMBOL && !o->text))
		return "an operand is not what its kind says";
	if (o->write && (o->kind == PTX_ADDRESS || o->kind == PTX_IMMEDIATE || o->kind == PTX_LABEL))
		return "an operand is written that cannot be";
	return NULL;
}

static const char *check_instruction(const struct ptx_function *f, const struct ptx_instruction *i)
{
	struct ptx_uses uses;
	const char *wrong = NULL;
	ptx_uses(i, &uses);
	if (!i->opcode || i->class >= CODE_CLASS_COUNT || i->space >= CODE_SPACE_COUNT || !is_register(f, i->guard))
		return "an instruction has no such class, space or guard";
	if (i->prototype < -1 || (i->prototype >= 0 && (uint32_t)i->prototype >= f->prototype_count))
		return "an instruction has no such prototype";
	if (uses.writes + uses.reads + uses.waits > PTX_MAX_REGISTERS)
		return "an instruction uses more registers than fit";
	for (uint32_t u = 0; u < (uint32_t)uses.writes + uses.reads + uses.waits; u++)
		if (uses.list[u] >= f->register_count)
			return "an instruction uses no such register";
	for (uint32_t o = 0; o < i->operand_count && !wrong; o++)
		wrong = check_operand(f, &i->operands[o]);
	return wrong;
}

static const char *check_variable(const struct ptx_variable *v)
{
	uint64_t end = 0;
	if (!v->name || !v->type || v->space >= CODE_SPACE_COUNT || v->linkage > PTX_EXTERN)
		return "a variable has no name, type, space or linkage";
	if (v->initial_bytes > v->bytes || (v->initial_bytes && !v->initial))
		return "a variable begins with more than it has room for";
	for (uint32_t i = 0; i < v->relocation_count; i++) {
		const struct ptx_relocation *r = &v->relocations[i];
		if (!r->symbol || !r->bytes || r->bytes > 8 || r->offset < end || r->offset > v->bytes || r->bytes > v->bytes - r->offset)
			return "an address is not in its variable";
		end = r->offset + r->bytes;
	}
	return NULL;
}

static const char *check_variables(const struct ptx_variable *list, uint32_t count, bool unique)
{
	enum { MOST_COMPARED = 300 };
	const char *wrong = NULL;
	for (uint32_t v = 0; v < count && !wrong; v++)
		wrong = check_variable(&list[v]);
	for (uint32_t v = 0; v < count && v < MOST_COMPARED && unique && !wrong; v++)
		for (uint32_t w = 0; w < v; w++)
			if (!strcmp(list[v].name, list[w].name) && strcmp(list[v].name, "_"))
				wrong = "two variables of a function have one name";
	return wrong;
}

static const char *check_function(const struct ptx_function *f)
{
	const char *wrong = f->name ? NULL : "a function has no name";
	for (uint32_t i = 0; i < f->instruction_count && !wrong; i++) {
		wrong = check_instruction(f, &f->instructions[i]);
		if (i && f->instructions[i].ptx_line < f->instructions[i - 1].ptx_line)
			wrong = "lines go backwards";
	}
	for (uint32_t l = 0; l < f->label_count; l++)
		if (!f->labels[l].name || f->labels[l].at > f->instruction_count)
			wrong = "a label stands nowhere";
	for (uint32_t p = 0; p < f->probe_count; p++)
		if (f->probes[p].at > f->instruction_count)
			wrong = "a probe stands nowhere";
	for (uint32_t r = 0; r < f->register_count; r++)
		if (!f->registers[r].name)
			wrong = "a register has no name";
	if (!wrong)
		wrong = check_variables(f->variables, f->variable_count, true);
	for (uint32_t p = 0; p < f->prototype_count && !wrong; p++)
		wrong = check_variables(f->prototypes[p].variables, f->prototypes[p].parameter_count + f->prototypes[p].result_count, false);
	return f->parameter_count + f->result_count > f->variable_count ? "more parameters than variables" : wrong;
}

static const char *check_module(const struct ptx_module *m, size_t length)
{
	uint64_t instructions = 0;
	const char *wrong = !m->version || !m->target ? "version or target is missing" : NULL;
	for (uint32_t f = 0; f < m->function_count && !wrong; f++) {
		instructions += m->functions[f].instruction_count;
		wrong = check_function(&m->functions[f]);
	}
	if (!wrong)
		wrong = check_variables(m->variables, m->variable_count, false);
	for (uint32_t a = 0; a < m->alias_count; a++)
		if (!m->aliases[a].name || !m->aliases[a].of)
			wrong = "an alias has no name";
	for (uint32_t u = 0; u < m->unknown_count; u++)
		if (!m->unknown[u].opcode || !m->unknown[u].count || !m->unknown[u].ptx_line)
			wrong = "an unknown opcode was not counted";
	for (uint32_t i = 0; i < m->file_count; i++)
		if (!m->files[i].name)
			wrong = "a file has no name";
	return instructions > length ? "more instructions than characters" : wrong;
}

const char *ptx_check(const char *text, size_t length)
{
	struct ptx_module *module = NULL;
	struct gs_error err;
	char *exact = malloc(length ? length : 1);
	if (!exact)
		return "out of memory";
	memcpy(exact, text, length);
	int code = ptx_read(exact, length, &module, &err);
	free(exact); /* the module must not refer to the text any more */
	const char *wrong = code ? "it could not be read" : check_module(module, length);
	if (!code)
		ptx_free(module);
	return wrong;
}
