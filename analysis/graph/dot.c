/* Writes a control-flow graph as DOT text. Loops are nested boxes. Back edges are bold. Fall-through edges are dashed. */
#include "analysis/graph/internal.h"

#include <inttypes.h>

/* Text inside of a quoted DOT string. */
static void add_escaped(struct gs_buf *out, const char *text)
{
	for (; text && *text; text++) {
		if (*text == '"' || *text == '\\')
			gs_buf_puts(out, "\\");
		gs_buf_add(out, text, 1);
	}
}

static const char *register_name(const struct ptx_function *f, int32_t reg)
{
	return reg >= 0 && (uint32_t)reg < f->register_count && f->registers[reg].name ? f->registers[reg].name : "?";
}

static void add_operand(struct gs_buf *out, const struct ptx_function *f, const struct ptx_operand *o)
{
	bool address = o->kind == PTX_ADDRESS, named = o->reg < 0 && o->text;
	gs_buf_puts(out, o->negated ? "!" : address ? "[" : "");
	if (o->kind == PTX_REGISTER || (address && o->reg >= 0))
		add_escaped(out, register_name(f, o->reg));
	else if (o->kind == PTX_LABEL)
		add_escaped(out, o->label >= 0 && (uint32_t)o->label < f->label_count ? f->labels[o->label].name : "?");
	else if (o->kind != PTX_IMMEDIATE && named)
		add_escaped(out, o->text);
	if (o->kind == PTX_IMMEDIATE || (address && o->reg < 0 && !o->text))
		gs_buf_printf(out, "%" PRId64, o->value);
	else if ((o->kind == PTX_SYMBOL || address) && o->value)
		gs_buf_printf(out, "%+" PRId64, o->value);
	gs_buf_puts(out, address ? "]" : "");
}

static void add_instruction(struct gs_buf *out, const struct ptx_function *f, const struct ptx_instruction *i)
{
	if (i->guard >= 0) {
		gs_buf_puts(out, i->guard_negated ? "@!" : "@");
		add_escaped(out, register_name(f, i->guard));
		gs_buf_puts(out, " ");
	}
	add_escaped(out, i->opcode);
	for (uint32_t o = 0; o < i->operand_count; o++) {
		gs_buf_puts(out, o ? ", " : " ");
		add_operand(out, f, &i->operands[o]);
	}
	gs_buf_puts(out, "\\l");
}

static void add_block(struct gs_buf *out, const struct graph *g, uint32_t block, bool instructions)
{
	const struct graph_block *b = &g->blocks[block];
	gs_buf_printf(out, "b%u [label=\"block %u: %u instruction%s\\l", block, block, b->count,
		      b->count == 1 ? "" : "s");
	for (uint32_t i = b->first; instructions && i < b->first + b->count; i++)
		add_instruction(out, g->function, &g->function->instructions[i]);
	gs_buf_printf(out, "\"%s];\n", b->reachable ? "" : ", style=dotted");
}

/* Adds the blocks of a loop and the loops directly inside it. Loop -1 stands for the function itself. */
static void add_loop(struct gs_buf *out, const struct graph *g, int32_t loop, bool instructions)
{
	if (loop >= 0)
		gs_buf_printf(out, "subgraph cluster_%d {\nlabel=\"loop %d\";\n", loop, loop);
	for (uint32_t b = 0; b < g->block_count; b++)
		if (g->blocks[b].loop == loop)
			add_block(out, g, b, instructions);
	for (uint32_t l = 0; l < g->loop_count; l++)
		if (g->loops[l].outer == loop)
			add_loop(out, g, (int32_t)l, instructions);
	gs_buf_puts(out, loop >= 0 ? "}\n" : "");
}

void graph_dot(const struct graph *g, bool instructions, struct gs_buf *out)
{
	gs_buf_puts(out, "digraph \"");
	add_escaped(out, g->function->name);
	gs_buf_puts(out, "\" {\nnode [shape=box, fontname=\"monospace\"];\n");
	add_loop(out, g, -1, instructions);
	gs_buf_puts(out, "end [shape=oval];\n");
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_edge *edge = &g->edges[e];
		gs_buf_printf(out, "b%u -> ", edge->from);
		if (edge->to < 0)
			gs_buf_puts(out, "end");
		else
			gs_buf_printf(out, "b%d", edge->to);
		gs_buf_printf(out, " [style=%s];\n", edge->back ? "bold" : edge->taken ? "solid" : "dashed");
	}
	gs_buf_puts(out, "}\n");
}
