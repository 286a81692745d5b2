/* generate.h - declarations that the parts of the generator share: the text so far, chance, and the kinds of text that they add. */
#ifndef GENERATE_H
#define GENERATE_H

#include <stdint.h>
#include <stdio.h>

/* A pair of alternatives: the OpenCL C text, then the C text. They hold only fixed words, so they never nest. */
#define ALT(cl, c) "\1" cl "\2" c "\3"

enum { MAX_NAMES = 64, MAX_HELPERS = 6, PER_ITEM = 4 };

/* The last kind has barriers. It is called only where all work-items of a group call it. */
enum helper_kind { HELPER_VALUE, HELPER_VECTOR, HELPER_POINTER, HELPER_STRUCT, HELPER_LOCAL, HELPER_KINDS };

enum returns { RETURNS_NOT, RETURNS_VOID, RETURNS_VALUE, RETURNS_VECTOR, RETURNS_STRUCT };

struct name {
	char text[16];
	int assignable;
};

struct helper {
	enum helper_kind kind;
	int late; /* defined after the kernels, declared by a prototype */
	int is_static;
};

/* What a statement may do at its place. */
struct place {
	int loops; /* loops around it in this function */
	int depth; /* statements around it */
	int may_break, may_continue;
	enum returns returns;
	int label; /* a label that follows later in an enclosing list, or -1 */
};

struct generator {
	uint64_t random;
	FILE *out;
	int indent, blocks, labels, temporaries;
	long seed;
	struct name names[MAX_NAMES];
	int name_count;
	struct helper helpers[MAX_HELPERS];
	int helper_count;
	int callable; /* helpers below this number may be called; this prevents recursion */
	int in_kernel;
	int budget; /* how many more statements may contain others */
	int divided; /* every kernel has barriers, most of them under conditions, with jumps around them */
	int relaxed; /* the program is built with options that allow inexact arithmetic */
};

extern struct generator g;

struct range {
	unsigned int global[3], local[3];
};

struct kernel {
	struct range range;
	int barriers, local_argument, required_size, plain; /* plain: another kernel may call it */
};

/* generate.c */
uint32_t chance(uint32_t below);
int percent(uint32_t p);
__attribute__((format(printf, 1, 2))) void put(const char *format, ...);
void line(void);
void open_block(void);
void close_brace(void);
void declare(const char *text, int assignable);

/* expressions.c: all without effects, unless they say otherwise; depth limits how far they nest */
void expression(int depth);
void condition(int depth);
void decision(void);
void effect(void);
void own_value(int depth, unsigned int mask);
void masked(const char *before, int depth, const char *after);
void vector_operand(void);
void vector_statement(void);
void float_statement(void);
const char *compound_op(void);
int may_call(enum helper_kind kind);

/* statements.c */
void statement(struct place p);
void statements(struct place p, int count);
const char *target(void);

/* functions.c */
struct range choose_range(void);
void helper_head(int h);
void helper(int h);
void kernel(int number, const struct kernel *k, int calls);

#endif
