/*
 * What a window does often and the iterations after it do rarely. A search keeps less and less of what it looks at: the arm that keeps is taken in
 * most iterations of the first window, and hardly ever later. Counters say how often lanes took it in all.
 *
 *   share: of a block, its executions by lanes in the rounds that were left out, by counters, over those that rounds of the window make
 *   keep: its share over that of the block which all iterations of its loop execute
 * Rounds then do a copy of the window without some of its arms. Those stay that the fewest lanes took, the latest of them: the rarer an arm is, the
 * fewer lanes are in it together. An arm is what a branch leads to on the way to where it joins, if another way leads there at once.
 */
#include "models/trace/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double MOST_CARRIED = 32; /* lanes, from window to window: an arm is kept or not */
static const double LEAST_ROUNDS = 2; /* the window's own iterations, and at least as many again */

struct arm {
	uint32_t at, end; /* blocks at..end-1 of the path */
	uint32_t lanes;
};

struct thinning {
	const struct kernel_code *code;
	const struct arm_shares *shares;
	struct recorded_path *path, made;
	uint32_t *place, *thin; /* by block of the path, and one more: where it is now, and where its copy is */
	bool *dropped;          /* of the copies */
	struct arm *arms;
};

static uint32_t *blocks_of(const struct recorded_path *r)
{
	return (uint32_t *)(void *)r->blocks.data;
}

static uint32_t block_count(const struct recorded_path *r)
{
	return (uint32_t)(r->blocks.len / sizeof(uint32_t));
}

static bool leads_to(const struct kernel_code *code, const struct code_block *b, int32_t to)
{
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++)
		if (code->edges[e].to == to)
			return true;
	return false;
}

/* The arm after block n of the path, before `end`. */
static bool find_arm(const struct thinning *t, uint32_t n, uint32_t end, struct arm *out)
{
	const uint32_t *blocks = blocks_of(t->path);
	const struct code_block *b = &t->code->blocks[blocks[n]];
	if (b->edge_count < 2 || b->join < 0 || n + 1 >= end || blocks[n + 1] == (uint32_t)b->join || t->code->blocks[b->join].loop != b->loop ||
	    !leads_to(t->code, b, b->join))
		return false;
	*out = (struct arm){n + 1, n + 1, (uint32_t)((uint8_t)t->path->lanes.data[n + 1] & ~DIVERGES) + 1};
	while (out->end < end && blocks[out->end] != (uint32_t)b->join)
		out->end++;
	return out->end < end;
}

static int compare_arms(const void *a, const void *b)
{
	const struct arm *x = a, *y = b;
	if (x->lanes != y->lanes)
		return x->lanes < y->lanes ? -1 : 1;
	return (x->at < y->at) - (x->at > y->at);
}

/* Arms that begin with a block. */
static void drop_arms(struct thinning *t, const struct recorded_gap *g, uint32_t block)
{
	double all = 0, kept = 0, *carry = &t->shares->carry[block];
	size_t count = 0;
	for (uint32_t n = g->from; n < g->at; n++) {
		struct arm arm;
		if (n + 1 >= g->at || blocks_of(t->path)[n + 1] != block || !find_arm(t, n, g->at, &arm))
			continue;
		all += arm.lanes;
		if (!t->dropped[n])
			t->arms[count++] = arm;
	}
	double wanted = all * t->shares->keep[block] + *carry;
	qsort(t->arms, count, sizeof *t->arms, compare_arms);
	for (size_t i = 0; i < count; i++) {
		if (kept + t->arms[i].lanes / 2.0 <= wanted)
			kept += t->arms[i].lanes;
		else
			memset(t->dropped + t->arms[i].at, true, t->arms[i].end - t->arms[i].at);
	}
	*carry = fmin(fmax(wanted - kept, -MOST_CARRIED), MOST_CARRIED);
}

/* Outer arms come first: what is dropped with them is no longer there. */
static bool drop_from_window(struct thinning *t, const struct recorded_gap *g)
{
	bool *seen = calloc(t->code->block_count + 1u, sizeof *seen), any = false;
	memset(t->dropped + g->from, false, g->at - g->from);
	for (uint32_t n = g->from; n < g->at && seen; n++) {
		struct arm arm;
		uint32_t block = n + 1 < g->at ? blocks_of(t->path)[n + 1] : 0;
		if (t->dropped[n] || seen[block] || t->shares->keep[block] >= 1 || !find_arm(t, n, g->at, &arm))
			continue;
		seen[block] = true;
		drop_arms(t, g, block);
	}
	for (uint32_t n = g->from; n < g->at; n++)
		any |= t->dropped[n];
	free(seen);
	return any;
}

static void copy_block(struct thinning *t, uint32_t n, bool parts_again)
{
	const struct recorded_path *r = t->path;
	struct recorded_path *to = &t->made;
	const uint32_t *before = (const uint32_t *)(const void *)r->before.data, *first = (const uint32_t *)(const void *)r->first.data;
	uint32_t at = before[n], end = n + 1 < block_count(r) ? before[n + 1] : (uint32_t)(r->accesses.len / sizeof(uint16_t));
	uint32_t accesses = (uint32_t)(to->accesses.len / sizeof(uint16_t));
	uint8_t lanes = (uint8_t)r->lanes.data[n];
	lanes = parts_again ? lanes : (uint8_t)(lanes & ~DIVERGES);
	gs_buf_add(&to->blocks, &blocks_of(r)[n], sizeof(uint32_t));
	gs_buf_add(&to->lanes, &lanes, 1);
	gs_buf_add(&to->before, &accesses, sizeof accesses);
	gs_buf_add(&to->accesses, r->accesses.data + at * sizeof(uint16_t), (end - at) * sizeof(uint16_t));
	gs_buf_add(&to->firsts, r->firsts.data + at * sizeof(struct first_lane), (end - at) * sizeof(struct first_lane));
	for (uint32_t a = at; a < end; a++) {
		uint32_t parts = (uint32_t)(to->parts.len / sizeof(struct memory_part));
		gs_buf_add(&to->first, &parts, sizeof parts);
		gs_buf_add(&to->parts, r->parts.data + first[a] * sizeof(struct memory_part), (first[a + 1] - first[a]) * sizeof(struct memory_part));
	}
}

static void copy_window(struct thinning *t, const struct recorded_gap *g)
{
	for (uint32_t n = g->from; n < g->at; n++) {
		t->thin[n] = block_count(&t->made);
		if (!t->dropped[n])
			copy_block(t, n, n + 1 == g->at || !t->dropped[n + 1]);
	}
}

static bool is_outermost(const struct recorded_gap *gaps, size_t count, size_t g)
{
	for (size_t k = g + 1; k < count; k++)
		if (gaps[k].from <= gaps[g].from)
			return false;
	return true;
}

/* Gaps where their windows are now. Those within a window that has a copy are in both. Returns how many there are. */
static size_t place_gaps(const struct thinning *t, const struct recorded_gap *gaps, size_t count, struct recorded_gap *out)
{
	size_t made = 0;
	for (size_t i = 0, next = 0; i < count; i++) {
		struct recorded_gap main = gaps[i], copy = gaps[i];
		while (next < i || !is_outermost(gaps, count, next))
			next++; /* the outermost around it */
		main.from = t->place[gaps[i].from];
		main.at = t->place[gaps[i].at - 1] + 1;
		if (!gaps[next].thinned) {
			out[made++] = main;
			continue;
		}
		copy.from = t->thin[gaps[i].from];
		copy.at = gaps[i].at < gaps[next].at ? t->thin[gaps[i].at] : gaps[next].copy_end;
		copy.rounds -= next == i;
		if (next != i)
			out[made++] = main;
		if (copy.from < copy.at)
			out[made++] = copy;
	}
	return made;
}

static void swap(struct gs_buf *a, struct gs_buf *b)
{
	struct gs_buf c = *a;
	*a = *b;
	*b = c;
	gs_buf_free(b);
}

static void take_made(struct thinning *t)
{
	swap(&t->path->blocks, &t->made.blocks);
	swap(&t->path->accesses, &t->made.accesses);
	swap(&t->path->first, &t->made.first);
	swap(&t->path->parts, &t->made.parts);
	swap(&t->path->lanes, &t->made.lanes);
	swap(&t->path->before, &t->made.before);
	swap(&t->path->firsts, &t->made.firsts);
}

static void make_path(struct thinning *t, struct recorded_gap *gaps, size_t count)
{
	uint32_t end = block_count(t->path);
	for (uint32_t n = 0, g = 0; n < end; n++) {
		t->place[n] = block_count(&t->made);
		copy_block(t, n, true);
		for (; g < count && gaps[g].at <= n + 1; g++) {
			gaps[g].thinned = is_outermost(gaps, count, g) && gaps[g].rounds >= LEAST_ROUNDS && drop_from_window(t, &gaps[g]);
			if (gaps[g].thinned)
				copy_window(t, &gaps[g]);
			gaps[g].copy_end = block_count(&t->made);
		}
	}
	uint32_t parts = (uint32_t)(t->made.parts.len / sizeof(struct memory_part));
	gs_buf_add(&t->made.first, &parts, sizeof parts);
}

int gaps_thin(const struct kernel_code *code, const struct arm_shares *shares, struct recorded_path *r, struct recorded_gap *gaps, size_t *count)
{
	uint32_t blocks = block_count(r);
	struct thinning t = {.code = code, .shares = shares, .path = r};
	struct recorded_gap *old = malloc((*count + 1) * sizeof *old);
	t.place = calloc(blocks + 1u, sizeof *t.place);
	t.thin = calloc(blocks + 1u, sizeof *t.thin);
	t.dropped = calloc(blocks + 1u, sizeof *t.dropped);
	t.arms = calloc(blocks + 1u, sizeof *t.arms);
	int result = old && t.place && t.thin && t.dropped && t.arms ? 0 : -ENOMEM;
	if (!result) {
		memcpy(old, gaps, *count * sizeof *old);
		make_path(&t, old, *count);
		*count = place_gaps(&t, old, *count, gaps);
		take_made(&t);
	}
	free(old);
	free(t.place);
	free(t.thin);
	free(t.dropped);
	free(t.arms);
	return result;
}

/* ---- how much is kept ---- */

void arms_note(const struct recorded_path *r, double *once, double *more)
{
	const struct path_gap *gaps = (const struct path_gap *)(const void *)r->gaps.data;
	const double *weights = (const double *)(const void *)r->weights.data;
	size_t count = r->gaps.len / sizeof *gaps, g = 0;
	for (uint32_t n = 0; n < block_count(r); n++) {
		double lanes = ((uint8_t)r->lanes.data[n] & ~DIVERGES) + 1, times = r->weights.len ? weights[n] : 1, rounds = 0;
		while (g < count && (gaps[g].outer >= 0 || gaps[g].at <= n))
			g++;
		if (g < count && gaps[g].from <= n)
			rounds = gaps[g].rounds;
		once[blocks_of(r)[n]] += lanes * times / (1 + rounds);
		more[blocks_of(r)[n]] += lanes * times * rounds / (1 + rounds);
	}
}

/* The block of the same loop that rounds execute most: lanes come to it in all iterations. */
static uint32_t busiest_beside(const struct kernel_code *code, uint32_t block, const double *more)
{
	uint32_t best = block;
	for (uint32_t b = 0; b < code->block_count; b++)
		if (code->blocks[b].loop == code->blocks[block].loop && code->blocks[b].function == code->blocks[block].function && more[b] > more[best])
			best = b;
	return best;
}

static double share_of(const double *counted, const double *once, const double *more, uint32_t block)
{
	return more[block] > 0 ? fmax(counted[block] - once[block], 0) / more[block] : 1;
}

/* Of an iteration: where lanes leave the loop earlier than those in the window, or rounds are fewer, all of its blocks are executed less often. */
bool arms_share(const struct kernel_code *code, const double *counted, const double *once, const double *more, double *keep)
{
	static const double nearly_all = 0.9; /* windows are no better samples */
	static const double worth = 0.02;     /* of the instructions of lanes */
	double all = 0, less = 0;
	for (uint32_t b = 0; b < code->block_count; b++) {
		double iterations = share_of(counted, once, more, busiest_beside(code, b, more));
		double share = iterations > 0 ? share_of(counted, once, more, b) / iterations : 1;
		keep[b] = share < nearly_all ? share : 1;
		all += (once[b] + more[b]) * code->blocks[b].count;
		less += (1 - keep[b]) * more[b] * code->blocks[b].count;
	}
	return less > worth * all;
}
