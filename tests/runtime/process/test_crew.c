/* Threads that do jobs: all are done, in order, by as many threads as there may be. */
#include "tests/tests.h"

#include "runtime/process/crew.h"
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
	crew_hurry(crew);
	CU_ASSERT(wait_for(4));
	open_gate();
	crew_free(crew);
	CU_ASSERT_EQUAL(done.count, 8);
	CU_ASSERT_EQUAL(done.most_at_once, 4);
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
	CU_add_test(s, "the time that jobs took is known", the_time_of_jobs_is_known);
}
