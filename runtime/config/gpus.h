/*
 * Where GPU descriptions come from: a file that the user names (a path with '/' or the ending .gpu), a file
 * NAME.gpu in $XDG_CONFIG_HOME/gpusim/gpus (~/.config/gpusim/gpus), or the ones built into our programs, so
 * that the library works wherever it was copied to.
 */
#ifndef GPUSIM_RUNTIME_CONFIG_GPUS_H
#define GPUSIM_RUNTIME_CONFIG_GPUS_H

#include "models/gpu/gpu.h"

struct builtin_gpu {
	const char *name, *text;
};

extern const struct builtin_gpu builtin_gpus[]; /* sorted by name; ends with a NULL name; made by the Makefile */

/* A gpu_read_fn (models/gpu/gpu.h); ctx is not used. A name that is not known is told with the nearest one. */
int gpus_read(void *ctx, const char *name, struct gs_buf *text, char *path, size_t path_size, struct gs_error *err);
/* Names of all that can be named, each once, sorted; NULL-terminated; the caller frees list and strings. */
char **gpus_names(void);

#endif
