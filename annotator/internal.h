/*
 * What the annotator's own files share: parsed units, the functions of all units, and the edit list.
 *
 * Nothing is rewritten in place: a unit is its text plus a sorted list of edits, and writing the text
 * out renders every edit in the wanted marker form. A new kind of block needs one more edit.
 */
#ifndef GPUSIM_ANNOTATOR_INTERNAL_H
#define GPUSIM_ANNOTATOR_INTERNAL_H

#include "annotator/annotator.h"

#include <clang-c/Index.h>

/* A function that some unit defines. Functions without a definition are left alone: they are builtins. */
struct function {
	char *usr; /* libclang's name of the function across units; tells overloads and statics apart */
	char *name;
	unsigned guid; /* of its pseudo probes */
	bool kernel, called, has_local_variables;
};

enum edit_kind {
	EDIT_PARAMETER,   /* the counters as a last parameter; replaces `void` in f(void) */
	EDIT_ARGUMENT,    /* the counters as a last argument of a call */
	EDIT_CALLEE,      /* a call of a kernel goes to its clone */
	EDIT_COUNT,       /* the marker of a block */
	EDIT_DROP,        /* an attribute that is not true any more once the function counts */
	EDIT_CLONE,       /* a copy of bytes from..at that is a plain function, for the callers of a kernel */
	EDIT_CLONE_NAME,  /* inside the clone only: its name ... */
	EDIT_KERNEL_ONLY, /* ... and what only a kernel may have */
};

struct edit {
	size_t at, drop; /* in the unit's text: where, and how many bytes are replaced */
	enum edit_kind kind;
	const struct function *function;
	bool alone;              /* EDIT_PARAMETER, EDIT_ARGUMENT: the list is empty, no comma */
	bool entry;              /* EDIT_COUNT: first block of its function */
	unsigned block;          /* EDIT_COUNT */
	size_t from;             /* EDIT_CLONE */
	struct source_place place, end; /* EDIT_CLONE: of `from` and `at` */
	size_t order;            /* keeps edits of one place in the order they were made */
};

struct unit {
	char *text; /* NUL-terminated copy */
	size_t length;
	CXTranslationUnit tu; /* NULL once the edits are made */
	CXFile file;
	struct edit *edits;
	size_t edit_count;
};

struct annotation {
	CXIndex index;
	struct unit *units;
	size_t unit_count;
	struct function **functions;
	size_t function_count;
	void *by_usr; /* the same functions as a tsearch tree */
	struct block *blocks;
	size_t block_count;
	struct kernel_entry *kernels;
	size_t kernel_count;
	char **strings; /* everything handed out that nothing else owns */
	size_t string_count;
};

/* One more element of `size` bytes for an array that grows by doubling; zeroed, or NULL. */
void *array_grow(void *array_pointer, size_t *count, size_t size);
/* A copy that lives as long as the annotation, or NULL. */
const char *keep_string(struct annotation *a, const char *s);

/* parse.c; a refused construct is told with its place in the user's file */
int parse_unit(struct annotation *a, const struct annotator_unit *source, size_t index, struct gs_error *err);
unsigned offset_of(CXSourceLocation location);
int place_of(struct annotation *a, CXSourceLocation location, struct source_place *out);
int refuse(CXSourceLocation location, struct gs_error *err, const char *what);

/* functions.c: first pass */
int collect_functions(struct annotation *a, struct gs_error *err);
struct function *find_function(const struct annotation *a, CXCursor cursor);
/* The function of ours that a call expression calls, or NULL. OpenCL C calls functions by name only. */
struct function *called_function(const struct annotation *a, CXCursor call);

/* edits.c: second pass */
int collect_edits(struct annotation *a, size_t unit, struct gs_error *err);

/* scan.c: places in preprocessed text that libclang does not tell. All return `length` when not found. */
size_t scan_blanks(const char *text, size_t length, size_t at); /* over white space and # lines */
size_t scan_closing(const char *text, size_t length, size_t open); /* the ) of the ( at `open` */
size_t scan_word(const char *text, size_t length, size_t at); /* end of the identifier at `at` */
bool scan_is_word(const char *text, size_t from, size_t to, const char *word);

#endif
