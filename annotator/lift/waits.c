/*
 * Loops whose number of iterations others decide.
 *
 * A loop may wait for somebody else: it ends when a value is found that was read by a volatile, relaxed, acquire or atomic access in the loop,
 * or when a barrier in shared memory is over. What lies in shared memory is changed by the own group alone (clusters run all together). On
 * hardware lanes and warps make progress by themselves. Here such a loop goes to the others now and then.
 * A loop around a compare-and-swap whose expected value was read in the loop waits for nobody: somebody's swap succeeds. Where it is a constant,
 * and always the same place, the loop waits for a lock.
 *
 * A loop may fetch work from a queue: it ends by the result of an atomic addition in it, which a thread may hand to the others through
 * shared memory. It waits for nobody either. But who runs first would take all the work, which hardware divides: so before each fetch it is the
 * turn of those that have done less.
 */
#include "annotator/lift/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>


enum ends_by { BY_OTHERS, BY_OTHER_GROUPS, BY_A_QUEUE };

enum { MOST_HANDED = 8 };
struct loop_search {
	const struct planned_function *f;
	uint32_t loop;
	enum ends_by by;
	uint32_t fetch;                                 /* of a queue: by this instruction */
	uint64_t *found;                                /* registers that depend on what others do */
	const uint64_t *changing;                       /* registers whose values the loop changes */
	const struct ptx_operand *handed[MOST_HANDED]; /* addresses in shared memory where such are */
	uint32_t handed_count;
	bool changed;
};

/* An instruction's results change from iteration to iteration: they are read from memory, or made of what changes. */
static bool changes(const uint64_t *changing, const struct ptx_instruction *i)
{
	bool changes = !strncmp(i->opcode, "ld", 2) || !strncmp(i->opcode, "atom", 4) || !strncmp(i->opcode, "call", 4);
	for (uint32_t o = 0; o < i->operand_count; o++)
		changes |= !i->operands[o].write && i->operands[o].reg >= 0 && is_live(changing, (uint32_t)i->operands[o].reg);
	return changes;
}

/* Adds registers that an instruction writes, but for those that are not in `of`. Returns whether one is new. */
static bool add_written(uint64_t *registers, const struct ptx_instruction *i, const uint64_t *of)
{
	bool changed = false;
	for (uint32_t o = 0; o < i->operand_count; o++) {
		int32_t reg = i->operands[o].write ? i->operands[o].reg : -1;
		if (reg < 0 || is_live(registers, (uint32_t)reg) || (of && !is_live(of, (uint32_t)reg)))
			continue;
		registers[reg / 64] |= UINT64_C(1) << reg % 64;
		changed = true;
	}
	return changed;
}

/* The registers whose values a loop changes: with what it reads, with what the iteration before left, and what is made of these. */
static void find_changing(const struct planned_function *f, uint32_t loop, uint64_t *changing)
{
	const uint64_t *kept = f->live.in + (size_t)f->graph->loops[loop].header * f->live.words;
	memset(changing, 0, f->live.words * sizeof *changing);
	for (bool changed = true; changed;) {
		changed = false;
		for (uint32_t b = 0; b < f->graph->block_count; b++) {
			const struct graph_block *block = &f->graph->blocks[b];
			for (uint32_t n = block->first; n < block->first + block->count && graph_in_loop(f->graph, b, loop); n++) {
				const struct ptx_instruction *i = &f->function->instructions[n];
				changed |= add_written(changing, i, changes(changing, i) ? NULL : kept);
			}
		}
	}
}

bool asks_barrier(const struct ptx_instruction *i)
{
	return !strncmp(i->opcode, "mbarrier.test_wait", 18) || !strncmp(i->opcode, "mbarrier.try_wait", 17);
}

/* An atomic operation that adds or subtracts, and not 0, which would only read. certain: that is known. */
static bool counts_on(const struct ptx_instruction *i, bool certain)
{
	const struct ptx_operand *added = i->operand_count > 2 ? &i->operands[2] : NULL;
	if (strncmp(i->opcode, "atom.", 5) || !added)
		return false;
	return has_word(i->opcode, "inc") || has_word(i->opcode, "dec") ||
	       (has_word(i->opcode, "add") && (added->kind == PTX_IMMEDIATE ? added->value != 0 : !certain));
}

static bool reads_shared_state(const struct loop_search *s, const struct ptx_instruction *i)
{
	const char *o = i->opcode;
	if (s->by == BY_OTHER_GROUPS && (asks_barrier(i) || i->space == SPACE_shared))
		return false;
	if (!strncmp(o, "ld.", 3))
		return has_word(o, "volatile") || has_word(o, "relaxed") || has_word(o, "acquire") || has_word(o, "mmio");
	if (asks_barrier(i))
		return true;
	if (strncmp(o, "atom.", 5) || counts_on(i, true))
		return false;
	if (!has_word(o, "cas"))
		return true;
	const struct ptx_operand *expected = i->operand_count > 2 ? &i->operands[2] : NULL;
	if (!expected || expected->kind != PTX_REGISTER)
		return true;
	/* One that looks for a free place waits for nobody. */
	int32_t address = i->operands[1].reg;
	return !is_live(s->changing, (uint32_t)expected->reg) && !(address >= 0 && is_live(s->changing, (uint32_t)address));
}

/* The operand with the address of a load or store of shared memory. */
static const struct ptx_operand *shared_address(const struct ptx_instruction *i, const char *opcode)
{
	for (uint32_t o = 0; o < i->operand_count && i->space == SPACE_shared && !strncmp(i->opcode, opcode, 3); o++)
		if (i->operands[o].kind == PTX_ADDRESS)
			return &i->operands[o];
	return NULL;
}

static bool is_handed(const struct loop_search *s, const struct ptx_operand *at)
{
	for (uint32_t h = 0; h < s->handed_count && at; h++) {
		const struct ptx_operand *own = s->handed[h];
		bool same = own->text && at->text ? !strcmp(own->text, at->text) : own->text == at->text;
		if (same && own->reg == at->reg && own->value == at->value)
			return true;
	}
	return false;
}

static bool depends(const struct loop_search *s, const struct ptx_instruction *i)
{
	bool source = s->by == BY_A_QUEUE ? i == &s->f->function->instructions[s->fetch] : reads_shared_state(s, i);
	bool from = source || (i->guard >= 0 && is_live(s->found, (uint32_t)i->guard));
	for (uint32_t o = 0; o < i->operand_count; o++)
		from |= !i->operands[o].write && i->operands[o].reg >= 0 && is_live(s->found, (uint32_t)i->operands[o].reg);
	return from || is_handed(s, shared_address(i, "ld."));
}

static void spread(struct loop_search *s, const struct ptx_instruction *i)
{
	if (!depends(s, i))
		return;
	s->changed |= add_written(s->found, i, NULL);
	const struct ptx_operand *to = s->by == BY_A_QUEUE ? shared_address(i, "st.") : NULL;
	if (to && s->handed_count < MOST_HANDED && !is_handed(s, to)) {
		s->handed[s->handed_count++] = to;
		s->changed = true;
	}
}

static bool ends_on(const struct loop_search *s)
{
	const struct graph *g = s->f->graph;
	for (uint32_t e = 0; e < g->edge_count; e++) {
		const struct graph_block *from = &g->blocks[g->edges[e].from];
		if (!graph_in_loop(g, g->edges[e].from, s->loop) || (g->edges[e].to >= 0 && graph_in_loop(g, (uint32_t)g->edges[e].to, s->loop)))
			continue;
		const struct ptx_instruction *last = &s->f->function->instructions[from->first + from->count - 1];
		if (from->count && last->guard >= 0 && is_live(s->found, (uint32_t)last->guard))
			return true;
	}
	return false;
}

static bool ends(const struct planned_function *f, uint32_t loop, enum ends_by by, uint32_t fetch, uint64_t *found, const uint64_t *changing)
{
	struct loop_search s = {.f = f, .loop = loop, .by = by, .fetch = fetch, .found = found, .changing = changing, .changed = true};
	memset(found, 0, f->live.words * sizeof *found);
	while (s.changed) {
		s.changed = false;
		for (uint32_t b = 0; b < f->graph->block_count; b++) {
			const struct graph_block *block = &f->graph->blocks[b];
			for (uint32_t i = block->first; i < block->first + block->count && graph_in_loop(f->graph, b, loop); i++)
				spread(&s, &f->function->instructions[i]);
		}
	}
	return ends_on(&s);
}

static void find_fetches(struct planned_function *f, uint32_t loop, uint64_t *found, const uint64_t *changing)
{
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		const struct graph_block *block = &f->graph->blocks[b];
		for (uint32_t i = block->first; i < block->first + block->count && graph_in_loop(f->graph, b, loop); i++) {
			const struct ptx_instruction *in = &f->function->instructions[i];
			if (!counts_on(in, false) || !ends(f, loop, BY_A_QUEUE, i, found, changing))
				continue;
			f->fetches[i] = true;
			f->fetches_from_groups |= in->space != SPACE_shared;
		}
	}
}

int plan_waits(struct planned_function *f, struct gs_error *err)
{
	uint64_t *found = calloc(2 * (f->live.words + 1u), sizeof *found);
	if (!found)
		return gs_fail(err, ENOMEM, "out of memory");
	uint64_t *changing = found + f->live.words + 1;
	for (uint32_t l = 0; l < f->graph->loop_count; l++) {
		uint32_t header = f->graph->loops[l].header;
		find_changing(f, l, changing);
		f->spins[header] = ends(f, l, BY_OTHERS, 0, found, changing);
		f->waits_for_groups |= ends(f, l, BY_OTHER_GROUPS, 0, found, changing);
		find_fetches(f, l, found, changing);
	}
	free(found);
	return 0;
}
