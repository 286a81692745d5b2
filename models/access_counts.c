/*
 * For every path, times the warps that take it:  requests = executed loads;  sectors = sum over parts of sectors touched;
 * conflicts = sum over instructions on shared memory of (accesses - 1).
 */
#include "models/access_counts.h"

#include "models/attribution.h"
#include "models/costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static double sectors_of(const struct warp_path *path, size_t n)
{
	double sectors = 0;
	for (uint32_t p = path->requests->first[n]; p < path->requests->first[n + 1]; p++)
		sectors += __builtin_popcount(path->requests->parts[p].sectors);
	return sectors;
}

static void count_access(const struct launch_warps *w, const struct warp_path *path, size_t n, uint32_t i, double times,
                         struct access_counts *out)
{
	const struct code_instruction *in = &w->code->code[i];
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

static int count_path(const struct launch_warps *w, const struct warp_path *path, double times, struct access_counts *out)
{
	size_t next = 0;
	for (size_t b = 0; b < path->block_count; b++) {
		if (path->blocks[b] >= w->code->block_count)
			return -EINVAL;
		const struct code_block *block = &w->code->blocks[path->blocks[b]];
		for (uint32_t i = block->first; i < block->first + block->count; i++)
			if (code_has_accesses(w->code->code[i].class))
				count_access(w, path, next++, i, times, out);
	}
	return 0;
}

int count_accesses(const struct launch_warps *w, double times, struct access_counts *out)
{
	double *warps = calloc(w->path_count + 1, sizeof *warps);
	int rc = warps ? count_path_warps(w, warps) : -ENOMEM;
	*out = (struct access_counts){0};
	for (uint32_t n = 0; n < w->path_count && !rc; n++)
		rc = count_path(w, &w->paths[n], times * warps[n], out);
	free(warps);
	return rc;
}
