/* Our own threads, and the clock. */
#include "state.h"

#include <errno.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <time.h>

uint64_t clock_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec;
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
	struct thread_start s = *(struct thread_start *)data;
	free(data);
	use_c_locale();
	return s.run(s.data);
}

int start_thread(pthread_t *thread, void *(*run)(void *), void *data)
{
	struct thread_start *s = malloc(sizeof *s);
	sigset_t all, before;
	if (!s)
		return ENOMEM;
	*s = (struct thread_start){run, data};
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before);
	int failure = pthread_create(thread, NULL, thread_main, s);
	pthread_sigmask(SIG_SETMASK, &before, NULL);
	if (failure)
		free(s);
	return failure;
}
