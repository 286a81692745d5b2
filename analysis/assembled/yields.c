/*
 * Loops that lanes leave for good. ptxas puts YIELD into loops that try an atomic operation again until it succeeds. Lanes that have done a YIELD are not
 * waited for: who leaves such a loop goes past its BSYNC alone, and does what follows by itself, up to where lanes need one another. So the join of such a
 * loop's exits is moved outwards. Source: an H200's counters of a hash table's insertion (docs/notes/control.md).
 */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct lane_parter {
	struct kernel_code *code;
	uint8_t *seen;   /* by block */
	uint32_t *stack; /* of blocks */
};

/* Lanes of a warp or of a block are needed together. */
static bool needs_others(const struct kernel_code *c, const struct code_instruction *in)
{
	static const char *const names[] = {"bar", "shfl", "vote", "match", "redux", "mma", "wmma", "ldmatrix", "call"};
	const char *opcode = c->strings + in->opcode;
	for (size_t i = 0; i < GS_ARRAY_LEN(names); i++)
		if (!strncmp(opcode, names[i], strlen(names[i])))
			return true;
	return in->class == CODE_barrier;
}

static bool block_needs_others(const struct kernel_code *c, uint32_t block)
{
	const struct code_block *b = &c->blocks[block];
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		if (needs_others(c, &c->code[i]))
			return true;
	return b->call != -1;
}

/* Whether lanes can go from one block to another (-1: to the end) without needing others, whichever way they take. */
static bool goes_alone(struct lane_parter *p, int32_t from, int32_t to)
{
	const struct kernel_code *c = p->code;
	uint32_t count = 0;
	memset(p->seen, 0, c->block_count);
	p->stack[count++] = (uint32_t)from;
	p->seen[from] = 1;
	while (count) {
		uint32_t block = p->stack[--count];
		if (block_needs_others(c, block))
			return false;
		for (uint32_t e = c->blocks[block].first_edge; e < c->blocks[block].first_edge + c->blocks[block].edge_count; e++) {
			int32_t next = c->edges[e].to;
			if (next >= 0 && next != to && !p->seen[next]) {
				p->seen[next] = 1;
				p->stack[count++] = (uint32_t)next;
			}
		}
	}
	return true;
}

static bool is_inside(const struct kernel_code *c, int32_t block, int32_t loop)
{
	int32_t l = block >= 0 ? c->blocks[block].loop : -1;
	while (l >= 0 && l != loop)
		l = c->loops[l].outer;
	return l == loop;
}

/* Lanes part there: some are in the loop then, others are not, since they leave it or go past it. */
static bool parts(const struct kernel_code *c, uint32_t block, int32_t loop)
{
	const struct code_block *b = &c->blocks[block];
	bool out = false, in = false;
	for (uint32_t e = b->first_edge; e < b->first_edge + b->edge_count; e++) {
		bool inside = is_inside(c, c->edges[e].to, loop);
		out |= !inside;
		in |= inside;
	}
	return out && in;
}

static void part_lanes(struct lane_parter *p, int32_t loop)
{
	struct kernel_code *c = p->code;
	for (uint32_t b = 0; b < c->block_count; b++) {
		int32_t join = c->blocks[b].join;
		if (!parts(c, b, loop) || is_inside(c, join, loop))
			continue;
		while (join >= 0 && goes_alone(p, join, c->blocks[join].join))
			join = c->blocks[join].join;
		c->blocks[b].join = join;
	}
}

static bool has_atomic(const struct kernel_code *c, int32_t loop)
{
	for (uint32_t b = 0; b < c->block_count; b++)
		for (uint32_t i = c->blocks[b].first; i < c->blocks[b].first + c->blocks[b].count && is_inside(c, (int32_t)b, loop); i++)
			if (c->code[i].class == CODE_atomic)
				return true;
	return false;
}

int assembled_yields(const struct assembled_kernel *k, struct kernel_code *code)
{
	struct lane_parter p = {.code = code, .seen = calloc(code->block_count + 1u, 1), .stack = calloc(code->block_count + 1u, sizeof *p.stack)};
	int rc = p.seen && p.stack ? 0 : -ENOMEM;
	for (uint32_t b = 0; b < k->block_count && !rc; b++) {
		const struct assembled_block *s = &k->blocks[b];
		int32_t loop = s->reached && s->owner >= 0 ? code->blocks[s->owner].loop : -1;
		bool yields = false;
		for (uint32_t i = s->first; i < s->first + s->count && loop >= 0; i++)
			yields |= k->in[i].name && !strcmp(k->in[i].name, "YIELD");
		if (yields && has_atomic(code, loop))
			part_lanes(&p, loop);
	}
	free(p.seen);
	free(p.stack);
	return rc;
}
