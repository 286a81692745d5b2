/*
 * NVIDIA's choice, as driver 580.159 makes it on an H200 (tests/reference/h200-truth/chosen.csv, 77 sizes, three kernels): the largest divisor
 * of the first global size that is no more than unsized_group, and 1 in the other dimensions, whatever they are. A prime beyond that is one
 * group, if a group may be as large (one of 1021 needs few registers; that is not looked at here); else groups have one work-item.
 */
#include "models/gpu/local_size.h"

static uint64_t largest_divisor(uint64_t n, uint64_t most)
{
	uint64_t d = n < most ? n : most;
	while (d > 1 && n % d)
		d--;
	return d ? d : 1;
}

void gpu_local_size(const struct gpu *gpu, const uint64_t global[3], uint64_t local[3])
{
	local[0] = largest_divisor(global[0], gpu->unsized_group);
	if (local[0] == 1 && global[0] <= gpu->max_threads_per_block && global[0])
		local[0] = global[0];
	local[1] = local[2] = 1;
}
