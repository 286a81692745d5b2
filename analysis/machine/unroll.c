/*
 * Loops that the assembler unrolls.
 *
 * The assembler unrolls a loop by 4, with copies of 2 and 1 for the rest, if all of these hold:
 *   - It is one block, without .pragma "nounroll", without atomics and without calls.
 *   - Its counter grows by a constant until it meets a value from outside.
 *   - It has up to 32 instructions, or up to 64 if it loads from global memory.
 *   - If the text is final: `@p bra` leads from its end to its begin. A negated predicate, or a jump after the way out, which LLVM writes
 *     for loops that it has unrolled itself, keeps ptxas from it.
 * Each copy of 4 has the counter, its comparison and the branch once. The same holds for other registers that grow by a
 * constant: they become offsets. Each entry of the loop takes about ten instructions to choose between the copies.
 *
 * Source: ptxas 13.0, sm_90, on NVIDIA's PTX of the suite. It unrolls loops of 7 (fma_chain), 20 (int_hash), 25 (matmul) and 26
 * (spmv) instructions by 4, and one of 44 instructions with loads (matmul_tiled). It does not unroll loops of 35 instructions
 * without loads (fma_wide, sfu_mix), one of 78 with loads (nbody), and one with atomics (histogram).
 */
#include "analysis/machine/machine.h"

enum { TIMES = 4, MOST_SIZE = 32, MOST_LOADING = 64, CHECKS = 10 };

static bool is_jump_pad(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	return b->count == 1 && machine_is(&f->ptx->instructions[b->first], "bra");
}

/* Whether the loop has only one block, besides pads that only jump back to it. */
static bool is_alone(const struct machine_function *f, uint32_t loop)
{
	uint32_t header = f->graph->loops[loop].header;
	for (uint32_t b = 0; b < f->graph->block_count; b++)
		if (b != header && f->graph->blocks[b].reachable && graph_in_loop(f->graph, b, loop) && !is_jump_pad(f, b))
			return false;
	return true;
}

/* Whether a branch under a predicate, not negated, leads from the end of the block to its begin. */
static bool branches_back(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	const struct ptx_instruction *branch = &f->ptx->instructions[b->first + b->count - 1];
	if (!machine_is(branch, "bra") || branch->guard < 0 || branch->guard_negated)
		return false;
	for (uint32_t e = 0; e < b->edge_count; e++) {
		const struct graph_edge *edge = &f->graph->edges[b->first_edge + e];
		if (edge->to == (int32_t)block && edge->taken)
			return true;
	}
	return false;
}

static bool has_nounroll(const struct machine_function *f, uint32_t block)
{
	for (uint32_t l = 0; l < f->ptx->label_count; l++)
		if (f->ptx->labels[l].at == f->graph->blocks[block].first && f->ptx->labels[l].nounroll)
			return true;
	return false;
}

/* add r, r, constant */
static bool grows(const struct ptx_instruction *i)
{
	const struct ptx_operand *a = machine_source(i, 0), *b = machine_source(i, 1);
	return machine_is(i, "add") && !machine_is_real(i) && a && b && a->kind == PTX_REGISTER &&
	       a->reg == machine_result(i) && b->kind == PTX_IMMEDIATE && i->guard < 0;
}

/* The comparison that the block's branch depends on, or NULL. */
static const struct ptx_instruction *comparison(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	const struct ptx_instruction *branch = b->count ? &f->ptx->instructions[b->first + b->count - 1] : NULL;
	if (!branch || !machine_is(branch, "bra") || branch->guard < 0 || f->values[branch->guard].def < 0)
		return NULL;
	const struct ptx_instruction *setp = &f->ptx->instructions[f->values[branch->guard].def];
	return machine_is(setp, "setp") && f->block_of[machine_index(f, setp)] == (int32_t)block ? setp : NULL;
}

static bool is_counted(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	const struct ptx_instruction *setp = comparison(f, block);
	uint32_t counters = 0, outside = 0;
	for (uint32_t n = 0; setp && n < 2; n++) {
		const struct ptx_operand *o = machine_source(setp, n);
		bool written = false, grown = false;
		for (uint32_t i = b->first; i < b->first + b->count && o && o->kind == PTX_REGISTER; i++)
			if (machine_result(&f->ptx->instructions[i]) == o->reg) {
				written = true;
				grown = grows(&f->ptx->instructions[i]);
			}
		counters += grown;
		outside += !written;
	}
	return counters == 1 && outside == 1;
}

static bool is_suitable(const struct machine_function *f, uint32_t block)
{
	const struct graph_block *b = &f->graph->blocks[block];
	bool loads = false;
	for (uint32_t i = b->first; i < b->first + b->count; i++) {
		const struct ptx_instruction *in = &f->ptx->instructions[i];
		if (in->class == CODE_atomic || in->flags & CODE_CALL)
			return false;
		loads |= in->class == CODE_load && (in->space == SPACE_global || in->space == SPACE_generic);
	}
	return b->edge_count == 2 && machine_block_size(f, block) <= (loads ? MOST_LOADING : MOST_SIZE);
}

bool machine_is_control(const struct machine_function *f, uint32_t block, uint32_t instruction)
{
	const struct ptx_instruction *i = &f->ptx->instructions[instruction];
	return i == comparison(f, block) || machine_is(i, "bra") || grows(i);
}

void machine_unroll_find(struct machine_function *f)
{
	for (uint32_t l = 0; l < f->graph->loop_count; l++) {
		uint32_t header = f->graph->loops[l].header;
		const struct graph_block *b = &f->graph->blocks[header];
		if (!is_alone(f, l) || has_nounroll(f, header) || !is_suitable(f, header) || !is_counted(f, header) ||
		    (f->final && !branches_back(f, header)))
			continue;
		f->flow[header].unrolled = TIMES;
		for (uint32_t n = 0; n < b->in_count; n++) {
			const struct graph_edge *e = &f->graph->edges[f->graph->in[b->first_in + n]];
			if (!e->back && !graph_in_loop(f->graph, e->from, l))
				f->flow[e->from].checks += CHECKS;
		}
	}
}
