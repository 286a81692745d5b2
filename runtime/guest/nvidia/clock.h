/*
 * clock: how long commands of a stream take on the GPU.
 *
 * An event is recorded before the command and one after it. If the stream is idle, or soon will be, the first happens before the processor has
 * enqueued the command, and the time until then would count. So a kernel of ours that waits some microseconds goes first, unless several
 * commands are waiting in the stream: when it ends, all three are there.
 * Two events around a kernel are further apart than the kernel takes. How much is measured once for each context, with a kernel that does
 * nothing, and subtracted.
 *
 * Nobody waits for events: they are looked at later. There is a bounded number of them; a command that finds none is not measured.
 */
#ifndef GPUSIM_RUNTIME_GUEST_NVIDIA_CLOCK_H
#define GPUSIM_RUNTIME_GUEST_NVIDIA_CLOCK_H

#include <stdbool.h>
#include <stdint.h>

struct nvidia_measurement {
	struct nvidia_measurement *next;
	struct context_clock *clock;
	void *begin, *end; /* events */
	void *stream;
	void *owner;       /* the caller's own */
};

/* Begins in the current context. NULL: it cannot be measured now. */
struct nvidia_measurement *clock_begins(void *stream);
/* Of the same stream. `owner` goes to clock_collect's callback. -1: it is not measured after all. */
int clock_ends(struct nvidia_measurement *m, void *stream, void *owner);
/* The command was not enqueued. */
void clock_abandon(struct nvidia_measurement *m);
/* Gives measurements of the current context that are complete to `each`, at most so many. It waits for those that are not, up to so long. */
typedef void clock_each_fn(void *owner, uint64_t ns);
void clock_collect(unsigned most, unsigned wait_ms, clock_each_fn *each);
/* Gives all others with 0: their contexts may be gone. */
void clock_give_up(clock_each_fn *each);
/* What a measurement of a context that does nothing shows, in ns; for tests and the log. */
double clock_offset_ns(void);

#endif
