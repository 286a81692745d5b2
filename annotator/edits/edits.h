/*
 * The edits of a unit.
 *
 * An edit says what to insert at one place of the unit's text, and how many bytes of the text it replaces. What it inserts
 * depends on the marker form that is written, so an edit has a kind and not a text. A new kind of marker needs one more kind.
 */
#ifndef GPUSIM_ANNOTATOR_EDITS_EDITS_H
#define GPUSIM_ANNOTATOR_EDITS_EDITS_H

#include "annotator/edits/functions.h"

/* The prefix of the clone of a kernel: the function that callers of the kernel call. */
#define CLONE_PREFIX "__gpusim_call_"

enum edit_kind {
	EDIT_PARAMETER,       /* adds the counters as a last parameter; replaces `void` in f(void) */
	EDIT_ARGUMENT,        /* adds the counters as a last argument of a call */
	EDIT_CALLEE,          /* makes a call of a kernel one of its clone */
	EDIT_PRINT,           /* replaces printf, which a silent twin does not call */
	EDIT_BOX,             /* replaces a builtin by the box function of the same meaning ... */
	EDIT_BOX_END,         /* ... and adds the box as its last argument */
	EDIT_INLINE,          /* before the definition of a function or of a clone */
	EDIT_COUNT,           /* the marker of a block, as a statement */
	EDIT_WRAP,            /* the marker of a block that is an expression: (marker, ( ... */
	EDIT_WRAP_END,        /* ... )) */
	EDIT_TEXT,            /* fixed text, in every form */
	EDIT_RETURN,          /* before `return` in a kernel ... */
	EDIT_RETURN_END,      /* ... and after it */
	EDIT_RETURN_CALL,     /* replaces the `return` before an expression in a kernel: the expression comes first ... */
	EDIT_RETURN_CALL_END, /* ... and the return after it */
	EDIT_KERNEL_END,      /* before the closing brace of a kernel */
	EDIT_LOOP,            /* before a loop ... */
	EDIT_LOOP_END,        /* ... and after it: where its trips are counted, if that is wanted */
	EDIT_LEAVE,           /* before a return or goto that leaves loops; `block` is the innermost */
	EDIT_DROP,            /* removes an attribute that is not true any more once the function counts */
	EDIT_CLONE,           /* a copy of the bytes from..at as a plain function, for the callers of a kernel */
	EDIT_CLONE_NAME,      /* inside of the clone only: its name ... */
	EDIT_KERNEL_ONLY,     /* ... and words that only a kernel may have */
	EDIT_CLONE_TEXT,      /* inside of the clone only: fixed text that replaces the bytes */
	EDIT_TRACED,          /* fixed text, in traced text only: around an access, or after a declaration */
};

struct edit {
	size_t at, drop; /* where in the unit's text; how many bytes it replaces */
	enum edit_kind kind;
	const struct function *function;
	const struct function *callee; /* EDIT_ARGUMENT */
	bool alone;              /* EDIT_PARAMETER, EDIT_ARGUMENT, EDIT_BOX_END: the list is empty, so there is no comma */
	bool of_clone;           /* EDIT_PARAMETER: the parameters of a kernel's clone, wherever it is written */
	bool entry;              /* EDIT_COUNT: the first block of its function */
	unsigned block;          /* EDIT_COUNT, EDIT_WRAP*: the block; EDIT_LOOP*: the loop; EDIT_BOX: enum box_function */
	const char *fixed;       /* EDIT_TEXT, EDIT_CLONE_TEXT, EDIT_TRACED */
	size_t from;             /* EDIT_CLONE */
	struct source_place place, end; /* EDIT_CLONE: the places of `from` and `at` */
	size_t order;            /* keeps edits at one place in the order in which they were made */
};

/* The second pass, over one unit. */
struct edit_pass {
	struct annotation *a;
	struct parsed_unit *unit;
	size_t unit_index;
	struct function *function; /* its declaration is visited */
	bool inner;                /* the declaration is inside of a function */
	size_t type_name;          /* declarators.c: place of the last type name that was replaced */
	size_t list;               /* declarators.c: place of the last declaration of several kernels, plus 1 */
	struct gs_error *err;
	int result;
};

/* Adds an edit of pass->function. NULL: out of memory, and pass->result says so. */
struct edit *add_edit(struct edit_pass *pass, enum edit_kind kind, size_t at, size_t drop);
void sort_edits(struct parsed_unit *u); /* by place; an edit that was made twice stays once */

#endif
