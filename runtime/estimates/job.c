/* A launch on a target, on its way through the model. */
#include "runtime/estimates/job.h"

#include "runtime/advice/advice.h"
#include "runtime/estimates/kernel.h"
#include "runtime/model/lines.h"
#include "runtime/model/profile.h"
#include "runtime/model/simulation.h"
#include "runtime/model/trace_decode.h"
#include "runtime/process/thread.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

pthread_mutex_t jobs_lock = PTHREAD_MUTEX_INITIALIZER;
pthread_cond_t jobs_changed = PTHREAD_COND_INITIALIZER;

struct estimate_job *job_new(const struct simulation *sim, const struct launch_record *l, const struct launch_profile *p, size_t target,
                             struct kernel_estimates *kernel, const char key[33])
{
	struct estimate_job *job = calloc(1, sizeof *job);
	size_t count = p->code->code_count + 1;
	if (!job)
		return NULL;
	job->refs = 1;
	job->sim = sim;
	job->target = target;
	job->kernel = kernel;
	memcpy(job->key, key, sizeof job->key);
	job->profile = *p;
	job->record = *l;
	profile_lanes(&job->profile, &job->record, &job->reader);
	if (lines_wanted(sim))
		job->instructions = calloc(count, sizeof *job->instructions);
	job->accesses = malloc(count * sizeof *job->accesses);
	if (!job->accesses || (lines_wanted(sim) && !job->instructions)) {
		job_unref(job);
		return NULL;
	}
	memcpy(job->accesses, p->accesses, (count - 1) * sizeof *job->accesses);
	job->profile.accesses = job->accesses;
	job->profile.instructions = job->instructions;
	return job;
}

void job_set_packed(struct estimate_job *job, const struct packed_counters *packed)
{
	job->packed = packed;
	job->record.counters = NULL;
}

void job_set_trace(struct estimate_job *job, struct decoded_trace *trace)
{
	const uint64_t *groups = job->profile.groups;
	job->trace = trace;
	if (trace && decoded_trace_part(trace, groups[0] * groups[1] * groups[2], &job->part))
		job->profile.trace = &job->part;
}

void job_drop_trace(struct estimate_job *job)
{
	decoded_trace_release(job->trace);
	job->trace = NULL;
	job->profile.trace = NULL;
}

struct estimate_job *job_ref(struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	job->refs++;
	pthread_mutex_unlock(&jobs_lock);
	return job;
}

void job_unref(struct estimate_job *job)
{
	if (!job)
		return;
	pthread_mutex_lock(&jobs_lock);
	bool last = !--job->refs;
	pthread_mutex_unlock(&jobs_lock);
	if (!last)
		return;
	job_drop_trace(job);
	made_warps_free(job_take_warps(job));
	job_unref(job->a);
	job_unref(job->b);
	free(job->accesses);
	free(job->instructions);
	free(job->unfinished);
	free(job);
}

/* ---- warps for trials ---- */

/* Of launches that are not handed over yet. To make them again takes time and changes nothing, so which are kept may depend on threads. */
static struct kept_warps kept_warps; /* under jobs_lock */

static bool has_trials(const struct simulation *sim)
{
	bool simulates = sim->model.kind == MODEL_FULL || sim->model.kind == MODEL_OCCUPANCY;
	return simulates && !sim->model.exact && sim->options.advice.number != ADVICE_NEVER && !(sim->options.report.number & REPORT_NONE);
}

bool keeps_warps(struct kept_warps *kept, const struct made_warps *made)
{
	enum { MOST = 4, MOST_BYTES = 64 << 20 }; /* some of any size, some 100 MB each at most, and more where all are small */
	size_t bytes = made_warps_bytes(made);
	bool room = kept->count < MOST || kept->bytes + bytes <= MOST_BYTES;
	kept->count += room;
	kept->bytes += room ? bytes : 0;
	return room;
}

void drops_warps(struct kept_warps *kept, const struct made_warps *made)
{
	kept->count--;
	kept->bytes -= made_warps_bytes(made);
}

static void keep_warps(struct estimate_job *job, struct made_warps *made)
{
	pthread_mutex_lock(&jobs_lock);
	bool room = made && keeps_warps(&kept_warps, made);
	if (room)
		job->made = made;
	pthread_mutex_unlock(&jobs_lock);
	if (!room)
		made_warps_free(made);
}

struct made_warps *job_take_warps(struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	struct made_warps *made = job->made;
	job->made = NULL;
	if (made)
		drops_warps(&kept_warps, made);
	pthread_mutex_unlock(&jobs_lock);
	return made;
}

/* ---- on a thread of the crew ---- */

static const struct gpu *gpu_of(const struct estimate_job *job)
{
	return &job->sim->targets[job->target].gpu;
}

/* The counts of instructions are those of the profile: the job's may be another's by now (job_give_up). */
static int simulate(struct estimate_job *job, const struct launch_profile *p, struct estimate *out, bool *from_cache, struct gs_error *err)
{
	struct results *results = job->kernel->results;
	*from_cache = results && results_find(results, job->key, p->code, out, p->instructions);
	if (*from_cache)
		return 0;
	struct model_options options = job->sim->model;
	struct made_warps *made = NULL;
	if (has_trials(job->sim) && !made_warps_new(gpu_of(job), p, &options, &made, NULL))
		options.made = made;
	int result = model_launch(gpu_of(job), p, &options, out, err);
	keep_warps(job, made);
	if (results && !result)
		results_keep(results, job->key, p->code, out, p->instructions);
	return result;
}

/* Lets the profile read counters that are packed. *words: to be freed after its use. False when out of memory. */
static bool unpack_counters(const struct estimate_job *job, struct launch_profile *p, struct launch_record *record,
                            struct lane_reader *reader, uint64_t **words)
{
	*words = job->packed ? counters_unpack(job->packed) : NULL;
	if (!job->packed)
		return true;
	*record = job->record;
	record->counters = *words;
	profile_lanes(p, record, reader);
	return *words;
}

static int simulate_packed(struct estimate_job *job, struct estimate *out, bool *from_cache, struct gs_error *err)
{
	struct launch_profile p = job->profile;
	struct launch_record record;
	struct lane_reader reader;
	uint64_t *words;
	int result = -ENOMEM;
	if (unpack_counters(job, &p, &record, &reader, &words))
		result = simulate(job, &p, out, from_cache, err);
	free(words);
	return result;
}

static int model_job(struct estimate_job *job, struct estimate *out, bool *from_cache, struct gs_error *err)
{
	return job->a ? model_between(gpu_of(job), &job->profile, &job->sim->model, &job->between, out, err)
	              : simulate_packed(job, out, from_cache, err);
}

/* False: it was given up before it began. */
static bool begin_job(struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	bool begins = job->state == JOB_QUEUED;
	if (begins) {
		job->state = JOB_RUNNING;
		job->running = true;
	}
	pthread_mutex_unlock(&jobs_lock);
	return begins;
}

static void run_job(struct crew_job *crew)
{
	struct estimate_job *job = (struct estimate_job *)crew;
	struct gs_error err = {"out of memory"};
	struct estimate estimate;
	bool from_cache = false;
	uint64_t begin = thread_ran_ns(pthread_self());
	if (!begin_job(job)) {
		job_unref(job);
		return;
	}
	int result = model_job(job, &estimate, &from_cache, &err);
	job_drop_trace(job);
	void (*moved)(void *) = job->moved;
	void *ctx = job->moved_ctx;
	pthread_mutex_lock(&jobs_lock);
	if (job->state == JOB_RUNNING) {
		job->result = result;
		job->error = err;
		job->estimate = estimate;
		job->from_cache = from_cache;
		job->state = JOB_DONE;
	}
	job->cost_ns = thread_ran_ns(pthread_self()) - begin;
	job->running = false;
	pthread_cond_broadcast(&jobs_changed);
	pthread_mutex_unlock(&jobs_lock);
	job_unref(job);
	if (moved)
		moved(ctx);
}

void job_start(struct estimate_job *job, struct crew *crew)
{
	job_ref(job); /* the crew's */
	pthread_mutex_lock(&jobs_lock);
	job->state = JOB_QUEUED;
	pthread_mutex_unlock(&jobs_lock);
	job->crew.run = run_job;
	if (crew)
		crew_add(crew, &job->crew);
	else
		run_job(&job->crew);
}

bool job_waits(struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	bool waits = job->state == JOB_NEW;
	pthread_mutex_unlock(&jobs_lock);
	return waits;
}

bool job_is_done(struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	bool done = job->state >= JOB_DONE;
	pthread_mutex_unlock(&jobs_lock);
	return done;
}

bool job_is_running(struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	bool running = job->running;
	pthread_mutex_unlock(&jobs_lock);
	return running;
}

void job_wait(struct estimate_job *job)
{
	pthread_mutex_lock(&jobs_lock);
	while (job->state < JOB_DONE)
		pthread_cond_wait(&jobs_changed, &jobs_lock);
	pthread_mutex_unlock(&jobs_lock);
}

/* ---- giving up ---- */

/* Another launch's cycles per instruction. How far off that is grows with how different they are. */
static int scale_from(const struct estimate_job *job, const struct launch_profile *p, const struct estimate_job *like,
                      struct estimate *out, struct gs_error *err)
{
	static const double least_error = 0.1; /* launches that TBPoint takes for alike are as far apart */
	double apart = fabs(1 - job->size / like->size);
	struct family_between between = {
		.a = &like->estimate, .b = &like->estimate, .a_instructions = like->instructions, .b_instructions = like->instructions,
		.size = job->size, .a_size = like->size, .b_size = like->size, .error = fmin(least_error + apart, 1),
	};
	return model_between(gpu_of(job), p, &job->sim->model, &between, out, err);
}

static int guess(const struct estimate_job *job, const struct launch_profile *p, struct estimate *out, struct gs_error *err)
{
	static const double factor = 2; /* of perfect memory, a guess */
	struct model_options options = job->sim->model;
	options.kind = MODEL_PROBABILISTIC;
	int result = model_launch(gpu_of(job), p, &options, out, err);
	out->low_ns /= factor;
	out->high_ns *= factor;
	out->simulated_fraction = 0;
	return result;
}

bool job_give_up(struct estimate_job *job, struct estimate_job *like)
{
	struct launch_profile p = job->profile;
	struct launch_record record = job->record;
	struct lane_reader reader;
	struct gs_error err = {"out of memory"};
	struct estimate estimate;
	uint64_t *words;
	size_t count = p.code->code_count + 1;
	if (job_is_done(job))
		return false;
	/* Whoever still simulates it has the reader, the trace and the counts. */
	profile_lanes(&p, &record, &reader);
	bool unpacked = unpack_counters(job, &p, &record, &reader, &words);
	p.trace = NULL;
	p.instructions = job->instructions ? calloc(count, sizeof *p.instructions) : NULL;
	int result = like ? scale_from(job, &p, like, &estimate, &err) : unpacked ? guess(job, &p, &estimate, &err) : -ENOMEM;
	free(words);
	flag_add(&estimate.flags, FLAG_over_budget);
	pthread_mutex_lock(&jobs_lock);
	bool late = job->state < JOB_DONE;
	if (late) {
		job->state = JOB_GIVEN_UP;
		job->result = result;
		job->error = err;
		job->estimate = estimate;
		job->unfinished = job->instructions;
		job->instructions = p.instructions;
		pthread_cond_broadcast(&jobs_changed);
	}
	pthread_mutex_unlock(&jobs_lock);
	if (!late)
		free(p.instructions);
	return late;
}

/* ---- once more ---- */

int job_model(const struct estimate_job *job, const struct gpu *gpu, const struct model_options *options, struct estimate *out)
{
	struct launch_profile p = job->profile;
	struct launch_record record = job->record;
	struct lane_reader reader;
	uint64_t *words;
	p.instructions = NULL;
	profile_lanes(&p, &record, &reader);
	int result = unpack_counters(job, &p, &record, &reader, &words) ? model_launch(gpu, &p, options, out, NULL) : -ENOMEM;
	free(words);
	return result;
}

int job_make_warps(const struct estimate_job *job, struct made_warps **out)
{
	struct launch_profile p = job->profile;
	struct launch_record record = job->record;
	struct lane_reader reader;
	uint64_t *words;
	profile_lanes(&p, &record, &reader);
	int result = unpack_counters(job, &p, &record, &reader, &words) ? made_warps_new(gpu_of(job), &p, &job->sim->model, out, NULL) : -ENOMEM;
	free(words);
	return result;
}

/* ---- simulating in full ---- */

struct full_job {
	struct crew_job crew; /* the first member */
	const struct estimate_job *of;
	double time_ns;
	bool done; /* under jobs_lock */
};

static void run_full_job(struct crew_job *crew)
{
	static const double most_checked = 2e7; /* warp instructions, some seconds; of a larger launch homogeneous regions stay sampled */
	struct full_job *full = (struct full_job *)crew;
	const struct estimate_job *job = full->of;
	struct model_options options = job->sim->model;
	struct launch_profile profile = job->profile;
	struct launch_record record;
	struct lane_reader reader;
	struct estimate e;
	uint64_t *words;
	options.exact |= (double)job->estimate.warp_instructions <= most_checked;
	profile.instructions = NULL;
	if (unpack_counters(job, &profile, &record, &reader, &words) && !model_launch(gpu_of(job), &profile, &options, &e, NULL))
		full->time_ns = e.time_ns;
	free(words);
	pthread_mutex_lock(&jobs_lock);
	full->done = true;
	pthread_cond_broadcast(&jobs_changed);
	pthread_mutex_unlock(&jobs_lock);
}

double job_full_time_ns(struct estimate_job *job, struct decoded_trace *trace, struct crew *crew)
{
	struct full_job full = {.crew = {.run = run_full_job, .priority = 1e300}, .of = job};
	job_set_trace(job, trace);
	if (crew)
		crew_add(crew, &full.crew);
	else
		run_full_job(&full.crew);
	pthread_mutex_lock(&jobs_lock);
	while (!full.done)
		pthread_cond_wait(&jobs_changed, &jobs_lock);
	pthread_mutex_unlock(&jobs_lock);
	job_drop_trace(job);
	return full.time_ns > 0 ? full.time_ns : 0;
}
