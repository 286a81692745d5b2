/*
 * Which groups are computed, and the ways of their lanes.
 *
 *   all groups of a small launch; of a larger one pairs of neighbours, evenly over it, and the first two in each dimension, so that it
 *   shows how addresses move from group to group (shifts.c)
 * So many that the ways of their lanes stay below a bound, as the time to compute addresses does.
 */
#include "models/trace/computed.h"

#include "models/util/limits.h"
#include "models/util/minmax.h"
#include "models/warps/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_ITEMS = 1 << 13,              /* as many as are traced of a launch, about */
	MOST_WALKED = MODEL_MOST_BLOCKS / 8, /* blocks of all lanes: a tenth of a second */
	LEAST_GROUPS = 4,
	LONGER = 16,                       /* than the average: how long single ways may be */
	ASKED = 16,                        /* work-items whose counters say how long ways are */
};

/* ---- which groups ---- */

static int count_row(struct computed_groups *c, const uint32_t *row)
{
	c->lanes->expand(c->lanes->ctx, row, c->counts);
	int result = code_count(c->code, c->counts, &c->sums);
	c->inconsistent |= c->sums.inconsistent;
	return result;
}

/* Blocks that a work-item executes, on average. */
static double mean_blocks(struct computed_groups *c, uint64_t groups, uint64_t items)
{
	double sum = 0;
	for (uint64_t i = 0; i < ASKED; i++) {
		c->lanes->gather(c->lanes->ctx, groups * i / ASKED, (uint32_t)(items * (i * 7 % ASKED) / ASKED), c->row);
		if (count_row(c, c->row))
			return 1;
		for (uint32_t e = 0; e < c->code->edge_count; e++)
			sum += c->sums.edges[e];
	}
	return sum > ASKED ? sum / ASKED : 1;
}

static uint64_t group_limit(struct computed_groups *c, uint64_t groups, uint64_t items)
{
	double most = (double)MOST_ITEMS / (double)items, by_length = MOST_WALKED / (mean_blocks(c, groups, items) * (double)items);
	most = by_length < most ? by_length : most;
	most = most > LEAST_GROUPS ? most : LEAST_GROUPS;
	return most < (double)groups ? (uint64_t)most : groups;
}

static int by_id(const void *a, const void *b)
{
	uint64_t x = ((const struct traced_group *)a)->group, y = ((const struct traced_group *)b)->group;
	return (x > y) - (x < y);
}

static void add_group(struct computed_groups *c, uint64_t id, uint64_t groups, uint32_t items)
{
	struct launch_trace *t = &c->trace;
	for (size_t i = 0; i < t->group_count; i++)
		if (t->groups[i].group == id)
			return;
	if (id < groups)
		t->groups[t->group_count++] = (struct traced_group){.group = id, .lane_count = items, .lanes = c->none};
}

static int choose_groups(struct computed_groups *c, const struct trace_shape *shape)
{
	uint64_t groups = shape->groups[0] * shape->groups[1] * shape->groups[2];
	uint64_t items = shape->local[0] * shape->local[1] * shape->local[2], most = group_limit(c, groups, items);
	c->trace.groups = calloc(most + 8, sizeof *c->trace.groups);
	c->none = calloc(items + 1, sizeof *c->none);
	if (!c->trace.groups || !c->none)
		return -ENOMEM;
	c->room = max_u64(MOST_WALKED / (most * items), 256) * LONGER;
	for (uint64_t g = 0; g < groups && most == groups; g++)
		c->trace.groups[c->trace.group_count++] = (struct traced_group){.group = g, .lane_count = (uint32_t)items, .lanes = c->none};
	if (most == groups)
		return 0;
	uint64_t corners[] = {0, 1, shape->groups[0], shape->groups[0] * shape->groups[1], groups - 1};
	for (size_t i = 0; i < GS_ARRAY_LEN(corners); i++)
		add_group(c, corners[i], groups, (uint32_t)items);
	for (uint64_t k = 1; c->trace.group_count + 1 < most && k < most; k++) {
		uint64_t at = (uint64_t)((__uint128_t)groups * k / (most / 2 + 1));
		add_group(c, at, groups, (uint32_t)items);
		add_group(c, at + 1, groups, (uint32_t)items);
	}
	qsort(c->trace.groups, c->trace.group_count, sizeof *c->trace.groups, by_id);
	return 0;
}

/* ---- the ways of lanes ---- */

int computed_begin(struct computed_groups *c, uint64_t group, uint32_t first, uint32_t lane_count, struct lane_path *paths)
{
	bool differs = false;
	uint32_t shared = 0;
	size_t row_bytes = c->lanes->columns * sizeof *c->row;
	computer_begin(c->computer, group, first, lane_count);
	for (uint32_t l = 0; l < lane_count; l++) {
		c->lanes->gather(c->lanes->ctx, group, first + l, c->row);
		bool same = l && !memcmp(c->row, c->last, row_bytes);
		memcpy(c->last, c->row, row_bytes);
		if (!same && count_row(c, c->row))
			return -ENOMEM;
		if (!same)
			differs = walk_may_differ(c->code, c->sums.edges);
		if (!same || differs) {
			c->walks[l].len = 0;
			int64_t wanted = walk_lane(c->code, c->sums.edges, ++c->seed, c->room, &c->walks[l]);
			if (wanted < 0)
				return (int)wanted;
			shared = l;
			c->wanted += (uint64_t)wanted;
			c->kept += c->walks[l].len / sizeof(uint32_t);
		}
		paths[l] = (struct lane_path){(const uint32_t *)(void *)c->walks[shared].data, c->walks[shared].len / sizeof(uint32_t)};
	}
	return 0;
}

/* ---- life ---- */

int computed_start(const struct kernel_code *code, const struct launch_arguments *arguments, const struct trace_shape *shape,
                   const struct lane_counts *lanes, const uint16_t *usual, struct computed_groups *out)
{
	*out = (struct computed_groups){.code = code, .lanes = lanes};
	out->row = calloc(lanes->columns + 1u, sizeof *out->row);
	out->last = calloc(lanes->columns + 1u, sizeof *out->last);
	out->counts = calloc(code->counter_count + 1u, sizeof *out->counts);
	out->sums.edges = calloc(code->edge_count + 1u, sizeof *out->sums.edges);
	out->sums.blocks = calloc(code->block_count + 1u, sizeof *out->sums.blocks);
	out->computer = computer_new(code, arguments, usual);
	if (!out->row || !out->last || !out->counts || !out->sums.edges || !out->sums.blocks || !out->computer)
		return -ENOMEM;
	return choose_groups(out, shape);
}

void computed_free(struct computed_groups *c)
{
	for (uint32_t l = 0; l < REPLAY_MOST_LANES; l++)
		gs_buf_free(&c->walks[l]);
	computer_free(c->computer);
	free(c->trace.groups);
	free(c->none);
	free(c->row);
	free(c->last);
	free(c->counts);
	free(c->sums.edges);
	free(c->sums.blocks);
	*c = (struct computed_groups){.code = NULL};
}
