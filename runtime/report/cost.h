/* cost: what the tool itself costs the program's user. */
#ifndef GPUSIM_RUNTIME_REPORT_COST_H
#define GPUSIM_RUNTIME_REPORT_COST_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

/* Counted by whoever does the work. */
struct tool_cost {
	atomic_uint_fast64_t compiles, cache_hits, compile_ns, twin_build_ns, wait_ns, launch_ns, launches, model_ns;
	atomic_uint_fast64_t untraced; /* launches without a trace, because there was no room */
	atomic_uint_fast64_t overlap_ns;      /* builds of the application, while the driver built a twin */
	atomic_uint_fast64_t first_launch_ns; /* of twins: the driver compiles them */
	atomic_uint_fast64_t counting_ns, tracing_ns; /* commands of ours in the application's queues */
	atomic_uint_fast64_t profiling_ns;    /* waiting for simulated times */
	atomic_uint_fast64_t exit_begin_ns;   /* when the program ended; 0: it has not */
};

extern struct tool_cost tool_cost;

/* Of the whole run, up to now. */
struct run_cost {
	double wall_ns;    /* since the process began */
	double without_ns; /* that, less all that follows: what the run would take without us, about */
	double building_ns, counting_ns, tracing_ns, modelling_ns;
};
struct run_cost cost_now(void);

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
void cost_add_launch(const struct launch_times *l);

#endif
