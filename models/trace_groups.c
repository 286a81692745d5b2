/*
 * Which traced group an untraced one is like.
 *
 *   the one whose counters say that its work-items did most nearly as much, by percents; among equals, one at the same
 *   borders of the grid; among these, the nearest by id
 * How much a group did is told by its counters, which every group has. Groups at a border differ from inner ones in the
 * memory that they touch, too.
 */
#include "models/trace_internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

enum { MOST_ITEMS = 1 << 18 }; /* whose counters are looked at; in larger launches only borders and places count */

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
	uint32_t items;
	uint32_t *row;
	uint64_t *counts, *sums;
	struct code_counts result;
};

/* Instructions of all work-items of a group. */
static double work_of(struct work *w, uint64_t group)
{
	for (uint32_t b = 0; b < w->code->counter_count; b++)
		w->sums[b] = 0;
	for (uint32_t i = 0; i < w->items; i++) {
		w->lanes->gather(w->lanes->ctx, group, i, w->row);
		w->lanes->expand(w->lanes->ctx, w->row, w->counts);
		for (uint32_t b = 0; b < w->code->counter_count; b++)
			w->sums[b] += w->counts[b];
	}
	w->result.thread_instructions = 0;
	code_count(w->code, w->sums, &w->result);
	return w->result.thread_instructions;
}

static int fill_work(const struct kernel_code *code, const struct trace_shape *shape, const struct lane_counts *lanes,
                     uint64_t count, double *work)
{
	struct work w = {.code = code, .lanes = lanes};
	w.items = (uint32_t)(shape->local[0] * shape->local[1] * shape->local[2]);
	w.row = calloc(lanes->columns + 1u, sizeof *w.row);
	w.counts = calloc(code->counter_count + 1u, sizeof *w.counts);
	w.sums = calloc(code->counter_count + 1u, sizeof *w.sums);
	w.result.edges = calloc(code->edge_count + 1u, sizeof *w.result.edges);
	w.result.blocks = calloc(code->block_count + 1u, sizeof *w.result.blocks);
	int result = w.row && w.counts && w.sums && w.result.edges && w.result.blocks ? 0 : -ENOMEM;
	for (uint64_t g = 0; g < count && !result; g++)
		work[g] = work_of(&w, g);
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

static uint32_t most_alike(const struct trace_shape *shape, const uint64_t *ids, const uint32_t *borders_of, size_t id_count,
                           uint64_t group, const double *work)
{
	struct difference least = {.border = true, .work = INFINITY, .distance = UINT64_MAX};
	uint32_t best = 0, own = borders(shape->groups, group);
	for (size_t i = 0; i < id_count; i++) {
		struct difference d = {
			.border = borders_of[i] != own,
			.work = work ? floor(100 * fabs(work[ids[i]] - work[group]) / (work[group] > 1 ? work[group] : 1)) : 0,
			.distance = ids[i] > group ? ids[i] - group : group - ids[i],
		};
		if (ids[i] == group)
			return (uint32_t)i;
		if (less(&d, &least)) {
			least = d;
			best = (uint32_t)i;
		}
	}
	return best;
}

int trace_groups(const struct kernel_code *code, const struct trace_shape *shape, const struct lane_counts *lanes,
                 const uint64_t *ids, size_t id_count, uint64_t count, uint32_t *stands_for)
{
	uint64_t items = shape->local[0] * shape->local[1] * shape->local[2];
	uint32_t *borders_of = calloc(id_count + 1, sizeof *borders_of);
	double *work = NULL;
	int result = borders_of ? 0 : -ENOMEM;
	if (!result && lanes && lanes->gather && id_count < count && count <= MOST_ITEMS / (items ? items : 1)) {
		work = calloc(count + 1, sizeof *work);
		result = work ? fill_work(code, shape, lanes, count, work) : -ENOMEM;
	}
	for (size_t i = 0; i < id_count && !result; i++)
		borders_of[i] = borders(shape->groups, ids[i]);
	for (uint64_t g = 0; g < count && !result; g++)
		stands_for[g] = most_alike(shape, ids, borders_of, id_count, g, work);
	free(borders_of);
	free(work);
	return result;
}
