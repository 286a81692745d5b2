/* Kernels of task lists: their sizes, and what a work-item does. */
#include "runtime/cmd/task/parse.h"

#include <errno.h>
#include <string.h>

enum { MOST_CHAINS = 32 };

static int add_node(struct task_parser *p, enum task_kind kind, int32_t *out)
{
	struct task_list *l = p->list;
	if (l->node_count == TASK_MOST_NODES)
		return parse_fail(p, "a list has %d statements at most", TASK_MOST_NODES);
	if (!gs_reserve(&l->nodes, l->node_count, &l->node_room, sizeof *l->nodes))
		return gs_fail(p->err, ENOMEM, "out of memory");
	l->nodes[l->node_count] = (struct task_node){.kind = kind, .line = p->line, .next = TASK_NONE, .body = TASK_NONE, .other = TASK_NONE,
	                                            .access = TASK_NONE, .times = 1, .result = -1};
	*out = (int32_t)l->node_count++;
	return 0;
}

/* ---- statements ---- */

static int parse_statement(struct task_parser *p, int32_t *node)
{
	static const char *const known[] = {"load", "store", "atomic", "loop", "repeat", "branch", "when", "warps", "do", "barrier", "fence", "fp32", "fma",
	                                    "fp64", "int", "special", "tensor", "shuffle", "move", "conv", "logic", "grid", "block", "registers", "ilp", "local",
	                                    NULL};
	bool taken;
	bool flow = !strcmp(p->word, "loop") || !strcmp(p->word, "repeat");
	enum task_kind kind = flow ? TASK_LOOP : !strcmp(p->word, "branch") ? TASK_BRANCH : !strcmp(p->word, "when") ? TASK_WHEN
	                      : !strcmp(p->word, "warps") ? TASK_WARPS : !strcmp(p->word, "do") ? TASK_DO : TASK_OPERATION;
	int result = add_node(p, kind, node);
	if (result)
		return result;
	if (!p->kernel && kind != TASK_OPERATION)
		return parse_fail(p, "a piece has operations only");
	if (flow)
		return parse_loop(p, *node, *p->word == 'r');
	if (kind == TASK_BRANCH)
		return parse_branch(p, *node);
	if (kind == TASK_WHEN)
		return parse_when(p, *node);
	if (kind == TASK_WARPS)
		return parse_warps(p, *node);
	if (kind == TASK_DO)
		return parse_do(p, *node);
	result = parse_operation(p, *node, &taken);
	return result || taken ? result : parse_unknown(p, "statement", known);
}

static int parse_sizes(struct task_parser *p, const char *what, uint64_t most, uint64_t out[3])
{
	int result = parse_number(p, what, 1, most, &out[0]);
	out[1] = out[2] = 1;
	for (int d = 1; d < 3 && !result && parse_more(p); d++)
		result = parse_number(p, what, 1, most, &out[d]);
	return result ? result : parse_end(p);
}

/* What a kernel is launched with. *taken: it was such a statement. */
static int parse_setting(struct task_parser *p, bool *taken)
{
	struct task_kernel *k = p->kernel;
	uint64_t number = 0;
	int result;
	*taken = true;
	if (k && !strcmp(p->word, "grid"))
		return parse_sizes(p, "the grid", UINT32_MAX, k->grid);
	if (k && !strcmp(p->word, "block"))
		return parse_sizes(p, "the block", 1024, k->block);
	if (k && !strcmp(p->word, "local"))
		return (result = parse_number(p, "the local memory", 0, 1 << 24, &k->local_bytes)) ? result : parse_end(p);
	if (k && !strcmp(p->word, "recorded"))
		return (result = parse_number(p, "the number of warps", 1, UINT64_C(1) << 40, &k->recorded_warps)) ? result : parse_end(p);
	if (k && !strcmp(p->word, "registers")) {
		result = parse_number(p, "the registers", 1, 255, &number);
		k->registers = (uint32_t)number;
		return result ? result : parse_end(p);
	}
	if (k && !strcmp(p->word, "ilp")) {
		result = parse_number(p, "the ilp", 1, MOST_CHAINS, &number);
		k->ilp = (uint32_t)number;
		return result ? result : parse_end(p);
	}
	*taken = false;
	return 0;
}

/* Statements of a list of PPT, in place. */
static int parse_foreign(struct task_parser *p, int32_t *first)
{
	struct gs_buf text = {0};
	int result = p->kernel ? parse_ppt(p, &text) : parse_fail(p, "a piece has operations only");
	struct task_parser inner = *p;
	inner.at = text.data ? text.data : "";
	inner.end = inner.at + text.len;
	if (!result)
		result = parse_body(&inner, first);
	p->pc = inner.pc;
	p->chain = inner.chain;
	gs_buf_free(&text);
	return result;
}

int parse_body(struct task_parser *p, int32_t *first)
{
	int32_t last = TASK_NONE, node = TASK_NONE;
	bool taken = false;
	*first = TASK_NONE;
	if ((++p->depth & ~(1u << 31)) > TASK_MOST_DEPTH)
		return parse_fail(p, "blocks are in blocks more than %d deep", TASK_MOST_DEPTH);
	while (!parse_close(p)) {
		if (p->at == p->end)
			return parse_fail(p, "a } is missing");
		if (*p->at == '{')
			return parse_fail(p, "a { without a loop, branch or kernel before it");
		int result = parse_word(p, "a statement");
		if (!result)
			result = parse_setting(p, &taken);
		if (!result && taken)
			continue;
		if (!result)
			result = strcmp(p->word, "ppt") ? parse_statement(p, &node) : parse_foreign(p, &node);
		if (result)
			return result;
		if (last == TASK_NONE)
			*first = node;
		else
			p->list->nodes[last].next = node;
		for (last = node; p->list->nodes[last].next != TASK_NONE;)
			last = p->list->nodes[last].next;
	}
	p->depth--;
	return 0;
}

/* ---- how much it is ---- */

static double instructions_of(const struct task_list *l, int32_t node)
{
	double sum = 0;
	for (; node != TASK_NONE; node = l->nodes[node].next) {
		const struct task_node *n = &l->nodes[node];
		double body = n->kind == TASK_OPERATION ? n->times : instructions_of(l, n->body);
		double other = n->other == TASK_NONE ? 0 : instructions_of(l, n->other);
		if (n->kind == TASK_LOOP)
			sum += (double)n->most * (body + (n->bare ? 0 : 2));
		else
			sum += body + other + (n->kind == TASK_BRANCH ? 2 : 0);
	}
	return sum;
}

static int check_kernel(struct task_parser *p)
{
	struct task_kernel *k = p->kernel;
	uint64_t items = k->block[0] * k->block[1] * k->block[2], groups;
	if (!k->grid[0] || !k->block[0])
		return parse_fail(p, "kernel %s needs 'grid' and 'block'", k->name);
	if (items > 1024)
		return parse_fail(p, "a block has 1024 work-items at most, not %llu", (unsigned long long)items);
	if (__builtin_mul_overflow(k->grid[0], k->grid[1], &groups) || __builtin_mul_overflow(groups, k->grid[2], &groups) || groups > UINT64_C(1) << 40)
		return parse_fail(p, "the grid of %s is larger than any GPU takes", k->name);
	k->warp_instructions = instructions_of(p->list, k->body);
	if (k->body == TASK_NONE)
		return parse_fail(p, "kernel %s does nothing", k->name);
	if (k->warp_instructions > TASK_MOST_INSTRUCTIONS)
		return parse_fail(p, "a warp of %s would execute %.3g instructions; %d are carried out at most", k->name, k->warp_instructions, TASK_MOST_INSTRUCTIONS);
	k->end_pc = p->pc;
	p->pc += PC_STEP;
	return 0;
}

int parse_kernel(struct task_parser *p)
{
	struct task_list *l = p->list;
	int result = parse_word(p, "the name of the kernel");
	for (size_t i = 0; i < l->kernel_count && !result; i++)
		if (!strcmp(l->kernels[i].name, p->word))
			result = parse_fail(p, "there is a kernel '%.60s' already", p->word);
	if (result)
		return result;
	if (!gs_reserve(&l->kernels, l->kernel_count, &l->kernel_room, sizeof *l->kernels))
		return gs_fail(p->err, ENOMEM, "out of memory");
	p->kernel = &l->kernels[l->kernel_count];
	*p->kernel = (struct task_kernel){.name = strdup(p->word), .registers = 32, .ilp = 1, .body = TASK_NONE};
	l->kernel_count++;
	if (!p->kernel->name)
		return gs_fail(p->err, ENOMEM, "out of memory");
	p->kernel->exits = l->exits;
	result = parse_open(p);
	if (!result)
		result = parse_body(p, &p->kernel->body);
	if (!result)
		result = check_kernel(p);
	p->kernel = NULL;
	return result;
}

int parse_piece(struct task_parser *p)
{
	struct task_list *l = p->list;
	int result = parse_word(p, "the name of the piece");
	if (result)
		return result;
	if (!gs_reserve(&l->pieces, l->piece_count, &l->piece_room, sizeof *l->pieces))
		return gs_fail(p->err, ENOMEM, "out of memory");
	struct task_piece piece = {.name = strdup(p->word), .body = TASK_NONE};
	if (!piece.name)
		return gs_fail(p->err, ENOMEM, "out of memory");
	result = parse_open(p);
	if (!result)
		result = parse_body(p, &piece.body);
	for (int32_t n = piece.body; n != TASK_NONE && !result; n = l->nodes[n].next)
		if (l->nodes[n].access_count && piece.accesses == TASK_MOST_PIECE_ACCESSES)
			result = parse_fail(p, "a piece makes %d accesses at most", TASK_MOST_PIECE_ACCESSES);
		else if (l->nodes[n].access_count)
			piece.widths[piece.accesses++] = (uint8_t)(sass_look_up(l->nodes[n].opcode).bytes ? sass_look_up(l->nodes[n].opcode).bytes : 4);
	l->pieces[l->piece_count++] = piece;
	return result;
}
