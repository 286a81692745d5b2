/*
 * How work-groups come to SMs, and how much the busiest gets.
 *
 * Groups go round the SMs until all are full, then to the SM that has least left to do, which is the first to have room.
 * Equal groups make ceil(groups / SMs). Source: GPGPU-Sim's and PPT's dispatch (PPT, 3.2).
 */
#include "models/analytical/optimistic.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* With more groups per SM than this, chance evens them out. Twice as many change none of the suite's small cases. */
enum { MANY_GROUPS = 256 };

static double group_weight(const struct launch_warps *warps, const struct launch_costs *costs, uint64_t group)
{
	double work = 0;
	const uint32_t *paths = &warps->path_of[warps_pattern(warps, group) * warps->warps_per_group];
	for (uint32_t w = 0; w < warps->warps_per_group; w++)
		work += costs->paths[paths[w]].weight;
	return work;
}

/* Sinks the root of a heap of SMs, least load first. */
static void sink_root(double *loads, uint32_t count)
{
	for (uint32_t at = 0, child; (child = 2 * at + 1) < count; at = child) {
		if (child + 1 < count && loads[child + 1] < loads[child])
			child++;
		if (loads[at] <= loads[child])
			return;
		double swap = loads[at];
		loads[at] = loads[child];
		loads[child] = swap;
	}
}

static int compare_loads(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double most_loaded(const struct gpu *gpu, const struct launch_warps *warps, const struct launch_costs *costs,
                          uint32_t resident)
{
	double *loads = costs->sm_loads;
	uint64_t first = (uint64_t)resident * gpu->sm_count < warps->groups ? (uint64_t)resident * gpu->sm_count : warps->groups;
	memset(loads, 0, gpu->sm_count * sizeof *loads);
	for (uint64_t g = 0; g < first; g++)
		loads[g % gpu->sm_count] += group_weight(warps, costs, g);
	qsort(loads, gpu->sm_count, sizeof *loads, compare_loads);
	for (uint64_t g = first; g < warps->groups; g++) {
		loads[0] += group_weight(warps, costs, g);
		sink_root(loads, gpu->sm_count);
	}
	double most = 0;
	for (uint32_t s = 0; s < gpu->sm_count; s++)
		most = loads[s] > most ? loads[s] : most;
	return most;
}

double busiest_sm_groups(const struct gpu *gpu, const struct launch_warps *warps, const struct launch_costs *costs,
                         uint32_t resident)
{
	double even = ceil((double)warps->groups / gpu->sm_count), work = 0;
	for (uint64_t g = 0; g < warps->pattern_groups; g++)
		work += group_weight(warps, costs, g) / (double)warps->pattern_groups;
	if (gpu->sm_count == 1 || even > MANY_GROUPS || warps->path_count == 1 || !(work > 0))
		return even;
	return most_loaded(gpu, warps, costs, resident) / work;
}
