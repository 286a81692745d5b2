/*
 * The rates of loops, and jumps.
 *
 *   loop:    windows of one loop that follow one another are one (windows.h)
 *   level n: the n-th loop of those that a warp is in, from the outside
 *   unit:    at least MORE_STEPS steps, and MOST_STEPS if less than LEAST_WORK instructions are done in them; warps do on average
 *            LEAST_ITERATIONS of an innermost loop, or LEAST_OUTER of one that has loops inside, and LEAST_BLOCKS
 *   stable:  the unit's instructions per cycle differ from those of the unit before by less than `tolerance`, or half as much more for each
 *            unit after the second: it is twice as long as the one before, and nearer to what stays than both are to one another
 *   little:  what the unit and the one before differ by would change the launch's time by less than `little_time`. Of a unit before which
 *            another phase was, that is `other_phase` at least
 *   jump:    the least of iterations left / iterations per cycle over all warps; at least `merged` of the time up to its end, so that warps which
 *            leave one soon after the other are one phase. The more jumps there were, the more are merged: their number is bounded
 * What was jumped over leaves its lines in caches (jumped.h). Loops that come to know their data get faster by that. So the first jump is no
 * longer than FIRST units, or `first_share` of what is left where there is nothing to come to know.
 * One that was as long as it could be is followed by one FARTHER times as long if the rate after it is about that before it, FARTHEST
 * times if it is the same, and FARTHER times in any case after MOST_DRIFTS: the number of jumps grows with the logarithm of the loop.
 * Units that do not agree are followed by longer ones, because what differs by chance then averages out; after MOST_UNITS the last is
 * taken as it is, and the difference goes into the estimate's bounds. If the last differs by more than the one before did, the loop has come to
 * something else, such as data that L2 does not have: units begin anew, once. A rate after a jump that differs by more than `other_phase` must
 * last for `passing` of that jump before the next one.
 */
#include "models/grid/rates.h"

#include "models/grid/jumped.h"
#include "models/grid/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	FIRST = 3, FARTHER = 4, FARTHEST = 16, MOST_DRIFTS = 3, MOST_UNITS = 8,
	MORE_STEPS = 8, MOST_STEPS = 32, PERFECT_STEPS = 24, LEAST_WORK = 50000, LEAST_ITERATIONS = 8, LEAST_OUTER = 2, LEAST_BLOCKS = 4,
	MOST_LOOPS = 64,
	FEW_ROUNDS = 8, /* of more, a part of one is little */
};
static const double tolerance = 0.01, merged = 0.005, little_time = 0.00125, first_share = 1.0 / 64, other_phase = 0.1, passing = 0.5;

/* Of a warp, in iterations per cycle. */
struct warp_rate {
	double mean;                 /* of the warps that are in the same loop */
	double off, before, earlier; /* its own over that, less 1, in the last unit, in the one before, and in the one before that */
	double rate;                 /* that it is taken to go on with */
};

struct rate_sums {
	double instructions, by[CYCLE_KIND_COUNT];
};

int rates_init(struct rates *r, struct ov_sm **sms, uint32_t count, uint64_t step)
{
	*r = (struct rates){.sms = sms, .count = count, .step = step, .part = 1, .jumped = count ? sms[0]->jumped : 0};
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

/* The gap of a warp that counts at a level; -1: it is in no loop that goes on. *depth: of all that it is in. */
static struct rate_place find_place(const struct ov_sm *sm, uint32_t slot, uint32_t level, uint32_t *depth)
{
	const struct path_gap *all = sm->warps[slot].path->gaps;
	int32_t gaps[WINDOWS_DEPTH];
	*depth = windows_of(&sm->warps[slot], gaps);
	uint32_t n = level < *depth ? *depth - 1 - level : 0;
	if (!*depth || !(windows_left(sm, slot, gaps[n]) > 0))
		return (struct rate_place){.gap = -1, .loop = -1};
	struct rate_place p = {.gap = gaps[n], .rounds = windows_rounds_done(sm, slot, gaps, n), .loop = all[gaps[n]].first};
	p.iterations = all[p.gap].before + p.rounds * all[p.gap].iterations + windows_ahead(sm, slot, p.gap);
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
				p->iterations = 1 + windows_blocks_done(sm, &sm->warps[slot]);
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

static uint64_t count_fetches(const struct rates *r)
{
	return r->sms[0]->memory ? memory_fetches(r->sms[0]->memory->system) : 0;
}

static void begin_unit(struct rates *r, struct rate_level *l, const struct rate_place *places)
{
	l->open = true;
	l->time = r->time;
	count_dram(r, &l->dram_read, &l->dram_written);
	l->fetches = count_fetches(r);
	jumped_hits(r, &l->looked_up, &l->hits);
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
				rate->earlier = rate->before;
				rate->before = rate->off;
				rate->mean = loop ? loop->iterations / loop->warps / cycles : places[n].gap < 0 ? 0 : iterations / cycles;
				rate->off = rate->mean > 0 ? iterations / cycles / rate->mean - 1 : 0;
			}
}

/* How much of what warps differed by in one unit they differ by in a later one. */
static double share_kept(double product, double square)
{
	return square > 0 ? fmax(0, fmin(product / square, 1)) : 0;
}

/* How much of what warps differ by stays: 0 if that is chance, 1 if some are always served first. What caches hold for some of them lasts for a
 * unit or two: so it is what stays for two. */
static double persistence(const struct rates *r, const struct rate_level *l)
{
	double once = 0, before = 0, twice = 0, earlier = 0;
	for (size_t n = 0; n < (size_t)r->count * r->slots; n++) {
		const struct warp_rate *w = &l->rates[n];
		once += w->off * w->before;
		before += w->before * w->before;
		twice += w->off * w->earlier;
		earlier += w->earlier * w->earlier;
	}
	double kept = share_kept(once, before);
	return earlier > 0 ? fmin(kept, share_kept(twice, earlier)) : kept;
}

static void set_rates(const struct rates *r, const struct rate_level *l)
{
	double stays = persistence(r, l);
	for (size_t n = 0; n < (size_t)r->count * r->slots; n++)
		l->rates[n].rate = l->rates[n].mean * (1 + stays * l->rates[n].off);
}

/* Cycles until warps leave their loops: the first one, the last one, and the last one if loops that change went on as they do. */
struct loop_ends {
	double first, last, horizon;
};

static struct loop_ends cycles_left(const struct rates *r, const struct rate_level *l, const struct rate_place *places)
{
	struct loop_ends ends = {.first = INFINITY};
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			size_t n = (size_t)i * r->slots + slot;
			if (places[n].gap < 0 || l->rates[n].rate <= 0)
				continue;
			double left = windows_left(r->sms[i], slot, places[n].gap) / l->rates[n].rate;
			ends.first = fmin(ends.first, left);
			ends.last = fmax(ends.last, left);
			ends.horizon = fmax(ends.horizon, windows_horizon(r->sms[i], slot, places[n].gap) / l->rates[n].rate);
		}
	return ends;
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
			done += work * fmin(iterations, windows_left(r->sms[i], slot, places[n].gap));
		}
	return all > 0 ? done / all : 1;
}

/* Whether nothing came from DRAM in the unit, for these SMs or for others, nor went there: L2 has all that is asked for. */
static bool l2_knows(const struct rates *r, const struct rate_level *l)
{
	double read, written;
	count_dram(r, &read, &written);
	return !(read > l->dram_read) && !(written > l->dram_written) && count_fetches(r) == l->fetches;
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
				windows_move(sm, slot, places[n].gap, l->rates[n].rate * reach);
		}
		sm->jumped_instructions += (ov_done(sm) - l->sums[i].instructions) / cycles * by;
		for (int k = 0; k < CYCLE_KIND_COUNT; k++)
			sm->jumped_by[k] += ((double)sm->by[k] + sm->jumped_by[k] - l->sums[i].by[k]) / cycles * by;
		sm->jumped += (uint64_t)by;
	}
	r->jumped += (uint64_t)by;
	double read, written;
	count_dram(r, &read, &written);
	bool known = l2_knows(r, l);
	r->dram_read += (read - l->dram_read) / cycles * by;
	r->dram_written += (written - l->dram_written) / cycles * by;
	if (r->sms[0]->memory)
		jumped_touch(r, l, places, known);
}

/* Cycles that a jump could be long. */
static double find_reach(const struct rates *r, const struct loop_ends *ends)
{
	double least = merged * (1 + r->jumps / 8.0) * ((double)r->time + fmin(ends->first, ends->last));
	return fmin(fmax(ends->first, least), ends->last);
}

/*
 * A jump by a part of a round leaves warps where they are in the window, and of the last round the end is done: its lines are asked for a second
 * time. Where lines come from DRAM and the window has few rounds, a jump is by whole ones.
 */
static double whole_rounds(const struct rates *r, const struct rate_level *l, const struct rate_place *places, double reach)
{
	double longest = 0, jumped = 0, all = 0;
	if (!r->sms[0]->memory || l2_knows(r, l))
		return reach;
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			size_t n = (size_t)i * r->slots + slot;
			const struct path_gap *g = places[n].gap < 0 ? NULL : &r->sms[i]->warps[slot].path->gaps[places[n].gap];
			if (!g || g->iterations <= longest)
				continue;
			longest = g->iterations;
			jumped = l->rates[n].mean * reach / longest;
			all = g->rounds;
		}
	return jumped > 0 && all < FEW_ROUNDS ? reach * floor(jumped * (1 + 1e-9)) / jumped : reach;
}

/* The first jump of a level is short: a loop that comes to know its data gets faster. If it cannot, it is a part of what is left. */
static double first_cap(const struct rates *r, const struct rate_level *l, const struct rate_place *places, double cycles, double horizon)
{
	bool known = r->sms[0]->memory && l2_knows(r, l) && !jumped_learns(r, places);
	return fmax(FIRST * cycles, known ? first_share * horizon : 0);
}

/* The next jump of a level after one that was as long as it could be. */
static void raise_cap(struct rates *r, struct rate_level *l)
{
	double drift = l->capped ? fabs(l->rate / l->jump_rate - 1) : 0;
	l->drifts = drift > 2 * tolerance ? l->drifts + 1 : 0;
	if (l->capped && l->drifts % MOST_DRIFTS == 0)
		l->cap *= drift < tolerance / 2 ? FARTHEST : FARTHER;
	r->spread_cycles += drift * l->jumped / 2;
}

/* Whether the rate after a jump is quite another, and was not for long: warps may have come to a few lines that their L1 has by chance, as those
 * that they had read before the loop. A jump at such a rate would go far beyond them. */
static bool is_passing(const struct rates *r, const struct rate_level *l)
{
	return l->capped && fabs(l->rate / l->jump_rate - 1) > other_phase && (double)r->time < l->jump_end + passing * l->jumped;
}

/* A unit of a level has ended. True: the SMs have jumped. */
static bool end_unit(struct rates *r, struct rate_level *l, const struct rate_place *places)
{
	double cycles = (double)(r->time - l->time), rate = done_in_unit(r, l) / cycles;
	double difference = l->rate > 0 ? fmax(fabs(rate / l->rate - 1), l->changed ? other_phase : 0) : 1;
	bool part = difference > fmax(l->difference, other_phase);
	l->rate = rate;
	l->changed = false;
	l->difference = difference;
	l->units++;
	mean_rates(r, l, places, cycles);
	set_rates(r, l);
	struct loop_ends ends = cycles_left(r, l, places);
	double reach = find_reach(r, &ends);
	bool anew = l->units >= MOST_UNITS && part && !l->begun_again;
	if (anew || is_passing(r, l)) {
		l->begun_again |= anew;
		l->units = anew ? 1 : l->units;
		begin_unit(r, l, places);
		return false;
	}
	bool little = difference * reach < little_time * ((double)r->time + ends.horizon);
	if (little || difference < tolerance * fmax(1, l->units / 2.0) || l->units >= MOST_UNITS) {
		if (l->cap > 0)
			raise_cap(r, l);
		else
			l->cap = first_cap(r, l, places, cycles, ends.horizon);
		l->capped = l->cap < reach;
		l->jump_rate = rate;
		reach = whole_rounds(r, l, places, fmin(reach, l->cap));
		/* Where a unit is the limit, the others do what those that leave would have done; where each warp's own latency is, not. */
		double by = floor(reach * (1 + share_done(r, l, places, reach)) / 2);
		if (by > 1.5 * cycles && isfinite(by)) {
			r->spread_cycles += by * fmax(fmin(difference, 1), tolerance / 2) + (reach - by) / 2;
			r->jumps += !l->capped;
			l->jumped = by;
			l->jump_end = (double)r->time + by;
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
		r->levels[l].begun_again = false;
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
		l->changed = true;
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
			double rate = r->levels[level].rate;
			close_levels(r, level);
			r->levels[level].rate = rate;
			r->levels[level].changed = !r->levels[level].capped; /* else a unit that agrees with those before the jump is enough */
			break;
		}
		levels = deepest > levels ? deepest : levels;
	}
	free(places); /* without memory for it, everything is stepped through */
}
