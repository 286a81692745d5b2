/*
 * SIMT execution of a warp with a stack.
 *
 *   each level: where its lanes go on, where they wait for the others (the join), which lanes
 *   lanes that leave a block by different ways: the level waits at the block's immediate post-dominator, and each way
 *   that does not lead there directly becomes a level of its own, the taken one on top
 * Source: GPGPU-Sim's SIMT stack; Fung et al., "Dynamic warp formation", MICRO 2007.
 */
#include "models/warps/replay.h"

#include <errno.h>
#include <stdlib.h>

struct level {
	int32_t at, join, back; /* back: where the innermost call returns to; the join of what ends with its function */
	uint64_t lanes;
};

struct path_replay {
	const struct kernel_code *code;
	const struct lane_path *paths;
	size_t cursor[REPLAY_MOST_LANES];
	struct level *levels;
	size_t count, room;
};

static bool push_level(struct path_replay *r, struct level level)
{
	if (!gs_reserve(&r->levels, r->count, &r->room, sizeof *r->levels))
		return false;
	r->levels[r->count++] = level;
	return true;
}

/* Where a lane goes next: -1 when its path has ended. */
static int32_t next_block(struct path_replay *r, uint32_t lane)
{
	size_t at = ++r->cursor[lane];
	return at < r->paths[lane].count ? (int32_t)r->paths[lane].blocks[at] : -1;
}

static bool falls_through(const struct kernel_code *c, uint32_t from, int32_t to)
{
	return to >= 0 && c->blocks[to].first == c->blocks[from].first + c->blocks[from].count;
}

/* Whether lanes that go there are executed before the others: those of a branch that was taken. A trace has shown which. */
static bool goes_first(const struct kernel_code *c, uint32_t from, int32_t to)
{
	const struct code_block *b = &c->blocks[from];
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count && c->origin == CODE_OF_TRACE; e++)
		if (c->edges[e].to == to)
			return c->edges[e].taken;
	return !falls_through(c, from, to);
}

/* The lanes of the top level by where they go; those that are done are in none. Returns the number of ways. */
static uint32_t divide_lanes(struct path_replay *r, uint64_t lanes, int32_t *to, uint64_t *groups)
{
	uint32_t ways = 0;
	for (; lanes; lanes &= lanes - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(lanes), w = 0;
		int32_t next = next_block(r, lane);
		if (next < 0)
			continue;
		while (w < ways && to[w] != next)
			w++;
		if (w == ways) {
			to[ways] = next;
			groups[ways++] = 0;
		}
		groups[w] |= 1ull << lane;
	}
	return ways;
}

/* One way that falls through comes last, so that branches that were taken are on top of the stack. */
static bool diverge(struct path_replay *r, uint32_t block, const int32_t *to, const uint64_t *groups, uint32_t ways)
{
	struct level *top = &r->levels[r->count - 1];
	int32_t join = r->code->blocks[block].join >= 0 ? r->code->blocks[block].join : top->back, back = top->back;
	top->at = join;
	top->lanes = 0;
	for (uint32_t w = 0; w < ways; w++)
		top->lanes |= groups[w];
	for (int taken = 0; taken < 2; taken++)
		for (uint32_t w = 0; w < ways; w++)
			if (to[w] != join && goes_first(r->code, block, to[w]) == taken &&
			    !push_level(r, (struct level){to[w], join, back, groups[w]}))
				return false;
	return true;
}

/* Lanes that call different functions by their addresses do so one after the other, and meet where these return to. */
static bool call(struct path_replay *r, uint32_t block, const int32_t *to, const uint64_t *groups, uint32_t ways)
{
	struct level *top = &r->levels[r->count - 1];
	int32_t back = r->code->edges[r->code->blocks[block].first_edge].to;
	top->at = back;
	top->lanes = 0;
	for (uint32_t w = 0; w < ways; w++)
		top->lanes |= groups[w];
	for (uint32_t w = ways; w-- > 0;)
		if (to[w] != back && !push_level(r, (struct level){to[w], back, back, groups[w]}))
			return false;
	return true;
}

/* After the top level executed a block. */
static bool advance(struct path_replay *r, uint32_t block)
{
	int32_t to[REPLAY_MOST_LANES];
	uint64_t groups[REPLAY_MOST_LANES];
	struct level *top = &r->levels[r->count - 1];
	const struct code_block *b = &r->code->blocks[block];
	uint32_t ways = divide_lanes(r, top->lanes, to, groups);
	if (!ways) {
		r->count--;
		return true;
	}
	if (b->call == CODE_CALL_ANY || (b->call >= 0 && ways == 1 && to[0] == b->call))
		return call(r, block, to, groups, ways);
	if (ways > 1)
		return diverge(r, block, to, groups, ways);
	top->at = to[0];
	top->lanes = groups[0];
	return true;
}

/* Lanes that have ended meanwhile do not wait at a join. */
static uint64_t lanes_alive(const struct path_replay *r, uint64_t lanes)
{
	for (uint64_t left = lanes; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctzll(left);
		if (r->cursor[lane] >= r->paths[lane].count)
			lanes &= ~(1ull << lane);
	}
	return lanes;
}

int replay_warp(const struct kernel_code *code, const struct lane_path *lanes, uint32_t lane_count,
                replay_block_fn *on_block, void *ctx)
{
	struct path_replay r = {.code = code, .paths = lanes};
	uint64_t all = 0;
	int result = 0;
	if (lane_count > REPLAY_MOST_LANES)
		return -EINVAL;
	for (uint32_t l = 0; l < lane_count; l++)
		all |= lanes[l].count ? 1ull << l : 0;
	if (all && !push_level(&r, (struct level){(int32_t)code->functions[0], -1, -1, all}))
		return -ENOMEM;
	while (r.count && !result) {
		struct level *top = &r.levels[r.count - 1];
		if (r.count > 1 && top->at == top->join) {
			r.count--;
			continue;
		}
		top->lanes = lanes_alive(&r, top->lanes);
		if (!top->lanes || top->at < 0) {
			r.count--;
			continue;
		}
		uint32_t block = (uint32_t)top->at;
		if (!on_block(ctx, block, top->lanes))
			break;
		if (!advance(&r, block))
			result = -ENOMEM;
	}
	free(r.levels);
	return result;
}
