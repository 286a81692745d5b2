/* From an estimate to what a launch takes of the GPU; see launch_demand.h. */
#include "runtime/estimates/launch_demand.h"

#include <math.h>

static double known(double share)
{
	return isnan(share) ? 0 : share;
}

static double sum_of(const struct estimate *e, const enum cycle_kind *kinds, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += e->by[kinds[i]];
	return sum;
}

/*
 * A throughput is used by what goes through it, and is full where warps wait for their turn: neither is left for others. e->by has
 * cycles of SMs with groups. The rest is of all SMs.
 */
static double issue_use(const struct gpu *gpu, const struct estimate *e, double cycles, double sms)
{
	static const enum cycle_kind full[] = {CYCLES_unit_fp32, CYCLES_unit_int, CYCLES_unit_fp64, CYCLES_unit_sfu, CYCLES_unit_tensor,
	                                       CYCLES_unit_ldst, CYCLES_collectors, CYCLES_bank_conflicts, CYCLES_shared, CYCLES_l1};
	double slots = cycles * gpu->sm_count * gpu->schedulers_per_sm * gpu->issue_per_scheduler;
	return (double)e->machine_instructions / slots + sms * sum_of(e, full, sizeof full / sizeof *full) / cycles;
}

struct command_demand launch_demand(const struct gpu *gpu, const struct launch_profile *launch, const struct estimate *e)
{
	static const enum cycle_kind l2[] = {CYCLES_l2, CYCLES_atomics}, memory[] = {CYCLES_memory, CYCLES_l2, CYCLES_dram};
	struct launch_alone l = {.groups = launch->groups[0] * launch->groups[1] * launch->groups[2], .occupancy = e->occupancy};
	double overhead = (launch->cuda ? gpu->cuda_launch_overhead_ns : gpu->launch_overhead_ns) + e->by[CYCLES_pages] * 1000 / gpu->clock_mhz;
	double share = e->time_ns > 0 ? fmin(1, overhead / e->time_ns) : 0;
	l.launch = overhead > gpu->cuda_launch_overhead_ns ? share * gpu->cuda_launch_overhead_ns / overhead : share;
	l.driver = share - l.launch;
	double cycles = e->cycles * (1 - share);
	if (cycles > 0) {
		l.memory = fmin(1, sum_of(e, memory, sizeof memory / sizeof *memory) / cycles);
		l.use[THROUGHPUT_ISSUE] = fmin(1, issue_use(gpu, e, cycles, gpu_sm_use(gpu, &e->occupancy, l.groups)));
		l.use[THROUGHPUT_L2] = fmin(1, known(e->memory.l2_share) + sum_of(e, l2, sizeof l2 / sizeof *l2) / cycles);
		l.use[THROUGHPUT_DRAM] = fmin(1, known(e->memory.dram_share) + e->by[CYCLES_dram] / cycles);
	}
	return demand_of_launch(gpu, &l);
}
