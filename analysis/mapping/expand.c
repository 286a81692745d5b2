/*
 * Replaces calls of library functions without code by the machine instructions that the table of builtins lists.
 *
 * A call in PTX is st.param of the arguments, the call, and ld.param of the results after it. None of them is a machine
 * instruction. The listed steps take their place in the call's block. The first ones read the registers of the arguments. The last
 * one that has a result writes the registers of the results. Each step in between has a register of its own.
 */
#include "analysis/builtins/builtins.h"
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_OPERANDS = 16,    /* arguments that a step needs, or results that the last one writes */
	MOST_READS = 3,        /* of a machine instruction; it only waits for the others */
	STEP_REGISTERS = 1024, /* used in turn, so that the next calls do not wait for them */
};

/* What happens to an instruction. MOVED: an ld.param that is kept, because its block would be empty without it. */
enum fate { COPIED, DROPPED, MOVED };

struct operands {
	uint16_t list[MOST_OPERANDS];
	uint8_t count;
	bool moved; /* results only: an instruction of its own moves a result */
};

struct expander {
	const char *arch;
	struct kernel_code *from, *to; /* `to` has the arrays that change */
	const struct builtin_cost **costs; /* by instruction: the row of a call that is expanded, or NULL */
	uint8_t *fates;                    /* by instruction: enum fate */
	struct builtin_step *steps;
	uint32_t *starts;      /* by instruction: where it begins in `to` */
	uint32_t step_count;   /* registers of steps so far */
	uint16_t last_result;  /* the result register of the previous call */
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
	const struct ptx_operand *callee = ptx_callee(i);
	const struct ptx_function *f = callee && callee->kind == PTX_SYMBOL ? ptx_find(module, callee->text) : NULL;
	return f && f->external ? builtin_find(f->name) : NULL;
}

/* Marks the instructions that are removed. Returns how many instructions are added. */
static uint32_t mark_calls(struct expander *e, const struct mapping *m)
{
	uint32_t added = 0;
	for (uint32_t f = 0; f < m->reached.count; f++) {
		const struct ptx_function *ptx = m->reached.functions[f].ptx;
		for (uint32_t i = 0; i < ptx->instruction_count; i++) {
			uint32_t at = m->reached.functions[f].first_instruction + i;
			e->costs[at] = cost_of_call(m->module, &ptx->instructions[i]);
			if (!e->costs[at])
				continue;
			added += (uint32_t)builtin_expand(e->costs[at], e->arch, NULL, 0);
			for (uint32_t k = i; k-- > 0 && accesses_parameter(&ptx->instructions[k], CODE_store, "param");)
				e->fates[at - i + k] = DROPPED;
			for (uint32_t k = i + 1; k < ptx->instruction_count &&
			                         accesses_parameter(&ptx->instructions[k], CODE_load, "retval"); k++)
				e->fates[at - i + k] = DROPPED;
		}
	}
	return added;
}

static void keep_blocks(struct expander *e)
{
	for (uint32_t b = 0; b < e->from->block_count; b++) {
		const struct code_block *block = &e->from->blocks[b];
		uint32_t left = 0;
		for (uint32_t i = 0; i < block->count; i++)
			left += e->fates[block->first + i] != DROPPED;
		if (!left && block->count)
			e->fates[block->first + block->count - 1] = MOVED;
	}
}

static void add_registers(const struct kernel_code *c, uint32_t first, uint32_t count, struct operands *out)
{
	for (uint32_t i = 0; i < count && out->count < MOST_OPERANDS; i++)
		out->list[out->count++] = c->operands[first + i];
}

/* Finds the registers that the dropped instructions next to a call read before it and write after it. */
static void registers_around(const struct expander *e, uint32_t call, struct operands *arguments, struct operands *results)
{
	const struct kernel_code *c = e->from;
	uint32_t i = call;
	while (i > 0 && e->fates[i - 1] == DROPPED && c->code[i - 1].class == CODE_store)
		i--;
	for (; i < call; i++)
		add_registers(c, c->code[i].first_operand + c->code[i].writes, c->code[i].reads, arguments);
	for (i = call + 1; i < c->code_count && e->fates[i] == DROPPED && c->code[i].class == CODE_load; i++)
		add_registers(c, c->code[i].first_operand, c->code[i].writes, results);
	results->moved = i < c->code_count && e->fates[i] == MOVED;
}

static bool is_double(uint8_t class)
{
	return class == CODE_fp64 || class == CODE_fp64_fma || class == CODE_fp64_minmax;
}

static bool has_result(const struct builtin_step *step)
{
	return step->class != CODE_store && step->class != CODE_branch && step->class != CODE_barrier;
}

/* The step that makes the call's result: the last step that has a result. */
static size_t result_step(const struct builtin_step *steps, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (has_result(&steps[i]))
			return i;
	return count - 1;
}

static void add_operand(struct kernel_code *to, uint8_t *count, uint16_t reg)
{
	to->operands[to->operand_count++] = reg;
	++*count;
}

static uint16_t new_register(struct expander *e, const struct builtin_step *step)
{
	uint32_t number = e->step_count++ % STEP_REGISTERS, reg = e->from->register_count + number;
	e->to->register_table[reg] = (struct code_register){.number = (uint16_t)reg, .words = is_double(step->class) ? 2 : 1};
	if (e->to->register_count <= reg)
		e->to->register_count = reg + 1;
	return (uint16_t)reg;
}

/* Writes the results of a step. `results` is NULL for all steps but the one that makes the call's results. Returns the register
 * that later steps wait for. */
static int32_t add_results(struct expander *e, const struct builtin_step *step, struct code_instruction *in, int32_t from,
                           const struct operands *results)
{
	for (uint8_t i = 0; results && i < results->count; i++)
		add_operand(e->to, &in->writes, results->list[i]);
	if (results && results->count)
		return results->list[0];
	if (!has_result(step) && !(results && results->moved))
		return from;
	uint16_t own = new_register(e, step);
	add_operand(e->to, &in->writes, own);
	return own;
}

static struct code_instruction *add_step(struct expander *e, uint32_t call, const struct builtin_step *step)
{
	struct code_instruction *in = &e->to->code[e->to->code_count++];
	*in = e->from->code[call];
	in->class = step->class;
	in->space = step->space;
	in->bytes = step->bytes;
	in->elements = 1;
	in->flags = CODE_EXPANDED;
	in->site = step->space == SPACE_texture ? in->site : -1;
	in->first_operand = e->to->operand_count;
	in->writes = in->reads = in->waits = 0;
	return in;
}

static void expand_call(struct expander *e, uint32_t call)
{
	struct operands arguments = {.count = 0}, results = {.count = 0};
	int32_t value[BUILTIN_MAX_STEPS]; /* per step: the register with its result, or the one that it waits for; -1: an argument */
	registers_around(e, call, &arguments, &results);
	size_t count = builtin_expand(e->costs[call], e->arch, e->steps, BUILTIN_MAX_STEPS);
	size_t maker = result_step(e->steps, count);
	for (size_t i = 0; i < count; i++) {
		const struct builtin_step *step = &e->steps[i];
		struct code_instruction *in = add_step(e, call, step);
		int32_t from = step->depends_on < 0 ? -1 : value[step->depends_on];
		value[i] = add_results(e, step, in, from, i == maker ? &results : NULL);
		for (uint8_t k = 0; k < arguments.count && from < 0; k++)
			add_operand(e->to, k < MOST_READS ? &in->reads : &in->waits, arguments.list[k]);
		if (from >= 0)
			add_operand(e->to, &in->reads, (uint16_t)from);
	}
	e->last_result = (uint16_t)value[maker];
}

static void move_result(struct expander *e, uint32_t load)
{
	static const struct builtin_step move = {.class = CODE_move};
	const struct code_instruction *from = &e->from->code[load];
	struct code_instruction *in = add_step(e, load, &move);
	for (uint32_t i = 0; i < from->writes; i++)
		add_operand(e->to, &in->writes, e->from->operands[from->first_operand + i]);
	add_operand(e->to, &in->reads, e->last_result);
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
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			e->starts[i] = e->to->code_count;
			if (e->costs[i])
				expand_call(e, i);
			else if (e->fates[i] == MOVED)
				move_result(e, i);
			else if (e->fates[i] == COPIED)
				copy_instruction(e, i);
		}
		block->first = first;
		block->count = e->to->code_count - first;
	}
}

static void exchange_arrays(struct kernel_code *c, struct kernel_code *grown)
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

/* Allocates the arrays, with room for `added` more instructions and their operands. */
static bool make_room(struct expander *e, uint32_t added)
{
	const struct kernel_code *c = e->from;
	e->to->code = calloc(c->code_count + added + 1u, sizeof *c->code);
	e->to->operands = calloc(c->operand_count + ((size_t)added + c->block_count) * 2 * MOST_OPERANDS + 1, sizeof *c->operands);
	e->to->register_table = calloc(c->register_count + STEP_REGISTERS + 1u, sizeof *c->register_table);
	if (!e->to->code || !e->to->operands || !e->to->register_table)
		return false;
	memcpy(e->to->register_table, c->register_table, c->register_count * sizeof *c->register_table);
	e->to->register_count = c->register_count;
	return true;
}

int mapping_expand(const struct mapping *m, const char *arch, struct kernel_code *code, uint32_t *starts,
                   struct gs_error *err)
{
	struct kernel_code grown = {0};
	struct expander e = {.arch = arch, .from = code, .to = &grown, .starts = starts};
	for (uint32_t i = 0; i <= code->code_count; i++)
		starts[i] = i;
	e.costs = calloc(code->code_count + 1u, sizeof *e.costs);
	e.fates = calloc(code->code_count + 1u, sizeof *e.fates);
	e.steps = calloc(BUILTIN_MAX_STEPS, sizeof *e.steps);
	int result = e.costs && e.fates && e.steps ? 0 : -ENOMEM;
	uint32_t added = result ? 0 : mark_calls(&e, m);
	if (added && code->register_count + STEP_REGISTERS > UINT16_MAX)
		result = gs_fail(err, ERANGE, "%u registers are named, too many beside library functions", code->register_count);
	else if (added && !make_room(&e, added))
		result = -ENOMEM;
	if (!result && added) {
		keep_blocks(&e);
		uint32_t count = code->code_count;
		rebuild(&e);
		exchange_arrays(code, &grown);
		starts[count] = code->code_count;
	}
	free(grown.code);
	free(grown.operands);
	free(grown.register_table);
	free(e.costs);
	free(e.fates);
	free(e.steps);
	return result == -ENOMEM ? gs_fail(err, ENOMEM, "out of memory") : result;
}
