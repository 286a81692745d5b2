/*
 * The worker thread deals with a launch once its event has completed. It reads the counters and hands the launch to a crew of threads,
 * which model it on every target (runtime/estimates). When that is done, and so are all launches before it, the worker adds it to the
 * statistics and the files. The application does not wait for it.
 *
 * Modelling a launch may take long. The next launches meanwhile need the memory of traces and copies, and the verdicts on
 * twins. So another thread, the fetcher, goes through the queue ahead of the worker. It packs traces into less memory,
 * compares what is to be verified, and releases copies.
 */
#include "runtime/guest/launches/worker.h"

#include "runtime/config/log.h"
#include "runtime/estimates/estimates.h"
#include "runtime/estimates/results.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/shadow.h"
#include "runtime/guest/launches/traced.h"
#include "runtime/guest/launches/verify.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/timeline.h"
#include "runtime/model/profile.h"
#include "runtime/model/trace_shapes.h"
#include "runtime/process/signals.h"
#include "runtime/process/thread.h"
#include "runtime/report/progress.h"
#include "runtime/report/record.h"
#include "runtime/report/report.h"

#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

#define LOG_DOMAIN "worker"

static struct {
	pthread_mutex_t lock;
	pthread_cond_t work, progress, fetch;
	struct launch *in_flight;              /* every launch that is not in the reports yet */
	struct launch *completed, **completed_end; /* the queue, linked through `queued` */
	uint64_t seq, done, moved, in_vain_at; /* moved: counts launches taken in, launches done and trace buffers given back */
	bool in_vain;
	size_t gathered_bytes; /* counters of launches in the queue */
	uint64_t brought_bytes; /* traces of launches in the queue */
	atomic_bool started;
	bool failed, finish, finished;
	uint64_t given_up; /* launches with a lower number are no longer waited for */
	bool busy;   /* the worker works on a launch, or on the files */
	bool job_ended; /* since the worker looked last */
	size_t under_way; /* launches that are being modelled */
	bool all_wait;    /* all of them, for others like them */
	uint64_t queued;  /* launches that have completed, ever */
	bool ending;      /* the program has ended */
	struct estimates *estimates; /* the worker's */
	pid_t id;    /* the worker's thread */
	pthread_t thread;
	bool dozing; /* the worker sleeps shortly and will soon look into the queue */
	unsigned waiting; /* threads that wait for progress */
} w = {
	.lock = PTHREAD_MUTEX_INITIALIZER,
	.work = PTHREAD_COND_INITIALIZER,
	.progress = PTHREAD_COND_INITIALIZER,
	.fetch = PTHREAD_COND_INITIALIZER,
	.completed_end = &w.completed,
};

void worker_launched(struct launch *l)
{
	lock_for_report(&w.lock);
	l->record.seq = w.seq++;
	l->next = w.in_flight;
	if (l->next)
		l->next->previous = l;
	w.in_flight = l;
	unlock_for_report(&w.lock);
}

/* With the lock held: the worker, or the crew. */
static bool is_busy(void)
{
	return w.busy || (w.under_way && !w.all_wait);
}

/* Whether a launch has memory that others may need and modelling does not. */
static bool has_to_fetch(const struct launch *l)
{
	return l->trace_buffer || l->verification || l->shadow;
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
	w.queued++;
	*w.completed_end = l;
	w.completed_end = &l->queued;
	w.gathered_bytes += counter_bytes(l);
	if (!w.dozing || w.waiting || w.gathered_bytes > MOST_GATHERED)
		pthread_cond_signal(&w.work);
	if (is_busy() && has_to_fetch(l))
		pthread_cond_signal(&w.fetch);
}

void worker_completed(struct launch *l)
{
	lock_for_report(&w.lock);
	queue_completed(l);
	unlock_for_report(&w.lock);
}

void worker_moved(void)
{
	lock_for_report(&w.lock);
	w.moved++;
	pthread_cond_broadcast(&w.progress);
	unlock_for_report(&w.lock);
}

/* With the lock held: waits until something has moved since `before`. False when the time is over. */
static bool wait_until_moved(uint64_t before, unsigned milliseconds)
{
	struct timespec deadline = deadline_in(milliseconds);
	int late = 0;
	while (w.moved == before && !late)
		late = pthread_cond_timedwait(&w.progress, &w.lock, &deadline);
	return w.moved != before;
}

/* With the lock held; it is released meanwhile, because a thread that waits for it would seem to rest. A thread that pauses for
 * a moment would seem to rest, too, so this looks several times. */
static bool others_will_move(void)
{
	enum { LOOKS = 50, EVERY_US = 10000 };
	bool at_work = false;
	if (is_busy() || w.completed)
		return true;
	pthread_mutex_unlock(&w.lock);
	for (int i = 0; i < LOOKS && !at_work; i++) {
		if (i)
			usleep(EVERY_US);
		at_work = others_at_work();
	}
	pthread_mutex_lock(&w.lock);
	return at_work || is_busy() || w.completed;
}

uint64_t worker_moves(void)
{
	lock_for_report(&w.lock);
	uint64_t moved = w.moved;
	unlock_for_report(&w.lock);
	return moved;
}

bool worker_wait_progress(uint64_t before, unsigned milliseconds, unsigned rounds)
{
	lock_for_report(&w.lock);
	/* A thread that waited in vain does not wait again before something has moved. A user event may hold everything up. */
	bool in_vain = w.in_vain && w.in_vain_at == before;
	w.waiting++;
	pthread_cond_signal(&w.work);
	for (unsigned i = 0; !in_vain && !wait_until_moved(before, milliseconds); i++)
		in_vain = !is_busy() && (i >= rounds || !others_will_move()) && w.moved == before;
	w.waiting--;
	w.in_vain = in_vain;
	w.in_vain_at = before;
	unlock_for_report(&w.lock);
	return !in_vain;
}

/* ---- one launch ---- */

/* The time of the kernel itself, which ran after its twins. */
static uint64_t own_ns(const struct launch_times *t)
{
	uint64_t begin = t->traces_end_ns > t->twin_end_ns ? t->traces_end_ns : t->twin_end_ns;
	return begin && t->own_end_ns > begin ? t->own_end_ns - begin : 0;
}

/* Fetches the trace and the verdict on the twin. The copies of memory are released. */
static void fetch(struct launch *l)
{
	verification_end(l->verification, l->record.kernel_name, l->status >= 0, own_ns(&l->times));
	l->verification = NULL;
	if (l->trace_buffer && !l->void_trace && !l->uncounted && l->status >= 0)
		l->brought = trace_bring_back(l);
	shadow_release(l->shadow);
	l->shadow = NULL;
}

/* With the lock held. If two threads come here, the second waits for the first. */
static void fetch_once(struct launch *l)
{
	while (l->fetched == FETCH_BUSY)
		pthread_cond_wait(&w.progress, &w.lock);
	if (l->fetched == FETCH_DONE)
		return;
	l->fetched = FETCH_BUSY;
	pthread_mutex_unlock(&w.lock);
	fetch(l);
	pthread_mutex_lock(&w.lock);
	l->fetched = FETCH_DONE;
	pthread_cond_broadcast(&w.progress);
}

/* With the lock held: whether the memory of traces that wait to be modelled has reached its bound. */
static bool brought_enough(uint64_t more)
{
	return w.brought_bytes + more > TRACE_KEPT_SHARE(simulation.options.trace_memory.number);
}

/* With the lock held. What is beyond the bound is lost; with GPUSIM_EXACT=1 it is not fetched before there is room. */
static void keep_brought(struct launch *l)
{
	if (!l->brought)
		return;
	if (simulation.options.exact.number || !brought_enough(l->brought->length)) {
		w.brought_bytes += l->brought->length;
		return;
	}
	kept_trace_free(l->brought);
	l->brought = NULL;
	simulation.cost.untraced++;
}

static struct launch *next_to_fetch(void)
{
	struct launch *l = simulation.options.exact.number && brought_enough(0) ? NULL : w.completed;
	while (l && (l->fetched != FETCH_NONE || !has_to_fetch(l)))
		l = l->queued;
	return l;
}

static void *fetcher(void *unused)
{
	(void)unused;
	pthread_mutex_lock(&w.lock);
	for (;;) {
		struct launch *l = next_to_fetch();
		if (l) {
			fetch_once(l);
			keep_brought(l);
		} else {
			pthread_cond_wait(&w.fetch, &w.lock);
		}
	}
	return NULL;
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

/* It is in the reports, as far as it can be. The result is NULL where it has none. */
static void launch_done(struct launch *l, const struct launch_result *r)
{
	timeline_resolve(l->command, r);
	pthread_mutex_lock(&w.lock);
	leave_flight(l);
	w.done++;
	w.moved++;
	pthread_cond_broadcast(&w.progress);
	pthread_mutex_unlock(&w.lock);
}

static void commit_launch(const struct launch_result *r, void *owner)
{
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
	pthread_mutex_lock(&w.lock);
	w.job_ended = true;
	pthread_cond_signal(&w.work);
	pthread_mutex_unlock(&w.lock);
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
	} else if (estimates_take(w.estimates, &l->record, brought, l)) {
		not_modelled(l, "its counters could not be read");
	}
}

static void take_uncounted(struct launch *l)
{
	if (!report_wanted(&simulation) || estimates_take_uncounted(w.estimates, &l->record, l->alone, l))
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
	estimates_commit(w.estimates);
	simulation.cost.model_ns += clock_ns() - begin;
}

/* ---- the thread ---- */

static struct launch *next_completed(void)
{
	struct launch *l = w.completed;
	if (!l)
		return NULL;
	w.completed = l->queued;
	w.gathered_bytes -= counter_bytes(l);
	if (!w.completed)
		w.completed_end = &w.completed;
	return l;
}

/* The number of launches that are not in the reports yet. */
static unsigned long backlog(void)
{
	unsigned long count = 0;
	for (const struct launch *l = w.in_flight; l; l = l->next)
		count++;
	return count;
}

/* With the lock held, after estimates have moved. */
static void note_under_way(void)
{
	w.under_way = estimates_under_way(w.estimates);
	w.all_wait = estimates_all_wait(w.estimates);
	w.busy = false;
	pthread_cond_broadcast(&w.progress);
}

static struct progress_work work_up_to_now(void *unused, uint64_t left)
{
	uint64_t under_way = estimates_under_way(w.estimates);
	(void)unused;
	return (struct progress_work){(double)estimates_ran_ns(w.estimates),
	                              left ? estimates_left_ns(w.estimates, left > under_way ? left - under_way : 0) : 0};
}

static void show_progress(void)
{
	progress_show(&simulation, w.done, w.seq - w.done, work_up_to_now, NULL);
}

/* With the lock held; it is released meanwhile. */
static void work_on(struct launch *l)
{
	w.busy = true;
	show_progress();
	bool ahead = l->fetched != FETCH_NONE; /* the fetcher has it already */
	fetch_once(l);
	if (ahead && l->brought) {
		w.brought_bytes -= l->brought->length;
		pthread_cond_signal(&w.fetch); /* it may have waited for room */
	}
	pthread_mutex_unlock(&w.lock);
	finish_launch(l);
	pthread_mutex_lock(&w.lock);
	w.moved++;
	note_under_way();
}

/* The same of launches that have been modelled. */
static void commit_launches(void)
{
	w.busy = true;
	w.job_ended = false;
	pthread_mutex_unlock(&w.lock);
	estimates_commit(w.estimates);
	pthread_mutex_lock(&w.lock);
	note_under_way();
}

/* With the lock held. Launches may wait for others like them. They do so no longer if none will come, or if there is no room. */
static bool launches_wait(bool room)
{
	bool last = w.waiting || w.finish || (w.ending && w.queued == w.seq);
	return w.all_wait && (!room || (!w.completed && last));
}

static void flush_launches(void)
{
	bool hurried = w.waiting && !w.finish && !w.ending;
	w.busy = true;
	pthread_mutex_unlock(&w.lock);
	estimates_flush(w.estimates, hurried);
	pthread_mutex_lock(&w.lock);
	w.busy = w.all_wait = false;
	w.job_ended = true; /* perhaps: it looks */
}

static void do_unlocked(void (*what)(struct simulation *))
{
	w.busy = true;
	pthread_mutex_unlock(&w.lock);
	what(&simulation);
	pthread_mutex_lock(&w.lock);
	w.busy = false;
	pthread_cond_broadcast(&w.progress);
}

static void finish_advice(struct simulation *sim)
{
	(void)sim;
	estimates_finish_advice(w.estimates);
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
	uint64_t now = clock_ns(), wait_ms = UINT64_MAX, budget_ns = estimates_budget_ns(w.estimates);
	if (w.under_way || w.completed)
		show_progress();
	else
		progress_clear();
	w.dozing = worked && !w.waiting;
	if (w.under_way)
		wait_ms = PROGRESS_MS;
	if (f->wanted)
		wait_ms = shorter(wait_ms, f->due_ns > now ? (f->due_ns - now) / 1000000 + 1 : 1);
	if (budget_ns != UINT64_MAX)
		wait_ms = shorter(wait_ms, budget_ns / 1000000 + 1);
	if (w.dozing)
		wait_ms = DOZE_MS;
	if (wait_ms != UINT64_MAX) {
		struct timespec deadline = deadline_in((unsigned)wait_ms);
		pthread_cond_timedwait(&w.work, &w.lock, &deadline);
	} else {
		pthread_cond_wait(&w.work, &w.lock);
	}
	w.dozing = false;
}

/* Never ends, because exit handlers of the application that run after ours may still launch kernels. */
static void *worker(void *unused)
{
	struct flushes flushes = {0};
	uint64_t written = 0; /* launches that the files have, or that are to be written */
	bool worked = false;
	(void)unused;
	pthread_mutex_lock(&w.lock);
	w.id = gettid();
	for (;;) {
		if (w.job_ended || !estimates_budget_ns(w.estimates))
			commit_launches();
		flushes.wanted |= w.done != written;
		written = w.done;
		bool room = estimates_has_room(w.estimates);
		struct launch *l = room ? next_completed() : NULL;
		if (flushes.wanted && clock_ns() >= flushes.due_ns)
			flush_files(&flushes);
		if (l) {
			work_on(l);
			worked = true;
		} else if (w.finish && !w.finished && !w.completed && !w.under_way) {
			progress_clear();
			do_unlocked(finish_advice);
			do_unlocked(report_finish);
			do_unlocked(write_results);
			w.finished = true;
			pthread_cond_broadcast(&w.progress);
		} else if (launches_wait(room)) {
			flush_launches();
		} else if ((!w.completed || !room) && !w.job_ended) {
			wait_for_work(worked, &flushes);
			worked = false;
		}
	}
	return NULL;
}

/* With the lock held. Threads are started only when there is work. An application with limited address space may need all of it
 * before. */
static bool start_threads(void)
{
	enum { STACK_BYTES = 2 << 20 };
	if (w.started || w.failed)
		return w.started;
	static const struct estimates_calls calls = {commit_launch, give_back, release, job_ended};
	w.estimates = estimates_new(&simulation, &calls, (unsigned)simulation.options.jobs.number);
	w.failed = !w.estimates || start_small_thread(&w.thread, STACK_BYTES, worker, NULL) != 0;
	if (w.failed) {
		log_error("no thread could be started: nothing is modelled");
		return false;
	}
	pthread_detach(w.thread);
	w.started = true;
	pthread_t second; /* without this thread the worker does everything */
	if (!start_small_thread(&second, STACK_BYTES, fetcher, NULL))
		pthread_detach(second);
	return true;
}

bool worker_ready(void)
{
	if (w.started)
		return true;
	lock_for_report(&w.lock);
	bool ready = start_threads();
	unlock_for_report(&w.lock);
	return ready;
}

/* With the lock held: whether the driver may be compiling for us. The program must not end then, because the compiler would
 * lose its memory. */
static bool twins_in_flight(void)
{
	for (const struct launch *l = w.in_flight; l; l = l->next)
		if (l->beside_twins && !l->is_queued)
			return true;
	return false;
}

/* With the lock held: launches that the models do not have yet. Those that they have may wait for more to come. */
static bool some_are_running(void)
{
	bool running = w.completed;
	for (const struct launch *l = w.in_flight; l && !running; l = l->next)
		running = !l->is_queued;
	return running;
}

/*
 * With the lock held. Waits until nothing runs, or until nothing has moved for a while. A kernel that the application
 * did not wait for may run for hours. Only time in which this process ran counts. Time in which other processes had the
 * processors does not, up to a limit.
 */
static void wait_while_moving(unsigned patience_ms)
{
	enum { ROUNDS = 20, ROUNDS_OF_COMPILERS = 300, MOST_STARVED = 10 };
	unsigned in_vain = 0, waits = 0;
	while (some_are_running()) {
		unsigned rounds = twins_in_flight() ? ROUNDS_OF_COMPILERS : ROUNDS;
		uint64_t ran_ns = process_ran_ns();
		if (wait_until_moved(w.moved, patience_ms)) {
			in_vain = waits = 0;
			continue;
		}
		in_vain += process_ran_ns() - ran_ns > patience_ms * UINT64_C(500000);
		if (in_vain > rounds || waits++ > MOST_STARVED * rounds || !others_will_move())
			break;
	}
}

/* With the lock held. The launches that are still in flight are unfinished work of the application. */
static void give_up_in_flight(void)
{
	for (struct launch *l = w.in_flight; l; l = l->next)
		if (!l->is_queued && l->record.seq >= w.given_up)
			launch_not_modelled(l->record.kernel_name, "it had not finished when the program ended");
}

enum { REPORTS_MS = 5000, MOST_WAITS = 60 };

/* The time that processors have spent on modelling. */
static uint64_t threads_ran_ns(void)
{
	return thread_ran_ns(w.thread) + estimates_ran_ns(w.estimates);
}

/*
 * With the lock held. Waits until everything is reported. If there is no progress, something that we need is gone; the files
 * then have what is known. Patience is counted in the time that our threads ran or slept, because other processes may have the
 * processors for minutes.
 */
static void wait_for_reports(void)
{
	uint64_t done = w.done, ran_ns = threads_ran_ns(), seen_ns = ran_ns;
	unsigned slept = 0, threads = estimates_threads(w.estimates);
	while (!w.finished) {
		struct timespec deadline = deadline_in(REPORTS_MS);
		int late = pthread_cond_timedwait(&w.progress, &w.lock, &deadline);
		uint64_t now_ns = threads_ran_ns();
		if (w.done != done) {
			done = w.done;
			ran_ns = now_ns;
			slept = 0;
		} else if (late == ETIMEDOUT) {
			bool sleeps = now_ns == seen_ns && !thread_at_work(w.id);
			slept += sleeps;
			if ((sleeps && !is_busy()) || slept > MOST_WAITS || now_ns - ran_ns > MOST_WAITS * REPORTS_MS * UINT64_C(1000000) * threads)
				break;
		}
		seen_ns = now_ns;
	}
}

void worker_finish(void)
{
	enum { CALLBACKS_MS = 100 };
	/* exit() in a signal handler may have interrupted this thread while it had the lock. */
	if (!try_lock_for_report(&w.lock, REPORTS_MS))
		return;
	if (!start_threads() || (w.finished && w.seq == w.given_up)) { /* the exit handler may run more than once */
		unlock_for_report(&w.lock);
		return;
	}
	w.ending = true;
	pthread_cond_signal(&w.work);
	wait_while_moving(CALLBACKS_MS); /* a driver may report completed work late */
	give_up_in_flight();
	w.given_up = w.seq;
	w.finish = true;
	estimates_hurry(w.estimates);
	pthread_cond_signal(&w.work);
	wait_for_reports();
	unlock_for_report(&w.lock);
}

/* ---- a signal ends the program ---- */

/* Modelling all completed launches may take hours, so this waits for a moment only. */
static void wait_a_moment(void)
{
	enum { LOCK_MS = 500, MOMENT_MS = 2000 };
	struct timespec soon = deadline_in(LOCK_MS), deadline = deadline_in(MOMENT_MS);
	int late = pthread_mutex_timedlock(&w.lock, &soon);
	if (late)
		return;
	w.waiting++; /* so that the worker does not doze */
	pthread_cond_signal(&w.work);
	while ((w.completed || w.busy || w.under_way) && !late)
		late = pthread_cond_timedwait(&w.progress, &w.lock, &deadline);
	w.waiting--;
	pthread_mutex_unlock(&w.lock);
}

/* With the reports' lock held: no more launches can get into the reports. */
static void count_lost(void)
{
	enum { LOCK_MS = 500 };
	struct timespec soon = deadline_in(LOCK_MS);
	if (pthread_mutex_timedlock(&w.lock, &soon))
		return;
	unsigned long lost = w.finished ? 0 : backlog();
	for (const struct launch *l = w.finished ? NULL : w.in_flight; l; l = l->next)
		launch_not_modelled(l->record.kernel_name, "the program was interrupted before it was modelled");
	pthread_mutex_unlock(&w.lock);
	if (lost && report_wanted(&simulation))
		log_warning("%lu launch%s not modelled when the program was interrupted", lost, lost == 1 ? " was" : "es were");
}

void worker_interrupted(void)
{
	enum { FLUSH_MS = 20000 };
	wait_a_moment();
	signals_extend(FLUSH_MS / 1000);
	if (!report_lock_for_good(FLUSH_MS))
		return;
	signals_extend(FLUSH_MS / 1000);
	count_lost();
	report_interrupted(&simulation);
}
