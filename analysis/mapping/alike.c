/*
 * Finds branches that are copies of one branch of the source. Two branches are copies if the last probe before them is the same,
 * and if the first probes on each way out are the same. If that probe's number in its loop is known (trips.c), it must be the
 * same, too. If the counters do not determine how often a copy goes each way, the estimate takes the ratio of the other copies
 * (models/code/code_estimate.c).
 */
#include "analysis/mapping/trips_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* How many of the first probes are kept, in order. If there are more, they count as one more number. */
enum { MOST_PROBES = 6 };
enum { PROBE_NONE = UINT32_MAX, PROBE_MANY = UINT32_MAX - 1, PROBE_END = UINT32_MAX - 2 };

struct probe_set {
	uint32_t ids[MOST_PROBES];
	uint32_t count;
};

struct alike {
	const struct mapping *m;
	uint32_t *first, *last;  /* per block of all functions: the first and last probe copy in it, or PROBE_NONE */
	struct numbers *numbers; /* per copy */
	struct probe_set *next;  /* per block: the probes that can come first from its begin on */
};

static void add_id(struct probe_set *s, uint32_t id)
{
	uint32_t at = 0;
	while (at < s->count && s->ids[at] < id)
		at++;
	if (at < s->count && s->ids[at] == id)
		return;
	if (s->count == MOST_PROBES) {
		s->ids[0] = PROBE_MANY;
		s->count = 1;
		return;
	}
	memmove(&s->ids[at + 1], &s->ids[at], (s->count - at) * sizeof *s->ids);
	s->ids[at] = id;
	s->count++;
}

static void add_all(struct probe_set *s, const struct probe_set *other)
{
	for (uint32_t i = 0; i < other->count; i++)
		if (!s->count || s->ids[0] != PROBE_MANY)
			add_id(s, other->ids[i]);
}

static uint32_t index_of(const struct alike *a, uint32_t function, uint32_t block)
{
	return a->m->reached.functions[function].first_block + block;
}

static struct probe_set next_on_edge(const struct alike *a, uint32_t function, uint32_t edge)
{
	const struct graph_edge *e = &a->m->reached.functions[function].graph->edges[edge];
	struct probe_set s = {.count = 0};
	for (uint32_t i = 0; i < a->m->copy_count && !s.count; i++)
		if (a->m->copies[i].edge == (int32_t)edge && a->m->copies[i].function == function)
			add_id(&s, a->m->copies[i].id);
	if (!s.count && e->to < 0)
		add_id(&s, PROBE_END);
	else if (!s.count)
		s = a->next[index_of(a, function, (uint32_t)e->to)];
	return s;
}

static void find_next(struct alike *a, uint32_t function)
{
	const struct graph *g = a->m->reached.functions[function].graph;
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t i = g->order_count; i-- > 0;) {
			const struct graph_block *b = &g->blocks[g->order[i]];
			uint32_t index = index_of(a, function, g->order[i]);
			struct probe_set s = {.count = 0};
			if (a->first[index] != PROBE_NONE)
				add_id(&s, a->m->copies[a->first[index]].id);
			for (uint32_t e = 0; a->first[index] == PROBE_NONE && e < b->edge_count; e++) {
				struct probe_set next = next_on_edge(a, function, b->first_edge + e);
				add_all(&s, &next);
			}
			changed |= s.count != a->next[index].count || memcmp(s.ids, a->next[index].ids, s.count * sizeof *s.ids);
			a->next[index] = s;
		}
	}
}

/* The last probe before the end of a block. It is looked for in the block and in its dominators. */
static uint32_t last_probe(const struct alike *a, uint32_t function, uint32_t block)
{
	const struct graph *g = a->m->reached.functions[function].graph;
	for (int32_t b = (int32_t)block; b >= 0; b = g->blocks[b].idom)
		if (a->last[index_of(a, function, (uint32_t)b)] != PROBE_NONE)
			return a->last[index_of(a, function, (uint32_t)b)];
	return PROBE_NONE;
}

struct branch_edge {
	uint32_t edge; /* of all functions */
	uint32_t last, number, step;
	uint32_t others; /* a hash of the probes on all ways out; branches made from && share one way, so one way alone is not enough */
	struct probe_set next;
};

static int compare(const void *a, const void *b)
{
	const struct branch_edge *x = a, *y = b;
	if (x->last != y->last)
		return x->last < y->last ? -1 : 1;
	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->step != y->step)
		return x->step < y->step ? -1 : 1;
	if (x->others != y->others)
		return x->others < y->others ? -1 : 1;
	if (x->next.count != y->next.count)
		return x->next.count < y->next.count ? -1 : 1;
	return memcmp(x->next.ids, y->next.ids, x->next.count * sizeof *x->next.ids);
}

/* Gives a number, from 1, to each class that has more than one edge. */
static void number_edges(struct branch_edge *edges, uint32_t count, uint32_t *out)
{
	uint32_t number = 0;
	qsort(edges, count, sizeof *edges, compare);
	for (uint32_t i = 0; i < count; i++) {
		bool as_before = i && !compare(&edges[i - 1], &edges[i]);
		bool as_behind = i + 1 < count && !compare(&edges[i], &edges[i + 1]);
		if (!as_before)
			number += as_behind;
		out[edges[i].edge] = as_before || as_behind ? number : 0;
	}
}

static uint32_t hash_ways(const struct alike *a, uint32_t function, uint32_t block)
{
	const struct graph_block *b = &a->m->reached.functions[function].graph->blocks[block];
	uint32_t hash = 0; /* does not depend on the order of the ways */
	for (uint32_t i = 0; i < b->edge_count; i++) {
		struct probe_set next = next_on_edge(a, function, b->first_edge + i);
		uint32_t one = 2166136261u; /* FNV-1a */
		for (uint32_t j = 0; j < next.count; j++)
			one = (one ^ next.ids[j]) * 16777619u;
		hash += one;
	}
	return hash;
}

static struct branch_edge describe(const struct alike *a, uint32_t function, uint32_t block, uint32_t edge)
{
	const struct reached_function *f = &a->m->reached.functions[function];
	struct branch_edge e = {.edge = f->first_edge + edge,
	                        .last = last_probe(a, function, block),
	                        .others = hash_ways(a, function, block),
	                        .next = next_on_edge(a, function, edge)};
	if (e.last == PROBE_NONE)
		return e;
	const struct numbers *n = &a->numbers[e.last];
	e.last = a->m->copies[e.last].id;
	/* A single number, or one of the loop's turns. */
	if (n->any && n->step != 1) {
		e.number = n->step ? n->first % n->step : n->first;
		e.step = n->step;
	}
	return e;
}

static void collect_edges(const struct alike *a, struct branch_edge *edges, uint32_t *count)
{
	for (uint32_t f = 0; f < a->m->reached.count; f++) {
		const struct graph *g = a->m->reached.functions[f].graph;
		for (uint32_t b = 0; b < g->block_count; b++)
			for (uint32_t e = 0; g->blocks[b].reachable && g->blocks[b].edge_count > 1 && e < g->blocks[b].edge_count; e++)
				edges[(*count)++] = describe(a, f, b, g->blocks[b].first_edge + e);
	}
}

int find_alike(const struct mapping *m, const struct mapping_source *source, uint32_t *out, struct gs_error *err)
{
	struct alike a = {.m = m,
	                  .first = malloc((m->block_count + 1u) * sizeof *a.first),
	                  .last = malloc((m->block_count + 1u) * sizeof *a.last),
	                  .numbers = calloc(m->copy_count + 1u, sizeof *a.numbers),
	                  .next = calloc(m->block_count + 1u, sizeof *a.next)};
	struct branch_edge *edges = calloc(m->edge_count + 1u, sizeof *edges);
	uint32_t count = 0;
	bool failed = !a.first || !a.last || !a.numbers || !a.next || !edges;
	for (uint32_t i = 0; i < m->block_count && !failed; i++)
		a.first[i] = a.last[i] = PROBE_NONE;
	for (uint32_t i = 0; i < m->copy_count && !failed; i++) {
		uint32_t index = index_of(&a, m->copies[i].function, m->copies[i].block);
		if (m->copies[i].edge >= 0)
			continue;
		if (a.first[index] == PROBE_NONE)
			a.first[index] = i;
		a.last[index] = i;
	}
	if (!failed)
		failed = !number_copies(m, source, a.numbers);
	for (uint32_t f = 0; f < m->reached.count && !failed; f++)
		find_next(&a, f);
	if (!failed) {
		collect_edges(&a, edges, &count);
		number_edges(edges, count, out);
	}
	free(a.first);
	free(a.last);
	free(a.numbers);
	free(a.next);
	free(edges);
	return failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
