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

/* Logs a launch that the driver has accepted, with the event that the application got, if any. NULL: it is not logged. */
struct schedule_command *timeline_launch(const char *kernel, const struct command_call *call);
/* The time of the launch is known now, or (result NULL) never will be. */
void timeline_resolve(struct schedule_command *c, const struct launch_result *result);

#endif
