/* Threads that do jobs: all are done, in order, by as many threads as there may be. */
#include "tests/tests.h"

#include "runtime/process/share.h"
#include "runtime/process/thread.h"

#include <pthread.h>
#include <stdbool.h>

enum { JOBS = 200 };

static struct {
	pthread_mutex_t lock;
	pthread_cond_t changed;
	unsigned count, at_once, most_at_once;
	bool open; /* jobs may end */
	int order[JOBS];
} done = {.lock = PTHREAD_MUTEX_INITIALIZER, .changed = PTHREAD_COND_INITIALIZER};

struct numbered_job {
	struct crew_job job;
	int number;
};

static void start_again(bool open)
{
	done.count = done.at_once = done.most_at_once = 0;
	done.open = open;
}

static void note_job(struct crew_job *job)
{
	pthread_mutex_lock(&done.lock);
	done.order[done.count++] = ((struct numbered_job *)job)->number;
	if (++done.at_once > done.most_at_once)
		done.most_at_once = done.at_once;
	pthread_cond_broadcast(&done.changed);
	while (!done.open)
		pthread_cond_wait(&done.changed, &done.lock);
	done.at_once--;
	pthread_mutex_unlock(&done.lock);
}

static void add_jobs(struct crew *crew, struct numbered_job *jobs, int count)
{
	for (int i = 0; i < count; i++) {
		jobs[i] = (struct numbered_job){{.run = note_job}, i};
		crew_add(crew, &jobs[i].job);
	}
}

/* Waits until so many jobs have begun. False: they do not. */
static bool wait_for(unsigned count)
{
	struct timespec deadline = deadline_in(10000);
	int late = 0;
	pthread_mutex_lock(&done.lock);
	while (done.count < count && !late)
		late = pthread_cond_timedwait(&done.changed, &done.lock, &deadline);
	pthread_mutex_unlock(&done.lock);
	return !late;
}

static void open_gate(void)
{
	pthread_mutex_lock(&done.lock);
	done.open = true;
	pthread_cond_broadcast(&done.changed);
	pthread_mutex_unlock(&done.lock);
}

static void one_thread_does_jobs_in_order(void)
{
	static struct numbered_job jobs[JOBS];
	struct crew *crew = crew_new(1);
	start_again(true);
	add_jobs(crew, jobs, JOBS);
	crew_free(crew);
	CU_ASSERT_EQUAL(done.count, JOBS);
	CU_ASSERT_EQUAL(done.most_at_once, 1);
	bool ordered = true;
	for (int i = 0; i < JOBS; i++)
		ordered &= done.order[i] == i;
	CU_ASSERT(ordered);
}

static void as_many_jobs_run_at_once_as_there_are_threads(void)
{
	static struct numbered_job jobs[JOBS];
	struct crew *crew = crew_new(4);
	start_again(false);
	add_jobs(crew, jobs, 10);
	CU_ASSERT(wait_for(4));
	pthread_mutex_lock(&done.lock);
	CU_ASSERT_EQUAL(done.count, 4);
	pthread_mutex_unlock(&done.lock);
	open_gate();
	crew_free(crew);
	CU_ASSERT_EQUAL(done.count, 10);
	CU_ASSERT_EQUAL(done.most_at_once, 4);
}

/* The first runs; of the others, those of priority 1 begin before those of 0, each in their order: 0, 2, 4, 1, 3, 5. */
static void jobs_of_higher_priority_begin_first(void)
{
	static const int expected[] = {0, 2, 4, 1, 3, 5};
	static struct numbered_job jobs[6];
	struct crew *crew = crew_new(1);
	start_again(false);
	for (int i = 0; i < 6; i++) {
		jobs[i] = (struct numbered_job){{.run = note_job, .priority = i % 2 ? 0 : 1}, i};
		crew_add(crew, &jobs[i].job);
		if (!i)
			CU_ASSERT(wait_for(1));
	}
	open_gate();
	crew_free(crew);
	for (int i = 0; i < 6; i++)
		CU_ASSERT_EQUAL(done.order[i], expected[i]);
}

/* Both nice threads have a job; two new ones take the next two, although those have not ended. */
static void a_hurried_crew_begins_with_new_threads(void)
{
	static struct numbered_job jobs[8];
	struct crew *crew = crew_new(2);
	start_again(false);
	add_jobs(crew, jobs, 8);
	CU_ASSERT(wait_for(2));
	crew_hurry(crew, 1); /* not less than before */
	CU_ASSERT(wait_for(4));
	open_gate();
	crew_free(crew);
	CU_ASSERT_EQUAL(done.count, 8);
	CU_ASSERT_EQUAL(done.most_at_once, 4);
}

/* One nice thread has a job. Three new ones take the next three, and one job is left. */
static void a_hurried_crew_may_have_more_threads(void)
{
	static struct numbered_job jobs[5];
	struct crew *crew = crew_new(1);
	start_again(false);
	add_jobs(crew, jobs, 5);
	CU_ASSERT(wait_for(1));
	crew_hurry(crew, 3);
	CU_ASSERT(wait_for(4));
	CU_ASSERT_EQUAL(crew_threads(crew), 3);
	open_gate();
	crew_free(crew);
	CU_ASSERT_EQUAL(done.count, 5);
	CU_ASSERT_EQUAL(done.most_at_once, 4);
}

static void jobs_after_the_hurry_find_more_threads(void)
{
	static struct numbered_job jobs[8];
	struct crew *crew = crew_new(1);
	start_again(false);
	crew_hurry(crew, 3);
	add_jobs(crew, jobs, 8);
	CU_ASSERT(wait_for(3));
	open_gate();
	crew_free(crew);
	CU_ASSERT_EQUAL(done.count, 8);
	CU_ASSERT_EQUAL(done.most_at_once, 3);
}

struct sharing {
	struct crew_job job; /* the first member */
	struct crew *crew;
	unsigned calls[10]; /* of each piece */
	bool returned, early; /* early: before all pieces were done */
};

static void note_piece(void *ctx, size_t i)
{
	struct sharing *s = ctx;
	struct numbered_job job = {.number = (int)i};
	note_job(&job.job);
	pthread_mutex_lock(&done.lock);
	s->calls[i]++;
	pthread_mutex_unlock(&done.lock);
}

static void share_ten(struct crew_job *job)
{
	struct sharing *s = (struct sharing *)job;
	crew_share(s->crew, 0, 10, note_piece, s);
	for (int i = 0; i < 10; i++)
		s->early |= s->calls[i] != 1;
	s->returned = true;
}

/* A job of the crew shares ten pieces: three threads take one each, and the fourth has a job of its own. */
static void a_job_is_shared_by_threads_that_are_free(void)
{
	static struct numbered_job other;
	struct sharing s = {.job = {.run = share_ten}, .crew = crew_new(4)};
	start_again(false);
	add_jobs(s.crew, &other, 1);
	CU_ASSERT(wait_for(1));
	crew_add(s.crew, &s.job);
	CU_ASSERT(wait_for(4));
	CU_ASSERT_EQUAL(done.order[1] + done.order[2] + done.order[3], 0 + 1 + 2);
	open_gate();
	crew_free(s.crew);
	CU_ASSERT(s.returned && !s.early);
	CU_ASSERT_EQUAL(done.count, 11);
	CU_ASSERT_EQUAL(done.most_at_once, 4);
}

/* The only thread has the job that shares, so it does all of it. */
static void a_job_that_nobody_shares_is_done(void)
{
	struct sharing s = {.job = {.run = share_ten}, .crew = crew_new(1)};
	start_again(true);
	crew_add(s.crew, &s.job);
	crew_free(s.crew);
	CU_ASSERT(s.returned && !s.early);
	CU_ASSERT_EQUAL(done.most_at_once, 1);
	s = (struct sharing){.crew = NULL};
	share_ten(&s.job);
	CU_ASSERT(s.returned && !s.early);
}

static void burn(struct crew_job *job)
{
	uint64_t begin = thread_ran_ns(pthread_self());
	(void)job;
	while (thread_ran_ns(pthread_self()) - begin < 20000000)
		;
	pthread_mutex_lock(&done.lock);
	done.count++;
	pthread_cond_broadcast(&done.changed);
	pthread_mutex_unlock(&done.lock);
}

static void the_time_of_jobs_is_known(void)
{
	struct crew *crew = crew_new(2);
	struct crew_job jobs[2] = {{.run = burn}, {.run = burn}};
	start_again(true);
	crew_add(crew, &jobs[0]);
	crew_add(crew, &jobs[1]);
	CU_ASSERT(wait_for(2));
	CU_ASSERT(crew_ran_ns(crew) >= 40000000); /* twice 20 ms */
	crew_free(crew);
}

void add_crew_tests(void)
{
	CU_pSuite s = CU_add_suite("crew", NULL, NULL);
	CU_add_test(s, "one thread does jobs in order", one_thread_does_jobs_in_order);
	CU_add_test(s, "as many jobs run at once as there are threads", as_many_jobs_run_at_once_as_there_are_threads);
	CU_add_test(s, "jobs of higher priority begin first", jobs_of_higher_priority_begin_first);
	CU_add_test(s, "a hurried crew begins jobs with new threads", a_hurried_crew_begins_with_new_threads);
	CU_add_test(s, "a hurried crew may have more threads", a_hurried_crew_may_have_more_threads);
	CU_add_test(s, "jobs after the hurry find more threads", jobs_after_the_hurry_find_more_threads);
	CU_add_test(s, "a job is shared by threads that are free", a_job_is_shared_by_threads_that_are_free);
	CU_add_test(s, "a job that nobody shares is done", a_job_that_nobody_shares_is_done);
	CU_add_test(s, "the time that jobs took is known", the_time_of_jobs_is_known);
}
