/* before: what a launch finds in a GPU's caches, because of what came before it (models/history). */
#ifndef GPUSIM_RUNTIME_ESTIMATES_BEFORE_H
#define GPUSIM_RUNTIME_ESTIMATES_BEFORE_H

#include "models/history/page_history.h"
#include "models/trace/sectors.h"
#include "runtime/model/launch_record.h"

/* Of one target. All zero: nothing has been launched. */
struct gpu_state {
	struct code_history code;
	struct constant_history constants;
	struct memory_history memory;
	struct page_history pages;
	double pages_ns; /* that the last launch waits for pages of managed memory */
};

/* A launch begins, in the order in which the device ran them: fills what it finds, and leaves what those after it find. number: its
 * kernel's, from 1. glance: of its trace, or of one like it; NULL: nothing is known. The profile has its groups and the target's code, and its counts;
 * NULL: they are not known. */
void find_state_before(struct gpu_state *s, const struct gpu *gpu, const struct launch_record *l, uint64_t number, const struct trace_glance *glance,
                       struct launch_profile *p);

#endif
