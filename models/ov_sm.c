/* Occupancy vector: the life of an SM, from its first group to its last. */
#include "models/footprint.h"
#include "models/ov.h"

#include <errno.h>

bool ov_has_room(const struct ov_sm *sm)
{
	return sm->live_groups < sm->m->groups_per_sm;
}

static void start_warp(struct ov_sm *sm, uint32_t slot, uint32_t group, const struct warp_path *path)
{
	struct ov_warp *w = &sm->warps[slot];
	*w = (struct ov_warp){.block = path->blocks,
	                      .block_end = path->blocks + path->block_count,
	                      .access = path->accesses,
	                      .access_end = path->accesses ? path->accesses + path->access_count : NULL,
	                      .memory_wait = path->waits,
	                      .access_begin = path->accesses,
	                      .requests = sm->memory ? path->requests : NULL,
	                      .ready_kind = OV_NONE,
	                      .scheduler = (uint16_t)(slot % sm->m->schedulers),
	                      .group = (uint16_t)group,
	                      .bank = (uint16_t)(slot % sm->m->banks),
	                      .epoch = (uint8_t)(w->epoch + 1)};
	bool runs = ov_next_block(sm, w);
	w->buffer_pc = w->fetch_pc = w->pc;
	ov_add_warp(sm, slot);
	if (runs)
		ov_update_hungry(sm, w, slot);
	else
		ov_finish_warp(sm, slot);
}

void ov_start_group(struct ov_sm *sm, uint64_t group)
{
	const struct ov_machine *m = sm->m;
	const struct launch_warps *launch = m->launch;
	uint32_t place = 0;
	while (sm->groups[place].live)
		place++;
	sm->groups[place] = (struct ov_group){.live = m->warps_per_group, .unfinished = m->warps_per_group, .id = group};
	if (sm->memory)
		sm->groups[place].moves = launch_move(launch, group, sm->groups[place].moved);
	sm->live_groups++;
	sm->peak_groups = sm->live_groups > sm->peak_groups ? sm->live_groups : sm->peak_groups;
	sm->started = true;
	const uint32_t *paths = &launch->path_of[group % launch->pattern_groups * m->warps_per_group];
	for (uint32_t i = 0; i < m->warps_per_group; i++)
		start_warp(sm, place * m->warps_per_group + i, place, &launch->paths[paths[i]]);
}

/* The schedulers' turns begin with the first group. */
static void advance(struct ov_sm *sm, uint64_t time)
{
	uint32_t count = sm->m->schedulers;
	if (time == sm->now + 1)
		sm->turn = sm->turn + 1 < count ? sm->turn + 1 : 0;
	else
		sm->turn = (uint32_t)((sm->turn + time - sm->now) % count);
	sm->now = time;
}

static void cycle(struct ov_sm *sm)
{
	sm->moved = sm->recheck = false;
	ov_fill_buffers(sm);
	ov_process_events(sm);
	if (sm->in_collected)
		ov_start_units(sm);
	if (sm->results_head != OV_NONE)
		ov_write_load_results(sm);
	if (sm->m->collects)
		ov_collect(sm);
	if (sm->in_collected)
		ov_start_memory(sm);
	ov_issue(sm);
	ov_fetch(sm);
}

/* A cycle in which nothing moved repeats itself until an event, a unit or a line of instructions changes that. */
static uint64_t next_cycle(const struct ov_sm *sm)
{
	if (sm->moved || sm->recheck || sm->results_head != OV_NONE)
		return sm->now + 1;
	uint64_t event = ov_next_event(sm), unit = ov_next_unit(sm), reply = ov_next_reply(sm);
	uint64_t next = event < unit ? event : unit, fill = ov_next_fill(sm);
	next = next < fill ? next : fill;
	return next < reply ? next : reply;
}

enum ov_state ov_run(struct ov_sm *sm)
{
	uint64_t next = sm->paused ? next_cycle(sm) : sm->now + 1;
	for (;;) {
		if (next == OV_NEVER && sm->limit == OV_NEVER) {
			sm->error = -EDEADLK;
			return OV_DONE;
		}
		sm->paused = next >= sm->limit;
		if (sm->paused) {
			sm->moved |= next == sm->now + 1;
			return OV_PAUSED;
		}
		sm->by[sm->reason] += next - sm->now - 1;
		advance(sm, next);
		cycle(sm);
		sm->reason = sm->issued ? CYCLES_issue : ov_reason(sm);
		sm->by[sm->reason]++;
		if (sm->live_groups == 0 && sm->no_more)
			return OV_DONE;
		if (sm->error)
			return OV_DONE;
		if (!sm->no_more && ov_has_room(sm))
			return OV_WANTS_GROUP;
		next = next_cycle(sm);
	}
}
