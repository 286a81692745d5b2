/* path_latency: how long a warp takes for its path, alone; for path_costs.c. */
#ifndef GPUSIM_MODELS_ANALYTICAL_PATH_LATENCY_H
#define GPUSIM_MODELS_ANALYTICAL_PATH_LATENCY_H

#include "models/analytical/path_costs.h"
#include "models/analytical/pipeline.h"

/* States of the pipeline at block ends that are kept: bounds memory. With more states, what is under way at a block's end is forgotten.
 * Twice as many change none of the suite's small cases (tests/oracle/analytical). */
enum { AUTOMATON_STATES = 4096, AUTOMATON_TABLE = 2 * AUTOMATON_STATES };

struct pipeline_state;

/* The accesses of pipeline.instructions may be set before the first path. */
struct automaton {
	struct pipeline pipeline;
	struct pipeline_state *states;
	uint32_t state_count, table[AUTOMATON_TABLE];
	double *scratch; /* values of the state being made */
};

/* Returns 0 or -ENOMEM; the caller calls automaton_finish in either case. */
int automaton_setup(struct automaton *a, const struct gpu *gpu, const struct kernel_code *code);
void automaton_finish(struct automaton *a);
/* Adds to out: latency, memory_stall, waits, and fetches to its usage. Returns 0 or -ENOMEM. */
int path_latency(struct automaton *a, const struct warp_path *path, struct path_cost *out);

#endif
