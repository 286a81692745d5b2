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
	uint64_t seq, done, in_vain_at;
	bool in_vain;
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
	/* Who waited in vain once does not wait again before something has moved: a user event may hold all. */
	int late = w.in_vain && w.in_vain_at == before;
	while (w.done == before && !late)
		late = pthread_cond_timedwait(&w.progress, &w.lock, &deadline);
	bool progress = w.done != before;
	w.in_vain = !progress;
	w.in_vain_at = before;
	pthread_mutex_unlock(&w.lock);
	return progress;
}

/* ---- one launch ---- */

/* Group layout: the sums over the slots. */
static void sum_slots(const struct launch *l, uint64_t *counts)
{
	const uint64_t *slot = l->buffer->words + COUNTER_HEADER_WORDS;
	size_t blocks = l->artifact->block_count;
	for (size_t s = 0; s < l->slots; s++)
		for (size_t b = 0; b < blocks; b++)
			counts[b] += slot[s * blocks + b];
}

/* Item layout: the local size that a group has left in its slot. */
static uint64_t local_size_of(const struct launch *l, size_t slot, int dimension)
{
	uint64_t word = l->buffer->words[COUNTER_HEADER_WORDS + slot];
	return word >> dimension * COUNTER_SIZE_BITS & ((1u << COUNTER_SIZE_BITS) - 1);
}

static uint64_t sum_flag(const uint32_t *column, size_t count, unsigned bit)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += column[i] >> bit & 1;
	return sum;
}

static uint64_t sum_column(const uint32_t *column, size_t count, uint32_t *most)
{
	uint64_t sum = 0;
	for (size_t i = 0; i < count; i++) {
		sum += column[i];
		*most = column[i] > *most ? column[i] : *most;
	}
	return sum;
}

static bool sum_group_sums(const struct launch *l, const uint64_t *sums, uint64_t *counts)
{
	const struct artifact_kernel *k = l->facts;
	bool full = false;
	for (size_t s = 0; s < l->slots; s++)
		for (size_t i = 0; i < k->column_count; i++, sums++) {
			full |= *sums >= COUNTER_FULL_SUM;
			counts[k->columns[i]] += *sums & ~COUNTER_FULL_SUM;
		}
	return !full;
}

/* Item layout: the sums over the work-items; false when a counter was full. */
static bool sum_items(const struct launch *l, uint64_t *counts)
{
	const struct artifact_kernel *k = l->facts;
	const uint64_t *begin = l->buffer->words + COUNTER_HEADER_WORDS + l->slots + 1;
	const uint32_t *column = (const uint32_t *)begin;
	uint32_t most = 0;
	for (size_t s = 0; k->entry_block >= 0 && s < l->slots; s++)
		counts[k->entry_block] += local_size_of(l, s, 0) * local_size_of(l, s, 1) * local_size_of(l, s, 2);
	if (k->summed)
		return sum_group_sums(l, begin, counts);
	for (size_t i = 0; i < k->flag_count; i++)
		counts[k->columns[i]] += sum_flag(column + i / COUNTER_FLAGS * l->places, l->places, i % COUNTER_FLAGS);
	column += (k->words - (k->column_count - k->flag_count)) * l->places;
	for (size_t i = k->flag_count; i < k->column_count; i++, column += l->places)
		counts[k->columns[i]] += sum_column(column, l->places, &most);
	return most != COUNTER_FULL;
}

/* The counts that flow determines from the others; false when one would be negative, so that others must be wrong. */
static bool derive_counts(const struct artifact *a, uint64_t *counts)
{
	bool sound = true;
	for (size_t i = 0; i < a->term_count; i++) {
		const struct count_term *t = &a->terms[i];
		counts[t->block] += (uint64_t)(int64_t)t->factor * counts[t->of];
		if ((i + 1 == a->term_count || a->terms[i + 1].block != t->block) && (int64_t)counts[t->block] < 0)
			sound = false;
	}
	return sound;
}

static void fill_counts(struct launch_result *r, uint64_t items, uint64_t groups)
{
	const struct launch *l = r->launch;
	size_t flags = 0;
	uint64_t *counts = r->counts;
	if (groups > l->slots)
		r->flags[flags++] = "groups_share_counters";
	if (!l->artifact->counts_by_item)
		sum_slots(l, counts);
	else if (!sum_items(l, counts))
		r->flags[flags++] = "counters_full";
	if (l->artifact->counts_by_item && l->facts->words && items > l->places)
		r->flags[flags++] = "items_not_counted";
	r->profile.entries = l->facts->entry_block >= 0 ? counts[l->facts->entry_block] : 0;
	if (!derive_counts(l->artifact, counts) || r->profile.entries != items)
		r->flags[flags++] = "counts_disagree";
}

static void fill_profile(struct launch_result *r)
{
	const struct launch *l = r->launch;
	uint64_t items = 1, groups = 1;
	for (int d = 0; d < 3; d++) {
		uint64_t chosen = l->artifact->counts_by_item ? local_size_of(l, 0, d) : l->buffer->words[COUNTER_LOCAL + d];
		uint64_t local = l->local[d] ? l->local[d] : chosen;
		r->profile.global[d] = l->global[d];
		r->profile.local[d] = local ? local : 1;
		r->profile.groups[d] = (l->global[d] + r->profile.local[d] - 1) / r->profile.local[d];
		items *= l->global[d];
		groups *= r->profile.groups[d];
	}
	r->profile.local_bytes = l->local_bytes;
	fill_counts(r, items, groups);
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
	size_t words = launch_words(l);
	r.counts = calloc(l->artifact->block_count + 1, sizeof *r.counts);
	uint64_t begin = clock_ns();
	if (l->status < 0) {
		launch_not_modelled(l->kernel_name, "the driver ended it with an error");
	} else if (!r.counts || buffer_fetch(l->buffer, words)) {
		launch_not_modelled(l->kernel_name, "its counters could not be read");
	} else {
		fill_profile(&r);
		estimate_targets(&r);
		stats_add_launch(&r);
		report_launch(&r);
	}
	free(r.counts);
	buffer_give_back(l->buffer, words);
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

/* With the lock held, free meanwhile. */
static void work_on(struct launch *l)
{
	pthread_mutex_unlock(&w.lock);
	finish_launch(l);
	pthread_mutex_lock(&w.lock);
	leave_flight(l);
	launch_free(l);
	w.done++;
	pthread_cond_broadcast(&w.progress);
}

static void do_unlocked(void (*what)(void))
{
	pthread_mutex_unlock(&w.lock);
	what();
	pthread_mutex_lock(&w.lock);
}

/* It never ends: exit handlers of the application that run after ours may still launch kernels. */
static void *worker(void *unused)
{
	enum { FLUSH_EVERY_NS = 200000000 };
	uint64_t flushed_ns = clock_ns();
	bool dirty = false;
	(void)unused;
	pthread_mutex_lock(&w.lock);
	for (;;) {
		struct launch *l = next_completed();
		if (dirty && (!l || clock_ns() - flushed_ns > FLUSH_EVERY_NS)) {
			do_unlocked(report_flush);
			flushed_ns = clock_ns();
			dirty = false;
		}
		if (l) {
			work_on(l);
			dirty = true;
		} else if (w.finish && !w.finished && !w.completed) {
			do_unlocked(report_finish);
			w.finished = true;
			pthread_cond_broadcast(&w.progress);
		} else if (!w.completed) {
			pthread_cond_wait(&w.work, &w.lock);
		}
	}
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

/* With the lock held: waits until nothing is in flight, or nothing has moved for a while. */
static void wait_while_moving(unsigned patience_ms)
{
	while (w.in_flight) {
		struct timespec deadline = deadline_in(patience_ms);
		uint64_t before = w.done;
		if (pthread_cond_timedwait(&w.progress, &w.lock, &deadline) == ETIMEDOUT && w.done == before)
			break;
	}
}

/* With the lock held: what is still in flight is the application's own unfinished work. */
static void give_up_in_flight(void)
{
	for (struct launch *l = w.in_flight; l; l = l->next)
		if (!l->is_queued)
			launch_not_modelled(l->kernel_name, "it had not finished when the program ended");
}

void worker_finish(void)
{
	enum { CALLBACKS_MS = 100, REPORTS_MS = 5000 };
	struct timespec soon = deadline_in(REPORTS_MS);
	/* exit() in a signal handler may have interrupted this thread while it had the lock. */
	if (!w.started || pthread_mutex_timedlock(&w.lock, &soon))
		return;
	wait_while_moving(CALLBACKS_MS); /* a driver may tell of completed work late */
	give_up_in_flight();
	w.finish = true;
	pthread_cond_signal(&w.work);
	while (!w.finished) {
		struct timespec deadline = deadline_in(REPORTS_MS);
		uint64_t before = w.done;
		/* Without any progress something is gone that we need; the files hold what is known. */
		if (pthread_cond_timedwait(&w.progress, &w.lock, &deadline) == ETIMEDOUT && w.done == before && !w.finished)
			break;
	}
	pthread_mutex_unlock(&w.lock);
}
