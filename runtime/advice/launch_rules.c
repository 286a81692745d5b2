/* Rules about the sizes of a launch, and what an SM holds of it. */
#include "runtime/advice/rules.h"

#include <math.h>
#include <stdio.h>

RULE(groups)
{
	static const double even = 0.9; /* of the SMs' time, in which groups are to be spread evenly */
	const uint64_t *g = c->launch->groups;
	double groups = (double)g[0] * (double)g[1] * (double)g[2];
	double at_once = (double)c->gpu->sm_count * c->estimate->occupancy.blocks_per_sm, waves = at_once > 0 ? groups / at_once : 0;
	if (waves <= 0 || waves / ceil(waves) > even)
		return;
	struct advice_trial *t = advice_try(rule, c, NULL, CHANGE_groups, out);
	if (!t)
		return;
	t->work = ceil(waves) / waves;
	if (groups < c->gpu->sm_count)
		snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.0f group%s on %u SMs: %.0f have nothing to do", groups, groups == 1 ? "" : "s",
		         c->gpu->sm_count, c->gpu->sm_count - groups);
	else if (waves < 1)
		snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.0f groups, and %u SMs hold %.0f at once", groups, c->gpu->sm_count, at_once);
	else
		snprintf(t->advice.evidence, sizeof t->advice.evidence, "%.1f waves of groups: the last one fills %.0f%% of the SMs' room", waves,
		         100 * (waves - floor(waves)));
}

/* The local size that gives the most warps, if the code stays as it is; *warps: resident ones. */
static uint64_t best_local_size(const struct advice_case *c, uint64_t shared_per_item, uint32_t *warps)
{
	uint64_t best = 0;
	*warps = 0;
	for (uint64_t size = c->gpu->warp_size; size <= c->gpu->max_threads_per_block; size *= 2) {
		struct occupancy o = gpu_occupancy(c->gpu, size, c->launch->code->registers, shared_per_item * size);
		if (o.blocks_per_sm * o.warps_per_block > *warps) {
			*warps = o.blocks_per_sm * o.warps_per_block;
			best = size;
		}
	}
	return best;
}

/* What limits the groups of an SM, twice as large; of a launch whose SMs are full. */
RULE(occupancy)
{
	const struct occupancy *o = &c->estimate->occupancy;
	const uint64_t *l = c->launch->local;
	uint64_t local = l[0] * l[1] * l[2], shared = c->launch->local_bytes + c->launch->code->shared_bytes;
	uint32_t warps;
	if (o->fraction > 0.75 || o->limit == OCCUPANCY_GRID || o->limit == OCCUPANCY_NONE || !local)
		return;
	struct advice_trial *t = advice_try_gpu(rule, c, out);
	if (!t)
		return;
	uint64_t best = best_local_size(c, shared / local, &warps);
	if (o->limit == OCCUPANCY_REGISTERS) {
		t->gpu->registers_per_sm *= 2;
		t->advice.remedy = "use half as many registers: fewer values at a time, less unrolling";
		snprintf(t->advice.evidence, sizeof t->advice.evidence, "%u registers of a work-item let an SM hold %.0f%% of its warps",
		         gpu_thread_registers(c->gpu, c->launch->code->registers), 100 * o->fraction);
	} else if (o->limit == OCCUPANCY_SHARED) {
		t->gpu->shared_bytes_per_sm *= 2;
		t->advice.remedy = "use half as much local memory";
		snprintf(t->advice.evidence, sizeof t->advice.evidence, "%llu bytes of local memory of a group of %llu let an SM hold %.0f%% of its warps",
		         (unsigned long long)shared, (unsigned long long)local, 100 * o->fraction);
	} else {
		t->gpu->max_blocks_per_sm *= 2;
		t->gpu->max_warps_per_sm += o->limit == OCCUPANCY_WARPS ? o->warps_per_block : 0;
		t->advice.remedy = "choose another local size";
		snprintf(t->advice.evidence, sizeof t->advice.evidence, "groups of %llu let an SM hold %.0f%% of its warps, groups of %llu %.0f%%",
		         (unsigned long long)local, 100 * o->fraction, (unsigned long long)best, 100.0 * warps / c->gpu->max_warps_per_sm);
	}
}
