/* tool_cost: what the tool itself costs, counted by whoever does the work. runtime/report/cost.c makes a report of it. */
#ifndef GPUSIM_RUNTIME_MODEL_TOOL_COST_H
#define GPUSIM_RUNTIME_MODEL_TOOL_COST_H

#include <stdatomic.h>
#include <stdint.h>

struct tool_cost {
	atomic_uint_fast64_t compiles, cache_hits, compile_ns, twin_build_ns, wait_ns, launch_ns, launches, model_ns;
	atomic_uint_fast64_t simulated, from_cache; /* launches, once per target: by this run, by an earlier one */
	atomic_uint_fast64_t over_budget; /* likewise: not simulated, because GPUSIM_BUDGET was spent */
	atomic_uint_fast64_t not_counted; /* launches without counters (flag not_counted), that follow from others */
	atomic_uint_fast64_t untraced; /* launches without a trace, because there was no room */
	atomic_uint_fast64_t overlap_ns;      /* builds of the application, while the driver built a twin */
	atomic_uint_fast64_t first_launch_ns; /* of twins: the driver compiles them */
	atomic_uint_fast64_t counting_ns, tracing_ns; /* commands of ours in the application's queues */
	atomic_uint_fast64_t profiling_ns;    /* waiting for simulated times */
	atomic_uint_fast64_t exit_begin_ns;   /* when the program ended; 0: it has not */
	uint64_t last_end_ns; /* of the launches that cost_add_launch has seen */
};

#endif
