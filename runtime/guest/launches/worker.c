/*
 * The worker thread deals with a launch once its event has completed. It reads the counters and hands the launch to a crew of threads,
 * which model it on every target (runtime/estimates). When that is done, and so are all launches before it, the worker adds it to the
 * statistics and the files. The application does not wait for it.
 *
 * Modelling a launch may take long. The next launches meanwhile need the memory of traces and copies, and the verdicts on
 * twins. So another thread, the fetcher, goes through the queue ahead of the worker (fetcher.c). How the program ends is in worker_end.c.
 */
#include "runtime/guest/launches/worker.h"

#include "runtime/config/log.h"
#include "runtime/estimates/estimates.h"
#include "runtime/estimates/kept/results.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/traced.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/timeline.h"
#include "runtime/guest/launches/worker_state.h"
#include "runtime/model/profile.h"
#include "runtime/model/proof.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/signals.h"
#include "runtime/process/thread.h"
#include "runtime/report/progress.h"
#include "runtime/report/record.h"
#include "runtime/report/report.h"

#include <unistd.h>

#define LOG_DOMAIN "worker"

struct worker_state work = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.progress = PTHREAD_COND_INITIALIZER,
	.fetch = PTHREAD_COND_INITIALIZER,
	.completed_end = &work.completed,
};

void worker_launched(struct launch *l)
{
	lock_for_report(&work.lock);
	l->record.seq = work.seq++;
	l->next = work.in_flight;
	if (l->next)
		l->next->previous = l;
	work.in_flight = l;
	unlock_for_report(&work.lock);
}

bool worker_is_busy(void)
{
	return work.busy || (work.under_way && !work.all_wait);
}

static size_t counter_bytes(const struct launch *l)
{
	return l->buffer ? l->buffer->word_count * sizeof *l->buffer->words : 0;
}

/* With the lock held. To wake the worker for each of thousands of launches costs their threads more than counting does. But
 * memory that is used again soon is still in a cache. So the worker is woken once enough has gathered. */
static void queue_completed(struct launch *l)
{
	enum { MOST_GATHERED = 512 << 10 };
	if (l->is_queued)
		return;
	l->is_queued = true;
	work.queued++;
	*work.completed_end = l;
	work.completed_end = &l->queued;
	work.gathered_bytes += counter_bytes(l);
	if (!work.dozing || work.waiting || work.gathered_bytes > MOST_GATHERED)
		pthread_cond_signal(&work.work);
	if (worker_is_busy() && has_to_fetch(l))
		pthread_cond_signal(&work.fetch);
}

void worker_completed(struct launch *l)
{
	lock_for_report(&work.lock);
	queue_completed(l);
	unlock_for_report(&work.lock);
}

void worker_moved(void)
{
	lock_for_report(&work.lock);
	work.moved++;
	pthread_cond_broadcast(&work.progress);
	unlock_for_report(&work.lock);
}

bool worker_wait_until_moved(uint64_t before, unsigned milliseconds)
{
	struct timespec deadline = deadline_in(milliseconds);
	int late = 0;
	while (work.moved == before && !late)
		late = pthread_cond_timedwait(&work.progress, &work.lock, &deadline);
	return work.moved != before;
}

bool worker_others_will_move(void)
{
	enum { LOOKS = 50, EVERY_US = 10000 };
	bool at_work = false;
	if (worker_is_busy() || work.completed)
		return true;
	pthread_mutex_unlock(&work.lock);
	for (int i = 0; i < LOOKS && !at_work; i++) {
		if (i)
			usleep(EVERY_US);
		at_work = others_at_work();
	}
	pthread_mutex_lock(&work.lock);
	return at_work || worker_is_busy() || work.completed;
}

uint64_t worker_moves(void)
{
	lock_for_report(&work.lock);
	uint64_t moved = work.moved;
	unlock_for_report(&work.lock);
	return moved;
}

bool worker_wait_progress(uint64_t before, unsigned milliseconds, unsigned rounds)
{
	lock_for_report(&work.lock);
	/* A thread that waited in vain does not wait again before something has moved. A user event may hold everything up. */
	bool in_vain = work.in_vain && work.in_vain_at == before;
	work.waiting++;
	pthread_cond_signal(&work.work);
	for (unsigned i = 0; !in_vain && !worker_wait_until_moved(before, milliseconds); i++)
		in_vain = !worker_is_busy() && (i >= rounds || !worker_others_will_move()) && work.moved == before;
	work.waiting--;
	work.in_vain = in_vain;
	work.in_vain_at = before;
	unlock_for_report(&work.lock);
	return !in_vain;
}

/* ---- one launch ---- */

static void leave_flight(struct launch *l)
{
	if (l->previous)
		l->previous->next = l->next;
	else
		work.in_flight = l->next;
	if (l->next)
		l->next->previous = l->previous;
}

/* It is in the reports, as far as it can be. The result is NULL where it has none. */
static void launch_done(struct launch *l, const struct launch_result *r)
{
	timeline_resolve(l->command, l->record.seq + 1, r);
	pthread_mutex_lock(&work.lock);
	leave_flight(l);
	work.done++;
	work.moved++;
	pthread_cond_broadcast(&work.progress);
	pthread_mutex_unlock(&work.lock);
}

/* What a verified launch did, if any target says so. */
static void tell_proof(const struct launch *l, const struct launch_result *r)
{
	for (size_t t = 0; l->proof && t < r->sim->target_count; t++)
		if (r->estimated[t])
			proof_worked(l->proof, (double)r->estimates[t].thread_instructions);
}

static void commit_launch(const struct launch_result *r, void *owner)
{
	tell_proof(owner, r);
	report_launch(r);
	launch_done(owner, r);
}

static void give_back(void *owner)
{
	struct launch *l = owner;
	l->record.counters = NULL;
	launch_give_back(l);
}

static void release(void *owner)
{
	launch_free(owner);
}

/* On a thread of the crew. */
static void job_ended(void)
{
	pthread_mutex_lock(&work.lock);
	work.job_ended = true;
	pthread_cond_signal(&work.work);
	pthread_mutex_unlock(&work.lock);
}

static void not_modelled(struct launch *l, const char *reason)
{
	if (reason)
		launch_not_modelled(l->record.kernel_name, reason);
	launch_give_back(l);
	launch_done(l, NULL);
	launch_free(l);
}

/* Takes the counters and the trace of a completed launch. */
static void take_counts(struct launch *l)
{
	struct kept_trace *brought = l->brought;
	l->record.counters = l->buffer->words;
	l->record.counter_words = launch_words(&l->record);
	l->brought = NULL;
	record_launch(&simulation, &l->record, brought);
	if (!report_wanted(&simulation) && record_wanted(&simulation)) { /* a user who records may leave the rest to replay */
		kept_trace_free(brought);
		not_modelled(l, NULL);
	} else if (estimates_take(work.estimates, &l->record, brought, l)) {
		not_modelled(l, "its counters could not be read");
	}
}

static void take_uncounted(struct launch *l)
{
	if (!report_wanted(&simulation) || estimates_take_uncounted(work.estimates, &l->record, l->alone, l))
		not_modelled(l, l->alone);
}

static void finish_launch(struct launch *l)
{
	uint64_t begin = clock_ns();
	cost_add_launch(&simulation.cost, &l->times);
	if (l->status >= 0 && l->alone) {
		take_uncounted(l);
	} else if (l->status >= 0 && !l->uncounted && !buffer_fetch(l->buffer, launch_words(&l->record))) {
		take_counts(l);
	} else {
		kept_trace_free(l->brought);
		l->brought = NULL;
		not_modelled(l, l->status < 0 ? "the driver ended it with an error"
		                : l->uncounted ? "the driver refused its annotated twin"
		                               : "its counters could not be read");
	}
	estimates_commit(work.estimates);
	simulation.cost.model_ns += clock_ns() - begin;
}

/* ---- the thread ---- */

static struct launch *next_completed(void)
{
	struct launch *l = work.completed;
	if (!l)
		return NULL;
	work.completed = l->queued;
	work.gathered_bytes -= counter_bytes(l);
	if (!work.completed)
		work.completed_end = &work.completed;
	return l;
}

/* With the lock held, after estimates have moved. */
static void note_under_way(void)
{
	work.under_way = estimates_under_way(work.estimates);
	work.all_wait = estimates_all_wait(work.estimates);
	work.busy = false;
	pthread_cond_broadcast(&work.progress);
}

static struct progress_work work_up_to_now(void *unused, uint64_t left)
{
	uint64_t under_way = estimates_under_way(work.estimates);
	(void)unused;
	return (struct progress_work){(double)estimates_ran_ns(work.estimates),
	                              left ? estimates_left_ns(work.estimates, left > under_way ? left - under_way : 0) : 0};
}

static void show_progress(void)
{
	progress_show(&simulation, work.done, work.seq - work.done, work_up_to_now, NULL);
}

/* With the lock held; it is released meanwhile. */
static void work_on(struct launch *l)
{
	work.busy = true;
	show_progress();
	bool ahead = l->fetched != FETCH_NONE; /* the fetcher has it already */
	fetch_once(l);
	if (ahead && l->brought) {
		work.brought_bytes -= kept_trace_memory(l->brought);
		pthread_cond_signal(&work.fetch); /* it may have waited for room */
	}
	pthread_mutex_unlock(&work.lock);
	finish_launch(l);
	pthread_mutex_lock(&work.lock);
	work.moved++;
	note_under_way();
}

/* The same of launches that have been modelled. */
static void commit_launches(void)
{
	work.busy = true;
	work.job_ended = false;
	pthread_mutex_unlock(&work.lock);
	estimates_commit(work.estimates);
	pthread_mutex_lock(&work.lock);
	note_under_way();
}

/* With the lock held. Launches may wait for others like them. They do so no longer if none will come, or if there is no room. */
static bool launches_wait(bool room)
{
	bool last = work.waiting || work.finish || (work.ending && work.queued == work.seq);
	return work.all_wait && (!room || (!work.completed && last));
}

static void flush_launches(void)
{
	bool hurried = work.waiting && !work.finish && !work.ending;
	work.busy = true;
	pthread_mutex_unlock(&work.lock);
	estimates_flush(work.estimates, hurried);
	pthread_mutex_lock(&work.lock);
	work.busy = work.all_wait = false;
	work.job_ended = true; /* perhaps: it looks */
}

static void do_unlocked(void (*what)(struct simulation *))
{
	work.busy = true;
	pthread_mutex_unlock(&work.lock);
	what(&simulation);
	pthread_mutex_lock(&work.lock);
	work.busy = false;
	pthread_cond_broadcast(&work.progress);
}

static void finish_advice(struct simulation *sim)
{
	(void)sim;
	estimates_finish_advice(work.estimates);
}

static void write_results(struct simulation *sim)
{
	(void)sim;
	results_write();
}

/* When to write the files again. As they grow, writing takes longer, so it is done less often. It takes at most a fiftieth of
 * the time. */
struct flushes {
	bool wanted;
	uint64_t due_ns;
};

static void flush_files(struct flushes *f)
{
	enum { EVERY_NS = 200000000, SHARE = 50 };
	uint64_t begin = clock_ns();
	do_unlocked(report_flush);
	uint64_t end = clock_ns(), pause = (end - begin) * SHARE;
	f->due_ns = end + (pause > EVERY_NS ? pause : EVERY_NS);
	f->wanted = false;
}

static uint64_t shorter(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/* With the lock held; it is released meanwhile. Waits until there is work, or until files are to be written. Right after some
 * work it waits only shortly, because more may come. */
static void wait_for_work(bool worked, const struct flushes *f)
{
	enum { DOZE_MS = 2 };
	uint64_t now = clock_ns(), wait_ms = UINT64_MAX, budget_ns = estimates_budget_ns(work.estimates);
	if (work.under_way || work.completed)
		show_progress();
	else
		progress_clear();
	work.dozing = worked && !work.waiting;
	if (work.under_way)
		wait_ms = PROGRESS_MS;
	if (f->wanted)
		wait_ms = shorter(wait_ms, f->due_ns > now ? (f->due_ns - now) / 1000000 + 1 : 1);
	if (budget_ns != UINT64_MAX)
		wait_ms = shorter(wait_ms, budget_ns / 1000000 + 1);
	if (work.dozing)
		wait_ms = DOZE_MS;
	if (wait_ms != UINT64_MAX) {
		struct timespec deadline = deadline_in((unsigned)wait_ms);
		pthread_cond_timedwait(&work.work, &work.lock, &deadline);
	} else {
		pthread_cond_wait(&work.work, &work.lock);
	}
	work.dozing = false;
}

/* Never ends, because exit handlers of the application that run after ours may still launch kernels. */
static void *worker(void *unused)
{
	struct flushes flushes = {0};
	uint64_t written = 0; /* launches that the files have, or that are to be written */
	bool worked = false;
	(void)unused;
	pthread_mutex_lock(&work.lock);
	work.id = gettid();
	for (;;) {
		if (work.job_ended || !estimates_budget_ns(work.estimates))
			commit_launches();
		flushes.wanted |= work.done != written;
		written = work.done;
		bool room = estimates_has_room(work.estimates);
		struct launch *l = room ? next_completed() : NULL;
		if (flushes.wanted && clock_ns() >= flushes.due_ns)
			flush_files(&flushes);
		if (l) {
			work_on(l);
			worked = true;
		} else if (work.finish && !work.finished && !work.completed && !work.under_way) {
			progress_clear();
			do_unlocked(finish_advice);
			do_unlocked(report_finish);
			do_unlocked(write_results);
			work.finished = true;
			pthread_cond_broadcast(&work.progress);
		} else if (launches_wait(room)) {
			flush_launches();
		} else if ((!work.completed || !room) && !work.job_ended) {
			wait_for_work(worked, &flushes);
			worked = false;
		}
	}
	return NULL;
}

bool worker_start_threads(void)
{
	enum { STACK_BYTES = 2 << 20 };
	if (work.started || work.failed)
		return work.started;
	static const struct estimates_calls calls = {commit_launch, give_back, release, job_ended};
	work.estimates = estimates_new(&simulation, &calls, (unsigned)simulation.options.jobs.number);
	work.failed = !work.estimates || start_small_thread(&work.thread, STACK_BYTES, worker, NULL) != 0;
	if (work.failed) {
		log_error("no thread could be started: nothing is modelled");
		return false;
	}
	pthread_detach(work.thread);
	work.started = true;
	pthread_t second; /* without this thread the worker does everything */
	if (!start_small_thread(&second, STACK_BYTES, fetcher, NULL))
		pthread_detach(second);
	return true;
}

bool worker_ready(void)
{
	if (work.started)
		return true;
	lock_for_report(&work.lock);
	bool ready = worker_start_threads();
	unlock_for_report(&work.lock);
	return ready;
}
