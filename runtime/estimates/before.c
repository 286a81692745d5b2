#include "runtime/estimates/before.h"

#include "models/accesses/image.h"
#include "models/accesses/requests.h"
#include "models/most_bytes.h"
#include "models/stored.h"
#include "models/util/minmax.h"

#include <math.h>

/* A launch that asks for few bytes does not use all of a large buffer. Where all buffers fit into L2 together, it does not matter. */
static void bound_uses(const struct gpu *gpu, const struct launch_profile *p, struct memory_use *uses, size_t count)
{
	uint64_t all = 0;
	for (size_t i = 0; i < count; i++)
		all += uses[i].bytes;
	if (all <= gpu->l2_bytes / gpu->l2_partitions || !p->counts)
		return;
	double most = launch_most_bytes(p);
	for (size_t i = 0; i < count && most < 1e18; i++)
		uses[i].bytes = min_u64(uses[i].bytes, (uint64_t)most);
}

/* The arguments whose memory is stored to, by whatever argument points into it. */
static uint32_t stored_memory(const struct launch_record *l, const struct launch_profile *p, size_t count)
{
	uint32_t stored = stored_arguments(p->code), memory = stored;
	for (size_t i = 0; i < count && l->argument_values; i++) {
		uint64_t argument = argument_of_address(l->argument_values[i]);
		if (stored >> i & 1 && argument < count)
			memory |= 1u << argument;
	}
	return memory;
}

/* Whether work-items, all of which fit at once, store a result each and no more: results then come when all groups end. */
static bool store_last(const struct gpu *gpu, const struct launch_profile *p, uint64_t most_stored)
{
	enum { RESULT = 16 }; /* bytes: the largest store of a lane */
	uint64_t items = p->global[0] * p->global[1] * p->global[2];
	return items <= (uint64_t)gpu->sm_count * gpu->max_warps_per_sm * gpu->warp_size && most_stored <= RESULT * items;
}

static void find_memory_before(struct memory_history *h, const struct gpu *gpu, const struct launch_record *l, struct launch_profile *p)
{
	enum { MOST_BYTES = 1 << 30 }; /* times as many arguments do not overflow; no L2 is as large */
	struct memory_use uses[MEMORY_ARGUMENTS] = {0};
	size_t count = l->argument_memory && l->argument_bytes ? min_u64(l->argument_count, MEMORY_ARGUMENTS) : 0;
	uint32_t stored = stored_memory(l, p, count);
	uint64_t most = p->counts ? (uint64_t)fmin(launch_most_stored(p), MOST_BYTES) : MOST_BYTES;
	for (size_t i = 0; i < count; i++) {
		const struct argument_memory *m = &l->argument_memory[i];
		uint64_t bytes = min_u64(argument_memory(l->argument_bytes[i]), MOST_BYTES);
		uint64_t own = stored >> i & 1 ? min_u64(bytes, most) : 0;
		if (!m->buffer || !bytes)
			continue;
		uses[i] = (struct memory_use){
			.buffer = m->buffer,
			.bytes = bytes,
			.copied = min_u64(m->copied, bytes),
			.largest = m->largest,
			.written = min_u64(m->written, bytes),
			.stored = own,
			.last = own == bytes && store_last(gpu, p, most),
		};
	}
	bound_uses(gpu, p, uses, count);
	memory_history_launch(h, gpu, uses, count, &p->memory_before);
}

void find_state_before(struct gpu_state *s, const struct gpu *gpu, const struct launch_record *l, uint64_t number, struct launch_profile *p)
{
	uint64_t groups = p->groups[0] * p->groups[1] * p->groups[2];
	p->code_before = code_history_launch(&s->code, gpu, number, p->code->code_count, groups);
	p->parameters_before = constant_history_launch(&s->constants, gpu, groups);
	find_memory_before(&s->memory, gpu, l, p);
}
