/* kernel: what is known of the launches of one kernel on one target. */
#ifndef GPUSIM_RUNTIME_ESTIMATES_KERNEL_H
#define GPUSIM_RUNTIME_ESTIMATES_KERNEL_H

#include "runtime/estimates/memo.h"
#include "runtime/estimates/results.h"
#include "runtime/estimates/sampling.h"

struct kernel_estimates {
	struct memo memo;
	struct sampling sampling;
	struct results *results; /* NULL: nothing is cached */
};

/* Made at the first use; it lives as long as the launch's artifact. NULL when out of memory. */
struct kernel_estimates *kernel_estimates(const struct simulation *sim, const struct launch_record *l, size_t target);

#endif
