/* Warps in the windows of loops. */
#include "models/grid/windows.h"

#include <math.h>

uint32_t windows_of(const struct ov_warp *w, int32_t out[WINDOWS_DEPTH])
{
	const struct warp_path *p = w->path;
	uint32_t depth = 0, at = (uint32_t)(w->block - p->blocks);
	at = at ? at - 1 : 0; /* the block that it is in */
	if (w->next_gap >= p->gap_count)
		return 0;
	for (int32_t g = (int32_t)w->next_gap; g >= 0 && depth < WINDOWS_DEPTH; g = p->gaps[g].outer)
		if (p->gaps[g].from <= at)
			out[depth++] = g;
	return depth;
}

double windows_rounds_left(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	return sm->rounds[(size_t)slot * sm->m->gap_room + (size_t)gap];
}

double windows_blocks_done(const struct ov_sm *sm, const struct ov_warp *w)
{
	double begun = (double)(w->block - w->path->blocks);
	return w->left && begun > 0 ? begun - (double)w->left / sm->m->launch->code->blocks[w->block[-1]].count : begun;
}

double windows_rounds_done(const struct ov_sm *sm, uint32_t slot, const int32_t *gaps, uint32_t n)
{
	const struct ov_warp *w = &sm->warps[slot];
	double at = windows_blocks_done(sm, w), done = 0;
	for (uint32_t i = 0; i <= n; i++) {
		const struct path_gap *g = &w->path->gaps[gaps[i]];
		double length = (double)g->at - g->from;
		done = g->rounds - windows_rounds_left(sm, slot, gaps[i]) + (at - g->from) / length;
		at = g->from + length * done / (1 + g->rounds);
	}
	return done;
}

static double parts_of(const struct warp_path *path, const struct path_gap *g)
{
	const struct path_requests *r = path->requests;
	return r ? (r->first[g->first_access + g->access_count] - r->first[g->first_access]) / g->iterations : 0;
}

/* Whether a window asks for as much of memory as the next one: a jump may go on in that. */
static bool asks_same(const struct warp_path *path, int32_t gap, int32_t next)
{
	static const double same = 0.05; /* parts of requests in an iteration */
	double a = parts_of(path, &path->gaps[gap]), b = parts_of(path, &path->gaps[next]);
	return fabs(a - b) <= same * a;
}

/* Blocks of a window that a warp has done, in a round; -1: it is not in it, or in a window inside. */
static double place_in(const struct ov_sm *sm, const struct ov_warp *w, const struct path_gap *g)
{
	ptrdiff_t begun = w->block - w->path->blocks;
	if (w->path->gaps + w->next_gap != g || begun <= (ptrdiff_t)g->from || begun > (ptrdiff_t)g->at)
		return -1;
	return fmax(windows_blocks_done(sm, w) - g->from, 0);
}

/* Iterations from a place in the last round of a window to the place in the next window that has the same block before and after it. */
static double iterations_between(const struct path_gap *from, const struct path_gap *to, double *place)
{
	double length = (double)from->at - from->from, next = (double)to->at - to->from, at = fmod(*place, next);
	double between = (1 - *place / length) * from->iterations + at / next * to->iterations;
	*place = at;
	return between;
}

double windows_left(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	const struct ov_warp *w = &sm->warps[slot];
	const struct path_gap *gaps = w->path->gaps;
	double left = windows_rounds_left(sm, slot, gap) * gaps[gap].iterations, place = place_in(sm, w, &gaps[gap]);
	bool enters = place >= 0, same = true;
	for (int32_t n = gap, next; same && (next = gaps[n].next) >= 0; n = next) {
		enters &= gaps[n].enters_next;
		same = asks_same(w->path, n, next);
		left += same ? windows_rounds_left(sm, slot, next) * gaps[next].iterations : 0;
		left += enters ? iterations_between(&gaps[n], &gaps[next], &place) : 0;
	}
	return left;
}

double windows_horizon(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	const struct path_gap *gaps = sm->warps[slot].path->gaps;
	double left = 0;
	for (int32_t n = gap; n >= 0; n = gaps[n].next)
		left += (windows_rounds_left(sm, slot, n) + (n != gap)) * gaps[n].iterations;
	return left;
}

double windows_ahead(const struct ov_sm *sm, uint32_t slot, int32_t gap)
{
	const struct path_gap *gaps = sm->warps[slot].path->gaps;
	double ahead = 0;
	for (int32_t n = gaps[gap].next; n >= 0; n = gaps[n].next)
		ahead += (gaps[n].rounds - windows_rounds_left(sm, slot, n)) * gaps[n].iterations;
	return ahead;
}

static uint32_t accesses_between(const struct ov_sm *sm, const struct warp_path *p, uint32_t from, uint32_t to)
{
	uint32_t count = 0;
	for (uint32_t b = from; b < to; b++)
		count += sm->m->blocks[p->blocks[b]].accesses;
	return count;
}

/* A warp goes from its place in a window to the same place in the next one. */
static void enter_next(const struct ov_sm *sm, struct ov_warp *w, const struct path_gap *from, const struct path_gap *to)
{
	const struct warp_path *p = w->path;
	uint32_t begun = (uint32_t)(w->block - p->blocks) - 1, place = (begun - from->from) % (to->at - to->from);
	if (p->accesses) {
		uint32_t of_block = w->access - from->first_access - accesses_between(sm, p, from->from, begun);
		w->access = to->first_access + accesses_between(sm, p, to->from, to->from + place) + of_block;
	}
	w->block = p->blocks + to->from + place + 1;
	w->block_end = p->blocks + to->at;
	w->next_gap = (uint32_t)(to - p->gaps);
}

void windows_move(const struct ov_sm *sm, uint32_t slot, int32_t gap, double iterations)
{
	struct ov_warp *w = &sm->warps[slot];
	const struct path_gap *gaps = w->path->gaps;
	double place = place_in(sm, w, &gaps[gap]);
	bool enters = place >= 0, same = true;
	for (int32_t n = gap, next; n >= 0 && same && iterations > 0; n = next) {
		double *left = &sm->rounds[(size_t)slot * sm->m->gap_room + (size_t)n], here = *left * gaps[n].iterations;
		*left = here > iterations ? *left - iterations / gaps[n].iterations : 0;
		iterations -= here;
		next = gaps[n].next;
		same = next >= 0 && asks_same(w->path, n, next);
		double between = enters && next >= 0 && gaps[n].enters_next ? iterations_between(&gaps[n], &gaps[next], &place) : INFINITY;
		enters = between <= iterations * (1 + 1e-9);
		if (!enters)
			continue; /* it goes through the next window once at least */
		enter_next(sm, w, &gaps[n], &gaps[next]);
		iterations -= between;
	}
}
