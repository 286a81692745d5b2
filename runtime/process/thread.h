/* thread: the clock, threads of ours, and what the threads of this process are doing. */
#ifndef GPUSIM_RUNTIME_PROCESS_THREAD_H
#define GPUSIM_RUNTIME_PROCESS_THREAD_H

#include <locale.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <time.h>

uint64_t clock_ns(void);
struct timespec deadline_in(unsigned milliseconds); /* for pthread_cond_timedwait */
/* The time that processors have spent on the process, or on one thread of it. */
uint64_t process_ran_ns(void);
uint64_t thread_ran_ns(pthread_t thread);
/* Numbers have a point on this thread, whatever the application's language. Returns the locale that it had before. */
locale_t use_c_locale(void);
/* Starts a thread of ours. It takes none of the application's signals, and formats numbers as in the C locale. */
int start_thread(pthread_t *thread, void *(*run)(void *), void *data);
/* The same with a stack of a given size. The default size counts where the application's address space is limited. */
int start_small_thread(pthread_t *thread, size_t stack_bytes, void *(*run)(void *), void *data);
/* Where the address space is limited (ulimit -v), threads get no heap of their own: one takes 64 MiB or more. */
void save_address_space(void);
bool address_space_is_limited(void);
/* Too little address space is left for a twin. */
bool address_space_is_short(void);
/* Some thread of this process other than the caller runs, would run if the machine let it, or waits for a disk. */
bool others_at_work(void);
bool thread_at_work(pid_t id); /* the same of one thread */

#endif
