/* What is known of the launches of a kernel: made at its first launch, freed with its program. */
#include "runtime/estimates/kernel.h"

#include "runtime/estimates/job.h"

#include <stdlib.h>

static void kernel_estimates_free(struct kernel_estimates *k)
{
	memo_clear(&k->memo);
	sampling_clear(&k->sampling);
	counted_clear(&k->counted);
	for (size_t i = 0; i < KNOWN_JOBS; i++)
		job_unref(k->known[i]);
	free(k);
}

struct kernel_estimates *kernel_estimates(const struct simulation *sim, const struct launch_record *l, size_t target)
{
	struct kernel_estimates **at = &l->facts->estimates[target];
	l->artifact->free_estimates = kernel_estimates_free;
	if (!*at && (*at = calloc(1, sizeof **at)))
		(*at)->results = results_of(sim, l, target);
	return *at;
}
