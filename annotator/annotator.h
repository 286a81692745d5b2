/*
 * annotator: rewrites preprocessed OpenCL C so that every block of it is counted.
 *
 * Takes the text that `clang -E` made, parses it with libclang, and returns text with block markers and
 * the table of the blocks. It knows no GPU, runs nothing and writes no files of its own but temporary ones.
 */
#ifndef GPUSIM_ANNOTATOR_ANNOTATOR_H
#define GPUSIM_ANNOTATOR_ANNOTATOR_H

#include "models/trace/trace.h"
#include "runtime/base/base.h"

enum marker_form {
	MARK_COUNT_PLAIN,  /* host text: counters of a device that runs a work-group on one thread */
	MARK_COUNT_ATOMIC, /* host text: counters of a device that runs its work-items concurrently */
	MARK_TRACE_PLAIN,  /* host text that counts and traces, of either kind of device */
	MARK_TRACE_ATOMIC,
	MARK_PROBE,        /* target text: calls that the compiler treats as pseudo probes */
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
 * The executions of a block, mostly the body of the loop, are numbered from 1 anew whenever the loop is entered.
 * Counted are those whose number modulo factor is residue (every), or is factor (reached).
 */
struct trips {
	enum trips_kind kind;
	unsigned loop, block, factor, residue;
};

/*
 * What is known of a block's count before it runs. Only BOUND_NONE may come to more than 32 bits without another counter
 * telling: once in a function is at most as often as the function's entry, and a round at most as often as the loop's body.
 * The body of a loop with a barrier has a counter that tells of itself.
 */
enum block_bound { BOUND_NONE, BOUND_BARRIERS, BOUND_ROUND, BOUND_ONCE };

/*
 * A block begins at its marker and ends where control flow may divide or join. Kinds: entry, then, else, body, case,
 * default, label, after (what follows a statement that may leave), arm (of ?:), right (side of && and ||), inner
 * (statements in an expression), next (what follows a loop: the block before it goes on, see struct loop) and trips (no
 * block: a count of a loop's trips).
 */
struct block {
	unsigned id; /* index of its counter */
	unsigned unit;
	const char *function, *kind;
	struct source_place place, end;
	size_t at, behind;       /* the same in the unit's text */
	int loop;                /* id of the innermost loop around it, or -1 */
	struct trips trips;      /* of the kind trips */
	bool computed;           /* of the kind trips, item layout: no counter either, see struct kernel_entry */
	enum block_bound bound;
	bool between_barriers;   /* its loop has some */
	int half;                /* two of these share a 64-bit word; or -1 */
	int parent;              /* the block around it, through which control comes to it; -1: none, or not only by it */
	bool solid;              /* accesses memory or synchronises: no compiler runs it in vain or loses its marker */
	/* Flow determines it: its count is the sum of the terms, all of lower ids, and it has no counter. Without terms
	 * it is counted. */
	struct block_term *terms;
	size_t term_count;
};

/* A loop is entered as often as the block `parent` runs and goes round as often as `body` does. */
struct loop {
	unsigned id, unit, parent, body;
	int outer;     /* id of the loop around it, or -1 */
	bool has_trips; /* trips per entry can be counted: nothing jumps into it */
	bool leaves;    /* by return or goto: what follows it may not run after the last trip */
	/* The block of kind "next" behind it, or -1. It runs as often as `parent`, whose marker compilers lose where
	 * nothing is computed between it and the loop. */
	int next;
};

/* A place of the source that accesses memory, of which traced text tells each execution. */
struct access_site {
	unsigned id, unit, block;
	enum trace_site_kind kind;
	enum code_space space;
	uint64_t bytes; /* of one access; of a copy, those of one element */
	struct source_place place; /* that of the load or store in the target's code: probes before it move its column */
	size_t at;                 /* in the unit's text */
};

struct kernel_entry {
	const char *name;
	unsigned arguments; /* the application's own; the twin's come after them */
	unsigned entry;     /* its entry block */
	/* COUNTERS_BY_ITEM: the counted blocks of the kernel and of all that it calls. The first flag_count of them run at
	 * most once and share words; then they are in the order of the columns. */
	unsigned *columns;
	size_t column_count, flag_count;
	/* Trips of loops that a work-item enters once at most: they follow from its counter of the trips' block, a column. */
	unsigned *computed;
	size_t computed_count;
	bool summed;       /* too many to store: each work-item adds them to its group's; there are no flags then */
	bool has_barrier;  /* or something that it calls */
	unsigned hazards;  /* enum kernel_hazard (runtime/format/facts.h) */
	unsigned char *kinds; /* of its arguments: enum argument_kind */
};

/* How host text counts (runtime/format/counters.h). By item unless some kernel has more counters than can be variables. */
enum counter_layout { COUNTERS_BY_ITEM, COUNTERS_BY_GROUP };

/* A unit's source as the user wrote it, behind one line that is a #line directive. */
struct annotator_original {
	const char *path;
	const char *const *clang_args; /* for parsing: those of the unit, and macros and folders; NULL-terminated */
	const char *folder;            /* its name is left out of those of files in it */
};

/* One unit: a source that the application compiled by itself, preprocessed. */
struct annotator_unit {
	const char *text;
	size_t length;
	const char *const *clang_args; /* for parsing: -cl-std, -target, ...; NULL-terminated */
	const struct annotator_original *original; /* for the columns of blocks; NULL: they are those of the text */
};

struct annotation; /* the parsed units with their edits; owns every string it hands out */

/* Parses all units together, because functions of one may be called from another. A program that clang rejects is
 * -EINVAL, one that cannot be rewritten with certainty is -ENOTSUP; both say FILE:LINE:COLUMN: what. */
int annotation_create(const struct annotator_unit *units, size_t count, struct annotation **out, struct gs_error *err);
void annotation_free(struct annotation *a);
size_t annotation_blocks(const struct annotation *a, const struct block **out);
size_t annotation_loops(const struct annotation *a, const struct loop **out);
size_t annotation_sites(const struct annotation *a, const struct access_site **out);
enum counter_layout annotation_layout(const struct annotation *a);
/* The host's compiler will not optimise: variables would all be in memory, once for each work-item of a group. */
void annotation_without_variables(struct annotation *a);
/* From now on host text also counts these trips; the counter is one more "trips" row of the block table, or the row that
 * counts the same already. -ENOSPC: some kernel would have too many columns because of it: to store, or for variables. */
int annotation_want_trips(struct annotation *a, const struct trips *want, unsigned *counter, struct gs_error *err);
size_t annotation_kernels(const struct annotation *a, const struct kernel_entry **out);
/* The text of a unit with its markers in the given form, appended to *out. -ENOTSUP: brackets would nest too deeply. */
int annotation_write(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out,
                     struct gs_error *err);
/* Host text with definitions that not every kernel needs between guards (guards.c), appended to *out. */
int annotation_guard_definitions(const struct annotation *a, const char *text, size_t length, struct gs_buf *out, struct gs_error *err);
/* The names that a text declares at file scope, one per line, if macros may rename them all without changing what it means: see
 * names.c. -ENOTSUP: they may not. */
int annotator_file_names(const struct annotator_unit *source, struct gs_buf *out);

#endif
