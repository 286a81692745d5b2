/*
 * Dominators and post-dominators.
 *
 * Blocks are visited in reverse postorder. idom(b) is the nearest common ancestor of b's predecessors in the tree so far. This
 * repeats until nothing changes (Cooper, Harvey, Kennedy, "A Simple, Fast Dominance Algorithm", 2001). Post-dominators are
 * computed in the same way on the reversed edges. The root is then a virtual exit, and every way out of the function leads to
 * it. A block that cannot reach the exit (an endless loop) is in no tree and has no post-dominator.
 */
#include "analysis/graph/internal.h"

#include <errno.h>
#include <stdlib.h>

static const uint32_t NONE = UINT32_MAX;

/* One direction of the flow. Neighbours of node n are list[first[n]] up to list[first[n + 1]]. */
struct neighbours {
	uint32_t *first, *list;
};

struct flow_tree {
	uint32_t count, root;
	struct neighbours next, before;
	uint32_t *order, *number, order_count; /* reverse postorder from the root; number: index in it, or NONE */
	uint32_t *parent;
	struct graph_span *spans;
};

static int neighbours_make(struct neighbours *n, uint32_t count, const uint32_t *from, const uint32_t *to,
			   uint32_t edges)
{
	n->first = calloc((size_t)count + 1, sizeof *n->first);
	n->list = calloc((size_t)edges + 1, sizeof *n->list);
	if (!n->first || !n->list)
		return -ENOMEM;
	for (uint32_t e = 0; e < edges; e++)
		n->first[from[e]]++;
	for (uint32_t i = 1; i <= count; i++)
		n->first[i] += n->first[i - 1];
	/* first[n] begins as the end of n's part. It counts down to the beginning of that part. */
	for (uint32_t e = edges; e-- > 0;)
		n->list[--n->first[from[e]]] = to[e];
	return 0;
}

static void flow_tree_free(struct flow_tree *t)
{
	free(t->next.first);
	free(t->next.list);
	free(t->before.first);
	free(t->before.list);
	free(t->order);
	free(t->number);
	free(t->parent);
	free(t->spans);
}

/* Finds the postorder by depth-first search without recursion. `stack` holds the path. `at` says how many neighbours of each
 * node are done. */
static int find_order(struct flow_tree *t)
{
	uint32_t *stack = calloc(t->count, sizeof *stack), *at = calloc(t->count, sizeof *at);
	uint32_t depth = 0, left = t->count;
	bool failed = !stack || !at;
	if (!failed) {
		for (uint32_t i = 0; i < t->count; i++) {
			t->number[i] = NONE;
			at[i] = t->next.first[i];
		}
		stack[depth++] = t->root;
		t->number[t->root] = 0;
	}
	while (depth) {
		uint32_t node = stack[depth - 1];
		if (at[node] == t->next.first[node + 1]) {
			t->order[--left] = node;
			depth--;
			continue;
		}
		uint32_t next = t->next.list[at[node]++];
		if (t->number[next] == NONE) {
			t->number[next] = 0;
			stack[depth++] = next;
		}
	}
	t->order_count = t->count - left;
	for (uint32_t i = 0; i < t->order_count && !failed; i++) {
		t->order[i] = t->order[left + i];
		t->number[t->order[i]] = i;
	}
	free(stack);
	free(at);
	return failed ? -ENOMEM : 0;
}

static uint32_t common_ancestor(const struct flow_tree *t, uint32_t a, uint32_t b)
{
	while (a != b) {
		while (t->number[a] > t->number[b])
			a = t->parent[a];
		while (t->number[b] > t->number[a])
			b = t->parent[b];
	}
	return a;
}

static void find_parents(struct flow_tree *t)
{
	for (uint32_t i = 0; i < t->count; i++)
		t->parent[i] = NONE;
	t->parent[t->root] = t->root;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = 1; i < t->order_count; i++) {
			uint32_t node = t->order[i], parent = NONE;
			for (uint32_t k = t->before.first[node]; k < t->before.first[node + 1]; k++) {
				uint32_t from = t->before.list[k];
				if (t->parent[from] != NONE)
					parent = parent == NONE ? from : common_ancestor(t, from, parent);
			}
			changed |= parent != t->parent[node];
			t->parent[node] = parent;
		}
	}
}

/* Gives preorder numbers from 1. Parents stand before their children in the order, so a backward walk can add up the sizes. */
static void find_spans(struct flow_tree *t)
{
	uint32_t *next = t->number; /* per node: the next free number below it; overwrites the indices, which are not needed any more */
	for (uint32_t i = t->order_count; i-- > 0;) {
		uint32_t node = t->order[i];
		t->spans[node].last++;
		if (node != t->root)
			t->spans[t->parent[node]].last += t->spans[node].last;
	}
	for (uint32_t i = 0; i < t->order_count; i++) {
		uint32_t node = t->order[i], size = t->spans[node].last, first = 1;
		if (node != t->root) {
			first = next[t->parent[node]];
			next[t->parent[node]] += size;
		}
		next[node] = first + 1;
		t->spans[node] = (struct graph_span){first, first + size - 1};
	}
}

static int flow_tree_make(struct flow_tree *t, const uint32_t *from, const uint32_t *to, uint32_t edges)
{
	t->order = calloc(t->count, sizeof *t->order);
	t->number = calloc(t->count, sizeof *t->number);
	t->parent = calloc(t->count, sizeof *t->parent);
	t->spans = calloc(t->count, sizeof *t->spans);
	if (!t->order || !t->number || !t->parent || !t->spans ||
	    neighbours_make(&t->next, t->count, from, to, edges) ||
	    neighbours_make(&t->before, t->count, to, from, edges) || find_order(t))
		return -ENOMEM;
	find_parents(t);
	find_spans(t);
	return 0;
}

/* Node block_count is the virtual exit. */
static void list_edges(const struct graph *g, uint32_t *from, uint32_t *to)
{
	for (uint32_t e = 0; e < g->edge_count; e++) {
		from[e] = g->edges[e].from;
		to[e] = g->edges[e].to < 0 ? g->block_count : (uint32_t)g->edges[e].to;
	}
}

static int32_t parent_block(const struct graph *g, const struct flow_tree *t, uint32_t block)
{
	uint32_t parent = t->parent[block];
	return parent == NONE || parent >= g->block_count || block == t->root ? -1 : (int32_t)parent;
}

static int store_results(struct graph *g, const struct flow_tree *down, const struct flow_tree *up)
{
	g->order = calloc(g->block_count, sizeof *g->order);
	if (!g->order)
		return -ENOMEM;
	for (uint32_t i = 0; i < down->order_count; i++)
		if (down->order[i] < g->block_count)
			g->order[g->order_count++] = down->order[i];
	for (uint32_t b = 0; b < g->block_count; b++) {
		struct graph_block *block = &g->blocks[b];
		block->reachable = b == 0 || down->parent[b] != NONE;
		block->idom = parent_block(g, down, b);
		block->ipdom = parent_block(g, up, b);
		block->dominates = down->spans[b];
		block->post_dominates = up->spans[b];
	}
	return 0;
}

int graph_find_dominators(struct graph *g, struct gs_error *err)
{
	struct flow_tree down = {.count = g->block_count + 1, .root = 0},
			 up = {.count = g->block_count + 1, .root = g->block_count};
	uint32_t *from = calloc((size_t)g->edge_count + 1, sizeof *from),
		 *to = calloc((size_t)g->edge_count + 1, sizeof *to);
	int result = from && to ? 0 : -ENOMEM;
	if (!result) {
		list_edges(g, from, to);
		result = flow_tree_make(&down, from, to, g->edge_count);
	}
	if (!result)
		result = flow_tree_make(&up, to, from, g->edge_count);
	if (!result)
		result = store_results(g, &down, &up);
	flow_tree_free(&down);
	flow_tree_free(&up);
	free(from);
	free(to);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

int graph_find_joins(const struct graph *g, const bool *without, int32_t *out, struct gs_error *err)
{
	struct flow_tree up = {.count = g->block_count + 1, .root = g->block_count};
	uint32_t *from = calloc((size_t)g->edge_count + 1, sizeof *from), count = 0,
		 *to = calloc((size_t)g->edge_count + 1, sizeof *to);
	int result = from && to ? 0 : -ENOMEM;
	if (!result) {
		list_edges(g, from, to);
		for (uint32_t e = 0; e < g->edge_count; e++)
			if (!without[e]) {
				from[count] = from[e];
				to[count++] = to[e];
			}
		result = flow_tree_make(&up, to, from, count);
	}
	for (uint32_t b = 0; b < g->block_count && !result; b++)
		out[b] = parent_block(g, &up, b);
	flow_tree_free(&up);
	free(from);
	free(to);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

static bool spans_over(struct graph_span a, struct graph_span b)
{
	return a.first && a.first <= b.first && b.first <= a.last;
}

bool graph_dominates(const struct graph *g, uint32_t a, uint32_t b)
{
	return a == b || spans_over(g->blocks[a].dominates, g->blocks[b].dominates);
}

bool graph_post_dominates(const struct graph *g, uint32_t a, uint32_t b)
{
	return a == b || spans_over(g->blocks[a].post_dominates, g->blocks[b].post_dominates);
}
