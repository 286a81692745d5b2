/* gaps: the rounds of windows that a warp does before it goes on in its path (struct path_gap). */
#ifndef GPUSIM_MODELS_SM_GAPS_H
#define GPUSIM_MODELS_SM_GAPS_H

#include "models/sm/state/sm.h"

/* The rounds that are left of a warp's gaps. */
static inline double *ov_rounds(const struct ov_sm *sm, const struct ov_warp *w)
{
	return &sm->rounds[(size_t)(w - sm->warps) * sm->m->gap_room];
}

static inline void ov_stop_at_gap(struct ov_warp *w)
{
	const struct warp_path *p = w->path;
	w->block_end = p->blocks + (w->next_gap < p->gap_count ? p->gaps[w->next_gap].at : p->block_count);
}

static uint32_t accesses_between(const struct ov_sm *sm, const struct warp_path *p, uint32_t from, uint32_t to)
{
	uint32_t count = 0;
	for (uint32_t b = from; b < to; b++)
		count += sm->m->blocks[p->blocks[b]].accesses;
	return count;
}

/* Begins another round of the gap that the warp is at; of what is left of the last round, its end. */
static void begin_round(const struct ov_sm *sm, struct ov_warp *w)
{
	const struct warp_path *p = w->path;
	const struct path_gap *g = &p->gaps[w->next_gap];
	double *rounds = ov_rounds(sm, w), left = rounds[w->next_gap];
	uint32_t from = g->from, k = w->next_gap;
	if (left < 1) {
		from += (uint32_t)((1 - left) * (g->at - g->from));
		from = from < g->at ? from : g->at - 1;
	}
	rounds[k] = left < 1 ? 0 : left - 1;
	while (k && p->gaps[k - 1].from >= g->from && p->gaps[k - 1].at > from) {
		k--;
		rounds[k] = p->gaps[k].rounds;
	}
	w->next_gap = k;
	w->block = p->blocks + from;
	w->access = p->accesses ? g->first_access + (from > g->from ? accesses_between(sm, p, g->from, from) : 0) : 0;
	ov_stop_at_gap(w);
}

/* The warp is at the end of what it had up to a gap. False: its path ends there. */
static __attribute__((noinline)) bool ov_pass_gap(const struct ov_sm *sm, struct ov_warp *w)
{
	while (w->next_gap < w->path->gap_count && w->block == w->block_end) {
		if (ov_rounds(sm, w)[w->next_gap] > 0) {
			begin_round(sm, w);
			return true;
		}
		w->next_gap++;
		ov_stop_at_gap(w);
	}
	return w->block != w->block_end;
}

/* The first gap that ends after an access of the path. */
static inline int32_t gap_of_access(const struct warp_path *p, uint32_t access)
{
	uint32_t low = 0, high = (uint32_t)p->gap_count;
	while (low < high) {
		uint32_t middle = (low + high) / 2;
		if (p->gaps[middle].first_access + p->gaps[middle].access_count > access)
			high = middle;
		else
			low = middle + 1;
	}
	return low < p->gap_count ? (int32_t)low : -1;
}

/* Where an access goes in the rounds that the warp is in. */
static inline uint64_t ov_round_address(const struct ov_sm *sm, const struct ov_warp *w, uint32_t access, uint64_t address,
                                        uint64_t line_bytes)
{
	const struct warp_path *p = w->path;
	const double *rounds = ov_rounds(sm, w);
	for (int32_t g = gap_of_access(p, access); g >= 0; g = p->gaps[g].outer) {
		const struct path_gap *gap = &p->gaps[g];
		double done = gap->rounds - rounds[g]; /* the last one may be a part, which goes on where the one before ended */
		if (access < gap->first_access || !gap->shifts || !(done > 0))
			continue;
		address = round_address(&gap->shifts[access - gap->first_access], address, done, gap->iterations, sm->groups[w->group].id, line_bytes);
	}
	return address;
}

#endif
