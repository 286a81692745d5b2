/*
 * guard: a way out of a lifted kernel for a signal handler. A work-item enters its guard first. If an access of it fails, the handler has it
 * return a second time from there, and the work-item ends (annotator/lift/frame.cl, gs_guarded). The other work-items end when they
 * look at the fault of the launch.
 */
#ifndef GPUSIM_RUNTIME_GUEST_SUPPORT_GUARD_H
#define GPUSIM_RUNTIME_GUEST_SUPPORT_GUARD_H

#include <signal.h>
#include <stdbool.h>

/* Whether any kernel had a guard: then a thread without one is not in a kernel. */
bool guard_in_use(void);
/* For a handler: if this thread executes a kernel, keeps the fault in the launch's words, lets the thread leave the kernel, and returns true. */
bool guard_leave(int sig, const siginfo_t *info, void *context);

#endif
