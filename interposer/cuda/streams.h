/*
 * streams: the application's streams, and how its commands get to the runtime.
 *
 * The runtime orders the commands of one stream. CUDA orders more: the legacy default stream waits for all that was enqueued before in
 * blocking streams, and they wait for what was enqueued before in the legacy stream. So each of them keeps the event of its last
 * command, and a command waits for the events of others that CUDA would wait for. A thread's own default stream is a blocking stream.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_STREAMS_H
#define GPUSIM_INTERPOSER_CUDA_STREAMS_H

#include "interposer/cuda/graphs/captures.h"
#include "interposer/cuda/interposer.h"

struct application_stream;

struct ordered_command {
	struct cuda_call call; /* for the runtime */
	struct gs_error err;   /* the same */
	struct application_stream *stream;
	struct cuda_event *event;
	struct cuda_event **waits;
	size_t count, room;
	struct capture_place *place; /* of its stream, if that captures; the command becomes a node then */
};

/*
 * Every command goes: ordered_begin, if that returns 0 one of the functions below, then ordered_end with its result. `blocking` says that
 * the caller waits for it. `wait` is an event that it waits for as well, or NULL. Both return error numbers.
 */
int ordered_begin(struct ordered_command *c, void *stream, bool blocking, struct cuda_event *wait);
int ordered_end(struct ordered_command *c, int result, int otherwise);
/* What the functions of runtime/cuda.h do, or a node of a graph that will do it. */
int ordered_launch(struct ordered_command *c, const struct registered_function *f, const struct cuda_launch *l);
int ordered_copy(struct ordered_command *c, const struct cuda_copy *copy);
int ordered_fill(struct ordered_command *c, const struct cuda_copy *shape, uint32_t value, unsigned unit);
int ordered_host_call(struct ordered_command *c, void (*f)(void *), void *data);

/* A mark in the stream that waits for an event as well, unless it is NULL. *out, unless it is NULL: the mark's event, with a reference. */
int stream_mark(void *stream, struct cuda_event *wait, struct cuda_event **out);
/* The event of the last command that was enqueued without waiting for it, with a reference; NULL: there was none. */
struct cuda_event *stream_last(void *stream);

/* Waits for everything. */
int device_wait_all(void);
/* Checks a handle. */
bool stream_exists(void *stream);
bool stream_is_capturing(void *stream);
/* Where stream_calls/attributes.c keeps what it allocates; freed with the stream, which must stay meanwhile. NULL: there is no such stream. */
void **stream_attributes(void *stream);
/* An event that is recorded in a capturing stream gets its place. */
int stream_mark_place(void *stream, struct capture_place *event);

#endif
