/* request_walk: a warp on its way from request to request, without time. */
#ifndef GPUSIM_MODELS_TRAFFIC_REQUEST_WALK_H
#define GPUSIM_MODELS_TRAFFIC_REQUEST_WALK_H

#include "models/warps/warps.h"

struct request_walker {
	const struct warp_path *path; /* NULL: at its end */
	uint64_t group;
	int64_t moved[3];
	bool moves;
	size_t block, request;
	uint32_t at, end; /* instructions of its block */
};

struct walked_request {
	uint32_t instruction;
	const struct memory_part *parts; /* of global memory; as the traced group had them: walker_address moves them */
	uint32_t part_count;
	bool global;
};

void walker_start(const struct launch_warps *warps, uint64_t group, uint32_t warp, struct request_walker *out);
/* To its next request and past it; false at the end of its path. */
bool walker_next(const struct launch_warps *warps, struct request_walker *walker, struct walked_request *out);
uint64_t walker_address(const struct launch_warps *warps, const struct request_walker *walker, uint32_t instruction,
                        const struct memory_part *part, uint64_t line_bytes);

#endif
