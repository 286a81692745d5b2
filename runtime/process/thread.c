/* Our own threads, and the clock. */
#include "runtime/process/thread.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <malloc.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static uint64_t read_clock(clockid_t clock)
{
	struct timespec t = {0};
	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
}

uint64_t clock_ns(void)
{
	return read_clock(CLOCK_MONOTONIC);
}

struct timespec deadline_in(unsigned milliseconds)
{
	struct timespec t;
	clock_gettime(CLOCK_REALTIME, &t);
	t.tv_sec += milliseconds / 1000;
	t.tv_nsec += (long)(milliseconds % 1000) * 1000000;
	if (t.tv_nsec >= 1000000000) {
		t.tv_nsec -= 1000000000;
		t.tv_sec++;
	}
	return t;
}

uint64_t process_ran_ns(void)
{
	return read_clock(CLOCK_PROCESS_CPUTIME_ID);
}

uint64_t thread_ran_ns(pthread_t thread)
{
	clockid_t clock;
	return pthread_getcpuclockid(thread, &clock) ? 0 : read_clock(clock);
}

static locale_t c_locale;

static void make_c_locale(void)
{
	c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0);
}

locale_t use_c_locale(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, make_c_locale);
	return c_locale ? uselocale(c_locale) : (locale_t)0;
}

struct thread_start {
	void *(*run)(void *);
	void *data;
};

static void *thread_main(void *data)
{
	const struct thread_start *s = data; /* not freed: a thread's first use of the heap takes 64 MiB of address space or more */
	use_c_locale();
	return s->run(s->data);
}

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
enum { STACK_TIMES = 8 }; /* they put more on it */
#else
enum { STACK_TIMES = 1 };
#endif

int start_small_thread(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *data)
{
	struct thread_start *s = malloc(sizeof *s);
	pthread_attr_t attributes;
	sigset_t all, before;
	if (!s || pthread_attr_init(&attributes)) {
		free(s);
		return ENOMEM;
	}
	*s = (struct thread_start){run, data};
	if (stack_bytes)
		pthread_attr_setstacksize(&attributes, stack_bytes * STACK_TIMES);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failure = pthread_create(thread, &attributes, thread_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	pthread_attr_destroy(&attributes);
	if (failure)
		free(s);
	return failure;
}

int start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
	return start_small_thread(thread, 0, run, data);
}

enum { ENOUGH_BYTES = 96 << 20 }; /* for a twin: the driver's compiler ends the process when it has none left */

/* How far the address space may grow, in bytes; UINT64_MAX: without a limit. */
static uint64_t address_space_left(void)
{
	struct rlimit limit;
	unsigned long long pages = 0;
	char text[64];
	if (getrlimit(RLIMIT_AS, &limit) || limit.rlim_cur == RLIM_INFINITY)
		return UINT64_MAX;
	int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, sizeof text - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
	pages = strtoull(text, NULL, 10);
	uint64_t used = pages * (uint64_t)sysconf(_SC_PAGESIZE);
	return limit.rlim_cur > used ? limit.rlim_cur - used : 0;
}

bool address_space_is_limited(void)
{
	return address_space_left() != UINT64_MAX;
}

void save_address_space(void)
{
	if (address_space_is_limited())
		mallopt(M_ARENA_MAX, 1);
}

bool address_space_is_short(void)
{
	return address_space_left() < ENOUGH_BYTES;
}

enum { THREAD_TEXT = 512 };

static void read_thread_file(const char *id, const char *name, char *text)
{
	char path[64];
	snprintf(path, sizeof path, "/proc/self/task/%.20s/%s", id, name);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t length = fd >= 0 ? read(fd, text, THREAD_TEXT - 1) : -1;
	if (fd >= 0)
		close(fd);
	text[length > 0 ? length : 0] = 0;
}

/* The letter after the name, which is in parentheses and may contain some. */
static char thread_state(const char *id)
{
	char text[THREAD_TEXT];
	read_thread_file(id, "stat", text);
	const char *end = strrchr(text, ')');
	return end && end[1] ? end[2] : 0;
}

/* For a child, as a driver's thread does for the linker: that one works for it. */
static bool thread_waits_for_child(const char *id)
{
	char text[THREAD_TEXT], *end;
	read_thread_file(id, "syscall", text);
	long call = strtol(text, &end, 10);
	return end != text && (call == SYS_wait4 || call == SYS_waitid);
}

static bool is_at_work(const char *id)
{
	char state = thread_state(id);
	return state == 'R' || state == 'D' || (state == 'S' && thread_waits_for_child(id));
}

bool thread_at_work(pid_t id)
{
	char text[16];
	snprintf(text, sizeof text, "%d", (int)id);
	return is_at_work(text);
}

bool others_at_work(void)
{
	DIR *threads = opendir("/proc/self/task");
	bool found = false;
	for (struct dirent *e; threads && !found && (e = readdir(threads));)
		found = *e->d_name != '.' && atoi(e->d_name) != gettid() && is_at_work(e->d_name);
	if (threads)
		closedir(threads);
	return found;
}
