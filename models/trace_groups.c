/*
 * Which traced group an untraced one is like.
 *
 *   the one whose counters say that its work-items did most nearly as much, by percents; among equals, one at the same
 *   borders of the grid; among these, the nearest by id
 * How much a group did is told by its counters, which every group has; those of some of its work-items where there are many.
 * Groups at a border differ from inner ones in the memory that they touch, too.
 */
#include "models/trace_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ITEMS = 1 << 18 }; /* whose counters are looked at; in larger launches, some of each group */

static uint32_t borders(const uint64_t grid[3], uint64_t group)
{
	uint32_t all = 0;
	for (int d = 0; d < 3; d++) {
		uint64_t at = group % grid[d];
		group /= grid[d];
		all = all * 3 + (at == 0 ? 0 : at == grid[d] - 1 ? 2 : 1);
	}
	return all;
}

struct work {
	const struct kernel_code *code;
	const struct lane_counts *lanes;
	uint32_t items, step; /* of a group; every step-th is looked at */
	uint32_t *row;
	uint64_t *counts, *sums;
	struct code_counts result;
};

/* Instructions of the work-items of a group. */
static double work_of(struct work *w, uint64_t group)
{
	for (uint32_t b = 0; b < w->code->counter_count; b++)
		w->sums[b] = 0;
	for (uint32_t i = w->step / 2; i < w->items; i += w->step) {
		w->lanes->gather(w->lanes->ctx, group, i, w->row);
		w->lanes->expand(w->lanes->ctx, w->row, w->counts);
		for (uint32_t b = 0; b < w->code->counter_count; b++)
			w->sums[b] += w->counts[b];
	}
	w->result.thread_instructions = 0;
	code_count(w->code, w->sums, &w->result);
	return w->result.thread_instructions;
}

/* So that all groups together stay below MOST_ITEMS; not a multiple of a warp's size, which would look at one lane only. */
static uint32_t step_of(uint64_t items, uint64_t groups)
{
	uint64_t step = (items * groups + MOST_ITEMS - 1) / MOST_ITEMS;
	step = step < items ? step : items;
	return (uint32_t)(step > 1 ? step | 1 : 1);
}

/* work has the groups of the launch first, then those that were traced. */
static int fill_work(const struct kernel_code *code, const struct group_sample *sample, const struct lane_counts *lanes,
                     const uint64_t *ids, size_t id_count, double *work)
{
	const uint64_t *local = sample->shape->local;
	struct work w = {.code = code, .lanes = lanes, .items = (uint32_t)(local[0] * local[1] * local[2])};
	w.step = step_of(w.items, sample->count);
	w.row = calloc(lanes->columns + 1u, sizeof *w.row);
	w.counts = calloc(code->counter_count + 1u, sizeof *w.counts);
	w.sums = calloc(code->counter_count + 1u, sizeof *w.sums);
	w.result.edges = calloc(code->edge_count + 1u, sizeof *w.result.edges);
	w.result.blocks = calloc(code->block_count + 1u, sizeof *w.result.blocks);
	int result = w.row && w.counts && w.sums && w.result.edges && w.result.blocks ? 0 : -ENOMEM;
	for (uint64_t g = 0; g < sample->count && !result; g++)
		work[g] = work_of(&w, group_of_sample(sample, g));
	for (size_t i = 0; i < id_count && !result; i++)
		work[sample->count + i] = work_of(&w, ids[i]);
	free(w.row);
	free(w.counts);
	free(w.sums);
	free(w.result.edges);
	free(w.result.blocks);
	return result;
}

/* How unlike two groups are, the most important first. */
struct difference {
	double work; /* percent */
	bool border;
	uint64_t distance;
};

static bool less(const struct difference *a, const struct difference *b)
{
	if (a->work < b->work || a->work > b->work)
		return a->work < b->work;
	if (a->border != b->border)
		return b->border;
	return a->distance < b->distance;
}

struct candidates {
	const uint64_t *ids;
	uint32_t *borders;
	size_t count;
	const double *work; /* NULL: not known */
};

static uint32_t most_alike(const struct trace_shape *shape, const struct candidates *c, uint64_t group, double work)
{
	struct difference least = {.border = true, .work = INFINITY, .distance = UINT64_MAX};
	uint32_t best = 0, own = borders(shape->groups, group);
	for (size_t i = 0; i < c->count; i++) {
		struct difference d = {
			.border = c->borders[i] != own,
			.work = c->work ? floor(100 * fabs(c->work[i] - work) / (work > 1 ? work : 1)) : 0,
			.distance = c->ids[i] > group ? c->ids[i] - group : group - c->ids[i],
		};
		if (c->ids[i] == group)
			return (uint32_t)i;
		if (less(&d, &least)) {
			least = d;
			best = (uint32_t)i;
		}
	}
	return best;
}

uint64_t group_of_sample(const struct group_sample *s, uint64_t n)
{
	const uint64_t *g = s->shape->groups;
	uint64_t all = g[0] * g[1] * g[2];
	return s->count < all ? (uint64_t)(((double)n + 0.5) * (double)all / (double)s->count) : n;
}

/* What the groups did over what those that stand for them did: the same counters on both sides, so that what these get wrong
 * about the target's instructions does not matter. */
static double share_represented(const double *work, const double *traced_work, const uint32_t *stands_for, uint64_t count)
{
	double all = 0, represented = 0;
	for (uint64_t g = 0; g < count; g++) {
		all += work[g];
		represented += traced_work[stands_for[g]];
	}
	return all > 0 && represented > 0 ? all / represented : 0;
}

/* Instructions by which the nearest of those that stand for groups, and those that are to, is off. */
static double missing(double work, double stands_for, const double *chosen, uint32_t count)
{
	double least = fabs(work - stands_for);
	for (uint32_t i = 0; i < count; i++)
		least = fmin(least, fabs(work - chosen[i]));
	return least;
}

/* The group of which most is missing, then the one of which most still is, and so on, as long as launches that differ so much would
 * not be taken for alike (TBPoint, V-A). */
static void find_needed(const struct group_sample *sample, const double *work, const double *traced_work,
                        const uint32_t *stands_for, struct needed_groups *out)
{
	static const double unlike = 0.1;
	double chosen[MOST_NEEDED];
	for (bool found = true; found && out->count < MOST_NEEDED;) {
		uint64_t worst = 0;
		double most = 0;
		for (uint64_t g = 0; g < sample->count; g++) {
			double off = missing(work[g], traced_work[stands_for[g]], chosen, out->count);
			if (off > most && off > unlike * work[g]) {
				most = off;
				worst = g;
			}
		}
		found = most > 0;
		chosen[out->count] = work[worst];
		if (found)
			out->ids[out->count++] = group_of_sample(sample, worst);
	}
}

int trace_groups(const struct kernel_code *code, const struct group_sample *sample, const struct lane_counts *lanes,
                 const uint64_t *ids, size_t id_count, uint32_t *stands_for, double *represented, struct needed_groups *needed)
{
	struct candidates c = {.ids = ids, .borders = calloc(id_count + 1, sizeof *c.borders), .count = id_count};
	double *work = NULL;
	int result = c.borders ? 0 : -ENOMEM;
	if (!result && lanes && lanes->gather && id_count < sample->count) {
		work = calloc(sample->count + id_count, sizeof *work);
		result = work ? fill_work(code, sample, lanes, ids, id_count, work) : -ENOMEM;
		c.work = work ? work + sample->count : NULL;
	}
	for (size_t i = 0; i < id_count && !result; i++)
		c.borders[i] = borders(sample->shape->groups, ids[i]);
	for (uint64_t g = 0; g < sample->count && !result; g++)
		stands_for[g] = most_alike(sample->shape, &c, group_of_sample(sample, g), work ? work[g] : 0);
	*represented = id_count >= sample->count ? 1 : work && !result ? share_represented(work, c.work, stands_for, sample->count) : 0;
	needed->count = 0;
	if (work && !result)
		find_needed(sample, work, c.work, stands_for, needed);
	free(c.borders);
	free(work);
	return result;
}
