/*
 * Loops that the assembler has unrolled, without a table of lines. ptxas makes a loop with four copies of the body, then two copies, then one
 * (copies.c). A block that leads to itself may be the first of these pieces: it has four times the accesses of a loop of the PTX, or, if that has
 * none, four times its arithmetic of real numbers, and blocks with two times and one time as many follow it. Small blocks between the pieces, and
 * those that lead only there, choose between them.
 */
#include "analysis/assembled/infer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { COPIES = 4, PIECES = 3, MOST_BETWEEN = 8, MOST_BEFORE = 4, LEAST_ALIKE = 6 };
/* What is counted. Loads of shared memory are not: they become wider. */
enum { STORES_SHARED, BARRIERS, ATOMICS, LOADS, STORES = LOADS + 5, REALS = STORES + 5, DOUBLES, SPECIALS, KINDS };

struct kinds {
	uint32_t of[KINDS];
};

static uint32_t size_of(uint8_t bytes)
{
	return bytes >= 16 ? 4 : bytes >= 8 ? 3 : bytes >= 4 ? 2 : bytes >= 2 ? 1 : 0;
}

static void count_kind(struct kinds *k, uint8_t class, uint8_t space, uint8_t bytes)
{
	bool near = space == SPACE_shared || space == SPACE_local || space == SPACE_param || space == SPACE_const;
	k->of[STORES_SHARED] += class == CODE_store && space == SPACE_shared;
	k->of[BARRIERS] += class == CODE_barrier;
	k->of[ATOMICS] += class == CODE_atomic;
	k->of[LOADS + size_of(bytes)] += class == CODE_load && !near;
	k->of[STORES + size_of(bytes)] += class == CODE_store && !near;
	k->of[REALS] += class == CODE_fp32 || class == CODE_fp32_fma;
	k->of[DOUBLES] += class == CODE_fp64 || class == CODE_fp64_fma;
	k->of[SPECIALS] += class == CODE_sfu;
}

static struct kinds kinds_of_block(const struct assembled_kernel *k, uint32_t block)
{
	const struct assembled_block *s = &k->blocks[block];
	struct kinds kinds = {{0}};
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		count_kind(&kinds, k->opcodes[i].class, k->opcodes[i].space, k->in[i].bytes);
	return kinds;
}

static struct kinds kinds_of_loop(const struct kernel_code *c, uint32_t loop)
{
	struct kinds kinds = {{0}};
	for (uint32_t b = 0; b < c->block_count; b++)
		for (uint32_t i = 0; i < c->blocks[b].count && c->blocks[b].loop == (int32_t)loop; i++) {
			const struct code_instruction *in = &c->code[c->blocks[b].first + i];
			count_kind(&kinds, in->class, in->space, in->bytes);
		}
	return kinds;
}

static bool is_multiple(const struct kinds *block, const struct kinds *loop, uint32_t times)
{
	uint32_t accesses = 0, first, end;
	for (uint32_t i = 0; i < REALS; i++)
		accesses += loop->of[i];
	first = accesses ? 0 : REALS;
	end = accesses ? REALS : KINDS;
	for (uint32_t i = first; i < end; i++) {
		accesses += loop->of[i];
		if (block->of[i] != times * loop->of[i])
			return false;
	}
	return accesses;
}

/* ---- pieces ---- */

static bool leads_to_itself(const struct assembled_block *s, uint32_t block)
{
	return s->next[0] == (int32_t)block || s->next[1] == (int32_t)block;
}

/* Finds the three pieces of a loop. They follow one another. */
static bool find_pieces(const struct inference *f, uint32_t loop, uint32_t *pieces)
{
	const struct assembled_kernel *k = f->k;
	struct kinds body = kinds_of_loop(k->code, loop);
	uint32_t depth = assembled_depth(k->code, k->code->loops[loop].header), found = 0;
	for (uint32_t b = 0; b < k->block_count && found < PIECES; b++) {
		const struct assembled_block *s = &k->blocks[b];
		if (!s->reached || f->machine_done[b] || s->depth > depth || s->depth + 1 < depth)
			continue;
		struct kinds kinds = kinds_of_block(k, b);
		if ((found || (s->depth == depth && leads_to_itself(s, b))) && is_multiple(&kinds, &body, COPIES >> found))
			pieces[found++] = b;
	}
	return found == PIECES;
}

static bool is_innermost(const struct kernel_code *c, uint32_t loop)
{
	for (uint32_t l = 0; l < c->loop_count; l++)
		if (c->loops[l].outer == (int32_t)loop)
			return false;
	return true;
}

/* ---- origins ---- */

/* The last instruction of a loop's first block: what nothing else is known of comes from there. */
static uint32_t end_of(const struct kernel_code *c, uint32_t loop)
{
	const struct code_block *header = &c->blocks[c->loops[loop].header];
	return header->first + header->count - 1;
}

/* Instructions of the loop that look like this one of the machine take turns. -1: none is left. */
static int32_t next_in_turn(const struct inference *f, uint32_t loop, uint32_t i, const uint32_t *taken, uint32_t times)
{
	const struct kernel_code *c = f->k->code;
	int32_t best = -1;
	for (uint32_t b = 0; b < c->block_count; b++)
		for (uint32_t p = c->blocks[b].first; p < c->blocks[b].first + c->blocks[b].count && c->blocks[b].loop == (int32_t)loop; p++)
			if (f->alike[(size_t)i * c->code_count + p] >= LEAST_ALIKE && taken[p] < times && (best < 0 || taken[p] < taken[best]))
				best = (int32_t)p;
	return best;
}

static int take_piece(struct inference *f, uint32_t loop, uint32_t block, uint32_t times)
{
	struct assembled_kernel *k = f->k;
	const struct assembled_block *s = &k->blocks[block];
	uint32_t *taken = calloc(k->code->code_count + 1u, sizeof *taken);
	for (uint32_t i = s->first; i < s->first + s->count && taken; i++) {
		int32_t from = next_in_turn(f, loop, i, taken, times);
		k->origin[i] = from >= 0 ? from : (int32_t)end_of(k->code, loop);
		if (from >= 0)
			taken[from]++;
	}
	f->machine_done[block] = true;
	free(taken);
	return taken ? 0 : -ENOMEM;
}

/* ---- what chooses ---- */

/* Marks blocks that are reached from a block without going through a place before it. */
static void mark_after(const struct assembled_kernel *k, uint32_t from, bool *after)
{
	after[from] = true;
	for (uint32_t b = from; b < k->block_count; b++)
		for (int n = 0; n < 2 && after[b] && k->blocks[b].reached; n++)
			if (k->blocks[b].next[n] > (int32_t)b)
				after[k->blocks[b].next[n]] = true;
}

static bool is_small(const struct assembled_kernel *k, uint32_t block, uint32_t most)
{
	struct kinds kinds = kinds_of_block(k, block);
	uint32_t all = 0;
	for (uint32_t i = 0; i < REALS; i++)
		all += kinds.of[i];
	return !all && k->blocks[block].count <= most;
}

/* Whether it leads to chosen ones, and to nothing else. */
static bool leads_only_to(const struct assembled_kernel *k, uint32_t block, const bool *chosen)
{
	bool any = false;
	for (int n = 0; n < 2; n++) {
		int32_t next = k->blocks[block].next[n];
		if (next >= 0 && !chosen[next])
			return false;
		any |= next >= 0;
	}
	return any;
}

static void find_choosing(struct inference *f, uint32_t loop, const uint32_t *pieces, bool *chosen, bool *after)
{
	struct assembled_kernel *k = f->k;
	mark_after(k, pieces[0], after);
	for (uint32_t n = 0; n < PIECES; n++)
		chosen[pieces[n]] = true;
	for (uint32_t b = pieces[PIECES - 1]; b-- > 0;) {
		if (chosen[b] || !k->blocks[b].reached || f->machine_done[b] || !is_small(k, b, after[b] ? MOST_BETWEEN : MOST_BEFORE))
			continue;
		bool leads = k->blocks[b].next[0] >= 0 && chosen[k->blocks[b].next[0]];
		leads |= k->blocks[b].next[1] >= 0 && chosen[k->blocks[b].next[1]];
		chosen[b] = after[b] ? leads : leads_only_to(k, b, chosen);
		for (uint32_t i = 0; i < k->blocks[b].count && chosen[b]; i++)
			k->origin[k->blocks[b].first + i] = (int32_t)end_of(k->code, loop);
	}
	for (uint32_t b = 0; b < k->block_count; b++)
		f->machine_done[b] |= chosen[b];
}

int assembled_find_pieces(struct inference *f)
{
	const struct kernel_code *c = f->k->code;
	uint32_t pieces[PIECES];
	bool *marks = calloc(2u * f->k->block_count + 1u, sizeof *marks);
	int result = marks ? 0 : -ENOMEM;
	for (uint32_t loop = 0; loop < c->loop_count && !result; loop++) {
		if (!is_innermost(c, loop) || !find_pieces(f, loop, pieces))
			continue;
		for (uint32_t n = 0; n < PIECES && !result; n++)
			result = take_piece(f, loop, pieces[n], COPIES >> n);
		memset(marks, 0, 2u * f->k->block_count * sizeof *marks);
		find_choosing(f, loop, pieces, marks, marks + f->k->block_count);
		for (uint32_t b = 0; b < c->block_count; b++)
			f->ptx_done[b] |= c->blocks[b].loop == (int32_t)loop;
	}
	free(marks);
	return result;
}
