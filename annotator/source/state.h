/*
 * The state of an annotation: the parsed units, and the tables that the passes over them fill in.
 *
 * Nothing is rewritten in place. A unit is its text and a sorted list of edits. Writing the text renders every edit in the
 * wanted marker form. Each table below names the folder that fills it in; this folder only keeps the pointers.
 */
#ifndef GPUSIM_ANNOTATOR_SOURCE_STATE_H
#define GPUSIM_ANNOTATOR_SOURCE_STATE_H

#include "annotator/annotator.h"

#include <clang-c/Index.h>

struct edit;
struct function;
struct place_of_variable;

/* A call of one of the units' functions, and the innermost loop around it, or -1. */
struct loop_call {
	struct function *from, *to;
	int loop;
};

struct parsed_unit {
	char *text; /* NUL-terminated copy */
	size_t length;
	CXTranslationUnit tu; /* NULL once the edits are made */
	CXFile file;
	bool inner_statements; /* expressions may contain statements: ({ ... }) */
	/* edits/ */
	struct edit *edits;
	size_t edit_count;
	unsigned box_functions; /* the box functions that its text calls, one bit each (edits/box_calls.h) */
	bool has_kernels;
	bool prints;         /* its text calls printf */
	bool hides_builtins; /* a variable has the name of a builtin that markers call */
};

struct annotation {
	CXIndex index;
	struct parsed_unit *units;
	size_t unit_count;
	char **strings; /* every string that is handed out and that nothing else owns */
	size_t string_count;
	/* edits/ */
	struct function **functions;
	size_t function_count;
	void *by_usr;         /* the same functions as a tsearch tree */
	uint64_t local_bytes; /* size of the __local variables of all kernels that are called */
	/* sites/ */
	struct access_site *sites;
	size_t site_count;
	struct place_of_variable *variables;
	size_t variable_count;
	uint64_t private_bytes, constant_bytes; /* sizes of these variables, by their space */
	/* blocks/ */
	struct block *blocks;
	size_t block_count;
	struct loop *loops;
	size_t loop_count;
	struct loop_call *calls;
	size_t call_count;
	struct kernel_entry *kernels;
	size_t kernel_count;
	/* text/ */
	int half_count;
	bool without_variables;
};

/* Copies a string. The copy lives as long as the annotation. NULL: out of memory. */
const char *keep_string(struct annotation *a, const char *s);

#endif
