/*
 * Which access of the PTX each access of the machine makes, without a table of lines. In such a table of ptxas 13.0, accesses to textures and surfaces
 * have the line of what comes before them, so these are looked for here in any case. The block is known by then. Among the accesses of that
 * block, and of the arms that became predicates in it, those of the same kind and size that go to the same pointers with the same offset belong
 * together. Between equals, the first of the one belongs to the first of the other.
 */
#include "analysis/assembled/infer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { POINTERS = 32, OFFSET = 2, GUARD = 4, MOST_SCORE = 127 };

struct access_finder {
	struct assembled_kernel *k;
	uint64_t *machine, *ptx; /* pointers */
	uint32_t *taken;         /* by instruction of the PTX: how many accesses of the piece that is looked at make it */
	bool *done;              /* by instruction of the machine */
	uint8_t *scores;         /* of each access of the piece with each instruction of the PTX */
};

/* Loads and stores of fragments (wmma) are several instructions on one line. */
static bool shares_line(const struct assembled_kernel *k, int32_t origin)
{
	const struct ptx_instruction *in = k->ptx->instructions;
	return origin >= 0 && (uint32_t)origin + 1 < k->ptx->instruction_count &&
	       in[origin].ptx_line == in[origin + 1].ptx_line;
}

static bool counts(const struct assembled_kernel *k, uint32_t i)
{
	bool known = k->sass->lines && k->opcodes[i].space != SPACE_texture && !shares_line(k, k->origin[i]);
	return !known && (assembled_is_access(k->opcodes[i].class) || k->opcodes[i].class == CODE_barrier);
}

static int64_t offset_of(const struct ptx_instruction *in)
{
	for (uint32_t i = 0; i < in->operand_count; i++)
		if (in->operands[i].kind == PTX_ADDRESS)
			return in->operands[i].value;
	return 0;
}

/* How well an access of the machine fits one of the PTX; 0: not at all. */
static int fits(const struct access_finder *f, uint32_t i, uint32_t p, int32_t owner)
{
	const struct assembled_kernel *k = f->k;
	int score = assembled_alike(k, i, p);
	if (!score)
		return 0;
	bool guarded = k->in[i].predicate != SASS_PT || k->in[i].negated, arm = k->block_of[p] != owner || k->ptx->instructions[p].guard >= 0;
	score += f->machine[i] && f->machine[i] == f->ptx[p] ? POINTERS : f->machine[i] & f->ptx[p] ? POINTERS / 2 : 0;
	score += offset_of(&k->ptx->instructions[p]) == k->in[i].offset ? OFFSET : 0;
	return score + (guarded == arm ? GUARD : 0);
}

static bool is_candidate(const struct assembled_kernel *k, uint32_t p, int32_t owner)
{
	int32_t b = k->block_of[p];
	return b == owner || (!k->has_code[b] && k->merged[b] == owner);
}

/* Gives those to one another that fit best, then those that fit less well. Between equals the first ones. */
static void match_piece(struct access_finder *f, const uint32_t *list, uint32_t count, int32_t owner, uint32_t times)
{
	struct assembled_kernel *k = f->k;
	uint32_t row = k->code->code_count;
	memset(f->taken, 0, row * sizeof *f->taken);
	for (uint32_t n = 0; n < count; n++) {
		k->origin[list[n]] = -1;
		for (uint32_t p = 0; p < row; p++)
			f->scores[(size_t)n * row + p] = (uint8_t)(is_candidate(k, p, owner) ? fits(f, list[n], p, owner) : 0);
	}
	for (int score = MOST_SCORE; score > 0; score--)
		for (uint32_t n = 0; n < count; n++)
			for (uint32_t p = 0; p < row && k->origin[list[n]] < 0; p++)
				if (f->scores[(size_t)n * row + p] == score && f->taken[p] < times) {
					k->origin[list[n]] = (int32_t)p;
					f->taken[p]++;
				}
}

static void match_all(struct access_finder *f, uint32_t *list)
{
	const struct assembled_kernel *k = f->k;
	for (uint32_t b = 0; b < k->block_count; b++) {
		const struct assembled_block *s = &k->blocks[b];
		uint32_t count = 0;
		if (!s->reached || s->owner < 0 || !s->times)
			continue;
		for (uint32_t other = s->copy ? b : 0; other < (s->copy ? b + 1 : k->block_count); other++) {
			const struct assembled_block *o = &k->blocks[other];
			for (uint32_t i = o->first; i < o->first + o->count && o->reached && o->owner == s->owner && o->times == s->times && o->copy == s->copy; i++)
				if (counts(k, i) && !f->done[i])
					list[count++] = i;
		}
		match_piece(f, list, count, s->owner, s->times);
		for (uint32_t n = 0; n < count; n++)
			f->done[list[n]] = true;
	}
}

/* ---- loads that were parted ---- */

static const struct ptx_operand *address_of(const struct ptx_instruction *in)
{
	for (uint32_t i = 0; i < in->operand_count; i++)
		if (in->operands[i].kind == PTX_ADDRESS)
			return &in->operands[i];
	return NULL;
}

static bool is_made(const struct assembled_kernel *k, uint32_t p)
{
	for (uint32_t i = 0; i < k->count; i++)
		if (k->origin[i] == (int32_t)p && assembled_is_access(k->opcodes[i].class))
			return true;
	return false;
}

/* The load of the same block and size that goes so many bytes beyond `p` and that nobody makes; -1: there is none. */
static int32_t load_beyond(const struct assembled_kernel *k, uint32_t p, int64_t bytes)
{
	const struct ptx_operand *from = address_of(&k->ptx->instructions[p]);
	const struct code_block *block = &k->code->blocks[k->block_of[p]];
	for (uint32_t o = block->first; o < block->first + block->count && from; o++) {
		const struct ptx_operand *to = address_of(&k->ptx->instructions[o]);
		const struct code_instruction *a = &k->code->code[p], *b = &k->code->code[o];
		bool same = to && to->reg == from->reg && (to->text == from->text || (to->text && from->text && !strcmp(to->text, from->text)));
		if (same && to->value == from->value + bytes && a->class == b->class && a->space == b->space && a->bytes == b->bytes && !is_made(k, o))
			return (int32_t)o;
	}
	return -1;
}

/* The lowest and the highest offset of a block's loads that have one line. */
static void find_range(const struct assembled_kernel *k, const struct assembled_block *s, int32_t origin, int32_t *lowest, int32_t *highest)
{
	*lowest = INT32_MAX;
	*highest = INT32_MIN;
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		if (k->origin[i] != origin || k->opcodes[i].class != CODE_load)
			continue;
		*lowest = k->in[i].offset < *lowest ? k->in[i].offset : *lowest;
		*highest = k->in[i].offset > *highest ? k->in[i].offset : *highest;
	}
}

/* Whether the PTX has all loads of a line, if the one that the line is of goes to `from`. */
static bool has_all_parts(const struct assembled_kernel *k, const struct assembled_block *s, int32_t origin, int32_t from)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (k->origin[i] == origin && k->opcodes[i].class == CODE_load && k->in[i].offset != from &&
		    load_beyond(k, (uint32_t)origin, (int64_t)k->in[i].offset - from) < 0)
			return false;
	return true;
}

/* The assembler may make one load of several of shared memory, and several of that one again. All have the line of the first of them in the PTX, which goes to the lowest
 * address or to the highest one. */
static void tell_parts_apart(struct assembled_kernel *k, const struct assembled_block *s)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		int32_t origin = k->origin[i], first, last;
		if (origin < 0 || k->moved[i] || k->opcodes[i].class != CODE_load || k->opcodes[i].space != SPACE_shared)
			continue;
		find_range(k, s, origin, &first, &last);
		first = !has_all_parts(k, s, origin, first) && has_all_parts(k, s, origin, last) ? last : first;
		int32_t found = k->in[i].offset != first ? load_beyond(k, (uint32_t)origin, (int64_t)k->in[i].offset - first) : -1;
		k->origin[i] = found >= 0 ? found : origin;
	}
}

int assembled_infer_accesses(struct assembled_kernel *k, unsigned arch, struct gs_error *why)
{
	struct access_finder f = {.k = k,
	                          .machine = calloc(k->count + 1u, sizeof *f.machine),
	                          .ptx = calloc(k->ptx->instruction_count + 1u, sizeof *f.ptx),
	                          .taken = calloc(k->code->code_count + 1u, sizeof *f.taken),
	                          .done = calloc(k->count + 1u, sizeof *f.done)};
	uint32_t accesses = 0;
	for (uint32_t b = 0; b < k->block_count && k->sass->lines; b++)
		if (k->blocks[b].reached && k->blocks[b].times == 1)
			tell_parts_apart(k, &k->blocks[b]);
	for (uint32_t i = 0; i < k->count; i++)
		accesses += counts(k, i);
	f.scores = calloc((size_t)accesses * k->code->code_count + 1u, 1);
	uint32_t *list = calloc(k->count + 1u, sizeof *list);
	bool room = f.machine && f.ptx && f.taken && f.done && f.scores && list;
	int result = room ? assembled_pointers(k, arch, f.machine, f.ptx, why) : gs_fail(why, ENOMEM, "out of memory");
	if (!result)
		match_all(&f, list);
	free(f.machine);
	free(f.ptx);
	free(f.taken);
	free(f.done);
	free(f.scores);
	free(list);
	return result;
}
