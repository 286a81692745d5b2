/*
 * Finds comparisons that the assembler makes a table of jumps of.
 *
 * Each of two and more blocks that follow one another compares the same register with another number and jumps if they are equal; all but the
 * first do nothing else. The table is one of constants: the number, less the least of them, is bounded, multiplied by the size of an entry
 * (two or three instructions), the entry is loaded (LDC) and made an address, and BRX jumps there. Lanes go one way after the other. Here,
 * each comparison that lanes come to is a way: a warp whose lanes all go the last one counts those before it, too.
 *
 * Source: ptxas 13.0, sm_90: both pairs of four_way, and of the eight pairs of interpret the one whose second comparison is where the first
 * falls through, not where it jumps to.
 */
#include "analysis/machine/machine.h"

struct rung {
	const struct ptx_instruction *comparison;
	const struct ptx_operand *value;
	int64_t number;
};

/* Whether the block ends with a jump that lanes take where a register equals a number. */
static bool is_rung(const struct machine_function *f, uint32_t block, struct rung *out)
{
	const struct graph_block *b = &f->graph->blocks[block];
	const struct machine_flow *flow = &f->flow[block];
	if (!b->count || b->edge_count != 2 || flow->drops_branch || flow->merged >= 0 || flow->unrolled)
		return false;
	uint32_t last = b->first + b->count - 1;
	const struct ptx_instruction *jump = &f->ptx->instructions[last];
	if (!machine_is(jump, "bra") || jump->guard < 0 || jump->guard_negated || f->code[last].flags & CODE_UNIFORM)
		return false;
	const struct machine_value *guard = &f->values[jump->guard];
	if (guard->def < 0 || guard->uses != 1 || f->block_of[guard->def] != (int32_t)block)
		return false;
	out->comparison = &f->ptx->instructions[guard->def];
	out->value = machine_source(out->comparison, 0);
	const struct ptx_operand *number = machine_source(out->comparison, 1);
	out->number = number ? number->value : 0;
	return machine_is(out->comparison, "setp") && machine_has_word(out->comparison, "eq") && machine_bits(out->comparison) == 32 &&
	       !machine_is_real(out->comparison) && out->value && out->value->kind == PTX_REGISTER && number && number->kind == PTX_IMMEDIATE && number->constant == PTX_INTEGER;
}

/* The block that follows where the numbers differ, if it is no more than the next comparison of the same register; -1: none. */
static int32_t next_rung(const struct machine_function *f, uint32_t block, const struct rung *from, struct rung *out)
{
	const struct graph_block *b = &f->graph->blocks[block];
	const struct graph_edge *falls = &f->graph->edges[b->first_edge];
	falls += falls->taken;
	if (falls->taken || falls->to < 0)
		return -1;
	const struct graph_block *next = &f->graph->blocks[falls->to];
	return next->in_count == 1 && next->count == 2 && is_rung(f, (uint32_t)falls->to, out) && out->value->reg == from->value->reg &&
	               out->number != from->number
	           ? falls->to
	           : -1;
}

static void make_table(struct machine_function *f, const struct rung *first, int64_t least)
{
	struct machine_plan *p = &f->plans[machine_index(f, first->comparison)];
	*p = (struct machine_plan){.planned = true};
	if (least)
		p->classes[p->count++] = CODE_int;
	p->classes[p->count++] = CODE_int_minmax;
	p->classes[p->count++] = CODE_int_mad;
	p->classes[p->count++] = CODE_nop; /* LDC: the wait for it is part of that for the jump */
	p->classes[p->count++] = CODE_int;
}

void machine_tables_find(struct machine_function *f)
{
	for (uint32_t b = 0; b < f->graph->block_count; b++) {
		struct rung first, at, next;
		if (f->flow[b].by_table || !is_rung(f, b, &first))
			continue;
		int64_t least = first.number;
		at = first;
		for (int32_t n = next_rung(f, b, &at, &next); n >= 0; n = next_rung(f, (uint32_t)n, &at, &next)) {
			f->flow[b].by_table = f->flow[n].by_table = true;
			f->plans[machine_index(f, next.comparison)] = (struct machine_plan){.planned = true};
			least = next.number < least ? next.number : least;
			at = next;
		}
		if (f->flow[b].by_table)
			make_table(f, &first, least);
	}
}
