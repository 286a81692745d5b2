/* worker: what becomes of a launch once its event has completed, on threads of ours. */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_WORKER_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_WORKER_H

#include <stdbool.h>
#include <stdint.h>

struct launch;

bool worker_ready(void); /* false: there is no thread, and nothing can be modelled */
void worker_launched(struct launch *l);  /* numbers the launch and takes it over; before its callback is set */
void worker_completed(struct launch *l); /* the event has completed */
void worker_moved(void); /* memory that a launch may wait for is free */
/* How often something has moved. */
uint64_t worker_moves(void);
/* Waits until some launch in flight has been dealt with since worker_moves() said `before`, which is asked before looking for what
 * is waited for: the last one may end in between. False when none was for `milliseconds` and nobody seems to be about it;
 * while threads of the process other than ours run, that is waited for up to `rounds` more times. */
bool worker_wait_progress(uint64_t before, unsigned milliseconds, unsigned rounds);
void worker_finish(void); /* at exit */
void worker_interrupted(void); /* for signals_start */

#endif
