/* accuracy: what was measured about estimates, for readers of reports. The sentences are in accuracy.def and in
 * accuracy_measured.def. The latter has the figures of docs/accuracy. */
#ifndef GPUSIM_RUNTIME_CONFIG_ACCURACY_H
#define GPUSIM_RUNTIME_CONFIG_ACCURACY_H

#include "runtime/base/base.h"

struct accuracy_target {
	const char *name, *memory; /* as options have them */
};

/* Calls `say` with every sentence that applies to some of the targets, with their names before it. Also calls it once with all
 * targets for which nothing was measured. */
void accuracy_tell(const struct accuracy_target *targets, size_t count, void (*say)(const char *text, void *data), void *data);

/* Whether estimates for a GPU, with the memory hierarchy, were compared with anything. */
bool accuracy_is_measured(const char *gpu);

#endif
