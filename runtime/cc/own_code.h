/* The machine code that a CUDA program has itself: the cubins of its fat binary for one target. */
#ifndef GPUSIM_RUNTIME_CC_OWN_CODE_H
#define GPUSIM_RUNTIME_CC_OWN_CODE_H

#include "analysis/fatbin/fatbin.h"
#include "analysis/sass/cubin.h"

struct own_part {
	struct gs_buf bytes;
	struct cubin cubin; /* in the bytes */
};

struct own_code {
	struct own_part *parts; /* one of each container: a program that was linked on the device has several */
	size_t count;
};

/* Reads what the target's driver would take. What cannot be read counts as not there. */
void own_code_read(const struct fatbin *f, const char *target, struct own_code *out);
void own_code_free(struct own_code *o);
/* A kernel's code, or NULL. *cubin is where it is. */
const struct cubin_code *own_code_find(const struct own_code *o, const char *kernel, const struct cubin **cubin);

#endif
