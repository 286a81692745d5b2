/*
 * Loops that are unrolled by u with a remainder: u copies without an exit between them, after p peeled trips, run each
 * floor((trips - p) / u) times. Such a loop is entered by whoever reaches p + u trips; the remainder, a loop or one copy,
 * by those with (trips - p) mod u > 0. When a source loop became several of them (inlined or unswitched), the
 * equations are about their sums, and hold only if all of them are alike.
 */
#include "analysis/trips_internal.h"

#include <stdlib.h>

struct main_loop {
	uint32_t function, loop, copies, peeled;
};

/* The copies in a loop follow one another in every trip, and only behind the last of them it is left. */
static bool is_main_loop(const struct tracker *t, uint32_t function, uint32_t loop, struct main_loop *out)
{
	const struct graph *g = t->m->functions[function].graph;
	uint32_t header = g->loops[loop].header, last = header, copies = 0;
	struct numbers entry = {0};
	for (uint32_t b = 0; b < g->block_count; b++) {
		uint32_t index = tracked_block(t, function, b);
		if (!graph_in_loop(g, b, loop) || (!t->blocks[index].copies && !t->blocks[index].resets))
			continue;
		if (t->blocks[index].resets || g->blocks[b].loop != (int32_t)loop)
			return false;
		if (!graph_dominates(g, b, last) && !graph_dominates(g, last, b))
			return false;
		if (graph_dominates(g, last, b))
			last = b;
		copies += t->blocks[index].copies;
	}
	if (copies < 2)
		return false;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_edge *edge = &g->edges[e];
		if (!graph_in_loop(g, edge->from, loop))
			continue;
		bool back = edge->to == (int32_t)header, leaves = edge->to < 0 || !graph_in_loop(g, (uint32_t)edge->to, loop);
		if ((back || leaves) && !graph_dominates(g, last, edge->from))
			return false;
	}
	for (uint32_t i = 0; i < g->blocks[header].in_count; i++) {
		uint32_t edge = g->in[g->blocks[header].first_in + i];
		if (!graph_in_loop(g, g->edges[edge].from, loop))
			entry = numbers_join(entry, numbers_on_edge(t, function, edge));
	}
	*out = (struct main_loop){function, loop, copies, entry.first};
	return entry.any && !entry.step && entry.first < copies;
}

/* All main loops, which have to be unrolled alike; 0: there are none, or they are not. */
static uint32_t find_main_loops(const struct tracker *t, struct main_loop *out)
{
	uint32_t count = 0;
	for (uint32_t f = 0; f < t->m->function_count; f++)
		for (uint32_t l = 0; l < t->m->functions[f].graph->loop_count; l++) {
			if (!is_main_loop(t, f, l, &out[count]))
				continue;
			if (count && (out[count].copies != out[0].copies || out[count].peeled != out[0].peeled))
				return 0;
			count++;
		}
	return count;
}

static bool in_main_loop(const struct tracker *t, const struct main_loop *mains, uint32_t count, uint32_t function,
                         uint32_t block)
{
	for (uint32_t i = 0; i < count; i++)
		if (mains[i].function == function &&
		    graph_in_loop(t->m->functions[function].graph, block, mains[i].loop))
			return true;
	return false;
}

/* The outermost loop around the block that has no parent's probe and no other main loop in it; or -1. */
static int32_t remainder_loop(const struct tracker *t, const struct main_loop *mains, uint32_t count, uint32_t function,
                              uint32_t block)
{
	const struct graph *g = t->m->functions[function].graph;
	int32_t found = -1;
	for (int32_t l = g->blocks[block].loop; l >= 0; l = g->loops[l].outer) {
		for (uint32_t i = 0; i < count; i++)
			if (mains[i].function == function && graph_in_loop(g, g->loops[mains[i].loop].header, (uint32_t)l))
				return found;
		for (uint32_t b = 0; b < g->block_count; b++)
			if (t->blocks[tracked_block(t, function, b)].resets && graph_in_loop(g, b, (uint32_t)l))
				return found;
		found = l;
	}
	return found;
}

static void add_entries(struct tracker *t, struct trip_equation *e, uint32_t function, uint32_t loop)
{
	const struct graph *g = t->m->functions[function].graph;
	const struct graph_block *header = &g->blocks[g->loops[loop].header];
	for (uint32_t i = 0; i < header->in_count; i++) {
		uint32_t edge = g->in[header->first_in + i];
		if (!graph_in_loop(g, g->edges[edge].from, loop))
			add_left(t, e, variable_of_edge(t->m, function, edge), 1);
	}
}

/* The entry of a remainder comes from a main loop: some way has its step. */
static bool follows_main(const struct tracker *t, uint32_t function, int32_t loop, uint32_t block, uint32_t step)
{
	const struct graph *g = t->m->functions[function].graph;
	if (loop < 0)
		return t->in[tracked_block(t, function, block)].step == step;
	const struct graph_block *header = &g->blocks[g->loops[loop].header];
	for (uint32_t i = 0; i < header->in_count; i++) {
		uint32_t edge = g->in[header->first_in + i];
		if (!graph_in_loop(g, g->edges[edge].from, (uint32_t)loop) && numbers_on_edge(t, function, edge).step == step)
			return true;
	}
	return false;
}

/* As often as (trips - p) mod u >= j, for j > 0: trips with the number p + j modulo u less those that end a round. */
static void add_rest(struct tracker *t, struct trip_equation *e, const struct main_loop *main, uint32_t j)
{
	struct numbers step = {true, main->peeled + j, main->copies};
	add_set(t, e, step, 1);
	step.first = main->peeled + main->copies;
	add_set(t, e, step, -1);
}

/*
 * The copies outside of the main loops: peeled ones before them, and remainders, in a loop or one behind the other.
 * False: there are others too, so that not every entry goes through a main loop.
 */
static bool add_remainders(struct tracker *t, const struct main_loop *mains, uint32_t count)
{
	uint32_t first, end = copies_of(t->m, t->block, &first), u = mains[0].copies;
	struct trip_equation *loops = new_equation(t);
	uint32_t loops_at = t->result->count - 1, loop_count = 0;
	if (!loops)
		return false;
	add_rest(t, loops, &mains[0], 1);
	for (uint32_t i = first; i < end; i++) {
		const struct probe_copy *c = &t->m->copies[t->m->order[i]];
		uint32_t index = tracked_block(t, c->function, c->block);
		if (c->edge >= 0)
			return false;
		if (in_main_loop(t, mains, count, c->function, c->block))
			continue;
		struct numbers n = t->in[index];
		if (!n.step && n.first + t->blocks[index].copies <= mains[0].peeled)
			continue;
		int32_t loop = remainder_loop(t, mains, count, c->function, c->block);
		if (t->blocks[index].copies != 1 || !follows_main(t, c->function, loop, c->block, u))
			return false;
		/* Straight remainders of more than one trip give no equation: their copies' order is not looked at. */
		if (loop < 0 && u > 2)
			return false;
		if (loop < 0)
			add_left(t, &t->result->items[loops_at], variable_of_block(t->m, c->function, c->block), 1);
		else
			add_entries(t, &t->result->items[loops_at], c->function, (uint32_t)loop);
		loop_count++;
	}
	if (!loop_count)
		drop_equation(t);
	return loop_count <= count;
}

static void add_main_loops(struct tracker *t, const struct main_loop *mains, uint32_t count)
{
	uint32_t before = t->result->count;
	uint32_t u = mains[0].copies, p = mains[0].peeled;
	if (!add_remainders(t, mains, count)) {
		while (t->result->count > before)
			drop_equation(t);
		return;
	}
	struct trip_equation *e = new_equation(t);
	for (uint32_t i = 0; e && i < count; i++) {
		const struct graph *g = t->m->functions[mains[i].function].graph;
		add_left(t, e, variable_of_block(t->m, mains[i].function, g->loops[mains[i].loop].header), 1);
	}
	if (e)
		add_set(t, e, (struct numbers){true, p + u, u}, 1);
	e = new_equation(t);
	for (uint32_t i = 0; e && i < count; i++)
		add_entries(t, e, mains[i].function, mains[i].loop);
	if (e)
		add_set(t, e, (struct numbers){true, p + u, 0}, 1);
}

void find_unrolled(struct tracker *t)
{
	struct main_loop *mains = calloc(t->m->loop_count + 1u, sizeof *mains);
	uint32_t count = mains ? find_main_loops(t, mains) : 0;
	t->result->failed |= !mains;
	if (count)
		add_main_loops(t, mains, count);
	free(mains);
}
