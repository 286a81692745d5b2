/* accuracy: what was measured about estimates, for readers of reports. The sentences are in accuracy.def and, as docs/accuracy has
 * them, in accuracy_measured.def. */
#ifndef GPUSIM_RUNTIME_CONFIG_ACCURACY_H
#define GPUSIM_RUNTIME_CONFIG_ACCURACY_H

#include "runtime/base/base.h"

struct accuracy_target {
	const char *name, *memory; /* as in options */
};

/* Calls `say` with every sentence that is about some of the targets, their names before it, and with one about each target that
 * nothing was measured for. */
void accuracy_tell(const struct accuracy_target *targets, size_t count, void (*say)(const char *text, void *data), void *data);

#endif
