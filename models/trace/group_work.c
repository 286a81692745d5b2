/*
 * How much groups did, by the counters of their work-items.
 *
 *   threads: the sum of the instructions of work-items
 *   warps:   the sum over warps and blocks of the most that one of the warp's lanes executed the block, times its instructions
 *   longest: the cycles of the warp that would take longest if it were alone
 * A warp goes round a loop as often as the lane that stays longest, so groups whose work-items did as much in sum may take very
 * different time. Source: the reduction of counts to warps of the probabilistic resource model, IV-A.
 * What counters leave open is chosen once, for some work-items from all groups (models/code/code_map.h).
 * Of traced groups without counters, events say what they did. Where each block of the target is one of the source, as in code that was
 * lifted, events are its executions. Else they are taken for counters.
 * Arms of a branch that lanes take in turns count less than they take; all groups' do, and only ratios are used.
 */
#include "models/trace/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_ITEMS = 1 << 18 }; /* whose counters are read: bounds the time. In larger launches, some work-items of each group */

struct counter {
	const struct work_shape *shape;
	const struct lane_trace *traced; /* the group's work-items, whose events are counted; NULL: they have counters */
	uint32_t step; /* every step-th work-item is read */
	uint32_t *row, *last;
	uint64_t *counts;
	double *events, *events_before; /* of blocks of the source: of the traced work-item, and of the one before it */
	double *keep; /* of blocks of the source, of those in rounds */
	double *most; /* per block, of the warp under way */
	double *blocks; /* of the work-item whose row is `last`, then its instructions */
	bool any;       /* `last` is one's */
};

/* So that all groups together stay below MOST_ITEMS; not a multiple of a warp's size, which would look at one lane only. */
static uint32_t step_of(uint64_t items, uint64_t groups)
{
	uint64_t step = (items * groups + MOST_ITEMS - 1) / MOST_ITEMS;
	step = step < items ? step : items;
	return (uint32_t)(step > 1 ? step | 1 : 1);
}

/* The blocks that began. What a gap leaves out did as its window, which is its last iterations before it. */
static void count_events(const struct kernel_code *code, const struct lane_trace *lane, const double *keep, double *events)
{
	memset(events, 0, code->counter_count * sizeof *events);
	for (size_t i = 0; i < lane->count; i++)
		if (lane->events[i].what < code->counter_count)
			events[lane->events[i].what]++;
	for (size_t g = 0; g < lane->gap_count; g++) {
		const struct trace_gap *gap = &lane->gaps[g];
		double rounds = (double)gap->iterations / gap->kept;
		uint32_t begins = 0;
		for (size_t i = gap->before < lane->count ? gap->before : lane->count; i-- > 0 && begins < gap->kept;) {
			uint32_t what = lane->events[i].what;
			begins += what == gap->body;
			if (what < code->counter_count)
				events[what] += rounds * keep[what];
		}
	}
}

/* Every block of the code has an event of its own. */
bool code_is_traced_whole(const struct kernel_code *code)
{
	bool *taken = calloc(code->counter_count + 1u, sizeof *taken), whole = taken != NULL;
	for (uint32_t b = 0; b < code->block_count && whole; b++) {
		const struct code_block *block = &code->blocks[b];
		uint32_t row = block->probe_count == 1 ? code->probes[block->first_probe] : UINT32_MAX;
		whole = row < code->counter_count && !taken[row];
		if (whole)
			taken[row] = true;
	}
	free(taken);
	return whole;
}

static void sum_instructions(const struct kernel_code *code, double *blocks)
{
	double instructions = 0;
	for (uint32_t b = 0; b < code->block_count; b++)
		instructions += blocks[b] * code->blocks[b].count;
	blocks[code->block_count] = instructions;
}

static void count_blocks(const struct kernel_code *code, const double *events, double *blocks)
{
	for (uint32_t b = 0; b < code->block_count; b++)
		blocks[b] = events[code->probes[code->blocks[b].first_probe]];
	sum_instructions(code, blocks);
}

static bool count_traced_item(struct counter *c, uint32_t item)
{
	const struct kernel_code *code = c->shape->code;
	size_t bytes = code->counter_count * sizeof *c->events;
	count_events(code, &c->traced[item], c->keep, c->events);
	if (c->any && !memcmp(c->events, c->events_before, bytes))
		return true;
	c->any = true;
	memcpy(c->events_before, c->events, bytes);
	for (uint32_t n = 0; n < code->counter_count; n++)
		c->counts[n] = (uint64_t)(c->events[n] + 0.5);
	if (c->shape->by_blocks)
		count_blocks(code, c->events, c->blocks);
	else
		code_map_count(c->shape->map, c->counts, c->blocks);
	return false;
}

static void expand_row(struct counter *c)
{
	const struct lane_counts *lanes = c->shape->lanes;
	lanes->expand(lanes->ctx, c->row, c->counts);
	for (uint32_t b = 0; b < c->shape->code->counter_count && c->shape->seen; b++)
		c->counts[b] = c->shape->seen[b] ? c->counts[b] : 0;
}

/* Neighbours mostly count the same. Returns whether this one does. */
static bool count_item(struct counter *c, uint64_t group, uint32_t item)
{
	const struct lane_counts *lanes = c->shape->lanes;
	if (c->traced)
		return count_traced_item(c, item);
	lanes->gather(lanes->ctx, group, item, c->row);
	if (c->any && !memcmp(c->row, c->last, lanes->columns * sizeof *c->row))
		return true;
	c->any = true;
	memcpy(c->last, c->row, lanes->columns * sizeof *c->row);
	expand_row(c);
	code_map_count(c->shape->map, c->counts, c->blocks);
	if (c->shape->by_blocks)
		sum_instructions(c->shape->code, c->blocks);
	return false;
}

/* Of the warp under way, which ends. */
static double warp_instructions(struct counter *c, double *cycles)
{
	const struct kernel_code *code = c->shape->code;
	double sum = 0;
	*cycles = 0;
	for (uint32_t b = 0; b < code->block_count; b++) {
		sum += c->most[b] * code->blocks[b].count;
		*cycles += c->shape->cycles ? c->most[b] * c->shape->cycles[b] : 0;
		c->most[b] = 0;
	}
	return sum;
}

bool counts_all_lanes(uint32_t items, uint64_t groups)
{
	return step_of(items, groups) == 1;
}

static void end_warp(struct counter *c, struct counted_work *w, uint32_t warp, float *by_warp)
{
	double cycles, instructions = warp_instructions(c, &cycles);
	w->warps += instructions;
	w->cycles += cycles;
	w->longest = fmax(w->longest, cycles);
	if (by_warp && warp != UINT32_MAX)
		by_warp[warp] = (float)instructions;
}

static struct counted_work work_of(struct counter *c, uint64_t group, uint32_t items, float *by_warp)
{
	const struct work_shape *s = c->shape;
	struct counted_work w = {0};
	uint32_t warp = UINT32_MAX;
	for (uint32_t i = c->step / 2; i < items; i += c->step) {
		bool first = i / s->warp_size != warp, same = count_item(c, group, i);
		if (first)
			end_warp(c, &w, warp, by_warp);
		warp = i / s->warp_size;
		w.threads += c->blocks[s->code->block_count];
		for (uint32_t b = 0; b < s->code->block_count && (first || !same); b++)
			c->most[b] = c->most[b] > c->blocks[b] ? c->most[b] : c->blocks[b];
	}
	end_warp(c, &w, warp, by_warp);
	return w;
}

static uint32_t warps_of(const struct work_shape *s)
{
	return (s->items + s->warp_size - 1) / s->warp_size;
}

static int start_counting(struct counter *c)
{
	const struct kernel_code *code = c->shape->code;
	uint32_t columns = c->shape->lanes ? c->shape->lanes->columns : 0;
	c->row = calloc(columns + 1u, sizeof *c->row);
	c->last = calloc(columns + 1u, sizeof *c->last);
	c->counts = calloc(code->counter_count + 1u, sizeof *c->counts);
	c->events = calloc(code->counter_count + 1u, sizeof *c->events);
	c->events_before = calloc(code->counter_count + 1u, sizeof *c->events_before);
	c->keep = calloc(code->counter_count + 1u, sizeof *c->keep);
	c->most = calloc(code->block_count + 1u, sizeof *c->most);
	c->blocks = calloc(code->block_count + 1u, sizeof *c->blocks);
	return c->row && c->last && c->counts && c->events && c->events_before && c->keep && c->most && c->blocks ? 0 : -ENOMEM;
}

static void end_counting(struct counter *c)
{
	free(c->row);
	free(c->last);
	free(c->counts);
	free(c->events);
	free(c->events_before);
	free(c->keep);
	free(c->most);
	free(c->blocks);
}

int map_group_work(const struct work_shape *shape, const uint64_t *ids, size_t count, struct code_map *out)
{
	enum { SAMPLE = 1024, APART = 37 }; /* work-items, from all groups and, since it is odd, from all lanes */
	struct counter c = {.shape = shape};
	uint32_t counters = shape->code->counter_count;
	uint64_t *sums = calloc(counters + 1u, sizeof *sums), items = shape->items * (uint64_t)count;
	items = items < SAMPLE ? items : SAMPLE;
	*out = (struct code_map){0};
	int result = sums ? start_counting(&c) : -ENOMEM;
	for (uint64_t i = 0; i < items && !result && shape->lanes; i++) {
		shape->lanes->gather(shape->lanes->ctx, ids[i * count / items], (uint32_t)(i * APART % shape->items), c.row);
		expand_row(&c);
		for (uint32_t b = 0; b < counters; b++)
			sums[b] += c.counts[b];
	}
	if (!result)
		result = code_map_init(out, shape->code, sums, items);
	end_counting(&c);
	free(sums);
	return result;
}

int count_group_work(const struct work_shape *shape, const uint64_t *ids, size_t count, struct counted_work *out, float *by_warp)
{
	struct counter c = {.shape = shape, .step = step_of(shape->items, shape->groups)};
	int result = start_counting(&c);
	for (size_t i = 0; i < count && !result; i++)
		out[i] = work_of(&c, ids[i], shape->items, by_warp ? by_warp + i * warps_of(shape) : NULL);
	end_counting(&c);
	return result;
}

int sum_group_blocks(const struct work_shape *shape, const uint64_t *ids, size_t count, double *blocks)
{
	struct counter c = {.shape = shape, .step = step_of(shape->items, count)};
	int result = start_counting(&c);
	for (size_t i = 0; i < count && !result; i++)
		for (uint32_t item = c.step / 2; item < shape->items; item += c.step) {
			count_item(&c, ids[i], item);
			for (uint32_t b = 0; b < shape->code->block_count; b++)
				blocks[b] += c.blocks[b] * c.step;
		}
	end_counting(&c);
	return result;
}

void find_seen(const struct launch_trace *trace, uint32_t counters, bool *seen)
{
	for (size_t g = 0; g < trace->group_count; g++)
		for (uint32_t l = 0; l < trace->groups[g].lane_count; l++)
			for (size_t i = 0; i < trace->groups[g].lanes[l].count; i++)
				if (trace->groups[g].lanes[l].events[i].what < counters)
					seen[trace->groups[g].lanes[l].events[i].what] = true;
}

static void fill_keep(struct counter *c)
{
	const struct kernel_code *code = c->shape->code;
	for (uint32_t n = 0; n < code->counter_count; n++)
		c->keep[n] = 1;
	for (uint32_t b = 0; b < code->block_count && c->shape->keep && c->shape->by_blocks; b++)
		c->keep[code->probes[code->blocks[b].first_probe]] = c->shape->keep[b];
}

int count_traced_work(const struct work_shape *shape, const struct launch_trace *trace, const uint64_t *ids, size_t count,
                      struct counted_work *out, float *by_warp)
{
	struct counter c = {.shape = shape, .step = step_of(shape->items, shape->groups)};
	int result = start_counting(&c);
	if (!result)
		fill_keep(&c);
	for (size_t i = 0, n = 0; i < trace->group_count && n < count && !result; i++) {
		const struct traced_group *g = &trace->groups[i];
		if (g->group != ids[n])
			continue;
		c.traced = g->lanes;
		out[n] = work_of(&c, g->group, g->lane_count < shape->items ? g->lane_count : shape->items,
		                 by_warp ? by_warp + n * warps_of(shape) : NULL);
		n++;
	}
	end_counting(&c);
	return result;
}
