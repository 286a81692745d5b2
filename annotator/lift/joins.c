/*
 * Where lanes that a branch separates meet again.
 *
 * That is the immediate post-dominator of the branch. But a way that ends the kernel at once, such as an early return, would move it to the
 * end, and lanes would stay apart for all of the rest. Lanes that leave need not be waited for. So ways of branches that only leave are not
 * looked at, unless there is no other way to the end.
 */
#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const struct ptx_instruction *only_instruction(const struct planned_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	return b->count == 1 && f->function->instructions[b->first].guard < 0 ? &f->function->instructions[b->first] : NULL;
}

/* Blocks with nothing but an end, or a branch to such a block. */
static void find_leaves(struct planned_function *f)
{
	const struct graph *g = f->graph;
	for (bool changed = f->function->entry; changed;) {
		changed = false;
		for (uint32_t b = 0; b < g->block_count; b++) {
			const struct ptx_instruction *only = only_instruction(f, b);
			enum flow_kind kind = only && !f->leaves[b] ? flow_kind(only) : FLOW_NONE;
			int32_t to = g->edges[g->blocks[b].first_edge].to;
			f->leaves[b] |= kind == FLOW_RETURN || kind == FLOW_EXIT || (kind == FLOW_BRANCH && to >= 0 && f->leaves[to]);
			changed |= kind != FLOW_NONE && f->leaves[b];
		}
	}
}

static bool leads_out(const struct planned_function *f, const struct graph_edge *e)
{
	return f->function->entry && (e->to < 0 || f->leaves[e->to]);
}

/* Marks blocks that reach the end without the edges. */
static void find_ending(const struct graph *g, const bool *without, bool *ends)
{
	memset(ends, 0, g->block_count);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t e = g->edge_count; e-- > 0;) {
			const struct graph_edge *edge = &g->edges[e];
			if (without[e] || ends[edge->from] || (edge->to >= 0 && !ends[edge->to]))
				continue;
			ends[edge->from] = changed = true;
		}
	}
}

/* Takes edges back, where blocks have no other way to the end. */
static void take_back(const struct graph *g, bool *without, bool *ends)
{
	for (bool changed = true; changed;) {
		changed = false;
		find_ending(g, without, ends);
		for (uint32_t e = 0; e < g->edge_count && !changed; e++)
			if (without[e] && !ends[g->edges[e].from]) {
				without[e] = false;
				changed = true;
			}
	}
}

int plan_joins(struct planned_function *f, struct gs_error *err)
{
	const struct graph *g = f->graph;
	bool *without = calloc(g->edge_count + 1u, 1), *ends = calloc(g->block_count + 1u, 1);
	int result = without && ends ? 0 : gs_fail(err, ENOMEM, "out of memory");
	if (!result) {
		find_leaves(f);
		for (uint32_t e = 0; e < g->edge_count; e++)
			without[e] = g->blocks[g->edges[e].from].edge_count > 1 && leads_out(f, &g->edges[e]);
		take_back(g, without, ends);
		result = graph_find_joins(g, without, f->join, err);
	}
	for (uint32_t b = 0; b < g->block_count && !result; b++)
		if (f->join[b] >= 0 && f->leaves[f->join[b]])
			f->join[b] = -1;
	free(without);
	free(ends);
	return result;
}

int32_t join_of(const struct planned_function *f, uint32_t block)
{
	return f->join[block];
}
