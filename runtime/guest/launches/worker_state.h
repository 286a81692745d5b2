/* worker_state: what the worker, the fetcher and the end of the program share. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_WORKER_STATE_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_WORKER_STATE_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct estimates;
struct launch;

struct worker_state {
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
};
extern struct worker_state work;

/* All of these need the lock. */
bool worker_is_busy(void); /* the worker, or the crew */
/* Waits until something has moved since `before`. False when the time is over. */
bool worker_wait_until_moved(uint64_t before, unsigned milliseconds);
/* The lock is released meanwhile, because a thread that waits for it would seem to rest. A thread that pauses for a moment would seem to rest,
 * too, so this looks several times. */
bool worker_others_will_move(void);
/* Threads are started only when there is work. An application with limited address space may need all of it before. */
bool worker_start_threads(void);

/* The fetcher. */
void *fetcher(void *unused);
bool has_to_fetch(const struct launch *l); /* it has memory that others may need and modelling does not */
void fetch_once(struct launch *l); /* with the lock held; if two threads come here, the second waits for the first */

#endif
