/*
 * timeline: the application's calls and commands, logged while they are made, and replayed on the targets once their
 * launches are modelled (schedule.h). From it come the timeline of the reports and, with GPUSIM_PROFILING=simulated, the
 * times that the application is told of its events.
 */
#ifndef GPUSIM_RUNTIME_GUEST_TIMELINE_H
#define GPUSIM_RUNTIME_GUEST_TIMELINE_H

#include "runtime/guest/schedule.h"
#include "runtime/guest/state.h"

/* report_timeline.c has it, which needs no driver. */
struct timeline {
	pthread_mutex_t lock;
	struct schedule schedule;
	bool started;
	uint64_t omitted; /* commands beyond those that are kept */
};

extern struct timeline timeline;

/* ---- timeline.c ---- */

bool timeline_wanted(void);
/* A launch that the driver has taken, with the event that the application got, if any. NULL: not logged. */
struct schedule_command *timeline_launch(const char *kernel, const struct command_call *call);
/* How long it takes is known, or (result NULL) never will be. */
void timeline_resolve(struct schedule_command *c, const struct launch_result *result);
/* With simulated profiling: the answer to clGetEventProfilingInfo, for which it waits until the launch is modelled. */
bool timeline_profiling(cl_event event, cl_profiling_info what, cl_ulong *time);

/* ---- report_timeline.c, report_trace.c ---- */

/* At the end: what is still open has no times, and everything is replayed. */
void timeline_finish(void);
void json_timeline(struct gs_buf *b);
void report_trace(void);

#endif
