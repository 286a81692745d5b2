/* timeline: when the application's commands would run on each target, for the JSON report and the trace of events. */
#ifndef GPUSIM_RUNTIME_REPORT_TIMELINE_H
#define GPUSIM_RUNTIME_REPORT_TIMELINE_H

#include "runtime/base/base.h"
#include "runtime/timeline/schedule.h"

/* At the end: what is still open has no times, and everything is replayed. */
void timeline_finish(struct timeline *timeline);
void json_timeline(struct gs_buf *b, struct timeline *timeline);

#endif
