/*
 * Peak rates:
 *   operations = 2 * min(units / initiation interval, issue slots) * lanes * SMs * clock
 *   L1         = load/store units / initiation interval * l1_access_bytes * SMs * clock
 *   L2         = min(slices * l2_slice_bytes, flits that slices send, flits that SMs take) * clock; a flit carries a sector of 32 bytes
 */
#include "models/code/peaks.h"

#include "models/code/costs.h"

#include <math.h>

enum { SECTOR_BYTES = 32 };

double gpu_peak_gflops(const struct gpu *gpu, enum code_class fma)
{
	struct instruction_cost cost = gpu_instruction_cost(gpu, &(struct code_instruction){.class = (uint8_t)fma});
	double units = gpu_unit_count(gpu, cost.unit) / cost.initiation, issue = gpu->schedulers_per_sm * gpu->issue_per_scheduler;
	return 2 * fmin(units, issue) * gpu->warp_size * gpu->sm_count * gpu->clock_mhz / 1000;
}

double gpu_l1_gbps(const struct gpu *gpu)
{
	struct instruction_cost cost = gpu_instruction_cost(gpu, &(struct code_instruction){.class = CODE_load, .space = SPACE_global});
	double accesses = gpu_unit_count(gpu, RESOURCE_ldst) / cost.initiation;
	return accesses * (double)gpu->l1_access_bytes * gpu->sm_count * gpu->clock_mhz / 1000;
}

double gpu_l2_gbps(const struct gpu *gpu)
{
	double slices = gpu->l2_slices * fmin((double)gpu->l2_slice_bytes, gpu->icnt_slice_flits * SECTOR_BYTES);
	return fmin(slices, gpu->sm_count * gpu->icnt_sm_flits * SECTOR_BYTES) * gpu->clock_mhz / 1000;
}
