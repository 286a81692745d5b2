/* estimate: how long a launch takes on every target. Start reading here. */
#ifndef GPUSIM_RUNTIME_MODEL_ESTIMATE_H
#define GPUSIM_RUNTIME_MODEL_ESTIMATE_H

#include "runtime/model/launch_record.h"

/* Fills the result of a launch whose counters are in its record. One thread at a time. */
void estimate_launch(struct launch_result *r);
/* Frees what only the reports of this launch need. */
void launch_result_clear(struct launch_result *r);
bool kernel_wanted(const struct simulation *sim, const char *name); /* GPUSIM_KERNELS */

#endif
