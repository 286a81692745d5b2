/* Trials of launches; see advise.h. */
#include "runtime/estimates/advise.h"

#include "runtime/advice/advice.h"
#include "runtime/estimates/kernel.h"
#include "runtime/model/trace_decode.h"

#include <math.h>
#include <stdlib.h>

struct advising {
	struct crew_job crew; /* the first member */
	struct estimate_job *job;
	double trials; /* that there is room for */
	struct advice_list list;
	bool worked_out, done; /* done: under jobs_lock */
};

/* ---- what there is room for ---- */

static double work_of(const struct estimate *e)
{
	return (double)e->warp_instructions * e->simulated_fraction;
}

/* What trials may simulate with GPUSIM_ADVICE=auto: about a quarter of a second, and as much as a quarter of the run's own. */
static double affordable(const struct advice_budget *b, const struct simulation *sim, double work)
{
	static const double free_work = 1e6, share_of_run = 0.25;
	double left = free_work + share_of_run * b->simulated - b->spent;
	return sim->options.advice.number == ADVICE_ALWAYS ? ADVICE_TRIALS * 1e6 : fmin(ADVICE_TRIALS, left / fmax(work, 1));
}

double advice_due(const struct simulation *sim, struct advice_budget *b, struct estimate_job *job)
{
	static const double longer = 1.25, least_share = 0.01, usual_trials = 2; /* least_share: of the run up to now */
	const struct estimate *e = &job->estimate;
	b->simulated += e->sampled ? 0 : work_of(e);
	b->time_ns += e->time_ns;
	if (sim->options.advice.number == ADVICE_NEVER || (sim->options.report.number & REPORT_NONE) || e->sampled || job->state != JOB_DONE)
		return 0;
	if (e->time_ns < least_share * b->time_ns || e->time_ns <= longer * job->kernel->advised_ns)
		return 0;
	double trials = affordable(b, sim, work_of(e));
	if (trials < 1)
		return 0;
	b->spent += fmin(trials, usual_trials) * work_of(e);
	job->kernel->advised_ns = e->time_ns;
	return trials;
}

/* ---- on a thread of the crew ---- */

/* Trials are kept beside the estimates of the kernel. */
static void trial_key(const struct estimate_job *job, const struct advice_trial *t, const struct gpu *gpu, char key[33])
{
	struct gs_buf all = {0};
	uint64_t numbers[] = {t->change.kind, t->change.line, t->change.file};
	gs_buf_add(&all, job->key, sizeof job->key);
	gs_buf_add(&all, numbers, sizeof numbers);
	gs_buf_add(&all, gpu, sizeof *gpu);
	gs_hash_hex(all.data, all.len, key);
	gs_buf_free(&all);
}

static const struct gpu *gpu_of(const struct estimate_job *job)
{
	return &job->sim->targets[job->target].gpu;
}

static int time_trial(const struct estimate_job *job, const struct advice_trial *t, struct estimate *out)
{
	const struct gpu *gpu = t->gpu ? t->gpu : gpu_of(job);
	struct model_options options = job->sim->model;
	struct results *results = job->kernel->results;
	char key[33];
	trial_key(job, t, gpu, key);
	if (results && results_find(results, key, job->profile.code, out, NULL))
		return 0;
	options.change = t->change.kind == CHANGE_none ? NULL : &t->change;
	int result = job_model(job, gpu, &options, out);
	if (results && !result)
		results_keep(results, key, job->profile.code, out, NULL);
	return result;
}

static void run_trials(struct advising *a, struct advice_trials *trials)
{
	struct estimate e;
	for (size_t i = 0; i < trials->count; i++) {
		struct advice_trial *t = &trials->list[i];
		if (t->work > a->trials)
			continue;
		a->trials -= t->work;
		if (!time_trial(a->job, t, &e))
			t->time_ns = e.time_ns;
	}
}

static void work_out(struct advising *a)
{
	const struct estimate_job *job = a->job;
	struct launch_survey survey = {.instructions = calloc(job->profile.code->code_count + 1u, sizeof *survey.instructions)};
	struct advice_trials *trials = calloc(1, sizeof *trials);
	if (survey.instructions && trials && !job_survey(job, &survey) &&
	    !advice_propose(gpu_of(job), &job->profile, &job->estimate, &survey, trials)) {
		run_trials(a, trials);
		advice_finish(trials, job->estimate.time_ns, &a->list);
		a->worked_out = true;
	}
	if (trials)
		advice_trials_free(trials);
	free(trials);
	free(survey.instructions);
}

static void run_advising(struct crew_job *crew)
{
	struct advising *a = (struct advising *)crew;
	work_out(a);
	job_drop_trace(a->job);
	void (*moved)(void *) = a->job->moved;
	void *ctx = a->job->moved_ctx;
	pthread_mutex_lock(&jobs_lock);
	a->done = true;
	pthread_cond_broadcast(&jobs_changed);
	pthread_mutex_unlock(&jobs_lock);
	if (moved)
		moved(ctx);
}

/* ---- */

struct advising *advising_new(struct estimate_job *job, struct decoded_trace *trace, double trials)
{
	struct advising *a = calloc(1, sizeof *a);
	if (!a) {
		decoded_trace_release(trace);
		return NULL;
	}
	*a = (struct advising){.crew = {.run = run_advising, .priority = -1}, .job = job, .trials = trials};
	job_set_trace(job, trace);
	return a;
}

void advising_start(struct advising *a, struct crew *crew)
{
	if (crew)
		crew_add(crew, &a->crew);
	else
		run_advising(&a->crew);
}

bool advising_is_done(struct advising *a)
{
	pthread_mutex_lock(&jobs_lock);
	bool done = a->done;
	pthread_mutex_unlock(&jobs_lock);
	return done;
}

void advising_wait(struct advising *a)
{
	pthread_mutex_lock(&jobs_lock);
	while (!a->done)
		pthread_cond_wait(&jobs_changed, &jobs_lock);
	pthread_mutex_unlock(&jobs_lock);
}

void advising_end(struct advising *a, struct simulation *sim)
{
	if (a->worked_out)
		stats_set_advice(&sim->stats, a->job->record.kernel_name, a->job->target, &a->list);
	free(a);
}
