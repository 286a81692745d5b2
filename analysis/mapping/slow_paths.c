/*
 * Chooses which way out of a branch stays unknown if the counters do not determine it: the expensive one.
 *
 * Library functions have a short way for usual arguments and a long way for others, without probes. An arm of a branch is what
 * one of its edges can reach before the ways meet again (the immediate post-dominator). The edge into the most expensive arm
 * becomes the unknown. If no arm has a probe, the branch is in a library function. Then the unknown is assumed to be as small as
 * the known counts allow.
 */
#include "analysis/mapping/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum rank { RANK_BLOCK, RANK_EDGE, RANK_DEAR_EDGE };

/* Rough costs in instructions. Only their order matters. The assembler calls or expands 64-bit divisions. */
static uint32_t weight_of(const struct ptx_instruction *i)
{
	switch (i->class) {
	case CODE_int_div:
		return strstr(i->opcode, "64") ? 80 : 20;
	case CODE_fp32_div:
	case CODE_sfu:
		return 8;
	case CODE_fp64_div:
		return 30;
	default:
		return i->flags & CODE_CALL ? 50 : 1;
	}
}

struct arms {
	const struct mapping *m;
	uint32_t function;
	uint64_t *weights;   /* per block */
	bool *probed;        /* per block */
	uint32_t *seen, *stack;
	uint32_t walk;
};

/* Walks over the blocks that the edge can reach without passing the join. */
static uint64_t walk_arm(struct arms *a, const struct graph_edge *edge, int32_t join, bool *has_probe)
{
	const struct graph *g = a->m->reached.functions[a->function].graph;
	uint32_t depth = 0;
	uint64_t weight = 0;
	a->walk++;
	if (edge->to >= 0 && edge->to != join) {
		a->seen[edge->to] = a->walk;
		a->stack[depth++] = (uint32_t)edge->to;
	}
	while (depth) {
		uint32_t block = a->stack[--depth];
		const struct graph_block *b = &g->blocks[block];
		weight += a->weights[block];
		*has_probe |= a->probed[block];
		for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++) {
			int32_t to = g->edges[i].to;
			if (to < 0 || to == join || a->seen[to] == a->walk)
				continue;
			a->seen[to] = a->walk;
			a->stack[depth++] = (uint32_t)to;
		}
	}
	return weight;
}

static void judge_branch(struct arms *a, struct mapping *m, uint32_t block)
{
	const struct reached_function *f = &m->reached.functions[a->function];
	const struct graph_block *b = &f->graph->blocks[block];
	uint64_t most = 0;
	uint32_t dearest = b->first_edge;
	bool has_probe = false;
	for (uint32_t i = b->first_edge; i < b->first_edge + b->edge_count; i++) {
		uint64_t weight = walk_arm(a, &f->graph->edges[i], b->ipdom, &has_probe);
		if (weight > most) {
			most = weight;
			dearest = i;
		}
	}
	m->rank[variable_of_edge(m, a->function, dearest)] = RANK_DEAR_EDGE;
	m->library[f->first_edge + dearest] = !has_probe;
}

static void judge_function(struct arms *a, struct mapping *m, uint32_t function)
{
	const struct reached_function *f = &m->reached.functions[function];
	a->function = function;
	a->walk = 0;
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		a->weights[b] = 0;
		a->probed[b] = false;
		a->seen[b] = 0;
		for (uint32_t i = 0; i < block->count; i++)
			a->weights[b] += weight_of(&f->ptx->instructions[block->first + i]);
	}
	for (uint32_t i = 0; i < m->copy_count; i++)
		if (m->copies[i].function == function)
			a->probed[m->copies[i].block] = true;
	for (uint32_t b = 0; b < f->graph->block_count; b++)
		if (f->graph->blocks[b].reachable && f->graph->blocks[b].edge_count > 1)
			judge_branch(a, m, b);
}

int find_slow_paths(struct mapping *m, struct gs_error *err)
{
	struct arms a = {.m = m,
	                 .weights = calloc(m->block_count + 1u, sizeof *a.weights),
	                 .probed = calloc(m->block_count + 1u, sizeof *a.probed),
	                 .seen = calloc(m->block_count + 1u, sizeof *a.seen),
	                 .stack = calloc(m->block_count + 1u, sizeof *a.stack)};
	m->rank = calloc(m->variable_count + 1u, sizeof *m->rank);
	m->library = calloc(m->edge_count + 1u, sizeof *m->library);
	bool failed = !a.weights || !a.probed || !a.seen || !a.stack || !m->rank || !m->library;
	for (uint32_t i = 0; i < m->edge_count && !failed; i++)
		m->rank[m->variable_of[m->block_count + i]] = RANK_EDGE;
	for (uint32_t f = 0; f < m->reached.count && !failed; f++)
		judge_function(&a, m, f);
	free(a.weights);
	free(a.probed);
	free(a.seen);
	free(a.stack);
	return failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
