/*
 * synthesise: the paths of warps that were not traced, from the counters that every work-item left.
 *
 * Every lane's own counts become its way through the code (walk.c), and the ways of a warp's lanes the warp's
 * (replay.c). Where all lanes count the same and their branches agree, one lane stands for all.
 */
#ifndef GPUSIM_MODELS_WARPS_SYNTHESISE_H
#define GPUSIM_MODELS_WARPS_SYNTHESISE_H

#include "models/warps/warps.h"

/* The counters of work-items, wherever they lie. A raw row is what one work-item left. */
struct lane_counts {
	uint32_t columns; /* of a raw row */
	void (*gather)(void *ctx, uint64_t group, uint32_t item, uint32_t *row); /* item: linear local id */
	void (*expand)(void *ctx, const uint32_t *row, uint64_t *counts);        /* counts: code->counter_count entries */
	void *ctx;
	bool (*counted)(void *ctx, uint64_t group); /* whether rows are the group's own, and not those of one that is like it; NULL: all are */
};
static inline bool lanes_are_counted(const struct lane_counts *l, uint64_t group)
{
	return !l->counted || l->counted(l->ctx, group);
}

struct launch_shape {
	uint64_t groups;
	uint32_t threads_per_group, warp_size;
};

/* accesses, below: the usual ones, per instruction of the code (accesses.h). */
struct synthesis_limits {
	uint64_t most_items;  /* whose counters are used; groups are taken evenly over the launch */
	uint64_t most_blocks; /* of all lanes walked; then warps take paths that others have, or are cut */
	uint64_t line_bytes;  /* that one access takes in */
	const double *chance; /* accesses that chance brings, by lanes that are on (chance.h); NULL: one */
};

struct synthesis {
	struct launch_warps warps; /* points into the members below */
	double fraction;           /* of the blocks of the paths that are kept: 1 unless they were cut */
	bool reused;               /* some warp has another's path */
	uint64_t sampled_groups;
	double lane_efficiency; /* active lanes over lanes, all executed instructions */
	bool inconsistent;
	struct warp_path *paths;
	uint32_t *path_of;
	struct path_store *store;
};

/* Returns 0 or a negative errno value. The caller frees with synthesis_free. */
int synthesise(const struct kernel_code *code, const struct launch_shape *shape, const struct lane_counts *lanes,
               const uint16_t *accesses, const struct synthesis_limits *limits, struct synthesis *out, struct gs_error *err);
void synthesis_free(struct synthesis *s);

#endif
