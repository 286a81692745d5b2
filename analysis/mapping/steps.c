/*
 * The part of the code that addresses depend on, in the order of execution (struct code_step).
 *
 *   needed: the registers of addresses; then, until there are no more, what instructions read that write a needed one
 * Which of several definitions of a register holds is not asked here: whoever follows a path executes them in its order. What a call
 * hands over goes through slots of its own, one for each argument, and one for the result.
 */
#include "analysis/graph/addresses.h"
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_HANDED = 16, MOST_SOURCES = 3, LEAVES_COMPARED = 64 };

struct step_finder {
	const struct mapping *m;
	const uint32_t *starts;
	bool *needed;      /* per register, then the arguments of calls, then their result */
	int32_t *slot_of;  /* the same; -1: none yet */
	int32_t slot_count;
	struct code_step *steps, *leaves;
	uint32_t step_count, leaf_count, step_room, leaf_room;
	bool failed;
	/* The function under way. */
	const struct reached_function *function;
	uint32_t at; /* where the instruction begins in the code */
};

static uint32_t handed(const struct step_finder *f, int64_t argument)
{
	return f->m->register_count + (uint32_t)(argument < MOST_HANDED ? argument : MOST_HANDED - 1);
}

static uint32_t result_of_calls(const struct step_finder *f)
{
	return f->m->register_count + MOST_HANDED;
}

/* ---- what instructions read and write ---- */

/* Registers by their numbers in all functions. */
struct effect {
	uint32_t writes[PTX_MAX_REGISTERS], reads[MOST_SOURCES];
	uint32_t write_count, read_count;
};

/* The argument of a call, or its result, that st.param and ld.param are for; false: it is an argument of the kernel. */
static bool handed_by(const struct step_finder *f, const struct ptx_operand *at, uint32_t *reg)
{
	const char *name = at->text ? at->text : "";
	int64_t index = parameter_index(name);
	if (strstr(name, "retval"))
		*reg = result_of_calls(f);
	else if (!strncmp(name, "param", 5))
		*reg = handed(f, strtoll(name + 5, NULL, 10));
	else if (index >= 0 && !f->function->ptx->entry)
		*reg = handed(f, index);
	else
		return false;
	return true;
}

static void add_read(const struct step_finder *f, struct effect *e, const struct ptx_operand *o)
{
	if (o->reg >= 0 && (uint32_t)o->reg < f->function->ptx->register_count && e->read_count < MOST_SOURCES)
		e->reads[e->read_count++] = f->function->first_register + (uint32_t)o->reg;
}

static bool is_library_call(const struct step_finder *f, const struct ptx_instruction *i)
{
	const struct ptx_operand *callee = ptx_callee(i);
	const struct ptx_function *called = callee && callee->kind == PTX_SYMBOL ? ptx_find(f->m->module, callee->text) : NULL;
	return callee && (!called || called->external);
}

static void find_effect(const struct step_finder *f, const struct ptx_instruction *i, struct effect *e)
{
	const struct ptx_operand *at = address_operand(i);
	uint32_t reg;
	e->write_count = e->read_count = 0;
	if (i->flags & CODE_CALL) {
		if (is_library_call(f, i))
			e->writes[e->write_count++] = result_of_calls(f);
		for (uint32_t k = 0; k < MOST_SOURCES && e->write_count; k++)
			e->reads[e->read_count++] = handed(f, k);
		return;
	}
	if (i->class == CODE_store && i->space == SPACE_param && at && handed_by(f, at, &reg))
		e->writes[e->write_count++] = reg;
	for (uint32_t o = 0; o < i->operand_count; o++) {
		const struct ptx_operand *op = &i->operands[o];
		if (op->kind == PTX_REGISTER && op->write && op->reg >= 0 && e->write_count < PTX_MAX_REGISTERS)
			e->writes[e->write_count++] = f->function->first_register + (uint32_t)op->reg;
		else if (op->kind == PTX_REGISTER && !op->write)
			add_read(f, e, op);
	}
	if (i->class == CODE_load && i->space == SPACE_param && at && e->read_count < MOST_SOURCES && handed_by(f, at, &reg))
		e->reads[e->read_count++] = reg;
}

static bool has_address(const struct ptx_instruction *i)
{
	return (i->class == CODE_load || i->class == CODE_store || i->class == CODE_atomic) && i->space != SPACE_param &&
	       i->space != SPACE_none && address_operand(i);
}

/* ---- what is needed ---- */

static bool need(struct step_finder *f, uint32_t reg)
{
	bool is_new = !f->needed[reg];
	f->needed[reg] = true;
	return is_new;
}

static bool writes_needed(const struct step_finder *f, const struct effect *e)
{
	for (uint32_t w = 0; w < e->write_count; w++)
		if (f->needed[e->writes[w]])
			return true;
	return false;
}

/* Whether there were new ones. */
static bool need_sources(struct step_finder *f, const struct ptx_instruction *i)
{
	const struct ptx_operand *at = has_address(i) ? address_operand(i) : NULL;
	struct effect e;
	bool any = at && at->reg >= 0 && need(f, f->function->first_register + (uint32_t)at->reg);
	if (has_address(i)) /* what it loads is not followed further */
		return any;
	find_effect(f, i, &e);
	for (uint32_t r = 0; r < e.read_count && writes_needed(f, &e); r++)
		any |= need(f, e.reads[r]);
	return any;
}

static void find_needed(struct step_finder *f)
{
	for (bool more = true; more;) {
		more = false;
		for (uint32_t n = f->m->reached.count; n-- > 0;) {
			f->function = &f->m->reached.functions[n];
			for (uint32_t i = f->function->ptx->instruction_count; i-- > 0;)
				more |= need_sources(f, &f->function->ptx->instructions[i]);
		}
	}
}

/* ---- steps ---- */

static struct code_step *append(struct step_finder *f, struct code_step **list, uint32_t *count, uint32_t *room, struct code_step step)
{
	if (*count == *room) {
		uint32_t larger = *room ? 2 * *room : 64;
		struct code_step *grown = reallocarray(*list, larger, sizeof *grown);
		if (!grown) {
			f->failed = true;
			return NULL;
		}
		*list = grown;
		*room = larger;
	}
	(*list)[*count] = step;
	return &(*list)[(*count)++];
}

static int32_t leaf_slot(struct step_finder *f, enum code_node_op op, uint8_t bits, int64_t value)
{
	struct code_node n = {.op = op, .from_bits = bits, .to_bits = bits, .a = -1, .b = -1, .c = -1, .value = value};
	for (uint32_t i = f->leaf_count; i-- > 0 && f->leaf_count - i < LEAVES_COMPARED;)
		if (f->leaves[i].node.op == op && f->leaves[i].node.to_bits == bits && f->leaves[i].node.value == value)
			return f->leaves[i].slot;
	append(f, &f->leaves, &f->leaf_count, &f->leaf_room, (struct code_step){.instruction = STEP_FIRST, .slot = f->slot_count, .node = n});
	return f->slot_count++;
}

static int32_t register_slot(struct step_finder *f, uint32_t reg)
{
	if (f->slot_of[reg] < 0)
		f->slot_of[reg] = f->slot_count++;
	return f->slot_of[reg];
}

static void add_step(struct step_finder *f, int32_t slot, struct code_node n)
{
	append(f, &f->steps, &f->step_count, &f->step_room, (struct code_step){.instruction = f->at, .slot = slot, .node = n});
}

/* Private memory begins at 0, as in traces. */
static int64_t place_of_symbol(const char *name, int64_t offset)
{
	return offset + (name && strncmp(name, "__local_depot", 13) ? address_of_symbol(name) : 0);
}

static int32_t operand_slot(struct step_finder *f, const struct ptx_operand *o)
{
	enum code_node_op op;
	int64_t dimension;
	switch (o->kind) {
	case PTX_REGISTER:
		return o->reg < 0 ? leaf_slot(f, NODE_varying, 64, 0) : register_slot(f, f->function->first_register + (uint32_t)o->reg);
	case PTX_IMMEDIATE:
		return leaf_slot(f, NODE_value, 64, o->value);
	case PTX_SPECIAL:
		if (id_of_special(o->text, &op, &dimension))
			return leaf_slot(f, op, 32, dimension);
		return leaf_slot(f, strncmp(o->text, "%lane", 5) ? NODE_uniform : NODE_varying, 32, 0);
	case PTX_SYMBOL:
		return leaf_slot(f, NODE_value, 64, place_of_symbol(o->text, o->value));
	default:
		return leaf_slot(f, NODE_uniform, 64, 0);
	}
}

static void add_address(struct step_finder *f, const struct ptx_operand *at)
{
	struct code_node n = {.op = NODE_add, .from_bits = 64, .to_bits = 64, .b = -1, .c = -1};
	n.a = at->reg >= 0 ? register_slot(f, f->function->first_register + (uint32_t)at->reg)
	                   : leaf_slot(f, NODE_value, 64, place_of_symbol(at->text ? at->text : "", 0));
	n.b = leaf_slot(f, NODE_value, 64, at->value);
	add_step(f, -1, n);
}

static uint8_t bits_of(uint32_t bytes)
{
	return (uint8_t)(bytes < 1 ? 8 : bytes < 8 ? 8 * bytes : 64);
}

static void add_contents(struct step_finder *f, const struct ptx_instruction *i)
{
	uint32_t each = i->elements ? i->bytes / i->elements : i->bytes;
	struct code_node n = {.op = NODE_content, .from_bits = bits_of(each), .to_bits = bits_of(each), .a = -1, .b = -1, .c = -1};
	for (uint32_t o = 0; o < i->operand_count; o++) {
		if (!i->operands[o].write || i->operands[o].kind != PTX_REGISTER || i->operands[o].reg < 0)
			continue;
		uint32_t reg = f->function->first_register + (uint32_t)i->operands[o].reg;
		if (f->needed[reg])
			add_step(f, register_slot(f, reg), n);
		n.value++;
	}
}

/* An argument of the kernel, of which 8 bytes are known. */
static int32_t argument_slot(struct step_finder *f, const struct ptx_instruction *i, const struct ptx_operand *at)
{
	int64_t index = parameter_index(at->text);
	if (index >= 0 && !at->value && i->elements <= 1 && i->bytes <= 8)
		return leaf_slot(f, NODE_param, bits_of(i->bytes), index);
	return leaf_slot(f, NODE_uniform, 64, (int64_t)(((uint64_t)index << 16) + (uint64_t)at->value + 1)); /* any of its own will do */
}

/* "mul.hi.u32" */
static bool is_upper_product(const char *opcode, struct code_node *n)
{
	size_t length = strlen(opcode);
	if (strncmp(opcode, "mul.hi.", 7) || length < 10)
		return false;
	n->op = NODE_mulhi;
	n->signed_ = opcode[length - 3] == 's';
	n->from_bits = n->to_bits = (uint8_t)strtoul(opcode + length - 2, NULL, 10);
	return n->from_bits == 16 || n->from_bits == 32 || n->from_bits == 64;
}

static struct code_node find_operation(struct step_finder *f, const struct ptx_instruction *i, const struct ptx_operand **sources,
                                       size_t count, size_t writes)
{
	struct code_node n;
	bool swap = false, followed = writes == 1 && i->class < CODE_load && i->class != CODE_shuffle && operation_of(i, count, &n, &swap);
	if (!followed) {
		n = (struct code_node){.op = NODE_mix, .from_bits = 64, .to_bits = 64, .a = -1, .b = -1, .c = -1};
		followed = count == 2 && is_upper_product(i->opcode, &n);
	}
	if (!followed)
		n.op = NODE_mix;
	/* What other lanes hand over is not followed. */
	if (i->class == CODE_shuffle)
		n.c = leaf_slot(f, NODE_varying, 64, 0);
	if (count > 0)
		n.a = operand_slot(f, sources[swap ? 1 : 0]);
	if (count > 1)
		n.b = operand_slot(f, sources[swap ? 0 : 1]);
	if (count > 2 && n.c < 0)
		n.c = operand_slot(f, sources[2]);
	return n;
}

static void add_operation(struct step_finder *f, const struct ptx_instruction *i, const struct effect *e)
{
	const struct ptx_operand *sources[MOST_SOURCES + 1] = {NULL};
	size_t count = 0, writes = 0;
	for (uint32_t o = 0; o < i->operand_count; o++) {
		if (i->operands[o].write)
			writes++;
		else if (count <= MOST_SOURCES)
			sources[count++] = &i->operands[o];
	}
	struct code_node n = find_operation(f, i, sources, count, writes);
	for (uint32_t w = 0; w < e->write_count; w++)
		if (f->needed[e->writes[w]])
			add_step(f, register_slot(f, e->writes[w]), n);
}

static void add_copy(struct step_finder *f, uint32_t to, int32_t from, uint8_t bits)
{
	add_step(f, register_slot(f, to), (struct code_node){.op = NODE_cvt, .from_bits = bits, .to_bits = bits, .a = from, .b = -1, .c = -1});
}

static void add_handed(struct step_finder *f, const struct ptx_instruction *i, const struct effect *e)
{
	const struct ptx_operand *at = address_operand(i);
	if (i->flags & CODE_CALL) {
		struct code_node n = {.op = NODE_mix, .from_bits = 64, .to_bits = 64, .a = register_slot(f, e->reads[0]),
		                      .b = register_slot(f, e->reads[1]), .c = register_slot(f, e->reads[2])};
		add_step(f, register_slot(f, e->writes[0]), n);
		return;
	}
	for (uint32_t w = 0; w < e->write_count; w++) {
		int32_t from = e->read_count ? register_slot(f, e->reads[e->read_count - 1])
		               : i->class == CODE_load && at ? argument_slot(f, i, at) : leaf_slot(f, NODE_uniform, 64, 0);
		if (f->needed[e->writes[w]])
			add_copy(f, e->writes[w], from, bits_of(i->bytes));
	}
}

static void add_steps(struct step_finder *f, const struct ptx_instruction *i)
{
	struct effect e;
	if (has_address(i)) {
		add_address(f, address_operand(i));
		add_contents(f, i);
		return;
	}
	find_effect(f, i, &e);
	if (!writes_needed(f, &e))
		return;
	if (i->space == SPACE_param || i->flags & CODE_CALL)
		add_handed(f, i, &e);
	else
		add_operation(f, i, &e);
}

static void find_steps(struct step_finder *f)
{
	for (uint32_t n = 0; n < f->m->reached.count; n++) {
		f->function = &f->m->reached.functions[n];
		for (uint32_t i = 0; i < f->function->ptx->instruction_count && !f->failed; i++) {
			f->at = f->starts[f->function->first_instruction + i];
			add_steps(f, &f->function->ptx->instructions[i]);
		}
	}
}

int mapping_steps(const struct mapping *m, const uint32_t *starts, struct kernel_code *code, struct gs_error *err)
{
	uint32_t registers = m->register_count + MOST_HANDED + 1;
	struct step_finder f = {.m = m, .starts = starts};
	f.needed = calloc(registers + 1, sizeof *f.needed);
	f.slot_of = malloc((registers + 1) * sizeof *f.slot_of);
	f.failed = !f.needed || !f.slot_of;
	if (!f.failed) {
		memset(f.slot_of, -1, (registers + 1) * sizeof *f.slot_of);
		find_needed(&f);
		find_steps(&f);
	}
	if (f.slot_count > STEP_MOST_SLOTS)
		f.leaf_count = f.step_count = 0;
	struct code_step *all = f.failed ? NULL : calloc(f.leaf_count + f.step_count + 1u, sizeof *all);
	if (all) {
		if (f.leaf_count)
			memcpy(all, f.leaves, f.leaf_count * sizeof *all);
		if (f.step_count)
			memcpy(all + f.leaf_count, f.steps, f.step_count * sizeof *all);
		code->steps = all;
		code->step_count = f.leaf_count + f.step_count;
	}
	free(f.needed);
	free(f.slot_of);
	free(f.leaves);
	free(f.steps);
	return all ? 0 : gs_fail(err, ENOMEM, "out of memory");
}
