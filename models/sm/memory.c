/* Occupancy vector: an SM's memory, its making and its end. What it does is in models/sm/memory.h. */
#include "models/accesses/coalesce.h"
#include "models/gpu/l1_split.h"
#include "models/sm/state/sm.h"
#include "models/traffic/footprint.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <stdlib.h>

int ov_memory_init(struct ov_sm *sm, struct memory_system *system, uint32_t index)
{
	const struct gpu *gpu = sm->m->gpu;
	struct ov_memory *o = calloc(1, sizeof *o);
	if (!o)
		return -ENOMEM;
	const struct ov_machine *m = sm->m;
	uint64_t threads = (uint64_t)m->warps_per_group * gpu->warp_size, most = max_u64(m->options->most_groups, m->groups_per_sm);
	struct l1_config config = {.bytes = gpu_l1_left(gpu, threads, m->options->shared_bytes, m->groups_per_sm, most),
	                           .line_bytes = gpu->l1_line_bytes,
	                           .mshrs = gpu->l1_mshrs,
	                           .merges = gpu->l1_mshr_merges,
	                           .hash = gpu->l1_set_hash,
	                           .sectored = gpu->l1_sector_bytes < gpu->l1_line_bytes,
	                           .on_fill = gpu->l1_allocate_on_fill,
	                           .store_evicts = gpu->l1_store_evicts,
	                           .local_write_back = gpu->l1_local_write_back,
	                           .store_allocates = gpu->l1_store_allocates};
	/* l1_ways is of all l1_bytes: a smaller L1 has fewer ways of as many sets. */
	uint64_t sets = gpu->l1_bytes / gpu->l1_line_bytes / gpu->l1_ways;
	config.ways = (uint32_t)(sets ? config.bytes / gpu->l1_line_bytes / sets : gpu->l1_ways);
	config.ways = config.ways ? config.ways : 1;
	sm->memory = o;
	if (sm->line_miss && gpu->icache_cold_cycles)
		sm->line_miss = gpu->icache_cold_cycles;
	o->system = system;
	o->index = index;
	o->access_pool = (struct pool)POOL_EMPTY;
	o->next_step = OV_NEVER;
	o->room = (gpu->l1_lookup_cycles ? gpu->l1_lookup_cycles : 1) * gpu->l1_tags_per_cycle;
	o->hit_cycles = memory_hit_cycles(gpu, sm->m->front[1] ? sm->m->front[1] - 1 : 0);
	o->l1 = l1_new(&config);
	o->moved = sm->m->gap_room ? calloc(2 * COALESCE_MOST_PARTS, sizeof *o->moved) : NULL;
	o->leaving = calloc(gpu->l1_miss_queue, sizeof *o->leaving);
	o->constant_entries = calloc(gpu->const_mshrs | !gpu->const_mshrs, sizeof *o->constant_entries);
	o->uniform_lines_each = (uint32_t)(gpu->const_uniform_bytes / gpu->const_access_bytes);
	o->uniform_lines = calloc((size_t)m->schedulers * o->uniform_lines_each + 1, sizeof *o->uniform_lines);
	int rc = tags_init(&o->constants, gpu->const_bytes / gpu->const_access_bytes, gpu->const_ways);
	if (!rc && gpu->icache_line_instructions)
		rc = tags_init(&o->lines, gpu->icache_bytes / (gpu->icache_line_instructions * GPU_INSTRUCTION_BYTES), gpu->icache_ways);
	return o->l1 && o->leaving && o->constant_entries && o->uniform_lines && (o->moved || !sm->m->gap_room) ? rc : -ENOMEM;
}

void ov_memory_free(struct ov_sm *sm)
{
	struct ov_memory *o = sm->memory;
	if (!o)
		return;
	l1_free(o->l1);
	tags_free(&o->constants);
	tags_free(&o->lines);
	free(o->accesses);
	free(o->parts);
	free(o->leaving);
	free(o->constant_entries);
	free(o->uniform_lines);
	free(o->moved);
	free(o);
	sm->memory = NULL;
}

/* Parts of requests that caches will be asked for, a few at a time: the host fetches what L1 knows of them meanwhile. */
struct touches {
	struct ov_sm *sm;
	struct touch {
		uint64_t address;
		uint32_t sectors;
		bool store;
	} parts[8];
	uint32_t given, taken;
};
enum { MOST_TOUCHES = sizeof(((struct touches *)NULL)->parts) / sizeof(struct touch) };

static void take_touch(struct touches *t)
{
	const struct touch *p = &t->parts[t->taken++ % MOST_TOUCHES];
	if (p->store || !l1_touch(t->sm->memory->l1, p->address, p->sectors))
		memory_touch(t->sm->memory->system, p->address, p->store);
}

static void touch_part(struct touches *t, const struct ov_op *op, uint64_t address, uint32_t sectors)
{
	const struct gpu *gpu = t->sm->m->gpu;
	bool store = op->latency_rule == OV_STORE || op->class == CODE_atomic;
	if (gpu->l1_sector_bytes >= gpu->l1_line_bytes && !store)
		sectors = (uint32_t)((1ull << gpu->l1_line_bytes / MEMORY_SECTOR) - 1);
	if (!store)
		l1_prefetch(t->sm->memory->l1, address);
	if (t->given - t->taken == MOST_TOUCHES)
		take_touch(t);
	t->parts[t->given++ % MOST_TOUCHES] = (struct touch){address, sectors | !sectors, store};
}

void ov_memory_touch(struct ov_sm *sm, uint32_t slot, uint32_t gap, double round, uint32_t first, uint32_t end)
{
	const struct launch_warps *launch = sm->m->launch;
	const struct ov_warp *w = &sm->warps[slot];
	const struct path_gap *g = &w->path->gaps[gap];
	const struct ov_group *group = &sm->groups[w->group];
	const struct path_requests *r = w->path->requests;
	uint64_t line = sm->m->gpu->l1_line_bytes;
	struct touches touches;
	touches.sm = sm;
	touches.given = touches.taken = 0;
	uint32_t n = 0;
	for (uint32_t b = g->from; b < end && r && g->shifts; b++) {
		const struct code_block *block = &launch->code->blocks[w->path->blocks[b]];
		const struct ov_block *known = &sm->m->blocks[w->path->blocks[b]];
		if (b < first || !known->touches) {
			n += known->accesses;
			continue;
		}
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			const struct ov_op *op = &sm->ops[i];
			if (!op->accesses)
				continue;
			uint32_t access = n++;
			bool global = ov_goes_to_caches(op);
			for (uint32_t p = r->first[g->first_access + access]; global && p < r->first[g->first_access + access + 1]; p++) {
				uint64_t address = r->parts[p].address;
				if (group->moves)
					address = launch_address(launch, i, address, group->id, group->moved, line);
				address = round_address(&g->shifts[access], address, round, g->iterations, group->id, line);
				touch_part(&touches, op, address / line * line, r->parts[p].sectors);
			}
		}
	}
	while (touches.taken < touches.given)
		take_touch(&touches);
}

struct ov_memory_counts ov_memory_counts(const struct ov_sm *sm)
{
	struct ov_memory_counts c = sm->memory->counts;
	c.latency_sum = sm->memory->latency_sum;
	c.latency_count = sm->memory->latency_count;
	return c;
}
