/*
 * What is left of the warps that run.
 *
 *   w:  instructions that a warp has left, with the rounds of its windows
 *   v:  its instructions per cycle since the mark; of a warp that began later, the mean of the others; if all did, the SMs' instructions per
 *       cycle, divided by the warps
 *   q:  the share of an SM's cycles in which warps waited for one another: all but those in which all waited for results of their own
 *   u:  v, or the mean of the warps in the same loop if that is more. These wait as long for their own results. One that does less is served
 *       after the others, as the youngest is by a scheduler that prefers old ones, and does as much as they do when they have left
 *   an SM needs q * sum(w) / sum(v) + (1 - q) * max(w / u)
 */
#include "models/grid/rest.h"

#include "models/grid/windows.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_DEPTH = 16 }; /* of windows in one another */

struct rest_mark {
	uint64_t group; /* UINT64_MAX: none */
	double left;
};

struct rest_cycles {
	double all, own, memory; /* own: in which all warps waited for results of their own; memory: for values that they load */
};

int rest_init(struct rest *r, struct ov_sm **sms, uint32_t count)
{
	*r = (struct rest){.sms = sms, .count = count, .slots = count ? sms[0]->m->slots : 0};
	r->marks = calloc((size_t)count * r->slots + 1, sizeof *r->marks);
	r->cycles = calloc(count + 1u, sizeof *r->cycles);
	return r->marks && r->cycles ? 0 : -ENOMEM;
}

void rest_free(struct rest *r)
{
	free(r->marks);
	free(r->cycles);
}

static bool has_warp(const struct ov_sm *sm, uint32_t slot)
{
	return !sm->warps[slot].finished && sm->groups[sm->warps[slot].group].live;
}

/* Instructions of blocks from..to-1 of a path, as often as they are done in all. */
static double work_between(const struct ov_sm *sm, const struct warp_path *p, uint32_t from, size_t to)
{
	double sum = 0;
	for (size_t b = from; b < to; b++)
		sum += path_weight(p, b) * sm->m->launch->code->blocks[p->blocks[b]].count;
	return sum;
}

/* Of windows of the same loop that follow, what was jumped over already (rates.h). */
static double work_jumped(const struct warp_path *p, const double *rounds, const struct path_gap *g)
{
	double sum = 0;
	for (int32_t n = g->next; n >= 0; n = p->gaps[n].next)
		sum += (p->gaps[n].rounds - rounds[n]) * p->gaps[n].work;
	return sum;
}

static double work_left(const struct ov_sm *sm, uint32_t slot)
{
	const struct ov_warp *w = &sm->warps[slot];
	const struct warp_path *p = w->path;
	const struct path_gap *inside[MOST_DEPTH];
	const double *rounds = &sm->rounds[(size_t)slot * sm->m->gap_room];
	uint32_t depth = 0, at = (uint32_t)(w->block - p->blocks);
	double left = w->left, times = 1;
	for (int32_t g = w->next_gap < p->gap_count ? (int32_t)w->next_gap : -1; g >= 0 && depth < MOST_DEPTH; g = p->gaps[g].outer)
		if (p->gaps[g].from <= at) {
			inside[depth++] = &p->gaps[g];
			times *= 1 + p->gaps[g].rounds;
		}
	for (uint32_t i = 0; i < depth; i++) {
		const struct path_gap *g = inside[i];
		left += work_between(sm, p, at, g->at) / times + rounds[g - p->gaps] * g->work - work_jumped(p, rounds, g);
		times /= 1 + g->rounds;
		at = g->at;
	}
	return left + work_between(sm, p, at, p->block_count);
}

/* Of an SM up to now. */
static struct rest_cycles cycles_of(const struct ov_sm *sm)
{
	static const enum cycle_kind own[] = {CYCLES_dependency, CYCLES_barrier, CYCLES_tail, CYCLES_launch};
	struct rest_cycles c = {0};
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		c.all += (double)sm->by[k] + sm->jumped_by[k];
	for (size_t i = 0; i < GS_ARRAY_LEN(own); i++)
		c.own += (double)sm->by[own[i]] + sm->jumped_by[own[i]];
	c.memory = (double)sm->by[CYCLES_memory] + sm->jumped_by[CYCLES_memory];
	return c;
}

static double all_done(const struct rest *r)
{
	double sum = 0;
	for (uint32_t i = 0; i < r->count; i++)
		sum += ov_done(r->sms[i]);
	return sum;
}

void rest_begin(struct rest *r, uint64_t time)
{
	r->time = time;
	r->done = all_done(r);
	for (uint32_t i = 0; i < r->count; i++) {
		r->cycles[i] = cycles_of(r->sms[i]);
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			const struct ov_sm *sm = r->sms[i];
			struct rest_mark *mark = &r->marks[(size_t)i * r->slots + slot];
			*mark = (struct rest_mark){.group = UINT64_MAX};
			if (has_warp(sm, slot))
				*mark = (struct rest_mark){sm->groups[sm->warps[slot].group].id, work_left(sm, slot)};
		}
	}
}

/* Instructions that a warp has done since the mark; 0: it began after it. */
static double done_since(const struct rest *r, uint32_t i, uint32_t slot, double left)
{
	const struct rest_mark *mark = &r->marks[(size_t)i * r->slots + slot];
	const struct ov_sm *sm = r->sms[i];
	return mark->group == sm->groups[sm->warps[slot].group].id ? fmax(mark->left - left, 0) : 0;
}

/* Instructions per cycle of a warp, on average: of all, and of those in a loop, by the block of the code in which that begins. */
struct mean_rates {
	double all;
	struct loop_mean {
		double done, warps;
	} *loops;
};

/* The innermost loop that a warp is in; NULL: it is in none. */
static struct loop_mean *loop_of(const struct mean_rates *m, const struct ov_warp *w)
{
	int32_t inside[WINDOWS_DEPTH];
	return m->loops && windows_of(w, inside) ? &m->loops[w->path->blocks[w->path->gaps[inside[0]].from]] : NULL;
}

static struct mean_rates mean_rates(const struct rest *r, double cycles)
{
	struct mean_rates m = {.loops = r->count ? calloc(r->sms[0]->m->launch->code->block_count + 1u, sizeof *m.loops) : NULL};
	double sum = 0, warps = 0, all = 0;
	for (uint32_t i = 0; i < r->count; i++)
		for (uint32_t slot = 0; slot < r->slots; slot++) {
			if (!has_warp(r->sms[i], slot))
				continue;
			double done = done_since(r, i, slot, work_left(r->sms[i], slot));
			sum += done;
			warps += done > 0;
			all++;
			struct loop_mean *loop = loop_of(&m, &r->sms[i]->warps[slot]);
			if (!loop || !(done > 0))
				continue;
			loop->done += done / cycles;
			loop->warps++;
		}
	m.all = warps > 0 ? sum / warps / cycles : all > 0 ? (all_done(r) - r->done) / all / cycles : 0;
	return m;
}

/* At which a warp goes on if it waits for no other. */
static double own_rate(const struct mean_rates *means, const struct ov_warp *w, double rate)
{
	const struct loop_mean *loop = loop_of(means, w);
	return loop && loop->warps > 0 ? fmax(rate, loop->done / loop->warps) : rate;
}

static struct rest_estimate rest_of_sm(const struct rest *r, uint32_t i, double cycles, const struct mean_rates *means, double queued)
{
	const struct ov_sm *sm = r->sms[i];
	struct rest_cycles now = cycles_of(sm), before = r->cycles[i];
	double alone = now.own - before.own + (now.memory - before.memory) * (1 - queued), all = now.all - before.all;
	double own = all > 0 ? fmin(fmax(alone / all, 0), 1) : 1;
	double left = 0, rates = 0, longest = 0;
	for (uint32_t slot = 0; slot < r->slots; slot++) {
		if (!has_warp(sm, slot))
			continue;
		double work = work_left(sm, slot), done = done_since(r, i, slot, work), rate = done > 0 ? done / cycles : means->all;
		left += work;
		rates += rate;
		longest = rate > 0 ? fmax(longest, work / own_rate(means, &sm->warps[slot], rate)) : longest;
	}
	double shared = rates > 0 ? left / rates : 0;
	return (struct rest_estimate){.cycles = own * longest + (1 - own) * shared, .spread = (longest - shared) * fmin(own, 1 - own),
	                              .instructions = left};
}

struct rest_estimate rest_of(const struct rest *r, uint64_t time, double queued)
{
	struct rest_estimate all = {0};
	double cycles = time > r->time ? (double)(time - r->time) : 1;
	struct mean_rates means = mean_rates(r, cycles);
	for (uint32_t i = 0; i < r->count; i++) {
		struct rest_estimate sm = rest_of_sm(r, i, cycles, &means, queued);
		all.instructions += sm.instructions;
		all.spread = fmax(all.spread, sm.spread);
		all.cycles = fmax(all.cycles, sm.cycles);
	}
	free(means.loops);
	all.rate = (all_done(r) - r->done) / cycles;
	return all;
}
