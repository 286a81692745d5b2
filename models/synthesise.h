/*
 * synthesise: the paths of warps where nobody traced them, from the counters that every work-item left.
 *
 * A warp executes a block as often as the lane that does so most; where both ways out of a branch together were taken
 * more often than the branch ran, the warp diverged. The path goes through the code with these counts as a budget: loops
 * take their share of trips at every entry, branches alternate evenly, divergent ones run both arms up to the join.
 */
#ifndef GPUSIM_SYNTHESISE_H
#define GPUSIM_SYNTHESISE_H

#include "models/warps.h"

/* The counters of work-items, wherever they lie. A raw row is what one work-item left. */
struct lane_counts {
	uint32_t columns; /* of a raw row */
	void (*gather)(void *ctx, uint64_t group, uint32_t item, uint32_t *row); /* item: linear local id */
	void (*expand)(void *ctx, const uint32_t *row, uint64_t *counts);        /* counts: code->counter_count entries */
	void *ctx;
};

struct launch_shape {
	uint64_t groups;
	uint32_t threads_per_group, warp_size;
};

struct synthesis_limits {
	uint64_t most_items;  /* whose counters are looked at; groups are taken evenly over the launch */
	uint64_t most_blocks; /* in all paths together; longer ones are cut */
};

struct synthesis {
	struct launch_warps warps; /* points into the members below */
	double fraction;           /* of the blocks of the paths that are kept: 1 unless they were cut */
	uint64_t sampled_groups;
	double lane_efficiency; /* active lanes over lanes, all executed instructions */
	bool inconsistent;
	struct warp_path *paths;
	uint32_t *path_of;
	struct path_store *store;
};

/* Returns 0 or a negative errno value. The caller frees with synthesis_free. */
int synthesise(const struct kernel_code *code, const struct launch_shape *shape, const struct lane_counts *lanes,
               const struct synthesis_limits *limits, struct synthesis *out);
void synthesis_free(struct synthesis *s);

#endif
