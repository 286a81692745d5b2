/*
 * Orders the instructions of a block as an assembler does. Every load comes as early as dependences allow. The instructions that
 * compute its address come before it. Assemblers issue loads early because a warp waits for them the longest. This costs
 * registers, since all loaded values are live at once.
 *
 * There are two kinds of dependences. One is through registers. The other is through memory: two instructions access the same
 * space and at least one of them writes. Read-only loads (.nc) wait for no store. Barriers, fences and calls depend on all of
 * memory.
 */
#include "analysis/graph/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const uint32_t NONE = UINT32_MAX;

/* Instructions are numbered from the block's first. Each has a list of the instructions that it depends on: `first`, then
 * `next`. */
struct link {
	uint32_t on, next;
};

struct register_state {
	uint32_t writer;  /* the last writer, or NONE */
	uint32_t readers; /* a list of the readers after that writer */
};

struct early {
	const struct ptx_instruction *code;
	uint32_t count;
	struct link *links;
	uint32_t link_count, link_room;
	uint32_t *first, *stack;
	bool *done;
	struct register_state *registers;
	uint32_t memory[CODE_SPACE_COUNT]; /* per space: the last instruction that wrote to it, or NONE */
	uint32_t *order, ordered;
	bool failed;
};

static void push(struct early *e, uint32_t *list, uint32_t value)
{
	if (value == NONE)
		return;
	if (e->link_count == e->link_room) {
		uint32_t room = e->link_room ? 2 * e->link_room : 4 * e->count + 16;
		struct link *larger = realloc(e->links, room * sizeof *larger);
		if (!larger) {
			e->failed = true;
			return;
		}
		e->links = larger;
		e->link_room = room;
	}
	e->links[e->link_count] = (struct link){.on = value, .next = *list};
	*list = e->link_count++;
}

static void depend(struct early *e, uint32_t i, uint32_t on)
{
	if (on != i)
		push(e, &e->first[i], on);
}

static void depend_on_all(struct early *e, uint32_t i, uint32_t list)
{
	for (; list != NONE && !e->failed; list = e->links[list].next)
		depend(e, i, e->links[list].on);
}

static void add_registers(struct early *e, uint32_t i)
{
	struct ptx_uses u;
	ptx_uses(&e->code[i], &u);
	uint32_t count = (uint32_t)u.writes + u.reads + u.waits;
	for (uint32_t k = u.writes; k < count; k++) {
		depend(e, i, e->registers[u.list[k]].writer);
		push(e, &e->registers[u.list[k]].readers, i);
	}
	for (uint32_t k = 0; k < u.writes; k++) {
		struct register_state *r = &e->registers[u.list[k]];
		depend(e, i, r->writer);
		depend_on_all(e, i, r->readers);
		*r = (struct register_state){.writer = i, .readers = NONE};
	}
}

/* Earlier loads need no entry here. Loads are taken in their order, so they come before everything that a later load needs. */
static void write_memory(struct early *e, uint32_t i, uint32_t *writer)
{
	depend(e, i, *writer);
	*writer = i;
}

static bool reads_memory(const struct ptx_instruction *i)
{
	return (i->class == CODE_load || i->class == CODE_texture) && i->space != SPACE_none;
}

/* Loads of parameters do not count, because nothing waits for them. */
static bool is_load(const struct ptx_instruction *i)
{
	return reads_memory(i) && i->space != SPACE_param;
}

static void add_memory(struct early *e, uint32_t i)
{
	const struct ptx_instruction *in = &e->code[i];
	/* A generic address is nearly always a global address. */
	uint32_t *writer = &e->memory[in->space == SPACE_generic ? SPACE_global : in->space];
	if (calls_library(in)) {
		write_memory(e, i, &e->memory[SPACE_param]);
	} else if (in->class == CODE_barrier || in->class == CODE_fence || opcode_is(in->opcode, "call") || (in->copies && in->class == CODE_move)) {
		for (int s = 0; s < CODE_SPACE_COUNT; s++)
			write_memory(e, i, &e->memory[s]);
	} else if (reads_memory(in) && !strstr(in->opcode, ".nc")) {
		depend(e, i, *writer);
	} else if (in->class == CODE_store || in->class == CODE_atomic) {
		write_memory(e, i, writer);
	}
}

/* Emits an instruction after all instructions that it depends on, without recursion. */
static void emit(struct early *e, uint32_t i)
{
	uint32_t depth = 0;
	if (!e->done[i])
		e->stack[depth++] = i;
	while (depth) {
		uint32_t at = e->stack[depth - 1], open = e->first[at];
		while (open != NONE && e->done[e->links[open].on])
			open = e->links[open].next;
		e->first[at] = open;
		if (open != NONE) {
			e->stack[depth++] = e->links[open].on;
		} else {
			e->done[at] = true;
			e->order[e->ordered++] = at;
			depth--;
		}
	}
}

static void early_free(struct early *e)
{
	free(e->links);
	free(e->first);
	free(e->stack);
	free(e->done);
	free(e->registers);
}

static int early_create(struct early *e, const struct ptx_function *f)
{
	size_t count = (size_t)f->instruction_count + 1, registers = (size_t)f->register_count + 1;
	*e = (struct early){.first = malloc(count * sizeof *e->first),
	                    .stack = malloc(count * sizeof *e->stack),
	                    .done = malloc(count * sizeof *e->done),
	                    .registers = malloc(registers * sizeof *e->registers)};
	for (size_t i = 0; i < registers && e->registers; i++)
		e->registers[i] = (struct register_state){NONE, NONE};
	return e->first && e->stack && e->done && e->registers ? 0 : -ENOMEM;
}

static void begin_block(struct early *e, const struct ptx_instruction *code, uint32_t count, uint32_t *order)
{
	e->code = code;
	e->count = count;
	e->order = order;
	e->ordered = e->link_count = 0;
	for (uint32_t i = 0; i < count; i++) {
		e->first[i] = NONE;
		e->done[i] = false;
	}
	for (int s = 0; s < CODE_SPACE_COUNT; s++)
		e->memory[s] = NONE;
}

/* Resets only the registers that the block used. Functions have many blocks and many registers. */
static void forget_registers(struct early *e)
{
	struct ptx_uses u;
	for (uint32_t i = 0; i < e->count; i++) {
		ptx_uses(&e->code[i], &u);
		for (uint32_t k = 0; k < (uint32_t)u.writes + u.reads + u.waits; k++)
			e->registers[u.list[k]] = (struct register_state){NONE, NONE};
	}
}

static void order_block(struct early *e)
{
	for (uint32_t i = 0; i < e->count && !e->failed; i++) {
		add_registers(e, i);
		add_memory(e, i);
	}
	for (uint32_t i = 0; i < e->count && !e->failed; i++)
		if (is_load(&e->code[i]))
			emit(e, i);
	for (uint32_t i = 0; i < e->count && !e->failed; i++)
		emit(e, i);
	forget_registers(e);
}

int graph_early_loads(const struct graph *g, uint32_t *order)
{
	struct early e;
	int result = early_create(&e, g->function);
	for (uint32_t b = 0; b < g->block_count && !result; b++) {
		uint32_t first = g->blocks[b].first;
		begin_block(&e, &g->function->instructions[first], g->blocks[b].count, order + first);
		order_block(&e);
		for (uint32_t i = 0; i < e.ordered; i++)
			order[first + i] += first;
		result = e.failed ? -ENOMEM : 0;
	}
	early_free(&e);
	return result;
}
