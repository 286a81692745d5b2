/* Finds the blocks and edges of a PTX function. dominators.c and loops.c fill the rest of the graph. */
#include "analysis/graph/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum flow {
	FLOW_NEXT, /* on to the next instruction */
	FLOW_JUMP, /* bra, brx.idx */
	FLOW_CALL,
	FLOW_END,  /* ret, exit, trap */
};

bool opcode_is(const char *opcode, const char *word)
{
	size_t length = strlen(word);
	return !strncmp(opcode, word, length) && (!opcode[length] || opcode[length] == '.');
}

static enum flow flow_of(const struct ptx_instruction *i)
{
	const char *opcode = i->opcode;
	if (opcode_is(opcode, "bra") || opcode_is(opcode, "brx"))
		return FLOW_JUMP;
	if (opcode_is(opcode, "call"))
		return calls_library(i) ? FLOW_NEXT : FLOW_CALL;
	return opcode_is(opcode, "ret") || opcode_is(opcode, "exit") || opcode_is(opcode, "trap") ? FLOW_END
												  : FLOW_NEXT;
}

/* The instruction that a label operand leads to. instruction_count: the label leads out of the function. */
static uint32_t target_of(const struct ptx_function *f, const struct ptx_operand *o)
{
	bool known = o->label >= 0 && (uint32_t)o->label < f->label_count;
	uint32_t at = known ? f->labels[o->label].at : f->instruction_count;
	return at < f->instruction_count ? at : f->instruction_count;
}

/* State while a graph is built. block_of[i] is the block of instruction i, and -1 for i == instruction_count. seen[b] is the
 * last block with an edge to b. With it, a jump table that names a label twice makes one edge. */
struct builder {
	const struct ptx_function *function;
	struct graph *graph;
	int32_t *block_of;
	uint32_t *seen;
	uint32_t edge_room;
};

static void mark_leaders(const struct ptx_function *f, int32_t *leader)
{
	leader[0] = 1;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		const struct ptx_instruction *in = &f->instructions[i];
		enum flow flow = flow_of(in);
		if (flow == FLOW_NEXT)
			continue;
		leader[i + 1] = 1;
		for (uint32_t o = 0; flow == FLOW_JUMP && o < in->operand_count; o++)
			if (in->operands[o].kind == PTX_LABEL)
				leader[target_of(f, &in->operands[o])] = 1;
	}
}

static int make_blocks(struct builder *b)
{
	const struct ptx_function *f = b->function;
	uint32_t count = 0;
	b->block_of = calloc((size_t)f->instruction_count + 1, sizeof *b->block_of);
	if (!b->block_of)
		return -ENOMEM;
	mark_leaders(f, b->block_of);
	for (uint32_t i = 0; i < f->instruction_count; i++)
		count += b->block_of[i] != 0;
	b->graph->block_count = count ? count : 1;
	b->graph->blocks = calloc(b->graph->block_count, sizeof *b->graph->blocks);
	b->seen = calloc((size_t)b->graph->block_count + 1, sizeof *b->seen);
	if (!b->graph->blocks || !b->seen)
		return -ENOMEM;
	int32_t block = -1;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		if (b->block_of[i])
			b->graph->blocks[++block].first = i;
		b->graph->blocks[block].count++;
		b->block_of[i] = block;
	}
	b->block_of[f->instruction_count] = -1;
	return 0;
}

static int add_edge(struct builder *b, uint32_t from, uint32_t to_instruction, bool taken)
{
	struct graph *g = b->graph;
	int32_t to = b->block_of[to_instruction];
	uint32_t *seen = &b->seen[to < 0 ? g->block_count : (uint32_t)to];
	if (taken && *seen == from + 1)
		return 0;
	if (taken)
		*seen = from + 1;
	if (g->edge_count == b->edge_room) {
		uint32_t room = b->edge_room ? 2 * b->edge_room : 2 * g->block_count + 16;
		struct graph_edge *larger = realloc(g->edges, room * sizeof *larger);
		if (!larger)
			return -ENOMEM;
		g->edges = larger;
		b->edge_room = room;
	}
	g->edges[g->edge_count++] = (struct graph_edge){.from = from, .to = to, .taken = taken};
	return 0;
}

static int add_edges(struct builder *b, uint32_t block)
{
	const struct ptx_function *f = b->function;
	struct graph_block *own = &b->graph->blocks[block];
	uint32_t end = own->first + own->count;
	const struct ptx_instruction *last = own->count ? &f->instructions[end - 1] : NULL;
	enum flow flow = last ? flow_of(last) : FLOW_NEXT;
	int result = 0;
	own->first_edge = b->graph->edge_count;
	own->calls = flow == FLOW_CALL;
	for (uint32_t o = 0; flow == FLOW_JUMP && o < last->operand_count && !result; o++)
		if (last->operands[o].kind == PTX_LABEL)
			result = add_edge(b, block, target_of(f, &last->operands[o]), true);
	/* A jump table that was not found must still lead somewhere. */
	if (!result && (flow == FLOW_END || (flow == FLOW_JUMP && b->graph->edge_count == own->first_edge)))
		result = add_edge(b, block, f->instruction_count, true);
	if (!result && (flow == FLOW_NEXT || flow == FLOW_CALL || last->guard >= 0))
		result = add_edge(b, block, end, false);
	own->edge_count = b->graph->edge_count - own->first_edge;
	return result;
}

static int link_edges_in(struct graph *g)
{
	uint32_t next = 0;
	g->in = calloc((size_t)g->edge_count + 1, sizeof *g->in);
	if (!g->in)
		return -ENOMEM;
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].to >= 0)
			g->blocks[g->edges[e].to].in_count++;
	for (uint32_t b = 0; b < g->block_count; b++) {
		g->blocks[b].first_in = next;
		next += g->blocks[b].in_count;
		g->blocks[b].in_count = 0;
	}
	for (uint32_t e = 0; e < g->edge_count; e++)
		if (g->edges[e].to >= 0) {
			struct graph_block *to = &g->blocks[g->edges[e].to];
			g->in[to->first_in + to->in_count++] = e;
		}
	return 0;
}

int graph_complete(struct graph *g, struct gs_error *err)
{
	if (link_edges_in(g))
		return gs_fail(err, ENOMEM, "out of memory");
	int result = graph_find_dominators(g, err);
	return result ? result : graph_find_loops(g, err);
}

int graph_build(const struct ptx_function *function, struct graph **out, struct gs_error *err)
{
	struct builder b = {.function = function, .graph = calloc(1, sizeof *b.graph)};
	int result = b.graph ? make_blocks(&b) : -ENOMEM;
	for (uint32_t i = 0; !result && i < b.graph->block_count; i++)
		result = add_edges(&b, i);
	free(b.block_of);
	free(b.seen);
	if (result) {
		gs_fail(err, ENOMEM, "out of memory");
	} else {
		b.graph->function = function;
		result = graph_complete(b.graph, err);
	}
	if (result)
		graph_free(b.graph);
	else
		*out = b.graph;
	return result;
}

void graph_free(struct graph *g)
{
	if (!g)
		return;
	free(g->blocks);
	free(g->edges);
	free(g->in);
	free(g->loops);
	free(g->order);
	free(g);
}

int32_t graph_block_of(const struct graph *g, uint32_t instruction)
{
	uint32_t low = 0, high = g->block_count;
	if (instruction >= g->function->instruction_count)
		return -1;
	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;
		if (g->blocks[middle].first <= instruction)
			low = middle;
		else
			high = middle;
	}
	return (int32_t)low;
}
