/* Which block of the PTX each block of the machine code is given to, by where its instructions come from; see
 * assembled.h. */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* BRA.DIV and what makes its mask have the line of what comes before them, which may be a branch that leads past them.
 * So has BSYNC, and BSSY that of what it was moved to. */
static bool has_old_line(const struct assembled_kernel *k, const struct assembled_block *s, uint32_t i)
{
	int32_t origin = k->origin[i];
	const char *name = k->in[i].name;
	const char *first = k->in[s->first].name;
	if (first && !strcmp(first, "BSYNC") && origin >= 0 && origin == k->origin[s->first])
		return true;
	if (name && (!strcmp(name, "BSYNC") || !strcmp(name, "BSSY")))
		return true;
	return k->in[s->first + s->count - 1].for_parted && origin >= 0 && k->code->code[origin].class == CODE_branch;
}

/* Whether a block of the machine code ends with the branch of a block of the PTX. */
static bool ends_with(const struct assembled_kernel *k, uint32_t block, uint32_t of)
{
	const struct code_block *p = &k->code->blocks[of];
	const struct assembled_block *s = &k->blocks[block];
	return s->reached && p->edge_count > 1 &&
	       k->origin[s->first + s->count - 1] == (int32_t)(p->first + p->count - 1);
}

/* Whether code that stands before `block` ends with the branch of a block of the PTX: what comes after does not belong
 * to that any more. */
static bool has_branched(const struct assembled_kernel *k, uint32_t of, uint32_t block)
{
	for (uint32_t b = 0; b < block; b++)
		if (ends_with(k, b, of))
			return true;
	return false;
}

/* The same, of code that leads here and is no loop of its own. A branch may have a second instruction, which leads on
 * from there. */
static bool comes_from_end(const struct assembled_kernel *k, uint32_t of, int32_t origin, uint32_t block)
{
	if (k->blocks[block].count == 1 &&
	    origin == (int32_t)(k->code->blocks[of].first + k->code->blocks[of].count - 1))
		return false;
	for (uint32_t b = 0; b < block; b++) {
		const int32_t *next = k->blocks[b].next;
		bool leads = next[0] == (int32_t)block || next[1] == (int32_t)block,
		     itself = next[0] == (int32_t)b || next[1] == (int32_t)b;
		if (leads && !itself && k->blocks[b].depth == k->blocks[block].depth && ends_with(k, b, of))
			return true;
	}
	return false;
}

static int choose_owners(struct assembled_kernel *k, struct gs_error *why)
{
	uint32_t *votes = calloc(k->code->block_count + 1u, sizeof *votes);
	if (!votes)
		return gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count; b++) {
		struct assembled_block *s = &k->blocks[b];
		uint32_t best = 0;
		bool branches = k->in[s->first + s->count - 1].conditional || k->in[s->first + s->count - 1].flow == SASS_JUMPS;
		for (uint32_t i = 0; i < s->count && s->reached; i++) {
			int32_t origin = k->origin[s->first + i], of = origin < 0 ? -1 : k->block_of[origin];
			if (of < 0 || assembled_depth(k->code, (uint32_t)of) != s->depth ||
			    has_old_line(k, s, s->first + i) || comes_from_end(k, (uint32_t)of, origin, b))
				continue;
			/* The last instruction decides between equals, if it is a branch. */
			if (++votes[of] > best || (votes[of] == best && i + 1 == s->count && branches)) {
				best = votes[of];
				s->owner = of;
			}
		}
		memset(votes, 0, k->code->block_count * sizeof *votes);
	}
	free(votes);
	return 0;
}

/* Whether every way from the begin to `block` goes through `by`. */
bool assembled_dominates(const struct assembled_kernel *k, uint32_t by, uint32_t block, uint8_t *seen, uint32_t *stack)
{
	const struct kernel_code *c = k->code;
	uint32_t depth = 0;
	if (by == 0 || block == 0)
		return by == 0;
	memset(seen, 0, c->block_count);
	seen[0] = 1;
	stack[depth++] = 0;
	while (depth) {
		uint32_t b = stack[--depth];
		for (uint32_t n = 0; n < c->blocks[b].edge_count; n++) {
			int32_t next = c->edges[c->blocks[b].first_edge + n].to;
			if (next == (int32_t)block)
				return false;
			if (next < 0 || next == (int32_t)by || seen[next])
				continue;
			seen[next] = 1;
			stack[depth++] = (uint32_t)next;
		}
	}
	return true;
}

/* Whether a block of the PTX that others own is between two, of which the first dominates the second. */
static bool is_apart(const struct assembled_kernel *k, uint32_t from, uint32_t to, const uint8_t *owns, uint8_t *seen,
		     uint32_t *stack)
{
	const struct kernel_code *c = k->code;
	uint32_t depth = 0;
	memset(seen, 0, c->block_count);
	seen[from] = seen[to] = 1;
	stack[depth++] = to;
	while (depth) {
		uint32_t b = stack[--depth];
		for (uint32_t e = 0; e < c->edge_count; e++) {
			uint32_t before = c->edges[e].from;
			if (c->edges[e].to != (int32_t)b || seen[before])
				continue;
			if (owns[before])
				return true;
			seen[before] = 1;
			stack[depth++] = before;
		}
	}
	return false;
}

int32_t assembled_only_previous(const struct kernel_code *c, uint32_t block)
{
	int32_t from = -1;
	for (uint32_t e = 0; e < c->edge_count; e++)
		if (c->edges[e].to == (int32_t)block) {
			if (from >= 0)
				return -1;
			from = (int32_t)c->edges[e].from;
		}
	return from;
}

/* Whether a block of the machine code ends with the branch of a block that the PTX goes to from `of` alone, by blocks
 * that nobody owns. The assembler makes one branch of several conditions, and of a branch around another one. */
static bool ends_for(const struct assembled_kernel *k, uint32_t block, uint32_t of, const uint8_t *owns)
{
	const struct assembled_block *s = &k->blocks[block];
	int32_t origin = k->origin[s->first + s->count - 1];
	if (origin < 0 || k->code->code[origin].class != CODE_branch || s->next[0] < 0 || s->next[1] < 0)
		return false;
	int32_t from = k->block_of[origin];
	for (uint32_t n = 0; n < k->code->block_count && from >= 0 && from != (int32_t)of; n++)
		from = owns[from] ? -1 : assembled_only_previous(k->code, (uint32_t)from);
	return from == (int32_t)of;
}

/* Most instructions may be those of an arm that is executed under predicates. Then the block belongs to the one before
 * the arm, if that has no other. */
static int prefer_heads(struct assembled_kernel *k, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	uint8_t *seen = calloc(c->block_count + 1u, 1), *owns = calloc(c->block_count + 1u, 1);
	uint32_t *stack = calloc(c->block_count + 1u, sizeof *stack);
	int result = seen && owns && stack ? 0 : gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count && !result; b++)
		if (k->blocks[b].owner >= 0)
			owns[k->blocks[b].owner] = 1;
	for (uint32_t b = 0; b < k->block_count && !result; b++) {
		struct assembled_block *s = &k->blocks[b];
		for (uint32_t i = s->first;
		     i < s->first + s->count && s->owner >= 0 && !s->copy && !k->unrolled[s->owner]; i++) {
			int32_t of = k->origin[i] < 0 ? -1 : k->block_of[k->origin[i]];
			if (of < 0 || of == s->owner || owns[of] || assembled_depth(c, (uint32_t)of) != s->depth ||
			    !assembled_dominates(k, (uint32_t)of, (uint32_t)s->owner, seen, stack) ||
			    has_branched(k, (uint32_t)of, b) ||
			    (!ends_with(k, b, (uint32_t)of) && !ends_for(k, b, (uint32_t)of, owns) &&
			     is_apart(k, (uint32_t)of, (uint32_t)s->owner, owns, seen, stack)))
				continue;
			owns[s->owner] = 0;
			owns[of] = 1;
			s->owner = of;
			i = s->first;
		}
	}
	free(seen);
	free(owns);
	free(stack);
	return result;
}

/* A block that branches where its owner does not has an arm under predicates and the branch before it. It belongs to
 * who branches, if that has no other. */
static int prefer_branches(struct assembled_kernel *k, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	uint32_t *owned = calloc(c->block_count + 1u, sizeof *owned);
	if (!owned)
		return gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count; b++)
		if (k->blocks[b].reached && k->blocks[b].owner >= 0)
			owned[k->blocks[b].owner]++;
	for (uint32_t b = 0; b < k->block_count; b++) {
		struct assembled_block *s = &k->blocks[b];
		int32_t head = s->owner;
		if (!s->reached || head < 0 || s->copy || k->unrolled[head] || s->next[0] < 0 || s->next[1] < 0 ||
		    c->blocks[head].edge_count > 1)
			continue;
		while (head >= 0 && c->blocks[head].edge_count < 2 && (head == s->owner || !owned[head]))
			head = assembled_only_previous(c, (uint32_t)head);
		if (head < 0 || owned[head] || assembled_depth(c, (uint32_t)head) != s->depth)
			continue;
		owned[s->owner]--;
		owned[head]++;
		s->owner = head;
	}
	free(owned);
	return 0;
}

static bool has_accesses(const struct assembled_kernel *k, const struct assembled_block *s)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (assembled_is_access(assembled_class(k, i).class) || assembled_class(k, i).class == CODE_barrier)
			return true;
	return false;
}

/* Whether a block that leads to `b` from before it has an owner that comes after that of `b`. */
static bool comes_late(const struct assembled_kernel *k, uint32_t b, uint8_t *seen, uint32_t *stack)
{
	int32_t owner = k->blocks[b].owner, loop = k->code->blocks[owner].loop;
	if (loop >= 0 && k->code->loops[loop].header == (uint32_t)owner) /* the next round */
		return false;
	for (uint32_t p = 0; p < b; p++) {
		const struct assembled_block *s = &k->blocks[p];
		if (s->reached && (s->next[0] == (int32_t)b || s->next[1] == (int32_t)b) && s->owner >= 0 &&
		    s->owner != owner && assembled_dominates(k, (uint32_t)owner, (uint32_t)s->owner, seen, stack))
			return true;
	}
	return false;
}

/* What the assembler has moved to where it is needed, such as the way into a loop, is no block of the PTX. Its
 * neighbours have it (adopt). */
static int disown_late(struct assembled_kernel *k, struct gs_error *why)
{
	uint8_t *seen = calloc(k->code->block_count + 1u, 1);
	uint32_t *stack = calloc(k->code->block_count + 1u, sizeof *stack);
	int result = seen && stack ? 0 : gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count && !result; b++) {
		struct assembled_block *s = &k->blocks[b];
		bool plain = s->reached && s->owner >= 0 && !s->copy && !k->unrolled[s->owner] && !has_accesses(k, s);
		if (plain && comes_late(k, b, seen, stack))
			s->owner = -1;
	}
	free(seen);
	free(stack);
	return result;
}

int assembled_owners(struct assembled_kernel *k, struct gs_error *why)
{
	int result = choose_owners(k, why);
	if (!result)
		result = assembled_copies(k, why);
	if (!result)
		result = prefer_heads(k, why);
	if (!result)
		result = prefer_branches(k, why);
	return result ? result : disown_late(k, why);
}
