/*
 * Running clang: where it is, a private folder for its files, one run of it.
 *
 * Used by gpusim-cc and by what it links (analysis), never in the guest's process.
 */
#ifndef GPUSIM_RUNTIME_BASE_TOOL_H
#define GPUSIM_RUNTIME_BASE_TOOL_H

#include "runtime/base/base.h"

/* $GPUSIM_CLANG, else clang-19 of $PATH, else where distributions put it. */
const char *clang_path(void);

struct clang_run {
	const char *const *args;      /* NULL-terminated, without the program's name */
	const char *cwd;              /* or NULL: ours */
	const char *output;           /* file for stdout, or NULL */
	const char *messages;         /* file for stderr */
};

/* Runs clang and waits. A program that clang rejects is -EINVAL with its first error as FILE:LINE:COLUMN: TEXT. */
int clang_run(const struct clang_run *run, struct gs_error *err);

/* A new folder of our own below $TMPDIR; the caller frees *path after folder_remove. */
int folder_create(char **path, struct gs_error *err);
void folder_remove(const char *path); /* with all that is in it; path may be NULL */

/* A growing list of words that can be given to exec: NULL-terminated whenever it is not empty. */
struct words {
	char **items;
	size_t count;
	bool failed;
};

void words_add(struct words *w, const char *word);
void words_printf(struct words *w, const char *fmt, ...) GS_PRINTF(2, 3);
void words_free(struct words *w);

#endif
