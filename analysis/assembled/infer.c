/*
 * Where instructions of the machine come from, without a table of lines.
 *
 * Both texts are written down in the order in which they are executed, and aligned: accesses to memory, barriers and the like stay in their loops
 * and mostly in their order. Which of two arms an assembler puts first is not known, so each order is tried that makes the two more alike.
 */
#include "analysis/assembled/infer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define MOST_CELLS (UINT64_C(1) << 24) /* of the table of an alignment */
#define MOST_TRIED (UINT64_C(1) << 28) /* cells of all alignments that are tried */

static int make_aligned(struct aligned *a, uint32_t room)
{
	a->of = calloc(room + 1u, sizeof *a->of);
	a->depths = calloc(room + 1u, sizeof *a->depths);
	return a->of && a->depths ? 0 : -ENOMEM;
}

static int make_flows(struct inference *f)
{
	const struct assembled_kernel *k = f->k;
	const struct kernel_code *c = k->code;
	uint32_t edges = 0;
	int result = flow_graph_make(&f->machine_flow, k->block_count, 2 * k->block_count);
	if (!result)
		result = flow_graph_make(&f->ptx_flow, c->block_count, c->edge_count);
	for (uint32_t b = 0; b < k->block_count && !result; b++) {
		const struct assembled_block *s = &k->blocks[b];
		f->machine_flow.depths[b] = s->depth;
		for (int n = 1; n >= 0; n--)
			if (s->next[n] >= 0)
				f->machine_flow.to[edges++] = (uint32_t)s->next[n];
		f->machine_flow.first[b + 1] = edges;
	}
	edges = 0;
	for (uint32_t b = 0; b < c->block_count && !result; b++) {
		f->ptx_flow.depths[b] = assembled_depth(c, b);
		for (uint32_t e = 0; e < c->blocks[b].edge_count; e++)
			if (c->edges[c->blocks[b].first_edge + e].to >= 0)
				f->ptx_flow.to[edges++] = (uint32_t)c->edges[c->blocks[b].first_edge + e].to;
		f->ptx_flow.first[b + 1] = edges;
	}
	return result ? result : flow_graph_order(&f->machine_flow);
}

static void write_machine(struct inference *f)
{
	const struct assembled_kernel *k = f->k;
	struct aligned *a = &f->machine;
	for (uint32_t n = 0; n < f->machine_flow.ordered; n++) {
		const struct assembled_block *s = &k->blocks[f->machine_flow.order[n]];
		for (uint32_t i = 0; i < s->count && s->reached && !f->machine_done[s - k->blocks]; i++) {
			a->of[a->count] = s->first + i;
			a->depths[a->count++] = s->depth;
		}
	}
}

static int write_ptx(struct inference *f)
{
	const struct kernel_code *c = f->k->code;
	struct aligned *a = &f->ptx;
	int result = flow_graph_order(&f->ptx_flow);
	a->count = 0;
	for (uint32_t n = 0; n < f->ptx_flow.ordered && !result; n++) {
		uint32_t b = f->ptx_flow.order[n];
		for (uint32_t i = 0; i < c->blocks[b].count && !f->ptx_done[b]; i++) {
			a->of[a->count] = c->blocks[b].first + i;
			a->depths[a->count++] = f->ptx_flow.depths[b];
		}
	}
	return result;
}

static int align(struct inference *f, int32_t *origins)
{
	int result = write_ptx(f);
	return result ? result : assembled_align(f->alike, f->k->code->code_count, &f->machine, &f->ptx, origins);
}

/* Whether two ways out of a block of the PTX lead to as many loops. */
static bool may_flip(const struct flow_graph *g, uint32_t b)
{
	const uint32_t *to = g->to + g->first[b];
	return g->first[b + 1] - g->first[b] == 2 && g->depths[to[0]] == g->depths[to[1]];
}

static int choose_order(struct inference *f)
{
	struct flow_graph *g = &f->ptx_flow;
	uint64_t cells = (uint64_t)f->machine.count * f->k->code->code_count, tried = cells;
	int best = align(f, NULL);
	bool better = true;
	while (better && best >= 0) {
		better = false;
		for (uint32_t b = 0; b < g->count && tried < MOST_TRIED && best >= 0; b++) {
			if (!may_flip(g, b))
				continue;
			g->flipped[b] = !g->flipped[b];
			int now = align(f, NULL);
			tried += cells;
			better |= now > best;
			if (now <= best && now >= 0)
				g->flipped[b] = !g->flipped[b];
			else
				best = now;
		}
	}
	return best < 0 ? best : align(f, f->k->origin);
}

static int infer(struct inference *f)
{
	struct assembled_kernel *k = f->k;
	uint32_t row = k->code->code_count;
	int result = make_flows(f);
	if (!result)
		result = make_aligned(&f->machine, k->count);
	if (!result)
		result = make_aligned(&f->ptx, row);
	f->alike = calloc((size_t)k->count * row + 1u, 1);
	f->machine_done = calloc(k->block_count + 1u, sizeof *f->machine_done);
	f->ptx_done = calloc(k->code->block_count + 1u, sizeof *f->ptx_done);
	if (result || !f->alike || !f->machine_done || !f->ptx_done)
		return -ENOMEM;
	for (uint32_t i = 0; i < k->count; i++)
		for (uint32_t p = 0; p < row; p++)
			f->alike[(size_t)i * row + p] = (uint8_t)assembled_alike(k, i, p);
	result = assembled_find_pieces(f);
	write_machine(f);
	return result ? result : choose_order(f);
}

int assembled_infer(struct assembled_kernel *k, struct gs_error *why)
{
	struct inference f = {.k = k};
	for (uint32_t i = 0; i < k->count; i++)
		if (k->in[i].flow == SASS_JUMPS)
			return gs_fail(why, ENOTSUP, "the machine code has no table of lines, which would say where its table of jumps leads");
	if ((uint64_t)k->count * k->code->code_count > MOST_CELLS)
		return gs_fail(why, ENOTSUP, "the kernel is too large to be mapped without a table of lines");
	int result = infer(&f);
	flow_graph_free(&f.machine_flow);
	flow_graph_free(&f.ptx_flow);
	free(f.machine.of);
	free(f.machine.depths);
	free(f.ptx.of);
	free(f.ptx.depths);
	free(f.alike);
	free(f.machine_done);
	free(f.ptx_done);
	return result < 0 ? gs_fail(why, ENOMEM, "out of memory") : 0;
}
