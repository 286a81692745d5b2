/*
 * The worker thread: what becomes of a launch once its event has completed. It takes the counters, models every
 * target, adds to the statistics and the files, and gives the memory back, all behind the application's back.
 */
#include "state.h"

#include "runtime/cc/counters.h"
#include "runtime/log.h"

#include <errno.h>
#include <stdlib.h>
#include <time.h>

#define LOG_DOMAIN "worker"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work, progress;
	struct launch *in_flight;              /* every launch that is not in the reports yet */
	struct launch *completed, **completed_end; /* the queue, linked through `queued` */
	uint64_t seq, done;
	bool started, finish, finished;
} w = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.progress = PTHREAD_COND_INITIALIZER,
	.completed_end = &w.completed,
};

void worker_launched(struct launch *l)
{
	pthread_mutex_lock(&w.lock);
	l->seq = w.seq++;
	l->next = w.in_flight;
	if (l->next)
		l->next->previous = l;
	w.in_flight = l;
	pthread_mutex_unlock(&w.lock);
}

/* With the lock held. */
static void queue_completed(struct launch *l)
{
	if (l->is_queued)
		return;
	l->is_queued = true;
	*w.completed_end = l;
	w.completed_end = &l->queued;
	pthread_cond_signal(&w.work);
}

void worker_completed(struct launch *l)
{
	pthread_mutex_lock(&w.lock);
	queue_completed(l);
	pthread_mutex_unlock(&w.lock);
}

static struct timespec deadline_in(unsigned milliseconds)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += milliseconds / 1000;
	t.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

bool worker_wait_progress(unsigned milliseconds)
{
	struct timespec deadline = deadline_in(milliseconds);
	pthread_mutex_lock(&w.lock);
	uint64_t before = w.done;
	int late = 0;
	while (w.done == before && !late)
		late = pthread_cond_timedwait(&w.progress, &w.lock, &deadline);
	bool progress = w.done != before;
	pthread_mutex_unlock(&w.lock);
	return progress;
}

/* ---- one launch ---- */

static uint64_t measured_ns(const struct launch *l)
{
	cl_ulong start, end;
	if (!l->profiled ||
	    cl.clGetEventProfilingInfo(l->event, CL_PROFILING_COMMAND_START, sizeof start, &start, NULL) != CL_SUCCESS ||
	    cl.clGetEventProfilingInfo(l->event, CL_PROFILING_COMMAND_END, sizeof end, &end, NULL) != CL_SUCCESS)
		return 0;
	return end > start ? end - start : 0;
}

static uint64_t total_of_block(const struct launch *l, size_t block)
{
	const uint64_t *slot = l->buffer->words + COUNTER_HEADER_WORDS;
	size_t blocks = l->artifact->block_count;
	uint64_t sum = 0;
	for (size_t s = 0; s < l->slots; s++)
		sum += slot[s * blocks + block];
	return sum;
}

static void fill_profile(struct launch_result *r)
{
	const struct launch *l = r->launch;
	const uint64_t *words = l->buffer->words;
	uint64_t items = 1, groups = 1;
	size_t flags = 0;
	for (int d = 0; d < 3; d++) {
		uint64_t local = l->local[d] ? l->local[d] : words[COUNTER_LOCAL + d];
		r->profile.global[d] = l->global[d];
		r->profile.local[d] = local ? local : 1;
		r->profile.groups[d] = (l->global[d] + r->profile.local[d] - 1) / r->profile.local[d];
		items *= l->global[d];
		groups *= r->profile.groups[d];
	}
	r->profile.local_bytes = l->local_bytes;
	r->profile.entries = l->facts->entry_block >= 0 ? total_of_block(l, (size_t)l->facts->entry_block) : 0;
	if (groups > l->slots)
		r->flags[flags++] = "groups_share_counters";
	if (r->profile.entries != items)
		r->flags[flags++] = "counts_disagree";
}

static void estimate_targets(struct launch_result *r)
{
	for (size_t t = 0; t < runtime.target_count; t++) {
		unsigned arch = runtime.targets[t].arch;
		r->failure[t] = r->launch->facts->failure[arch];
		if (r->failure[t])
			continue;
		r->profile.code = &r->launch->facts->code[arch];
		model_issue_rate(&runtime.targets[t].gpu, &r->profile, &r->estimates[t]);
		r->estimated[t] = true;
	}
}

static void finish_launch(struct launch *l)
{
	struct launch_result r = {.launch = l};
	size_t words = COUNTER_HEADER_WORDS + l->slots * l->artifact->block_count;
	uint64_t begin = clock_ns();
	cl_int status = CL_COMPLETE;
	cl.clGetEventInfo(l->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
	if (status < 0) {
		launch_not_modelled(l->kernel_name, "the driver ended it with an error");
	} else if (buffer_fetch(l->buffer, words)) {
		launch_not_modelled(l->kernel_name, "its counters could not be read");
	} else {
		r.measured_ns = measured_ns(l);
		fill_profile(&r);
		estimate_targets(&r);
		stats_add_launch(&r);
		report_launch(&r);
	}
	buffer_give_back(l->buffer, words);
	cl.clReleaseEvent(l->event);
	tool_cost.model_ns += clock_ns() - begin;
}

/* ---- the thread ---- */

static struct launch *next_completed(void)
{
	struct launch *l = w.completed;
	if (!l)
		return NULL;
	w.completed = l->queued;
	if (!w.completed)
		w.completed_end = &w.completed;
	return l;
}

static void leave_flight(struct launch *l)
{
	if (l->previous)
		l->previous->next = l->next;
	else
		w.in_flight = l->next;
	if (l->next)
		l->next->previous = l->previous;
}

static void *worker(void *unused)
{
	enum { FLUSH_EVERY_NS = 200000000 };
	uint64_t flushed_ns = clock_ns();
	bool dirty = false;
	(void)unused;
	pthread_mutex_lock(&w.lock);
	for (;;) {
		struct launch *l = next_completed();
		bool last = !l && w.finish;
		if (dirty && (!l || clock_ns() - flushed_ns > FLUSH_EVERY_NS)) {
			pthread_mutex_unlock(&w.lock);
			report_flush();
			flushed_ns = clock_ns();
			dirty = false;
			pthread_mutex_lock(&w.lock);
		}
		if (l) {
			pthread_mutex_unlock(&w.lock);
			finish_launch(l);
			pthread_mutex_lock(&w.lock);
			leave_flight(l);
			launch_free(l);
			dirty = true;
			w.done++;
			pthread_cond_broadcast(&w.progress);
		} else if (last) {
			break;
		} else if (!w.completed) {
			pthread_cond_wait(&w.work, &w.lock);
		}
	}
	pthread_mutex_unlock(&w.lock);
	report_finish();
	pthread_mutex_lock(&w.lock);
	w.finished = true;
	pthread_cond_broadcast(&w.progress);
	pthread_mutex_unlock(&w.lock);
	return NULL;
}

int worker_start(void)
{
	pthread_t thread;
	int failure = start_thread(&thread, worker, NULL);
	if (failure)
		return failure;
	pthread_detach(thread);
	w.started = true;
	return 0;
}

/* Launches whose completion we were not told of yet are taken if they are complete; the others are the
 * application's own unfinished work, which we do not wait for. */
static void sweep_in_flight(void)
{
	for (struct launch *l = w.in_flight; l; l = l->next) {
		cl_int status = CL_QUEUED;
		if (l->is_queued)
			continue;
		cl.clGetEventInfo(l->event, CL_EVENT_COMMAND_EXECUTION_STATUS, sizeof status, &status, NULL);
		if (status <= CL_COMPLETE)
			queue_completed(l);
		else
			launch_not_modelled(l->kernel_name, "it had not finished when the program ended");
	}
}

void worker_finish(void)
{
	enum { PATIENCE_MS = 5000 };
	if (!w.started)
		return;
	pthread_mutex_lock(&w.lock);
	sweep_in_flight();
	w.finish = true;
	pthread_cond_signal(&w.work);
	while (!w.finished) {
		struct timespec deadline = deadline_in(PATIENCE_MS);
		uint64_t before = w.done;
		/* Without any progress the driver below may be gone; the files hold what is known. */
		if (pthread_cond_timedwait(&w.progress, &w.lock, &deadline) == ETIMEDOUT && w.done == before && !w.finished)
			break;
	}
	pthread_mutex_unlock(&w.lock);
}
