/*
 * How much groups did, by the counters of their work-items.
 *
 *   threads: the sum of the instructions of work-items
 *   warps:   the sum over warps and blocks of the most that one of the warp's lanes executed the block, times its instructions
 * A warp goes round a loop as often as the lane that stays longest, so groups whose work-items did as much in sum may take very
 * different time. Source: the reduction of counts to warps of the probabilistic resource model, IV-A.
 * Arms of a branch that lanes take in turns count less than they take; all groups' do, and only ratios are used.
 */
#include "models/trace/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 1 << 18 }; /* whose counters are read: bounds the time. In larger launches, some work-items of each group */

struct counter {
	const struct work_shape *shape;
	uint32_t step; /* every step-th work-item is read */
	uint32_t *row, *last;
	uint64_t *counts;
	double *most; /* per block, of the warp under way */
	struct code_counts result; /* of the work-item whose row is `last` */
	bool any;                  /* `last` is one's */
	bool failed;               /* out of memory */
};

/* So that all groups together stay below MOST_ITEMS; not a multiple of a warp's size, which would look at one lane only. */
static uint32_t step_of(uint64_t items, uint64_t groups)
{
	uint64_t step = (items * groups + MOST_ITEMS - 1) / MOST_ITEMS;
	step = step < items ? step : items;
	return (uint32_t)(step > 1 ? step | 1 : 1);
}

/* Neighbours mostly count the same. Returns whether this one does. */
static bool count_item(struct counter *c, uint64_t group, uint32_t item)
{
	const struct lane_counts *lanes = c->shape->lanes;
	lanes->gather(lanes->ctx, group, item, c->row);
	if (c->any && !memcmp(c->row, c->last, lanes->columns * sizeof *c->row))
		return true;
	c->any = true;
	memcpy(c->last, c->row, lanes->columns * sizeof *c->row);
	lanes->expand(lanes->ctx, c->row, c->counts);
	c->failed |= code_count(c->shape->code, c->counts, &c->result) != 0;
	return false;
}

/* Of the warp under way, which ends. */
static double warp_instructions(struct counter *c)
{
	const struct kernel_code *code = c->shape->code;
	double sum = 0;
	for (uint32_t b = 0; b < code->block_count; b++) {
		sum += c->most[b] * code->blocks[b].count;
		c->most[b] = 0;
	}
	return sum;
}

static struct counted_work work_of(struct counter *c, uint64_t group)
{
	const struct work_shape *s = c->shape;
	struct counted_work w = {0, 0};
	uint32_t warp = UINT32_MAX;
	for (uint32_t i = c->step / 2; i < s->items; i += c->step) {
		bool first = i / s->warp_size != warp, same = count_item(c, group, i);
		if (first)
			w.warps += warp_instructions(c);
		warp = i / s->warp_size;
		w.threads += c->result.thread_instructions;
		for (uint32_t b = 0; b < s->code->block_count && (first || !same); b++)
			c->most[b] = c->most[b] > c->result.blocks[b] ? c->most[b] : c->result.blocks[b];
	}
	w.warps += warp_instructions(c);
	return w;
}

static int start_counting(struct counter *c)
{
	const struct kernel_code *code = c->shape->code;
	uint32_t columns = c->shape->lanes->columns;
	c->row = calloc(columns + 1u, sizeof *c->row);
	c->last = calloc(columns + 1u, sizeof *c->last);
	c->counts = calloc(code->counter_count + 1u, sizeof *c->counts);
	c->most = calloc(code->block_count + 1u, sizeof *c->most);
	c->result.edges = calloc(code->edge_count + 1u, sizeof *c->result.edges);
	c->result.blocks = calloc(code->block_count + 1u, sizeof *c->result.blocks);
	return c->row && c->last && c->counts && c->most && c->result.edges && c->result.blocks ? 0 : -ENOMEM;
}

int count_group_work(const struct work_shape *shape, const uint64_t *ids, size_t count, struct counted_work *out)
{
	struct counter c = {.shape = shape, .step = step_of(shape->items, shape->groups)};
	int result = start_counting(&c);
	for (size_t i = 0; i < count && !result; i++)
		out[i] = work_of(&c, ids[i]);
	if (!result && c.failed)
		result = -ENOMEM;
	free(c.row);
	free(c.last);
	free(c.counts);
	free(c.most);
	free(c.result.edges);
	free(c.result.blocks);
	return result;
}
