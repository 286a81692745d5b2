/*
 * timeline: when each command would run on each target. The application's calls and commands are logged while they are made.
 * They are replayed on the targets once their launches are modelled (runtime/timeline/schedule.h). The timeline of the reports
 * (runtime/report/timeline.h) comes from here. With GPUSIM_PROFILING=simulated, so do the times that the application gets for
 * its events.
 */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_TIMELINE_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_TIMELINE_H

#include "runtime/model/launch_record.h"
#include "runtime/runtime.h"
#include "runtime/timeline/topology.h"

/* Logs a launch that the driver has accepted, with the event that the application got, if any. NULL: it is not logged. */
struct schedule_command *timeline_launch(const char *kernel, const struct command_call *call);
/* A copy from one GPU of the program to another. */
void timeline_peer_copy(struct peer_ends ends, uint64_t size_bytes, const struct command_call *call);
/* The time of the launch is known now, or (result NULL) never will be. `launch` is 1 + its number; 0: it has none. */
void timeline_resolve(struct schedule_command *c, uint64_t launch, const struct launch_result *result);

/* A command of a stream (runtime/cuda.h), which the driver does not know. */
struct stream_call {
	const void *stream; /* NULL: a call that waits for events */
	const char *name;   /* of the stream, or NULL */
	const struct schedule_command *const *after; /* what it waits for beside its stream; NULL elements are not logged */
	size_t after_count;
	bool blocking;
	bool records; /* an event's time */
	int priority; /* of the stream, as in struct shared_launch */
	uint32_t device; /* which of the GPUs it is of */
	bool part; /* of a call that made others before it: it takes no time of its own */
	uint64_t begin_ns; /* call_begins */
};
/* Like timeline_launch and its kind. A blocking call is logged when it returns. */
struct schedule_command *timeline_stream_launch(const char *kernel, const struct stream_call *call);
struct schedule_command *timeline_stream_transfer(enum transfer_kind kind, uint64_t size_bytes, const struct stream_call *call);
struct schedule_command *timeline_stream_peer_copy(struct peer_ends ends, uint64_t size_bytes, const struct stream_call *call);
struct schedule_command *timeline_stream_marker(const struct stream_call *call);
/* The call that made the entry returns to the application now: what it did since was work of ours. */
void timeline_stream_returned(const struct schedule_command *entry);
void timeline_stream_wait(const char *name, const struct stream_call *call);
/* A call that neither enqueues nor waits for the GPU. */
struct schedule_command *timeline_host_call(const char *what, const char *name, uint64_t begin_ns);
/* Whether this call is the same as the last one, which was made just before it: then that one ends now. */
bool timeline_host_call_goes_on(const char *what, const char *name, uint64_t begin_ns, uint64_t most_ns);
void timeline_rename(struct schedule_command *c, const char *name);
/* When the command ends on the first target, with GPUSIM_PROFILING=simulated. Waits until that is known. False: it never will be. */
bool timeline_simulated_end(const struct schedule_command *c, uint64_t *ns);
/* What this thread has done since then is work of ours, which takes no time on a target. */
void timeline_leave_out(uint64_t begin_ns);

#endif
