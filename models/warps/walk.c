/*
 * The way of a work-item through the code, synthesised from counts.
 *
 *   a loop entered e more times, with b executions left of its back edges, goes back b / e times at this entry
 *   a branch whose condition is the same in all lanes alternates evenly, so that all lanes do the same
 *   one that compares ids with a limit takes one way first in all lanes, so that the fewer are among the more
 *   any other branch takes each way with the probability of what is left of it, each lane for itself
 * Every edge is taken as often as counted. Source: the order of the loop structure; lanes independent of one another
 * where the code does not say that they agree.
 */
#include "models/warps/walk.h"

#include "models/util/hash.h"
#include "models/util/random.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct lane_walk {
	const struct kernel_code *code;
	const double *counts;
	int64_t *edges;            /* executions left */
	int64_t *trips;            /* per loop: back edges left at this entry */
	int32_t *into, *next_into; /* edges by the block that they lead to, as a list; -1 ends it */
	double *shares;            /* per block: what rounding owes to the taken way */
	int32_t *returns;          /* where open calls return to */
	size_t return_count, return_room;
	uint64_t random;
	bool failed;
};

static bool in_loop(const struct kernel_code *c, int32_t block, int32_t loop)
{
	if (block < 0)
		return false;
	for (int32_t l = c->blocks[block].loop; l >= 0; l = c->loops[l].outer)
		if (l == loop)
			return true;
	return false;
}

/* Two ways that both stay in the loop, or both leave it. */
static bool is_even(const struct kernel_code *c, const struct code_block *b)
{
	return b->loop < 0 || in_loop(c, c->edges[b->first_edge].to, b->loop) ==
	                          in_loop(c, c->edges[b->first_edge + 1].to, b->loop);
}

static bool has_flag(const struct kernel_code *c, const struct code_block *b, enum code_flags flag)
{
	return b->count && c->code[b->first + b->count - 1].flags & flag;
}

bool walk_may_differ(const struct kernel_code *c, const double *edges)
{
	for (uint32_t i = 0; i < c->block_count; i++) {
		const struct code_block *b = &c->blocks[i];
		if (b->edge_count == 2 && edges[b->first_edge] > 0.5 && edges[b->first_edge + 1] > 0.5 && is_even(c, b) &&
		    !has_flag(c, b, CODE_UNIFORM | CODE_ORDERED))
			return true;
	}
	return false;
}

/* Trips of this entry: an even share of what is left, all of it at the last entry. */
static void enter_loop(struct lane_walk *w, int32_t loop)
{
	const struct kernel_code *c = w->code;
	uint32_t header = c->loops[loop].header;
	int64_t back = 0, entries = 1; /* this entry's edge has been taken off already */
	for (int32_t i = w->into[header]; i >= 0; i = w->next_into[i]) {
		if (w->edges[i] <= 0)
			continue;
		if (in_loop(c, (int32_t)c->edges[i].from, loop))
			back += w->edges[i];
		else
			entries += w->edges[i];
	}
	w->trips[loop] = (back + entries / 2) / entries;
}

static int32_t cross(struct lane_walk *w, uint32_t edge)
{
	const struct kernel_code *c = w->code;
	const struct code_edge *e = &c->edges[edge];
	w->edges[edge]--;
	if (e->to < 0)
		return -1;
	int32_t loop = c->blocks[e->to].loop;
	if (loop >= 0 && c->loops[loop].header == (uint32_t)e->to) {
		if (in_loop(c, (int32_t)e->from, loop))
			w->trips[loop]--;
		else
			enter_loop(w, loop);
	}
	return e->to;
}

/* One of the edges leaves the innermost loop, the other stays. Leave when the trips of this entry are used up, by the
 * first way out that has executions left. */
static uint32_t choose_exit(struct lane_walk *w, uint32_t stays, uint32_t leaves, int32_t loop)
{
	if (w->edges[leaves] <= 0)
		return stays;
	if (w->edges[stays] <= 0)
		return leaves;
	return w->trips[loop] > 0 ? stays : leaves;
}

static uint32_t choose_way(struct lane_walk *w, uint32_t block, uint32_t first, uint32_t second)
{
	if (w->edges[first] <= 0 || w->edges[second] <= 0)
		return w->edges[second] > 0 ? second : first;
	const struct code_block *b = &w->code->blocks[block];
	if (has_flag(w->code, b, CODE_ORDERED)) /* whichever comes first, as long as it does for all lanes */
		return first;
	if (!has_flag(w->code, b, CODE_UNIFORM)) {
		double at = random_share(random_walk(&w->random)) * (double)(w->edges[first] + w->edges[second]);
		return at < (double)w->edges[first] ? first : second;
	}
	w->shares[block] += w->counts[first] / (w->counts[first] + w->counts[second]);
	if (w->shares[block] < 0.5)
		return second;
	w->shares[block] -= 1;
	return first;
}

static uint32_t choose_edge(struct lane_walk *w, uint32_t block)
{
	const struct code_block *b = &w->code->blocks[block];
	uint32_t first = b->first_edge, most = first;
	if (b->edge_count == 2 && is_even(w->code, b))
		return choose_way(w, block, first, first + 1);
	if (b->edge_count == 2) {
		bool stays = in_loop(w->code, w->code->edges[first].to, b->loop);
		return choose_exit(w, first + !stays, first + stays, b->loop);
	}
	for (uint32_t e = first; e < first + b->edge_count; e++) /* a table of targets: what has most left */
		if (w->edges[e] > w->edges[most])
			most = e;
	return most;
}

static bool push_return(struct lane_walk *w, int32_t to)
{
	if (!gs_reserve(&w->returns, w->return_count, &w->return_room, sizeof *w->returns)) {
		w->failed = true;
		return false;
	}
	w->returns[w->return_count++] = to;
	return true;
}

/* The function that has most executions left. -1: none has any. */
static int32_t choose_function(const struct lane_walk *w)
{
	int32_t chosen = -1;
	int64_t most = 0;
	for (uint32_t f = 1; f < w->code->function_count; f++) {
		const struct code_block *entry = &w->code->blocks[w->code->functions[f]];
		int64_t left = 0;
		for (uint32_t e = entry->first_edge; e < entry->first_edge + entry->edge_count; e++)
			left += w->edges[e] > 0 ? w->edges[e] : 0;
		if (left > most) {
			most = left;
			chosen = (int32_t)w->code->functions[f];
		}
	}
	return chosen;
}

static int32_t leave_block(struct lane_walk *w, uint32_t block)
{
	int32_t next = cross(w, choose_edge(w, block)), callee = w->code->blocks[block].call;
	if (callee == CODE_CALL_ANY)
		callee = choose_function(w);
	if (callee >= 0 && push_return(w, next))
		return callee;
	while (next < 0 && w->return_count)
		next = w->returns[--w->return_count];
	return next;
}

static bool start_walk(struct lane_walk *w, int64_t *wanted)
{
	const struct kernel_code *c = w->code;
	w->edges = malloc((c->edge_count + 1) * sizeof *w->edges);
	w->trips = calloc(c->loop_count + 1, sizeof *w->trips);
	w->shares = calloc(c->block_count + 1, sizeof *w->shares);
	w->into = malloc((c->block_count + 1) * sizeof *w->into);
	w->next_into = malloc((c->edge_count + 1) * sizeof *w->next_into);
	if (!w->edges || !w->trips || !w->shares || !w->into || !w->next_into)
		return false;
	for (uint32_t i = 0; i < c->block_count; i++)
		w->into[i] = -1;
	for (uint32_t i = 0; i < c->edge_count; i++) {
		w->edges[i] = w->counts[i] > 0 && w->counts[i] < 9e17 ? (int64_t)llround(w->counts[i]) : 0;
		*wanted += w->edges[i];
		if (c->edges[i].to >= 0) {
			w->next_into[i] = w->into[c->edges[i].to];
			w->into[c->edges[i].to] = (int32_t)i;
		}
	}
	return true;
}

int64_t walk_lane(const struct kernel_code *code, const double *edges, uint64_t seed, uint64_t most, struct gs_buf *path)
{
	struct lane_walk w = {.code = code, .counts = edges, .random = hash_high(seed) | 1};
	int64_t wanted = 0;
	int32_t at = (int32_t)code->functions[0];
	w.failed = !start_walk(&w, &wanted);
	/* Counts that do not belong together could lead round for ever: no longer than they ask for. */
	uint64_t room = (uint64_t)wanted < most ? (uint64_t)wanted : most;
	for (uint64_t n = 0; at >= 0 && n < room && !w.failed && !path->failed; n++) {
		uint32_t block = (uint32_t)at;
		gs_buf_add(path, &block, sizeof block);
		at = leave_block(&w, block);
	}
	free(w.edges);
	free(w.trips);
	free(w.shares);
	free(w.into);
	free(w.next_into);
	free(w.returns);
	return w.failed || path->failed ? -ENOMEM : wanted;
}
