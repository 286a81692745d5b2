/*
 * streams: commands that are executed one after the other, and events that say how far a stream is. No driver is called here: what a
 * command does is its own function.
 *
 * A stream gets its thread with the first command that has to wait for something. A command that finds its stream idle may run on the
 * thread of its caller.
 */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_STREAMS_H
#define GPUSIM_RUNTIME_GUEST_CUDA_STREAMS_H

#include "runtime/cuda.h"

#include <pthread.h>
#include <stdatomic.h>

struct schedule_command;

/* Its user allocates it with what else the command needs, and fills in the first members. */
struct cuda_command {
	void (*run)(struct cuda_command *c, struct cuda_stream *s);
	void (*discard)(struct cuda_command *c); /* frees it, after it has run or not */
	struct cuda_event *event; /* that happens when it has run, or NULL; the command has a reference */
	struct cuda_event **wait; /* what it waits for, with references; owned */
	unsigned wait_count;
	struct cuda_command *next;
};

struct cuda_event {
	atomic_uint refs;
	bool done;        /* under the lock of all streams */
	uint64_t done_ns; /* when */
	const struct schedule_command *command; /* its entry in the timeline, or NULL; set before others see the event */
};

struct cuda_stream {
	struct cuda_stream *previous, *next_stream; /* all streams */
	unsigned refs;                      /* of its creator, its thread, and calls under way */
	struct cuda_command *first, **end;  /* what is still to run */
	bool busy;                          /* a command runs */
	bool has_thread, closed;
	uint64_t submitted, completed;      /* commands */
	pthread_cond_t work;
	void *driver;                       /* what its commands need of the driver; of whoever runs first */
	void (*driver_free)(void *driver);
	char name[32];
	int priority;
	uint32_t device; /* the GPU that was current when it was made */
};

/* Sets the references of a command from a call: what it waits for, and its own event. -ENOMEM. */
int command_prepare(struct cuda_command *c, const struct cuda_call *call, struct gs_error *err);
/* For `discard`: gives the references back. The memory itself stays. */
void command_end(struct cuda_command *c);

enum stream_turn {
	TURN_LATER, /* on the stream's thread */
	TURN_HERE,  /* on this thread, if the stream is idle and nothing has to be waited for; else later */
	TURN_WAIT,  /* the same, and this thread waits until it has run */
};
/* Takes the command over. It is always run, and discarded after that. */
void stream_submit(struct cuda_stream *s, struct cuda_command *c, enum stream_turn turn);

struct cuda_stream *stream_new(const char *name);
void stream_close(struct cuda_stream *s); /* what it has to do is still done */
/* Waits for everything that was submitted before. */
void stream_wait(struct cuda_stream *s);
void streams_wait_all(void);
/* The same for the end of the program: gives up when no command has ended for so long. False: some have not run. */
bool streams_finish(unsigned patience_ms);
bool stream_is_idle(struct cuda_stream *s);
/* Calls `visit` with every stream. They stay alive meanwhile. */
void streams_each(void (*visit)(struct cuda_stream *s, void *data), void *data);

struct cuda_event *event_new(void);
void event_wait(struct cuda_event *e);
uint64_t event_time(struct cuda_event *e); /* of the host, when it happened; 0: it has not */

#endif
