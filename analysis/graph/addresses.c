/* Builds expressions of addresses (addresses.h). It follows registers back to their definitions. */
#include "analysis/graph/addresses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { NOT_YET = -1, IN_PROGRESS = -2, MOST_DEPTH = 400, MOST_NODES = 20000 };

struct finder {
	const struct ptx_function *f;
	int32_t *first_def, *next_def; /* per register: a list of the instructions that define it, in order; -1 ends it */
	int32_t *def_of;               /* scratch: the latest definition, while the lists are made */
	int32_t *register_node;
	int32_t *instruction_node;
	struct code_node *nodes;
	bool *uniform; /* per node: the same in all lanes */
	uint32_t node_count, room;
	int depth;
	bool failed;
};

static bool is_uniform(const struct finder *s, int32_t node)
{
	return node < 0 || s->uniform[node];
}

static bool make_room(struct finder *s)
{
	uint32_t room = s->room ? 2 * s->room : 256;
	struct code_node *nodes = reallocarray(s->nodes, room, sizeof *nodes);
	s->nodes = nodes ? nodes : s->nodes;
	bool *uniform = reallocarray(s->uniform, room, sizeof *uniform);
	s->uniform = uniform ? uniform : s->uniform;
	if (nodes && uniform)
		s->room = room;
	return nodes && uniform;
}

static int32_t add_node(struct finder *s, struct code_node n)
{
	if (s->node_count == s->room && !make_room(s)) {
		s->failed = true;
		return 0;
	}
	s->nodes[s->node_count] = n;
	s->uniform[s->node_count] = n.op != NODE_varying && n.op != NODE_loaded && n.op != NODE_tid && is_uniform(s, n.a) && is_uniform(s, n.b) &&
	                            is_uniform(s, n.c);
	return (int32_t)s->node_count++;
}

static int32_t leaf(struct finder *s, enum code_node_op op, uint8_t bits, int64_t value)
{
	return add_node(s, (struct code_node){.op = op, .from_bits = bits, .to_bits = bits, .a = -1, .b = -1, .c = -1,
	                                      .value = value});
}

/* Every table begins with two fixed nodes for unknown values: one is the same in all lanes, the other is not. */
enum { UNIFORM_NODE, VARYING_NODE };

/* The node of a result that is not computed. It is uniform if all operands are. */
static int32_t unknown_of(struct finder *s, const int32_t *operands, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!is_uniform(s, operands[i]))
			return VARYING_NODE;
	return UNIFORM_NODE;
}

static int32_t node_of_register(struct finder *s, int32_t reg);

bool id_of_special(const char *name, enum code_node_op *op, int64_t *dimension)
{
	static const struct {
		const char *name;
		enum code_node_op op;
	} specials[] = {{"%tid.", NODE_tid}, {"%ntid.", NODE_ntid}, {"%ctaid.", NODE_ctaid}, {"%nctaid.", NODE_nctaid}};
	for (size_t i = 0; i < GS_ARRAY_LEN(specials); i++) {
		size_t length = strlen(specials[i].name);
		if (!strncmp(name, specials[i].name, length) && name[length] >= 'x' && name[length] <= 'z') {
			*op = specials[i].op;
			*dimension = name[length] - 'x';
			return true;
		}
	}
	return false;
}

static int32_t node_of_special(struct finder *s, const char *name)
{
	enum code_node_op op;
	int64_t dimension;
	if (id_of_special(name, &op, &dimension))
		return leaf(s, op, 32, dimension);
	return strncmp(name, "%lane", 5) ? UNIFORM_NODE : VARYING_NODE;
}

/* Estimates depend on these addresses, so this hash must not change. */
int64_t address_of_symbol(const char *name)
{
	uint64_t hash = 5381;
	for (; name && *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return (int64_t)((hash & 0xffff) << 20);
}

static int32_t node_of_symbol(struct finder *s, const char *name, int64_t offset)
{
	return leaf(s, NODE_value, 64, address_of_symbol(name) + offset);
}

static int32_t node_of_operand(struct finder *s, const struct ptx_operand *o)
{
	switch (o->kind) {
	case PTX_REGISTER:
		return node_of_register(s, o->reg);
	case PTX_IMMEDIATE:
		return leaf(s, NODE_value, 64, o->value);
	case PTX_SPECIAL:
		return node_of_special(s, o->text);
	case PTX_SYMBOL:
		return node_of_symbol(s, o->text, o->value);
	default:
		return UNIFORM_NODE;
	}
}

static int32_t node_of_address(struct finder *s, const struct ptx_operand *o)
{
	int32_t base = o->reg >= 0 ? node_of_register(s, o->reg)
	                           : node_of_symbol(s, o->text ? o->text : "", 0);
	if (!o->value)
		return base;
	return add_node(s, (struct code_node){.op = NODE_add, .from_bits = 64, .to_bits = 64, .a = base,
	                                      .b = leaf(s, NODE_value, 64, o->value), .c = -1});
}

int64_t parameter_index(const char *name)
{
	const char *at = name ? strstr(name, "_param_") : NULL;
	for (const char *more = at; more; more = strstr(more + 1, "_param_"))
		at = more;
	return at && at[7] >= '0' && at[7] <= '9' ? strtoll(at + 7, NULL, 10) : -1;
}

const struct ptx_operand *address_operand(const struct ptx_instruction *i)
{
	for (uint32_t o = 0; o < i->operand_count; o++)
		if (i->operands[o].kind == PTX_ADDRESS)
			return &i->operands[o];
	return NULL;
}

static bool contains(const struct finder *s, int32_t node, enum code_node_op op, int depth)
{
	const struct code_node *n = &s->nodes[node];
	if (n->op == op || depth > 20)
		return true;
	return (n->a >= 0 && contains(s, n->a, op, depth + 1)) || (n->b >= 0 && contains(s, n->b, op, depth + 1)) ||
	       (n->c >= 0 && contains(s, n->c, op, depth + 1));
}

/* Whether the value is fully known: nothing in it is loaded, and nothing in it is an operation that we do not follow. */
static bool is_known(const struct finder *s, int32_t node, int depth)
{
	return !contains(s, node, NODE_varying, depth) && !contains(s, node, NODE_loaded, depth);
}

static int32_t node_of_load(struct finder *s, const struct ptx_instruction *i)
{
	const struct ptx_operand *at = address_operand(i);
	if (!at)
		return VARYING_NODE;
	if (i->space == SPACE_param) {
		int64_t index = parameter_index(at->text);
		if (index < 0 || at->value || i->elements > 1)
			return s->f->entry ? UNIFORM_NODE : VARYING_NODE;
		return leaf(s, NODE_param, (uint8_t)(i->bytes < 8 ? 8 * i->bytes : 64), index);
	}
	int32_t address = node_of_address(s, at);
	if (i->class == CODE_load && i->elements <= 1 && !is_uniform(s, address) && is_known(s, address, 0))
		return leaf(s, NODE_loaded, (uint8_t)(i->bytes < 8 ? 8 * i->bytes : 64), 0);
	return i->class == CODE_load ? unknown_of(s, &address, 1) : VARYING_NODE;
}

/* One opcode of integer arithmetic. */
struct arithmetic {
	const char *name;
	enum code_node_op op;
	uint8_t operands;
};

static const struct arithmetic *find_arithmetic(const char *opcode, size_t length)
{
	static const struct arithmetic table[] = {
		{"add", NODE_add, 2}, {"sub", NODE_sub, 2}, {"mul", NODE_mul, 2}, {"mul24", NODE_mul, 2}, {"mad", NODE_mad, 3},
		{"mad24", NODE_mad, 3}, {"shl", NODE_shl, 2}, {"shr", NODE_shr, 2}, {"and", NODE_and, 2}, {"or", NODE_or, 2},
		{"xor", NODE_xor, 2}, {"not", NODE_not, 1}, {"neg", NODE_neg, 1}, {"min", NODE_min, 2}, {"max", NODE_max, 2},
		{"div", NODE_div, 2}, {"rem", NODE_rem, 2}, {"mov", NODE_cvt, 1}, {"cvt", NODE_cvt, 1}, {"cvta", NODE_cvt, 1},
		{"selp", NODE_select, 3}, {"setp", NODE_eq, 2},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(table); i++)
		if (strlen(table[i].name) == length && !strncmp(table[i].name, opcode, length))
			return &table[i];
	return NULL;
}

/* The n-th type of an opcode, counted from its end: ".s64.u32": 0 is u32. False for floating point. */
static bool type_from_end(const char *opcode, int n, char *kind, uint8_t *bits)
{
	const char *end = opcode + strlen(opcode);
	for (;; n--) {
		const char *dot = end;
		while (dot > opcode && *--dot != '.')
			;
		if (*dot != '.')
			return false;
		if (n == 0) {
			*kind = dot[1];
			*bits = !strncmp(dot, ".pred", 5) ? 1 : (uint8_t)strtoul(dot + 2, NULL, 10);
			if (*kind == 'p')
				*kind = 'b';
			return strchr("busp", *kind) && *bits >= 1 && *bits <= 64;
		}
		end = dot;
	}
}

static enum code_node_op comparison(const char *opcode, bool *swap)
{
	*swap = strstr(opcode, ".gt.") || strstr(opcode, ".ge.") || strstr(opcode, ".hi.") || strstr(opcode, ".hs.");
	if (strstr(opcode, ".lt.") || strstr(opcode, ".gt.") || strstr(opcode, ".lo.") || strstr(opcode, ".hi."))
		return NODE_lt;
	if (strstr(opcode, ".le.") || strstr(opcode, ".ge.") || strstr(opcode, ".ls.") || strstr(opcode, ".hs."))
		return NODE_le;
	return strstr(opcode, ".ne.") ? NODE_ne : NODE_eq;
}

/* Finds the widths that an operation works in. Returns false if it is not an integer operation. */
static bool find_widths(const char *opcode, struct code_node *n)
{
	char kind;
	uint8_t bits;
	if (!type_from_end(opcode, 0, &kind, &bits))
		return false;
	n->from_bits = n->to_bits = bits;
	n->signed_ = kind == 's';
	if (strstr(opcode, ".wide."))
		n->to_bits = (uint8_t)(2 * bits);
	else if (strstr(opcode, ".hi."))
		return !strncmp(opcode, "set", 3); /* we do not follow the upper half of a product */
	if (!strncmp(opcode, "cvt.", 4) && !type_from_end(opcode, 1, &kind, &n->to_bits))
		return false;
	return n->from_bits <= 64 && n->to_bits <= 64;
}

bool operation_of(const struct ptx_instruction *i, size_t count, struct code_node *n, bool *swap)
{
	const struct arithmetic *a = find_arithmetic(i->opcode, strcspn(i->opcode, "."));
	*n = (struct code_node){.a = -1, .b = -1, .c = -1};
	*swap = false;
	if (!a || count != a->operands || !find_widths(i->opcode, n))
		return false;
	n->op = a->op;
	if (!strncmp(i->opcode, "setp", 4)) {
		n->op = comparison(i->opcode, swap);
		n->to_bits = 1;
	}
	return true;
}

static int32_t node_of_arithmetic(struct finder *s, const struct ptx_instruction *i, const int32_t *sources,
                                  size_t count)
{
	struct code_node n;
	bool swap;
	if (!operation_of(i, count, &n, &swap))
		return unknown_of(s, sources, count);
	n.a = sources[swap ? 1 : 0];
	n.b = count > 1 ? sources[swap ? 0 : 1] : -1;
	n.c = count > 2 ? sources[2] : -1;
	return s->node_count < MOST_NODES ? add_node(s, n) : unknown_of(s, sources, count);
}

static int32_t node_of_definition(struct finder *s, uint32_t at)
{
	const struct ptx_instruction *i = &s->f->instructions[at];
	int32_t sources[PTX_MAX_REGISTERS];
	size_t count = 0, writes = 0;
	if (s->instruction_node[at] == IN_PROGRESS)
		return UNIFORM_NODE; /* the amount that a loop adds */
	if (s->instruction_node[at] >= 0)
		return s->instruction_node[at];
	if (i->class == CODE_load)
		return s->instruction_node[at] = node_of_load(s, i);
	s->instruction_node[at] = IN_PROGRESS;
	for (uint32_t o = 0; o < i->operand_count && count < GS_ARRAY_LEN(sources); o++) {
		if (i->operands[o].write)
			writes++;
		else
			sources[count++] = node_of_operand(s, &i->operands[o]);
	}
	int32_t node;
	if (i->class >= CODE_load || i->class == CODE_shuffle || i->flags & CODE_CALL)
		node = VARYING_NODE;
	else if (writes != 1)
		node = unknown_of(s, sources, count);
	else
		node = node_of_arithmetic(s, i, sources, count);
	return s->instruction_node[at] = node;
}

/* A register with several definitions takes the first one that differs between lanes. It is unknown if one of them is. */
static int32_t node_of_definitions(struct finder *s, int32_t reg)
{
	int32_t node = NOT_YET;
	bool all_uniform = true;
	for (int32_t d = s->first_def[reg]; d >= 0; d = s->next_def[d]) {
		int32_t other = node_of_definition(s, (uint32_t)d);
		if (other == VARYING_NODE)
			return VARYING_NODE;
		all_uniform &= is_uniform(s, other);
		if (node < 0 || is_uniform(s, node))
			node = other;
	}
	bool several = s->next_def[s->first_def[reg]] >= 0;
	if (node < 0 || (all_uniform && several))
		return UNIFORM_NODE;
	if (several && contains(s, node, NODE_loaded, 0))
		return add_node(s, (struct code_node){.op = NODE_list, .from_bits = 64, .to_bits = 64, .a = node, .b = -1, .c = -1});
	return node;
}

static int32_t node_of_register(struct finder *s, int32_t reg)
{
	if (reg < 0 || (uint32_t)reg >= s->f->register_count)
		return VARYING_NODE;
	if (s->register_node[reg] == IN_PROGRESS)
		return UNIFORM_NODE;
	if (s->register_node[reg] >= 0)
		return s->register_node[reg];
	if (s->first_def[reg] < 0) /* for example, a parameter of a function */
		return s->register_node[reg] = VARYING_NODE;
	if (s->depth > MOST_DEPTH)
		return VARYING_NODE;
	s->register_node[reg] = IN_PROGRESS;
	s->depth++;
	int32_t node = node_of_definitions(s, reg);
	s->depth--;
	return s->register_node[reg] = node;
}

static void list_definitions(struct finder *s)
{
	for (uint32_t r = 0; r < s->f->register_count; r++)
		s->first_def[r] = s->def_of[r] = s->register_node[r] = NOT_YET;
	for (uint32_t i = 0; i < s->f->instruction_count; i++) {
		struct ptx_uses uses;
		ptx_uses(&s->f->instructions[i], &uses);
		s->next_def[i] = -1;
		s->instruction_node[i] = NOT_YET;
		/* A vector load writes several registers, and they share one place in the list. Loads of vectors are not followed, so
		 * only the first register is listed. */
		for (uint8_t w = 0; w < uses.writes; w++) {
			int32_t r = uses.list[w];
			if (w && s->first_def[r] < 0)
				s->register_node[r] = VARYING_NODE;
			if (w)
				continue;
			if (s->def_of[r] < 0)
				s->first_def[r] = (int32_t)i;
			else
				s->next_def[s->def_of[r]] = (int32_t)i;
			s->def_of[r] = (int32_t)i;
		}
	}
}

static uint8_t kind_of_guard(struct finder *s, int32_t reg)
{
	int32_t node = node_of_register(s, reg);
	if (is_uniform(s, node))
		return CODE_UNIFORM;
	while (s->nodes[node].op == NODE_not || s->nodes[node].op == NODE_cvt)
		node = s->nodes[node].a;
	const struct code_node *n = &s->nodes[node];
	bool compares = n->op == NODE_lt || n->op == NODE_le;
	return compares && (is_uniform(s, n->a) || is_uniform(s, n->b)) && is_known(s, node, 0) ? CODE_ORDERED : 0;
}

static void find_all(struct finder *s, int32_t *of, uint8_t *guards)
{
	leaf(s, NODE_uniform, 64, 0);
	leaf(s, NODE_varying, 64, 0);
	list_definitions(s);
	for (uint32_t i = 0; i < s->f->instruction_count && !s->failed; i++) {
		const struct ptx_instruction *in = &s->f->instructions[i];
		const struct ptx_operand *at = in->space != SPACE_none ? address_operand(in) : NULL;
		of[i] = at && in->space != SPACE_param ? node_of_address(s, at) : -1;
		guards[i] = in->guard >= 0 ? kind_of_guard(s, in->guard) : 0;
	}
}

int addresses_find(const struct graph *g, struct address_table *out, struct gs_error *err)
{
	const struct ptx_function *f = g->function;
	struct finder s = {.f = f};
	s.first_def = calloc(f->register_count + 1, sizeof *s.first_def);
	s.def_of = calloc(f->register_count + 1, sizeof *s.def_of);
	s.register_node = calloc(f->register_count + 1, sizeof *s.register_node);
	s.next_def = calloc(f->instruction_count + 1, sizeof *s.next_def);
	s.instruction_node = calloc(f->instruction_count + 1, sizeof *s.instruction_node);
	int32_t *of = calloc(f->instruction_count + 1, sizeof *of);
	uint8_t *guards = calloc(f->instruction_count + 1, sizeof *guards);
	s.failed = !s.first_def || !s.def_of || !s.register_node || !s.next_def || !s.instruction_node || !of || !guards;
	if (!s.failed)
		find_all(&s, of, guards);
	free(s.first_def);
	free(s.uniform);
	free(s.def_of);
	free(s.register_node);
	free(s.next_def);
	free(s.instruction_node);
	if (s.failed) {
		free(s.nodes);
		free(of);
		free(guards);
		return gs_fail(err, ENOMEM, "out of memory");
	}
	*out = (struct address_table){.nodes = s.nodes, .node_count = s.node_count, .of = of, .guards = guards};
	return 0;
}

void addresses_free(struct address_table *t)
{
	free(t->nodes);
	free(t->of);
	free(t->guards);
	*t = (struct address_table){0};
}
