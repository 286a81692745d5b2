/* record: a profile of the run for gpusim replay, where GPUSIM_RECORD wants one. */
#ifndef GPUSIM_RUNTIME_REPORT_RECORD_H
#define GPUSIM_RUNTIME_REPORT_RECORD_H

#include "runtime/model/launch_record.h"

struct kept_trace;

bool record_wanted(const struct simulation *sim);
void record_all_targets(struct simulation *sim); /* after the targets are loaded */
void record_program(const struct simulation *sim, struct artifact *a, const struct gs_pack *result);
/* trace: the launch's own, or NULL */
void record_launch(const struct simulation *sim, const struct launch_record *l, const struct kept_trace *trace);
void record_finish(struct simulation *sim);

#endif
