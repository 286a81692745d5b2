/*
 * annotator: rewrites preprocessed OpenCL C so that it counts how often each of its blocks runs.
 *
 * It takes the text that `clang -E` made, parses it with libclang, and returns text with markers and the table of the blocks.
 * It knows no GPU, runs nothing, and writes no files but temporary ones.
 *
 * Terms:
 *   host text    the annotated text that the driver compiles and runs. It makes the kernel's twin
 *   traced text  host text that also writes a trace: the blocks and accesses of each work-item, in their order
 *   target text  the annotated text that is compiled for a target GPU and never runs
 *   unit         a source that the application compiled by itself; a program has one or more
 *   block        a stretch of the source that runs as a whole: control enters at its beginning only
 *   marker       what is inserted where a block begins. In host text it counts
 *   probe        a marker in target text: a call that the compiler keeps, and whose copies say where the block went
 *   counter      a number that says how often something ran. It has an id: that of its block
 *   column       a counter that each work-item of a kernel stores when it ends
 *   trips        the executions of a loop's body, numbered from 1 at each entry of the loop
 *   site         a place of the source that accesses memory
 *   mark         text around a site, in traced text only: it reports the address
 *   base         a pointer or variable whose address is reported once, and from which the addresses of sites are predicted
 *   box          the part of a launch that one run of a twin covers (runtime/format/traces.h)
 *   clone        the plain function that stands for a kernel which other functions call
 */
#ifndef GPUSIM_ANNOTATOR_ANNOTATOR_H
#define GPUSIM_ANNOTATOR_ANNOTATOR_H

#include "models/trace/trace.h"
#include "runtime/base/base.h"

enum marker_form {
	MARK_COUNT_PLAIN,  /* host text for a device that runs a work-group on one thread */
	MARK_COUNT_ATOMIC, /* host text for a device that runs work-items at the same time: it counts by atomics */
	MARK_TRACE_PLAIN,  /* traced text for either kind of device; it counts as well */
	MARK_TRACE_ATOMIC,
	MARK_PROBE,        /* target text: calls that the compiler takes as pseudo probes */
};

/* A place in the user's own files. */
struct source_place {
	const char *file; /* owned by the annotation */
	unsigned line, column;
};

/* One term of a derived count: `factor` times the count of `block`. */
struct block_term {
	unsigned block;
	int factor;
};

enum trips_kind { TRIPS_NONE, TRIPS_COUNT_EVERY, TRIPS_COUNT_REACHED };

/*
 * Trips to count. The executions of `block`, mostly the body of `loop`, are numbered from 1 at each entry of the loop.
 * Every: counts those whose number modulo factor is residue. Reached: counts those whose number is factor.
 */
struct trips {
	enum trips_kind kind;
	unsigned loop, block, factor, residue;
};

/*
 * What is known of a block's count before it runs. It decides whether a counter of 32 bits is enough.
 *   BOUND_NONE      nothing: 64 bits
 *   BOUND_BARRIERS  the body of a loop with a barrier: 32 bits; the counter stops when it is full
 *   BOUND_ROUND     it runs at most once in a trip: a full counter shows in that of the loop's body
 *   BOUND_ONCE      it runs at most once in an execution of its function: a full counter shows in that of the entry
 */
enum block_bound { BOUND_NONE, BOUND_BARRIERS, BOUND_ROUND, BOUND_ONCE };

/*
 * A block begins at its marker. It ends where control flow may divide or join. Its kinds:
 *   entry    the beginning of a function
 *   then, else, body, case, default, label   what the keyword begins; body is that of a loop
 *   after    what follows a statement that may leave
 *   arm      the second or third operand of ?:
 *   right    the right side of && or ||
 *   inner    the statements in an expression
 *   next     what follows a loop: the block before the loop goes on (struct loop)
 *   trips    no block, but a count of trips
 */
struct block {
	unsigned id; /* index of its counter */
	unsigned unit;
	const char *function, *kind;
	struct source_place place, end;
	size_t at, end_at;       /* its place and its end in the unit's text */
	int loop;                /* id of the innermost loop around it, or -1 */
	struct trips trips;      /* only for the kind trips */
	bool computed;           /* kind trips, item layout: it has no counter, see struct kernel_entry */
	enum block_bound bound;
	bool between_barriers;   /* its loop has a barrier */
	int half;                /* number of its half of a 64-bit word: 2n and 2n + 1 share a word; -1: it has its own */
	int parent;              /* the only block from which control comes to it; -1: there is none, or several */
	bool solid;              /* accesses memory or synchronises: no compiler runs it speculatively or loses its marker */
	/* With terms it has no counter: its count is the sum of the terms, which all have lower ids. */
	struct block_term *terms;
	size_t term_count;
};

/* Where the parts of a loop are in the unit's text. */
struct loop_parts {
	bool known;     /* and nothing forbids to write the loop twice (blocks/copies.c) */
	bool innermost; /* no other loop is inside, nor in functions that it calls */
	size_t condition, condition_end, step, step_end, body, body_end;
	size_t first_order, last_order; /* edits at body_end that belong to the body have orders above the first, up to the last */
};

/* A loop is entered as often as the block `parent` runs and goes round as often as `body` does. */
struct loop {
	unsigned id, unit, parent, body;
	int outer;     /* id of the loop around it, or -1 */
	bool has_trips; /* trips per entry can be counted: nothing jumps into it */
	bool leaves;    /* return or goto may leave it: what follows it may not run after the last trip */
	unsigned trips; /* how often it goes round, if its header says so by constants; else 0 */
	/* Traced text traces that many iterations, then only some of those that follow (blocks/windows.c); 0: it traces all. */
	unsigned window;
	bool needs_last; /* what follows the loop depends on the way that its last iteration or its last condition took */
	struct loop_parts parts;
	/* The block of kind "next" after it, or -1. It runs as often as `parent`. Compilers lose the marker of `parent` if nothing is
	 * computed between that marker and the loop. */
	int next;
};

/* A place of the source that accesses memory. Traced text reports each execution. */
struct access_site {
	unsigned id, unit, block;
	enum trace_site_kind kind;
	enum code_space space;
	uint64_t bytes; /* size of one access; for a copy, of one element */
	struct source_place place; /* the place in target text: probes before it move its column */
	size_t at;                 /* the place in the unit's text */
};

struct kernel_entry {
	const char *name;
	unsigned arguments; /* how many the application gives; those of the twin come after them */
	unsigned entry;     /* its entry block */
	/* COUNTERS_BY_ITEM: the counted blocks of the kernel and of all functions that it calls. The first flag_count of them run at
	 * most once, and share words. The others follow in the order of the columns. */
	unsigned *columns;
	size_t column_count, flag_count;
	/* Trips of loops that a work-item enters at most once. They follow from its counter of the trips' block, which is a column. */
	unsigned *computed;
	size_t computed_count;
	bool summed;       /* there are too many columns to store: each work-item adds them to those of its group; no flags */
	bool has_barrier;  /* itself, or a function that it calls */
	bool one_way;      /* it has a barrier, and all work-items of a group are known to go the same way through it */
	unsigned hazards;  /* enum kernel_hazard (runtime/format/facts.h) */
	unsigned char *kinds; /* enum argument_kind of each argument */
};

/* How host text counts (runtime/format/counters.h). By group only if some kernel has more counters than can be variables. */
enum counter_layout { COUNTERS_BY_ITEM, COUNTERS_BY_GROUP };

/* A unit's source as the user wrote it, after one line that is a #line directive. */
struct annotator_original {
	const char *path;
	const char *const *clang_args; /* for parsing: the unit's arguments, macros and folders; NULL-terminated */
	const char *folder;            /* names of files in it are given without it */
};

/* One unit, preprocessed. */
struct annotator_unit {
	const char *text;
	size_t length;
	const char *const *clang_args; /* for parsing: -cl-std, -target, ...; NULL-terminated */
	const struct annotator_original *original; /* for the places of blocks; NULL: they are those of the text */
};

struct annotation; /* the parsed units with their edits; owns every string it hands out */

/* Parses all units together, because one may call functions of another. -EINVAL: clang rejects the program. -ENOTSUP: it cannot be
 * rewritten with certainty. Both errors begin with FILE:LINE:COLUMN. */
int annotation_create(const struct annotator_unit *units, size_t count, struct annotation **out, struct gs_error *err);
void annotation_free(struct annotation *a);
size_t annotation_blocks(const struct annotation *a, const struct block **out);
size_t annotation_loops(const struct annotation *a, const struct loop **out);
size_t annotation_sites(const struct annotation *a, const struct access_site **out);
enum counter_layout annotation_layout(const struct annotation *a);
/* For a driver that does not optimise: variables would all lie in memory, once for each work-item of a group. */
void annotation_without_variables(struct annotation *a);
/* From now on host text also counts these trips. *counter is a new row of the block table, of the kind trips, or the row that
 * counts the same already. -ENOSPC: some kernel would have too many columns. */
int annotation_want_trips(struct annotation *a, const struct trips *want, unsigned *counter, struct gs_error *err);
size_t annotation_kernels(const struct annotation *a, const struct kernel_entry **out);
/* Appends the text of a unit with its markers in the given form. -ENOTSUP: brackets would nest too deeply. */
int annotation_write(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out,
                     struct gs_error *err);
/* Appends host text in which every definition that not all kernels need stands between guards (text/guards.c). */
int annotation_guard_definitions(const struct annotation *a, const char *text, size_t length, struct gs_buf *out,
                                 struct gs_error *err);
/* Appends the names that a text declares at file scope, one per line. -ENOTSUP: macros cannot rename all of them without changing
 * what the text means (source/names.c). */
int annotator_file_names(const struct annotator_unit *source, struct gs_buf *out);

#endif
