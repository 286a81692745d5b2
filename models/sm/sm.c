/* Occupancy vector: the life of an SM, from its first group to its last. */
#include "models/sm/cycle.h"
#include "models/sm/variants.h"

bool ov_has_room(const struct ov_sm *sm)
{
	return sm->live_groups < sm->m->groups_per_sm;
}

static void start_warp(struct ov_sm *sm, uint32_t slot, uint32_t group, const struct warp_path *path)
{
	struct ov_warp *w = &sm->warps[slot];
	*w = (struct ov_warp){.block = path->blocks,
	                      .path = path,
	                      .access_count = path->accesses ? (uint32_t)path->access_count : 0,
	                      .accesses = path->accesses,
	                      .memory_waits = path->waits,
	                      .requests = sm->memory ? path->requests : NULL,
	                      .place = OV_NOWHERE,
	                      .scheduler = (uint16_t)(slot % sm->m->schedulers),
	                      .group = (uint16_t)group,
	                      .bank = (uint16_t)(slot % sm->m->banks),
	                      .epoch = (uint16_t)(w->epoch + 1)};
	for (size_t g = 0; g < path->gap_count; g++)
		ov_rounds(sm, w)[g] = path->gaps[g].rounds;
	ov_stop_at_gap(w);
	bool runs = ov_next_block(sm, w);
	w->buffer_pc = w->fetch_pc = w->pc;
	ov_add_warp(sm, slot);
	if (runs)
		ov_update_hungry(sm, w, slot);
	else
		ov_finish_warp(sm, slot);
}

static void start_warps(struct ov_sm *sm, uint32_t place)
{
	const struct ov_machine *m = sm->m;
	const struct launch_warps *launch = m->launch;
	const uint32_t *paths = &launch->path_of[warps_pattern(launch, sm->groups[place].id) * m->warps_per_group];
	sm->groups[place].began = ov_time(sm);
	for (uint32_t i = 0; i < m->warps_per_group; i++)
		start_warp(sm, place * m->warps_per_group + i, place, &launch->paths[paths[i]]);
}

void ov_group_comes(struct ov_sm *sm, uint32_t place)
{
	sm->coming_groups--;
	start_warps(sm, place);
}

void ov_start_group(struct ov_sm *sm, uint64_t group, uint64_t start)
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
	sm->settled = false;
	sm->group_start = start;
	if (start <= sm->now) {
		start_warps(sm, place);
		return;
	}
	sm->coming_groups++;
	ov_schedule(sm, start + 1, OV_GROUP, 0, place);
}

void ov_answer(struct ov_sm *sm, uint64_t time, uint32_t id)
{
	ov_schedule(sm, time, OV_ANSWER, 0, id);
}

enum ov_state ov_run_any(struct ov_sm *sm)
{
	return run_cycles(sm);
}
