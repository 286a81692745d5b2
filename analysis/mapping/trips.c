/*
 * Equations from counts of a loop's trips. They are needed if the loop's body has more copies than flow can distinguish.
 *
 * The executions of a source block in a source loop are numbered from 1 at each entry of the loop. The probes of the blocks
 * before and after the loop show that the numbers begin anew. A walk through the target's graph finds which numbers a copy of
 * the block can have: a set first, first + step, first + 2 step, ... With step 0 there is only one number. Where ways join, the
 * step is the greatest common divisor of the steps and of the distance. Copies after a join are treated edge by edge. This
 * distinguishes the first trip of a rotated loop, which comes from the loop's guard, from the other trips.
 *
 *   If the sets of some copies do not meet the sets of others, these copies together run as often as trips had a number of their sets:
 *     peeled and fully unrolled:  the k-th copy as often as k trips were reached
 *     unrolled by u with all its exits:  the j-th copy as often as trips were congruent to j modulo u
 */
#include "analysis/mapping/trips_internal.h"

#include <stdlib.h>

/* ---- sets of numbers ---- */

static uint32_t divisor(uint32_t a, uint32_t b)
{
	while (b) {
		uint32_t rest = a % b;
		a = b;
		b = rest;
	}
	return a;
}

struct numbers numbers_join(struct numbers a, struct numbers b)
{
	if (!a.any || !b.any)
		return a.any ? a : b;
	uint32_t distance = a.first < b.first ? b.first - a.first : a.first - b.first;
	return (struct numbers){true, a.first < b.first ? a.first : b.first, divisor(divisor(a.step, b.step), distance)};
}

static bool same(struct numbers a, struct numbers b)
{
	return a.any == b.any && (!a.any || (a.first == b.first && a.step == b.step));
}

static struct numbers later(struct numbers n, uint32_t by)
{
	n.first += by;
	return n;
}

static bool contains(struct numbers set, uint32_t number)
{
	return number >= set.first && (set.step ? (number - set.first) % set.step == 0 : number == set.first);
}

static bool meet(struct numbers a, struct numbers b)
{
	if (!a.step)
		return contains(b, a.first);
	if (!b.step)
		return contains(a, b.first);
	uint32_t distance = a.first < b.first ? b.first - a.first : a.first - b.first;
	return distance % divisor(a.step, b.step) == 0;
}

static bool includes(struct numbers large, struct numbers small)
{
	if (!contains(large, small.first))
		return false;
	return !small.step || (large.step && small.step % large.step == 0);
}

/* ---- walking ---- */

uint32_t tracked_block(const struct tracker *t, uint32_t function, uint32_t block)
{
	return t->m->reached.functions[function].first_block + block;
}

static struct numbers through(const struct tracked_place *place, struct numbers n)
{
	if (place->resets)
		return (struct numbers){true, place->copies_after, 0};
	return n.any ? later(n, place->copies) : n;
}

struct numbers numbers_on_edge(const struct tracker *t, uint32_t function, uint32_t edge)
{
	const struct reached_function *f = &t->m->reached.functions[function];
	struct numbers n = t->out[tracked_block(t, function, f->graph->edges[edge].from)];
	return n.any ? through(&t->edges[f->first_edge + edge], n) : n;
}

static void walk_function(struct tracker *t, uint32_t function)
{
	const struct graph *g = t->m->reached.functions[function].graph;
	bool changed = true;
	while (changed) {
		changed = false;
		for (uint32_t i = 0; i < g->order_count; i++) {
			uint32_t b = g->order[i], index = tracked_block(t, function, b);
			/* The source's function cannot be running already: that would be a recursion. */
			struct numbers n = {.any = b == 0, .first = 0, .step = 0};
			for (uint32_t e = 0; e < g->blocks[b].in_count; e++)
				n = numbers_join(n, numbers_on_edge(t, function, g->in[g->blocks[b].first_in + e]));
			struct numbers out = n.any ? through(&t->blocks[index], n) : n;
			changed |= !same(t->in[index], n) || !same(t->out[index], out);
			t->in[index] = n;
			t->out[index] = out;
		}
	}
}

/* ---- copies whose numbers differ ---- */

static void add_item(struct tracker *t, uint32_t variable, struct numbers numbers)
{
	if (t->item_count == t->item_room) {
		uint32_t room = t->item_room ? t->item_room * 2 : 16;
		struct item *grown = reallocarray(t->items, room, sizeof *grown);
		if (!grown) {
			t->result->failed = true;
			return;
		}
		t->items = grown;
		t->item_room = room;
	}
	t->items[t->item_count++] = (struct item){variable, numbers};
}

/* Whether every way from `top`, which dominates the block, leads to the block once and passes no probe of ours. */
static bool leads_to(const struct tracker *t, uint32_t function, uint32_t top, uint32_t block)
{
	const struct graph *g = t->m->reached.functions[function].graph;
	if (!graph_post_dominates(g, block, top))
		return false;
	for (uint32_t i = 0; i < g->blocks[top].in_count; i++) {
		const struct graph_edge *edge = &g->edges[g->in[g->blocks[top].first_in + i]];
		if (edge->back && !graph_dominates(g, block, edge->from))
			return false;
	}
	for (uint32_t b = 0; b < g->block_count; b++) {
		const struct tracked_place *place = &t->blocks[tracked_block(t, function, b)];
		if ((place->copies || place->resets) && b != block && graph_dominates(g, top, b) && !graph_dominates(g, block, b))
			return false;
	}
	return true;
}

/* The farthest join above the block from which all ways lead to the block. Loops on the way are skipped. */
static uint32_t join_before(const struct tracker *t, uint32_t function, uint32_t block)
{
	const struct graph *g = t->m->reached.functions[function].graph;
	uint32_t found = block;
	for (int32_t b = g->blocks[block].idom; b >= 0; b = g->blocks[b].idom) {
		if (g->blocks[b].loop != g->blocks[block].loop)
			continue;
		if (!leads_to(t, function, (uint32_t)b, block))
			break;
		if (g->blocks[b].in_count > 1)
			found = (uint32_t)b;
	}
	return found;
}

/* The numbers of the k-th copy in a block. A copy before the parent's probe belongs to an earlier entry: it may have any number. */
static struct numbers numbers_of_copy(const struct tracker *t, uint32_t index, uint32_t k)
{
	if (!t->blocks[index].resets)
		return later(t->in[index], k);
	return t->blocks[index].copies_after == t->blocks[index].copies ? (struct numbers){true, k, 0} : (struct numbers){true, 1, 1};
}

static void add_block_items(struct tracker *t, uint32_t function, uint32_t block)
{
	const struct graph *g = t->m->reached.functions[function].graph;
	uint32_t index = tracked_block(t, function, block), copies = t->blocks[index].copies;
	uint32_t top = join_before(t, function, block);
	if (t->blocks[index].resets || g->blocks[top].in_count < 2 || top == 0) {
		for (uint32_t k = 1; k <= copies; k++)
			add_item(t, variable_of_block(t->m, function, block), numbers_of_copy(t, index, k));
		return;
	}
	for (uint32_t e = 0; e < g->blocks[top].in_count; e++) {
		uint32_t edge = g->in[g->blocks[top].first_in + e];
		struct numbers n = numbers_on_edge(t, function, edge);
		for (uint32_t k = 1; n.any && k <= copies; k++)
			add_item(t, variable_of_edge(t->m, function, edge), later(n, k));
	}
}

static void collect_items(struct tracker *t)
{
	uint32_t first, end = copies_of(t->m, t->block, &first);
	const struct probe_copy *last = NULL;
	for (uint32_t i = first; i < end; i++) {
		const struct probe_copy *c = &t->m->copies[t->m->order[i]];
		if (c->edge >= 0)
			add_item(t, c->variable, numbers_on_edge(t, c->function, (uint32_t)c->edge));
		else if (!last || last->function != c->function || last->block != c->block)
			add_block_items(t, c->function, c->block);
		if (c->edge < 0)
			last = c;
	}
}

/* Adds the equation of one group of items. Their sets meet no other set. The union of their sets must be one set. */
static void add_group(struct tracker *t, const uint32_t *group, uint32_t number)
{
	struct numbers all = {0};
	struct trip_equation *e = new_equation(t);
	for (uint32_t i = 0; e && i < t->item_count; i++) {
		if (group[i] != number)
			continue;
		struct numbers n = t->items[i].numbers;
		add_left(t, e, t->items[i].variable, 1);
		if (!all.any || includes(n, all))
			all = n;
	}
	bool one = e != NULL;
	for (uint32_t i = 0; i < t->item_count && one; i++)
		one = group[i] != number || includes(all, t->items[i].numbers);
	if (e && (!one || !add_set(t, e, all, 1)))
		drop_equation(t);
}

static void group_items(struct tracker *t)
{
	uint32_t *group = calloc(t->item_count + 1u, sizeof *group);
	if (!group)
		t->result->failed = true;
	for (uint32_t i = 0; group && i < t->item_count; i++)
		group[i] = i;
	for (uint32_t i = 0; group && i < t->item_count; i++)
		for (uint32_t j = 0; j < i; j++)
			if (group[i] != group[j] && meet(t->items[i].numbers, t->items[j].numbers)) {
				uint32_t old = group[i], next = group[j];
				for (uint32_t k = 0; k <= i; k++)
					if (group[k] == old)
						group[k] = next;
			}
	for (uint32_t i = 0; group && i < t->item_count; i++)
		if (group[i] == i)
			add_group(t, group, i);
	free(group);
}

/* ---- all loops ---- */

static void mark_probes(struct tracker *t)
{
	for (uint32_t i = 0; i < t->m->copy_count; i++) {
		const struct probe_copy *c = &t->m->copies[i];
		const struct reached_function *f = &t->m->reached.functions[c->function];
		struct tracked_place *place =
		    c->edge < 0 ? &t->blocks[f->first_block + c->block] : &t->edges[f->first_edge + (uint32_t)c->edge];
		if (c->id == t->parent || c->id == t->next) {
			place->resets++;
			place->copies_after = 0;
		} else if (c->id == t->block) {
			place->copies++;
			place->copies_after++;
		}
	}
}

static bool is_ambiguous(const struct mapping *m, uint32_t id)
{
	return id < m->id_count && m->ambiguous[id];
}

/* Walks through all functions for one block of one loop. False when memory runs out. */
static bool track(struct tracker *t)
{
	const struct mapping *m = t->m;
	t->in = calloc(m->block_count + 1u, sizeof *t->in);
	t->out = calloc(m->block_count + 1u, sizeof *t->out);
	t->blocks = calloc(m->block_count + 1u, sizeof *t->blocks);
	t->edges = calloc(m->edge_count + 1u, sizeof *t->edges);
	if (!t->in || !t->out || !t->blocks || !t->edges)
		return false;
	mark_probes(t);
	for (uint32_t f = 0; f < m->reached.count; f++)
		walk_function(t, f);
	return true;
}

static void tracker_free(struct tracker *t)
{
	free(t->in);
	free(t->out);
	free(t->blocks);
	free(t->edges);
	free(t->items);
}

/* False: the block has no copies, or the probes do not show the entries of the loop. */
static bool prepare(struct tracker *t, const struct mapping *m, const struct mapping_source *source, uint32_t loop,
                    uint32_t block)
{
	const struct source_loop *l = &source->loops[loop];
	uint32_t first, copies = copies_of(m, block, &first) - first;
	*t = (struct tracker){.m = m, .loop = loop, .parent = l->parent, .next = l->next, .block = block};
	return copies && !is_ambiguous(m, l->parent) && !is_ambiguous(m, l->next);
}

void find_trip_equations(const struct mapping *m, const struct mapping_source *source, uint32_t loop, uint32_t block,
                         struct trip_equations *out)
{
	struct tracker t;
	if (!prepare(&t, m, source, loop, block))
		return;
	t.result = out;
	if (track(&t)) {
		collect_items(&t);
		group_items(&t);
		find_unrolled(&t);
	} else {
		out->failed = true;
	}
	tracker_free(&t);
}

bool number_copies(const struct mapping *m, const struct mapping_source *source, struct numbers *out)
{
	bool enough = true;
	for (uint32_t id = 0; source->loop_of && id < m->id_count && id < source->counter_count && enough; id++) {
		struct tracker t;
		int32_t loop = source->loop_of[id];
		if (loop < 0 || (uint32_t)loop >= source->loop_count || !prepare(&t, m, source, (uint32_t)loop, id))
			continue;
		enough = track(&t);
		uint32_t first, end = copies_of(m, id, &first), before = 0;
		for (uint32_t i = first; i < end && enough; i++) {
			const struct probe_copy *c = &m->copies[m->order[i]];
			const struct probe_copy *last = i > first ? &m->copies[m->order[i - 1]] : NULL;
			before = last && last->function == c->function && last->block == c->block ? before + 1 : 0;
			out[m->order[i]] = numbers_of_copy(&t, tracked_block(&t, c->function, c->block), before + 1);
		}
		tracker_free(&t);
	}
	return enough;
}
