/*
 * Decides what the assembler makes of branches.
 *
 *   - A branch disappears if its arms are short and contain no barrier, call or further branch. Every warp then executes the arms under
 *     a predicate.
 *   - A branch to the end of the kernel is an EXIT under a predicate. Other ways to the end have an EXIT there.
 *   - `@p bra A; bra B` is one branch. An unconditional branch costs nothing if its target can be placed after it. This needs two
 *     conditions: it is the first branch to that target, and no block falls through to the target.
 *   - Other lanes do not wait for lanes that return early. The join is where the other lanes meet.
 *   - A branch that may divide a warp has BSSY before it and BSYNC at its join. A loop that lanes leave at different times has BSSY
 *     before it and BSYNC after it. There are none if the join is the end.
 *
 * Source: ptxas 13.0, sm_90. The longest arm that was seen under a predicate has ten instructions.
 */
#include "analysis/machine/machine.h"

#include <errno.h>
#include <stdlib.h>

static const uint32_t MOST_ARM = 10;

static const struct ptx_instruction *last_of(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	return b->count ? &f->ptx->instructions[b->first + b->count - 1] : NULL;
}

static bool is_jump(const struct ptx_instruction *i)
{
	return i && machine_is(i, "bra");
}

static bool is_conditional(const struct machine_function *f, uint32_t block)
{
	const struct ptx_instruction *last = last_of(f, block);
	return is_jump(last) && last->guard >= 0 && f->graph->blocks[block].edge_count == 2;
}

/* Whether the block is only a jump (a pad). */
static bool is_pad(const struct machine_function *f, uint32_t block)
{
	const struct ptx_instruction *last = last_of(f, block);
	return f->graph->blocks[block].count == 1 && is_jump(last) && last->guard < 0;
}

/* Whether the block is only the end of the kernel. */
static bool is_end(const struct machine_function *f, int32_t block)
{
	if (block < 0)
		return true;
	const struct ptx_instruction *last = last_of(f, (uint32_t)block);
	return f->kernel && f->graph->blocks[block].count == 1 && last->class == CODE_branch && last->guard < 0 &&
	       (machine_is(last, "ret") || machine_is(last, "exit"));
}

static int32_t target(const struct machine_function *f, uint32_t block, uint32_t n)
{
	return f->graph->edges[f->graph->blocks[block].first_edge + n].to;
}

uint32_t machine_block_size(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	uint32_t size = 0;
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		size += machine_plan_size(f, i);
	return size;
}

/* ---- arms ---- */

static bool is_short_arm(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	if (b->in_count != 1 || b->edge_count != 1 || b->calls || !b->reachable || is_end(f, (int32_t)block))
		return false;
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		const struct ptx_instruction *in = &f->ptx->instructions[i];
		if (in->class == CODE_barrier || in->guard >= 0 || (in->class == CODE_branch && !is_jump(in)))
			return false;
	}
	return machine_block_size(f, block) <= MOST_ARM + is_jump(last_of(f, block));
}

/* Where a way out leads after its pads. The pads are written to pads[0..1]. */
static int32_t behind_pads(const struct machine_function *f, int32_t block, int32_t *pad)
{
	*pad = -1;
	if (block < 0 || !is_pad(f, (uint32_t)block) || f->graph->blocks[block].in_count != 1)
		return block;
	*pad = block;
	return target(f, (uint32_t)block, 0);
}

static int32_t merge(struct machine_function *f, uint32_t into, int32_t pad, int32_t arm)
{
	if (pad >= 0)
		f->flow[pad].merged = (int32_t)into;
	if (arm >= 0)
		f->flow[arm].merged = (int32_t)into;
	return arm;
}

/* Finds one arm that joins the other way, or two arms that join each other. */
static void find_arms(struct machine_function *f, uint32_t block)
{
	int32_t pads[2], ways[2], joins[2];
	bool arms[2];
	if (!is_conditional(f, block))
		return;
	for (int n = 0; n < 2; n++) {
		ways[n] = behind_pads(f, target(f, block, (uint32_t)n), &pads[n]);
		arms[n] = ways[n] >= 0 && is_short_arm(f, (uint32_t)ways[n]) && f->flow[ways[n]].merged < 0 &&
		          f->flow[ways[n]].arms[0] < 0;
		joins[n] = arms[n] ? target(f, (uint32_t)ways[n], 0) : -1;
	}
	struct machine_flow *flow = &f->flow[block];
	if (arms[0] && arms[1] && joins[0] == joins[1] && joins[0] >= 0 &&
	    machine_block_size(f, (uint32_t)ways[0]) + machine_block_size(f, (uint32_t)ways[1]) <= MOST_ARM) {
		flow->arms[0] = merge(f, block, pads[0], ways[0]);
		flow->arms[1] = merge(f, block, pads[1], ways[1]);
	} else if (arms[0] && joins[0] == ways[1] && joins[0] >= 0 && !is_end(f, ways[1])) {
		flow->arms[0] = merge(f, block, pads[0], ways[0]);
		merge(f, block, pads[1], -1);
	} else if (arms[1] && joins[1] == ways[0] && joins[1] >= 0 && !is_end(f, ways[0])) {
		flow->arms[0] = merge(f, block, pads[1], ways[1]);
		merge(f, block, pads[0], -1);
	}
	flow->drops_branch = flow->arms[0] >= 0;
}

/* ---- jumps ---- */

static bool falls_into(const struct machine_function *f, const struct graph_edge *e)
{
	return !e->taken && !f->flow[e->from].drops_branch && f->flow[e->from].merged < 0;
}

/* Drops the jumps into a block that are not needed (see the top of this file). */
static void drop_jumps(struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	bool laid = false;
	for (uint32_t n = 0; n < b->in_count; n++)
		laid |= falls_into(f, &f->graph->edges[f->graph->in[b->first_in + n]]);
	for (uint32_t n = 0; n < b->in_count; n++) {
		const struct graph_edge *e = &f->graph->edges[f->graph->in[b->first_in + n]];
		const struct ptx_instruction *last = last_of(f, e->from);
		struct machine_flow *from = &f->flow[e->from];
		if (!is_jump(last) || last->guard >= 0 || from->merged >= 0)
			continue;
		bool pair = is_pad(f, e->from) && f->graph->blocks[e->from].in_count == 1;
		if (pair || is_end(f, (int32_t)block) || (!laid && !e->back)) {
			from->drops_branch = true;
			laid |= !pair && !e->back;
		}
	}
}

/* A block that leads to the end of the kernel without a condition executes the EXIT itself. */
static void move_ends(struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	bool falls = !b->in_count;
	if (!is_end(f, (int32_t)block))
		return;
	for (uint32_t n = 0; n < b->in_count; n++) {
		const struct graph_edge *e = &f->graph->edges[f->graph->in[b->first_in + n]];
		falls |= f->graph->blocks[e->from].edge_count > 1 && !e->taken;
	}
	if (falls)
		return;
	f->flow[block].drops_branch = true;
	for (uint32_t n = 0; n < b->in_count; n++) {
		const struct graph_edge *e = &f->graph->edges[f->graph->in[b->first_in + n]];
		int32_t from = f->flow[e->from].merged >= 0 ? f->flow[e->from].merged : (int32_t)e->from;
		f->flow[from].exits |= f->graph->blocks[e->from].edge_count == 1;
	}
}

/* ---- joins ---- */

/* Whether an edge leads to the end early: under a condition, or through a pad after one. */
static bool returns_early(const struct machine_function *f, const struct graph_edge *e)
{
	return e->to >= 0 && is_end(f, e->to) && (is_conditional(f, e->from) || is_pad(f, e->from));
}

/* Marks the edges that lead early to this block, which is an end. Returns whether all that lead there do; *last is the last of them in the code. */
static bool mark_early(const struct machine_function *f, const uint32_t *place, uint32_t block, bool *without, uint32_t *last)
{
	const struct graph_block *end = &f->graph->blocks[block];
	uint32_t early = 0;
	for (uint32_t n = 0; n < end->in_count; n++) {
		uint32_t e = f->graph->in[end->first_in + n];
		without[e] = returns_early(f, &f->graph->edges[e]);
		if (without[e] && (!early++ || place[f->graph->edges[e].from] > place[f->graph->edges[*last].from]))
			*last = e;
	}
	return early && early == end->in_count;
}

static bool leaves_function(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	for (uint32_t e = 0; e < b->edge_count; e++)
		if (target(f, block, e) < 0)
			return b->reachable;
	return false;
}

/* Where every way to the end is early, the last one counts as the usual way. Where only some end has none but early ways, as the default of a
 * switch that cannot happen has, the others' end is the usual one. */
static void mark_all_early(const struct machine_function *f, const uint32_t *place, bool *without)
{
	uint32_t usual = 0;
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		uint32_t last = 0;
		usual += !mark_early(f, place, b, without, &last) && leaves_function(f, b);
	}
	for (uint32_t b = 0; b < f->graph->block_count && !usual; b++) {
		uint32_t last = 0;
		if (mark_early(f, place, b, without, &last))
			without[last] = false;
	}
}

static int find_joins(struct machine_function *f, struct gs_error *err)
{
	bool *without = calloc(f->graph->edge_count + 1u, sizeof *without);
	uint32_t *place = calloc(f->graph->block_count + 1u, sizeof *place);
	if (!without || !place) {
		free(without);
		free(place);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	for (uint32_t i = 0; i < f->graph->order_count; i++)
		place[f->graph->order[i]] = i;
	mark_all_early(f, place, without);
	int result = graph_find_joins(f->graph, without, f->joins, err);
	free(without);
	free(place);
	return result;
}

static bool may_divide(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	return is_conditional(f, block) && !f->flow[block].drops_branch &&
	       !(f->code[b->first + b->count - 1].flags & CODE_UNIFORM);
}

static bool leaves_loop(const struct machine_function *f, uint32_t block)
{
	int32_t loop = f->graph->blocks[block].loop;
	if (loop < 0)
		return false;
	for (uint32_t n = 0; n < 2; n++)
		if (target(f, block, n) < 0 || !graph_in_loop(f->graph, (uint32_t)target(f, block, n), (uint32_t)loop))
			return true;
	return false;
}

/* Adds BSSY before the loop: in the blocks that lead to its header from outside. */
static void guard_loop(struct machine_function *f, uint32_t loop, int32_t join)
{
	const struct graph_block *header = &f->graph->blocks[f->graph->loops[loop].header];
	for (uint32_t n = 0; n < header->in_count; n++) {
		const struct graph_edge *e = &f->graph->edges[f->graph->in[header->first_in + n]];
		if (!e->back)
			f->flow[e->from].after++;
	}
	f->flow[join].before++;
}

/* Lanes execute BSYNC each time they arrive: at the end of the blocks that lead to the join. */
static void arrive(struct machine_function *f, uint32_t join)
{
	const struct graph_block *b = &f->graph->blocks[join];
	f->flow[join].arrives = true;
	for (uint32_t n = 0; n < b->in_count; n++) {
		const struct graph_edge *e = &f->graph->edges[f->graph->in[b->first_in + n]];
		int32_t from = f->flow[e->from].merged >= 0 ? f->flow[e->from].merged : (int32_t)e->from;
		if (!e->back)
			f->flow[from].after++;
	}
}

static void keep_together(struct machine_function *f, uint32_t block)
{
	int32_t join = f->joins[block], pad;
	if (!may_divide(f, block) || join < 0 || is_end(f, behind_pads(f, join, &pad)))
		return;
	for (uint32_t n = 0; n < 2; n++)
		if (is_end(f, behind_pads(f, target(f, block, n), &pad)))
			return;
	if (leaves_loop(f, block)) {
		guard_loop(f, (uint32_t)f->graph->blocks[block].loop, join);
	} else if (!f->flow[join].arrives) { /* later branches with the same join need no other one */
		f->flow[block].before++;
		arrive(f, (uint32_t)join);
	}
}

int machine_flow_find(struct machine_function *f, struct gs_error *err)
{
	int result = find_joins(f, err);
	for (uint32_t b = 0; b < f->graph->block_count; b++)
		f->flow[b] = (struct machine_flow){.merged = -1, .arms = {-1, -1}};
	for (uint32_t b = f->graph->block_count; b-- > 0;)
		find_arms(f, b);
	for (uint32_t b = 0; b < f->graph->block_count; b++)
		drop_jumps(f, b);
	for (uint32_t b = 0; b < f->graph->block_count; b++)
		move_ends(f, b);
	for (uint32_t i = 0; i < f->graph->order_count && !result; i++)
		keep_together(f, f->graph->order[i]);
	return result;
}
