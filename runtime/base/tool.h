/*
 * Running clang and NVIDIA's assembler: finding them, a private folder for their files, and one run.
 *
 * gpusim-cc, the folder analysis, which it links, and commands of gpusim use this. The guest's process never does.
 */
#ifndef GPUSIM_RUNTIME_BASE_TOOL_H
#define GPUSIM_RUNTIME_BASE_TOOL_H

#include "runtime/base/base.h"

/* Whether a folder of $PATH has a program of this name. */
bool tool_on_path(const char *name);

/* $GPUSIM_CLANG, or clang-19 in $PATH, or the place where distributions put it: the first that there is. */
const char *clang_path(void);

/* $PATH, $CUDA_HOME/bin and /usr/local/cuda/bin: the first that has NVIDIA's assembler. NULL: it is not found. The result is valid until the next call. */
const char *ptxas_path(void);

struct clang_run {
	const char *const *args;      /* NULL-terminated, without the program's name */
	const char *cwd;              /* NULL: the present one */
	const char *output;           /* file for stdout, or NULL */
	const char *messages;         /* file for stderr */
};

/* Runs clang and waits for it. Returns -EINVAL where clang rejects the program; *err is then its first error as
 * FILE:LINE:COLUMN: TEXT. */
int clang_run(const struct clang_run *run, struct gs_error *err);
/* Runs another program in the same way. -ETIME: it took longer than `seconds` and was stopped. -EINVAL: it failed; *err is its first line. */
int tool_run(const char *program, const struct clang_run *run, unsigned seconds, struct gs_error *err);

/* Creates a private folder below $TMPDIR. The caller frees *path after folder_remove. */
int folder_create(char **path, struct gs_error *err);
void folder_remove(const char *path); /* with everything in it; path may be NULL */

/* A growing list of words for exec. It is NULL-terminated whenever it is not empty. */
struct words {
	char **items;
	size_t count;
	bool failed;
};

void words_add(struct words *w, const char *word);
void words_printf(struct words *w, const char *fmt, ...) GS_PRINTF(2, 3);
void words_free(struct words *w);

#endif
