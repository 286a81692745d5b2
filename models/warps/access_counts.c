/*
 * For every path, times the warps that take it:  requests = executed loads;  sectors = sum over parts of sectors touched;
 * conflicts = sum over instructions on shared memory of (accesses - 1).
 */
#include "models/warps/access_counts.h"

#include "models/code/costs.h"
#include "models/warps/executions.h"

#include <math.h>

static double sectors_of(const struct warp_path *path, size_t n)
{
	double sectors = 0;
	for (uint32_t p = path->requests->first[n]; p < path->requests->first[n + 1]; p++)
		sectors += __builtin_popcount(path->requests->parts[p].sectors);
	return sectors;
}

static void count_access(const struct launch_warps *w, const struct warp_path *path, size_t n, uint32_t i, double times,
                         void *data)
{
	struct access_counts *out = data;
	const struct code_instruction *in = &w->code->code[i];
	if (!code_has_accesses(in->class))
		return;
	if (in->space == SPACE_shared) {
		out->shared_conflicts += times * (path_accesses(w, path, n, i) - 1);
		return;
	}
	bool load = in->class == CODE_load, store = in->class == CODE_store;
	if ((in->space != SPACE_global && in->space != SPACE_generic) || (!load && !store))
		return;
	double sectors = path->requests && n < path->access_count ? sectors_of(path, n) : NAN;
	out->load_requests += load ? times : 0;
	*(load ? &out->load_sectors : &out->store_sectors) += times * sectors;
}

int count_accesses(const struct launch_warps *w, double times, struct access_counts *out)
{
	*out = (struct access_counts){0};
	return each_execution(w, times, count_access, out);
}
