/*
 * signals: when a signal ends the program, its reports are written first. Our handler is hidden from the application: it finds and sets
 * handlers as if there were none.
 */
#ifndef GPUSIM_RUNTIME_PROCESS_SIGNALS_H
#define GPUSIM_RUNTIME_PROCESS_SIGNALS_H

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>

/* `report` writes the reports, on a thread of ours. */
void signals_start(void (*report)(void));
/* For the locks that both `report` and the application's threads take. A signal does not stop a thread while it holds one, or waits
 * with it for a condition. */
void lock_for_report(pthread_mutex_t *lock);
bool try_lock_for_report(pthread_mutex_t *lock, unsigned milliseconds); /* gives up after so long */
void unlock_for_report(pthread_mutex_t *lock);
/* For a handler of a fault: writes the reports, and ends the process as the signal does without a handler. */
void signals_end(int sig);
/* For `report`: from now on the program waits so long for it. */
void signals_extend(unsigned seconds);

/* What the application finds set for a signal: SIG_DFL in place of our handler. */
bool signals_hide(int sig, struct sigaction *found);
bool signals_is_ours(void (*handler)(int));
/* The application has set SIG_DFL: our handler comes back. */
void signals_default_set(int sig, const struct sigaction *action);

#endif
