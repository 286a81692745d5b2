/* full: the model that takes the time of each model from the others. */
#ifndef GPUSIM_MODELS_FULL_H
#define GPUSIM_MODELS_FULL_H

#include "models/analytical/optimistic.h"
#include "models/grid/occupancy_vector.h"

/* All three models; occupancy is model_occupancy_vector, or NULL: the others alone. */
typedef int occupancy_model(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                            const struct warp_options *options, struct warp_timing *out, struct gs_error *err);
struct full_options {
	struct fixed_point_options fixed_point;
	struct warp_options warps;
	occupancy_model *occupancy;
};
struct full_timing {
	double cycles;
	double by[CYCLE_KIND_COUNT]; /* add up to cycles */
	const char *limiter;         /* a resource, "latency", "barrier" ... */
	double register_bank_conflicts;
	double warp_instructions;
	struct probabilistic_timing probabilistic;
	struct warp_timing occupancy; /* of the last iteration */
	struct fixed_point fixed_point;
};
int model_full(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
               const struct full_options *options, struct full_timing *out, struct gs_error *err);

/*
 * A simulated SM issued in every cycle in which one of its schedulers did. The others waited meanwhile, for what the SM waits for when
 * none issues. So `issue` keeps the cycles that all schedulers together need for the instructions, and the rest is divided among the
 * waits, as they are. What is before the first instruction and after most groups (launch, tail) stays.
 */
void divide_issue(double by[CYCLE_KIND_COUNT], double needed);
/*
 * More issue slots would save nothing where a kind of unit is busy for longer than the slots are (integer instructions of an SM with half as many lanes for
 * them, say). Then the cycles of `issue` are that unit's. `limits` are the cycles that each resource needs.
 */
void give_issue_to_unit(double by[CYCLE_KIND_COUNT], const double limits[LIMIT_COUNT]);

#endif
