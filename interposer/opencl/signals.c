/*
 * The functions of the C library that set what a signal does. Calls are passed on. Where the runtime has its own handler, the
 * application sees SIG_DFL. Where the application sets SIG_DFL, the runtime's handler is set again; it ends the process in the
 * same way (runtime/process/signals.c). ThreadSanitizer calls these functions before any instrumented code may run, so tests
 * with it leave them out.
 */
#ifndef __SANITIZE_THREAD__
#include "interposer/opencl/interposer.h"

#include "runtime/process/signals.h"

#include <dlfcn.h>
#include <signal.h>

#define EXPORT __attribute__((visibility("default")))

typedef void (*handler)(int);

#define ACTION_NAMES(X) X(sigaction) X(__sigaction)
#define HANDLER_NAMES(X) X(signal) X(bsd_signal) X(ssignal) X(sysv_signal) X(__sysv_signal) X(sigset)

#define X(name) int name(int sig, const struct sigaction *a, struct sigaction *before);
ACTION_NAMES(X)
#undef X
#define X(name) handler name(int sig, handler h);
HANDLER_NAMES(X)
#undef X

#define X(name) static int (*next_##name)(int, const struct sigaction *, struct sigaction *);
ACTION_NAMES(X)
#undef X
#define X(name) static handler (*next_##name)(int, handler);
HANDLER_NAMES(X)
#undef X

/* Runs when the library is loaded. A signal handler may call the functions below, but it may not call dlsym. */
__attribute__((constructor)) static void find_next(void)
{
#define X(name) *(void **)&next_##name = dlsym(RTLD_NEXT, #name);
	ACTION_NAMES(X)
	HANDLER_NAMES(X)
#undef X
}

static bool is_default(const struct sigaction *a)
{
	return !(a->sa_flags & SA_SIGINFO) && a->sa_handler == SIG_DFL;
}

#define X(name) \
	EXPORT int name(int sig, const struct sigaction *a, struct sigaction *before) \
	{ \
		struct sigaction wish = a ? *a : (struct sigaction){.sa_flags = SA_SIGINFO}; \
		if (!next_##name) \
			find_next(); \
		int result = next_##name(sig, a, before); \
		if (!result && before) \
			signals_hide(sig, before); \
		if (!result && is_default(&wish)) \
			signals_default_set(sig, &wish); \
		return result; \
	}
ACTION_NAMES(X)
#undef X

#define X(name) \
	EXPORT handler name(int sig, handler h) \
	{ \
		if (!next_##name) \
			find_next(); \
		handler before = next_##name(sig, h); \
		if (before != SIG_ERR && h == SIG_DFL) \
			signals_default_set(sig, &(struct sigaction){.sa_handler = SIG_DFL}); \
		return signals_is_ours(before) ? SIG_DFL : before; \
	}
HANDLER_NAMES(X)
#undef X

#else

typedef int nothing_here;

#endif
