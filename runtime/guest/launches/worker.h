/* worker: what happens to a launch once its event has completed, on threads of ours. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_WORKER_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct launch;

bool worker_ready(void); /* false: there is no thread, and nothing can be modelled */
void worker_launched(struct launch *l);  /* gives the launch a number and takes it over; must be called before its callback is set */
void worker_completed(struct launch *l); /* the event has completed */
void worker_moved(void); /* memory is free that a launch may wait for */
/* Counts how often something has moved: a launch was done, or a trace buffer was given back. */
uint64_t worker_moves(void);
/* Waits until something has moved since worker_moves() returned `before`. Call worker_moves() before looking for what is
 * missing, because the last launch may end in between. Returns false if nothing moved for `milliseconds` and nothing seems to
 * be at work. While other threads of the process run, it waits up to `rounds` more times. */
bool worker_wait_progress(uint64_t before, unsigned milliseconds, unsigned rounds);
void worker_finish(void); /* at exit */
void worker_interrupted(void); /* for signals_start */

#endif
