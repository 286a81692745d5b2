/*
 * streams: the application's streams, and how its commands get to the runtime.
 *
 * The runtime orders the commands of one stream. CUDA orders more: the legacy default stream waits for all that was enqueued before in
 * blocking streams, and they wait for what was enqueued before in the legacy stream. So each of them keeps the event of its last
 * command, and a command waits for the events of others that CUDA would wait for. A thread's own default stream is a blocking stream.
 */
#ifndef GPUSIM_INTERPOSER_CUDA_STREAMS_H
#define GPUSIM_INTERPOSER_CUDA_STREAMS_H

#include "interposer/cuda/interposer.h"

struct application_stream;

struct ordered_command {
	struct cuda_call call; /* for the runtime */
	struct gs_error err;   /* the same */
	struct application_stream *stream;
	struct cuda_event *event;
	struct cuda_event **waits;
	size_t count, room;
};

/*
 * Every command goes: ordered_begin, if that returns 0 a function of runtime/cuda.h with call and err, then ordered_end with its result.
 * `blocking` says that the caller waits for it. `wait` is an event that it waits for as well, or NULL. Both return error numbers.
 */
int ordered_begin(struct ordered_command *c, void *stream, bool blocking, struct cuda_event *wait);
int ordered_end(struct ordered_command *c, int result, int otherwise);

/* Waits for everything. */
int device_wait_all(void);
/* Checks a handle. */
bool stream_exists(void *stream);

#endif
