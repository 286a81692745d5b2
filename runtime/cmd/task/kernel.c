/* Kernels of task lists: their sizes, and what a work-item does. */
#include "runtime/cmd/task/parse.h"

#include "runtime/cmd/accelsim/export/export.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { FIRST_CHAIN = 16, FIRST_NAME = 300, REGISTERS_EACH = 4, MOST_NAMES = 8000, MOST_CHAINS = 32, PC_STEP = 16 };

static int parse_body(struct task_parser *p, int32_t *first);

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

/* ---- registers ---- */

/* R7 is register 7; other names have registers of their own. */
static int register_of(struct task_parser *p, int16_t *out)
{
	struct task_list *l = p->list;
	char *end;
	unsigned long number = *p->word == 'R' && isdigit((unsigned char)p->word[1]) ? strtoul(p->word + 1, &end, 10) : 255;
	if (number != 255 && !*end) {
		*out = (int16_t)(number < FIRST_NAME ? number : 255);
		return number < 255 ? 0 : parse_fail(p, "registers are R0 to R254, not %.20s", p->word);
	}
	size_t i = 0;
	while (i < l->name_count && strcmp(l->names[i], p->word))
		i++;
	if (i == MOST_NAMES)
		return parse_fail(p, "a list has %d names of values at most", MOST_NAMES);
	if (i == l->name_count) {
		if (!gs_reserve(&l->names, i, &l->name_room, sizeof *l->names) || !(l->names[i] = strdup(p->word)))
			return gs_fail(p->err, ENOMEM, "out of memory");
		l->name_count++;
	}
	*out = (int16_t)(FIRST_NAME + i * REGISTERS_EACH);
	return 0;
}

/* "-> x" and "<- y z", in any order. What is not named goes through the chains of the kernel. */
static int parse_values(struct task_parser *p, struct task_node *n)
{
	int result = 0;
	bool named = false, sources = false;
	while (!result && parse_more(p)) {
		if (parse_take(p, "->")) {
			result = parse_word(p, "the name of the result");
			if (!result)
				result = register_of(p, &n->result);
			named = true;
			n->keeps = false;
		} else if (parse_take(p, "<-")) {
			sources = true;
			n->waits = false;
			while (!result && parse_more(p) && strncmp(p->at, "->", 2) && *p->at != '(') {
				result = parse_word(p, "a value");
				if (!result && strcmp(p->word, "none")) {
					if (n->source_count == OBSERVED_SOURCES)
						return parse_fail(p, "an operation waits for %d values at most", OBSERVED_SOURCES);
					result = register_of(p, &n->sources[n->source_count++]);
				}
			}
		} else {
			return parse_end(p);
		}
	}
	if (named && sources)
		n->chains = 0;
	return result;
}

static void set_chains(struct task_parser *p, struct task_node *n)
{
	n->chains = (uint8_t)(p->kernel && p->kernel->ilp ? p->kernel->ilp : 1);
	n->chain = (uint8_t)(p->chain % n->chains);
	p->chain += n->times;
}

static void set_place(struct task_parser *p, struct task_node *n)
{
	n->pc = p->pc;
	p->pc += PC_STEP * (n->times < TASK_MOST_UNROLLED ? n->times : TASK_MOST_UNROLLED);
}

/* ---- operations ---- */

static const struct {
	const char *word, *opcode;
	bool results;
} operations[] = {
	{"fp32", "FADD", true}, {"fp32_fma", "FFMA", true}, {"fma", "FFMA", true}, {"fp32_minmax", "FMNMX", true}, {"fp16", "HADD2", true},
	{"fp16_fma", "HFMA2", true}, {"fp64", "DADD", true}, {"fp64_fma", "DFMA", true}, {"int", "IADD3", true}, {"int_mul", "IMUL", true},
	{"int_mad", "IMAD", true}, {"int_minmax", "IMNMX", true}, {"logic", "LOP3.LUT", true}, {"conv", "I2F", true}, {"move", "MOV", true},
	{"special", "MUFU.EX2", true}, {"sfu", "MUFU.EX2", true}, {"shuffle", "SHFL.IDX", true}, {"tensor", "HMMA.16816.F32", true},
	{"tensor_half", "HMMA.1688.F32", true}, {"tensor_fp64", "DMMA.884", true}, {"nop", "NOP", false}, {"fence", "MEMBAR.SC.GPU", false},
	{"barrier", "BAR.SYNC", false},
};

static int operation_of(const char *word)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(operations); i++)
		if (!strcmp(operations[i].word, word))
			return (int)i;
	return -1;
}

static int parse_times(struct task_parser *p, struct task_node *n)
{
	uint64_t times = 1;
	int result = 0;
	if (parse_more(p) && *p->at == 'x' && isdigit((unsigned char)p->at[1]))
		p->at++;
	if (parse_more(p) && isdigit((unsigned char)*p->at))
		result = parse_number(p, "how often", 1, 1 << 30, &times);
	n->times = (uint32_t)times;
	return result;
}

static int parse_operation(struct task_parser *p, int32_t node, const char *opcode, bool results)
{
	struct task_node *n = &p->list->nodes[node];
	int result = parse_times(p, n);
	if (result)
		return result;
	strncpy(n->opcode, opcode, sizeof n->opcode - 1);
	n->waits = n->keeps = results;
	set_chains(p, n);
	set_place(p, n);
	if (!strncmp(opcode, "BAR", 3) && p->depth & 1u << 31)
		return parse_fail(p, "not all work-items of a group come to this barrier");
	return parse_values(p, n);
}

static void access_opcode(char out[28], const char *word, int32_t target, uint32_t width, bool result)
{
	static const char *const suffix[] = {".U8", ".U16", "", ".64", ".128"};
	bool load = !strcmp(word, "load"), atomic = !strcmp(word, "atomic");
	const char *name = target == TARGET_LOCAL ? (load ? "LDS" : atomic ? "ATOMS.ADD" : "STS")
	                   : target == TARGET_PRIVATE ? (load ? "LDL" : "STL") : load ? "LDG.E" : atomic ? (result ? "ATOMG.E.ADD" : "RED.E.ADD") : "STG.E";
	snprintf(out, 28, "%s%s", name, suffix[__builtin_ctz(width)]);
}

static int parse_memory(struct task_parser *p, int32_t node, const char *word)
{
	char kind[16];
	int32_t access;
	snprintf(kind, sizeof kind, "%s", word);
	int result = parse_access(p, 0, &access);
	if (result)
		return result;
	struct task_node *n = &p->list->nodes[node];
	const struct task_access *a = &p->list->accesses[access];
	if (a->target == TARGET_PRIVATE && !strcmp(kind, "atomic"))
		return parse_fail(p, "private memory needs no atomic operations");
	n->access = access;
	n->access_count = 1;
	n->keeps = !strcmp(kind, "load");
	n->waits = strcmp(kind, "load") != 0;
	if (parse_take(p, "dependent"))
		n->waits = true;
	if (parse_more(p) && *p->at == 'x')
		result = parse_times(p, n);
	set_chains(p, n);
	set_place(p, n);
	if (!result)
		result = parse_values(p, n);
	access_opcode(n->opcode, kind, a->target, a->width, n->result >= 0);
	return result;
}

/* A machine instruction by its name. What it accesses is behind `in`, or comes with the piece. */
static int parse_opcode(struct task_parser *p, int32_t node)
{
	struct task_node *n = &p->list->nodes[node];
	if (strlen(p->word) >= sizeof n->opcode)
		return parse_fail(p, "'%.60s' is longer than opcodes are", p->word);
	strcpy(n->opcode, p->word);
	const struct sass_opcode o = sass_look_up(n->opcode);
	bool memory = o.space != SPACE_none && o.space != SPACE_const, exits = o.flags & SASS_EXIT;
	int result = parse_times(p, n);
	if (!result && memory && parse_take(p, "off")) {
		n->off = true;
		memory = false;
	} else if (!result && parse_take(p, "in")) {
		int32_t access;
		if (!memory)
			return parse_fail(p, "%s accesses no memory", n->opcode);
		result = parse_access(p, o.bytes ? o.bytes : 4, &access);
		n = &p->list->nodes[node];
		n->access = access;
	} else if (!result && memory && p->kernel) {
		return parse_fail(p, "%s needs an address: 'in BUFFER PATTERN'", n->opcode);
	}
	n->access_count = memory;
	set_place(p, n);
	if (p->kernel)
		p->kernel->exits |= exits;
	p->list->exits |= exits && !p->kernel;
	return result ? result : parse_values(p, n);
}

/* ---- flow ---- */

static enum task_by parse_by(struct task_parser *p, enum task_by usual)
{
	return parse_take(p, "lane") ? BY_LANE : parse_take(p, "warp") ? BY_WARP : parse_take(p, "group") ? BY_GROUP : usual;
}

/* A body whose lanes or warps may not all be there. */
static int parse_inner(struct task_parser *p, int32_t node, bool other, bool parted)
{
	uint32_t before = p->depth;
	int32_t body;
	if (parted)
		p->depth |= 1u << 31;
	int result = parse_open(p);
	if (!result)
		result = parse_body(p, &body);
	p->depth = before;
	if (result)
		return result;
	if (other)
		p->list->nodes[node].other = body;
	else
		p->list->nodes[node].body = body;
	return 0;
}

static int parse_loop(struct task_parser *p, int32_t node, bool bare)
{
	uint64_t least, most;
	double chance = 0;
	char *dots;
	int result = parse_word(p, "the turns");
	if (result)
		return result;
	if ((dots = strstr(p->word, ".."))) { /* the range is two words for the reader of numbers */
		size_t length = strlen(p->word);
		p->at -= length - (size_t)(dots - p->word) - 2;
		*dots = 0;
	}
	struct task_parser first = *p;
	char text[TASK_WORD];
	strcpy(text, p->word);
	first.at = text;
	first.end = text + strlen(text);
	result = parse_number(&first, "the number of turns", 0, 1 << 30, &least);
	most = least;
	if (!result && dots)
		result = parse_number(p, "the most turns", least, 1 << 30, &most);
	enum task_by by = parse_by(p, BY_WARP);
	if (!result && parse_take(p, "until"))
		result = parse_real(p, "the chance to end", 0, 1, &chance);
	struct task_node *n = &p->list->nodes[node];
	n->least = least;
	n->most = most;
	n->chance = chance;
	n->by = by;
	n->bare = bare;
	bool random = least != most || chance > 0;
	if (p->kernel)
		p->kernel->varies |= random;
	if (!result)
		result = parse_inner(p, node, false, random && by != BY_GROUP);
	if (!bare) {
		p->list->nodes[node].pc = p->pc;
		p->pc += 2 * PC_STEP;
	}
	return result;
}

static int parse_else(struct task_parser *p, int32_t node, bool parted)
{
	struct task_parser before = *p;
	if (parse_skip(p) && parse_take(p, "else"))
		return parse_inner(p, node, true, parted);
	*p = before;
	return 0;
}

static int parse_branch(struct task_parser *p, int32_t node)
{
	double chance;
	int result = parse_real(p, "the chance", 0, 1, &chance);
	enum task_by by = parse_by(p, BY_LANE);
	struct task_node *n = &p->list->nodes[node];
	n->chance = chance;
	n->by = by;
	n->pc = p->pc;
	p->pc += 2 * PC_STEP;
	if (p->kernel)
		p->kernel->varies |= chance > 0 && chance < 1;
	bool parted = by != BY_GROUP && chance > 0 && chance < 1;
	if (!result)
		result = parse_inner(p, node, false, parted);
	return result ? result : parse_else(p, node, parted);
}

static int parse_when(struct task_parser *p, int32_t node)
{
	struct gs_error why;
	struct task_list *l = p->list;
	if (!gs_reserve(&l->expressions, l->expression_count, &l->expression_room, sizeof *l->expressions))
		return gs_fail(p->err, ENOMEM, "out of memory");
	struct task_expression *e = expression_read(&p->at, &why);
	if (!e)
		return parse_fail(p, "%s", why.text);
	l->expressions[l->expression_count++] = e;
	l->nodes[node].when = e;
	if (p->kernel)
		p->kernel->varies = true;
	int result = parse_inner(p, node, false, false);
	return result ? result : parse_else(p, node, false);
}

/* Numbers of warps in the launch: 0-31 40 50-60 */
static int parse_warps(struct task_parser *p, int32_t node)
{
	struct task_list *l = p->list;
	size_t first = l->range_count;
	while (parse_more(p)) {
		char *end;
		int result = parse_word(p, "the number of a warp");
		if (result)
			return result;
		struct task_range r = {strtoull(p->word, &end, 10), 0};
		r.last = *end == '-' ? strtoull(end + 1, &end, 10) : r.first;
		if (end == p->word || *end || r.last < r.first)
			return parse_fail(p, "numbers of warps are 7 or 0-31, not '%.40s'", p->word);
		if (!gs_reserve(&l->ranges, l->range_count, &l->range_room, sizeof *l->ranges))
			return gs_fail(p->err, ENOMEM, "out of memory");
		l->ranges[l->range_count++] = r;
	}
	l->nodes[node].first_range = first;
	l->nodes[node].range_count = l->range_count - first;
	if (p->kernel)
		p->kernel->varies = true;
	return parse_inner(p, node, false, false);
}

static int parse_do(struct task_parser *p, int32_t node)
{
	struct task_list *l = p->list;
	int result = parse_word(p, "the name of the piece");
	size_t i = 0;
	while (!result && i < l->piece_count && strcmp(l->pieces[i].name, p->word))
		i++;
	if (!result && i == l->piece_count)
		result = parse_fail(p, "there is no piece '%.60s' before it", p->word);
	if (result)
		return result;
	l->nodes[node].body = l->pieces[i].body;
	while (!result && parse_take(p, "(")) {
		int32_t access;
		result = parse_access(p, l->pieces[i].widths[l->nodes[node].access_count % TASK_MOST_PIECE_ACCESSES], &access);
		if (!result && !parse_take(p, ")"))
			result = parse_fail(p, "a ) is missing");
		if (!result && !l->nodes[node].access_count++)
			l->nodes[node].access = access;
	}
	if (!result && l->nodes[node].access_count != l->pieces[i].accesses)
		return parse_fail(p, "%s makes %u accesses, not %u", l->pieces[i].name, l->pieces[i].accesses, l->nodes[node].access_count);
	return result ? result : parse_end(p);
}

/* ---- statements ---- */

static int parse_statement(struct task_parser *p, int32_t *node)
{
	static const char *const known[] = {"load", "store", "atomic", "loop", "repeat", "branch", "when", "warps", "do", "barrier", "fence", "fp32", "fma",
	                                    "fp64", "int", "special", "tensor", "shuffle", "move", "conv", "logic", "grid", "block", "registers", "ilp", "local",
	                                    NULL};
	int operation = operation_of(p->word);
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
	if (operation >= 0)
		return parse_operation(p, *node, operations[operation].opcode, operations[operation].results);
	if (!strcmp(p->word, "load") || !strcmp(p->word, "store") || !strcmp(p->word, "atomic"))
		return p->kernel ? parse_memory(p, *node, p->word) : parse_fail(p, "accesses of a piece have opcodes");
	return isupper((unsigned char)*p->word) ? parse_opcode(p, *node) : parse_unknown(p, "statement", known);
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
	inner.at = text.data;
	inner.end = text.data + text.len;
	if (!result)
		result = parse_body(&inner, first);
	p->pc = inner.pc;
	p->chain = inner.chain;
	gs_buf_free(&text);
	return result;
}

static int parse_body(struct task_parser *p, int32_t *first)
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
