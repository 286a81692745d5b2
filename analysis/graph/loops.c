/*
 * Natural loops. A back edge leads to a header that dominates the edge's source. The loop contains the header and every block
 * that can reach the back edge without going through the header.
 *
 * Headers are taken in reverse postorder from last to first, so inner loops come before outer loops. Once a loop is found,
 * union-find merges it into one node, its header. So every block is visited once. This is the reducible part of Havlak, "Nesting
 * of Reducible and Irreducible Loops", 1997.
 */
#include "analysis/graph/internal.h"

#include <errno.h>
#include <stdlib.h>

struct loop_finder {
	struct graph *graph;
	uint32_t *merged; /* union-find: the header of the loop that a block was merged into */
	uint32_t *stack;
	int32_t *loop_of; /* per header: its loop, or -1 */
};

static uint32_t outermost(struct loop_finder *f, uint32_t block)
{
	while (f->merged[block] != block)
		block = f->merged[block] = f->merged[f->merged[block]];
	return block;
}

static uint32_t mark_back_edges(struct graph *g, int32_t *is_header)
{
	uint32_t headers = 0;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		struct graph_edge *edge = &g->edges[e];
		edge->back = edge->to >= 0 && g->blocks[edge->from].reachable &&
		             graph_dominates(g, (uint32_t)edge->to, edge->from);
		if (edge->back && !is_header[edge->to]) {
			is_header[edge->to] = 1;
			headers++;
		}
	}
	return headers;
}

/* Adds a node to the loop. The node is a block, or a loop inside it. */
static void add_to_loop(struct loop_finder *f, uint32_t node, uint32_t header, uint32_t *depth)
{
	int32_t loop = f->loop_of[header];
	f->merged[node] = header;
	if (f->loop_of[node] >= 0)
		f->graph->loops[f->loop_of[node]].outer = loop;
	else
		f->graph->blocks[node].loop = loop;
	f->stack[(*depth)++] = node;
}

/* Nodes on the stack are in the loop. Their predecessors are in the loop, too. */
static void collect(struct loop_finder *f, uint32_t header)
{
	const struct graph *g = f->graph;
	uint32_t depth = 0;
	g->blocks[header].loop = f->loop_of[header];
	f->stack[depth++] = header;
	while (depth) {
		uint32_t node = f->stack[--depth];
		const struct graph_block *block = &g->blocks[node];
		for (uint32_t i = 0; i < block->in_count; i++) {
			const struct graph_edge *edge = &g->edges[g->in[block->first_in + i]];
			if (!g->blocks[edge->from].reachable || (node == header && !edge->back))
				continue;
			uint32_t from = outermost(f, edge->from);
			if (from != header)
				add_to_loop(f, from, header, &depth);
		}
	}
}

static int number_loops(struct loop_finder *f, uint32_t count)
{
	struct graph *g = f->graph;
	g->loops = calloc((size_t)count + 1, sizeof *g->loops);
	if (!g->loops)
		return -ENOMEM;
	for (uint32_t b = 0; b < g->block_count; b++)
		g->blocks[b].loop = -1;
	for (uint32_t i = 0; i < g->order_count; i++) {
		uint32_t block = g->order[i];
		if (f->loop_of[block]) {
			f->loop_of[block] = (int32_t)g->loop_count;
			g->loops[g->loop_count++] = (struct graph_loop){.header = block, .outer = -1, .depth = 1};
		} else {
			f->loop_of[block] = -1;
		}
	}
	return 0;
}

int graph_find_loops(struct graph *g, struct gs_error *err)
{
	struct loop_finder f = {.graph = g,
	                        .merged = calloc(g->block_count, sizeof *f.merged),
	                        .stack = calloc(g->block_count, sizeof *f.stack),
	                        .loop_of = calloc(g->block_count, sizeof *f.loop_of)};
	int result = f.merged && f.stack && f.loop_of ? 0 : -ENOMEM;
	if (!result)
		result = number_loops(&f, mark_back_edges(g, f.loop_of));
	for (uint32_t b = 0; !result && b < g->block_count; b++)
		f.merged[b] = b;
	for (uint32_t i = g->loop_count; !result && i-- > 0;)
		collect(&f, g->loops[i].header);
	for (uint32_t i = 0; !result && i < g->loop_count; i++)
		if (g->loops[i].outer >= 0)
			g->loops[i].depth = g->loops[g->loops[i].outer].depth + 1;
	free(f.merged);
	free(f.stack);
	free(f.loop_of);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

bool graph_in_loop(const struct graph *g, uint32_t block, uint32_t loop)
{
	int32_t own = g->blocks[block].loop;
	while (own >= 0 && (uint32_t)own != loop)
		own = g->loops[own].outer;
	return own >= 0;
}
