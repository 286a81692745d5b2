/*
 * The occupancy-vector model of a launch.
 *
 *   l[s,p]: cycles after which warp p of SM s can issue again; a ready warp is chosen by policy, and when none is ready
 *   time advances to the first that will be. The launch takes as long as its slowest SM.
 * Source: GATSim, Algorithm 1, II-D and II-E. Here l follows from the pipeline of the GPU's description, see models/sm/state/sm.h.
 *
 *   T = T' + sum over regions of W / r + (W - W') * T' / W'
 * T' is simulated; W / r are the groups that sampling skipped, at the rate of their region (TBPoint, Table IV); W - W' is what is
 * left where only a part of the launch is planned (models/grid/plan.c).
 */
#include "models/grid/occupancy_vector.h"

#include "models/grid/balance.h"
#include "models/grid/grid.h"
#include "models/traffic/footprint.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int check_launch(const struct launch_warps *w, struct gs_error *err)
{
	if (!w->code || !w->paths || !w->path_count || !w->path_of || !w->pattern_groups || !w->warps_per_group)
		return gs_fail(err, EINVAL, "the launch has no code, or no warps");
	for (uint64_t i = 0; i < w->pattern_groups * w->warps_per_group; i++)
		if (w->path_of[i] >= w->path_count)
			return gs_fail(err, EINVAL, "a warp takes path %u of %u", w->path_of[i], w->path_count);
	for (uint32_t p = 0; p < w->path_count; p++)
		for (size_t i = 0; i < w->paths[p].block_count; i++)
			if (w->paths[p].blocks[i] >= w->code->block_count)
				return gs_fail(err, EINVAL, "the path of a warp leads outside of the kernel's code");
	return 0;
}

static void add_cycles(struct warp_timing *out, double cycles)
{
	double steady = out->cycles - out->by[CYCLES_launch] - out->by[CYCLES_tail];
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		if (k != CYCLES_launch && k != CYCLES_tail && steady > 0)
			out->by[k] += cycles * out->by[k] / steady;
	if (steady <= 0)
		out->by[CYCLES_issue] += cycles;
	out->cycles = 0;
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		out->cycles += out->by[k];
}

/*
 * How much longer the launch takes than what was simulated of it: where SMs wait for what all of them share, by its instructions; where they
 * are busy, or warps wait for results of their own, as the SM or the scheduler that has most to do (balance.h).
 */
static double share_to_all(const struct warp_timing *t, const struct balance *b, double share, double done)
{
	static const enum cycle_kind all_sms[] = {CYCLES_l2, CYCLES_dram, CYCLES_atomics};
	static const enum cycle_kind own[] = {CYCLES_dependency, CYCLES_memory, CYCLES_barrier, CYCLES_launch, CYCLES_tail};
	static const enum cycle_kind of_sm[] = {CYCLES_unit_ldst, CYCLES_shared, CYCLES_l1};
	double all = 0, common = 0, alone = 0, shared = 0;
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		all += t->by[k];
	for (size_t i = 0; i < GS_ARRAY_LEN(all_sms); i++)
		common += t->by[all_sms[i]];
	for (size_t i = 0; i < GS_ARRAY_LEN(own); i++)
		alone += t->by[own[i]];
	for (size_t i = 0; i < GS_ARRAY_LEN(of_sm); i++)
		shared += t->by[of_sm[i]];
	if (!(all > 0) || !(b->work > 0))
		return share / done;
	double issue = all - common - alone - shared;
	return (common * share + (issue * b->issue + shared * b->shared + alone * b->alone) * b->work) / (all * done);
}

/* Cycles that are left of a launch whose simulation was stopped while groups were to come: SMs are full until the last of these have begun, and go on at
 * the rate that they had. The end, when groups leave and none comes, is there once. */
static double rest_of_launch(const struct ov_outcome *o, double share)
{
	double done = (double)o->instructions + o->skipped_instructions, end = o->left_cycles - o->left_instructions / o->left_rate;
	return (share - done) / o->left_rate + fmax(end, 0);
}

/* What the simulated SMs did stands for their share of the launch. */
static void fill_timing(const struct ov_work *work, const struct ov_plan *plan, const struct balance *balance, const struct ov_outcome *o,
                        struct warp_timing *out)
{
	double share = work->instructions * plan->sm_count / work->gpu->sm_count;
	double done = (double)o->instructions + o->skipped_instructions + o->left_instructions;
	double scale = o->instructions ? work->instructions / (double)o->instructions : 1;
	double extra = o->skipped_cycles + o->left_cycles;
	out->cycles = (double)o->cycles;
	for (uint32_t k = 0; k < CYCLE_KIND_COUNT; k++)
		out->by[k] = (double)o->by[k];
	if (o->stopped > 0 && o->left_rate > 0 && done < share) {
		double factor = plan->groups < plan->all ? share_to_all(out, balance, share, done) * done / share : 1;
		extra = (out->cycles + o->skipped_cycles + rest_of_launch(o, share)) * factor - out->cycles;
	} else if (done > 0 && plan->groups < plan->all) {
		extra += (out->cycles + extra) * (share_to_all(out, balance, share, done) - 1);
	} else if (done > 0 && o->stopped > 0 && done < share) {
		extra += (out->cycles + extra) * (share / done - 1);
	}
	if (extra > 0 || plan->groups < plan->all)
		add_cycles(out, extra);
	if (o->hottest_atomics * scale > out->cycles) {
		out->by[CYCLES_atomics] += o->hottest_atomics * scale - out->cycles;
		out->cycles = o->hottest_atomics * scale;
	}
	double atomic_share = out->cycles > 0 ? o->hottest_atomics * scale / out->cycles : NAN;
	out->longest_group = (double)o->longest_group;
	out->warp_instructions = (uint64_t)(work->instructions + 0.5);
	out->simulated_fraction = work->instructions > 0 ? (double)o->stepped / work->instructions : 1;
	out->spread = ov_spread(work, plan, o, out->cycles, balance_doubt(balance, plan, share));
	out->bank_conflicts = (double)o->conflicts * scale;
	out->memory = o->memory;
	out->memory.atomic_share = atomic_share;
	/* L2's and DRAM's numbers are for all SMs already; there, as many parts of requests count as all groups have. */
	double parts = work->traffic > 0 && o->memory.transactions > 0 ? work->traffic / o->memory.transactions : scale;
	double behind = o->instructions ? share / (double)o->instructions * parts / scale : 1;
	out->memory.requests *= scale / behind;
	out->memory.transactions *= parts / behind;
	memory_scale(&out->memory, behind);
}

/* A part of the SMs has that part of L2's and DRAM's bandwidth (models/memory/system.c), and a part of L2's capacity. */
static int share_l2(const struct ov_work *work, const struct ov_machine *m, struct ov_plan *plan)
{
	const struct launch_warps *w = work->warps;
	return footprint_capacity(work->gpu, w, w->warm, w->warm_count, (uint64_t)m->groups_per_sm * plan->sm_count,
	                          (uint64_t)m->groups_per_sm * work->gpu->sm_count, &plan->capacity);
}

static int simulate(const struct ov_work *work, const struct ov_machine *m, struct warp_timing *out)
{
	struct ov_plan plan;
	struct ov_outcome o = {0};
	struct balance balance = {0};
	int rc = ov_plan_make(work, m->groups_per_sm, &plan);
	if (rc)
		return rc;
	if (work->hierarchy)
		rc = share_l2(work, m, &plan);
	if (!rc)
		rc = (work->hierarchy ? ov_simulate_together : ov_simulate)(m, &plan, &o);
	if (!rc && plan.groups < plan.all)
		rc = balance_of(work, &plan, m->groups_per_sm, &balance);
	if (!rc)
		fill_timing(work, &plan, &balance, &o, out);
	ov_plan_free(&plan);
	return rc;
}

static int model_machine(const struct gpu *gpu, const struct launch_warps *warps, const struct warp_options *options,
                 struct warp_timing *out, struct gs_error *err)
{
	struct ov_machine machine;
	struct ov_work work = {0};
	int rc = ov_machine_init(&machine, gpu, warps, out->resident_groups, options, err);
	if (!rc)
		rc = ov_work_init(&work, gpu, warps, options);
	if (!rc)
		rc = simulate(&work, &machine, out);
	if (rc == -EDEADLK)
		gs_fail(err, EDEADLK, "its warps wait for one another for ever, as at a barrier that not all of them reach");
	ov_machine_finish(&machine);
	ov_work_free(&work);
	return rc;
}

/* Unless the launch says what L2 holds, L2 holds what the launch touches. */
static int model_with_memory(const struct gpu *gpu, const struct launch_warps *warps, const struct warp_options *options,
                        struct warp_timing *out, struct gs_error *err)
{
	struct launch_warps own = *warps;
	struct memory_range *ranges = NULL;
	int rc = warps->warm ? 0 : footprint_ranges(gpu, warps, &ranges, &own.warm_count);
	if (ranges)
		own.warm = ranges;
	if (!rc)
		rc = model_machine(gpu, &own, options, out, err);
	free(ranges);
	return rc;
}

int model_occupancy_vector(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                           const struct warp_options *options, struct warp_timing *out, struct gs_error *err)
{
	*out = (struct warp_timing){.simulated_fraction = 1};
	if (warps->groups == 0)
		return 0;
	int rc = blocks_per_sm ? check_launch(warps, err) : gs_fail(err, EINVAL, "no work-group is resident");
	if (rc)
		return rc;
	/* A grid that does not fill the GPU is spread evenly. */
	uint64_t even = warps->groups / gpu->sm_count + (warps->groups % gpu->sm_count != 0);
	out->resident_groups = even < blocks_per_sm ? (uint32_t)even : blocks_per_sm;
	return (options->hierarchy ? model_with_memory : model_machine)(gpu, warps, options, out, err);
}
