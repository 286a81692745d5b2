/* Which block of the PTX executes each block of the machine code; see assembled.h. */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

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
	/* What is done to an mbarrier is a load, a store or an atomic operation in the PTX. */
	if (k->in[i].name && !strcmp(k->in[i].name, "SYNCS") && k->origin[i] >= 0 &&
	    k->code->code[k->origin[i]].space == SPACE_shared)
		o.class = k->code->code[k->origin[i]].class;
	/* A register that is spilled is no access of the PTX either. It takes the same unit as a shuffle, as long as it
	 * stays in the first cache. */
	uint8_t space = from_ptx ? k->code->code[k->origin[i]].space : SPACE_none;
	if (o.space == SPACE_local && (o.class == CODE_load || o.class == CODE_store) && space != SPACE_local &&
	    space != SPACE_generic)
		o = (struct sass_opcode){.name = o.name, .class = CODE_shuffle, .results = o.results};
	return o;
}

static int take_instructions(struct assembled_kernel *k, unsigned arch, const struct cubin_code *sass, struct gs_error *why)
{
	k->sass = sass;
	k->count = sass->instructions;
	k->in = calloc(k->count + 1u, sizeof *k->in);
	k->opcodes = calloc(k->count + 1u, sizeof *k->opcodes);
	k->origin = calloc(k->count + 1u, sizeof *k->origin);
	k->moved = calloc(k->count + 1u, sizeof *k->moved);
	k->block_of = calloc(k->code->code_count + 1u, sizeof *k->block_of);
	k->merged = calloc(k->code->block_count + 1u, sizeof *k->merged);
	k->has_code = calloc(k->code->block_count + 1u, sizeof *k->has_code);
	k->unrolled = calloc(k->code->block_count + 1u, sizeof *k->unrolled);
	k->blocks = calloc(k->count + 1u, sizeof *k->blocks);
	if (!k->in || !k->opcodes || !k->origin || !k->moved || !k->block_of || !k->merged || !k->has_code || !k->unrolled || !k->blocks)
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

/* Between pieces of an unrolled loop: what comes next is one, and one leads here. */
static int32_t owner_of_pieces(const struct assembled_kernel *k, uint32_t b)
{
	const int32_t *next = k->blocks[b].next;
	int32_t piece = next[0] >= 0 ? next[0] : next[1], owner = piece >= 0 ? k->blocks[piece].owner : -1;
	bool only = next[0] < 0 || next[1] < 0;
	if (!only || owner < 0 || !k->unrolled[owner])
		return -1;
	for (uint32_t p = 0; p < k->block_count; p++)
		if (k->blocks[p].reached && p != (uint32_t)piece && k->blocks[p].owner == owner &&
		    (k->blocks[p].next[0] == (int32_t)b || k->blocks[p].next[1] == (int32_t)b))
			return owner;
	return -1;
}

static bool loops_alone(const struct kernel_code *c, int32_t block)
{
	for (uint32_t n = 0; n < c->blocks[block].edge_count; n++)
		if (c->edges[c->blocks[block].first_edge + n].to == block)
			return true;
	return false;
}

/* A few instructions between the end of an inner loop and the begin of the outer one. */
static bool take_early(struct assembled_kernel *k, uint32_t b)
{
	const struct assembled_block *s = &k->blocks[b];
	int32_t next = s->next[0] >= 0 ? s->next[0] : s->next[1];
	return next < (int32_t)b && !loops_alone(k->code, s->owner);
}

/* Beside pieces of an unrolled loop, it is executed when the loop is entered. */
static bool take(struct assembled_kernel *k, uint32_t b, int32_t owner)
{
	k->blocks[b].owner = owner;
	k->blocks[b].times = owner < 0 || !k->unrolled[owner];
	return owner >= 0;
}

static bool has_accesses(const struct assembled_kernel *k, const struct assembled_block *s)
{
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (assembled_is_access(assembled_class(k, i).class) || assembled_class(k, i).class == CODE_barrier)
			return true;
	return false;
}

/* Whether the PTX has a block for the way into the loop of `header`. */
static bool has_way_in(const struct kernel_code *c, uint32_t header)
{
	for (uint32_t e = 0; e < c->edge_count; e++) {
		int32_t l = c->edges[e].to == (int32_t)header ? c->blocks[c->edges[e].from].loop : c->blocks[header].loop;
		while (l >= 0 && l != c->blocks[header].loop)
			l = c->loops[l].outer;
		if (l < 0 && c->blocks[c->edges[e].from].edge_count == 1)
			return true;
	}
	return false;
}

/* What stands before a loop that the PTX enters by branches alone is executed when the loop is entered. Returns the loop's first block, or -1: it is no such way. */
static int32_t entered_loop(const struct assembled_kernel *k, uint32_t b)
{
	const struct kernel_code *c = k->code;
	const struct assembled_block *s = &k->blocks[b];
	int32_t next = s->next[0] >= 0 ? s->next[0] : s->next[1];
	if ((s->next[0] >= 0 && s->next[1] >= 0) || next <= (int32_t)b || k->blocks[next].depth != s->depth + 1 || has_accesses(k, s))
		return -1;
	int32_t owner = k->blocks[next].owner, loop = owner < 0 ? -1 : c->blocks[owner].loop;
	bool first = loop >= 0 && c->loops[loop].header == (uint32_t)owner && assembled_depth(c, (uint32_t)owner) == s->depth + 1;
	return first && !k->unrolled[owner] && !has_way_in(c, (uint32_t)owner) ? owner : -1;
}

static void take_entries(struct assembled_kernel *k)
{
	for (uint32_t b = 0; b < k->block_count; b++) {
		int32_t loop = k->blocks[b].reached && k->blocks[b].owner < 0 ? entered_loop(k, b) : -1;
		if (loop < 0)
			continue;
		k->blocks[b].owner = loop;
		k->blocks[b].times = 0;
	}
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
	take_entries(k);
	for (uint32_t b = 0; b < k->block_count && !k->sass->lines; b++)
		if (k->blocks[b].reached && k->blocks[b].owner < 0)
			take(k, b, owner_of_only_previous(k, b));
	while (changed) {
		changed = false;
		for (uint32_t b = 0; b < k->block_count; b++)
			if (k->blocks[b].reached && k->blocks[b].owner < 0 && take(k, b, owner_of_pieces(k, b)))
				changed = true;
		for (uint32_t b = k->block_count; b-- > 0;)
			if (k->blocks[b].reached && k->blocks[b].owner < 0 && take(k, b, owner_of_next(k, b))) {
				k->blocks[b].early = take_early(k, b);
				changed = true;
			}
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

/* Whether a block of the PTX has code of its own: a block of the machine code, or pieces of its loop. */
static bool is_own(const struct assembled_kernel *k, uint32_t block)
{
	return k->has_code[block] || k->unrolled[block];
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
			uint32_t from = c->edges[e].from, owner = is_own(k, from) ? from : (uint32_t)k->merged[from];
			if (to < 0 || is_own(k, (uint32_t)to) || k->merged[to] >= 0 || (!is_own(k, from) && k->merged[from] < 0) || !only_after(k, (uint32_t)to, owner))
				continue;
			k->merged[to] = (int32_t)owner;
			changed = true;
		}
	}
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
		result = assembled_owners(k, why);
	if (!result)
		result = adopt(k, why);
	if (!result) {
		assembled_rounds(k);
		merge_blocks(k);
		result = assembled_infer_accesses(k, arch, why);
	}
	if (!result && assembled_infer_uniform(k))
		result = gs_fail(why, ENOMEM, "out of memory");
	return result ? result : assembled_check(k, why);
}

void assembled_free(struct assembled_kernel *k)
{
	free(k->in);
	free(k->opcodes);
	free(k->origin);
	free(k->block_of);
	free(k->moved);
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
	if (!result && assembled_yields(&k, code))
		result = gs_fail(why, ENOMEM, "out of memory");
	assembled_free(&k);
	if (result)
		return result;
	code->registers = sass->registers ? sass->registers : code->registers;
	code->shared_bytes = sass->shared_bytes;
	code->local_bytes = sass->stack_bytes;
	return 0;
}
