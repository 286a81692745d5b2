/* Which block of the PTX executes each block of the machine code; see assembled.h. */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Blocks on the way into a loop or out of it are no blocks of the PTX. They are given to a neighbour, which may also be executed without them. */
enum { MOST_SKIPPED = 8 }; /* instructions that may be counted where they are not executed */
enum { MOST_BLOCKS = 1000, MOST_INSTRUCTIONS = 1 << 15 }; /* the time for checks grows with their square */

bool assembled_is_access(uint8_t class)
{
	return class == CODE_load || class == CODE_store || class == CODE_atomic || class == CODE_texture;
}

/* ---- instructions ---- */

static int32_t ptx_at_line(const struct ptx_function *f, uint32_t line)
{
	uint32_t low = 0, high = f->instruction_count;
	while (low < high) {
		uint32_t middle = low + (high - low) / 2;
		if (f->instructions[middle].ptx_line < line)
			low = middle + 1;
		else
			high = middle;
	}
	return low < f->instruction_count && f->instructions[low].ptx_line == line ? (int32_t)low : -1;
}

struct sass_opcode assembled_class(const struct assembled_kernel *k, uint32_t i)
{
	struct sass_opcode o = k->opcodes[i];
	/* Loading a parameter is no access of the PTX. A unit beside the others answers it. */
	bool from_ptx = k->origin[i] >= 0 && k->code->code[k->origin[i]].class == o.class;
	if (o.class == CODE_load && o.space == SPACE_const && !(from_ptx && k->code->code[k->origin[i]].space == SPACE_const)) {
		o.class = CODE_nop;
		o.bytes = 0;
	}
	return o;
}

static int take_instructions(struct assembled_kernel *k, unsigned arch, const struct cubin_code *sass, struct gs_error *why)
{
	k->sass = sass;
	k->count = sass->instructions;
	k->in = calloc(k->count + 1u, sizeof *k->in);
	k->opcodes = calloc(k->count + 1u, sizeof *k->opcodes);
	k->origin = calloc(k->count + 1u, sizeof *k->origin);
	k->block_of = calloc(k->code->code_count + 1u, sizeof *k->block_of);
	k->merged = calloc(k->code->block_count + 1u, sizeof *k->merged);
	k->has_code = calloc(k->code->block_count + 1u, sizeof *k->has_code);
	k->unrolled = calloc(k->code->block_count + 1u, sizeof *k->unrolled);
	k->blocks = calloc(k->count + 1u, sizeof *k->blocks);
	if (!k->in || !k->opcodes || !k->origin || !k->block_of || !k->merged || !k->has_code || !k->unrolled || !k->blocks)
		return gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < k->count; i++) {
		sass_decode(sass->bytes + (size_t)i * CUBIN_WORD, arch, (uint64_t)i * CUBIN_WORD, &k->in[i]);
		k->opcodes[i] = sass_look_up(k->in[i].name ? k->in[i].name : "");
		k->opcodes[i].bytes = k->in[i].bytes ? k->in[i].bytes : k->opcodes[i].bytes;
		if (k->in[i].predicate == SASS_PT && k->in[i].negated)
			k->opcodes[i] = (struct sass_opcode){.class = CODE_nop}; /* no lane does it: @!PT LDS stands before LDGSTS */
		k->origin[i] = sass->lines && sass->lines[i] ? ptx_at_line(k->ptx, sass->lines[i]) : -1;
	}
	for (uint32_t b = 0; b < k->code->block_count; b++)
		for (uint32_t i = 0; i < k->code->blocks[b].count; i++)
			k->block_of[k->code->blocks[b].first + i] = (int32_t)b;
	return 0;
}

uint32_t assembled_depth(const struct kernel_code *c, uint32_t block)
{
	uint32_t depth = 0;
	for (int32_t loop = c->blocks[block].loop; loop >= 0; loop = c->loops[loop].outer)
		depth++;
	return depth;
}

/* ---- owners ---- */

/* BRA.DIV and what makes its mask have the line of what comes before them, which may be a branch that leads past them. */
static bool has_old_line(const struct assembled_kernel *k, const struct assembled_block *s, int32_t origin)
{
	return k->in[s->first + s->count - 1].for_parted && origin >= 0 && k->code->code[origin].class == CODE_branch;
}

static int choose_owners(struct assembled_kernel *k, struct gs_error *why)
{
	uint32_t *votes = calloc(k->code->block_count + 1u, sizeof *votes);
	if (!votes)
		return gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count; b++) {
		struct assembled_block *s = &k->blocks[b];
		uint32_t best = 0;
		for (uint32_t i = 0; i < s->count && s->reached; i++) {
			int32_t origin = k->origin[s->first + i], of = origin < 0 ? -1 : k->block_of[origin];
			if (of < 0 || assembled_depth(k->code, (uint32_t)of) != s->depth || has_old_line(k, s, origin))
				continue;
			/* The last instruction decides between equals: it is the branch. */
			if (++votes[of] > best || (votes[of] == best && i + 1 == s->count)) {
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
static bool dominates(const struct assembled_kernel *k, uint32_t by, uint32_t block, uint8_t *seen, uint32_t *stack)
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

/* Most instructions may be those of an arm that is executed under predicates. Then the block belongs to the one before the arm, if that has no other. */
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
		for (uint32_t i = s->first; i < s->first + s->count && s->owner >= 0 && !s->copy && !k->unrolled[s->owner]; i++) {
			int32_t of = k->origin[i] < 0 ? -1 : k->block_of[k->origin[i]];
			if (of < 0 || of == s->owner || owns[of] || assembled_depth(c, (uint32_t)of) != s->depth || !dominates(k, (uint32_t)of, (uint32_t)s->owner, seen, stack))
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

/* The block of the PTX that alone leads to this one; -1: none or several do. */
static int32_t only_previous(const struct kernel_code *c, uint32_t block)
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

/* A block that branches where its owner does not has an arm under predicates and the branch before it. It belongs to who branches, if that has no other. */
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
		if (!s->reached || head < 0 || s->copy || k->unrolled[head] || s->next[0] < 0 || s->next[1] < 0 || c->blocks[head].edge_count > 1)
			continue;
		while (head >= 0 && c->blocks[head].edge_count < 2 && (head == s->owner || !owned[head]))
			head = only_previous(c, (uint32_t)head);
		if (head < 0 || owned[head] || assembled_depth(c, (uint32_t)head) != s->depth)
			continue;
		owned[s->owner]--;
		owned[head]++;
		s->owner = head;
	}
	free(owned);
	return 0;
}

static int32_t owner_of_next(const struct assembled_kernel *k, uint32_t b)
{
	const struct assembled_block *s = &k->blocks[b];
	int32_t next = s->next[0] >= 0 ? s->next[0] : s->next[1];
	bool only = s->next[0] < 0 || s->next[1] < 0;
	return only && next >= 0 && k->blocks[next].depth == s->depth ? k->blocks[next].owner : -1;
}

static int32_t owner_of_previous(const struct assembled_kernel *k, uint32_t b)
{
	for (uint32_t p = 0; p < k->block_count; p++)
		if (k->blocks[p].reached && (k->blocks[p].next[0] == (int32_t)b || k->blocks[p].next[1] == (int32_t)b) &&
		    k->blocks[p].depth == k->blocks[b].depth && k->blocks[p].owner >= 0)
			return k->blocks[p].owner;
	return -1;
}

/* Beside pieces of an unrolled loop, it is executed when the loop is entered. */
static bool take(struct assembled_kernel *k, uint32_t b, int32_t owner)
{
	k->blocks[b].owner = owner;
	k->blocks[b].times = owner < 0 || !k->unrolled[owner];
	return owner >= 0;
}

/* What follows an exit under a predicate goes on with the block before, if nothing else leads to it. */
static int32_t owner_of_only_previous(const struct assembled_kernel *k, uint32_t b)
{
	int32_t from = -1;
	for (uint32_t p = 0; p < k->block_count; p++)
		if (k->blocks[p].reached && (k->blocks[p].next[0] == (int32_t)b || k->blocks[p].next[1] == (int32_t)b)) {
			if (from >= 0)
				return -1;
			from = (int32_t)p;
		}
	bool ends = from >= 0 && k->in[k->blocks[from].first + k->blocks[from].count - 1].flow == SASS_ENDS;
	return ends && k->blocks[from].depth == k->blocks[b].depth ? k->blocks[from].owner : -1;
}

/* Those that no block of the PTX has: by the block after them, else by the one before. */
static int adopt(struct assembled_kernel *k, struct gs_error *why)
{
	bool changed = true;
	for (uint32_t b = 0; b < k->block_count && !k->sass->lines; b++)
		if (k->blocks[b].reached && k->blocks[b].owner < 0)
			take(k, b, owner_of_only_previous(k, b));
	while (changed) {
		changed = false;
		for (uint32_t b = k->block_count; b-- > 0;)
			if (k->blocks[b].reached && k->blocks[b].owner < 0 && take(k, b, owner_of_next(k, b)))
				changed = true;
		for (uint32_t b = 0; b < k->block_count && !changed; b++)
			if (k->blocks[b].reached && k->blocks[b].owner < 0 && take(k, b, owner_of_previous(k, b)))
				changed = true;
	}
	for (uint32_t b = 0; b < k->block_count; b++) {
		if (k->blocks[b].reached && k->blocks[b].owner < 0)
			return gs_fail(why, ENOTSUP, "a block of the machine code belongs to none of the PTX");
		if (k->blocks[b].reached && k->blocks[b].times == 1 && !k->blocks[b].copy)
			k->has_code[k->blocks[b].owner] = true;
	}
	return 0;
}

/* ---- blocks of the PTX without code ---- */

/* A block without code that only `owner` and what is merged with it go to. */
static bool only_after(const struct assembled_kernel *k, uint32_t block, uint32_t owner)
{
	const struct kernel_code *c = k->code;
	bool any = false;
	for (uint32_t e = 0; e < c->edge_count; e++) {
		if (c->edges[e].to != (int32_t)block)
			continue;
		any = true;
		if (c->edges[e].from != owner && k->merged[c->edges[e].from] != (int32_t)owner)
			return false;
	}
	return any;
}

static void merge_blocks(struct assembled_kernel *k)
{
	const struct kernel_code *c = k->code;
	bool changed = true;
	for (uint32_t b = 0; b < c->block_count; b++)
		k->merged[b] = -1;
	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < c->edge_count; e++) {
			int32_t to = c->edges[e].to;
			uint32_t from = c->edges[e].from, owner = k->has_code[from] ? from : (uint32_t)k->merged[from];
			if (to < 0 || k->has_code[to] || k->merged[to] >= 0 || (!k->has_code[from] && k->merged[from] < 0) || !only_after(k, (uint32_t)to, owner))
				continue;
			k->merged[to] = (int32_t)owner;
			changed = true;
		}
	}
}

/* ---- checks ---- */

/* Whether the PTX can go from one block to another by blocks without code. */
static bool goes_to(const struct assembled_kernel *k, uint32_t from, uint32_t to, bool *seen)
{
	const struct kernel_code *c = k->code;
	for (uint32_t n = 0; n < c->blocks[from].edge_count; n++) {
		int32_t next = c->edges[c->blocks[from].first_edge + n].to;
		if (next == (int32_t)to)
			return true;
		if (next < 0 || k->has_code[next] || seen[next])
			continue;
		seen[next] = true;
		if (goes_to(k, (uint32_t)next, to, seen))
			return true;
	}
	return false;
}

/* Instructions of the owner's blocks from `from` up to `to` that are not executed; UINT32_MAX: too much to leave out. */
static uint32_t skipped(const struct assembled_kernel *k, int32_t owner, uint32_t from, uint32_t to)
{
	uint32_t count = 0;
	for (uint32_t b = from; b < to; b++)
		for (uint32_t i = 0; i < k->blocks[b].count && k->blocks[b].reached && k->blocks[b].owner == owner && !k->blocks[b].copy; i++) {
			uint8_t class = assembled_class(k, k->blocks[b].first + i).class;
			count = assembled_is_access(class) || class == CODE_barrier ? MOST_SKIPPED + 1 : count + 1;
			if (count > MOST_SKIPPED)
				return UINT32_MAX;
		}
	return count;
}

/* All ways of the machine code must be ways of the PTX: whoever executes a block of the PTX executes the blocks that it owns, in their order. */
static int check_way(const struct assembled_kernel *k, uint32_t from, uint32_t to, bool *seen, struct gs_error *why)
{
	int32_t a = k->blocks[from].owner, b = k->blocks[to].owner;
	bool forward = a == b && to > from, copied = k->blocks[from].copy || k->blocks[to].copy;
	if (a == b && k->unrolled[a])
		return 0;
	if (forward && !copied)
		return skipped(k, a, from + 1, to) <= MOST_SKIPPED ? 0 : gs_fail(why, ENOTSUP, "the machine code has more ways than the PTX");
	if ((!copied && !k->unrolled[a] && skipped(k, a, from + 1, k->block_count) == UINT32_MAX) ||
	    (!copied && !k->unrolled[b] && skipped(k, b, 0, to) == UINT32_MAX))
		return gs_fail(why, ENOTSUP, "the assembler has copied a block of the PTX");
	memset(seen, 0, k->code->block_count);
	return goes_to(k, (uint32_t)a, (uint32_t)b, seen) ? 0 : gs_fail(why, ENOTSUP, "the machine code goes where the PTX does not");
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

/* Counts the accesses of blocks that stand for `times` executions. */
static int count_accesses(const struct assembled_kernel *k, uint32_t times, uint32_t *made, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	for (uint32_t b = 0; b < k->block_count; b++) {
		const struct assembled_block *s = &k->blocks[b];
		for (uint32_t i = s->first; i < s->first + s->count && s->reached && s->times == times && !s->copy; i++) {
			uint8_t class = assembled_class(k, i).class;
			int32_t origin = k->origin[i];
			if (!assembled_is_access(class) && class != CODE_barrier)
				continue;
			if (origin < 0 || c->code[origin].class != class)
				return gs_fail(why, ENOTSUP, "%s stands for no access of the PTX", k->in[i].name);
			if (!times || (k->block_of[origin] != s->owner && k->merged[k->block_of[origin]] != s->owner))
				return gs_fail(why, ENOTSUP, "%s is executed elsewhere than in the PTX", k->in[i].name);
			made[origin]++;
		}
	}
	return 0;
}

/* Whether there is a piece of the loop around this block for so many executions. */
static bool has_piece(const struct assembled_kernel *k, uint32_t block, uint32_t times)
{
	int32_t owner = k->has_code[block] ? (int32_t)block : k->merged[block];
	for (uint32_t b = 0; b < k->block_count && owner >= 0 && k->unrolled[owner]; b++)
		if (k->blocks[b].reached && k->blocks[b].owner == owner && k->blocks[b].times == times && !k->blocks[b].copy)
			return true;
	return times == 1;
}

static int check_counts(const struct assembled_kernel *k, uint32_t times, const uint32_t *made, struct gs_error *why)
{
	const struct kernel_code *c = k->code;
	for (uint32_t i = 0; i < c->code_count; i++) {
		bool access = assembled_is_access(c->code[i].class) && c->code[i].space != SPACE_param && c->code[i].space != SPACE_const;
		/* It may be part of a wider one. Of local memory, the assembler may also know the value. */
		bool may_vanish = c->code[i].space == SPACE_shared || c->code[i].space == SPACE_local;
		if (made[i] > times)
			return gs_fail(why, ENOTSUP, "the assembler has unrolled a loop");
		if (access && made[i] < times && !may_vanish && has_piece(k, (uint32_t)k->block_of[i], times))
			return gs_fail(why, ENOTSUP, "an access of the PTX is not in the machine code");
	}
	return 0;
}

/* Whether all of the PTX's accesses are made once, or as often as there are copies, where they are executed. */
static int check_accesses(const struct assembled_kernel *k, struct gs_error *why)
{
	uint32_t *made = calloc(k->code->code_count + 1u, sizeof *made), most = 1;
	int result = made ? 0 : gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t b = 0; b < k->block_count; b++)
		most = k->blocks[b].reached && k->blocks[b].times > most ? k->blocks[b].times : most;
	for (uint32_t times = 0; times <= most && !result; times++) {
		memset(made, 0, k->code->code_count * sizeof *made);
		result = count_accesses(k, times, made, why);
		if (!result && times)
			result = check_counts(k, times, made, why);
	}
	free(made);
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

/* ---- all of it ---- */

int assembled_make(struct assembled_kernel *k, unsigned arch, const struct cubin_code *sass, struct gs_error *why)
{
	if (!sass->instructions)
		return gs_fail(why, ENOTSUP, "there is no machine code");
	if (k->code->code_count != k->ptx->instruction_count || k->code->function_count != 1)
		return gs_fail(why, ENOTSUP, "the kernel calls functions");
	if (k->code->block_count > MOST_BLOCKS || sass->instructions > MOST_INSTRUCTIONS)
		return gs_fail(why, ENOTSUP, "the kernel is too large");
	int result = take_instructions(k, arch, sass, why);
	if (!result)
		result = assembled_flow(k, why);
	if (!result && !sass->lines)
		result = assembled_infer(k, why);
	if (!result)
		result = choose_owners(k, why);
	if (!result)
		result = assembled_copies(k, why);
	if (!result)
		result = prefer_heads(k, why);
	if (!result)
		result = prefer_branches(k, why);
	if (!result)
		result = adopt(k, why);
	if (!result) {
		merge_blocks(k);
		result = assembled_infer_accesses(k, arch, why);
	}
	if (!result)
		result = check_ways(k, why);
	if (!result)
		result = check_unrolled(k, why);
	return result ? result : check_accesses(k, why);
}

void assembled_free(struct assembled_kernel *k)
{
	free(k->in);
	free(k->opcodes);
	free(k->origin);
	free(k->block_of);
	free(k->blocks);
	free(k->merged);
	free(k->has_code);
	free(k->unrolled);
}

int assembled_apply(const struct ptx_function *ptx, const struct cubin *cubin, const struct cubin_code *sass, struct kernel_code *code,
                    struct gs_error *why)
{
	struct assembled_kernel k = {.ptx = ptx, .code = code};
	int result = assembled_make(&k, cubin->arch, sass, why);
	if (!result)
		result = assembled_emit(&k, code, why);
	assembled_free(&k);
	if (result)
		return result;
	code->registers = sass->registers ? sass->registers : code->registers;
	code->shared_bytes = sass->shared_bytes;
	code->local_bytes = sass->stack_bytes;
	return 0;
}
