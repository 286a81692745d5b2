/*
 * Loops that may wait for somebody else: they end when a value is found that was read by a volatile, relaxed, acquire or atomic access in
 * the loop, or when a barrier in shared memory is over. What lies in shared memory is changed by the own group alone (clusters run all together). On hardware lanes and warps make progress by themselves. Here such a loop goes to the others now and then.
 *
 * A loop around a compare-and-swap whose expected value was read in the loop waits for nobody: somebody's swap succeeds.
 */
#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool defined_in_loop(const struct planned_function *f, uint32_t loop, int32_t reg)
{
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		if (!graph_in_loop(f->graph, b, loop))
			continue;
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			for (uint32_t o = 0; o < f->function->instructions[i].operand_count; o++)
				if (f->function->instructions[i].operands[o].write && f->function->instructions[i].operands[o].reg == reg)
					return true;
	}
	return false;
}

bool asks_barrier(const struct ptx_instruction *i)
{
	return !strncmp(i->opcode, "mbarrier.test_wait", 18) || !strncmp(i->opcode, "mbarrier.try_wait", 17);
}

/* beyond: only what other groups may change, too. */
static bool reads_shared_state(const struct planned_function *f, uint32_t loop, const struct ptx_instruction *i, bool beyond)
{
	const char *o = i->opcode;
	if (beyond && (asks_barrier(i) || i->space == SPACE_shared))
		return false;
	if (!strncmp(o, "ld.", 3))
		return has_word(o, "volatile") || has_word(o, "relaxed") || has_word(o, "acquire") || has_word(o, "mmio");
	if (asks_barrier(i))
		return true;
	if (strncmp(o, "atom.", 5))
		return false;
	if (!has_word(o, "cas"))
		return true;
	const struct ptx_operand *expected = i->operand_count > 2 ? &i->operands[2] : NULL;
	return !expected || expected->kind != PTX_REGISTER || !defined_in_loop(f, loop, expected->reg);
}

/* Registers that depend on what was read. */
static bool spread(const struct planned_function *f, uint32_t loop, bool beyond, uint64_t *found)
{
	bool changed = false;
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		for (uint32_t i = block->first; i < block->first + block->count && graph_in_loop(f->graph, b, loop); i++) {
			const struct ptx_instruction *in = &f->function->instructions[i];
			bool from = reads_shared_state(f, loop, in, beyond) || (in->guard >= 0 && is_live(found, (uint32_t)in->guard));
			for (uint32_t o = 0; o < in->operand_count; o++)
				from |= !in->operands[o].write && in->operands[o].reg >= 0 && is_live(found, (uint32_t)in->operands[o].reg);
			for (uint32_t o = 0; o < in->operand_count && from; o++) {
				int32_t reg = in->operands[o].write ? in->operands[o].reg : -1;
				if (reg < 0 || is_live(found, (uint32_t)reg))
					continue;
				found[reg / 64] |= UINT64_C(1) << reg % 64;
				changed = true;
			}
		}
	}
	return changed;
}

static bool ends_on(const struct planned_function *f, uint32_t loop, const uint64_t *found)
{
	const struct graph *g = f->graph;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_block *from = &g->blocks[g->edges[e].from];
		if (!graph_in_loop(g, g->edges[e].from, loop) || (g->edges[e].to >= 0 && graph_in_loop(g, (uint32_t)g->edges[e].to, loop)))
			continue;
		const struct ptx_instruction *last = &f->function->instructions[from->first + from->count - 1];
		if (from->count && last->guard >= 0 && is_live(found, (uint32_t)last->guard))
			return true;
	}
	return false;
}

static bool may_wait(const struct planned_function *f, uint32_t loop, bool beyond, uint64_t *found)
{
	memset(found, 0, f->live.words * sizeof *found);
	while (spread(f, loop, beyond, found))
		;
	return ends_on(f, loop, found);
}

int plan_waits(struct planned_function *f, struct gs_error *err)
{
	uint64_t *found = calloc(f->live.words + 1u, sizeof *found);
	if (!found)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t l = 0; l < f->graph->loop_count; l++) {
		f->spins[f->graph->loops[l].header] = may_wait(f, l, false, found);
		f->waits_for_groups |= may_wait(f, l, true, found);
	}
	free(found);
	return 0;
}
