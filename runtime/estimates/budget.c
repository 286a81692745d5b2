/* A bound of the time that modelling takes; see budget.h. */
#include "runtime/estimates/budget.h"

#include "runtime/estimates/job.h"
#include "runtime/process/thread.h"

#include <math.h>

static const double most_apart = 2; /* doublings of size: four times as much */

void budget_run(struct budget *b, bool under_way)
{
	uint64_t now = clock_ns();
	if (b->since_ns)
		b->spent_ns += now - b->since_ns;
	b->since_ns = under_way ? now : 0;
}

static uint64_t spent_ns(const struct budget *b)
{
	return b->spent_ns + (b->since_ns ? clock_ns() - b->since_ns : 0);
}

bool budget_is_over(const struct budget *b)
{
	return b->most_ns && spent_ns(b) >= b->most_ns;
}

uint64_t budget_left_ns(const struct budget *b)
{
	uint64_t spent = spent_ns(b);
	if (!b->most_ns || !b->since_ns)
		return UINT64_MAX;
	return spent < b->most_ns ? b->most_ns - spent : 0;
}

void budget_weigh(struct kernel_estimates *k, const struct launch_record *l)
{
	k->weight += l->measured_ns ? (double)l->measured_ns : (double)l->global[0] * (double)l->global[1] * (double)l->global[2];
}

double budget_priority(const struct kernel_estimates *k)
{
	return k->weight / (double)(k->simulations + 1);
}

void budget_simulated(struct estimate_job *job)
{
	struct kernel_estimates *k = job->kernel;
	struct estimate_job **at = &k->known[k->known_count++ % KNOWN_JOBS];
	job_unref(*at);
	*at = job_ref(job);
}

struct estimate_job *budget_like(const struct kernel_estimates *k, double size)
{
	struct estimate_job *nearest = NULL;
	double least = most_apart;
	for (size_t i = 0; i < KNOWN_JOBS; i++) {
		double apart = k->known[i] ? fabs(log2(k->known[i]->size / size)) : INFINITY;
		if (apart < least) {
			least = apart;
			nearest = k->known[i];
		}
	}
	return nearest;
}
