/*
 * The walk through a function's statements, which the files of this folder share. A function that returns int returns
 * pass->result: 0, or the error that ends the walk.
 */
#ifndef GPUSIM_ANNOTATOR_BLOCKS_WALK_H
#define GPUSIM_ANNOTATOR_BLOCKS_WALK_H

#include "annotator/edits/edits.h"
#include "annotator/sites/flow.h"
#include "annotator/source/cursors.h"

#include <limits.h>

struct jump {
	unsigned block;
	size_t target; /* depth of the loop or switch that it ends or continues; 0: it leaves all of them */
	size_t label;  /* where a goto goes to, if that is known; else 0 */
};

enum { TARGET_INSIDE = INT_MAX }; /* target of a jump that leaves nothing that is still visited */

struct block_walk {
	struct edit_pass *pass;
	unsigned entry; /* the first block of the function */
	bool irregular; /* there are gotos, or a case inside of another statement: the flow is not a tree */
	size_t start;   /* end of the token before the statement that is visited next */
	size_t depth, loop_depth; /* how many loops and switches are around; the number of the innermost loop among them */
	bool may_leave; /* a jump may leave the visited expression: nothing in it is exact */
	bool in_header; /* the expression is in the header of a loop or switch: compilers disagree on what break and continue leave */
	struct conditions *conditions; /* NULL: no memory for them */
	struct jump *jumps; /* so far in this function */
	size_t jump_count;
};

/* blocks.c: visits one statement. *end becomes the place after its ; or }. */
int walk_statement(struct block_walk *w, CXCursor s, struct place_in_flow flow, size_t *end);
/* Visits an expression in the header of a loop or switch. Statements in it may leave by return and goto. */
int walk_header_expression(struct block_walk *w, CXCursor expression, struct place_in_flow flow);
/*
 * Visits a statement that depends on another: then, else, the body of a loop. It follows the token that ends at `at`.
 * *id becomes the block that begins with it. Without a kind, no block begins.
 */
int walk_branch(struct block_walk *w, CXCursor s, const char *kind, struct place_in_flow flow, size_t at, int loop,
                unsigned *id, size_t *end);

/* The statements of ({ ... }), a block of their own ("inner"). */
int collect_inner_blocks(struct block_walk *w, CXCursor expression, struct place_in_flow flow);
/* The blocks of a function's body, which begins with a brace. */
int collect_blocks(struct edit_pass *pass, CXCursor function, CXCursor body);

/* expressions.c: the blocks in an expression */
int collect_expression(struct block_walk *w, CXCursor expression, struct place_in_flow flow);

/* table.c */
/* Adds a block. The caller makes its marker. NULL: pass->result says why. */
struct block *add_block(struct block_walk *w, CXSourceRange range, const char *kind, struct place_in_flow flow);
int add_term(struct block_walk *w, unsigned block, unsigned of, int factor);

/* loops.c: a for, while or do whose children are `c` */
/* headers.c: the trips of a loop, if they are a constant, else 0; whether no branches but those of && are in a header. */
unsigned constant_trips(CXCursor s, const struct children *c);
bool only_ands(const CXCursor *parts, size_t count);
int walk_loop(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end);

/* copies.c */
void note_parts(struct block_walk *w, CXCursor s, unsigned loop, size_t body, size_t body_end, size_t first, size_t last);

/* labels.c */
bool is_label(enum CXCursorKind kind);   /* a case, default or label */
size_t label_of(CXCursor jump);          /* where a goto goes to */
bool contains_label(CXCursor statement); /* apart from the labels of the statement itself */
bool is_irregular(CXCursor body);        /* see struct block_walk */
/* Statements in the expression may leave it: ({ if (x) return; y; }) */
bool may_jump_out(const struct block_walk *w, CXCursor expression);
/* Visits the statement under a label or a chain of labels. flow->block becomes the block that begins there. */
int walk_labelled(struct block_walk *w, CXCursor s, struct place_in_flow *flow, size_t *end);

/* conditions.c */
struct conditions *conditions_new(CXCursor body); /* for the body of a function; NULL: out of memory */
void conditions_free(struct conditions *k);
/* The block that runs if and only if the condition of an `if` is true, because an earlier `if` had the same condition; or -1. */
int same_condition(struct block_walk *w, CXCursor condition, struct place_in_flow flow);
void remember_condition(struct block_walk *w, CXCursor condition, struct place_in_flow flow, unsigned then);

/* marks.c: places in the text of a statement, and markers there. A place that is not found is an error, and 0. */
int fail_at(struct block_walk *w, CXCursor s, const char *what);
int no_memory(struct block_walk *w);
size_t start_of(CXCursor s);
size_t after_brace(const struct block_walk *w, CXCursor s); /* where the first statement of a list may stand */
size_t after_word(struct block_walk *w, CXCursor s, size_t at, const char *word); /* the word has to stand at `at` */
size_t after_header(struct block_walk *w, CXCursor s, size_t at, const char *word); /* after the bracket of a statement's header */
int after_character(struct block_walk *w, CXCursor s, size_t at, char c, size_t *end);
void add_text(struct block_walk *w, size_t at, const char *fixed);
/* Adds a block and its marker at `at`. *id becomes the block; it is left alone on failure. */
int add_marked_block(struct block_walk *w, CXSourceRange range, const char *kind, struct place_in_flow flow, size_t at, unsigned *id);

#endif
