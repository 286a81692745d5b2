/*
 * Access sites: expressions that access memory, and the marks around them in traced text.
 */
#ifndef GPUSIM_ANNOTATOR_SITES_SITES_H
#define GPUSIM_ANNOTATOR_SITES_SITES_H

#include "annotator/edits/edits.h"
#include "annotator/sites/flow.h"
#include "annotator/source/cursors.h"

/* A variable that accesses can be related to: a __local variable of a kernel, a private array, a constant of the program. */
struct place_of_variable {
	size_t unit, at; /* where it is declared */
	unsigned base;   /* __local: its number among the bases of the kernel */
	uint64_t offset; /* private, constant: distance from the first byte of all such variables */
};

enum { NO_BASE = 7 }; /* TRACE_BASES (models/trace/read.h) */

/* The text before and after an expression. NULL: none. */
struct site_marks {
	const char *before, *after;
	size_t from, to; /* where they go */
};

/* What is done with child i of an expression that is itself used as `use` says. */
enum value_use use_of_child(CXCursor cursor, const struct children *c, size_t i, enum value_use use);
/* If the expression is an access: adds its sites and the mark before it. add_closing_mark follows after its children are visited. */
int add_access_sites(struct edit_pass *pass, CXCursor cursor, const struct children *c, struct place_in_flow flow,
                     struct site_marks *marks);
int add_closing_mark(struct edit_pass *pass, const struct site_marks *marks);
int add_mark(struct edit_pass *pass, size_t at, const char *text);
/* Adds a site. NULL: pass->result says why. */
struct access_site *add_site(struct edit_pass *pass, CXSourceLocation location, enum trace_site_kind kind,
                             enum code_space space, uint64_t bytes, struct place_in_flow flow);
char letter_of(enum code_space space); /* in the names of the functions that trace */
unsigned base_of(const struct edit_pass *pass, CXCursor pointer); /* the base that a pointer is computed from, or NO_BASE */
CXCursor without_conversions(CXCursor cursor); /* without brackets and implicit conversions */
/* Gives a variable its place. `end` is the end of its declaration, where traced text reports a __local variable. */
int place_variable(struct edit_pass *pass, CXCursor variable, size_t end);
int place_arguments(struct edit_pass *pass, CXCursor kernel); /* the same for the pointers among a kernel's arguments */

#endif
