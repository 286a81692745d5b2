/* Occupancy vector: an SM cycle by cycle, while something moves. */
#ifndef GPUSIM_MODELS_SM_CYCLE_H
#define GPUSIM_MODELS_SM_CYCLE_H

#include "models/sm/memory.h"
#include "models/sm/units.h"
#include "models/sm/collect.h"
#include "models/sm/wheel.h"
#include "models/sm/fetch.h"
#include "models/sm/policies.h"
#include "models/sm/issue.h"
#include "models/sm/reason.h"

/* The schedulers' turns begin with the first group. */
static inline void advance_to(struct ov_sm *sm, uint64_t time)
{
	uint32_t count = sm->m->schedulers;
	if (time == sm->now + 1)
		sm->turn = sm->turn + 1 < count ? sm->turn + 1 : 0;
	else
		sm->turn = (uint32_t)((sm->turn + time - sm->now) % count);
	sm->now = time;
}

/* Cycles in which only L1 is busy change nothing for the stages, unless the load/store unit waits for it. */
static bool stays_settled(const struct ov_sm *sm)
{
	bool waits_for_l1 = sm->collected_kinds >> OV_LDST & 1 && sm->start_at[OV_LDST] <= sm->now;
	return sm->settled && !sm->woken && sm->now < sm->wake_at && !waits_for_l1;
}

static void note_settled(struct ov_sm *sm)
{
	uint64_t unit = ov_next_unit(sm), reply = ov_next_reply(sm);
	sm->wake_at = unit < reply ? unit : reply;
	sm->settled = ov_collects(sm->m);
}

static inline void run_stages(struct ov_sm *sm)
{
	ov_start_units(sm);
	if (sm->results_head != OV_NONE)
		ov_write_load_results(sm);
	if (ov_collects(sm->m))
		ov_collect(sm);
	ov_start_memory(sm);
	ov_issue(sm);
	ov_fetch(sm);
}

static inline void run_cycle(struct ov_sm *sm)
{
	sm->moved = sm->recheck = sm->woken = false;
	ov_fill_buffers(sm);
	ov_process_events(sm);
	if (!ov_has_memory(sm)) {
		run_stages(sm);
		return;
	}
	sm->skipped = stays_settled(sm);
	if (sm->skipped)
		return;
	bool moved = sm->moved;
	sm->moved = sm->settled = false;
	run_stages(sm);
	if (!sm->moved && !sm->recheck && sm->results_head == OV_NONE)
		note_settled(sm);
	sm->moved |= moved;
}

/* A cycle in which nothing moved repeats itself until an event, a unit or a line of instructions changes that. */
static inline uint64_t next_cycle(const struct ov_sm *sm)
{
	if (sm->moved || sm->recheck || sm->results_head != OV_NONE)
		return sm->now + 1;
	uint64_t event = ov_next_event(sm), unit = ov_next_unit(sm), reply = ov_next_reply(sm);
	uint64_t next = event < unit ? event : unit, fill = ov_next_fill(sm);
	next = next < fill ? next : fill;
	return next < reply ? next : reply;
}

/* Nothing to do before the limit: whether it is the end. */
static enum ov_state pause_at(struct ov_sm *sm, uint64_t next)
{
	if (next == OV_NEVER && sm->limit == OV_NEVER) {
		sm->error = -EDEADLK;
		return OV_DONE;
	}
	sm->paused = true;
	sm->moved |= next == sm->now + 1;
	return OV_PAUSED;
}

static inline void count_cycle(struct ov_sm *sm)
{
	if (ov_has_memory(sm) && sm->skipped)
		sm->reason = ov_reason_again(sm);
	else
		sm->reason = sm->issued ? CYCLES_issue : ov_reason(sm);
	sm->by[sm->reason]++;
}

static inline enum ov_state run_cycles(struct ov_sm *sm)
{
	uint64_t next = sm->paused ? next_cycle(sm) : sm->now + 1;
	sm->paused = false;
	for (;; next = next_cycle(sm)) {
		if (next >= sm->limit)
			return pause_at(sm, next);
		if (next != sm->now + 1)
			sm->by[sm->reason] += next - sm->now - 1;
		advance_to(sm, next);
		run_cycle(sm);
		count_cycle(sm);
		if ((sm->no_more && sm->live_groups == 0) || sm->error)
			return OV_DONE;
		if (!sm->no_more && sm->live_groups < sm->m->groups_per_sm)
			return OV_WANTS_GROUP;
	}
}

#endif
