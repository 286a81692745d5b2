/* commands: what all commands of a stream have in common: the timeline, and events. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_COMMANDS_H
#define GPUSIM_RUNTIME_GUEST_CUDA_COMMANDS_H

#include "runtime/guest/cuda/streams.h"
#include "runtime/guest/launches/timeline.h"

/* A call under way: from its begin until its command is with the stream. */
struct call_log {
	const struct cuda_call *call;
	bool blocking;
	struct cuda_event *event; /* of the command, with a reference of ours; NULL: none */
	struct stream_call timeline;
	const struct schedule_command **after; /* owned */
};

/* Prepares the command for the call. Fails after a fault of a kernel, and when memory is short; then there is nothing to end. */
int call_begin(struct call_log *l, const struct cuda_call *call, struct cuda_command *c, struct gs_error *err);
/* Submits the command, and gives the caller its event. `log` makes the entry in the timeline, from `data`; NULL: it has one. */
void call_end(struct call_log *l, struct cuda_command *c, enum stream_turn turn,
              const struct schedule_command *(*log)(const struct stream_call *call, void *data), void *data);

#endif
