/*
 * The optimistic model: perfect scheduling of all resources; and the same with contention.
 *
 *   T(wave of k groups) = max(latency of a group, k * usage of a group / units, for every resource)
 *   T = floor(n / r) * T(wave of r) + T(wave of n mod r);  n = groups of the busiest SM, r = groups resident at once
 * Usage is a mean over the launch's groups, and more on an SM whose groups have more to do than others; a group's latency
 * is that of its slowest warp, alone. By chance, a wave takes contention_cycles instead, and the last one drains: where
 * older warps go first, the youngest run alone at the end, and half of their latency is without company. Fetches go
 * round the warps, so that all warps are fetched for equally often.
 * Source: Gerum et al., probabilistic resource model, IV-A, Fig. 5; the drain is ours.
 */
#include "models/analytical/optimistic.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const char *limit_name(int limit)
{
	if (limit == LIMIT_latency)
		return "latency";
	if (limit == LIMIT_l2 || limit == LIMIT_dram)
		return limit == LIMIT_l2 ? "l2" : "dram";
	return limit == LIMIT_none ? "none" : resource_name(limit);
}

/* What an SM does, for one group of the launch on average. */
struct sm {
	const struct gpu *gpu;
	enum meeting meeting;
	double warps;                /* of a group */
	double limits[LIMIT_COUNT];  /* cycles per group */
	double collectors_alone;     /* of RESOURCE_collector and RESOURCE_writeback, without conflicts */
	double warp_latency, memory_share, ldst_variation;
};

/* Cycles that collectors are held: those of one kind of unit, or what all units share. Banks serve one access each. */
static double collector_cycles(const struct gpu *gpu, const struct usage *u, double extra)
{
	double most = gpu->banks_without_conflicts ? 0 : (u->reads + u->writes) / gpu->register_banks, shared = 0;
	for (int unit = RESOURCE_fp32; unit <= RESOURCE_ldst; unit++) {
		double held = u->collectors[unit] + extra * u->readers[unit];
		uint32_t count = gpu_collector_count(gpu, unit);
		if (count != gpu->operand_collectors)
			most = max_double(most, held / count);
		else
			shared += held;
	}
	return gpu->operand_collectors ? max_double(most, shared / gpu->operand_collectors) : most;
}

static void describe_sm(struct sm *sm, const struct gpu *gpu, const struct launch_warps *warps,
                        const struct launch_costs *c, const struct resource_extra *extra)
{
	double groups = (double)warps->groups, delay = extra->read_cycles + extra->write_cycles;
	*sm = (struct sm){.gpu = gpu, .warps = warps->warps_per_group};
	for (int r = 0; r < RESOURCE_COUNT; r++) {
		uint32_t units = gpu_unit_count(gpu, r);
		sm->limits[r] = units ? max_double(c->total.busy[r] / units, c->slot_cycles[r]) / groups : 0;
	}
	double writeback = sm->limits[RESOURCE_writeback];
	sm->limits[RESOURCE_writeback] += extra->write_cycles * c->total.writers / gpu->result_buses / groups;
	sm->limits[RESOURCE_collector] = collector_cycles(gpu, &c->total, extra->read_cycles) / groups;
	sm->collectors_alone = max_double(collector_cycles(gpu, &c->total, 0) / groups, writeback);
	sm->limits[LIMIT_latency] = c->group_latency + delay * c->group_waits;
	sm->warp_latency = c->warp_latency + delay * c->warp_waits;
	sm->ldst_variation = c->ldst_variation;
	sm->memory_share = c->group_latency > 0 ? min_double(c->group_memory_stall / c->group_latency, 1) : 0;
}

/* A wave of groups. With fewer warps than schedulers, some schedulers have nothing to issue. */
static void wave_limits(const struct sm *sm, double groups, double limits[LIMIT_COUNT])
{
	for (int r = 0; r < LIMIT_COUNT; r++)
		limits[r] = sm->limits[r] * (r == LIMIT_latency ? 1 : groups);
	double idle = sm->gpu->schedulers_per_sm / (groups * sm->warps);
	limits[RESOURCE_issue] *= max_double(idle, 1);
}

static double contention(const struct sm *sm, double groups, const double limits[LIMIT_COUNT])
{
	double demands[RESOURCE_COUNT], warps = floor(groups * sm->warps);
	const double variation[RESOURCE_COUNT] = {[RESOURCE_ldst] = sm->ldst_variation};
	for (int r = 0; r < RESOURCE_COUNT; r++)
		demands[r] = limits[r] / (groups * sm->warps);
	/* How long collectors and buses are held is part of the latency, not a service of its own. */
	demands[RESOURCE_writeback] = 0;
	return contention_cycles(demands, variation, RESOURCE_COUNT, sm->warp_latency, (uint32_t)min_double(warps, 1 << 16));
}

static double drained(const struct sm *sm, double groups, const double limits[LIMIT_COUNT])
{
	bool oldest_first = sm->gpu->scheduler_policy == GPU_SCHEDULER_gto ||
	                    sm->gpu->scheduler_policy == GPU_SCHEDULER_oldest;
	double others = max_double(1 - 1 / (groups * sm->warps), 0), cycles = limits[RESOURCE_fetch];
	for (int r = 0; r < RESOURCE_COUNT; r++)
		if (r != RESOURCE_fetch && limits[r] > 0)
			cycles = max_double(cycles, limits[r] + (oldest_first ? others * limits[LIMIT_latency] / 2 : 0));
	return cycles;
}

static int largest_limit(const double limits[LIMIT_COUNT])
{
	int most = LIMIT_none;
	for (int r = 0; r < LIMIT_COUNT; r++)
		if (limits[r] > 0 && limits[r] > limits[most])
			most = r;
	return most;
}

/* Each kind gets what it takes beyond those before it. */
static void explain_wave(const struct sm *sm, const double limits[LIMIT_COUNT], double groups, double cycles,
                         double times, double by[CYCLE_KIND_COUNT])
{
	const struct {
		enum cycle_kind kind;
		double cycles;
	} steps[] = {
		{CYCLES_issue, limits[RESOURCE_issue]},
		{CYCLES_fetch, limits[RESOURCE_fetch]},
		{CYCLES_unit_fp32, limits[RESOURCE_fp32]},
		{CYCLES_unit_int, limits[RESOURCE_int]},
		{CYCLES_unit_fp64, limits[RESOURCE_fp64]},
		{CYCLES_unit_sfu, limits[RESOURCE_sfu]},
		{CYCLES_unit_tensor, limits[RESOURCE_tensor]},
		{CYCLES_unit_ldst, limits[RESOURCE_ldst]},
		{CYCLES_collectors, sm->collectors_alone * groups},
		{CYCLES_bank_conflicts, max_double(limits[RESOURCE_collector], limits[RESOURCE_writeback])},
	};
	double reached = 0;
	for (size_t i = 0; i < GS_ARRAY_LEN(steps); i++) {
		double to = max_double(reached, min_double(steps[i].cycles, cycles));
		by[steps[i].kind] += times * (to - reached);
		reached = to;
	}
	by[CYCLES_memory] += times * (cycles - reached) * sm->memory_share;
	by[CYCLES_dependency] += times * (cycles - reached) * (1 - sm->memory_share);
}

/* What all SMs share cannot be faster than its bandwidth. */
static void limit_by(struct optimistic_timing *out, int limit, enum cycle_kind kind, double cycles)
{
	out->limits[limit] = cycles;
	if (cycles <= out->cycles)
		return;
	out->by[kind] += cycles - out->cycles;
	out->cycles = cycles;
}

/* `times` waves of groups; the last one of an SM ends the launch. */
static void add_waves(const struct sm *sm, double groups, double times, bool last, struct optimistic_timing *out)
{
	double limits[LIMIT_COUNT], cycles, end;
	if (!(groups > 0) || !(times > 0))
		return;
	wave_limits(sm, groups, limits);
	cycles = limits[largest_limit(limits)];
	if (sm->meeting == MEETING_by_chance)
		cycles = max_double(cycles, contention(sm, groups, limits));
	end = last && sm->meeting == MEETING_by_chance ? max_double(drained(sm, groups, limits), cycles) : cycles;
	for (int r = 0; r < LIMIT_COUNT; r++)
		out->limits[r] += times * limits[r];
	out->cycles += times * cycles + (end - cycles);
	explain_wave(sm, limits, groups, cycles, times, out->by);
	out->by[CYCLES_tail] += end - cycles;
}

/* A wave that is not full takes longer than its share: that is the tail. */
static void explain_tail(struct optimistic_timing *out, double before, double share)
{
	double tail = out->cycles - before - share;
	if (tail <= 0 || out->by[CYCLES_tail] >= tail)
		return;
	double move = tail - out->by[CYCLES_tail], from = min_double(move, out->by[CYCLES_dependency]);
	out->by[CYCLES_dependency] -= from;
	double rest = min_double(move - from, out->by[CYCLES_memory]);
	out->by[CYCLES_memory] -= rest;
	out->by[CYCLES_tail] += from + rest;
}

void optimistic_time(const struct gpu *gpu, const struct launch_warps *warps, const struct launch_costs *costs,
                     uint32_t blocks_per_sm, const struct resource_extra *extra, enum meeting meeting,
                     struct optimistic_timing *out)
{
	static const struct resource_extra none = {0, 0};
	struct sm sm;
	*out = (struct optimistic_timing){.limiter = LIMIT_none};
	if (!(costs->total.instructions > 0))
		return;
	describe_sm(&sm, gpu, warps, costs, extra ? extra : &none);
	sm.meeting = meeting;
	double groups = ceil((double)warps->groups / gpu->sm_count), resident = blocks_per_sm ? blocks_per_sm : 1;
	out->resident_groups = (uint32_t)min_double(resident, groups);
	out->sm_groups = busiest_sm_groups(gpu, warps, costs, out->resident_groups);
	out->waves = groups / out->resident_groups;
	for (int r = 0; r < RESOURCE_COUNT; r++)
		sm.limits[r] *= out->sm_groups / groups;
	sm.collectors_alone *= out->sm_groups / groups;
	out->warp_instructions = costs->total.instructions;
	out->register_reads = costs->total.reads;
	out->register_writes = costs->total.writes;

	double full = floor(out->waves), rest = groups - full * out->resident_groups;
	add_waves(&sm, out->resident_groups, full, !(rest > 0), out);
	double before = out->cycles;
	add_waves(&sm, rest, 1, true, out);
	if (full > 0)
		explain_tail(out, before, before / full * rest / out->resident_groups);
	if (out->cycles < costs->longest_latency) {
		out->by[CYCLES_tail] += costs->longest_latency - out->cycles;
		out->cycles = costs->longest_latency;
	}
	limit_by(out, LIMIT_l2, CYCLES_l2, warps->l2_cycles);
	limit_by(out, LIMIT_dram, CYCLES_dram, warps->dram_cycles);
	out->limiter = largest_limit(out->limits);
}

int model_optimistic(const struct gpu *gpu, const struct launch_warps *warps, uint32_t blocks_per_sm,
                     const struct resource_extra *extra, struct optimistic_timing *out, struct gs_error *err)
{
	struct launch_costs costs;
	int rc = launch_costs(gpu, warps, &costs, err);
	*out = (struct optimistic_timing){.limiter = LIMIT_none};
	if (!rc)
		optimistic_time(gpu, warps, &costs, blocks_per_sm, extra, MEETING_planned, out);
	launch_costs_free(&costs);
	return rc;
}
