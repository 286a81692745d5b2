/*
 * What is counted. Threads that enter a block leave it, so most counts follow from others: a spanning tree of the graph, with the edges that
 * run often in it, leaves the fewest edges to count (Knuth, "Optimal measurement points for program frequency counts", 1973). Each edge
 * outside of the tree closes one cycle with it, and every edge of the tree has the sum of the cycles that go through it.
 *
 * The way from the end back to the entry is an edge as well. So is that from a call to the end, where lanes may end in the function that is
 * called.
 */
#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* An edge of the graph, or one that only keeps the sums right (edge -1). */
struct flow_edge {
	uint32_t from, to; /* blocks; the number of blocks: the end */
	int32_t edge;
	uint32_t weight;
	bool in_tree;
	int32_t row; /* of one outside of the tree: the row that counts it */
};

struct row_counting {
	struct lifted *lifted;
	uint32_t function;
	const struct graph *graph;
	struct flow_edge *edges;
	uint32_t edge_count, nodes;
	uint32_t *up;      /* union-find */
	int32_t *parent;   /* per node of the tree: the edge towards its root */
	int32_t *factors;  /* per edge and counted edge */
	uint32_t *counted; /* edges outside of the tree */
	uint32_t counted_count;
};

static uint32_t root_of(struct row_counting *c, uint32_t node)
{
	while (c->up[node] != node)
		node = c->up[node] = c->up[c->up[node]];
	return node;
}

static uint32_t depth_of(const struct graph *g, int32_t block)
{
	int32_t loop = block < 0 ? -1 : g->blocks[block].loop;
	return loop < 0 ? 0 : g->loops[loop].depth;
}

bool may_exit(const struct lifted *l, uint32_t function)
{
	uint32_t count = 0, *list = calloc(l->module->function_count + 1u, sizeof *list);
	bool found = !list || reach_functions(l, function, list, &count, NULL);
	for (uint32_t f = 0; f < count && !found; f++)
		for (uint32_t i = 0; i < l->module->functions[list[f]].instruction_count && !found; i++)
			found = flow_kind(&l->module->functions[list[f]].instructions[i]) == FLOW_EXIT;
	free(list);
	return found;
}

static bool any_function_exits(const struct ptx_module *m)
{
	for (uint32_t f = 0; f < m->function_count; f++)
		for (uint32_t i = 0; i < m->functions[f].instruction_count && !m->functions[f].entry; i++)
			if (flow_kind(&m->functions[f].instructions[i]) == FLOW_EXIT)
				return true;
	return false;
}

static bool call_may_exit(const struct lifted *l, const struct graph *g, uint32_t block)
{
	const struct graph_block *b = &g->blocks[block];
	if (!b->calls)
		return false;
	const struct ptx_operand *called = ptx_callee(&g->function->instructions[b->first + b->count - 1]);
	if (!called || called->kind == PTX_REGISTER)
		return any_function_exits(l->module);
	int32_t to = function_index(l->module, called->text);
	return to >= 0 && may_exit(l, (uint32_t)to);
}

static void add_edge(struct row_counting *c, uint32_t from, int32_t to, int32_t edge, uint32_t weight)
{
	c->edges[c->edge_count++] = (struct flow_edge){
		.from = from, .to = to < 0 ? c->graph->block_count : (uint32_t)to, .edge = edge, .weight = weight, .row = -1};
}

static int compare_weights(const void *a, const void *b)
{
	const struct flow_edge *x = a, *y = b;
	if (x->weight != y->weight)
		return x->weight < y->weight ? 1 : -1;
	return x->edge < y->edge ? -1 : x->edge > y->edge;
}

/* Edges that nothing can count come first, so that they are in the tree. */
static void list_edges(struct row_counting *c)
{
	const struct graph *g = c->graph;
	add_edge(c, g->block_count, 0, -1, UINT32_MAX - 1);
	for (uint32_t b = 0; b < g->block_count; b++)
		if (g->blocks[b].reachable && call_may_exit(c->lifted, g, b))
			add_edge(c, b, -1, -1, UINT32_MAX);
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_edge *edge = &g->edges[e];
		uint32_t from = depth_of(g, (int32_t)edge->from), to = depth_of(g, edge->to);
		if (g->blocks[edge->from].reachable)
			add_edge(c, edge->from, edge->to, (int32_t)e, from < to ? from : to);
	}
	qsort(c->edges, c->edge_count, sizeof *c->edges, compare_weights);
}

static void grow_tree(struct row_counting *c)
{
	for (uint32_t n = 0; n < c->nodes; n++) {
		c->up[n] = n;
		c->parent[n] = -1;
	}
	for (uint32_t e = 0; e < c->edge_count; e++) {
		uint32_t a = root_of(c, c->edges[e].from), b = root_of(c, c->edges[e].to);
		c->edges[e].in_tree = a != b;
		c->up[a] = b;
		if (a == b)
			c->counted[c->counted_count++] = e;
	}
	/* Every node finds its way to the end, which is the root. */
	bool *placed = (bool *)calloc(c->nodes, 1);
	if (!placed) {
		c->counted_count = UINT32_MAX;
		return;
	}
	placed[c->graph->block_count] = true;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t e = 0; e < c->edge_count; e++) {
			uint32_t from = c->edges[e].from, to = c->edges[e].to;
			if (!c->edges[e].in_tree || placed[from] == placed[to])
				continue;
			c->parent[placed[from] ? to : from] = (int32_t)e;
			placed[from] = placed[to] = changed = true;
		}
	}
	free(placed);
}

static uint32_t steps_to_root(const struct row_counting *c, uint32_t node)
{
	uint32_t steps = 0;
	for (; c->parent[node] >= 0; steps++) {
		const struct flow_edge *e = &c->edges[c->parent[node]];
		node = e->from == node ? e->to : e->from;
	}
	return steps;
}

/* Goes one edge towards the root. `sign` is that of an edge which is followed in its own direction. */
static uint32_t climb(struct row_counting *c, uint32_t node, uint32_t counted, int sign)
{
	uint32_t e = (uint32_t)c->parent[node];
	bool along = c->edges[e].from == node;
	c->factors[(size_t)e * c->counted_count + counted] += along ? sign : -sign;
	return along ? c->edges[e].to : c->edges[e].from;
}

/* The cycle of an edge: from its end through the tree to its begin. */
static void follow_cycle(struct row_counting *c, uint32_t counted)
{
	uint32_t e = c->counted[counted], down = c->edges[e].to, back = c->edges[e].from;
	uint32_t down_steps = steps_to_root(c, down), back_steps = steps_to_root(c, back);
	c->factors[(size_t)e * c->counted_count + counted] = 1;
	while (down != back) {
		bool first = down_steps >= back_steps;
		if (first)
			down = climb(c, down, counted, 1);
		else
			back = climb(c, back, counted, -1);
		first ? down_steps-- : back_steps--;
	}
}

static struct lift_row *add_row(struct lifted *l, uint32_t function, int32_t block, int32_t edge)
{
	struct lift_row *larger = realloc(l->rows, (l->row_count + 1u) * sizeof *larger);
	if (!larger)
		return NULL;
	l->rows = larger;
	struct lift_row *row = &larger[l->row_count++];
	*row = (struct lift_row){.function = function, .block = block, .edge = edge, .first_term = l->term_count};
	return row;
}

static bool add_term(struct lifted *l, uint32_t row, int32_t factor)
{
	struct lift_term *larger = realloc(l->terms, (l->term_count + 1u) * sizeof *larger);
	if (!larger)
		return false;
	l->terms = larger;
	larger[l->term_count++] = (struct lift_term){row, factor};
	return true;
}

static uint32_t ways(const struct row_counting *c, uint32_t node, bool in)
{
	uint32_t count = 0;
	for (uint32_t e = 0; e < c->edge_count; e++)
		count += (in ? c->edges[e].to : c->edges[e].from) == node;
	return count;
}

/* An edge is counted where its block begins, if that is the only way there or from there. */
static int count_edges(struct row_counting *c)
{
	struct lifted *l = c->lifted;
	uint32_t end = c->graph->block_count, *block_rows = l->functions[c->function].block_rows;
	for (uint32_t i = 0; i < c->counted_count; i++) {
		struct flow_edge *e = &c->edges[c->counted[i]];
		bool first = e->from != end && ways(c, e->from, false) == 1, second = e->to != end && ways(c, e->to, true) == 1;
		uint32_t block = first ? e->from : second ? e->to : end;
		if (block == end && e->edge < 0)
			return -ERANGE;
		if (!add_row(l, c->function, block < end ? (int32_t)block : -1, block < end ? -1 : e->edge))
			return -ENOMEM;
		e->row = (int32_t)l->row_count - 1;
		if (block < end)
			block_rows[block] = (uint32_t)e->row;
	}
	return 0;
}

/* Adds the terms of a sum of edges. */
static int add_sum(struct row_counting *c, const int32_t *factors)
{
	for (uint32_t i = 0; i < c->counted_count; i++)
		if (factors[i] && !add_term(c->lifted, (uint32_t)c->edges[c->counted[i]].row, factors[i]))
			return -ENOMEM;
	return 0;
}

static int sum_block(struct row_counting *c, uint32_t block)
{
	struct lifted *l = c->lifted;
	int32_t *sum = calloc(c->counted_count + 1u, sizeof *sum);
	uint32_t number = l->row_count;
	int result = sum && add_row(l, c->function, (int32_t)block, -1) ? 0 : -ENOMEM;
	for (uint32_t e = 0; e < c->edge_count && !result; e++)
		for (uint32_t i = 0; i < c->counted_count && c->edges[e].from == block; i++)
			sum[i] += c->factors[(size_t)e * c->counted_count + i];
	if (!result)
		result = add_sum(c, sum);
	if (!result && l->rows[number].first_term == l->term_count) /* nothing reaches it */
		result = add_term(l, number - 1, 0) ? 0 : -ENOMEM;
	if (!result)
		l->rows[number].term_count = l->term_count - l->rows[number].first_term;
	l->functions[c->function].block_rows[block] = number;
	free(sum);
	return result;
}

static int write_sums(struct row_counting *c)
{
	struct lift_function *f = &c->lifted->functions[c->function];
	int result = 0;
	for (uint32_t b = 0; b < c->graph->block_count && !result; b++)
		if (f->block_rows[b] == UINT32_MAX)
			result = sum_block(c, b);
	for (uint32_t e = 0; e < c->edge_count && !result; e++) {
		if (c->edges[e].edge < 0)
			continue;
		struct lift_terms *terms = &f->edge_terms[c->edges[e].edge];
		terms->first = c->lifted->term_count;
		result = add_sum(c, &c->factors[(size_t)e * c->counted_count]);
		terms->count = c->lifted->term_count - terms->first;
	}
	return result;
}

int add_rows(struct lifted *l, uint32_t function, struct gs_error *err)
{
	struct lift_function *f = &l->functions[function];
	const struct graph *g = f->graph;
	uint32_t most = g->edge_count + g->block_count + 1;
	struct row_counting c = {.lifted = l, .function = function, .graph = g, .nodes = g->block_count + 1};
	c.edges = calloc(most, sizeof *c.edges);
	c.up = calloc(c.nodes, sizeof *c.up);
	c.parent = calloc(c.nodes, sizeof *c.parent);
	c.counted = calloc(most, sizeof *c.counted);
	f->block_rows = malloc(g->block_count * sizeof *f->block_rows);
	f->edge_terms = calloc(g->edge_count + 1u, sizeof *f->edge_terms);
	int result = c.edges && c.up && c.parent && c.counted && f->block_rows && f->edge_terms ? 0 : -ENOMEM;
	if (!result) {
		memset(f->block_rows, 0xff, g->block_count * sizeof *f->block_rows);
		list_edges(&c);
		grow_tree(&c);
		result = c.counted_count == UINT32_MAX ? -ENOMEM : 0;
	}
	if (!result) {
		c.factors = calloc((size_t)c.edge_count * c.counted_count + 1, sizeof *c.factors);
		result = c.factors ? count_edges(&c) : -ENOMEM;
	}
	for (uint32_t i = 0; i < c.counted_count && !result; i++)
		follow_cycle(&c, i);
	if (!result)
		result = write_sums(&c);
	free(c.edges);
	free(c.up);
	free(c.parent);
	free(c.counted);
	free(c.factors);
	if (result == -ERANGE)
		return gs_fail(err, ENOTSUP, "%s begins with a loop that calls functions which may end the thread", g->function->name);
	return result ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
