/*
 * Liveness of registers: backwards data flow on bitsets. It visits the blocks in postorder until nothing changes.
 *
 *   out(b) = union of in(s) over the successors s of b;  in(b) = reads before any write (b) + (out(b) - writes (b))
 *
 * A write under a guard may not happen, so the old value stays live before it.
 */
#include "analysis/graph/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static void set_add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

static void set_remove(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* Goes back over one instruction: from the registers that are live after it to those that are live before it. */
static void step_back(const struct ptx_instruction *i, const struct ptx_uses *u, uint64_t *set)
{
	for (uint32_t k = 0; k < u->writes && i->guard < 0; k++)
		set_remove(set, u->list[k]);
	for (uint32_t k = u->writes; k < (uint32_t)u->writes + u->reads + u->waits; k++)
		set_add(set, u->list[k]);
}

/* Finds the registers that a block reads before it writes them, and the registers that it certainly writes. */
static void find_effects(const struct graph *g, uint32_t block, uint64_t *reads, uint64_t *writes)
{
	const struct graph_block *b = &g->blocks[block];
	struct ptx_uses uses;
	for (uint32_t i = b->first + b->count; i-- > b->first;) {
		const struct ptx_instruction *instruction = &g->function->instructions[i];
		ptx_uses(instruction, &uses);
		for (uint32_t k = 0; k < uses.writes && instruction->guard < 0; k++)
			set_add(writes, uses.list[k]);
		step_back(instruction, &uses, reads);
	}
}

static bool update_block(const struct graph *g, struct liveness *l, uint32_t block, const uint64_t *reads,
                         const uint64_t *writes)
{
	const struct graph_block *b = &g->blocks[block];
	uint64_t *in = l->in + (size_t)block * l->words, *out = l->out + (size_t)block * l->words;
	bool changed = false;
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++)
		for (uint32_t w = 0; g->edges[e].to >= 0 && w < l->words; w++)
			out[w] |= l->in[(size_t)g->edges[e].to * l->words + w];
	for (uint32_t w = 0; w < l->words; w++) {
		uint64_t live = reads[w] | (out[w] & ~writes[w]);
		changed |= live != in[w];
		in[w] = live;
	}
	return changed;
}

static int flow_back(const struct graph *g, struct liveness *l)
{
	size_t size = (size_t)g->block_count * l->words;
	uint64_t *reads = calloc(size + 1, sizeof *reads), *writes = calloc(size + 1, sizeof *writes);
	bool changed = reads && writes;
	int result = changed ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < g->order_count && !result; i++)
		find_effects(g, g->order[i], reads + (size_t)g->order[i] * l->words,
			     writes + (size_t)g->order[i] * l->words);
	while (changed) {
		changed = false;
		for (uint32_t i = g->order_count; i-- > 0;) {
			size_t at = (size_t)g->order[i] * l->words;
			changed |= update_block(g, l, g->order[i], reads + at, writes + at);
		}
	}
	free(reads);
	free(writes);
	return result;
}

int pressure_create(struct pressure *p, const struct ptx_function *function)
{
	*p = (struct pressure){.function = function,
	                       .weights = calloc((size_t)function->register_count + 1, sizeof *p->weights),
	                       .set = calloc(function->register_count / 64 + 1, sizeof *p->set)};
	if (!p->weights || !p->set) {
		pressure_free(p);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < function->register_count; i++)
		p->weights[i] =
		    function->registers[i].bits == 1 ? 0 : (uint8_t)((function->registers[i].bits + 31) / 32);
	return 0;
}

void pressure_free(struct pressure *p)
{
	free(p->weights);
	free(p->set);
	p->weights = NULL;
	p->set = NULL;
}

static void pressure_mark(struct pressure *p, uint32_t reg, bool live)
{
	bool was = p->set[reg / 64] >> reg % 64 & 1;
	if (was == live)
		return;
	p->set[reg / 64] ^= UINT64_C(1) << reg % 64;
	int32_t twin = p->twins ? p->twins[reg] : -1;
	if (twin >= 0 && p->set[twin / 64] >> twin % 64 & 1)
		return;
	uint32_t sign = live ? 1 : -1u; /* arithmetic modulo 2^32; the sums never become negative */
	p->words += sign * p->weights[reg];
	p->predicates += sign * (p->function->registers[reg].bits == 1);
}

void pressure_end_of(struct pressure *p, const struct liveness *l, uint32_t block)
{
	const uint64_t *out = l->out + (size_t)block * l->words;
	memset(p->set, 0, l->words * sizeof *p->set);
	p->words = p->predicates = 0;
	for (uint32_t w = 0; w < l->words; w++)
		for (uint64_t bits = out[w]; bits; bits &= bits - 1)
			pressure_mark(p, w * 64 + (uint32_t)__builtin_ctzll(bits), true);
}

void pressure_behind(struct pressure *p, uint32_t instruction)
{
	struct ptx_uses u;
	ptx_uses(&p->function->instructions[instruction], &u);
	for (uint32_t k = 0; k < u.writes; k++)
		pressure_mark(p, u.list[k], true);
}

void pressure_across(struct pressure *p, uint32_t instruction)
{
	struct ptx_uses u;
	ptx_uses(&p->function->instructions[instruction], &u);
	for (uint32_t k = 0; k < (uint32_t)u.writes + u.reads + u.waits; k++)
		pressure_mark(p, u.list[k], true);
}

void pressure_before(struct pressure *p, uint32_t instruction)
{
	struct ptx_uses u;
	ptx_uses(&p->function->instructions[instruction], &u);
	for (uint32_t k = 0; k < u.writes && p->function->instructions[instruction].guard < 0; k++)
		pressure_mark(p, u.list[k], false);
	for (uint32_t k = u.writes; k < (uint32_t)u.writes + u.reads + u.waits; k++)
		pressure_mark(p, u.list[k], true);
}

static void note_most(struct liveness *l, const struct pressure *p, uint32_t instruction)
{
	if (p->words > l->most) {
		l->most = p->words;
		l->most_at = instruction;
	}
	if (p->predicates > l->most_predicates)
		l->most_predicates = p->predicates;
}

static void measure_block(const struct graph *g, struct liveness *l, uint32_t block, struct pressure *p)
{
	const struct graph_block *b = &g->blocks[block];
	pressure_end_of(p, l, block);
	for (uint32_t i = b->first + b->count; i-- > b->first;) {
		pressure_behind(p, i);
		note_most(l, p, i);
		pressure_before(p, i);
		note_most(l, p, i);
	}
}

int graph_liveness(const struct graph *g, struct liveness *out, struct gs_error *err)
{
	*out = (struct liveness){.words = (g->function->register_count + 63) / 64};
	size_t size = (size_t)g->block_count * out->words + 1;
	struct pressure p;
	out->in = calloc(size, sizeof *out->in);
	out->out = calloc(size, sizeof *out->out);
	int result = pressure_create(&p, g->function);
	if (!result)
		result = out->in && out->out ? flow_back(g, out) : -ENOMEM;
	for (uint32_t i = 0; i < g->order_count && !result; i++)
		measure_block(g, out, g->order[i], &p);
	pressure_free(&p);
	if (!result)
		return 0;
	liveness_free(out);
	return gs_fail(err, ENOMEM, "out of memory");
}

void liveness_free(struct liveness *l)
{
	free(l->in);
	free(l->out);
	l->in = l->out = NULL;
}
