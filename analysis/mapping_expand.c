/*
 * Calls of library functions without code become the machine instructions that the table of builtins has for them.
 *
 * A call in PTX is st.param of the arguments, the call, and ld.param of the results, which are in the next block. None of
 * them is an instruction of the machine: the steps take their place in the call's block, the first ones reading the
 * arguments' registers and the last one writing the results'. In between each step has a register of its own.
 */
#include "analysis/builtins.h"
#include "analysis/mapping_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_OPERANDS = 4 }; /* arguments that a step reads, or results that the last one writes */

struct expander {
	const char *arch;
	struct kernel_code *from, *to; /* `to` has the arrays that change */
	const struct builtin_cost **costs; /* by instruction: of a call that is expanded, or NULL */
	bool *dropped;                     /* by instruction */
	struct builtin_step *steps;
};

static bool accesses_parameter(const struct ptx_instruction *i, enum code_class class, const char *prefix)
{
	if (i->class != class || i->space != SPACE_param)
		return false;
	for (uint32_t k = 0; k < i->operand_count; k++)
		if (i->operands[k].kind == PTX_ADDRESS && i->operands[k].text)
			return !strncmp(i->operands[k].text, prefix, strlen(prefix));
	return false;
}

static const struct builtin_cost *cost_of_call(const struct ptx_module *module, const struct ptx_instruction *i)
{
	for (uint32_t k = 0; k < i->operand_count && i->flags & CODE_CALL; k++)
		if (i->operands[k].kind == PTX_SYMBOL && !i->operands[k].write) {
			const struct ptx_function *f = ptx_find(module, i->operands[k].text);
			return f && f->external ? builtin_find(f->name) : NULL;
		}
	return NULL;
}

/* Marks what goes, and returns how many instructions come. */
static uint32_t mark_calls(struct expander *e, const struct mapping *m)
{
	uint32_t added = 0;
	for (uint32_t f = 0; f < m->function_count; f++) {
		const struct ptx_function *ptx = m->functions[f].ptx;
		for (uint32_t i = 0; i < ptx->instruction_count; i++) {
			uint32_t at = m->functions[f].first_instruction + i;
			e->costs[at] = cost_of_call(m->module, &ptx->instructions[i]);
			if (!e->costs[at])
				continue;
			added += (uint32_t)builtin_expand(e->costs[at], e->arch, NULL, 0);
			for (uint32_t k = i; k-- > 0 && accesses_parameter(&ptx->instructions[k], CODE_store, "param");)
				e->dropped[at - i + k] = true;
			for (uint32_t k = i + 1; k < ptx->instruction_count &&
			                         accesses_parameter(&ptx->instructions[k], CODE_load, "retval"); k++)
				e->dropped[at - i + k] = true;
		}
	}
	return added;
}

/* A block keeps an instruction: its results come once more, at the cost of a load of a parameter. */
static void keep_blocks(struct expander *e)
{
	for (uint32_t b = 0; b < e->from->block_count; b++) {
		const struct code_block *block = &e->from->blocks[b];
		uint32_t left = 0;
		for (uint32_t i = 0; i < block->count; i++)
			left += !e->dropped[block->first + i];
		if (!left && block->count)
			e->dropped[block->first] = false;
	}
}

/* Registers of the dropped instructions next to a call: read before it, or written behind it. */
static uint8_t registers_around(const struct expander *e, uint32_t call, bool before, uint16_t *out)
{
	const struct kernel_code *c = e->from;
	uint8_t count = 0;
	for (uint32_t i = before ? call - 1 : call + 1; i < c->code_count && count < MOST_OPERANDS; i += before ? -1u : 1u) {
		const struct code_instruction *in = &c->code[i];
		if (in->space != SPACE_param || in->class != (before ? CODE_store : CODE_load) || !e->dropped[i])
			break;
		uint32_t first = in->first_operand + (before ? in->writes : 0);
		for (uint32_t k = 0; k < (before ? in->reads : in->writes) && count < MOST_OPERANDS; k++)
			out[count++] = c->operands[first + k];
	}
	return count;
}

static bool is_double(uint8_t class)
{
	return class == CODE_fp64 || class == CODE_fp64_fma || class == CODE_fp64_minmax;
}

static void add_operand(struct kernel_code *to, uint16_t reg)
{
	to->operands[to->operand_count++] = reg;
}

static void expand_call(struct expander *e, uint32_t call)
{
	struct kernel_code *to = e->to;
	uint16_t arguments[MOST_OPERANDS], results[MOST_OPERANDS];
	uint8_t argument_count = registers_around(e, call, true, arguments);
	uint8_t result_count = registers_around(e, call, false, results);
	size_t count = builtin_expand(e->costs[call], e->arch, e->steps, BUILTIN_MAX_STEPS);
	uint32_t first = to->register_count;
	for (size_t i = 0; i < count; i++) {
		const struct builtin_step *step = &e->steps[i];
		struct code_instruction *in = &to->code[to->code_count++];
		bool last = i + 1 == count && result_count;
		*in = e->from->code[call];
		in->class = step->class;
		in->space = step->space;
		in->bytes = step->bytes;
		in->elements = 1;
		in->flags = CODE_EXPANDED;
		in->first_operand = to->operand_count;
		in->writes = last ? result_count : 1;
		in->reads = step->depends_on < 0 ? argument_count : 1;
		in->waits = 0;
		to->register_table[to->register_count++] =
			(struct code_register){.number = (uint16_t)(first + i), .words = is_double(step->class) ? 2 : 1};
		for (uint8_t k = 0; k < in->writes; k++)
			add_operand(to, last ? results[k] : (uint16_t)(first + i));
		for (uint8_t k = 0; k < in->reads; k++)
			add_operand(to, step->depends_on < 0 ? arguments[k] : (uint16_t)(first + (uint32_t)step->depends_on));
	}
}

static void copy_instruction(struct expander *e, uint32_t i)
{
	struct kernel_code *to = e->to;
	struct code_instruction in = e->from->code[i];
	uint32_t count = (uint32_t)in.writes + in.reads + in.waits;
	memcpy(&to->operands[to->operand_count], &e->from->operands[in.first_operand], count * sizeof *to->operands);
	in.first_operand = to->operand_count;
	to->operand_count += count;
	to->code[to->code_count++] = in;
}

static void rebuild(struct expander *e)
{
	for (uint32_t b = 0; b < e->from->block_count; b++) {
		struct code_block *block = &e->from->blocks[b];
		uint32_t first = e->to->code_count;
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			if (e->costs[i])
				expand_call(e, i);
			else if (!e->dropped[i])
				copy_instruction(e, i);
		block->first = first;
		block->count = e->to->code_count - first;
	}
}

static void take_arrays(struct kernel_code *c, struct kernel_code *grown)
{
	struct kernel_code old = *c;
	c->code = grown->code;
	c->code_count = grown->code_count;
	c->operands = grown->operands;
	c->operand_count = grown->operand_count;
	c->register_table = grown->register_table;
	c->register_count = grown->register_count;
	*grown = (struct kernel_code){
		.code = old.code, .operands = old.operands, .register_table = old.register_table};
}

/* The arrays with room for `added` instructions, each with a register of its own. */
static bool make_room(struct expander *e, uint32_t added)
{
	const struct kernel_code *c = e->from;
	e->to->code = calloc(c->code_count + added + 1u, sizeof *c->code);
	e->to->operands = calloc(c->operand_count + (size_t)added * 2 * MOST_OPERANDS + 1, sizeof *c->operands);
	e->to->register_table = calloc(c->register_count + added + 1u, sizeof *c->register_table);
	if (!e->to->code || !e->to->operands || !e->to->register_table)
		return false;
	memcpy(e->to->register_table, c->register_table, c->register_count * sizeof *c->register_table);
	e->to->register_count = c->register_count;
	return true;
}

int mapping_expand(const struct mapping *m, const char *arch, struct kernel_code *code, struct gs_error *err)
{
	struct kernel_code grown = {0};
	struct expander e = {.arch = arch, .from = code, .to = &grown};
	e.costs = calloc(code->code_count + 1u, sizeof *e.costs);
	e.dropped = calloc(code->code_count + 1u, sizeof *e.dropped);
	e.steps = calloc(BUILTIN_MAX_STEPS, sizeof *e.steps);
	int result = e.costs && e.dropped && e.steps ? 0 : -ENOMEM;
	uint32_t added = result ? 0 : mark_calls(&e, m);
	if (added && code->register_count + added > UINT16_MAX)
		result = gs_fail(err, ERANGE, "library functions take %u instructions, more than fit", added);
	else if (added && !make_room(&e, added))
		result = -ENOMEM;
	if (!result && added) {
		keep_blocks(&e);
		rebuild(&e);
		take_arrays(code, &grown);
	}
	free(grown.code);
	free(grown.operands);
	free(grown.register_table);
	free(e.costs);
	free(e.dropped);
	free(e.steps);
	return result == -ENOMEM ? gs_fail(err, ENOMEM, "out of memory") : result;
}
