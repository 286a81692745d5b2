/*
 * Writes machine instructions as the models read them: classes and registers.
 *
 * A value that becomes part of its users has no register. Its users read its operands instead. A removed copy is another name
 * for its source's register. Instructions in the middle of a sequence have registers of their own, which are reused in turn.
 * Every memory access stays one instruction. Their order stays as it is until schedule.c.
 */
#include "analysis/machine/machine.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { STEP_REGISTERS = 512, MOST_SOURCES = 4, MOST_OPERANDS = 2 * PTX_MAX_REGISTERS };

/* Describes a register that no machine instruction writes, and what to read instead. */
struct stand_in {
	uint16_t list[MOST_SOURCES];
	uint8_t count;
	bool set;
};

struct emitter {
	const struct reached_functions *reached;
	const struct machine_function *functions;
	const uint32_t *starts;
	const char *arch;
	struct kernel_code *code;
	struct stand_in *stand_ins; /* by register of all functions */
	uint16_t *names;            /* by register: the register that it is a copy of, or itself */
	uint32_t room, operand_room, steps;
	uint32_t function;
	bool failed, counting; /* counting: nothing is written; only the needed room is counted */
};

struct source_registers {
	uint16_t list[PTX_MAX_REGISTERS];
	uint32_t count;
};

/* ---- writing ---- */

static uint16_t new_register(struct emitter *e, enum code_class class)
{
	uint32_t number = e->code->register_count + e->steps++ % STEP_REGISTERS;
	bool wide = class == CODE_fp64 || class == CODE_fp64_fma || class == CODE_fp64_minmax;
	if (!e->counting)
		e->code->machine_registers[number] = (struct code_register){.number = (uint16_t)number, .words = wide ? 2 : 1};
	return (uint16_t)number;
}

static void add_operand(struct emitter *e, uint8_t *count, uint16_t reg)
{
	if (!e->counting)
		e->code->machine_operands[e->code->machine_operand_count] = reg;
	e->code->machine_operand_count++;
	++*count;
}

/* A new instruction with the properties of one PTX instruction. The caller adds its operands next. */
static struct code_instruction new_instruction(const struct emitter *e, uint32_t like, enum code_class class)
{
	struct code_instruction in = e->code->code[like];
	in.class = (uint8_t)class;
	in.space = SPACE_none;
	in.bytes = 0;
	in.elements = class == CODE_tensor || class == CODE_tensor_half || class == CODE_tensor_fp64 ? in.elements : 1;
	in.flags = CODE_EXPANDED;
	in.writes = in.reads = in.waits = 0;
	in.first_operand = e->code->machine_operand_count;
	in.address = in.site = -1;
	return in;
}

static void end(struct emitter *e, struct code_instruction in, uint32_t origin)
{
	if (!e->counting) {
		e->code->machine[e->code->machine_count] = in;
		e->code->machine_origins[e->code->machine_count] = origin;
	}
	e->code->machine_count++;
}

static void add_plain(struct emitter *e, uint32_t like, enum code_class class, uint32_t count)
{
	for (uint32_t i = 0; i < count; i++)
		end(e, new_instruction(e, like, class), UINT32_MAX);
}

/* ---- registers ---- */

static uint16_t number_of(const struct emitter *e, uint16_t reg)
{
	return (uint16_t)(e->reached->functions[e->function].first_register + reg);
}

static void add_source(const struct emitter *e, uint16_t number, struct source_registers *out)
{
	const struct stand_in *s = &e->stand_ins[number];
	for (uint8_t i = 0; s->set && i < s->count && out->count < MOST_SOURCES; i++)
		out->list[out->count++] = s->list[i];
	if (!s->set && out->count < PTX_MAX_REGISTERS)
		out->list[out->count++] = e->names[number];
}

static void find_sources(const struct emitter *e, const struct ptx_instruction *i, struct source_registers *reads,
                         struct source_registers *waits)
{
	struct ptx_uses uses;
	ptx_uses(i, &uses);
	for (uint32_t k = 0; k < uses.reads; k++)
		add_source(e, number_of(e, uses.list[uses.writes + k]), reads);
	for (uint32_t k = 0; k < uses.waits; k++)
		add_source(e, number_of(e, uses.list[uses.writes + uses.reads + k]), waits);
}

static void stand_in_for(struct emitter *e, const struct ptx_instruction *i)
{
	struct source_registers reads = {.count = 0}, waits = {.count = 0};
	int32_t result = machine_result(i);
	if (result < 0 || e->functions[e->function].values[result].def < 0)
		return;
	find_sources(e, i, &reads, &waits);
	struct stand_in *s = &e->stand_ins[number_of(e, (uint16_t)result)];
	s->set = true;
	s->count = (uint8_t)(reads.count < MOST_SOURCES ? reads.count : MOST_SOURCES);
	memcpy(s->list, reads.list, s->count * sizeof *s->list);
}

/* ---- instructions ---- */

static void add_results(struct emitter *e, const struct ptx_instruction *i, struct code_instruction *in)
{
	struct ptx_uses uses;
	ptx_uses(i, &uses);
	for (uint32_t k = 0; k < uses.writes; k++)
		add_operand(e, &in->writes, e->names[number_of(e, uses.list[k])]);
}

/* Adds the steps as a chain: the first reads the sources, the last makes the result. */
static void add_steps(struct emitter *e, const struct ptx_instruction *i, uint32_t like, const struct builtin_step *steps,
                      uint32_t count)
{
	struct source_registers reads = {.count = 0}, waits = {.count = 0};
	uint16_t values[BUILTIN_MAX_STEPS];
	find_sources(e, i, &reads, &waits);
	for (uint32_t k = 0; k < count; k++) {
		struct code_instruction in = new_instruction(e, like, (enum code_class)steps[k].class);
		int32_t from = steps[k].depends_on;
		if (k + 1 == count)
			add_results(e, i, &in);
		values[k] = k + 1 < count ? new_register(e, (enum code_class)steps[k].class) : 0;
		if (k + 1 < count)
			add_operand(e, &in.writes, values[k]);
		if (from >= 0)
			add_operand(e, &in.reads, values[from]);
		for (uint32_t n = 0; n < reads.count && n < 3 && from < 0; n++)
			add_operand(e, &in.reads, reads.list[n]);
		for (uint32_t n = 0; n < waits.count; n++)
			add_operand(e, &in.waits, waits.list[n]);
		if (i->guard >= 0)
			in.flags |= CODE_GUARDED;
		end(e, in, UINT32_MAX);
	}
}

static void add_plan(struct emitter *e, const struct ptx_instruction *i, const struct machine_plan *p, uint32_t like)
{
	struct builtin_step steps[BUILTIN_MAX_STEPS];
	uint32_t count = p->count;
	if (p->cost)
		count = (uint32_t)builtin_expand(p->cost, e->arch, steps, BUILTIN_MAX_STEPS);
	for (uint32_t k = 0; k < count && !p->cost; k++)
		steps[k] = (struct builtin_step){.class = p->classes[k], .depends_on = (int16_t)((int)k - 1)};
	if (count)
		add_steps(e, i, like, steps, count);
	else if (!p->kept && !p->wider)
		stand_in_for(e, i);
}

/* Copies an instruction of the code, with its registers renamed. */
static void copy(struct emitter *e, uint32_t index)
{
	const struct kernel_code *c = e->code;
	struct code_instruction in = c->code[index];
	const uint16_t *operands = &c->operands[in.first_operand];
	struct source_registers reads = {.count = 0};
	uint8_t writes = in.writes, old_reads = in.reads, waits = in.waits;
	for (uint32_t k = 0; k < old_reads; k++)
		add_source(e, operands[writes + k], &reads);
	in.first_operand = c->machine_operand_count;
	in.writes = in.reads = in.waits = 0;
	for (uint32_t k = 0; k < writes; k++)
		add_operand(e, &in.writes, e->names[operands[k]]);
	for (uint32_t k = 0; k < reads.count; k++)
		add_operand(e, &in.reads, reads.list[k]);
	for (uint32_t k = 0; k < waits; k++)
		add_operand(e, &in.waits, e->names[operands[writes + old_reads + k]]);
	end(e, in, in.class >= CODE_load && in.class <= CODE_texture ? index : UINT32_MAX);
}

/* bytes: of an access that is wider than that of the PTX; 0: none is */
static void copy_all(struct emitter *e, uint32_t first, uint32_t stop, uint8_t bytes)
{
	for (uint32_t i = first; i < stop; i++)
		copy(e, i);
	if (bytes && !e->counting)
		e->code->machine[e->code->machine_count - 1].bytes = bytes;
}

static void add_instruction(struct emitter *e, uint32_t at)
{
	const struct machine_function *f = &e->functions[e->function];
	uint32_t index = e->reached->functions[e->function].first_instruction + at;
	uint32_t first = e->starts[index], stop = e->starts[index + 1];
	bool library = stop > first && e->code->code[first].flags & CODE_EXPANDED;
	if (library || f->plans[at].kept)
		copy_all(e, first, stop, f->plans[at].bytes);
	else if (stop > first)
		add_plan(e, &f->ptx->instructions[at], &f->plans[at], first);
}

/* ---- blocks ---- */

/* Adds the instructions of a block or an arm. With without_control, the branch at its end is left out. */
static void add_body(struct emitter *e, uint32_t block, bool without_control)
{
	const struct machine_function *f = &e->functions[e->function];
	const struct graph_block *b = &f->graph->blocks[block];
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		if (f->ptx->instructions[i].class != CODE_branch || f->ptx->instructions[i].flags & CODE_CALL)
			if (!without_control || !machine_is_control(f, block, i))
				add_instruction(e, i);
}

static uint32_t like_of(const struct emitter *e, uint32_t block)
{
	const struct graph_block *b = &e->functions[e->function].graph->blocks[block];
	uint32_t index = e->starts[e->reached->functions[e->function].first_instruction + b->first];
	return index < e->code->code_count ? index : e->code->code_count - 1;
}

static void add_arm(struct emitter *e, int32_t arm)
{
	uint32_t first = e->code->machine_count;
	if (arm < 0)
		return;
	add_body(e, (uint32_t)arm, false);
	for (uint32_t i = first; i < e->code->machine_count && !e->counting; i++)
		e->code->machine[i].flags |= CODE_GUARDED;
}

static void add_end(struct emitter *e, uint32_t block)
{
	const struct machine_function *f = &e->functions[e->function];
	const struct graph_block *b = &f->graph->blocks[block];
	uint32_t last = b->first + b->count - 1;
	if (b->count && f->ptx->instructions[last].class == CODE_branch && !(f->ptx->instructions[last].flags & CODE_CALL) &&
	    !f->flow[block].drops_branch)
		copy(e, e->starts[e->reached->functions[e->function].first_instruction + last]);
	if (f->flow[block].by_table && !e->counting)
		e->code->machine[e->code->machine_count - 1].elements = CODE_TABLE_WAY;
}

/* Adds the start of a kernel: setting up the stack and, from sm_80 on, the descriptor of global memory. */
static void add_entry(struct emitter *e, uint32_t like)
{
	const struct machine_function *f = &e->functions[e->function];
	bool global = false;
	for (uint32_t i = 0; i < f->ptx->instruction_count; i++)
		global |= f->ptx->instructions[i].space == SPACE_global || f->ptx->instructions[i].space == SPACE_generic;
	add_plain(e, like, CODE_nop, 1u + (global && f->arch >= 80));
}

static void add_block(struct emitter *e, uint32_t block)
{
	const struct machine_function *f = &e->functions[e->function];
	const struct machine_flow *flow = &f->flow[block];
	uint32_t like = like_of(e, block);
	if (flow->merged >= 0 || !f->graph->blocks[block].count)
		return;
	if (!block && f->kernel)
		add_entry(e, like);
	add_plain(e, like, CODE_branch, flow->before); /* BSSY and BSYNC */
	add_body(e, block, false);
	add_arm(e, flow->arms[0]);
	add_arm(e, flow->arms[1]);
	for (uint32_t i = 0; i < flow->checks; i++)
		add_plain(e, like, i % 2 ? CODE_nop : CODE_int, 1);
	add_plain(e, like, CODE_branch, flow->after);
	add_end(e, block);
	if (flow->exits)
		add_plain(e, like, CODE_branch, 1);
}

static void set_block(struct emitter *e, uint32_t index, uint32_t of, uint32_t times, uint32_t first, int32_t merged)
{
	if (!e->counting)
		e->code->machine_blocks[index] = (struct code_machine_block){first, e->code->machine_count - first, of, times, merged};
}

static void add_unrolled(struct emitter *e, uint32_t block, uint32_t times)
{
	uint32_t first = e->code->machine_count, of = e->reached->functions[e->function].first_block + block;
	for (uint32_t i = 1; i < times; i++)
		add_body(e, block, true);
	add_block(e, block);
	set_block(e, e->code->machine_block_count, of, times, first, -1);
	e->code->machine_block_count++;
}

static void add_function(struct emitter *e, uint32_t number)
{
	const struct machine_function *f = &e->functions[number];
	uint32_t first_block = e->reached->functions[number].first_block;
	e->function = number;
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		uint32_t first = e->code->machine_count;
		add_block(e, b);
		set_block(e, first_block + b, first_block + b, 1, first,
		          f->flow[b].merged < 0 ? -1 : (int32_t)first_block + f->flow[b].merged);
	}
}

static void add_all(struct emitter *e)
{
	struct kernel_code *c = e->code;
	c->machine_count = c->machine_operand_count = 0;
	c->machine_block_count = c->block_count;
	memset(e->stand_ins, 0, (c->register_count + 1u) * sizeof *e->stand_ins);
	for (uint32_t i = 0; i < e->reached->count; i++)
		add_function(e, i);
	for (uint32_t i = 0; i < e->reached->count; i++) {
		e->function = i;
		for (uint32_t b = 0; b < e->functions[i].graph->block_count; b++)
			for (uint32_t times = 2; times <= e->functions[i].flow[b].unrolled; times *= 2)
				add_unrolled(e, b, times);
	}
}

/* A copy was removed, and other instructions write its result, too: its source gets that register's name. A load became part of
 * a wider load: its result gets the name of the wider load's result. */
static void name_copies(struct emitter *e)
{
	for (uint32_t r = 0; r < e->code->register_count; r++)
		e->names[r] = (uint16_t)r;
	for (uint32_t n = 0; n < e->reached->count; n++) {
		const struct machine_function *f = &e->functions[n];
		e->function = n;
		for (uint32_t i = 0; i < f->ptx->instruction_count; i++) {
			const struct ptx_instruction *in = &f->ptx->instructions[i];
			const struct ptx_operand *source = machine_source(in, 0);
			int32_t to = machine_result(in), wider = f->plans[i].wider ? (int32_t)f->plans[i].wider - 1 : -1;
			if (wider >= 0 && to >= 0 && machine_result(&f->ptx->instructions[wider]) >= 0)
				e->names[number_of(e, (uint16_t)to)] =
				    number_of(e, (uint16_t)machine_result(&f->ptx->instructions[wider]));
			if (machine_is(in, "mov") && !machine_plan_size(f, i) && source && source->kind == PTX_REGISTER && to >= 0 &&
			    source->reg >= 0 && f->values[to].def < 0 && f->values[source->reg].def >= 0)
				e->names[number_of(e, (uint16_t)source->reg)] = number_of(e, (uint16_t)to);
		}
	}
}

static int make_room(struct emitter *e)
{
	struct kernel_code *c = e->code;
	c->machine = calloc(c->machine_count + 1u, sizeof *c->machine);
	c->machine_origins = calloc(c->machine_count + 1u, sizeof *c->machine_origins);
	c->machine_operands = calloc(c->machine_operand_count + 1u, sizeof *c->machine_operands);
	c->machine_blocks = calloc(c->machine_block_count + 1u, sizeof *c->machine_blocks);
	c->machine_registers = calloc(c->register_count + STEP_REGISTERS + 1u, sizeof *c->machine_registers);
	if (!c->machine || !c->machine_origins || !c->machine_operands || !c->machine_blocks || !c->machine_registers)
		return -ENOMEM;
	memcpy(c->machine_registers, c->register_table, c->register_count * sizeof *c->machine_registers);
	return 0;
}

int machine_emit(const struct reached_functions *reached, const struct machine_function *functions, const uint32_t *starts,
                 const char *arch, struct kernel_code *code, struct gs_error *err)
{
	struct emitter e = {.reached = reached, .functions = functions, .starts = starts, .arch = arch, .code = code, .counting = true};
	if (code->register_count + STEP_REGISTERS > UINT16_MAX)
		return gs_fail(err, ERANGE, "%u registers are named, too many beside machine instructions", code->register_count);
	e.stand_ins = calloc(code->register_count + 1u, sizeof *e.stand_ins);
	e.names = calloc(code->register_count + 1u, sizeof *e.names);
	int result = e.stand_ins && e.names ? 0 : -ENOMEM;
	if (!result) {
		name_copies(&e);
		add_all(&e);
		result = make_room(&e);
	}
	if (!result) {
		e.counting = false;
		e.steps = 0;
		add_all(&e);
		code->machine_origin_count = code->machine_count;
		code->machine_register_count = code->register_count + STEP_REGISTERS;
	}
	free(e.stand_ins);
	free(e.names);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
