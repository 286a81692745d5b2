/*
 * A warp: a stack of ways that still have to run, and the execution of its instructions.
 *
 * The rules are GPGPU-Sim's (simt_stack::update). If lanes diverge, the entry on top becomes the place where they join. The ways
 * go on top of it. The taken way is pushed last, so it runs first. A way that begins at the join is not pushed. An entry whose
 * block is its join is dropped.
 */
#include "tests/oracle/internal.h"
#include "tests/oracle/warp.h"

#include <stdlib.h>

static void push(struct warp *w, uint32_t block, uint32_t join, uint32_t mask)
{
	if (w->depth == w->room) {
		struct stack_entry *grown = reallocarray(w->stack, w->room ? w->room * 2 : 8, sizeof *grown);
		if (!grown) {
			oracle_fail(w->run, "out of memory", w->at);
			return;
		}
		w->stack = grown;
		w->room = w->room ? w->room * 2 : 8;
	}
	w->stack[w->depth++] = (struct stack_entry){.block = block, .join = join, .mask = mask};
}

void warp_begin(struct warp *w, uint32_t lanes)
{
	uint32_t end = w->program->block_count;
	w->live = lanes;
	w->depth = 0;
	w->waiting = w->begun = false;
	push(w, 0, end, lanes);
}

/* Lanes `taken` of the top block go to `target`. The others go to the next block. */
static void leave_block(struct warp *w, uint32_t target, uint32_t taken, uint32_t others)
{
	const struct oracle *o = w->program;
	struct stack_entry top = w->stack[--w->depth];
	const uint32_t blocks[2] = {top.block + 1, target}, masks[2] = {others & w->live, taken & w->live};
	bool both = masks[0] && masks[1] && blocks[0] != blocks[1];
	uint32_t join = both ? o->blocks[top.block].join : top.join;
	if (both && join != top.join)
		push(w, join, top.join, masks[0] | masks[1]);
	for (uint32_t i = 0; i < 2; i++) {
		uint32_t mask = both ? masks[i] : masks[0] | masks[1];
		uint32_t to = masks[i] ? blocks[i] : blocks[!i];
		if (mask && to != join && to != o->block_count)
			push(w, to, join, mask);
		if (!both)
			break;
	}
	w->begun = false;
}

/* Enters the block on top. False: the warp is done. */
static bool enter_block(struct warp *w)
{
	const struct oracle_events *events = &w->run->launch->events;
	struct oracle_counts *counts = w->run->counts;
	while (w->depth &&
	       (!(w->stack[w->depth - 1].mask & w->live) || w->stack[w->depth - 1].block == w->program->block_count))
		w->depth--;
	if (!w->depth)
		return false;
	struct stack_entry *top = &w->stack[w->depth - 1];
	top->mask &= w->live;
	w->at = w->program->blocks[top->block].first;
	w->begun = true;
	if (events->block)
		events->block(events->user, w->run->group, w->number, top->block, top->mask);
	if (counts->block_warps)
		counts->block_warps[top->block]++;
	if (counts->block_threads)
		counts->block_threads[top->block] += (uint32_t)__builtin_popcount(top->mask);
	return true;
}

static uint32_t guarded(const struct warp *w, const struct oracle_op *op, uint32_t mask)
{
	if (op->guard == NO_ROW)
		return mask;
	uint32_t on = 0;
	const uint64_t *p = oracle_row(w, op->guard);
	for (uint32_t l = 0; l < ORACLE_WARP; l++)
		on |= (uint32_t)(p[l] & 1) << l;
	return mask & (op->guard_negated ? ~on : on);
}

/* One instruction. */
static void step(struct warp *w)
{
	const struct oracle_op *op = &w->program->ops[w->at];
	struct stack_entry *top = &w->stack[w->depth - 1];
	const struct oracle_block *block = &w->program->blocks[top->block];
	uint32_t mask = top->mask & w->live, on = guarded(w, op, mask);
	w->run->counts->warp_instructions++;
	w->run->counts->thread_instructions += (uint32_t)__builtin_popcount(on);
	switch (op->kind) {
	case OP_EXIT:
		w->live &= ~on;
		leave_block(w, w->program->block_count, 0, mask & ~on);
		return;
	case OP_BRANCH: leave_block(w, op->target, on, mask & ~on); return;
	case OP_BARRIER:
		w->waiting = true;
		w->reduction = oracle_has(op->opcode, "red") ? op : NULL;
		w->reduced_lanes = on;
		break;
	default: op->run(w, op, on); break;
	}
	if (++w->at == block->first + block->count)
		leave_block(w, w->program->block_count, 0, mask);
}

bool warp_run(struct warp *w)
{
	w->waiting = false;
	while (!w->run->failed && !w->waiting) {
		if (!w->begun && !enter_block(w))
			return false;
		step(w);
	}
	return !w->run->failed;
}
