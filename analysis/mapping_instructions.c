/*
 * The instructions of a kernel's code, and its registers.
 *
 * A call of a library function without code becomes the machine instructions that stand for it (builtins.h): each
 * writes a register of its own and reads that of the step it waits for, or what the st.param before the call passed.
 * The last that has a result writes what the ld.param behind the call read; st.param, call and ld.param are no
 * instructions of the machine.
 */
#include "analysis/builtins.h"
#include "analysis/mapping_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* What becomes of an instruction. MOVED: an ld.param that is kept because its block would have no instruction else. */
enum role { COPIED, EXPANDED, DROPPED, MOVED };

/* Opcodes that have a place in the strings, by their hash; a full table only costs space. */
enum { OPCODE_SLOTS = 1024 };

struct writer {
	struct code_filler *f;
	const struct mapped_function *function;
	uint8_t *roles;       /* per instruction of all functions */
	uint32_t *slots;
	uint32_t steps;       /* written so far */
	uint16_t last_result; /* of the call before */
};

uint32_t code_keep(struct code_filler *f, const char *text)
{
	uint32_t offset = (uint32_t)f->strings.len;
	gs_buf_add(&f->strings, text, strlen(text) + 1);
	return offset;
}

static uint32_t opcode_offset(struct writer *w, const char *opcode)
{
	struct gs_buf *strings = &w->f->strings;
	uint32_t hash = 5381;
	for (const char *p = opcode; *p; p++)
		hash = hash * 33 + (unsigned char)*p;
	for (uint32_t i = 0; i < 16; i++) {
		uint32_t *slot = &w->slots[(hash + i) % OPCODE_SLOTS];
		if (!*slot)
			return (*slot = code_keep(w->f, opcode) + 1) - 1;
		if (!strings->failed && !strcmp(strings->data + *slot - 1, opcode))
			return *slot - 1;
	}
	return code_keep(w->f, opcode);
}

/* ---- calls ---- */

static const char *callee_name(const struct ptx_instruction *in)
{
	for (uint32_t i = 0; i < in->operand_count && in->flags & CODE_CALL; i++)
		if (in->operands[i].kind == PTX_SYMBOL && !in->operands[i].write)
			return in->operands[i].text;
	return NULL;
}

/* The row of the function that an instruction calls, or NULL. A function with code is called, whatever its name. */
static const struct builtin_cost *called_cost(const struct mapping *m, const struct ptx_instruction *in)
{
	const char *name = callee_name(in);
	const struct ptx_function *callee = name ? ptx_find(m->module, name) : NULL;
	return name && (!callee || callee->external) ? builtin_find(name) : NULL;
}

/* Whether it stores a parameter of the call, or loads its result. */
static bool is_of_call(const struct ptx_instruction *in, enum code_class class, const struct ptx_instruction *call)
{
	if (in->class != class || in->space != SPACE_param || in->guard >= 0)
		return false;
	for (uint32_t i = 0; i < in->operand_count; i++)
		for (uint32_t k = 0; in->operands[i].kind == PTX_ADDRESS && in->operands[i].text && k < call->operand_count; k++)
			if (call->operands[k].text && call->operands[k].write == (class == CODE_load) &&
			    !strcmp(call->operands[k].text, in->operands[i].text))
				return true;
	return false;
}

static void mark_call(const struct mapped_function *function, uint32_t call, uint8_t *roles)
{
	const struct ptx_instruction *in = function->ptx->instructions;
	const struct graph *g = function->graph;
	int32_t block = graph_block_of(g, call);
	roles[call] = EXPANDED;
	for (uint32_t i = call; block >= 0 && i-- > g->blocks[block].first && is_of_call(&in[i], CODE_store, &in[call]);)
		roles[i] = DROPPED;
	int32_t next = call + 1 < function->ptx->instruction_count ? graph_block_of(g, call + 1) : -1;
	uint32_t end = next < 0 ? call + 1 : g->blocks[next].first + g->blocks[next].count;
	for (uint32_t i = call + 1; i < end && is_of_call(&in[i], CODE_load, &in[call]); i++)
		roles[i] = i + 1 < end ? DROPPED : MOVED;
}

/* Marks all instructions; returns how much code they become. */
static size_t mark_all(const struct mapping *m, const char *arch, uint8_t *roles)
{
	size_t room = m->instruction_count;
	for (uint32_t i = 0; i < m->function_count; i++) {
		const struct mapped_function *function = &m->functions[i];
		for (uint32_t j = 0; j < function->ptx->instruction_count; j++) {
			const struct builtin_cost *cost = called_cost(m, &function->ptx->instructions[j]);
			if (cost) {
				mark_call(function, j, roles + function->first_instruction);
				room += builtin_expand(cost, arch, NULL, 0);
			}
		}
	}
	return room;
}

/* ---- one instruction ---- */

static uint16_t file_index(const struct mapping *m, uint32_t number)
{
	for (uint32_t i = 0; i < m->module->file_count; i++)
		if (m->module->files[i].number == number)
			return (uint16_t)i;
	return 0;
}

static struct code_instruction *add_instruction(struct writer *w, const struct ptx_instruction *in)
{
	struct kernel_code *c = w->f->code;
	struct code_instruction *out = &c->code[c->code_count++];
	*out = (struct code_instruction){.first_operand = c->operand_count,
	                                 .elements = 1,
	                                 .address = -1,
	                                 .column = (uint16_t)(in->column < UINT16_MAX ? in->column : UINT16_MAX)};
	if (in->file && c->file_count) {
		out->line = in->line;
		out->file = file_index(w->f->m, in->file);
	}
	return out;
}

static void add_operand(struct writer *w, uint8_t *count, uint16_t reg)
{
	struct kernel_code *c = w->f->code;
	c->operands[c->operand_count++] = reg;
	++*count;
}

static void copy_instruction(struct writer *w, const struct ptx_instruction *in)
{
	struct code_instruction *out = add_instruction(w, in);
	struct ptx_uses uses;
	ptx_uses(in, &uses);
	out->class = in->class;
	out->space = in->space;
	out->bytes = in->bytes;
	out->elements = in->elements;
	out->flags = in->flags;
	out->writes = uses.writes;
	out->reads = uses.reads;
	out->waits = uses.waits;
	for (uint32_t i = 0; i < (uint32_t)uses.writes + uses.reads + uses.waits; i++)
		w->f->code->operands[w->f->code->operand_count++] = (uint16_t)(w->function->first_register + uses.list[i]);
	out->opcode = opcode_offset(w, in->opcode);
}

static void move_result(struct writer *w, const struct ptx_instruction *load)
{
	struct code_instruction *out = add_instruction(w, load);
	struct ptx_uses uses;
	ptx_uses(load, &uses);
	out->class = CODE_move;
	out->flags = CODE_EXPANDED;
	for (uint32_t i = 0; i < uses.writes; i++)
		add_operand(w, &out->writes, (uint16_t)(w->function->first_register + uses.list[i]));
	add_operand(w, &out->reads, w->last_result);
	out->opcode = opcode_offset(w, load->opcode);
}

/* ---- steps of a library function ---- */

struct passed {
	uint16_t list[PTX_MAX_REGISTERS / 4];
	uint32_t count;
	bool moved; /* a result that an instruction of its own moves */
};

static void pass(struct writer *w, const struct ptx_instruction *in, bool writes, struct passed *out)
{
	struct ptx_uses uses;
	ptx_uses(in, &uses);
	uint32_t first = writes ? 0 : uses.writes, count = writes ? uses.writes : uses.reads;
	for (uint32_t i = first; i < first + count && out->count < GS_ARRAY_LEN(out->list); i++)
		out->list[out->count++] = (uint16_t)(w->function->first_register + uses.list[i]);
}

/* What goes into the call and what comes out of it. */
static void find_passed(struct writer *w, uint32_t call, struct passed *arguments, struct passed *results)
{
	const struct ptx_instruction *in = w->function->ptx->instructions;
	const uint8_t *roles = w->roles + w->function->first_instruction;
	uint32_t first = call;
	while (first > 0 && roles[first - 1] == DROPPED && in[first - 1].class == CODE_store)
		first--;
	for (uint32_t i = first; i < call; i++)
		pass(w, &in[i], false, arguments);
	uint32_t i = call + 1, end = w->function->ptx->instruction_count;
	for (; i < end && roles[i] == DROPPED && in[i].class == CODE_load; i++)
		pass(w, &in[i], true, results);
	results->moved = i < end && roles[i] == MOVED;
}

/* A machine instruction reads three registers at most; the others it only waits for. */
static void read_arguments(struct writer *w, struct code_instruction *out, const struct passed *arguments)
{
	for (uint32_t i = 0; i < arguments->count; i++)
		add_operand(w, i < 3 ? &out->reads : &out->waits, arguments->list[i]);
}

static bool has_result(const struct builtin_step *step)
{
	return step->class != CODE_store && step->class != CODE_branch && step->class != CODE_barrier;
}

/* Registers of steps stand behind those of the PTX; they are used in turn, so that the next calls need not wait. */
static uint16_t new_register(struct writer *w, const struct builtin_step *step)
{
	bool wide = step->class == CODE_fp64 || step->class == CODE_fp64_fma || step->bytes == 8;
	struct code_register *r = &w->f->code->register_table[w->f->m->register_count + w->steps % STEP_REGISTERS];
	*r = (struct code_register){.number = (uint16_t)(w->steps % STEP_REGISTERS), .words = wide ? 2 : 1};
	return (uint16_t)(w->f->m->register_count + w->steps++ % STEP_REGISTERS);
}

/* The step that makes the call's result: the last that makes any. */
static size_t result_step(const struct builtin_step *steps, size_t count)
{
	for (size_t i = count; i-- > 0;)
		if (has_result(&steps[i]))
			return i;
	return count - 1;
}

/* Writes what the step leaves; `results` is NULL but for the one that makes them. Returns what later steps wait for. */
static int32_t write_results(struct writer *w, const struct builtin_step *step, struct code_instruction *out,
                             int32_t from, const struct passed *results)
{
	for (uint32_t i = 0; results && i < results->count; i++)
		add_operand(w, &out->writes, results->list[i]);
	if (results && results->count)
		return results->list[0];
	if (!has_result(step) && !(results && results->moved))
		return from;
	uint16_t own = new_register(w, step);
	add_operand(w, &out->writes, own);
	return own;
}

static void expand_call(struct writer *w, const struct ptx_instruction *call, const struct passed *arguments,
                        const struct passed *results)
{
	struct builtin_step steps[BUILTIN_MAX_STEPS];
	int32_t value[BUILTIN_MAX_STEPS]; /* the register that a step, or what it waits for, leaves; -1: an argument */
	char name[128];
	size_t count = builtin_expand(called_cost(w->f->m, call), w->f->arch, steps, GS_ARRAY_LEN(steps));
	size_t maker = result_step(steps, count);
	builtin_name(callee_name(call), name, sizeof name);
	for (size_t i = 0; i < count; i++) {
		struct code_instruction *out = add_instruction(w, call);
		int32_t from = steps[i].depends_on < 0 ? -1 : value[steps[i].depends_on];
		out->class = steps[i].class;
		out->space = steps[i].space;
		out->bytes = steps[i].bytes;
		out->flags = (uint8_t)(CODE_EXPANDED | (call->flags & CODE_GUARDED));
		out->opcode = opcode_offset(w, name);
		value[i] = write_results(w, &steps[i], out, from, i == maker ? results : NULL);
		if (from < 0)
			read_arguments(w, out, arguments);
		else
			add_operand(w, &out->reads, (uint16_t)from);
		if (call->guard >= 0)
			add_operand(w, &out->waits, (uint16_t)(w->function->first_register + (uint32_t)call->guard));
	}
	w->last_result = (uint16_t)value[maker];
}

/* ---- all of them ---- */

static void write_function(struct writer *w, const struct mapped_function *function)
{
	w->function = function;
	for (uint32_t j = 0; j < function->ptx->instruction_count; j++) {
		const struct ptx_instruction *in = &function->ptx->instructions[j];
		struct passed arguments = {.count = 0}, results = {.count = 0};
		w->f->code_at[function->first_instruction + j] = w->f->code->code_count;
		switch (w->roles[function->first_instruction + j]) {
		case COPIED: copy_instruction(w, in); break;
		case MOVED: move_result(w, in); break;
		case EXPANDED:
			find_passed(w, j, &arguments, &results);
			expand_call(w, in, &arguments, &results);
			break;
		default: break;
		}
	}
}

static void fill_registers(struct code_filler *f)
{
	struct kernel_code *c = f->code;
	for (uint32_t i = 0; i < f->m->function_count; i++) {
		const struct ptx_function *ptx = f->m->functions[i].ptx;
		for (uint32_t r = 0; r < ptx->register_count; r++)
			c->register_table[c->register_count++] = (struct code_register){
			    .number = (uint16_t)ptx->registers[r].number,
			    .words = (uint8_t)(ptx->registers[r].bits == 1 ? 0 : (ptx->registers[r].bits + 31) / 32)};
	}
}

int code_fill_instructions(struct code_filler *f)
{
	struct kernel_code *c = f->code;
	const struct mapping *m = f->m;
	struct writer w = {.f = f};
	w.roles = calloc(m->instruction_count + 1u, 1);
	w.slots = calloc(OPCODE_SLOTS, sizeof *w.slots);
	size_t room = w.roles ? mark_all(m, f->arch, w.roles) : 0;
	f->code_at = calloc(m->instruction_count + 1u, sizeof *f->code_at);
	c->code = calloc(room + 1, sizeof *c->code);
	c->operands = calloc(room * PTX_MAX_REGISTERS + 1, sizeof *c->operands);
	c->register_table = calloc((size_t)m->register_count + STEP_REGISTERS, sizeof *c->register_table);
	int result = w.roles && w.slots && f->code_at && c->code && c->operands && c->register_table ? 0 : -ENOMEM;
	if (!result) {
		fill_registers(f);
		for (uint32_t i = 0; i < m->function_count; i++)
			write_function(&w, &m->functions[i]);
		f->code_at[m->instruction_count] = c->code_count;
		c->register_count += w.steps < STEP_REGISTERS ? w.steps : STEP_REGISTERS;
	}
	free(w.roles);
	free(w.slots);
	uint16_t *shorter = result ? NULL : reallocarray(c->operands, c->operand_count + 1u, sizeof *shorter);
	if (shorter)
		c->operands = shorter;
	return result;
}
