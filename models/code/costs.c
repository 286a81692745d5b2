/*
 * What one instruction takes of a GPU's pipeline.
 *
 *   distance = latency + pipeline_latency, less the cycle of reading operands where there are none
 *   a load's distance is its memory key (perfect memory: a hit in L1), whole, and + 1 per further access
 * Sources: the classes and memory keys of gpu.h; GPGPU-Sim's pipeline for which unit runs what.
 */
#include "models/code/costs.h"

#include "models/util/minmax.h"

const char *resource_name(enum pipeline_resource r)
{
#define NAME(name) #name,
	static const char *const names[] = {PIPELINE_RESOURCES(NAME)};
#undef NAME
	return (unsigned)r < RESOURCE_COUNT ? names[r] : "unknown";
}

/* Of what has units of its own, which are never the limit: what it takes of the others' time. */
#define LEAST_INITIATION 0.01

struct timing {
	double latency, initiation;
};

static bool has_tensor_units(const struct gpu *gpu, const struct code_instruction *i)
{
	if (!gpu->tensor_units)
		return false;
	return (i->class == CODE_tensor && gpu->tensor_initiation > 0) || (i->class == CODE_tensor_half && gpu->tensor_half_initiation > 0) ||
	       (i->class == CODE_tensor_fp64 && gpu->tensor_fp64_initiation > 0);
}

/*
 * Products of matrices: steps of the tensor units that follow one another. Without such units, each step is the fused multiply-adds of a warp
 * that it stands for: 16 by 8 sums of 16, 8 or 4 products.
 */
static struct timing tensor_timing(const struct gpu *gpu, const struct code_instruction *i)
{
	struct timing step = i->class == CODE_tensor      ? (struct timing){gpu->tensor_latency, gpu->tensor_initiation}
	                     : i->class == CODE_tensor_half ? (struct timing){gpu->tensor_half_latency, gpu->tensor_half_initiation}
	                                                    : (struct timing){gpu->tensor_fp64_latency, gpu->tensor_fp64_initiation};
	bool doubles = i->class == CODE_tensor_fp64;
	double steps = i->elements ? i->elements : 1;
	if (!has_tensor_units(gpu, i)) {
		steps *= 16 * 8 * (i->class == CODE_tensor ? 16 : doubles ? 4 : 8) / 32;
		step = doubles ? (struct timing){gpu->fp64_fma_latency, gpu->fp64_fma_initiation} : (struct timing){gpu->fp32_fma_latency, gpu->fp32_fma_initiation};
	}
	return (struct timing){step.latency + (steps - 1) * step.initiation, steps * step.initiation};
}

static struct timing class_timing(const struct gpu *gpu, const struct code_instruction *i)
{
	if (i->class == CODE_int_div && i->flags & CODE_REM && gpu->int_rem_initiation > 0)
		return (struct timing){gpu->int_rem_latency, gpu->int_rem_initiation};
	switch (i->class) {
#define TIMED(name)                                                                                                    \
	case CODE_##name:                                                                                              \
		return (struct timing){gpu->name##_latency, gpu->name##_initiation};
		CODE_TIMED_CLASSES(TIMED)
#undef TIMED
	case CODE_tensor:
	case CODE_tensor_half:
	case CODE_tensor_fp64:
		return tensor_timing(gpu, i);
	default:
		return (struct timing){gpu->move_latency, gpu->move_initiation};
	}
}

static enum gpu_unit_choice unit_override(const struct gpu *gpu, const struct code_instruction *i)
{
	switch (i->class) {
	case CODE_fp32_fma:
		return gpu->fp32_fma_unit;
	case CODE_fp64_fma:
		return gpu->fp64_fma_unit;
	case CODE_int_mul:
		return gpu->int_mul_unit;
	case CODE_int_mad:
		return gpu->int_mad_unit;
	case CODE_int_div:
		return i->flags & CODE_REM ? gpu->int_rem_unit : GPU_ON_auto;
	case CODE_shuffle:
		return gpu->shuffle_unit;
	default:
		return GPU_ON_auto;
	}
}

static enum gpu_unit_choice unit_by_name(enum code_class class)
{
	switch (class) {
	case CODE_fp32:
	case CODE_fp32_fma:
	case CODE_fp32_minmax:
	case CODE_tensor:
	case CODE_tensor_half:
		return GPU_ON_fp32;
	case CODE_fp64:
	case CODE_fp64_fma:
	case CODE_fp64_minmax:
	case CODE_tensor_fp64:
		return GPU_ON_fp64;
	case CODE_int_div:
	case CODE_fp32_div:
	case CODE_fp64_div:
	case CODE_sfu:
		return GPU_ON_sfu;
	default:
		return GPU_ON_int;
	}
}

static enum pipeline_resource class_unit(const struct gpu *gpu, const struct code_instruction *i)
{
	enum gpu_unit_choice unit = unit_override(gpu, i);
	if (has_tensor_units(gpu, i))
		return RESOURCE_tensor;
	if (unit == GPU_ON_auto)
		unit = unit_by_name(i->class);
	switch (unit) {
	case GPU_ON_int:
		return gpu->int_units ? RESOURCE_int : RESOURCE_fp32;
	case GPU_ON_fp64:
		return gpu->fp64_units ? RESOURCE_fp64 : RESOURCE_sfu;
	case GPU_ON_sfu:
		return RESOURCE_sfu;
	case GPU_ON_ldst:
		return RESOURCE_ldst;
	default:
		return RESOURCE_fp32;
	}
}

static bool is_control(enum code_class class)
{
	return class == CODE_branch || class == CODE_barrier || class == CODE_nop || class == CODE_uniform;
}

bool goes_by_table(const struct gpu *gpu, const struct code_instruction *i)
{
	return i->class == CODE_branch && i->elements == CODE_TABLE_WAY && gpu->table_wait_cycles;
}

double branch_wait(const struct gpu *gpu, const struct code_instruction *i)
{
	if (goes_by_table(gpu, i))
		return (double)max_u32(gpu->table_wait_cycles, gpu->table_way_cycles);
	return i->class == CODE_branch && !(i->flags & CODE_UNIFORM) ? (double)gpu->branch_wait_cycles : 0;
}

bool code_is_memory(enum code_class class)
{
	return class >= CODE_load && class <= CODE_texture;
}

bool code_has_accesses(enum code_class class)
{
	return (code_is_memory(class) && class != CODE_fence) || class == CODE_uniform;
}

/* Collector allocated, registers read, dispatched, started in the unit; no more than pipeline_latency has. */
double gpu_collect_cycles(const struct gpu *gpu, const struct code_instruction *i)
{
	double before = gpu->pipeline_latency < 4 ? gpu->pipeline_latency : 4;
	return i->reads || before < 1 ? before : before - 1;
}

/* Nobody waits for a store but the warp's end. */
static double store_distance(const struct gpu *gpu, const struct code_instruction *i, double start)
{
	return i->space != SPACE_shared && gpu->store_latency > start ? gpu->store_latency : start + 1;
}

/* L1 cannot answer an atomic: with perfect memory, too, it is done where atomics are. */
static double atomic_distance(const struct gpu *gpu)
{
	return gpu->atomic_fast_latency > 0 ? gpu->atomic_fast_latency : gpu->atomic_latency;
}

static double memory_distance(const struct gpu *gpu, const struct code_instruction *i, double start)
{
	if (i->class == CODE_store)
		return store_distance(gpu, i, start);
	if (i->class == CODE_fence)
		return start + 1;
	if (i->class == CODE_texture)
		return max_double(gpu->texture_latency, gpu->l1_latency);
	switch (i->space) {
	case SPACE_shared:
		return gpu->shared_latency;
	case SPACE_param:
	case SPACE_const:
		return gpu->const_latency;
	default:
		return i->class == CODE_atomic ? atomic_distance(gpu) : gpu->l1_latency;
	}
}

struct instruction_cost gpu_instruction_cost(const struct gpu *gpu, const struct code_instruction *i)
{
	double start = gpu_collect_cycles(gpu, i);
	if (code_is_memory(i->class)) {
		double distance = memory_distance(gpu, i, start);
		return (struct instruction_cost){.unit = RESOURCE_ldst,
		                                 .latency = distance > start ? distance - start : 0,
		                                 .initiation = 1,
		                                 .distance = distance};
	}
	struct timing t = class_timing(gpu, i);
	if (gpu->control_units && is_control((enum code_class)i->class))
		t.initiation = LEAST_INITIATION;
	/* An instruction that loads a parameter and is no access of the PTX. */
	bool parameter = i->class == CODE_nop && i->space == SPACE_const;
	double decided = parameter ? (double)gpu->const_latency : i->stall & CODE_STALL_APART ? 0 : i->stall;
	if (decided > 0)
		return (struct instruction_cost){.unit = class_unit(gpu, i),
		                                 .latency = max_double(decided - gpu->pipeline_latency, 0),
		                                 .initiation = t.initiation,
		                                 .distance = decided};
	bool reads = i->reads || gpu->pipeline_latency < 1;
	return (struct instruction_cost){.unit = class_unit(gpu, i),
	                                 .latency = t.latency,
	                                 .initiation = t.initiation,
	                                 .distance = t.latency + gpu->pipeline_latency - (reads ? 0 : 1)};
}

uint32_t gpu_unit_count(const struct gpu *gpu, enum pipeline_resource unit)
{
	switch (unit) {
	case RESOURCE_fetch:
		return gpu->fetches_per_cycle;
	case RESOURCE_issue:
		return gpu->schedulers_per_sm * gpu->issue_per_scheduler;
	case RESOURCE_collector:
		return gpu->operand_collectors;
	case RESOURCE_fp32:
		return gpu->fp32_units;
	case RESOURCE_int:
		return gpu->int_units;
	case RESOURCE_fp64:
		return gpu->fp64_units;
	case RESOURCE_sfu:
		return gpu->sfu_units;
	case RESOURCE_tensor:
		return gpu->tensor_units;
	case RESOURCE_ldst:
		return gpu->ldst_units;
	case RESOURCE_writeback:
		return gpu->result_buses;
	default:
		return 0;
	}
}

uint32_t gpu_collector_count(const struct gpu *gpu, enum pipeline_resource unit)
{
	uint32_t own = 0;
	switch (unit) {
#define OWN(name)                                                                                                      \
	case RESOURCE_##name:                                                                                          \
		own = gpu->name##_collectors;                                                                          \
		break;
		OWN(fp32) OWN(int) OWN(fp64) OWN(sfu) OWN(tensor) OWN(ldst)
#undef OWN
	default:
		break;
	}
	return own ? own : gpu->operand_collectors;
}
