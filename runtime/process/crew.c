/*
 * Threads that do jobs. They are nice, so that the application's own threads come first. Nobody may take that back without
 * privileges. So when the program waits for the jobs, new threads take the place of the nice ones, which end after the job they have.
 */
#include "runtime/process/crew.h"

#include "runtime/process/thread.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum { MOST_THREADS = 64, STACK_BYTES = 2 << 20, NICE = 5 };

struct crew {
	pthread_mutex_t lock;
	pthread_cond_t work;
	struct crew_job *jobs;
	unsigned most;            /* threads */
	unsigned running, idle;   /* threads that take jobs; those of them that wait for one */
	unsigned queued;          /* jobs that have not begun */
	bool hurried, closed;
	pthread_t threads[2 * MOST_THREADS]; /* that were ever started: those of before and after crew_hurry */
	bool ended[2 * MOST_THREADS];
	bool replaced[2 * MOST_THREADS]; /* it ends by itself, and nobody joins it */
	unsigned leaving;         /* replaced threads that have not ended yet */
	int started;
	uint64_t ran_ns;          /* of threads that have ended */
};

/* For all processors but some. */
static unsigned threads_less(long some)
{
	long cores = sysconf(_SC_NPROCESSORS_ONLN) - some;
	if (cores <= 1 || address_space_is_limited()) /* each thread's stack and heap take some */
		return 1;
	return cores > MOST_THREADS ? MOST_THREADS : (unsigned)cores;
}

unsigned crew_default_threads(void)
{
	return threads_less(1);
}

unsigned crew_hurried_threads(void)
{
	return threads_less(0);
}

struct crew *crew_new(unsigned threads)
{
	struct crew *p = calloc(1, sizeof *p);
	if (!p)
		return NULL;
	pthread_mutex_init(&p->lock, NULL);
	pthread_cond_init(&p->work, NULL);
	p->most = threads > MOST_THREADS ? MOST_THREADS : threads ? threads : 1;
	return p;
}

unsigned crew_threads(struct crew *p)
{
	pthread_mutex_lock(&p->lock);
	unsigned most = p->most;
	pthread_mutex_unlock(&p->lock);
	return most;
}

/* With the lock held: takes the first of those with the highest priority. */
static struct crew_job *next_job(struct crew *p)
{
	struct crew_job **best = &p->jobs, *job;
	for (struct crew_job **at = &p->jobs; *at; at = &(*at)->next)
		if ((*at)->priority > (*best)->priority)
			best = at;
	job = *best;
	if (job) {
		*best = job->next;
		p->queued--;
	}
	return job;
}

/* With the lock held. */
static void leave(struct crew *p)
{
	for (int i = 0; i < p->started; i++)
		if (pthread_equal(p->threads[i], pthread_self())) {
			p->ended[i] = true;
			p->leaving -= p->replaced[i];
		}
	p->ran_ns += thread_ran_ns(pthread_self());
	pthread_cond_broadcast(&p->work); /* crew_free may wait for it */
}

static void *crew_thread(void *data)
{
	struct crew *p = data;
	pthread_mutex_lock(&p->lock);
	bool nice = !p->hurried;
	if (nice)
		setpriority(PRIO_PROCESS, (id_t)gettid(), NICE); /* of this thread alone; a failure changes nothing else */
	while (nice == !p->hurried) {
		struct crew_job *job = next_job(p);
		if (job) {
			pthread_mutex_unlock(&p->lock);
			job->run(job);
			pthread_mutex_lock(&p->lock);
		} else if (p->closed) {
			break;
		} else {
			p->idle++;
			pthread_cond_wait(&p->work, &p->lock);
			p->idle--;
		}
	}
	if (nice == !p->hurried)
		p->running--;
	leave(p);
	pthread_mutex_unlock(&p->lock);
	return NULL;
}

/* With the lock held. False: there is none, and none could be started. */
static bool have_thread(struct crew *p)
{
	if (p->running == p->most || p->started == 2 * MOST_THREADS ||
	    start_small_thread(&p->threads[p->started], STACK_BYTES, crew_thread, p))
		return p->running;
	p->started++;
	p->running++;
	return true;
}

/* With the lock held: as many of them as can be started. */
static void start_up_to(struct crew *p, unsigned wanted)
{
	for (unsigned before = wanted; p->running < wanted && p->running != before;) {
		before = p->running;
		have_thread(p);
	}
}

void crew_add(struct crew *p, struct crew_job *job)
{
	job->next = NULL;
	pthread_mutex_lock(&p->lock);
	bool taken = p->idle > p->queued || have_thread(p);
	if (taken) {
		struct crew_job **end = &p->jobs;
		while (*end)
			end = &(*end)->next;
		*end = job;
		p->queued++;
		pthread_cond_signal(&p->work);
	}
	pthread_mutex_unlock(&p->lock);
	if (!taken)
		job->run(job);
}

/* With the lock held: the first `count` threads end after the job that they have. */
static void replace(struct crew *p, int count)
{
	for (int i = 0; i < count; i++)
		if (!p->ended[i]) {
			pthread_detach(p->threads[i]);
			p->replaced[i] = true;
			p->leaving++;
		}
}

void crew_hurry(struct crew *p, unsigned threads)
{
	pthread_mutex_lock(&p->lock);
	if (!p->hurried) {
		unsigned nice = p->running, wanted = nice + p->queued; /* one for each job */
		int before = p->started;
		p->hurried = true;
		p->running = 0;
		p->most = threads > MOST_THREADS ? MOST_THREADS : threads > p->most ? threads : p->most;
		wanted = wanted > p->most ? p->most : wanted;
		start_up_to(p, wanted);
		if (nice && !p->running) { /* no new ones can be started: the old ones go on */
			p->hurried = false;
			p->running = nice;
		} else {
			replace(p, before);
		}
		pthread_cond_broadcast(&p->work);
	}
	pthread_mutex_unlock(&p->lock);
}

uint64_t crew_ran_ns(struct crew *p)
{
	pthread_mutex_lock(&p->lock);
	uint64_t sum = p->ran_ns;
	for (int i = 0; i < p->started; i++)
		sum += p->ended[i] ? 0 : thread_ran_ns(p->threads[i]);
	pthread_mutex_unlock(&p->lock);
	return sum;
}

void crew_free(struct crew *p)
{
	if (!p)
		return;
	pthread_mutex_lock(&p->lock);
	p->closed = true;
	pthread_cond_broadcast(&p->work);
	while (p->leaving)
		pthread_cond_wait(&p->work, &p->lock);
	pthread_mutex_unlock(&p->lock);
	for (int i = 0; i < p->started; i++)
		if (!p->replaced[i])
			pthread_join(p->threads[i], NULL);
	pthread_cond_destroy(&p->work);
	pthread_mutex_destroy(&p->lock);
	free(p);
}
