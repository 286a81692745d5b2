/*
 * What each instruction did, and its share of the cycles:
 *
 *   cycles(i) = sum over kinds k of  by(k) * weight(k, i) / sum over j of weight(k, j)
 *
 * weight: executions by warps (issue, fetch, collectors), times operands read (bank conflicts), times the cycles that an
 * execution keeps its unit (units), times the latency of the result (dependency, memory).
 */
#include "models/warps/attribution.h"
#include "models/code/costs.h"
#include "models/warps/executions.h"

#include <string.h>

/* ---- executions ---- */

double path_accesses(const struct launch_warps *w, const struct warp_path *path, size_t next, uint32_t i)
{
	uint16_t n = path->accesses ? next < path->access_count ? path->accesses[next] : 1
	             : w->usual_accesses ? w->usual_accesses[i] : 1;
	return n ? n : 1;
}

static bool goes_through_l1(const struct code_instruction *i)
{
	return i->space == SPACE_global || i->space == SPACE_generic || i->space == SPACE_texture || i->space == SPACE_local;
}

static void count_execution(const struct launch_warps *w, const struct warp_path *path, size_t next, uint32_t i, double times,
                            void *data)
{
	struct instruction_count *count = (struct instruction_count *)data + i;
	const struct code_instruction *in = &w->code->code[i];
	count->warps += times;
	if (!code_has_accesses(in->class))
		return;
	count->transactions += times * path_accesses(w, path, next, i);
	if (path->requests && next < path->access_count && goes_through_l1(in)) {
		count->requests += times;
		count->sectors += times * path_sectors(path, next);
	}
}

int count_path_warps(const struct launch_warps *w, double *path_warps)
{
	for (uint64_t g = 0; g < w->pattern_groups; g++) {
		double groups = (double)warps_pattern_times(w, g);
		for (uint32_t n = 0; n < w->warps_per_group; n++) {
			uint32_t path = w->path_of[g * w->warps_per_group + n];
			if (path >= w->path_count)
				return -EINVAL;
			path_warps[path] += groups;
		}
	}
	return 0;
}

int count_warp_executions(const struct launch_warps *w, double times, struct instruction_count *counts)
{
	return each_execution(w, times, count_execution, counts);
}

/* ---- cycles ---- */

static bool is_load(const struct code_instruction *i)
{
	return code_is_memory(i->class) && i->writes;
}

static double unit_weight(const struct instruction_cost *cost, enum pipeline_resource unit, const struct code_instruction *i,
                          const struct instruction_count *n)
{
	if (cost->unit != unit)
		return 0;
	return cost->initiation * (code_has_accesses(i->class) ? n->transactions : n->warps);
}

static double weight(enum cycle_kind kind, const struct instruction_cost *cost, const struct code_instruction *i,
                     const struct instruction_count *n)
{
	switch (kind) {
	case CYCLES_issue:
	case CYCLES_fetch:
	case CYCLES_collectors:
		return n->warps;
	case CYCLES_bank_conflicts:
		return n->warps * i->reads;
	case CYCLES_unit_fp32:
		return unit_weight(cost, RESOURCE_fp32, i, n);
	case CYCLES_unit_int:
		return unit_weight(cost, RESOURCE_int, i, n);
	case CYCLES_unit_fp64:
		return unit_weight(cost, RESOURCE_fp64, i, n);
	case CYCLES_unit_sfu:
		return unit_weight(cost, RESOURCE_sfu, i, n);
	case CYCLES_unit_tensor:
		return unit_weight(cost, RESOURCE_tensor, i, n);
	case CYCLES_unit_ldst:
		return unit_weight(cost, RESOURCE_ldst, i, n);
	case CYCLES_shared:
		return i->space == SPACE_shared ? n->transactions : 0;
	case CYCLES_l1:
	case CYCLES_l2:
	case CYCLES_dram:
		return i->space == SPACE_shared || i->space == SPACE_param ? 0 : n->transactions;
	case CYCLES_atomics:
		return i->class == CODE_atomic ? n->transactions : 0;
	case CYCLES_dependency:
		return is_load(i) || !i->writes ? 0 : n->warps * cost->distance;
	case CYCLES_memory:
		return code_is_memory(i->class) ? n->warps * cost->distance + n->transactions : 0;
	case CYCLES_barrier:
		return i->class == CODE_barrier ? n->warps : 0;
	default:
		return 0; /* the launch's own */
	}
}

void attribute_kind(const struct gpu *gpu, const struct kernel_code *code, const struct instruction_count *counts,
                    enum cycle_kind kind, double all, double *cycles)
{
	double sum = 0;
	for (int pass = 0; pass < 2 && (!pass || sum > 0); pass++)
		for (uint32_t n = 0; n < code->code_count; n++) {
			struct instruction_cost cost = gpu_instruction_cost(gpu, &code->code[n]);
			double part = weight(kind, &cost, &code->code[n], &counts[n]);
			if (pass)
				cycles[n] += all * part / sum;
			else
				sum += part;
		}
}

void attribute_cycles(const struct gpu *gpu, const struct kernel_code *code, const struct instruction_count *counts,
                      const double by[CYCLE_KIND_COUNT], double *cycles)
{
	memset(cycles, 0, code->code_count * sizeof *cycles);
	for (int k = 0; k < CYCLE_KIND_COUNT; k++)
		if (by[k] > 0)
			attribute_kind(gpu, code, counts, (enum cycle_kind)k, by[k], cycles);
}

unsigned instruction_flops(const struct code_instruction *i, unsigned bits)
{
	switch ((enum code_class)i->class) {
	case CODE_fp32_fma:
		return bits == 32 ? 2 : 0;
	case CODE_fp32:
	case CODE_fp32_minmax:
	case CODE_fp32_div:
	case CODE_sfu:
		return bits == 32;
	case CODE_fp64_fma:
		return bits == 64 ? 2 : 0;
	case CODE_fp64:
	case CODE_fp64_minmax:
	case CODE_fp64_div:
		return bits == 64;
	default:
		return 0;
	}
}
