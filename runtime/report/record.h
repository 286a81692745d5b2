/* record: a profile of the run for gpusim replay, where GPUSIM_RECORD wants one. */
#ifndef GPUSIM_RUNTIME_REPORT_RECORD_H
#define GPUSIM_RUNTIME_REPORT_RECORD_H

#include "runtime/model/launch_record.h"

struct kept_trace;

bool record_wanted(void);
void record_all_targets(void); /* after the targets are loaded */
void record_program(struct artifact *a, const struct gs_pack *result);
void record_launch(const struct launch_record *l, const struct kept_trace *trace); /* trace: its own, or NULL */
void record_finish(void);

#endif
