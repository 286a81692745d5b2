/*
 * The functions that the units define, and who calls whom.
 */
#ifndef GPUSIM_ANNOTATOR_EDITS_FUNCTIONS_H
#define GPUSIM_ANNOTATOR_EDITS_FUNCTIONS_H

#include "annotator/source/state.h"

/* What runs in one execution of something: levels of loops that are traced in windows, and iterations of loops that are not. */
struct loop_nest {
	unsigned levels;
	unsigned long constant;
};

/* A function that some unit defines. A function without a definition is a builtin, and is left alone. */
struct function {
	char *usr; /* libclang's name of the function in all units; it differs for overloads and for static functions */
	char *name;
	unsigned guid; /* identifies its probes */
	bool kernel, called;
	bool has_barrier;   /* itself, or a function that it calls */
	bool one_way;       /* a kernel with a barrier that calls none of these functions: all work-items of a group go the same way through it */
	bool passes_locals; /* calls a kernel with __local variables, or a function that does */
	uint64_t local_bytes, locals_at; /* size of its __local variables; if it is called, where they lie (locals.c) */
	bool takes_box;     /* calls a box function (box_calls.h), or a function that does; kernels always take the box */
	struct function **callees; /* only functions with a definition; one may be listed twice */
	size_t callee_count;
	bool reached;     /* used by mark_reached */
	struct loop_nest inside; /* blocks/windows.c: of its own loops and of functions that it calls */
	unsigned levels_around;  /* and of loops that it is called in */
	unsigned divisions; /* conditions in its own text that have barriers inside of them */
	unsigned hazards; /* enum kernel_hazard (runtime/format/facts.h) of its own text */
	/* Only in kernels (sites/): text that reports the bases of its pointers to the trace, the number of these bases, and the
	 * kernel's first site. */
	const char *bases;
	unsigned base_count, first_site;
};

/* The first pass over all units: fills in the table of functions. */
int collect_functions(struct annotation *a, struct gs_error *err);
struct function *find_function(const struct annotation *a, CXCursor cursor);
/* The function of the table that a call expression calls, or NULL. OpenCL C calls functions by name only. */
struct function *called_function(const struct annotation *a, CXCursor call);
bool is_barrier(CXCursor call); /* calls a builtin that all work-items of a group have to reach */
void unmark_reached(const struct annotation *a);
void mark_reached(struct function *f); /* marks it and all functions that it calls, directly or not */

#endif
