/* Expressions of task lists: + - * / % << >> & | ^ comparisons && || and brackets, in C's order, on 64 bits. */
#include "runtime/cmd/task/task.h"

#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum op { OP_NUMBER, OP_VARIABLE, OP_NEGATE, OP_NOT, OP_MUL, OP_DIV, OP_REM, OP_ADD, OP_SUB, OP_SHL, OP_SHR, OP_LT, OP_LE, OP_GT, OP_GE, OP_EQ, OP_NE,
	  OP_AND, OP_XOR, OP_OR, OP_BOTH, OP_EITHER };

struct expression_part {
	uint8_t op;
	int64_t value;
};

/* In the order in which a stack carries it out. */
struct task_expression {
	uint32_t count;
	struct expression_part parts[];
};

struct expression_reader {
	const char *at;
	struct expression_part parts[TASK_MOST_EXPRESSION];
	uint32_t count, depth;
	const char *wrong;
};

#define NAME(name) #name,
static const char *const variable_names[] = {TASK_VARIABLES(NAME)};
#undef NAME

static const struct {
	const char *text;
	uint8_t op, rank;
} operators[] = {
	{"||", OP_EITHER, 1}, {"&&", OP_BOTH, 2}, {"<<", OP_SHL, 8}, {">>", OP_SHR, 8}, {"==", OP_EQ, 6}, {"!=", OP_NE, 6}, {"<=", OP_LE, 7}, {">=", OP_GE, 7},
	{"|", OP_OR, 3}, {"^", OP_XOR, 4}, {"&", OP_AND, 5}, {"<", OP_LT, 7}, {">", OP_GT, 7}, {"+", OP_ADD, 9}, {"-", OP_SUB, 9}, {"*", OP_MUL, 10},
	{"/", OP_DIV, 10}, {"%", OP_REM, 10},
};

static void skip_blanks(struct expression_reader *r)
{
	r->at += strspn(r->at, " \t");
}

static void put(struct expression_reader *r, uint8_t op, int64_t value)
{
	if (r->count == TASK_MOST_EXPRESSION)
		r->wrong = "this expression is too long";
	else
		r->parts[r->count++] = (struct expression_part){op, value};
}

static void read_ranked(struct expression_reader *r, int rank);

static void read_name(struct expression_reader *r)
{
	size_t length = 0;
	while (isalnum((unsigned char)r->at[length]))
		length++;
	for (int v = 0; v < VARIABLE_COUNT; v++)
		if (strlen(variable_names[v]) == length && !strncmp(variable_names[v], r->at, length)) {
			put(r, OP_VARIABLE, v);
			r->at += length;
			return;
		}
	r->wrong = "an expression has lx ly lz gx gy gz local lane warp group item k n i0 ... i7, and no other names";
}

static void read_single(struct expression_reader *r)
{
	skip_blanks(r);
	if (++r->depth > TASK_MOST_DEPTH) {
		r->wrong = "this expression is too deep";
	} else if (*r->at == '-' || *r->at == '!') {
		uint8_t op = *r->at++ == '-' ? OP_NEGATE : OP_NOT;
		read_single(r);
		put(r, op, 0);
	} else if (*r->at == '(') {
		r->at++;
		read_ranked(r, 1);
		skip_blanks(r);
		if (*r->at == ')')
			r->at++;
		else if (!r->wrong)
			r->wrong = "a bracket is not closed";
	} else if (isdigit((unsigned char)*r->at)) {
		char *end;
		put(r, OP_NUMBER, (int64_t)strtoull(r->at, &end, 0));
		r->at = end;
	} else if (isalpha((unsigned char)*r->at)) {
		read_name(r);
	} else {
		r->wrong = "an expression is expected here";
	}
	r->depth--;
}

static int find_operator(const struct expression_reader *r)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(operators); i++)
		if (!strncmp(r->at, operators[i].text, strlen(operators[i].text)))
			return (int)i;
	return -1;
}

/* Operators of this rank or a higher one. */
static void read_ranked(struct expression_reader *r, int rank)
{
	read_single(r);
	while (!r->wrong) {
		skip_blanks(r);
		int i = find_operator(r);
		if (i < 0 || operators[i].rank < rank || (operators[i].op == OP_LT && r->at[1] == '-') ||
		    (operators[i].op == OP_SUB && r->at[1] == '>')) /* <- and -> are none */
			return;
		r->at += strlen(operators[i].text);
		read_ranked(r, operators[i].rank + 1);
		put(r, operators[i].op, 0);
	}
}

struct task_expression *expression_read(const char **at, struct gs_error *err)
{
	struct expression_reader r = {.at = *at};
	read_ranked(&r, 1);
	if (r.wrong) {
		gs_fail(err, EINVAL, "%s", r.wrong);
		return NULL;
	}
	struct task_expression *e = malloc(sizeof *e + r.count * sizeof *e->parts);
	if (!e) {
		gs_fail(err, ENOMEM, "out of memory");
		return NULL;
	}
	e->count = r.count;
	memcpy(e->parts, r.parts, r.count * sizeof *e->parts);
	*at = r.at;
	return e;
}

/* Wraps around, as machines do; nothing is divided by 0. */
static int64_t apply(uint8_t op, int64_t a, int64_t b)
{
	uint64_t x = (uint64_t)a, y = (uint64_t)b;
	switch (op) {
	case OP_MUL: return (int64_t)(x * y);
	case OP_DIV: return b == 0 ? 0 : b == -1 ? (int64_t)(0 - x) : a / b;
	case OP_REM: return b == 0 || b == -1 ? 0 : a % b;
	case OP_ADD: return (int64_t)(x + y);
	case OP_SUB: return (int64_t)(x - y);
	case OP_SHL: return (int64_t)(x << (y & 63));
	case OP_SHR: return (int64_t)(x >> (y & 63));
	case OP_LT: return a < b;
	case OP_LE: return a <= b;
	case OP_GT: return a > b;
	case OP_GE: return a >= b;
	case OP_EQ: return a == b;
	case OP_NE: return a != b;
	case OP_AND: return a & b;
	case OP_XOR: return a ^ b;
	case OP_OR: return a | b;
	case OP_BOTH: return a && b;
	default: return a || b;
	}
}

int64_t expression_value(const struct task_expression *e, const int64_t variables[VARIABLE_COUNT])
{
	int64_t stack[TASK_MOST_EXPRESSION + 1];
	uint32_t top = 0;
	for (uint32_t i = 0; i < e->count; i++) {
		const struct expression_part *p = &e->parts[i];
		if (p->op == OP_NUMBER) {
			stack[top++] = p->value;
		} else if (p->op == OP_VARIABLE) {
			stack[top++] = variables[p->value];
		} else if (p->op == OP_NEGATE) {
			stack[top - 1] = (int64_t)(0 - (uint64_t)stack[top - 1]);
		} else if (p->op == OP_NOT) {
			stack[top - 1] = !stack[top - 1];
		} else {
			stack[top - 2] = apply(p->op, stack[top - 2], stack[top - 1]);
			top--;
		}
	}
	return stack[0];
}
