/* Whether blocks of the machine code are executed as those of the PTX that they were given to, and make all accesses;
 * see assembled.h. */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Blocks on the way into a loop or out of it are no blocks of the PTX. They are given to a neighbour, which may also be
 * executed without them. */
enum { MOST_SKIPPED = 8 }; /* instructions that may be counted where they are not executed */

/* Instructions of the owner's blocks from `from` up to `to` that are not executed; UINT32_MAX: too much to leave out.
 */
static uint32_t skipped(const struct assembled_kernel *k, int32_t owner, uint32_t from, uint32_t to)
{
	uint32_t count = 0;
	for (uint32_t b = from; b < to; b++)
		for (uint32_t i = 0; i < k->blocks[b].count && k->blocks[b].reached && k->blocks[b].owner == owner &&
				     k->blocks[b].times && !k->blocks[b].copy;
		     i++) {
			uint8_t class = assembled_class(k, k->blocks[b].first + i).class;
			count = assembled_is_access(class) || class == CODE_barrier ? MOST_SKIPPED + 1 : count + 1;
			if (count > MOST_SKIPPED)
				return UINT32_MAX;
		}
	return count;
}

/* Whether the PTX can go from one block to another by blocks without code, or with a few instructions: the assembler goes past a branch whose way it knows. */
static bool goes_to(const struct assembled_kernel *k, uint32_t from, uint32_t to, uint32_t may_skip, bool *seen)
{
	const struct kernel_code *c = k->code;
	for (uint32_t n = 0; n < c->blocks[from].edge_count; n++) {
		int32_t next = c->edges[c->blocks[from].first_edge + n].to;
		if (next == (int32_t)to)
			return true;
		uint32_t skips = next < 0 || seen[next] ? UINT32_MAX : skipped(k, next, 0, k->block_count);
		if (skips > may_skip)
			continue;
		seen[next] = true;
		if (goes_to(k, (uint32_t)next, to, may_skip - skips, seen))
			return true;
	}
	return false;
}

/* All ways of the machine code must be ways of the PTX: whoever executes a block of the PTX executes the blocks that it
 * owns, in their order. */
static int check_way(const struct assembled_kernel *k, uint32_t from, uint32_t to, bool *seen, struct gs_error *why)
{
	int32_t a = k->blocks[from].owner, b = k->blocks[to].owner;
	bool forward = a == b && to > from, copied = k->blocks[from].copy || k->blocks[to].copy;
	if (a == b && (k->unrolled[a] || (k->blocks[from].early && skipped(k, a, from, from + 1) <= MOST_SKIPPED)))
		return 0;
	/* An atomic operation that a lane makes for all may have a way of its own for full warps. */
	if (forward && k->blocks[to].copy)
		return 0;
	if (forward && !copied)
		return skipped(k, a, from + 1, to) <= MOST_SKIPPED
			   ? 0
			   : gs_fail(why, ENOTSUP, "the machine code has more ways than the PTX");
	if ((!copied && !k->unrolled[a] && skipped(k, a, from + 1, k->block_count) == UINT32_MAX) ||
	    (!copied && !k->unrolled[b] && skipped(k, b, 0, to) == UINT32_MAX))
		return gs_fail(why, ENOTSUP, "the assembler has copied a block of the PTX");
	memset(seen, 0, k->code->block_count);
	a = k->blocks[from].end >= 0 ? k->blocks[from].end : a;
	return goes_to(k, (uint32_t)a, (uint32_t)b, MOST_SKIPPED, seen)
		   ? 0
		   : gs_fail(why, ENOTSUP, "the machine code goes where the PTX does not");
}

static int check_ways(const struct assembled_kernel *k, struct gs_error *why)
{
	bool *seen = calloc(k->code->block_count + 1u, sizeof *seen);
	int result = seen ? 0 : gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count && !result; b++)
		for (int n = 0; n < 2 && !result; n++)
			if (k->blocks[b].reached && k->blocks[b].next[n] >= 0)
				result = check_way(k, b, (uint32_t)k->blocks[b].next[n], seen, why);
	free(seen);
	return result;
}

/* Whether every way from a block to the end goes through `by`. */
static bool comes_after(const struct kernel_code *c, uint32_t block, uint32_t by)
{
	for (int32_t b = c->blocks[block].join; b >= 0; b = c->blocks[b].join)
		if (b == (int32_t)by)
			return true;
	return false;
}

/* Whether the PTX goes from one block to another in the same round of their loop. */
static bool leads_to(const struct kernel_code *c, uint32_t from, uint32_t to, uint8_t *seen, uint32_t *stack)
{
	uint32_t header = c->blocks[from].loop < 0 ? UINT32_MAX : c->loops[c->blocks[from].loop].header, depth = 0;
	memset(seen, 0, c->block_count);
	stack[depth++] = from;
	while (depth) {
		uint32_t b = stack[--depth];
		for (uint32_t n = 0; n < c->blocks[b].edge_count; n++) {
			int32_t next = c->edges[c->blocks[b].first_edge + n].to;
			if (next < 0 || next == (int32_t)header || seen[next])
				continue;
			if (next == (int32_t)to)
				return true;
			seen[next] = 1;
			stack[depth++] = (uint32_t)next;
		}
	}
	return false;
}

/* Whether `of` is an arm that block `owner` comes after, whether or not lanes went through it: what leads to the arm
 * leads to `owner` in any case. */
static bool is_arm_before(const struct assembled_kernel *k, uint32_t of, uint32_t owner, uint8_t *seen, uint32_t *stack)
{
	int32_t head = assembled_only_previous(k->code, of);
	return head >= 0 && k->code->blocks[head].loop == k->code->blocks[of].loop &&
	       assembled_dominates(k, (uint32_t)head, owner, seen, stack) && leads_to(k->code, of, owner, seen, stack);
}

/*
 * Whether block `owner` may make an access of block `of`, both in the same loop. The assembler has moved it back to
 * where it is executed as often, or under a predicate to where it may not be; or forward, into an arm that alone needs
 * what was loaded, or under a predicate to where others come by as well. A path of blocks says which execution of `of`
 * it is (models/warps/machine/write.c).
 */
static bool may_move(const struct assembled_kernel *k, uint32_t i, uint32_t of, uint32_t owner, uint8_t *seen,
		     uint32_t *stack)
{
	const struct kernel_code *c = k->code;
	if (c->blocks[of].loop != c->blocks[owner].loop || k->unrolled[of] || k->unrolled[owner])
		return false;
	bool guarded = k->in[i].predicate != SASS_PT || k->in[i].negated;
	bool back = c->blocks[of].edge_count == 1 && c->edges[c->blocks[of].first_edge].to ==
							 (int32_t)owner; /* the end of a round, before the next one */
	if (assembled_dominates(k, owner, of, seen, stack))
		return guarded || back || comes_after(c, owner, of);
	return assembled_dominates(k, of, owner, seen, stack) ||
	       (guarded && is_arm_before(k, of, owner, seen, stack));
}

static bool is_made_here(const struct assembled_kernel *k, const struct assembled_block *s, uint32_t i, uint8_t *seen,
			 uint32_t *stack)
{
	int32_t of = k->block_of[k->origin[i]];
	return of == s->owner || k->merged[of] == s->owner ||
	       may_move(k, i, (uint32_t)of, (uint32_t)s->owner, seen, stack);
}

/* Counts the accesses of blocks that stand for `times` executions. `seen` and `stack` have room for the blocks of the
 * PTX. */
static int count_accesses(const struct assembled_kernel *k, uint32_t times, uint32_t *made, uint8_t *seen,
			  uint32_t *stack, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	for (uint32_t b = 0; b < k->block_count; b++) {
		const struct assembled_block *s = &k->blocks[b];
		for (uint32_t i = s->first; i < s->first + s->count && s->reached && s->times == times && !s->copy;
		     i++) {
			uint8_t class = assembled_class(k, i).class;
			int32_t origin = k->origin[i];
			if ((!assembled_is_access(class) && class != CODE_barrier) || k->moved[i])
				continue;
			if (origin < 0 || c->code[origin].class != class)
				return gs_fail(why, ENOTSUP, "%s stands for no access of the PTX", k->in[i].name);
			if (!times || !is_made_here(k, s, i, seen, stack))
				return gs_fail(why, ENOTSUP, "%s is executed elsewhere than in the PTX", k->in[i].name);
			made[origin]++;
		}
	}
	return 0;
}

/* Whether there is a piece of the loop around this block for so many executions. */
static bool has_piece(const struct assembled_kernel *k, uint32_t block, uint32_t times)
{
	int32_t owner = k->has_code[block] || k->unrolled[block] ? (int32_t)block : k->merged[block];
	for (uint32_t b = 0; b < k->block_count && owner >= 0 && k->unrolled[owner]; b++)
		if (k->blocks[b].reached && k->blocks[b].owner == owner && k->blocks[b].times == times &&
		    !k->blocks[b].copy)
			return true;
	return times == 1 && (owner < 0 || !k->unrolled[owner]);
}

/* Whether the piece of an unrolled loop for one execution is no loop: it has the last round then. What that loads for rounds that do not come, the
 * assembler leaves out. */
static bool has_last_round(const struct assembled_kernel *k, uint32_t block)
{
	for (uint32_t b = 0; b < k->block_count; b++) {
		const struct assembled_block *s = &k->blocks[b];
		if (s->reached && s->owner == (int32_t)block && s->times == 1 && !s->copy)
			return k->unrolled[block] && s->next[0] != (int32_t)b && s->next[1] != (int32_t)b;
	}
	return false;
}

static bool may_be_left_out(const struct assembled_kernel *k, uint32_t i, uint32_t times)
{
	bool keeps = strstr(k->ptx->instructions[i].opcode, ".volatile");
	return times == 1 && k->code->code[i].class == CODE_load && !keeps && has_last_round(k, (uint32_t)k->block_of[i]);
}

/* The longest piece of the loop that a block of the PTX is; 0: it has none. */
static uint32_t longest_piece(const struct assembled_kernel *k, int32_t owner)
{
	uint32_t longest = 0;
	for (uint32_t b = 0; b < k->block_count; b++)
		if (k->blocks[b].reached && k->blocks[b].owner == owner && k->blocks[b].times <= CODE_MOST_TIMES && k->blocks[b].times > longest)
			longest = k->blocks[b].times;
	return longest;
}

/* The rest of a loop has all accesses for one execution less than the longest piece. */
static int check_rests(const struct assembled_kernel *k, const uint32_t *made, struct gs_error *why)
{
	for (uint32_t i = 0; i < k->code->code_count; i++) {
		int32_t block = k->block_of[i], owner = k->has_code[block] || k->unrolled[block] ? block : k->merged[block];
		bool access = assembled_is_access(k->code->code[i].class) && k->code->code[i].space != SPACE_param;
		bool may_vanish = k->code->code[i].space == SPACE_shared || k->code->code[i].space == SPACE_local || k->code->code[i].space == SPACE_const;
		if (!access || owner < 0 || !has_piece(k, (uint32_t)block, CODE_REST))
			continue;
		if (made[i] + 1 > longest_piece(k, owner) || (!may_vanish && made[i] + 1 < longest_piece(k, owner)))
			return gs_fail(why, ENOTSUP, "the assembler has unrolled a loop in another way");
	}
	return 0;
}

static int check_counts(const struct assembled_kernel *k, uint32_t times, const uint32_t *made, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	for (uint32_t i = 0; i < c->code_count; i++) {
		bool access = assembled_is_access(c->code[i].class) && c->code[i].space != SPACE_param &&
			      c->code[i].space != SPACE_const;
		/* It may be part of a wider one. Of local memory, the assembler may also know the value. */
		bool may_vanish = c->code[i].space == SPACE_shared || c->code[i].space == SPACE_local;
		if (made[i] > times)
			return gs_fail(why, ENOTSUP, "the assembler has unrolled a loop");
		if (access && made[i] < times && !may_vanish && !may_be_left_out(k, i, times) && has_piece(k, (uint32_t)k->block_of[i], times))
			return gs_fail(why, ENOTSUP, "an access of the PTX is not in the machine code");
	}
	return 0;
}

/* Whether all of the PTX's accesses are made once, or as often as there are copies, where they are executed. */
static int check_accesses(const struct assembled_kernel *k, struct gs_error *why)
{
	uint32_t *made = calloc(k->code->code_count + 1u, sizeof *made),
		 *stack = calloc(k->code->block_count + 1u, sizeof *stack), most = 1;
	uint8_t *seen = calloc(k->code->block_count + 1u, 1);
	int result = made && stack && seen ? 0 : gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count; b++)
		most = k->blocks[b].reached && k->blocks[b].times > most && k->blocks[b].times != CODE_REST ? k->blocks[b].times : most;
	for (uint32_t times = 0; times <= most && !result; times++) {
		memset(made, 0, k->code->code_count * sizeof *made);
		result = count_accesses(k, times, made, seen, stack, why);
		if (!result && times)
			result = check_counts(k, times, made, why);
	}
	memset(made, 0, k->code->code_count * sizeof *made);
	if (!result)
		result = count_accesses(k, CODE_REST, made, seen, stack, why);
	if (!result)
		result = check_rests(k, made, why);
	free(made);
	free(stack);
	free(seen);
	return result;
}

/* An unrolled loop is one block, with arms that are predicates now: else executions of it are not in a row. */
static int check_unrolled(const struct assembled_kernel *k, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	for (uint32_t b = 0; b < c->block_count; b++) {
		int32_t loop = c->blocks[b].loop;
		if (loop >= 0 && k->unrolled[c->loops[loop].header] && c->loops[loop].header != b && k->has_code[b])
			return gs_fail(why, ENOTSUP, "the assembler has unrolled a loop of several blocks");
	}
	return 0;
}

int assembled_check(const struct assembled_kernel *k, struct gs_error *why)
{
	int result = check_ways(k, why);
	if (!result)
		result = check_unrolled(k, why);
	return result ? result : check_accesses(k, why);
}
