/*
 * The way of a warp through the code, synthesised from counts.
 *
 *   at a branch that ran n more times, with t and f executions left of its two ways: t + f - n of them diverge
 *   a loop entered e more times, with b executions left of its back edges, goes back b / e times at this entry
 * Divergent branches run the taken arm first, then the other, each up to the immediate post-dominator.
 * Source: SIMT execution with reconvergence at the immediate post-dominator; the order of the loop structure.
 */
#include "models/walk.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* What is open while a path is walked: the second arm of a divergent branch, or the way back from a call. */
struct frame {
	int32_t join;  /* a call: where it returns to */
	int32_t other; /* the arm that waits, or -2: none */
	bool call, reached;
};

struct walk {
	const struct kernel_code *code;
	const struct walk_counts *counts;
	int64_t *edges, *blocks; /* executions left */
	int64_t *trips;          /* per loop: back edges left at this entry */
	int32_t *into, *next_into; /* edges by the block that they lead to, as a list; -1 ends it */
	double *shares, *both;   /* per block: what rounding owes to the taken way, and to both */
	struct frame *frames;
	size_t frame_count, frame_room;
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

static bool push(struct walk *w, struct frame f)
{
	if (w->frame_count == w->frame_room) {
		size_t room = w->frame_room ? 2 * w->frame_room : 16;
		struct frame *grown = reallocarray(w->frames, room, sizeof *grown);
		if (!grown) {
			w->failed = true;
			return false;
		}
		w->frames = grown;
		w->frame_room = room;
	}
	w->frames[w->frame_count++] = f;
	return true;
}

/* Trips of this entry: an even share of what is left, all of it at the last entry. */
static void enter_loop(struct walk *w, int32_t loop)
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

static void cross(struct walk *w, uint32_t edge)
{
	const struct kernel_code *c = w->code;
	const struct code_edge *e = &c->edges[edge];
	w->edges[edge]--;
	if (e->to < 0)
		return;
	int32_t loop = c->blocks[e->to].loop;
	if (loop < 0 || c->loops[loop].header != (uint32_t)e->to)
		return;
	if (in_loop(c, (int32_t)e->from, loop))
		w->trips[loop]--;
	else
		enter_loop(w, loop);
}

/* One of the edges leaves the innermost loop, the other stays. Leave when the trips of this entry are used up, by the
 * first way out that has executions left. */
static uint32_t choose_exit(struct walk *w, uint32_t stays, uint32_t leaves, int32_t loop)
{
	if (w->edges[leaves] <= 0)
		return stays;
	if (w->edges[stays] <= 0)
		return leaves;
	return w->trips[loop] > 0 ? stays : leaves;
}

/* Evenly spread: true in `share` of the executions, as long as the `part` left of `whole` allows it. */
static bool spread(double *owed, double share, int64_t part, int64_t whole)
{
	if (part <= 0)
		return false;
	if (part >= whole)
		return true;
	*owed += share;
	if (*owed < 0.5)
		return false;
	*owed -= 1;
	return true;
}

/* Both arms of a branch, one after the other; returns where to go on. */
static int32_t diverge(struct walk *w, uint32_t block, uint32_t first, uint32_t second)
{
	const struct kernel_code *c = w->code;
	int32_t join = c->blocks[block].join, a = c->edges[first].to, b = c->edges[second].to;
	cross(w, first);
	cross(w, second);
	if (a == join)
		return b;
	if (b == join || push(w, (struct frame){.join = join, .other = b}))
		return a;
	return -1;
}

/* Two ways that both stay in the loop. */
static int32_t choose_way(struct walk *w, uint32_t block, uint32_t first, uint32_t second, int64_t left)
{
	int64_t taken = w->edges[first] > 0 ? w->edges[first] : 0, falls = w->edges[second] > 0 ? w->edges[second] : 0;
	double all = w->counts->blocks[block], all_taken = w->counts->edges[first];
	double all_both = all_taken + w->counts->edges[second] - all;
	int64_t both = taken + falls - left > 0 ? taken + falls - left : 0;
	if (taken && falls && spread(&w->both[block], all_both / all, both, left))
		return diverge(w, block, first, second);
	uint32_t chosen = falls ? second : first;
	if (taken && falls && spread(&w->shares[block], (all_taken - all_both) / (all - all_both), taken - both, left - both))
		chosen = first;
	cross(w, chosen);
	return w->code->edges[chosen].to;
}

/* `left`: executions of the block that are left, this one included. */
static int32_t choose_branch(struct walk *w, uint32_t block, int64_t left)
{
	const struct code_block *b = &w->code->blocks[block];
	uint32_t first = b->first_edge, second = first + 1;
	if (!w->code->edges[first].taken && w->code->edges[second].taken) {
		first = second;
		second = b->first_edge;
	}
	int32_t loop = b->loop;
	bool first_stays = loop < 0 || in_loop(w->code, w->code->edges[first].to, loop);
	bool second_stays = loop < 0 || in_loop(w->code, w->code->edges[second].to, loop);
	if (first_stays == second_stays)
		return choose_way(w, block, first, second, left);
	uint32_t chosen = choose_exit(w, first_stays ? first : second, first_stays ? second : first, loop);
	cross(w, chosen);
	return w->code->edges[chosen].to;
}

/* A table of targets: by the one that has most left. */
static int32_t choose_of_many(struct walk *w, const struct code_block *b)
{
	uint32_t chosen = b->first_edge;
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++)
		if (w->edges[e] > w->edges[chosen])
			chosen = e;
	cross(w, chosen);
	return w->code->edges[chosen].to;
}

static int32_t leave_block(struct walk *w, uint32_t block, int64_t left)
{
	const struct code_block *b = &w->code->blocks[block];
	int32_t next;
	if (b->edge_count == 2)
		next = choose_branch(w, block, left);
	else
		next = choose_of_many(w, b);
	if (b->call >= 0 && push(w, (struct frame){.join = next, .other = -2, .call = true}))
		return b->call;
	return next;
}

/* At the end of an arm or of a function: where the warp goes on; -1 when there is nothing more. */
static int32_t settle(struct walk *w, int32_t at)
{
	while (w->frame_count) {
		struct frame *f = &w->frames[w->frame_count - 1];
		if (at >= 0 && (f->call || at != f->join))
			return at;
		if (f->call) { /* the function has ended */
			at = f->join;
			w->frame_count--;
			continue;
		}
		f->reached |= at == f->join;
		if (f->other != -2 && f->other != f->join) {
			at = f->other;
			f->other = -2;
			continue;
		}
		at = f->reached ? f->join : -1;
		w->frame_count--;
	}
	return at;
}

static int64_t as_count(double x)
{
	return x > 0 && x < 9e18 ? (int64_t)llround(x) : 0;
}

static bool begin(struct walk *w, const struct walk_counts *counts, int64_t *wanted)
{
	const struct kernel_code *c = w->code;
	w->edges = malloc((c->edge_count + 1) * sizeof *w->edges);
	w->blocks = malloc((c->block_count + 1) * sizeof *w->blocks);
	w->trips = calloc(c->loop_count + 1, sizeof *w->trips);
	w->shares = calloc(c->block_count + 1, sizeof *w->shares);
	w->both = calloc(c->block_count + 1, sizeof *w->both);
	w->into = malloc((c->block_count + 1) * sizeof *w->into);
	w->next_into = malloc((c->edge_count + 1) * sizeof *w->next_into);
	if (!w->edges || !w->blocks || !w->trips || !w->shares || !w->both || !w->into || !w->next_into)
		return false;
	*wanted = 0;
	for (uint32_t i = 0; i < c->block_count; i++) {
		w->blocks[i] = as_count(counts->blocks[i]);
		*wanted += w->blocks[i];
		w->into[i] = -1;
	}
	for (uint32_t i = 0; i < c->edge_count; i++) {
		w->edges[i] = as_count(counts->edges[i]);
		if (c->edges[i].to >= 0) {
			w->next_into[i] = w->into[c->edges[i].to];
			w->into[c->edges[i].to] = (int32_t)i;
		}
	}
	return true;
}

int64_t walk_warp(const struct kernel_code *code, const struct walk_counts *counts, uint64_t most, struct gs_buf *path)
{
	struct walk w = {.code = code, .counts = counts};
	int64_t wanted = 0;
	int32_t at = (int32_t)code->functions[0];
	w.failed = !begin(&w, counts, &wanted);
	/* Counts that do not belong together could lead round for ever: no longer than they ask for, and a bit. */
	uint64_t room = (uint64_t)wanted + code->block_count;
	room = room < most ? room : most;
	for (uint64_t n = 0; at >= 0 && n < room && !w.failed && !path->failed; n++) {
		uint32_t block = (uint32_t)at;
		gs_buf_add(path, &block, sizeof block);
		at = settle(&w, leave_block(&w, block, w.blocks[block]));
		w.blocks[block]--;
	}
	free(w.edges);
	free(w.blocks);
	free(w.trips);
	free(w.shares);
	free(w.both);
	free(w.into);
	free(w.next_into);
	free(w.frames);
	return w.failed || path->failed ? -ENOMEM : wanted;
}
