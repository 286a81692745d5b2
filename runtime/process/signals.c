/*
 * Reports when a signal ends the program. SIGINT, SIGTERM and SIGHUP get a handler of ours where they have none. The handler wakes a
 * thread of ours, which writes the reports of what is known. The handler waits for it for some seconds at most, then the signal does
 * what it does without a handler. The interrupted thread may hold any lock, so the handler only waits, and makes bare system calls.
 * The application sets and finds handlers as if ours were not there (interposer/opencl/signals.c).
 */
#include "runtime/process/signals.h"

#include "runtime/base/base.h"
#include "runtime/process/thread.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* A sanitizer's run-time system may be in any state when a signal comes. */
#define BARE __attribute__((no_sanitize("address", "thread", "undefined")))

enum { PATIENCE_S = 5, AGAIN_NS = 1000000000, LOOK_NS = 100000000, STACK_BYTES = 512 << 10 };

static const int ours[] = {SIGINT, SIGTERM, SIGHUP};

static struct {
	pid_t owner; /* the process that the thread is in; 0: not started */
	int (*sigaction)(int, const struct sigaction *, struct sigaction *); /* the C library's own */
	void (*report)(void);
	struct sigaction shown[GS_ARRAY_LEN(ours)]; /* what the application has set */
	atomic_uint wanted, done; /* futexes */
	atomic_int signal;        /* why it is wanted */
	atomic_uint_fast64_t first_ns; /* when the first signal came; 0: none has */
	atomic_uint_fast64_t until_ns; /* how long it is waited for */
} s;

static _Thread_local __attribute__((tls_model("initial-exec"))) volatile sig_atomic_t holding, held_back;

/* ---- the handler ---- */

BARE static uint64_t now_ns(void)
{
	struct timespec t = {0};
	syscall(SYS_clock_gettime, CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

BARE static void wait_while(atomic_uint *word, unsigned value, const struct timespec *timeout)
{
	syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, timeout, NULL, 0);
}

BARE static void set_and_wake(atomic_uint *word)
{
	*word = 1;
	syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

/* A second signal soon after the first is of the same wish; later, somebody's patience has ended, and it returns false. */
BARE static bool want_reports(int sig)
{
	uint_fast64_t first = 0, now = now_ns();
	if (!atomic_compare_exchange_strong(&s.first_ns, &first, now))
		return now - first < AGAIN_NS;
	s.until_ns = now + PATIENCE_S * UINT64_C(1000000000);
	s.signal = sig;
	set_and_wake(&s.wanted);
	return true;
}

BARE static void wait_for_reports(void)
{
	const struct timespec look = {.tv_nsec = LOOK_NS};
	while (!s.done && now_ns() < s.until_ns)
		wait_while(&s.done, 0, &look);
}

BARE static void do_default(int sig)
{
	static const struct sigaction none; /* SIG_DFL */
	const uint64_t only = UINT64_C(1) << (sig - 1); /* as the kernel has it */
	s.sigaction(sig, &none, NULL);
	syscall(SYS_tgkill, syscall(SYS_getpid), syscall(SYS_gettid), sig);
	syscall(SYS_rt_sigprocmask, SIG_UNBLOCK, &only, NULL, sizeof only);
}

BARE static void interrupted(int sig)
{
	int saved = errno;
	bool wait = syscall(SYS_getpid) == s.owner && want_reports(sig); /* else a child of the application's */
	if (wait && holding) {
		held_back = sig;
	} else {
		if (wait)
			wait_for_reports();
		do_default(sig);
	}
	errno = saved;
}

/* A fault comes again and again, so it cannot wait until a lock is free. */
BARE void signals_end(int sig)
{
	if (syscall(SYS_getpid) == s.owner && !holding && want_reports(sig))
		wait_for_reports();
	do_default(sig);
}

void lock_for_report(pthread_mutex_t *lock)
{
	holding++;
	pthread_mutex_lock(lock);
}

bool try_lock_for_report(pthread_mutex_t *lock, unsigned milliseconds)
{
	struct timespec deadline = deadline_in(milliseconds);
	holding++;
	if (!pthread_mutex_timedlock(lock, &deadline))
		return true;
	holding--;
	return false;
}

void unlock_for_report(pthread_mutex_t *lock)
{
	int sig;
	pthread_mutex_unlock(lock);
	if (--holding || !(sig = held_back))
		return;
	held_back = 0;
	raise(sig);
}

/* ---- the thread ---- */

void signals_extend(unsigned seconds)
{
	s.until_ns = clock_ns() + seconds * UINT64_C(1000000000);
}

static void *reporter(void *unused)
{
	(void)unused;
	while (!s.wanted)
		wait_while(&s.wanted, 0, NULL);
	s.report();
	set_and_wake(&s.done);
	do_default(s.signal); /* the thread that had it may not be stopped for long enough to do it */
	return NULL;
}

/* ---- what is set ---- */

static int index_of(int sig)
{
	for (size_t i = 0; i < GS_ARRAY_LEN(ours); i++)
		if (ours[i] == sig)
			return (int)i;
	return -1;
}

static void install_handler(int sig)
{
	struct sigaction a = {.sa_handler = interrupted, .sa_flags = SA_RESTART | SA_ONSTACK};
	for (size_t i = 0; i < GS_ARRAY_LEN(ours); i++)
		sigaddset(&a.sa_mask, ours[i]);
	s.sigaction(sig, &a, NULL);
}

void signals_start(void (*report)(void))
{
	pthread_t thread;
	*(void **)&s.sigaction = dlsym(RTLD_NEXT, "sigaction");
	s.report = report;
	/* The kernel lets the first process of a container live on where others end. */
	if (!s.sigaction || getpid() == 1 || start_small_thread(&thread, STACK_BYTES, reporter, NULL))
		return;
	pthread_detach(thread);
	s.owner = getpid();
	for (size_t i = 0; i < GS_ARRAY_LEN(ours); i++)
		if (!s.sigaction(ours[i], NULL, &s.shown[i]) && s.shown[i].sa_handler == SIG_DFL)
			install_handler(ours[i]);
}

bool signals_hide(int sig, struct sigaction *a)
{
	int i = index_of(sig);
	if (i < 0 || a->sa_handler != interrupted)
		return false;
	*a = s.shown[i];
	return true;
}

bool signals_is_ours(void (*handler)(int))
{
	return handler == interrupted;
}

void signals_default_set(int sig, const struct sigaction *a)
{
	int i = index_of(sig);
	if (i < 0 || !s.owner || getpid() != s.owner)
		return;
	s.shown[i] = *a;
	install_handler(sig);
}
