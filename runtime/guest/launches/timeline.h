/*
 * timeline: the application's calls and commands, logged while they are made, and replayed on the targets once their
 * launches are modelled (runtime/timeline/schedule.h). From it come the timeline of the reports (runtime/report/timeline.h) and, with
 * GPUSIM_PROFILING=simulated, the times that the application gets for its events.
 */
#ifndef GPUSIM_RUNTIME_GUEST_LAUNCHES_TIMELINE_H
#define GPUSIM_RUNTIME_GUEST_LAUNCHES_TIMELINE_H

#include "runtime/model/launch_record.h"
#include "runtime/runtime.h"

/* A launch that the driver has taken, with the event that the application got, if any. NULL: not logged. */
struct schedule_command *timeline_launch(const char *kernel, const struct command_call *call);
/* How long it takes is known, or (result NULL) never will be. */
void timeline_resolve(struct schedule_command *c, const struct launch_result *result);

#endif
