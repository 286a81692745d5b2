/*
 * replay: the paths of a warp's lanes made into the warp's own, with reconvergence at the immediate post-dominator.
 *
 * Divergent lanes run one group after the other, the lanes of a taken branch first, up to the join. Whether the lanes'
 * paths were traced or synthesised does not matter here.
 */
#ifndef GPUSIM_MODELS_WARPS_REPLAY_H
#define GPUSIM_MODELS_WARPS_REPLAY_H

#include "models/code/code.h"

enum { REPLAY_MOST_LANES = 64 }; /* bits of a mask of lanes */

struct lane_path {
	const uint32_t *blocks; /* the lane's own; calls are in it, one block after the other */
	size_t count;
};

/* Told of every block that the warp executes, in order, with the lanes that are on. */
typedef bool replay_block_fn(void *ctx, uint32_t block, uint64_t lanes); /* false ends the replay */

/* Returns 0, or -ENOMEM, or -EINVAL for more lanes than can be. */
int replay_warp(const struct kernel_code *code, const struct lane_path *lanes, uint32_t lane_count,
                replay_block_fn *on_block, void *ctx);

#endif
