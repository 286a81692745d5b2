/*
 * How many work-groups an SM holds at once.
 *
 *   blocks = min(max_blocks, max_warps / w, register warps / w, shared / s)
 *   w: warps of a work-group; s: its shared memory with what the system reserves, rounded up to the allocation unit
 *   register warps = partitions * floor(registers / partitions / r); r: registers of a warp, rounded up likewise
 * Source: CUDA C programming guide, hardware multithreading, and the CUDA occupancy calculator.
 */
#include "models/gpu/occupancy.h"

static uint64_t divide_up(uint64_t a, uint64_t b)
{
	return a / b + (a % b != 0);
}

static uint64_t round_up(uint64_t a, uint64_t unit)
{
	return divide_up(a, unit) * unit;
}

/* What a thread's registers exceed its limit by, the assembler spills. */
uint32_t gpu_thread_registers(const struct gpu *gpu, uint32_t registers)
{
	if (registers && registers < gpu->min_registers_per_thread)
		return gpu->min_registers_per_thread;
	return registers < gpu->max_registers_per_thread ? registers : gpu->max_registers_per_thread;
}

static uint64_t warps_by_registers(const struct gpu *gpu, uint32_t registers)
{
	uint64_t per_thread = gpu_thread_registers(gpu, registers);
	uint64_t per_warp = round_up(per_thread * gpu->warp_size, gpu->register_allocation_unit);
	return gpu->registers_per_sm / gpu->register_partitions / per_warp * gpu->register_partitions;
}

static void limit_blocks(struct occupancy *o, uint64_t blocks, enum occupancy_limit limit)
{
	o->allowed[limit] = (uint32_t)blocks;
	if (blocks < o->blocks_per_sm) {
		o->blocks_per_sm = (uint32_t)blocks;
		o->limit = limit;
	}
}

struct occupancy gpu_occupancy(const struct gpu *gpu, uint64_t threads, uint32_t registers, uint64_t shared_bytes)
{
	uint64_t warps = divide_up(threads, gpu->warp_size);
	struct occupancy none = {.warps_per_block = warps < UINT32_MAX ? (uint32_t)warps : UINT32_MAX,
	                         .limit = OCCUPANCY_NONE,
	                         .allowed = {UINT32_MAX, UINT32_MAX, UINT32_MAX, UINT32_MAX}};
	if (threads == 0 || threads > gpu->max_threads_per_block || shared_bytes > gpu->max_shared_bytes_per_block)
		return none;

	struct occupancy o = none;
	o.blocks_per_sm = UINT32_MAX;
	limit_blocks(&o, gpu->max_warps_per_sm / warps, OCCUPANCY_WARPS);
	limit_blocks(&o, gpu->max_blocks_per_sm, OCCUPANCY_BLOCKS);
	if (registers)
		limit_blocks(&o, warps_by_registers(gpu, registers) / warps, OCCUPANCY_REGISTERS);
	uint64_t shared = round_up(shared_bytes + gpu->shared_reserved_per_block, gpu->shared_allocation_unit);
	if (shared)
		limit_blocks(&o, gpu->shared_bytes_per_sm / shared, OCCUPANCY_SHARED);
	if (o.blocks_per_sm == 0)
		o.limit = OCCUPANCY_NONE;
	o.fraction = (double)o.blocks_per_sm * (double)warps / gpu->max_warps_per_sm;
	return o;
}

double gpu_sm_use(const struct gpu *gpu, const struct occupancy *o, uint64_t groups)
{
	if (!o->blocks_per_sm)
		return 0;
	return groups < gpu->sm_count ? (double)groups / gpu->sm_count : 1;
}

double gpu_waves(const struct gpu *gpu, const struct occupancy *o, uint64_t groups)
{
	return o->blocks_per_sm ? (double)groups / ((double)gpu->sm_count * o->blocks_per_sm) : 0;
}

const char *occupancy_limit_name(enum occupancy_limit limit)
{
	switch (limit) {
	case OCCUPANCY_WARPS:
		return "warps";
	case OCCUPANCY_BLOCKS:
		return "blocks";
	case OCCUPANCY_REGISTERS:
		return "registers";
	case OCCUPANCY_SHARED:
		return "shared";
	case OCCUPANCY_GRID:
		return "grid";
	case OCCUPANCY_NONE:
		return "none";
	}
	return "unknown";
}
