#include "models/gpu/l1_split.h"

#include "models/util/minmax.h"

#include <stdlib.h>

enum { KB = 1024, STEP = 8 * KB, SMALL_GROUP = 512 };

/* The least of the sizes that is as large; the largest, if none is. */
static uint64_t least_size(const struct gpu *gpu, uint64_t bytes)
{
	uint64_t size = 0;
	for (const char *at = gpu->shared_carveouts; *at >= '0' && *at <= '9'; at++) {
		char *end;
		size = strtoull(at, &end, 10) * KB;
		if (size >= bytes || *end != ',')
			break;
		at = end;
	}
	return size;
}

static uint64_t carved_out(const struct gpu *gpu, uint64_t threads, uint64_t shared_bytes, uint64_t groups, uint64_t all)
{
	uint64_t unit = gpu->shared_allocation_unit, each = (shared_bytes + gpu->shared_reserved_per_block + unit - 1) / unit * unit;
	uint64_t needed = least_size(gpu, each * groups);
	if (threads > SMALL_GROUP)
		return needed;
	uint64_t more = min_u64(groups * gpu->shared_carveout_room, gpu->max_blocks_per_sm);
	return max_u64(needed, min_u64(least_size(gpu, each * more), least_size(gpu, all / 2)));
}

uint64_t gpu_l1_left(const struct gpu *gpu, uint64_t threads, uint64_t shared_bytes, uint64_t groups, uint64_t most)
{
	uint64_t all = max_u64(gpu->l1_shared_bytes, gpu->l1_bytes), taken;
	if (!gpu->l1_unified || !shared_bytes || shared_bytes > gpu->max_shared_bytes_per_block)
		return gpu->l1_bytes;
	if (least_size(gpu, 0))
		taken = carved_out(gpu, threads, shared_bytes, most, all);
	else
		taken = (shared_bytes * groups + STEP - 1) / STEP * STEP;
	return all > taken ? min_u64(gpu->l1_bytes, all - taken) : 0;
}
