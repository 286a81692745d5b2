/*
 * Liveness of registers: backwards data flow over bitsets, blocks in postorder until nothing changes.
 *
 *   out(b) = union of in(s) over what follows b;  in(b) = reads before any write (b) + (out(b) - writes (b))
 * A write under a guard may not happen, so it ends nothing.
 */
#include "analysis/graph_internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Stands in until the reader of PTX, whose function it is, comes along. */
__attribute__((weak)) void ptx_uses(const struct ptx_instruction *instruction, struct ptx_uses *out)
{
	uint32_t n = 0;
	*out = (struct ptx_uses){0};
	for (uint32_t i = 0; i < instruction->operand_count; i++)
		if (instruction->operands[i].write)
			out->list[n++] = (uint16_t)instruction->operands[i].reg, out->writes++;
	for (uint32_t i = 0; i < instruction->operand_count; i++)
		if (!instruction->operands[i].write && instruction->operands[i].reg >= 0)
			out->list[n++] = (uint16_t)instruction->operands[i].reg, out->reads++;
	if (instruction->guard >= 0)
		out->list[n++] = (uint16_t)instruction->guard, out->waits++;
}

static void set_add(uint64_t *set, uint32_t i)
{
	set[i / 64] |= UINT64_C(1) << i % 64;
}

static void set_remove(uint64_t *set, uint32_t i)
{
	set[i / 64] &= ~(UINT64_C(1) << i % 64);
}

/* One instruction backwards: from what is live behind it to what is live before it. */
static void step_back(const struct ptx_instruction *i, const struct ptx_uses *u, uint64_t *set)
{
	for (uint32_t k = 0; k < u->writes && i->guard < 0; k++)
		set_remove(set, u->list[k]);
	for (uint32_t k = u->writes; k < (uint32_t)u->writes + u->reads + u->waits; k++)
		set_add(set, u->list[k]);
}

/* What a block reads before it writes, and what it writes for certain. */
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
		find_effects(g, g->order[i], reads + (size_t)g->order[i] * l->words, writes + (size_t)g->order[i] * l->words);
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

static uint32_t register_words(const struct ptx_register *r)
{
	return r->bits == 1 ? 0 : (r->bits + 31u) / 32;
}

/* What is live at one point, counted as it changes. */
struct pressure {
	const struct ptx_register *registers;
	uint64_t *set;
	uint32_t words, predicates;
};

static void pressure_add(struct pressure *p, uint32_t reg, bool live)
{
	bool was = p->set[reg / 64] >> reg % 64 & 1;
	if (was == live)
		return;
	p->set[reg / 64] ^= UINT64_C(1) << reg % 64;
	uint32_t change = live ? 1 : -1u; /* modulo 2^32: never below 0 in the end */
	p->words += change * register_words(&p->registers[reg]);
	p->predicates += change * (p->registers[reg].bits == 1);
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

/* Behind an instruction its results are there even if nobody wants them. */
static void measure_block(const struct graph *g, struct liveness *l, uint32_t block, struct pressure *p)
{
	const struct graph_block *b = &g->blocks[block];
	const uint64_t *out = l->out + (size_t)block * l->words;
	struct ptx_uses u;
	memset(p->set, 0, l->words * sizeof *p->set);
	p->words = p->predicates = 0;
	for (uint32_t w = 0; w < l->words; w++)
		for (uint64_t bits = out[w]; bits; bits &= bits - 1)
			pressure_add(p, w * 64 + (uint32_t)__builtin_ctzll(bits), true);
	for (uint32_t i = b->first + b->count; i-- > b->first;) {
		const struct ptx_instruction *instruction = &g->function->instructions[i];
		ptx_uses(instruction, &u);
		for (uint32_t k = 0; k < u.writes; k++)
			pressure_add(p, u.list[k], true);
		note_most(l, p, i);
		for (uint32_t k = 0; k < u.writes && instruction->guard < 0; k++)
			pressure_add(p, u.list[k], false);
		for (uint32_t k = u.writes; k < (uint32_t)u.writes + u.reads + u.waits; k++)
			pressure_add(p, u.list[k], true);
		note_most(l, p, i);
	}
}

int graph_liveness(const struct graph *g, struct liveness *out, struct gs_error *err)
{
	*out = (struct liveness){.words = (g->function->register_count + 63) / 64};
	size_t size = (size_t)g->block_count * out->words + 1;
	struct pressure p = {.registers = g->function->registers, .set = calloc(out->words + 1, sizeof *p.set)};
	out->in = calloc(size, sizeof *out->in);
	out->out = calloc(size, sizeof *out->out);
	int result = p.set && out->in && out->out ? flow_back(g, out) : -ENOMEM;
	for (uint32_t i = 0; i < g->order_count && !result; i++)
		measure_block(g, out, g->order[i], &p);
	free(p.set);
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
