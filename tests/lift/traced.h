/* traced: checks the traces of a lifted kernel against its counters. */
#ifndef GPUSIM_TESTS_LIFT_TRACED_H
#define GPUSIM_TESTS_LIFT_TRACED_H

#include "models/trace/read.h"
#include "tests/lift/runner.h"

/* The trace of a run as events. The caller frees *sites after the trace. */
int traced_read(const struct lift_runner *r, const struct lift_run *run, struct trace_site **sites, struct launch_trace **out,
                struct gs_error *err);

/* How many lanes of the trace do not begin each block as often as their counters say. Iterations that gaps leave out count for the block that
 * begins them; other blocks of windowed loops are not compared. *compared: how many numbers were. */
uint64_t traced_differences(const struct lift_runner *r, const struct lift_run *run, const struct launch_trace *trace, uint64_t *compared);

#endif
