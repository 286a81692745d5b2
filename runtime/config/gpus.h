/*
 * Where GPU descriptions come from. The user may name a file (a path with '/' or the ending .gpu). A name may stand for the
 * file NAME.gpu in $XDG_CONFIG_HOME/gpusim/gpus (~/.config/gpusim/gpus). All other descriptions are built into our programs, so
 * that the library works wherever it was copied to.
 */
#ifndef GPUSIM_RUNTIME_CONFIG_GPUS_H
#define GPUSIM_RUNTIME_CONFIG_GPUS_H

#include "models/gpu/gpu.h"

struct builtin_gpu {
	const char *name, *text;
};

extern const struct builtin_gpu builtin_gpus[]; /* sorted by name; ends with a NULL name; made by the Makefile */

/* A gpu_read_fn (models/gpu/gpu.h); ctx is not used. For an unknown name, the error suggests the nearest known one. */
int gpus_read(void *ctx, const char *name, struct gs_buf *text, char *path, size_t path_size, struct gs_error *err);
/* All known names, each once, sorted, NULL-terminated. The caller frees the list and its strings. */
char **gpus_names(void);

#endif
