/* timeline: when the application's commands would run on each target, for the JSON report and the trace of events. */
#ifndef GPUSIM_RUNTIME_REPORT_TIMELINE_H
#define GPUSIM_RUNTIME_REPORT_TIMELINE_H

#include "runtime/base/base.h"
#include "runtime/model/schedule.h"

#include <pthread.h>

/* The guest logs commands in it (runtime/guest/timeline.c). */
struct timeline {
	pthread_mutex_t lock;
	struct schedule schedule;
	bool started;
	uint64_t omitted; /* commands beyond those that are kept */
};

extern struct timeline timeline;

/* At the end: what is still open has no times, and everything is replayed. */
void timeline_finish(void);
void json_timeline(struct gs_buf *b);

#endif
