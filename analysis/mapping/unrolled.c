/*
 * Loops that are unrolled by u with a remainder.
 *
 * After p peeled trips, the main loop has u copies without an exit between them. Each copy runs floor((trips - p) / u) times.
 * The main loop is entered if p + u trips are reached. The remainder comes after the main loop or before it. It has one of two
 * forms:
 *   - a loop that is entered if (trips - p) mod u > 0
 *   - copies in a row, where the j-th copy runs if (trips - p) mod u >= j
 * A branch before them divides main loop and remainder. It is reached with p + 1 trips, because the compiler unrolls in this way
 * only a loop that is known to run. If a source loop became several such loops (inlined or unswitched), the equations are about
 * their sums. Then they hold only if all these loops are alike.
 */
#include "analysis/mapping/trips_internal.h"

#include <stdlib.h>

struct main_loop {
	uint32_t function, loop, copies, peeled;
	uint32_t first; /* the block of the first copy */
	bool remainder_first; /* the remainder comes before the main loop */
	bool tests;     /* it may be left before the first copy */
};

/* The first piece of a remainder is a loop or a block. */
struct remainder_piece {
	uint32_t function, block; /* the block, or the header of the loop */
	int32_t loop;             /* or -1 */
	uint32_t place;           /* j, from 1 */
};

struct unrolled {
	struct tracker *t;
	struct main_loop *mains;
	struct remainder_piece *pieces;
	uint32_t main_count, piece_count;
};

static const struct graph *graph_of(const struct unrolled *u, uint32_t function)
{
	return u->t->m->reached.functions[function].graph;
}

/* ---- main loops ---- */

/* Counts the copies in a loop, if each one dominates the next. *first and *last are the blocks of the first and the last copy. */
static uint32_t copies_in_loop(const struct tracker *t, uint32_t function, uint32_t loop, uint32_t *first, uint32_t *last)
{
	const struct graph *g = t->m->reached.functions[function].graph;
	uint32_t copies = 0;
	*last = g->loops[loop].header;
	for (uint32_t i = 0; i < g->order_count; i++) {
		uint32_t b = g->order[i];
		const struct tracked_place *place = &t->blocks[tracked_block(t, function, b)];
		if ((!place->copies && !place->resets) || !graph_in_loop(g, b, loop))
			continue;
		if (place->resets || g->blocks[b].loop != (int32_t)loop || !graph_dominates(g, *last, b))
			return 0;
		if (!copies)
			*first = b;
		*last = b;
		copies += place->copies;
	}
	return copies;
}

/* Whether control neither leaves the loop nor goes back between the first and the last copy. *tests: it may leave before them. */
static bool is_closed(const struct graph *g, uint32_t loop, uint32_t first, uint32_t last, bool *tests)
{
	*tests = false;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_edge *edge = &g->edges[e];
		if (!g->blocks[edge->from].reachable || !graph_in_loop(g, edge->from, loop))
			continue;
		bool back = edge->to == (int32_t)g->loops[loop].header;
		bool leaves = edge->to < 0 || !graph_in_loop(g, (uint32_t)edge->to, loop);
		if ((!back && !leaves) || graph_dominates(g, last, edge->from))
			continue;
		if (graph_dominates(g, first, edge->from))
			return false;
		*tests |= leaves;
	}
	return true;
}

static struct numbers numbers_at_entry(const struct tracker *t, uint32_t function, uint32_t loop)
{
	const struct graph *g = t->m->reached.functions[function].graph;
	const struct graph_block *header = &g->blocks[g->loops[loop].header];
	struct numbers entry = {0};
	for (uint32_t i = 0; i < header->in_count; i++) {
		uint32_t edge = g->in[header->first_in + i];
		if (!graph_in_loop(g, g->edges[edge].from, loop))
			entry = numbers_join(entry, numbers_on_edge(t, function, edge));
	}
	return entry;
}

static bool is_main_loop(const struct tracker *t, uint32_t function, uint32_t loop, struct main_loop *out)
{
	uint32_t first = 0, last, copies = copies_in_loop(t, function, loop, &first, &last);
	bool tests;
	if (copies < 2 || !is_closed(t->m->reached.functions[function].graph, loop, first, last, &tests))
		return false;
	struct numbers entry = numbers_at_entry(t, function, loop);
	*out = (struct main_loop){.function = function,
	                          .loop = loop,
	                          .copies = copies,
	                          .peeled = entry.step ? 0 : entry.first,
	                          .first = first,
	                          .remainder_first = entry.step != 0,
	                          .tests = tests};
	return entry.any && entry.first < copies && entry.step < 2;
}

/* Finds all main loops. False: there are none, or they are not unrolled alike. */
static bool find_main_loops(struct unrolled *u)
{
	for (uint32_t f = 0; f < u->t->m->reached.count; f++)
		for (uint32_t l = 0; l < u->t->m->reached.functions[f].graph->loop_count; l++) {
			struct main_loop *m = &u->mains[u->main_count];
			if (!is_main_loop(u->t, f, l, m))
				continue;
			if (m->copies != u->mains->copies || m->peeled != u->mains->peeled || m->remainder_first != u->mains->remainder_first)
				return false;
			u->main_count++;
		}
	return u->main_count > 0;
}

static bool in_main_loop(const struct unrolled *u, uint32_t function, uint32_t block)
{
	for (uint32_t i = 0; i < u->main_count; i++)
		if (u->mains[i].function == function && graph_in_loop(graph_of(u, function), block, u->mains[i].loop))
			return true;
	return false;
}

/* ---- remainders ---- */

static bool is_around(const struct unrolled *u, uint32_t function, uint32_t loop)
{
	const struct graph *g = graph_of(u, function);
	for (uint32_t i = 0; i < u->main_count; i++)
		if (u->mains[i].function == function && graph_in_loop(g, g->loops[u->mains[i].loop].header, loop))
			return true;
	for (uint32_t b = 0; b < g->block_count; b++)
		if (u->t->blocks[tracked_block(u->t, function, b)].resets && graph_in_loop(g, b, loop))
			return true;
	return false;
}

/* The outermost loop around the block that contains neither a main loop nor the parent's probe. -1: none. */
static int32_t remainder_loop(const struct unrolled *u, uint32_t function, uint32_t block)
{
	const struct graph *g = graph_of(u, function);
	int32_t found = -1;
	for (int32_t l = g->blocks[block].loop; l >= 0 && !is_around(u, function, (uint32_t)l); l = g->loops[l].outer)
		found = l;
	return found;
}

/* Which trip of the remainder has these numbers, from 1. 0: it is no remainder of such main loops. */
static uint32_t place_of(const struct unrolled *u, struct numbers n)
{
	uint32_t p = u->mains->peeled, copies = u->mains->copies;
	if (!n.any || n.first < p || n.step != (u->mains->remainder_first ? 0 : copies))
		return 0;
	uint32_t rest = u->mains->remainder_first ? n.first - p : (n.first - p) % copies;
	return rest + 1 < copies ? rest + 1 : 0;
}

/* The place of a loop after main loops. Some ways into it come from a main loop, the others go around it. */
static uint32_t place_of_loop(const struct unrolled *u, uint32_t function, uint32_t loop)
{
	const struct graph *g = graph_of(u, function);
	const struct graph_block *header = &g->blocks[g->loops[loop].header];
	uint32_t found = 0;
	for (uint32_t i = 0; i < header->in_count; i++) {
		uint32_t edge = g->in[header->first_in + i];
		if (!graph_in_loop(g, g->edges[edge].from, loop) && place_of(u, numbers_on_edge(u->t, function, edge)) == 1)
			found = 1;
	}
	return found;
}

/* False: a copy is neither in a main loop nor peeled nor in a remainder. Then not every entry goes through a main loop. */
static bool add_piece(struct unrolled *u, const struct probe_copy *c)
{
	uint32_t index = tracked_block(u->t, c->function, c->block);
	struct numbers n = u->t->in[index];
	if (c->edge >= 0)
		return false;
	if (in_main_loop(u, c->function, c->block))
		return true;
	if (!n.step && n.first + u->t->blocks[index].copies <= u->mains->peeled)
		return true;
	struct remainder_piece p = {c->function, c->block, remainder_loop(u, c->function, c->block), 0};
	p.place = p.loop < 0 ? place_of(u, n) : place_of_loop(u, c->function, (uint32_t)p.loop);
	if (p.loop >= 0)
		p.block = graph_of(u, c->function)->loops[p.loop].header;
	u->pieces[u->piece_count++] = p;
	return u->t->blocks[index].copies == 1 && p.place;
}

/* If the remainder comes first, its loop's entry shows the number of peeled trips. False: not certain. */
static bool find_peeled(struct unrolled *u)
{
	uint32_t first, end = copies_of(u->t->m, u->t->block, &first);
	bool found = false;
	for (uint32_t i = first; i < end; i++) {
		const struct probe_copy *c = &u->t->m->copies[u->t->m->order[i]];
		int32_t loop = in_main_loop(u, c->function, c->block) ? -1 : remainder_loop(u, c->function, c->block);
		if (loop < 0)
			continue;
		struct numbers n = numbers_at_entry(u->t, c->function, (uint32_t)loop);
		if (!n.any || n.step || n.first >= u->mains->copies || (found && n.first != u->mains->peeled))
			return false;
		found = true;
		u->mains->peeled = n.first;
	}
	for (uint32_t i = 1; i < u->main_count; i++)
		u->mains[i].peeled = u->mains->peeled;
	return true;
}

static bool find_pieces(struct unrolled *u)
{
	uint32_t first, end = copies_of(u->t->m, u->t->block, &first), starts = 0;
	if (u->mains->remainder_first && !find_peeled(u))
		return false;
	for (uint32_t i = first; i < end; i++)
		if (!add_piece(u, &u->t->m->copies[u->t->m->order[i]]))
			return false;
	for (uint32_t i = 0; i < u->piece_count; i++)
		starts += u->pieces[i].place == 1;
	return starts <= u->main_count;
}

/* ---- equations ---- */

static void add_entries(struct unrolled *u, struct trip_equation *e, uint32_t function, uint32_t loop)
{
	const struct graph *g = graph_of(u, function);
	const struct graph_block *header = &g->blocks[g->loops[loop].header];
	for (uint32_t i = 0; i < header->in_count; i++) {
		uint32_t edge = g->in[header->first_in + i];
		if (!graph_in_loop(g, g->edges[edge].from, loop))
			add_left(u->t, e, variable_of_edge(u->t->m, function, edge), 1);
	}
}

/* Adds how often (trips - p) mod u >= place. It is the trips with a number p + place modulo u, less those that end a round. */
static void add_remainders(struct unrolled *u, uint32_t place)
{
	struct trip_equation *e = new_equation(u->t);
	uint32_t copies = u->mains->copies, p = u->mains->peeled;
	for (uint32_t i = 0; e && i < u->piece_count; i++) {
		const struct remainder_piece *piece = &u->pieces[i];
		if (piece->place != place)
			continue;
		if (piece->loop < 0)
			add_left(u->t, e, variable_of_block(u->t->m, piece->function, piece->block), 1);
		else
			add_entries(u, e, piece->function, (uint32_t)piece->loop);
	}
	if (e && !e->left_count) {
		drop_equation(u->t);
	} else if (e) {
		add_set(u->t, e, (struct numbers){true, p + place, copies}, 1);
		add_set(u->t, e, (struct numbers){true, p + copies, copies}, -1);
	}
}

static void add_mains(struct unrolled *u)
{
	struct trip_equation *e = new_equation(u->t);
	uint32_t copies = u->mains->copies, p = u->mains->peeled;
	bool tests = false;
	for (uint32_t i = 0; e && i < u->main_count; i++) {
		const struct main_loop *m = &u->mains[i];
		add_left(u->t, e, variable_of_block(u->t->m, m->function, m->first), 1);
		tests |= m->tests;
	}
	if (e)
		add_set(u->t, e, (struct numbers){true, p + copies, copies}, 1);
	e = tests ? NULL : new_equation(u->t);
	for (uint32_t i = 0; e && i < u->main_count; i++)
		add_entries(u, e, u->mains[i].function, u->mains[i].loop);
	if (e)
		add_set(u->t, e, (struct numbers){true, p + copies, 0}, 1);
}

static uint32_t depth_of(const struct graph *g, uint32_t block)
{
	uint32_t depth = 0;
	for (int32_t b = g->blocks[block].idom; b >= 0; b = g->blocks[b].idom)
		depth++;
	return depth;
}

static uint32_t common_dominator(const struct graph *g, uint32_t a, uint32_t b)
{
	while (!graph_dominates(g, a, b))
		a = (uint32_t)g->blocks[a].idom;
	return a;
}

/* The branch that divides a main loop from its remainder. Among all remainders, it takes the nearest branch. -1: none. */
static int64_t dividing_block(const struct unrolled *u, const struct main_loop *m)
{
	const struct graph *g = graph_of(u, m->function);
	int64_t best = -1;
	for (uint32_t i = 0; i < u->piece_count; i++) {
		if (u->pieces[i].function != m->function || u->pieces[i].place != 1)
			continue;
		uint32_t block = common_dominator(g, g->loops[m->loop].header, u->pieces[i].block);
		if (best < 0 || depth_of(g, block) > depth_of(g, (uint32_t)best))
			best = block;
	}
	return best;
}

static void add_guards(struct unrolled *u)
{
	struct trip_equation *e = new_equation(u->t);
	bool good = e != NULL;
	for (uint32_t i = 0; i < u->main_count && good; i++) {
		const struct main_loop *m = &u->mains[i];
		int64_t block = dividing_block(u, m);
		struct numbers n = {0};
		if (block >= 0)
			n = u->t->out[tracked_block(u->t, m->function, (uint32_t)block)];
		good = n.any && !n.step && n.first == m->peeled;
		for (uint32_t j = 0; j < i && good; j++)
			good = dividing_block(u, &u->mains[j]) != block || u->mains[j].function != m->function;
		if (good)
			add_left(u->t, e, variable_of_block(u->t->m, m->function, (uint32_t)block), 1);
	}
	if (good)
		add_set(u->t, e, (struct numbers){true, u->mains->peeled + 1, 0}, 1);
	else if (e)
		drop_equation(u->t);
}

void find_unrolled(struct tracker *t)
{
	uint32_t first, copies = copies_of(t->m, t->block, &first) - first;
	struct unrolled u = {.t = t,
	                     .mains = calloc(t->m->loop_count + 1u, sizeof *u.mains),
	                     .pieces = calloc(copies + 1u, sizeof *u.pieces)};
	if (!u.mains || !u.pieces) {
		t->result->failed = true;
	} else if (find_main_loops(&u) && find_pieces(&u)) {
		add_mains(&u);
		for (uint32_t place = 1; place < u.mains->copies; place++)
			add_remainders(&u, place);
		add_guards(&u);
	}
	free(u.mains);
	free(u.pieces);
}
