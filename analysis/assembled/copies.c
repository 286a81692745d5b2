/*
 * Loops that the assembler has unrolled, and blocks that it has copied; see assembled.h.
 *
 * ptxas makes three pieces of a loop: a loop with four copies of the body, then two copies, then one. By the table of lines, all of them come from the
 * same instructions of the PTX. How often a piece has an instruction that is one of the machine's as well (an access, a product) is how many
 * executions it stands for. The pieces differ in nothing else, so a warp that goes round n times executes n / 4 of the first, and of the others as many as
 * are left. Between the pieces are few instructions of the loop, which choose. Of a short body there may be, in place of the shorter pieces, one block behind the
 * loop that has them under predicates (CODE_REST). Where the number of rounds is known, there may be nothing left: then the longest piece is the only one.
 */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct copy_finder {
	struct assembled_kernel *k;
	uint32_t *count;   /* by instruction of the PTX: those of a block of the machine code that come from it */
	uint32_t *one;     /* the same, of those that are one for one */
	uint32_t *least;   /* by instruction of the PTX: the least that a piece has of it; 0: no piece has any */
	uint32_t *ratios;  /* by number of copies: how many instructions say so */
	uint32_t classes[CODE_CLASS_COUNT]; /* those of the class that are one for one */
	bool *touched; /* by block of the PTX: the block of the machine code has some of it */
	/* By block of the machine code: instructions of the PTX's loop that it has some of; of these, those that are one for one; those of its own that come from there. */
	uint32_t *distinct, *distinct_ones, *inside;
};

enum { MOST_COPIES = 64 };

static bool is_one_for_one(uint8_t class)
{
	return assembled_is_access(class) || class == CODE_fp32 || class == CODE_fp32_fma || class == CODE_fp64 || class == CODE_fp64_fma || class == CODE_sfu;
}

static bool is_in(const struct assembled_kernel *k, int32_t origin, uint32_t loop)
{
	return origin >= 0 && k->code->blocks[k->block_of[origin]].loop == (int32_t)loop;
}

/* An instruction of a block that is one of the PTX's as well. Returns how many copies it says that there are. */
static uint32_t count_one(struct copy_finder *f, int32_t origin, uint8_t class)
{
	uint32_t of = ++f->one[origin];
	if (assembled_is_access(class))
		return of;
	f->classes[class]++;
	return 0;
}

/* Tables of lines give a product of one copy to another copy's, so that one instruction may seem to have a copy more. All of a class together say how many
 * there are. */
static uint32_t most_of_classes(const struct copy_finder *f, uint32_t loop, uint32_t most)
{
	const struct assembled_kernel *k = f->k;
	uint32_t there[CODE_CLASS_COUNT] = {0};
	for (uint32_t o = 0; o < k->code->code_count; o++)
		there[k->code->code[o].class] += is_in(k, (int32_t)o, loop) && f->touched[k->block_of[o]];
	for (uint32_t class = 0; class < CODE_CLASS_COUNT; class++) {
		uint32_t mean = there[class] ? (2 * f->classes[class] + there[class]) / (2 * there[class]) : 0;
		most = mean > most ? mean : most;
	}
	return most;
}

static void clear_counts(struct copy_finder *f, uint32_t block)
{
	memset(f->count, 0, f->k->code->code_count * sizeof *f->count);
	memset(f->one, 0, f->k->code->code_count * sizeof *f->one);
	memset(f->touched, 0, f->k->code->block_count * sizeof *f->touched);
	memset(f->classes, 0, sizeof f->classes);
	f->distinct[block] = f->distinct_ones[block] = f->inside[block] = 0;
}

/* Counts what a block has of a loop. Returns the most copies of an instruction that is one for one. */
static uint32_t count_block(struct copy_finder *f, uint32_t block, uint32_t loop)
{
	const struct assembled_kernel *k = f->k;
	const struct assembled_block *s = &k->blocks[block];
	uint32_t most = 0;
	clear_counts(f, block);
	for (uint32_t i = s->first; i < s->first + s->count && s->reached; i++) {
		int32_t origin = k->origin[i];
		if (!is_in(k, origin, loop))
			continue;
		f->inside[block]++;
		f->touched[k->block_of[origin]] = true;
		f->distinct[block] += !f->count[origin]++;
		uint8_t class = assembled_class(k, i).class;
		bool one = is_one_for_one(class) && class == k->code->code[origin].class;
		f->distinct_ones[block] += one && !f->one[origin];
		uint32_t says = one ? count_one(f, origin, class) : 0;
		most = says > most ? says : most;
	}
	return most_of_classes(f, loop, most);
}

/* Without instructions that are one for one: how many copies most instructions say, where the piece with the least of each has one. */
static uint32_t count_by_ratio(struct copy_finder *f)
{
	uint32_t best = 1;
	memset(f->ratios, 0, (MOST_COPIES + 1) * sizeof *f->ratios);
	for (uint32_t o = 0; o < f->k->code->code_count; o++)
		if (f->count[o] && f->least[o] && f->count[o] / f->least[o] <= MOST_COPIES)
			f->ratios[f->count[o] / f->least[o]]++;
	for (uint32_t n = 2; n <= MOST_COPIES; n++)
		best = f->ratios[n] >= f->ratios[best] && f->ratios[n] ? n : best;
	return best;
}

static void find_least(struct copy_finder *f, uint32_t loop, uint32_t most)
{
	const struct assembled_kernel *k = f->k;
	memset(f->least, 0, k->code->code_count * sizeof *f->least);
	for (uint32_t b = 0; b < k->block_count; b++) {
		count_block(f, b, loop);
		for (uint32_t o = 0; o < k->code->code_count && f->distinct[b] * 2 > most; o++)
			if (f->count[o] && (!f->least[o] || f->count[o] < f->least[o]))
				f->least[o] = f->count[o];
	}
}

/* The copies in each block of the machine code, 0: it is no piece of this loop. */
static void count_copies(struct copy_finder *f, uint32_t loop, uint32_t *copies)
{
	const struct assembled_kernel *k = f->k;
	uint32_t most = 0, ones = 0, most_ones = 0;
	for (uint32_t b = 0; b < k->block_count; b++) {
		copies[b] = count_block(f, b, loop);
		ones += copies[b];
		most_ones = f->distinct_ones[b] > most_ones ? f->distinct_ones[b] : most_ones;
		most = f->distinct[b] > most ? f->distinct[b] : most;
	}
	if (!ones)
		find_least(f, loop, most);
	for (uint32_t b = 0; b < k->block_count; b++) {
		if (!ones) {
			count_block(f, b, loop);
			copies[b] = count_by_ratio(f);
		}
		/* The last round may have nothing but what is one for one: nobody needs its counters and addresses. */
		bool has_ones = most_ones && f->distinct_ones[b] * 2 >= most_ones;
		if ((f->distinct[b] * 2 < most + !ones && !has_ones) || !f->distinct[b])
			copies[b] = 0;
	}
}

/* One block for each number of copies: the deepest, which is the loop. */
static void keep_one(struct assembled_kernel *k, int32_t owner)
{
	for (uint32_t b = 0; b < k->block_count; b++)
		for (uint32_t other = 0; other < k->block_count && k->blocks[b].reached && k->blocks[b].owner == owner && k->blocks[b].times; other++) {
			struct assembled_block *s = &k->blocks[b], *o = &k->blocks[other];
			if (other != b && o->reached && o->owner == owner && o->times == s->times && !o->copy && (o->depth > s->depth || (o->depth == s->depth && other < b)))
				s->copy = true;
		}
}

static bool is_innermost(const struct kernel_code *c, uint32_t loop)
{
	for (uint32_t l = 0; l < c->loop_count; l++)
		if (c->loops[l].outer == (int32_t)loop)
			return false;
	return true;
}

static bool has_accesses(const struct assembled_kernel *k, const struct assembled_block *s)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (assembled_is_access(assembled_class(k, i).class) || assembled_class(k, i).class == CODE_barrier)
			return true;
	return false;
}

/* A block that begins with BSYNC and ends with BRA.DIV, say, and has nothing but the line of what comes before it. */
static bool only_joins(const struct assembled_kernel *k, const struct assembled_block *s)
{
	const char *name = k->in[s->first].name;
	bool joins = name && !strcmp(name, "BSYNC");
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		joins &= k->origin[i] == k->origin[s->first];
	return joins;
}

/* Few instructions of the loop, outside it: they choose between the pieces. */
static bool chooses(const struct copy_finder *f, uint32_t block, uint32_t depth)
{
	const struct assembled_block *s = &f->k->blocks[block];
	if (s->depth >= depth || f->inside[block] * 2 < s->count || only_joins(f->k, s))
		return false;
	return s->owner < 0 || (f->inside[block] * 2 > s->count && !has_accesses(f->k, s));
}

/* Several copies of a body are a loop of their own: one block that leads to itself. Blocks of a loop that have several
 * parts of it are no copies. */
static bool is_loop(const struct assembled_block *s, uint32_t block)
{
	return s->next[0] == (int32_t)block || s->next[1] == (int32_t)block;
}

/* Whether a block behind the loop has the executions that are left of pieces of `longest`, under predicates: for a half of these, a quarter and so on, down to one. */
static bool is_rest(const struct assembled_kernel *k, uint32_t block, uint32_t loop, uint32_t copies, uint32_t longest)
{
	const struct assembled_block *s = &k->blocks[block];
	bool accesses = false, power = longest > 1 && !(longest & (longest - 1));
	if (!s->reached || copies + 1 != longest || !power || is_loop(s, block) || s->depth + 1 != assembled_depth(k->code, k->code->loops[loop].header))
		return false;
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		uint8_t class = assembled_class(k, i).class;
		if (!is_one_for_one(class) || !is_in(k, k->origin[i], loop))
			continue;
		if (k->in[i].predicate == SASS_PT)
			return false;
		accesses |= assembled_is_access(class);
	}
	return accesses;
}

/* The longest piece that is a loop of its own; 0: there is none. */
static uint32_t longest_piece(const struct assembled_kernel *k, uint32_t depth, const uint32_t *copies)
{
	uint32_t longest = 0;
	for (uint32_t b = 0; b < k->block_count; b++)
		if (copies[b] > 1 && copies[b] > longest && k->blocks[b].depth == depth && is_loop(&k->blocks[b], b))
			longest = copies[b];
	return longest;
}

static uint32_t count_pieces(const struct assembled_kernel *k, const uint32_t *copies)
{
	uint32_t pieces = 0;
	for (uint32_t b = 0; b < k->block_count; b++)
		pieces += copies[b] > 0;
	return pieces;
}

/* The block with the rest of a loop that has no other pieces than the longest; -1: there is none. */
static int32_t find_rest(const struct assembled_kernel *k, uint32_t loop, uint32_t longest, const uint32_t *copies)
{
	for (uint32_t b = 0; b < k->block_count && count_pieces(k, copies) == 2; b++)
		if (is_rest(k, b, loop, copies[b], longest))
			return (int32_t)b;
	return -1;
}

static void take_pieces(struct copy_finder *f, uint32_t loop, const uint32_t *copies)
{
	struct assembled_kernel *k = f->k;
	uint32_t header = k->code->loops[loop].header, depth = assembled_depth(k->code, header), longest = longest_piece(k, depth, copies);
	int32_t rest = find_rest(k, loop, longest, copies);
	bool one = count_pieces(k, copies) == 1; /* a known number of rounds, of which nothing is left */
	for (uint32_t b = 0; b < k->block_count; b++)
		one |= copies[b] == 1;
	if (!longest || (!one && rest < 0))
		return;
	k->unrolled[header] = true;
	for (uint32_t b = 0; b < k->block_count; b++) {
		struct assembled_block *s = &k->blocks[b];
		count_block(f, b, loop);
		if (!s->reached || (!copies[b] && !chooses(f, b, depth)))
			continue;
		s->owner = (int32_t)header;
		s->times = rest == (int32_t)b ? CODE_REST : copies[b];
	}
	keep_one(k, (int32_t)header);
}

/* ---- copies of one block ---- */

/* Whether two blocks make the same accesses, and some. */
static bool same_accesses(struct copy_finder *f, uint32_t a, uint32_t b)
{
	const struct assembled_kernel *k = f->k;
	int32_t sum = 0;
	bool same = true;
	for (uint32_t n = 0; n < 2; n++) {
		const struct assembled_block *s = &k->blocks[n ? b : a];
		for (uint32_t i = s->first; i < s->first + s->count; i++) {
			uint8_t class = assembled_class(k, i).class;
			if (!assembled_is_access(class) && class != CODE_barrier)
				continue;
			if (k->origin[i] < 0)
				return false;
			f->count[k->origin[i]] += n ? UINT32_MAX : 1;
			sum++;
		}
	}
	for (uint32_t n = 0; n < 2; n++) {
		const struct assembled_block *s = &k->blocks[n ? b : a];
		for (uint32_t i = s->first; i < s->first + s->count; i++)
			if (k->origin[i] >= 0 && f->count[k->origin[i]]) {
				same = false;
				f->count[k->origin[i]] = 0;
			}
	}
	return same && sum;
}

/* Whether the second is a loop's first block, and the first, before the loop, has its first round (find_rounds). */
static bool is_first_round(const struct assembled_kernel *k, const struct assembled_block *a,
			   const struct assembled_block *b)
{
	int32_t origin = k->origin[b->first + b->count - 1];
	return a->depth + 1 == b->depth && k->origin[a->first + a->count - 1] == origin && origin >= 0 &&
	       k->code->code[origin].class == CODE_branch;
}

static void find_same(struct copy_finder *f)
{
	struct assembled_kernel *k = f->k;
	memset(f->count, 0, k->code->code_count * sizeof *f->count);
	for (uint32_t a = 0; a < k->block_count; a++)
		for (uint32_t b = a + 1; b < k->block_count; b++) {
			struct assembled_block *s = &k->blocks[a], *o = &k->blocks[b];
			bool plain = s->reached && o->reached && !s->copy && !o->copy && (s->owner < 0 || !k->unrolled[s->owner]) && (o->owner < 0 || !k->unrolled[o->owner]);
			if (!plain || is_first_round(k, s, o) || !same_accesses(f, a, b))
				continue;
			bool first = s->depth > o->depth || (s->depth == o->depth && s->owner >= 0);
			*(first ? &o->owner : &s->owner) = first ? s->owner : o->owner;
			*(first ? &o->copy : &s->copy) = true;
		}
}

int assembled_copies(struct assembled_kernel *k, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	struct copy_finder f = {.k = k};
	uint32_t *numbers = calloc(3u * (c->code_count + 1u) + 4u * (k->block_count + 1u) + MOST_COPIES + 1u, sizeof *numbers);
	f.touched = calloc(c->block_count + 1u, sizeof *f.touched);
	if (!numbers || !f.touched) {
		free(numbers);
		free(f.touched);
		return gs_fail(why, ENOMEM, "out of memory");
	}
	f.count = numbers;
	f.one = f.count + c->code_count + 1u;
	f.least = f.one + c->code_count + 1u;
	f.distinct = f.least + c->code_count + 1u;
	f.distinct_ones = f.distinct + k->block_count + 1u;
	f.inside = f.distinct_ones + k->block_count + 1u;
	uint32_t *copies = f.inside + k->block_count + 1u;
	f.ratios = copies + k->block_count + 1u;
	for (uint32_t loop = 0; loop < c->loop_count; loop++) {
		if (!is_innermost(c, loop))
			continue;
		count_copies(&f, loop, copies);
		take_pieces(&f, loop, copies);
	}
	find_same(&f);
	free(numbers);
	free(f.touched);
	return 0;
}
