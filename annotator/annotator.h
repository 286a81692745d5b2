/*
 * annotator: rewrites preprocessed OpenCL C so that every block of it is counted.
 *
 * Takes the text that `clang -E` made, parses it with libclang, and returns text with block markers and
 * the table of the blocks. It knows no GPU, runs nothing and writes no files of its own but temporary ones.
 */
#ifndef GPUSIM_ANNOTATOR_H
#define GPUSIM_ANNOTATOR_H

#include "runtime/base/base.h"

enum marker_form {
	MARK_COUNT_PLAIN,  /* host text: counters of a device that runs a work-group on one thread */
	MARK_COUNT_ATOMIC, /* host text: counters of a device that runs its work-items concurrently */
	MARK_PROBE,        /* target text: calls that the compiler treats as pseudo probes */
};

/* A place in the user's own files, from the line markers of the preprocessed text. */
struct source_place {
	const char *file; /* owned by the annotation */
	unsigned line, column;
};

struct block {
	unsigned id; /* index of its counter */
	unsigned unit;
	const char *function, *kind; /* kind: "entry" so far */
	struct source_place place;
};

struct kernel_entry {
	const char *name;
	unsigned arguments; /* the application's own; the twin has one more */
};

/* One unit: a source that the application compiled by itself, preprocessed. */
struct annotator_unit {
	const char *text;
	size_t length;
	const char *const *clang_args; /* for parsing: -cl-std, -target, ...; NULL-terminated */
};

struct annotation; /* the parsed units with their edits; owns every string it hands out */

/* Parses all units together, because functions of one may be called from another. A program that clang rejects is
 * -EINVAL, one that cannot be rewritten with certainty is -ENOTSUP; both say FILE:LINE:COLUMN: what. */
int annotation_create(const struct annotator_unit *units, size_t count, struct annotation **out, struct gs_error *err);
void annotation_free(struct annotation *a);
size_t annotation_blocks(const struct annotation *a, const struct block **out);
size_t annotation_kernels(const struct annotation *a, const struct kernel_entry **out);
/* The text of a unit with its markers in the given form, appended to *out. */
int annotation_write(const struct annotation *a, size_t unit, enum marker_form form, struct gs_buf *out,
                     struct gs_error *err);

#endif
