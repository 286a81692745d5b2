/*
 * The rates of loops, and jumps.
 *
 *   loop:    windows of one loop that follow one another are one: warps do what was not jumped over of each, a round at least
 *   level n: the n-th loop of those that a warp is in, from the outside
 *   unit:    at least MORE_STEPS steps, and MOST_STEPS if less than LEAST_WORK instructions are done in them; warps do on average
 *            LEAST_ITERATIONS of an innermost loop, or LEAST_OUTER of one that has loops inside, and LEAST_BLOCKS
 *   stable:  the unit's instructions per cycle differ from those of the unit before by less than `tolerance`, or half as much more for each
 *            unit after the second: it is twice as long as the one before, and nearer to what stays than both are to one another
 *   jump:    the least of iterations left / iterations per cycle over all warps; at least `merged` of the time up to now, so that warps which
 *            leave one soon after the other are one phase. The more jumps there were, the more are merged: their number is bounded
 * What was jumped over leaves its lines in caches, the last LEAST_TOUCHED parts of requests at least, and all of them up to ALL_TOUCHED in
 * a launch. Loops that come to know their data get faster by that. So the first jump is no longer than FIRST units.
 * One that was as long as it could be is followed by one FARTHER times as long if the rate after it is about that before it, FARTHEST
 * times if it is the same, and FARTHER times in any case after MOST_DRIFTS: the number of jumps grows with the logarithm of the loop.
 * Units that do not agree are followed by longer ones, because what differs by chance then averages out; after MOST_UNITS the last is
 * taken as it is, and the difference goes into the estimate's bounds.
 */
#include "models/grid/rates.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST = 3, FARTHER = 4, FARTHEST = 16, MOST_DRIFTS = 3, MOST_UNITS = 8,
	MORE_STEPS = 8, MOST_STEPS = 32, PERFECT_STEPS = 24, LEAST_WORK = 50000, LEAST_ITERATIONS = 8, LEAST_OUTER = 2, LEAST_BLOCKS = 4,
	LEAST_TOUCHED = 1 << 15, ALL_TOUCHED = 1 << 20,
	MOST_DEPTH = 16, MOST_LOOPS = 64,
};
static const double tolerance = 0.01, merged = 0.005;

/* Where a warp is in a loop. Its windows that follow one another are one loop. */
struct rate_place {
	int32_t gap; /* -1: the slot has no warp, or one that is in no loop that goes on */
	double rounds; /* done of it */
	int32_t loop; /* the first of the loop's gaps */
	double iterations; /* done of the loop; of a warp in none, the place in its path */
};

/* Of a warp, in iterations per cycle. */
struct warp_rate {
	double mean;        /* of the warps that are in the same loop */
	double off, before; /* its own over that, less 1, in the last unit and in the one before */
	double rate;        /* that it is taken to go on with */
};

struct rate_sums {
	double instructions, by[CYCLE_KIND_COUNT];
};

int rates_init(struct rates *r, struct ov_sm **sms, uint32_t count, uint64_t step)
{
	*r = (struct rates){.sms = sms, .count = count, .step = step, .jumped = count ? sms[0]->jumped : 0};
	if (!count || !sms[0]->m->gap_room)
		return 0;
	r->slots = sms[0]->m->slots;
	for (uint32_t l = 0; l < RATE_LEVELS; l++) {
		r->levels[l].from = calloc((size_t)count * r->slots, sizeof *r->levels[l].from);
		r->levels[l].sums = calloc(count, sizeof *r->levels[l].sums);
		r->levels[l].rates = calloc((size_t)count * r->slots, sizeof *r->levels[l].rates);
		if (!r->levels[l].from || !r->levels[l].sums || !r->levels[l].rates)
			return -ENOMEM;
	}
	return 0;
}

void rates_free(struct rates *r)
{
	for (uint32_t l = 0; l < RATE_LEVELS; l++) {
		free(r->levels[l].from);
		free(r->levels[l].sums);
		free(r->levels[l].rates);
	}
}

static bool has_warp(const struct ov_sm *sm, uint32_t slot)
{
	return !sm->warps[slot].finished && sm->groups[sm->warps[slot].group].live;
}

/* The gaps whose windows a warp is in, the innermost first. Returns how many. */
static uint32_t find_gaps(const struct ov_warp *w, int32_t out[MOST_DEPTH])
{
	const struct warp_path *p = w->path;
	uint32_t depth = 0, at = (uint32_t)(w->block - p->blocks);
	at = at ? at - 1 : 0; /* the block that it is in */
	if (w->next_gap >= p->gap_count)
		return 0;
	for (int32_t g = (int32_t)w->next_gap; g >= 0 && depth < MOST_DEPTH; g = p->gaps[g].outer)
		if (p->gaps[g].from <= at)
			out[depth++] = g;
	return depth;
}

static double rounds_left(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	return sm->rounds[(size_t)slot * sm->m->gap_room + (size_t)gap];
}

/* Blocks of its path before the place where a warp is, with the part of its block that it has done. */
static double blocks_done(const struct ov_sm *sm, const struct ov_warp *w)
{
	double begun = (double)(w->block - w->path->blocks);
	return w->left && begun > 0 ? begun - (double)w->left / sm->m->launch->code->blocks[w->block[-1]].count : begun;
}

/* Rounds that a warp has done of gaps[n], the first of which are the innermost: where it is in an inner window counts as a place in the
 * outer one by how much of the inner one's rounds is done. */
static double rounds_done(const struct ov_sm *sm, uint32_t slot, const int32_t *gaps, uint32_t n)
{
	const struct ov_warp *w = &sm->warps[slot];
	double at = blocks_done(sm, w), done = 0;
	for (uint32_t i = 0; i <= n; i++) {
		const struct path_gap *g = &w->path->gaps[gaps[i]];
		double length = (double)g->at - g->from;
		done = g->rounds - rounds_left(sm, slot, gaps[i]) + (at - g->from) / length;
		at = g->from + length * done / (1 + g->rounds);
	}
	return done;
}

static double parts_of(const struct warp_path *path, const struct path_gap *g)
{
	const struct path_requests *r = path->requests;
	return r ? (r->first[g->first_access + g->access_count] - r->first[g->first_access]) / g->iterations : 0;
}

/* The gap of the same loop that a jump may go on to: one that asks as much of memory; -1: none. */
static int32_t next_gap(const struct warp_path *path, int32_t gap)
{
	static const double same = 0.05; /* parts of requests in an iteration */
	int32_t next = path->gaps[gap].next;
	if (next < 0)
		return -1;
	double a = parts_of(path, &path->gaps[gap]), b = parts_of(path, &path->gaps[next]);
	return fabs(a - b) <= same * a ? next : -1;
}

/* Iterations in rounds that a warp has to do, of a gap and of those of the same loop after it. */
static double iterations_left(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	const struct warp_path *path = sm->warps[slot].path;
	const struct path_gap *gaps = path->gaps;
	double left = 0;
	for (int32_t n = gap; n >= 0; n = next_gap(path, n))
		left += rounds_left(sm, slot, n) * gaps[n].iterations;
	return left;
}

/* Iterations of gaps after this one that were jumped over. */
static double iterations_ahead(const struct ov_sm *sm, uint32_t slot, const struct path_gap *gaps, int32_t gap)
{
	double ahead = 0;
	for (int32_t n = gaps[gap].next; n >= 0; n = gaps[n].next)
		ahead += (gaps[n].rounds - rounds_left(sm, slot, n)) * gaps[n].iterations;
	return ahead;
}

/* The gap of a warp that counts at a level; -1: it is in no loop that goes on. *depth: of all that it is in. */
static struct rate_place find_place(const struct ov_sm *sm, uint32_t slot, uint32_t level, uint32_t *depth)
{
	const struct path_gap *all = sm->warps[slot].path->gaps;
	int32_t gaps[MOST_DEPTH];
	*depth = find_gaps(&sm->warps[slot], gaps);
	uint32_t n = level < *depth ? *depth - 1 - level : 0;
	if (!*depth || !(iterations_left(sm, slot, gaps[n]) > 0))
		return (struct rate_place){.gap = -1, .loop = -1};
	struct rate_place p = {.gap = gaps[n], .rounds = rounds_done(sm, slot, gaps, n), .loop = all[gaps[n]].first};
	p.iterations = all[p.gap].before + p.rounds * all[p.gap].iterations + iterations_ahead(sm, slot, all, p.gap);
	return p;
}

/* Where all warps are. False: none is in a loop of this level that goes on, or one is on its way. *deepest: levels that there are. */
static bool find_places(const struct rates *r, uint32_t level, struct rate_place *out, uint32_t *deepest)
{
	bool any = false;
	*deepest = 0;
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ov_sm *sm = r->sms[i];
		if (sm->coming_groups)
			return false;
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			struct rate_place *p = &out[(size_t)i * r->slots + slot];
			uint32_t depth = 0;
			*p = (struct rate_place){.gap = -1, .loop = -1};
			if (!has_warp(sm, slot))
				continue;
			*p = find_place(sm, slot, level, &depth);
			*deepest = depth > *deepest ? depth : *deepest;
			if (p->gap < 0)
				p->iterations = 1 + blocks_done(sm, &sm->warps[slot]);
			any |= p->gap >= 0;
		}
	}
	return any;
}

/* Bytes of DRAM up to now, with those of what was jumped over. */
static void count_dram(const struct rates *r, double *read, double *written)
{
	struct memory_statistics m = {0};
	if (r->sms[0]->memory)
		memory_count(r->sms[0]->memory->system, 0, &m);
	*read = r->dram_read + m.dram_read_bytes;
	*written = r->dram_written + m.dram_written_bytes;
}

static void begin_unit(struct rates *r, struct rate_level *l, const struct rate_place *places)
{
	l->open = true;
	l->time = r->time;
	count_dram(r, &l->dram_read, &l->dram_written);
	memcpy(l->from, places, (size_t)r->count * r->slots * sizeof *places);
	for (uint32_t i = 0; i < r->count; i++) {
		const struct ov_sm *sm = r->sms[i];
		l->sums[i].instructions = ov_done(sm);
		for (int k = 0; k < CYCLE_KIND_COUNT; k++)
			l->sums[i].by[k] = (double)sm->by[k] + sm->jumped_by[k];
	}
}

/* Iterations that make a unit. Where a warp is, is known by blocks: few of them would be too coarse a measure. */
static double iterations_of_unit(const struct path_gap *gaps, int32_t n)
{
	const struct path_gap *g = &gaps[n];
	bool inner = n > 0 && gaps[n - 1].from >= g->from;
	return fmax(inner ? LEAST_OUTER : LEAST_ITERATIONS, LEAST_BLOCKS / (double)(g->at - g->from) * g->iterations);
}

/* Whether every warp is still in the loop that it was in, or stands still: it waits for the others at a barrier, or until a scheduler comes
 * to it. *units: that warps have done, on average. Of a loop that a warp has come to, it is not known how far a jump may be. */
static bool goes_on(const struct rates *r, struct rate_level *l, const struct rate_place *places, double *units)
{
	double sum = 0, warps = 0;
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			size_t n = (size_t)i * r->slots + slot;
			if (places[n].loop != l->from[n].loop) {
				bool other = places[n].gap >= 0 && l->from[n].gap >= 0;
				l->cap = other ? 0 : l->cap;
				l->capped &= !other;
				return false;
			}
			if (places[n].gap < 0 && places[n].iterations != l->from[n].iterations)
				return false;
			if (places[n].gap < 0)
				continue;
			if (places[n].iterations < l->from[n].iterations - 1e-6)
				return false;
			sum += (places[n].iterations - l->from[n].iterations) / iterations_of_unit(r->sms[i]->warps[slot].path->gaps, places[n].gap);
			warps++;
		}
	*units = sum / warps;
	return true;
}

static double done_in_unit(const struct rates *r, const struct rate_level *l)
{
	double sum = 0;
	for (uint32_t i = 0; i < r->count; i++)
		sum += ov_done(r->sms[i]) - l->sums[i].instructions;
	return sum;
}

/* The loops that warps are in, by the place of their first windows in paths, and what warps did of them. */
struct loop_sums {
	struct loop_sum {
		uint32_t from, at;
		double iterations, warps;
	} of[MOST_LOOPS];
	uint32_t count;
};

/* NULL: there are too many. */
static struct loop_sum *find_loop(struct loop_sums *loops, const struct path_gap *gap)
{
	uint32_t n = 0;
	while (n < loops->count && (loops->of[n].from != gap->from || loops->of[n].at != gap->at))
		n++;
	if (n == MOST_LOOPS)
		return NULL;
	if (n == loops->count)
		loops->of[loops->count++] = (struct loop_sum){.from = gap->from, .at = gap->at};
	return &loops->of[n];
}

/* Iterations per cycle of a unit's warps, those of one loop on average, and by how much each differs from that. */
static void mean_rates(const struct rates *r, const struct rate_level *l, const struct rate_place *places, double cycles)
{
	struct loop_sums loops = {.count = 0};
	for (int turn = 0; turn < 2; turn++)
		for (uint32_t i = 0; i < r->count; i++)
			for (uint32_t slot = 0; slot < r->slots; slot++) {
				size_t n = (size_t)i * r->slots + slot;
				struct warp_rate *rate = &l->rates[n];
				double iterations = places[n].iterations - l->from[n].iterations;
				struct loop_sum *loop = places[n].gap < 0 ? NULL : find_loop(&loops, &r->sms[i]->warps[slot].path->gaps[places[n].loop]);
				if (!turn && loop) {
					loop->iterations += iterations;
					loop->warps++;
				}
				if (!turn)
					continue;
				rate->before = rate->off;
				rate->mean = loop ? loop->iterations / loop->warps / cycles : places[n].gap < 0 ? 0 : iterations / cycles;
				rate->off = rate->mean > 0 ? iterations / cycles / rate->mean - 1 : 0;
			}
}

/* How much of what warps differ by stays from unit to unit: 0 if that is chance, 1 if some are always served first. */
static double persistence(const struct rates *r, const struct rate_level *l)
{
	double product = 0, square = 0;
	for (size_t n = 0; n < (size_t)r->count * r->slots; n++) {
		product += l->rates[n].off * l->rates[n].before;
		square += l->rates[n].before * l->rates[n].before;
	}
	return square > 0 ? fmax(0, fmin(product / square, 1)) : 0;
}

static void set_rates(const struct rates *r, const struct rate_level *l)
{
	double stays = persistence(r, l);
	for (size_t n = 0; n < (size_t)r->count * r->slots; n++)
		l->rates[n].rate = l->rates[n].mean * (1 + stays * l->rates[n].off);
}

/* Cycles until the first warp leaves its loop, and until the last does. */
static double cycles_left(const struct rates *r, const struct rate_level *l, const struct rate_place *places, double *last)
{
	double first = INFINITY;
	*last = 0;
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			size_t n = (size_t)i * r->slots + slot;
			if (places[n].gap < 0 || l->rates[n].rate <= 0)
				continue;
			double left = iterations_left(r->sms[i], slot, places[n].gap) / l->rates[n].rate;
			first = fmin(first, left);
			*last = fmax(*last, left);
		}
	return first;
}

/* Of what warps would do in so many cycles, what there is to do: some leave their loops before. */
static double share_done(const struct rates *r, const struct rate_level *l, const struct rate_place *places, double by)
{
	double all = 0, done = 0;
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			size_t n = (size_t)i * r->slots + slot;
			if (places[n].gap < 0)
				continue;
			const struct path_gap *g = &r->sms[i]->warps[slot].path->gaps[places[n].gap];
			double work = g->work / g->iterations, iterations = l->rates[n].rate * by;
			all += work * iterations;
			done += work * fmin(iterations, iterations_left(r->sms[i], slot, places[n].gap));
		}
	return all > 0 ? done / all : 1;
}

/* Parts of requests in a round of all warps. */
static uint64_t parts_of_round(const struct rates *r, const struct rate_place *places)
{
	uint64_t parts = 0;
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			const struct rate_place *p = &places[(size_t)i * r->slots + slot];
			const struct warp_path *path = r->sms[i]->warps[slot].path;
			if (p->gap < 0 || !path->requests)
				continue;
			const struct path_gap *g = &path->gaps[p->gap];
			parts += path->requests->first[g->first_access + g->access_count] - path->requests->first[g->first_access];
		}
	return parts;
}

/* Rounds of a gap after the one that a warp is in that were jumped over. */
static uint64_t rounds_ahead(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	return (uint64_t)(sm->warps[slot].path->gaps[gap].rounds - rounds_left(sm, slot, gap) + 0.5);
}

/* Of all such gaps. */
static uint64_t all_rounds_ahead(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	const struct path_gap *gaps = sm->warps[slot].path->gaps;
	uint64_t sum = 0;
	for (int32_t n = gaps[gap].next; n >= 0; n = gaps[n].next)
		sum += rounds_ahead(sm, slot, n);
	return sum;
}

/* That a warp has been moved on by, at most. */
static double most_rounds(const struct rates *r, const struct rate_place *places)
{
	double most = 0;
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			const struct rate_place *p = &places[(size_t)i * r->slots + slot];
			const struct ov_sm *sm = r->sms[i];
			if (p->gap >= 0)
				most = fmax(most, sm->warps[slot].path->gaps[p->gap].rounds - rounds_left(sm, slot, p->gap) - p->rounds +
				                          (double)all_rounds_ahead(sm, slot, p->gap));
		}
	return ceil(most);
}

/* One of the rounds of gaps after the one that a warp is in. */
static void touch_ahead(struct ov_sm *sm, uint32_t slot, int32_t gap, uint64_t round)
{
	const struct path_gap *gaps = sm->warps[slot].path->gaps;
	for (int32_t n = gaps[gap].next; n >= 0; n = gaps[n].next) {
		uint64_t rounds = rounds_ahead(sm, slot, n);
		if (round < rounds) {
			ov_memory_touch(sm, slot, (uint32_t)n, round, gaps[n].from, gaps[n].at);
			return;
		}
		round -= rounds;
	}
}

/* Of what a warp was moved over, the round so far back from where it is now: in its first and last round, the part after or before
 * the place that it is in. */
static void touch_round(struct ov_sm *sm, uint32_t slot, const struct rate_place *from, uint64_t back)
{
	const struct ov_warp *w = &sm->warps[slot];
	const struct path_gap *g = &w->path->gaps[from->gap];
	uint64_t ahead = all_rounds_ahead(sm, slot, from->gap);
	if (back < ahead) {
		touch_ahead(sm, slot, from->gap, ahead - 1 - back);
		return;
	}
	back -= ahead;
	double now = floor(g->rounds - rounds_left(sm, slot, from->gap) + 0.5), before = floor(from->rounds), round = now - (double)back;
	uint32_t at = (uint32_t)(w->block - w->path->blocks);
	if (now <= before || round < before)
		return;
	at = at < g->from ? g->from : at < g->at ? at : g->at;
	ov_memory_touch(sm, slot, (uint32_t)from->gap, (uint64_t)round, round > before ? g->from : at, back ? g->at : at);
}

/* The last of the rounds that were jumped over, as caches see them, the oldest first. */
static void touch_rounds(struct rates *r, const struct rate_place *places)
{
	uint64_t parts = parts_of_round(r, places), all = r->touched < ALL_TOUCHED ? ALL_TOUCHED - r->touched : 0;
	uint64_t rounds = parts ? (all > LEAST_TOUCHED ? all : LEAST_TOUCHED) / parts + 1 : 0;
	double most = most_rounds(r, places);
	rounds = (double)rounds < most ? rounds : (uint64_t)most;
	r->touched += rounds * parts;
	for (uint64_t back = rounds + 1; parts && back-- > 0;)
		for (uint32_t i = 0; i < r->count; i++)
			for (uint32_t slot = 0; slot < r->slots; slot++)
				if (places[(size_t)i * r->slots + slot].gap >= 0)
					touch_round(r->sms[i], slot, &places[(size_t)i * r->slots + slot], back);
}

/* A warp goes on in its loop. */
static void move_on(const struct ov_sm *sm, uint32_t slot, int32_t gap, double iterations)
{
	const struct path_gap *gaps = sm->warps[slot].path->gaps;
	for (int32_t n = gap; n >= 0 && iterations > 0; n = next_gap(sm->warps[slot].path, n)) {
		double *left = &sm->rounds[(size_t)slot * sm->m->gap_room + (size_t)n], here = *left * gaps[n].iterations;
		*left = here > iterations ? *left - iterations / gaps[n].iterations : 0;
		iterations -= here;
	}
}

/* Time goes on by `by` cycles, in which warps do what they would do in `reach`. */
static void jump(struct rates *r, const struct rate_level *l, const struct rate_place *places, double cycles, double reach, double by)
{
	for (uint32_t i = 0; i < r->count; i++) {
		struct ov_sm *sm = r->sms[i];
		if (!sm->live_groups)
			continue; /* it has ended, and its time with it */
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			size_t n = (size_t)i * r->slots + slot;
			if (places[n].gap >= 0)
				move_on(sm, slot, places[n].gap, l->rates[n].rate * reach);
		}
		sm->jumped_instructions += (ov_done(sm) - l->sums[i].instructions) / cycles * by;
		for (int k = 0; k < CYCLE_KIND_COUNT; k++)
			sm->jumped_by[k] += ((double)sm->by[k] + sm->jumped_by[k] - l->sums[i].by[k]) / cycles * by;
		sm->jumped += (uint64_t)by;
	}
	r->jumped += (uint64_t)by;
	double read, written;
	count_dram(r, &read, &written);
	r->dram_read += (read - l->dram_read) / cycles * by;
	r->dram_written += (written - l->dram_written) / cycles * by;
	if (r->sms[0]->memory)
		touch_rounds(r, places);
}

/* A unit of a level has ended. True: the SMs have jumped. */
static bool end_unit(struct rates *r, struct rate_level *l, const struct rate_place *places)
{
	double cycles = (double)(r->time - l->time), rate = done_in_unit(r, l) / cycles, last;
	double difference = l->rate > 0 ? fabs(rate / l->rate - 1) : 1;
	l->rate = rate;
	l->units++;
	mean_rates(r, l, places, cycles);
	if (difference < tolerance * fmax(1, l->units / 2.0) || l->units >= MOST_UNITS) {
		set_rates(r, l);
		double first = cycles_left(r, l, places, &last), elapsed = (double)r->time;
		double reach = fmin(fmax(first, merged * (1 + r->jumps / 32.0) * elapsed), last);
		double drift = l->capped ? fabs(rate / l->jump_rate - 1) : 0;
		l->drifts = drift > 2 * tolerance ? l->drifts + 1 : 0;
		if (!(l->cap > 0))
			l->cap = FIRST * cycles;
		else if (l->capped && l->drifts % MOST_DRIFTS == 0)
			l->cap *= drift < tolerance / 2 ? FARTHEST : FARTHER;
		r->spread_cycles += drift * l->jumped / 2;
		l->capped = l->cap < reach;
		l->jump_rate = rate;
		reach = fmin(reach, l->cap);
		/* Where a unit is the limit, the others do what those that leave would have done; where each warp's own latency is, not. */
		double by = floor(reach * (1 + share_done(r, l, places, reach)) / 2);
		if (by > 1.5 * cycles && isfinite(by)) {
			r->spread_cycles += by * fmax(fmin(difference, 1), tolerance / 2) + (reach - by) / 2;
			r->jumps += !l->capped;
			l->jumped = by;
			jump(r, l, places, cycles, reach, by);
			return true;
		}
	}
	begin_unit(r, l, places);
	return false;
}

/* After a jump, units of this level and of inner ones begin anew. Those of outer loops go on: they count what was jumped over. */
static void close_levels(struct rates *r, uint32_t from)
{
	for (uint32_t l = from; l < RATE_LEVELS; l++) {
		r->levels[l].open = false;
		r->levels[l].rate = 0;
		r->levels[l].units = 0;
	}
}

/* Units get longer until two agree. */
static double longer(const struct rate_level *l)
{
	return ldexp(1, l->units > 2 ? (int)(l->units - 2) : 0);
}

/* Of a unit: what memory does differs by chance, and few instructions see little of it. */
static double least_steps(const struct rates *r, const struct rate_level *l)
{
	if (!r->sms[0]->memory)
		return PERFECT_STEPS;
	return done_in_unit(r, l) < LEAST_WORK ? MOST_STEPS : MORE_STEPS;
}

static bool look_at_level(struct rates *r, uint32_t level, struct rate_place *places, uint32_t *deepest)
{
	struct rate_level *l = &r->levels[level];
	double units;
	if (!find_places(r, level, places, deepest)) {
		l->open = false;
		l->rate = 0;
		l->units = 0;
		return false;
	}
	if (!l->open || !goes_on(r, l, places, &units)) {
		begin_unit(r, l, places);
		return false;
	}
	double cycles = (double)(r->time - l->time), steps = least_steps(r, l);
	if (units < longer(l) || cycles < steps * (double)r->step * longer(l))
		return false;
	return end_unit(r, l, places);
}

void rates_look(struct rates *r, uint64_t cycle)
{
	uint32_t levels = 1, deepest = 0;
	if (!r->slots)
		return;
	r->time = cycle + r->jumped;
	struct rate_place *places = malloc((size_t)r->count * r->slots * sizeof *places);
	for (uint32_t level = 0; places && level < levels && level < RATE_LEVELS; level++) {
		if (look_at_level(r, level, places, &deepest)) {
			double rate = r->levels[level].capped ? r->levels[level].rate : 0;
			close_levels(r, level);
			r->levels[level].rate = rate; /* a unit after the jump that agrees with those before it is enough */
			break;
		}
		levels = deepest > levels ? deepest : levels;
	}
	free(places); /* without memory for it, everything is stepped through */
}
