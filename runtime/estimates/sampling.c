/*
 * Which launches of a kernel are simulated, on each target: a family of launches whose size changes slowly is interpolated between a few
 * of them (models/sampling/families.h). To measure the sampling error, every n-th launch of which not all was simulated is simulated in
 * full as well.
 */
#include "runtime/estimates/sampling.h"

#include "models/family.h"
#include "runtime/estimates/job.h"
#include "runtime/estimates/kernel.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_shapes.h"

static bool is_on(const struct estimate_job *job)
{
	return job->sim->options.sampling.number != SAMPLING_OFF;
}

static void free_estimate(void *job)
{
	job_unref(job);
}

static struct families *families_of(struct sampling *s)
{
	struct family_limits limits = FAMILY_LIMITS;
	limits.free_estimate = free_estimate;
	limits.bytes = UINT64_MAX; /* estimates.c has a bound for all kernels */
	if (!s->families)
		s->families = families_new(&limits);
	return s->families;
}

bool sampling_enter(struct estimate_job *job, uint64_t bytes)
{
	struct families *f = is_on(job) ? families_of(&job->kernel->sampling) : NULL;
	struct family_features x;
	if ((!f && !job->sim->options.budget.number) ||
	    launch_family(&job->sim->targets[job->target].gpu, &job->profile, job->kept ? job->kept->glance : (struct trace_glance){0}, &x))
		return true;
	job->size = x.size;
	if (!f)
		return true;
	bool first = !job->kernel->sampling.entered++, now = family_enter(f, &x, job, bytes, &job->member) == FAMILY_SIMULATE;
	if (first && !now) /* of many kernels there is no other: it is known early, also if the program crashes */
		family_flush(f);
	return now;
}

static void take_decision(struct estimate_job *job, const struct family_decision *d)
{
	struct estimate_job *a = (struct estimate_job *)d->a, *b = (struct estimate_job *)d->b;
	job->a = job_ref(a);
	job->b = job_ref(b);
	job->between = (struct family_between){
		.a = &a->estimate, .b = &b->estimate, .a_instructions = a->instructions, .b_instructions = b->instructions,
		.size = job->size, .a_size = d->a_size, .b_size = d->b_size, .weight = d->weight, .error = d->error, .times = d->times,
	};
}

struct estimate_job *sampling_next(struct kernel_estimates *k)
{
	struct families *f = k->sampling.families;
	struct family_member *m = f ? family_next(f) : NULL;
	struct family_decision d;
	struct estimate_job *job = NULL;
	if (m) {
		job = family_launch(m);
		job->member = m;
	} else if (f && family_decided(f, &d)) {
		job = d.launch;
		job->member = NULL;
		take_decision(job, &d);
	}
	return job;
}

void sampling_simulated(struct estimate_job *job)
{
	struct family_member *m = job->member;
	job->member = NULL;
	if (m)
		family_simulated(job->kernel->sampling.families, m, job->estimate.time_ns, job->result ? NULL : job_ref(job));
}

void sampling_given_up(struct estimate_job *job)
{
	struct family_member *m = job->member;
	job->member = NULL;
	if (m)
		family_simulated(job->kernel->sampling.families, m, 0, NULL);
}

void sampling_flush(struct kernel_estimates *k, bool hurried)
{
	if (k->sampling.families)
		(hurried ? family_hurry : family_flush)(k->sampling.families);
}

bool sampling_is_open(const struct kernel_estimates *k)
{
	return k->sampling.families && family_open(k->sampling.families);
}

bool sampling_check_due(struct estimate_job *job)
{
	uint64_t every = job->sim->options.check.number;
	return is_on(job) && every && (job->estimate.sampled || job->estimate.spread > 0) && ++job->kernel->sampling.taken % every == 0;
}

void sampling_clear(struct sampling *s)
{
	families_free(s->families);
	s->families = NULL;
}
