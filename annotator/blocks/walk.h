/*
 * The walk through a function's statements: what the files named below share. Every function gives
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
	size_t target; /* depth of the loop or switch that it ends or continues; 0: leaves all of them */
	size_t label;  /* where goto goes to, if that is known; else 0 */
};

enum { TARGET_INSIDE = INT_MAX }; /* of a jump that leaves nothing that is still visited */

struct block_walk {
	struct edit_pass *pass;
	unsigned entry; /* block */
	bool irregular; /* jumps by goto, or a case inside of another statement: the flow is not a tree */
	size_t start; /* behind the token before the statement that is visited next */
	size_t depth, loop_depth; /* loops and switches around; the number of the innermost loop among them */
	bool may_leave; /* the expression that is visited, by a jump: nothing in it is exact */
	bool in_header; /* it is of a loop or switch: compilers do not agree on what a break or continue in it leaves */
	struct conditions *conditions; /* NULL: no memory for them */
	struct jump *jumps; /* so far in this function */
	size_t jump_count;
};

/* blocks.c. Visits one statement and gives its end, behind its ; or }, in *end. */
int walk_statement(struct block_walk *w, CXCursor s, struct place_in_flow flow, size_t *end);
/* An expression in the header of a loop or switch: statements in it may leave by return and goto. */
int walk_header_expression(struct block_walk *w, CXCursor expression, struct place_in_flow flow);
/*
 * A statement that depends on another: then, else, the body of a loop; behind the token that ends at `at`. The
 * block that it starts with is given back in *id; without a kind it goes on with the block around it.
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
int walk_loop(struct block_walk *w, CXCursor s, const struct children *c, struct place_in_flow flow, size_t *end);

/* labels.c */
bool is_label(enum CXCursorKind kind);   /* a case, default or label */
size_t label_of(CXCursor jump);          /* where a goto goes to */
bool contains_label(CXCursor statement); /* not the labels of the statement itself */
bool is_irregular(CXCursor body);        /* see struct block_walk */
/* Statements in it may leave it: ({ if (x) return; y; }) */
bool may_jump_out(const struct block_walk *w, CXCursor expression);
/* The statement under a label, or under a chain of them; flow->block becomes the block that begins there. */
int walk_labelled(struct block_walk *w, CXCursor s, struct place_in_flow *flow, size_t *end);

/* conditions.c */
struct conditions *conditions_new(CXCursor body); /* of a function; NULL when there is no memory */
void conditions_free(struct conditions *k);
/* The block that runs if and only if the condition of an `if` is true, because an `if` before was asked the same; or -1. */
int same_condition(struct block_walk *w, CXCursor condition, struct place_in_flow flow);
void remember_condition(struct block_walk *w, CXCursor condition, struct place_in_flow flow, unsigned then);

/* marks.c: places in the text of a statement, and what is put there. A place that is not found is an error and 0. */
int fail_at(struct block_walk *w, CXCursor s, const char *what);
int no_memory(struct block_walk *w);
size_t start_of(CXCursor s);
size_t behind_brace(const struct block_walk *w, CXCursor s); /* where the first of a list of statements may stand */
size_t behind_word(struct block_walk *w, CXCursor s, size_t at, const char *word); /* that has to stand at `at` */
size_t behind_header(struct block_walk *w, CXCursor s, size_t at, const char *word); /* of a statement: behind its bracket */
int behind_character(struct block_walk *w, CXCursor s, size_t at, char c, size_t *end);
void add_text(struct block_walk *w, size_t at, const char *fixed);
/* A new block with its marker at `at`; *id is left alone on failure. */
int add_marked_block(struct block_walk *w, CXSourceRange range, const char *kind, struct place_in_flow flow, size_t at, unsigned *id);

#endif
