/* cost: what the tool itself costs the program's user. */
#ifndef GPUSIM_RUNTIME_REPORT_COST_H
#define GPUSIM_RUNTIME_REPORT_COST_H

#include "runtime/model/tool_cost.h"

#include <stdbool.h>
#include <stdint.h>

struct simulation;

/* Of the whole run, up to now. */
struct run_cost {
	double wall_ns;    /* since the process began */
	double without_ns; /* that, less all that follows: what the run would take without us, about */
	double building_ns, counting_ns, tracing_ns, modelling_ns;
};
struct run_cost cost_now(const struct simulation *sim);

/* When the commands of a launch ended; 0: there are none. */
struct launch_times {
	uint64_t enqueued_ns;
	uint64_t traces_end_ns, twin_end_ns; /* the traced twin, and the twin that counts */
	uint64_t own_end_ns;                 /* the command that the application knows of */
	uint64_t copies_end_ns;              /* copies for a verification */
	bool first_traced, first_counted;    /* the driver compiles the twin for this launch */
	bool in_shadow;                      /* as in the launch's record */
};
/* The launch has completed. One thread at a time. */
void cost_add_launch(struct tool_cost *cost, const struct launch_times *l);

#endif
