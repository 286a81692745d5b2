/*
 * How the program ends: at exit, launches under way are waited for and reported; where a signal ends it, what is known is.
 */
#include "runtime/guest/launches/worker.h"

#include "runtime/config/log.h"
#include "runtime/estimates/estimates.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/launches/launch.h"
#include "runtime/guest/launches/worker_state.h"
#include "runtime/process/signals.h"
#include "runtime/process/thread.h"
#include "runtime/report/report.h"
#include "runtime/runtime.h"

#include <errno.h>

#define LOG_DOMAIN "worker"

/* With the lock held: whether the driver may be compiling for us. The program must not end then, because the compiler would
 * lose its memory. */
static bool twins_in_flight(void)
{
	for (const struct launch *l = work.in_flight; l; l = l->next)
		if (l->beside_twins && !l->is_queued)
			return true;
	return false;
}

/* With the lock held: launches that the models do not have yet. Those that they have may wait for more to come. */
static bool some_are_running(void)
{
	bool running = work.completed;
	for (const struct launch *l = work.in_flight; l && !running; l = l->next)
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
		if (worker_wait_until_moved(work.moved, patience_ms)) {
			in_vain = waits = 0;
			continue;
		}
		in_vain += process_ran_ns() - ran_ns > patience_ms * UINT64_C(500000);
		if (in_vain > rounds || waits++ > MOST_STARVED * rounds || !worker_others_will_move())
			break;
	}
}

/* With the lock held. The launches that are still in flight are unfinished work of the application. */
static void give_up_in_flight(void)
{
	for (struct launch *l = work.in_flight; l; l = l->next)
		if (!l->is_queued && l->record.seq >= work.given_up)
			launch_not_modelled(l->record.kernel_name, "it had not finished when the program ended");
}

enum { REPORTS_MS = 5000, MOST_WAITS = 60 };

/* The time that processors have spent on modelling. */
static uint64_t threads_ran_ns(void)
{
	return thread_ran_ns(work.thread) + estimates_ran_ns(work.estimates);
}

/*
 * With the lock held. Waits until everything is reported. If there is no progress, something that we need is gone; the files
 * then have what is known. Patience is counted in the time that our threads ran or slept, because other processes may have the
 * processors for minutes.
 */
static void wait_for_reports(void)
{
	uint64_t done = work.done, ran_ns = threads_ran_ns(), seen_ns = ran_ns;
	unsigned slept = 0, threads = estimates_threads(work.estimates);
	while (!work.finished) {
		struct timespec deadline = deadline_in(REPORTS_MS);
		int late = pthread_cond_timedwait(&work.progress, &work.lock, &deadline);
		uint64_t now_ns = threads_ran_ns();
		if (work.done != done) {
			done = work.done;
			ran_ns = now_ns;
			slept = 0;
		} else if (late == ETIMEDOUT) {
			bool sleeps = now_ns == seen_ns && !thread_at_work(work.id);
			slept += sleeps;
			if ((sleeps && !worker_is_busy()) || slept > MOST_WAITS || now_ns - ran_ns > MOST_WAITS * REPORTS_MS * UINT64_C(1000000) * threads)
				break;
		}
		seen_ns = now_ns;
	}
}

void worker_finish(void)
{
	enum { CALLBACKS_MS = 100 };
	/* exit() in a signal handler may have interrupted this thread while it had the lock. */
	if (!try_lock_for_report(&work.lock, REPORTS_MS))
		return;
	if (!worker_start_threads() || (work.finished && work.seq == work.given_up)) { /* the exit handler may run more than once */
		unlock_for_report(&work.lock);
		return;
	}
	work.ending = true;
	pthread_cond_signal(&work.work);
	wait_while_moving(CALLBACKS_MS); /* a driver may report completed work late */
	give_up_in_flight();
	work.given_up = work.seq;
	work.finish = true;
	estimates_hurry(work.estimates);
	pthread_cond_signal(&work.work);
	wait_for_reports();
	unlock_for_report(&work.lock);
}

/* ---- a signal ends the program ---- */

/* Modelling all completed launches may take hours, so this waits for a moment only. */
static void wait_a_moment(void)
{
	enum { LOCK_MS = 500, MOMENT_MS = 2000 };
	struct timespec soon = deadline_in(LOCK_MS), deadline = deadline_in(MOMENT_MS);
	int late = pthread_mutex_timedlock(&work.lock, &soon);
	if (late)
		return;
	work.waiting++; /* so that the worker does not doze */
	pthread_cond_signal(&work.work);
	while ((work.completed || work.busy || work.under_way) && !late)
		late = pthread_cond_timedwait(&work.progress, &work.lock, &deadline);
	work.waiting--;
	pthread_mutex_unlock(&work.lock);
}

/* The number of launches that are not in the reports yet. */
static unsigned long backlog(void)
{
	unsigned long count = 0;
	for (const struct launch *l = work.in_flight; l; l = l->next)
		count++;
	return count;
}

/* With the reports' lock held: no more launches can get into the reports. */
static void count_lost(void)
{
	enum { LOCK_MS = 500 };
	struct timespec soon = deadline_in(LOCK_MS);
	if (pthread_mutex_timedlock(&work.lock, &soon))
		return;
	unsigned long lost = work.finished ? 0 : backlog();
	for (const struct launch *l = work.finished ? NULL : work.in_flight; l; l = l->next)
		launch_not_modelled(l->record.kernel_name, "the program was interrupted before it was modelled");
	pthread_mutex_unlock(&work.lock);
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
