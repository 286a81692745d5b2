/* kernel: what is known of the launches of one kernel on one target. */
#ifndef GPUSIM_RUNTIME_ESTIMATES_KERNEL_H
#define GPUSIM_RUNTIME_ESTIMATES_KERNEL_H

#include "runtime/estimates/counted.h"
#include "runtime/estimates/memo.h"
#include "runtime/estimates/outlook.h"
#include "runtime/estimates/kept/results.h"
#include "runtime/estimates/sampling.h"

enum { KNOWN_JOBS = 16 };

struct kernel_estimates {
	struct memo memo;
	struct sampling sampling;
	struct counted_launches counted;
	uint64_t number;         /* of the kernel, on its target: from 1 */
	struct results *results; /* NULL: nothing is cached */
	struct estimate_job *known[KNOWN_JOBS]; /* held: the latest that were simulated, for those that cannot be any more (budget.h) */
	size_t known_count;      /* that there ever were */
	size_t simulations;      /* that were started */
	double weight;           /* the time of its launches up to now, on the host device */
	double advised_ns;       /* the longest launch that advice was worked out for */
	struct outlook outlook;
	/* Of estimates.c, while launches wait until more come: */
	struct kernel_estimates *next_open;
	bool is_open;
	uint64_t open_launch, open_bytes; /* launches that had come, and their counters, before the first of them */
};

/* Made at the first use; it lives as long as the launch's artifact. NULL when out of memory. */
struct kernel_estimates *kernel_estimates(const struct simulation *sim, const struct launch_record *l, size_t target);

#endif
