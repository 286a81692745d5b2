/*
 * What was jumped over leaves its lines in caches.
 *
 *   L2 knows all that was asked for: as many parts of requests as bring each L1 the lines that it has room for
 *   else: the last LEAST_TOUCHED parts of requests of a jump at least, and all of them up to ALL_TOUCHED in a launch; in a trial on fewer SMs,
 *   whose L2 is as much smaller, as many less
 */
#include "models/grid/jumped.h"

#include "models/grid/windows.h"

#include <math.h>

enum {
	LEAST_TOUCHED = 1 << 15, ALL_TOUCHED = 1 << 20,
	L1_TIMES = 4, /* parts of requests for each line of L1, at most: where lines are asked for by chance, nearly all that L1 keeps are among so many */
};

void jumped_hits(const struct rates *r, uint64_t *looked_up, uint64_t *hits)
{
	*looked_up = *hits = 0;
	for (uint32_t i = 0; i < r->count && r->sms[i]->memory; i++) {
		*looked_up += r->sms[i]->memory->counts.looked_up;
		*hits += r->sms[i]->memory->counts.hits;
	}
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
	return (uint64_t)(sm->warps[slot].path->gaps[gap].rounds - windows_rounds_left(sm, slot, gap) + 0.5);
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
				most = fmax(most, sm->warps[slot].path->gaps[p->gap].rounds - windows_rounds_left(sm, slot, p->gap) - p->rounds +
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
			double done = gaps[n].rounds - windows_rounds_left(sm, slot, n); /* the warp goes on from there */
			ov_memory_touch(sm, slot, (uint32_t)n, (double)round + done - (double)rounds, gaps[n].from, gaps[n].at);
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
	double done = g->rounds - windows_rounds_left(sm, slot, from->gap), now = floor(done + 0.5), before = floor(from->rounds);
	double round = now - (double)back;
	uint32_t at = (uint32_t)(w->block - w->path->blocks);
	if (now <= before || round < before)
		return;
	at = at < g->from ? g->from : at < g->at ? at : g->at;
	ov_memory_touch(sm, slot, (uint32_t)from->gap, round + done - now, round > before ? g->from : at, back ? g->at : at);
}

/* Rounds of an SM's warps, as caches see them, the oldest first. */
static void touch_sm(struct rates *r, uint32_t i, const struct rate_place *places, uint64_t oldest, uint64_t newest)
{
	for (uint64_t back = oldest + 1; back-- > newest;)
		for (uint32_t slot = 0; slot < r->slots; slot++)
			if (places[(size_t)i * r->slots + slot].gap >= 0)
				touch_round(r->sms[i], slot, &places[(size_t)i * r->slots + slot], back);
}

/* Parts of requests that bring as many lines as L1s have, if as many of them miss as in the unit, or a few times as many parts as lines. */
static uint64_t parts_of_l1(const struct rates *r, const struct rate_level *l)
{
	uint64_t lines = 0, looked_up, hits;
	for (uint32_t i = 0; i < r->count; i++)
		lines += r->sms[i]->live_groups ? l1_lines(r->sms[i]->memory->l1) : 0;
	jumped_hits(r, &looked_up, &hits);
	double all = (double)(looked_up - l->looked_up), missed = all - (double)(hits - l->hits);
	return (uint64_t)((double)lines * (missed * L1_TIMES > all ? all / missed : L1_TIMES));
}

/* Lines that a warp asks for until its loop comes back to the first of them; -1: by chance, at any time. */
static double lines_until_return(const struct ov_warp *w, const struct path_gap *g)
{
	const struct path_requests *r = w->path->requests;
	double lines = 0;
	for (uint32_t a = 0; a < g->access_count; a++) {
		const struct round_shift *s = &g->shifts[a];
		double parts = (double)r->first[g->first_access + a + 1] - r->first[g->first_access + a];
		if (parts > 0 && s->chance)
			return -1;
		if (parts > 0 && s->step)
			lines += s->bytes ? parts * (double)s->bytes / fabs((double)s->step) : INFINITY;
	}
	return lines;
}

bool jumped_learns(const struct rates *r, const struct rate_place *places)
{
	bool learns = false;
	for (uint32_t i = 0; i < r->count && !learns; i++) {
		double lines = 0;
		bool any = false;
		for (uint32_t slot = 0; slot < r->slots && !learns; slot++) {
			const struct rate_place *p = &places[(size_t)i * r->slots + slot];
			const struct ov_warp *w = &r->sms[i]->warps[slot];
			if (p->gap < 0)
				continue;
			const struct path_gap *g = &w->path->gaps[p->gap];
			double own = w->path->requests && g->shifts ? lines_until_return(w, g) : 0;
			any = true;
			learns = own < 0;
			lines += own;
		}
		learns |= any && r->sms[i]->memory && lines <= (double)l1_lines(r->sms[i]->memory->l1);
	}
	return learns;
}

void jumped_touch(struct rates *r, const struct rate_level *l, const struct rate_place *places, bool l2_knows)
{
	uint64_t parts = parts_of_round(r, places), most_parts = (uint64_t)(ALL_TOUCHED * r->part), least = (uint64_t)(LEAST_TOUCHED * r->part);
	if (!parts)
		return;
	uint64_t all = l2_knows ? parts_of_l1(r, l) : most_parts > r->touched + least ? most_parts - r->touched : least;
	double most = most_rounds(r, places);
	uint64_t rounds = (double)(all / parts + 1) < most ? all / parts + 1 : (uint64_t)most;
	for (uint32_t i = 0; i < r->count && l2_knows; i++)
		touch_sm(r, i, places, rounds, 0);
	if (l2_knows)
		return;
	r->touched += rounds * parts;
	for (uint64_t back = rounds + 1; back-- > 0;)
		for (uint32_t i = 0; i < r->count; i++)
			touch_sm(r, i, places, back, back);
}
