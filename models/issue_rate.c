/*
 * The first model: the instructions of the fullest SM over the rate at which it issues.
 *
 *   cycles = ceil(groups / SMs) * w * n / (min(schedulers, resident warps) * issue_per_scheduler) + launch overhead
 *   w: warps of a work-group; n: instructions of the kernel, each taken to run once per warp; no latency, no memory
 * Source: the issue bound of GPGPU-Sim's pipeline (instructions / schedulers); a lower bound where loops are absent.
 */
#include "models/models.h"

/* Sizes come from applications: a product that does not fit stays at the largest number. */
static uint64_t multiply(uint64_t a, uint64_t b)
{
	uint64_t product;
	return __builtin_mul_overflow(a, b, &product) ? UINT64_MAX : product;
}

static uint64_t volume(const uint64_t size[3])
{
	return multiply(multiply(size[0], size[1]), size[2]);
}

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static double smaller(double a, double b)
{
	return a < b ? a : b;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a > UINT64_MAX - b ? UINT64_MAX : a + b;
}

static struct occupancy launch_occupancy(const struct gpu *gpu, const struct launch_profile *launch, uint64_t groups)
{
	const struct kernel_code *code = launch->code;
	struct occupancy o = gpu_occupancy(gpu, volume(launch->local), code->registers,
	                                   add(launch->local_bytes, code->shared_bytes));
	if (o.limit != OCCUPANCY_NONE && groups < (uint64_t)o.blocks_per_sm * gpu->sm_count)
		o.limit = OCCUPANCY_GRID;
	return o;
}

/* A work-group that does not fit is taken to run alone. */
static double issue_cycles(const struct gpu *gpu, const struct occupancy *o, uint64_t groups, uint64_t group_warps,
                           uint64_t instructions)
{
	double sm_groups = (double)divide_up(groups, gpu->sm_count), warps = (double)group_warps;
	if (sm_groups * warps == 0)
		return 0;
	double resident = smaller(o->blocks_per_sm ? o->blocks_per_sm : 1, sm_groups) * warps;
	double rate = smaller(gpu->schedulers_per_sm, resident) * gpu->issue_per_scheduler;
	return sm_groups * warps * (double)instructions / rate;
}

static double lane_efficiency(const struct gpu *gpu, const struct launch_profile *launch, uint64_t warps)
{
	return warps ? smaller(1, (double)volume(launch->global) / ((double)warps * gpu->warp_size)) : 0;
}

void model_issue_rate(const struct gpu *gpu, const struct launch_profile *launch, struct estimate *out)
{
	uint64_t groups = volume(launch->groups), group_warps = divide_up(volume(launch->local), gpu->warp_size);
	uint64_t instructions = launch->code->instructions;

	*out = (struct estimate){.model = "issue_rate", .flags = {"first_model"}};
	out->warps = multiply(groups, group_warps);
	out->thread_instructions = multiply(launch->entries, instructions);
	out->warp_instructions = multiply(out->warps, instructions);
	out->lane_efficiency = lane_efficiency(gpu, launch, out->warps);
	out->occupancy = launch_occupancy(gpu, launch, groups);
	if (out->warps && out->occupancy.limit == OCCUPANCY_NONE)
		out->flags[1] = "does_not_fit";

	out->issue_cycles = issue_cycles(gpu, &out->occupancy, groups, group_warps, instructions);
	out->launch_cycles = gpu->launch_overhead_ns * gpu->clock_mhz / 1000;
	out->cycles = out->issue_cycles + out->launch_cycles;
	out->limiter = out->issue_cycles > 0 && out->issue_cycles >= out->launch_cycles ? "issue" : "launch";
	out->time_ns = out->cycles * 1000 / gpu->clock_mhz;
	/* Nothing here says how far off it is: no band is claimed. */
	out->low_ns = out->high_ns = out->time_ns;
}
