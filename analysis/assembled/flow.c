/* Blocks of the machine code, where control flow goes from them, and the loops around them; see assembled.h. */
#include "analysis/assembled/assembled.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static bool has_jumps(const struct assembled_kernel *k)
{
	for (uint32_t i = 0; i < k->count; i++)
		if (k->in[i].flow == SASS_JUMPS)
			return true;
	return false;
}

/* Where a table of jumps leads is not in the instruction. Lanes that come from one join again, so that a BSYNC may be such a place. */
static int find_leaders(const struct assembled_kernel *k, bool *leads, struct gs_error *why)
{
	bool jumps = has_jumps(k);
	for (uint32_t i = 0; i < k->count; i++) {
		const struct sass_instruction *in = &k->in[i];
		int64_t target = in->target / CUBIN_WORD;
		leads[0] = true;
		if (in->flow == SASS_BRANCHES && (in->target < 0 || in->target % CUBIN_WORD || target >= (int64_t)k->count))
			return gs_fail(why, ENOTSUP, "a branch leaves the machine code");
		if (in->flow == SASS_BRANCHES)
			leads[target] = true;
		if (in->flow == SASS_BRANCHES || in->flow == SASS_JUMPS || in->flow == SASS_ENDS)
			leads[i + 1] = true;
		if (jumps && in->name && !strcmp(in->name, "BSYNC"))
			leads[i] = true;
	}
	return 0;
}

static int find_blocks(struct assembled_kernel *k, struct gs_error *why)
{
	bool *leads = calloc(k->count + 1u, sizeof *leads);
	int32_t *of = calloc(k->count + 1u, sizeof *of);
	int result = leads && of ? find_leaders(k, leads, why) : gs_fail(why, ENOMEM, "out of memory");
	for (uint32_t i = 0; i < k->count && !result; i++) {
		if (leads[i])
			k->blocks[k->block_count++] = (struct assembled_block){.first = i, .next = {-1, -1}, .owner = -1, .times = 1, .end = -1};
		k->blocks[k->block_count - 1].count++;
		of[i] = (int32_t)k->block_count - 1;
	}
	for (uint32_t b = 0; b < k->block_count && !result; b++) {
		struct assembled_block *s = &k->blocks[b];
		const struct sass_instruction *last = &k->in[s->first + s->count - 1];
		bool on = (last->flow != SASS_BRANCHES && last->flow != SASS_ENDS && last->flow != SASS_JUMPS) || last->conditional;
		s->next[0] = on && b + 1 < k->block_count ? (int32_t)b + 1 : -1;
		s->next[1] = last->flow == SASS_BRANCHES && !last->for_parted ? of[last->target / CUBIN_WORD] : -1;
	}
	free(leads);
	free(of);
	return result;
}

/* ---- calls ---- */

/* A kernel whose PTX calls nothing has calls of the assembler's own functions. Those for divisions and roots of real numbers are for operands that the
 * code before them cannot do: denormal or huge ones. */
static bool is_rare_function(const struct assembled_kernel *k, int64_t at)
{
	for (uint32_t i = 0; i < k->sass->function_count; i++) {
		const char *name = k->sass->functions[i].name;
		if ((int64_t)k->sass->functions[i].at == at)
			return (strstr(name, "_div_") || strstr(name, "rcp_") || strstr(name, "sqrt_")) &&
			       (strstr(name, "_f32") || strstr(name, "_f64") || strstr(name, "_dbl"));
	}
	return false;
}

static bool is_rare_call(const struct assembled_kernel *k, uint32_t i)
{
	if (k->in[i].flow != SASS_CALLS)
		return false;
	if (k->origin[i] < 0)
		return is_rare_function(k, k->in[i].target);
	const char *opcode = k->ptx->instructions[k->origin[i]].opcode;
	return (!strncmp(opcode, "div.", 4) || !strncmp(opcode, "rcp.", 4) || !strncmp(opcode, "sqrt.", 5) || !strncmp(opcode, "rsqrt.", 6)) &&
	       (strstr(opcode, ".f32") || strstr(opcode, ".f64"));
}

static bool is_rare(const struct assembled_kernel *k, uint32_t block)
{
	const struct assembled_block *s = &k->blocks[block];
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (is_rare_call(k, i))
			return true;
	return false;
}

/* Nobody goes to blocks with such calls. Each must be one of two ways. */
static int leave_out_rare(struct assembled_kernel *k, struct gs_error *why)
{
	for (uint32_t b = 0; b < k->block_count; b++) {
		if (!is_rare(k, b))
			continue;
		for (uint32_t p = 0; p < k->block_count; p++) {
			int32_t *next = k->blocks[p].next;
			if (p == b || (next[0] != (int32_t)b && next[1] != (int32_t)b))
				continue;
			if (next[0] < 0 || next[1] < 0 || next[0] == next[1])
				return gs_fail(why, ENOTSUP, "the machine code has calls");
			next[next[1] == (int32_t)b] = -1;
		}
	}
	return is_rare(k, 0) ? gs_fail(why, ENOTSUP, "the machine code has calls") : 0;
}

/* A function without ways, accesses and calls, which returns. */
static bool is_plain_function(const struct assembled_kernel *k, const struct assembled_block *s)
{
	const struct sass_instruction *last = &k->in[s->first + s->count - 1];
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		uint8_t class = assembled_class(k, i).class;
		if (!k->in[i].name || k->in[i].flow == SASS_CALLS || assembled_is_access(class) || class == CODE_barrier)
			return false;
	}
	return last->flow == SASS_ENDS && !last->conditional && !strcmp(last->name, "RET");
}

int32_t assembled_callee(const struct assembled_kernel *k, uint32_t instruction)
{
	const struct sass_instruction *in = &k->in[instruction];
	for (uint32_t b = 0; b < k->block_count && in->flow == SASS_CALLS; b++)
		if ((int64_t)k->blocks[b].first * CUBIN_WORD == in->target)
			return is_plain_function(k, &k->blocks[b]) ? (int32_t)b : -1;
	return -1;
}

/* ---- clusters ---- */

static bool has_cluster_barrier(const struct assembled_kernel *k, uint32_t block)
{
	const struct assembled_block *s = &k->blocks[block];
	for (uint32_t i = s->first; i < s->first + s->count; i++)
		if (k->in[i].name && !strncmp(k->in[i].name, "UCGABAR", strlen("UCGABAR")))
			return true;
	return false;
}

/* Where a block goes on, if it has one way; -1: it has none or two. */
static int32_t only_next(const struct assembled_kernel *k, int32_t block)
{
	const int32_t *next = k->blocks[block].next;
	return next[0] >= 0 && next[1] >= 0 ? -1 : next[0] >= 0 ? next[0] : next[1];
}

/* A barrier of a cluster has two arms: one for launches with clusters, which is taken to be executed, and one for those
 * without. */
static void leave_out_single(struct assembled_kernel *k)
{
	for (uint32_t b = 0; b < k->block_count; b++) {
		int32_t *next = k->blocks[b].next;
		if (next[0] < 0 || next[1] < 0 || next[0] == next[1] || only_next(k, next[0]) < 0 ||
		    only_next(k, next[0]) != only_next(k, next[1]))
			continue;
		bool first = has_cluster_barrier(k, (uint32_t)next[0]),
		     second = has_cluster_barrier(k, (uint32_t)next[1]);
		if (first != second)
			next[first] = -1;
	}
}

/* ---- what is executed ---- */

static void follow(struct assembled_kernel *k, uint32_t from, uint32_t *stack)
{
	uint32_t depth = 0;
	stack[depth++] = from;
	while (depth) {
		struct assembled_block *s = &k->blocks[stack[--depth]];
		if (s->reached)
			continue;
		s->reached = true;
		for (int n = 0; n < 2; n++)
			if (s->next[n] >= 0 && !k->blocks[s->next[n]].reached)
				stack[depth++] = (uint32_t)s->next[n];
	}
}

/* The block of the PTX that most instructions come from; -1: none. */
static int32_t most_of(const struct assembled_kernel *k, uint32_t block, uint32_t *votes)
{
	const struct assembled_block *s = &k->blocks[block];
	int32_t most = -1;
	memset(votes, 0, k->code->block_count * sizeof *votes);
	for (uint32_t i = s->first; i < s->first + s->count; i++) {
		int32_t of = k->origin[i] < 0 ? -1 : k->block_of[k->origin[i]];
		if (of >= 0 && ++votes[of] > (most < 0 ? 0 : votes[most]))
			most = of;
	}
	return most;
}

/* Marks blocks of the PTX that come after `from`, by blocks that the code which is followed so far has nothing of. */
static void mark_after(const struct assembled_kernel *k, uint32_t from, const bool *there, bool *after)
{
	const struct kernel_code *c = k->code;
	for (uint32_t n = 0; n < c->blocks[from].edge_count; n++) {
		int32_t next = c->edges[c->blocks[from].first_edge + n].to;
		if (next < 0 || after[next])
			continue;
		after[next] = true;
		if (!there[next])
			mark_after(k, (uint32_t)next, there, after);
	}
}

/* By the table of lines, the assembler's own functions, which stand at the end, come from the last `ret`. */
static bool only_returns(const struct assembled_kernel *k, uint32_t block)
{
	const struct code_block *b = &k->code->blocks[block];
	return b->count == 1 && b->edge_count == 1 && k->code->edges[b->first_edge].to < 0;
}

/* What stands behind a kernel's end: a branch to itself, and NOPs up to a multiple of a line. */
static bool is_padding(const struct assembled_kernel *k, uint32_t block)
{
	const struct assembled_block *s = &k->blocks[block];
	const char *name = k->in[s->first].name;
	return name && (!strcmp(name, "NOP") || (s->count == 1 && s->next[0] < 0 && s->next[1] == (int32_t)block));
}

/* A table of jumps leads to blocks of those of the PTX that come after its own. */
static int follow_tables(struct assembled_kernel *k, uint32_t *stack, struct gs_error *why)
{
	uint32_t count = k->code->block_count;
	uint32_t *votes = calloc(count + 1u, sizeof *votes);
	bool *after = calloc(2u * count + 1u, sizeof *after), *there = after ? after + count : NULL, changed = true;
	int result = votes && after ? 0 : gs_fail(why, ENOMEM, "out of memory");
	while (changed && !result) {
		changed = false;
		memset(after, 0, 2u * count * sizeof *after);
		for (uint32_t b = 0; b < k->block_count; b++) {
			int32_t of = k->blocks[b].reached ? most_of(k, b, votes) : -1;
			if (of >= 0)
				there[of] = true;
		}
		for (uint32_t b = 0; b < k->block_count; b++) {
			const struct assembled_block *s = &k->blocks[b];
			int32_t of = s->reached && k->in[s->first + s->count - 1].flow == SASS_JUMPS ? most_of(k, b, votes) : -1;
			if (of >= 0)
				mark_after(k, (uint32_t)of, there, after);
		}
		for (uint32_t b = 0; b < k->block_count; b++) {
			int32_t of = k->blocks[b].reached || is_rare(k, b) || is_padding(k, b) ? -1 : most_of(k, b, votes);
			if (of < 0 || !after[of] || only_returns(k, (uint32_t)of))
				continue;
			follow(k, b, stack);
			changed = true;
		}
	}
	free(votes);
	free(after);
	return result;
}

static int find_reached(struct assembled_kernel *k, struct gs_error *why)
{
	uint32_t *stack = calloc(2u * k->block_count + 1u, sizeof *stack);
	if (!stack)
		return gs_fail(why, ENOMEM, "out of memory");
	follow(k, 0, stack);
	int result = has_jumps(k) ? follow_tables(k, stack, why) : 0;
	free(stack);
	return result;
}

/* What cannot be followed. */
static int check_instructions(struct assembled_kernel *k, struct gs_error *why)
{
	for (uint32_t b = 0; b < k->block_count; b++)
		for (uint32_t i = 0; i < k->blocks[b].count && k->blocks[b].reached; i++) {
			const struct sass_instruction *in = &k->in[k->blocks[b].first + i];
			int32_t callee = assembled_callee(k, k->blocks[b].first + i);
			if (!in->name)
				return gs_fail(why, ENOTSUP, "the machine code has an unknown instruction (%03x)", in->opcode);
			if (in->flow == SASS_CALLS && callee < 0)
				return gs_fail(why, ENOTSUP, "the machine code has calls");
			if (callee >= 0)
				k->blocks[callee].called = true;
		}
	return 0;
}

/* A branch back is the end of a loop, whose blocks stand between. */
static void find_depths(struct assembled_kernel *k)
{
	for (uint32_t header = 0; header < k->block_count; header++) {
		int64_t end = -1;
		for (uint32_t b = header; b < k->block_count; b++)
			if (k->blocks[b].reached && k->blocks[b].next[1] == (int32_t)header)
				end = b;
		for (int64_t b = header; b <= end; b++)
			k->blocks[b].depth++;
	}
}

int assembled_flow(struct assembled_kernel *k, struct gs_error *why)
{
	int result = find_blocks(k, why);
	if (!result)
		result = leave_out_rare(k, why);
	if (!result) {
		leave_out_single(k);
		result = find_reached(k, why);
	}
	if (!result)
		result = check_instructions(k, why);
	if (!result)
		find_depths(k);
	return result;
}
