/* An SM in memory: one allocation, so that a copy of its bytes is a copy of its state. */
#include "models/sm/state/sm.h"

#include "models/util/minmax.h"

#include <stdlib.h>
#include <string.h>

/* One allocation holds an SM, so that copying it copies its state; base is NULL while its size is taken. */
enum { ARENA_ALIGNMENT = 64 }; /* a line of the host's cache */
struct arena {
	char *base;
	size_t used;
};

static void *reserve(struct arena *a, size_t count, size_t size)
{
	size_t at = a->used;
	a->used += (count * size + ARENA_ALIGNMENT - 1) / ARENA_ALIGNMENT * ARENA_ALIGNMENT;
	return a->base ? a->base + at : NULL;
}

static void lay_out_schedulers(struct ov_sm *sm, const struct ov_machine *m, struct arena *a)
{
	struct ov_scheduler *s = reserve(a, m->schedulers, sizeof *s), none;
	sm->schedulers = s;
	for (uint32_t i = 0; i < m->schedulers; i++) {
		struct ov_scheduler *one = s ? &s[i] : &none;
		one->places = m->position_words == 1 ? one->word : reserve(a, (size_t)m->position_words * OV_PLACES, sizeof(uint64_t));
		one->unfinished = reserve(a, m->position_words, sizeof(uint64_t));
		one->active = reserve(a, m->position_words, sizeof(uint64_t));
		one->slot_at = reserve(a, m->positions, sizeof(uint32_t));
	}
}

static void lay_out_partitions(struct ov_sm *sm, const struct ov_machine *m, struct arena *a)
{
	struct ov_partition none;
	for (uint32_t i = 0; i < m->partitions; i++) {
		struct ov_partition *one = a->base ? &sm->partitions[i] : &none;
		one->reading = reserve(a, m->collector_total, sizeof *one->reading);
		for (uint32_t k = 0; k < OV_KINDS; k++) {
			one->lanes[k].port = reserve(a, m->ports[k], sizeof *one->lanes[k].port);
			one->lanes[k].collected = reserve(a, m->ports[k] + 1, sizeof *one->lanes[k].collected);
		}
	}
	sm->collectors = reserve(a, (size_t)m->partitions * m->collector_total, sizeof *sm->collectors);
	sm->more = reserve(a, (size_t)m->partitions * m->collector_total, m->max_reads);
}

static void lay_out(struct ov_sm *sm, const struct ov_machine *m, struct arena *a)
{
	reserve(a, 1, sizeof *sm + m->partitions * sizeof *sm->partitions);
	sm->warps = reserve(a, m->slots, sizeof *sm->warps);
	sm->rounds = reserve(a, (size_t)m->slots * m->gap_room, sizeof *sm->rounds);
	sm->registers = reserve(a, (size_t)m->slots * m->register_count, sizeof *sm->registers);
	sm->hungry = reserve(a, m->slot_words, sizeof(uint64_t));
	sm->retirable = reserve(a, m->slot_words, sizeof(uint64_t));
	sm->groups = reserve(a, m->groups_per_sm, sizeof *sm->groups);
	lay_out_schedulers(sm, m, a);
	lay_out_partitions(sm, m, a);
	sm->units = reserve(a, m->units, sizeof *sm->units);
	sm->bus = reserve(a, m->bus_places, sizeof *sm->bus);
	sm->line_ready = reserve(a, m->line_count, sizeof(uint64_t));
	sm->replies = reserve(a, m->slots, sizeof *sm->replies);
	sm->fills = reserve(a, m->fill_places, sizeof *sm->fills);
}

static size_t sm_bytes(const struct ov_machine *m)
{
	struct arena size = {NULL, 0};
	struct ov_sm scratch;
	lay_out(&scratch, m, &size);
	return size.used;
}

/* Returns how many collectors there are up to and with this pool. */
static uint32_t start_pool(struct ov_sm *sm, uint32_t partition, uint32_t pool, uint32_t collectors)
{
	const struct ov_machine *m = sm->m;
	struct ov_pool *p = &sm->partitions[partition].pools[pool];
	bool one_kind = pool < OV_KINDS;
	p->first = collectors;
	p->size = one_kind ? m->collectors[pool] : m->pool_collectors;
	sm->partitions[partition].free[pool] = p->size >= 64 ? ~0ULL : (1ULL << p->size) - 1;
	p->dispatchers = one_kind ? min_u32(m->ports[pool], OV_MAX_BANKS) : p->size;
	for (uint32_t n = 0; n < p->size; n++) {
		struct ov_collector *c = &sm->collectors[collectors + n];
		c->partition = (uint16_t)partition;
		c->pool = pool;
		c->bit = 1ULL << n;
	}
	return collectors + p->size;
}

static void start_partitions(struct ov_sm *sm)
{
	const struct ov_machine *m = sm->m;
	uint32_t collectors = 0;
	for (uint32_t i = 0; i < m->partitions; i++) {
		for (uint32_t pool = 0; pool <= OV_KINDS; pool++)
			collectors = start_pool(sm, i, pool, collectors);
		for (uint32_t k = 0; k < OV_KINDS; k++) {
			struct ov_lane *l = ov_lane_of(sm, i, k);
			l->size = (uint16_t)m->ports[k];
			l->pool = (uint16_t)(m->collectors[k] ? k : OV_KINDS);
			l->partition = i;
			sm->partitions[i].open[k] = ~0ULL;
		}
	}
}

struct ov_sm *ov_sm_new(const struct ov_machine *m)
{
	size_t bytes = sm_bytes(m);
	struct ov_sm *sm = aligned_alloc(ARENA_ALIGNMENT, bytes);
	if (!sm)
		return NULL;
	memset(sm, 0, bytes);
	struct arena a = {(char *)sm, 0};
	lay_out(sm, m, &a);
	sm->m = m;
	sm->ops = m->ops;
	sm->limit = OV_NEVER;
	sm->line_miss = m->gpu->icache_line_instructions && m->options->code_before != CODE_IN_SM ? m->gpu->icache_miss_cycles : 0;
	sm->event_pool = (struct pool)POOL_EMPTY;
	sm->results_head = sm->results_tail = OV_NONE;
	memset(sm->wheel, 0xff, sizeof sm->wheel);
	for (uint32_t i = 0; i < m->slots; i++)
		sm->warps[i] = (struct ov_warp){.finished = true, .place = OV_NOWHERE};
	sm->turn = m->schedulers - 1;
	for (uint32_t s = 0; s < m->schedulers; s++) {
		sm->schedulers[s].last_slot = s;
		sm->schedulers[s].last_position = m->positions - 1;
	}
	for (uint32_t i = 0; i < m->units && i < 64 && m->gpu->completion_slots; i++)
		sm->units[i].bit = 1ULL << i;
	start_partitions(sm);
	return sm;
}

struct ov_sm *ov_sm_clone(const struct ov_sm *sm)
{
	size_t bytes = sm_bytes(sm->m);
	struct ov_sm *copy = aligned_alloc(ARENA_ALIGNMENT, bytes);
	struct ov_event *events = malloc((sm->event_pool.capacity + 1) * sizeof *events);
	if (!copy || !events) {
		free(copy);
		free(events);
		return NULL;
	}
	memcpy(copy, sm, bytes);
	struct arena a = {(char *)copy, 0};
	lay_out(copy, sm->m, &a);
	if (sm->event_pool.capacity)
		memcpy(events, sm->events, sm->event_pool.capacity * sizeof *events);
	copy->events = events;
	return copy;
}

void ov_sm_free(struct ov_sm *sm)
{
	if (sm) {
		ov_memory_free(sm);
		free(sm->events);
	}
	free(sm);
}
