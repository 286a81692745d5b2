/*
 * crew: threads of ours that do jobs beside the program, at low priority.
 *
 * Jobs begin in the order of their priority, and in the order of crew_add among equals. None is started before there is a job, because
 * an application with limited address space may need all of it.
 */
#ifndef GPUSIM_RUNTIME_PROCESS_CREW_H
#define GPUSIM_RUNTIME_PROCESS_CREW_H

#include <stdint.h>

struct crew;

/* The caller's. The crew does not look at it any more once it runs, so `run` may free it. */
struct crew_job {
	struct crew_job *next;
	void (*run)(struct crew_job *job);
	double priority; /* larger ones begin first */
};

unsigned crew_default_threads(void); /* as many as there are processors, less one for the program; at least one */
unsigned crew_hurried_threads(void); /* once the program waits: as many as there are processors */
/* NULL when out of memory. */
struct crew *crew_new(unsigned threads);
/* Where no thread can be started, the job is done before this returns. */
void crew_add(struct crew *p, struct crew_job *job);
/* The program waits for the jobs: those that have not begun do so at normal priority, on `threads` threads if that is more than before. */
void crew_hurry(struct crew *p, unsigned threads);
unsigned crew_threads(struct crew *p); /* at most */
uint64_t crew_ran_ns(struct crew *p); /* the time that processors have spent on jobs */
void crew_free(struct crew *p); /* waits until all jobs are done */

#endif
