/*
 * Finds basic blocks and their immediate post-dominators, by the definition: the set of blocks that lie on every way to the end.
 * The sets shrink until nothing changes. The code is slow and simple on purpose, because other code is checked against it.
 */
#include "tests/oracle/internal.h"

#include <errno.h>
#include <stdlib.h>

static bool ends_block(const struct ptx_instruction *i)
{
	return i->class == CODE_branch;
}

static void mark_leaders(const struct ptx_function *f, bool *leader)
{
	leader[0] = true;
	for (uint32_t i = 0; i < f->instruction_count; i++) {
		const struct ptx_instruction *at = &f->instructions[i];
		if (ends_block(at) && i + 1 < f->instruction_count)
			leader[i + 1] = true;
		for (uint32_t o = 0; o < at->operand_count; o++)
			if (at->operands[o].kind == PTX_LABEL && at->operands[o].label >= 0)
				leader[f->labels[at->operands[o].label].at] = true;
	}
}

static void find_successors(struct oracle *o, struct oracle_block *b, uint32_t index)
{
	const struct ptx_function *f = o->function;
	const struct ptx_instruction *last = &f->instructions[b->first + b->count - 1];
	uint32_t taken = o->block_count, behind = index + 1;
	bool jumps = !strncmp(last->opcode, "bra", 3);
	if (jumps && last->operand_count && last->operands[0].label >= 0) {
		uint32_t at = f->labels[last->operands[0].label].at;
		taken = at < f->instruction_count ? o->block_of[at] : o->block_count;
	}
	if (ends_block(last))
		b->next[b->next_count++] = taken;
	if (!ends_block(last) || last->guard >= 0)
		b->next[b->next_count++] = behind;
}

/* Whether block b is in the set of block `of`. */
static bool *member(bool *sets, uint32_t count, uint32_t of, uint32_t b)
{
	return &sets[(size_t)of * (count + 1) + b];
}

static bool shrink(const struct oracle *o, bool *sets, uint32_t of)
{
	uint32_t count = o->block_count;
	const struct oracle_block *b = &o->blocks[of];
	bool changed = false;
	for (uint32_t other = 0; other <= count; other++) {
		bool on_all = true;
		for (uint32_t s = 0; s < b->next_count; s++)
			on_all &= *member(sets, count, b->next[s], other);
		bool in = other == of || on_all;
		changed |= in != *member(sets, count, of, other);
		*member(sets, count, of, other) = in;
	}
	return changed;
}

/* The nearest post-dominator is the one with the most post-dominators of its own. */
static uint32_t nearest(const struct oracle *o, bool *sets, uint32_t of)
{
	uint32_t count = o->block_count, best = count, most = 0;
	for (uint32_t other = 0; other < count; other++) {
		uint32_t size = 0;
		if (other == of || !*member(sets, count, of, other))
			continue;
		for (uint32_t b = 0; b <= count; b++)
			size += *member(sets, count, other, b);
		if (size > most) {
			most = size;
			best = other;
		}
	}
	return best;
}

static int find_joins(struct oracle *o)
{
	uint32_t count = o->block_count;
	bool *sets = malloc((size_t)(count + 1) * (count + 1)), changed = true;
	if (!sets)
		return -ENOMEM;
	memset(sets, true, (size_t)(count + 1) * (count + 1));
	for (uint32_t b = 0; b < count; b++)
		*member(sets, count, count, b) = false;
	while (changed) {
		changed = false;
		for (uint32_t b = count; b--;)
			changed |= shrink(o, sets, b);
	}
	for (uint32_t b = 0; b < count; b++)
		o->blocks[b].join = nearest(o, sets, b);
	free(sets);
	return 0;
}

int oracle_find_blocks(struct oracle *o)
{
	uint32_t count = o->function->instruction_count;
	bool *leader = calloc(count + 1, sizeof *leader);
	o->block_of = calloc(count + 1, sizeof *o->block_of);
	o->blocks = calloc(count + 1, sizeof *o->blocks);
	if (!leader || !o->block_of || !o->blocks) {
		free(leader);
		return -ENOMEM;
	}
	mark_leaders(o->function, leader);
	for (uint32_t i = 0; i < count; i++) {
		if (leader[i])
			o->blocks[o->block_count++].first = i;
		o->block_of[i] = o->block_count - 1;
		o->blocks[o->block_count - 1].count++;
	}
	free(leader);
	for (uint32_t b = 0; b < o->block_count; b++)
		find_successors(o, &o->blocks[b], b);
	return find_joins(o);
}
