/*
 * Launches that behave like one that is simulated take its cycles per instruction (TBPoint, III). Each kernel has clusters of its own
 * on each target. To measure the sampling error, every n-th sampled launch is simulated in full as well.
 *
 * Which launches are alike depends on those before them. So that it does not depend on threads, the jobs of a kernel decide in the
 * order of its launches: each waits for its turn. A turn is short once the warps of a launch are known, and the crew begins jobs in the
 * order of launches, so the one whose turn it is runs already. A launch that is like another one waits for that one's estimate.
 */
#include "runtime/estimates/sampling.h"

#include "runtime/estimates/kernel.h"
#include "runtime/estimates/job.h"
#include "runtime/model/simulation.h"

#include <stdlib.h>

static const double THRESHOLD = 0.1; /* TBPoint, V-A */

static bool is_on(const struct estimate_job *job)
{
	return job->sim->options.sampling.number != SAMPLING_OFF;
}

void sampling_enter(struct sampling *s, struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	job->turn = s->turns++;
	pthread_mutex_unlock(&jobs_lock);
}

/* With the lock held. */
static void wait_for_turn(const struct sampling *s, const struct estimate_job *job)
{
	while (s->turn != job->turn)
		pthread_cond_wait(&jobs_changed, &jobs_lock);
}

/* With the lock held, once the turn has come. */
static void pass_turn(struct sampling *s, struct estimate_job *job)
{
	s->turn++;
	job->turn_passed = true;
	pthread_cond_broadcast(&jobs_changed);
}

/* With the lock held: the job of a launch like it, or NULL; it is known itself then. */
static struct estimate_job *decide(struct sampling *s, struct estimate_job *job, const struct launch_features *f, double *distance)
{
	struct launch_cluster *k = launch_clusters_find(&s->clusters, f, THRESHOLD);
	if (!k && launch_clusters_add(&s->clusters, f, job))
		job->refs++;
	if (k)
		*distance = launch_clusters_distance(&s->clusters, k, f);
	return k ? k->data : NULL;
}

/* What a launch like it gave, and how far from it this one is. NULL: simulate it. */
static const struct estimate *known_estimate(void *ctx, const struct launch_features *f, double *distance)
{
	struct estimate_job *job = ctx, *like;
	struct sampling *s = &job->kernel->sampling;
	pthread_mutex_lock(&jobs_lock);
	wait_for_turn(s, job);
	like = decide(s, job, f, distance);
	pass_turn(s, job);
	while (like && like->state < JOB_DONE)
		pthread_cond_wait(&jobs_changed, &jobs_lock);
	pthread_mutex_unlock(&jobs_lock);
	return like && !like->result ? &like->estimate : NULL;
}

/* Of a job that did not come so far. */
static void leave(struct sampling *s, struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	if (!job->turn_passed) {
		wait_for_turn(s, job);
		pass_turn(s, job);
	}
	pthread_mutex_unlock(&jobs_lock);
}

int sampling_model(struct estimate_job *job, struct estimate *out, struct gs_error *err)
{
	struct model_options options = job->sim->model;
	if (is_on(job)) {
		options.alike = known_estimate;
		options.alike_ctx = job;
	}
	int result = model_launch(&job->sim->targets[job->target].gpu, &job->profile, &options, out, err);
	leave(&job->kernel->sampling, job);
	return result;
}

void sampling_known(struct estimate_job *job, const struct launch_features *f)
{
	struct sampling *s = &job->kernel->sampling;
	double distance;
	pthread_mutex_lock(&jobs_lock);
	wait_for_turn(s, job);
	if (is_on(job))
		decide(s, job, f, &distance);
	pass_turn(s, job);
	pthread_mutex_unlock(&jobs_lock);
}

bool sampling_check_due(struct estimate_job *job)
{
	uint64_t every = job->sim->options.check.number;
	return is_on(job) && every && (job->estimate.sampled || job->estimate.spread > 0) && ++job->kernel->sampling.taken % every == 0;
}

void sampling_clear(struct sampling *s)
{
	for (size_t i = 0; i < s->clusters.count; i++)
		job_unref(s->clusters.clusters[i].data);
	launch_clusters_free(&s->clusters);
}
