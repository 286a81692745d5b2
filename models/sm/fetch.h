/*
 * Occupancy vector: fetching.
 *
 * A fetch brings consecutive instructions of one warp; warps take turns by slot. The instructions are decoded and may issue
 * fetch_to_issue_cycles later. A taken branch flushes what was fetched after it: such fetches are wasted cycles of the stage.
 */
#ifndef GPUSIM_MODELS_SM_FETCH_H
#define GPUSIM_MODELS_SM_FETCH_H

#include "models/sm/memory.h"
#include "models/sm/variant.h"

static void forget_reply(struct ov_sm *sm, uint32_t slot)
{
	uint32_t slots = sm->m->slots, kept = 0;
	for (uint32_t i = 0; i < sm->reply_count; i++) {
		uint32_t from = (sm->reply_head + i) % slots;
		if (sm->replies[from].slot != slot)
			sm->replies[(sm->reply_head + kept++) % slots] = sm->replies[from];
	}
	sm->reply_count = kept;
}

/* Instructions begin anew at pc. */
static void ov_flush_buffer(struct ov_sm *sm, uint32_t slot, uint32_t pc)
{
	struct ov_warp *w = &sm->warps[slot];
	if (w->fetching) {
		w->epoch++;
		forget_reply(sm, slot);
	}
	w->buffered = w->fetching = 0;
	w->buffer_pc = w->fetch_pc = pc;
	ov_update_hungry(sm, w, slot);
}

static inline void fill_buffer(struct ov_sm *sm, uint32_t slot, uint16_t epoch)
{
	struct ov_warp *w = &sm->warps[slot];
	if (epoch != w->epoch || !w->fetching)
		return;
	w->buffered = (uint16_t)(w->buffered + w->fetching);
	w->fetching = 0;
	/* It was not hungry while it was fetched for. */
	sm->hungry[ov_word(slot)] |= (uint64_t)(w->buffered <= sm->m->refill_at) << slot % 64;
	ov_update_warp(sm, slot);
}

static inline uint64_t ov_next_fill(const struct ov_sm *sm)
{
	return sm->fill_head != sm->fill_tail ? sm->fills[sm->fill_head % sm->m->fill_places].time : OV_NEVER;
}

static inline void ov_fill_buffers(struct ov_sm *sm)
{
	uint32_t mask = sm->m->fill_places - 1;
	while (sm->fill_head != sm->fill_tail && sm->fills[sm->fill_head & mask].time <= sm->now) {
		const struct ov_fill *fill = &sm->fills[sm->fill_head++ & mask];
		sm->moved = sm->woken = true;
		fill_buffer(sm, fill->slot, fill->epoch);
		if (ov_fetches(sm->m) == 1)
			break;
	}
}

static inline void deliver_instructions(struct ov_sm *sm, uint32_t slot)
{
	sm->fills[sm->fill_tail++ & (sm->m->fill_places - 1)] =
		(struct ov_fill){sm->now + sm->m->fetch_cycles, (uint16_t)slot, sm->warps[slot].epoch};
	sm->moved = true;
}

/* Past the end of the code is other code, as good to fetch as any. */
static inline uint32_t fetched_instructions(const struct ov_sm *sm, const struct ov_warp *w)
{
	uint32_t room = sm->m->buffer_entries - w->buffered;
	return sm->m->fetch_width < room ? sm->m->fetch_width : room;
}

/* The first touch of a line by the SM brings it; warps that need it meanwhile wait too. */
static inline bool line_is_missing(struct ov_sm *sm, uint32_t slot, uint32_t pc)
{
	if (!sm->line_miss || pc >= sm->m->op_count)
		return false;
	uint32_t line = sm->m->lines[pc];
	uint64_t *ready = &sm->line_ready[line];
	if (ov_has_memory(sm))
		ov_memory_line(sm, line, ready);
	if (!*ready)
		*ready = sm->now + sm->line_miss;
	if (*ready <= sm->now)
		return false;
	uint32_t at = (sm->reply_head + sm->reply_count++) % sm->m->slots;
	sm->replies[at].time = *ready;
	sm->replies[at].slot = slot;
	return true;
}

static inline void fetch_for(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	uint32_t pc = w->fetch_pc;
	w->fetching = (uint16_t)fetched_instructions(sm, w);
	w->fetch_pc += w->fetching;
	ov_clear(sm->hungry, slot);
	sm->last_fetched = slot;
	sm->moved = true;
	if (!line_is_missing(sm, slot, pc))
		deliver_instructions(sm, slot);
}

static inline uint64_t ov_next_reply(const struct ov_sm *sm)
{
	return sm->reply_count ? sm->replies[sm->reply_head].time : OV_NEVER;
}

static void retire_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_group *g = &sm->groups[sm->warps[slot].group];
	ov_clear(sm->retirable, slot);
	sm->retirable_count--;
	sm->moved = true;
	if (--g->live == 0) {
		sm->live_groups--;
		g->ended = ov_time(sm);
		sm->longest_group = max_u64(sm->longest_group, g->ended - g->began);
	}
}

/* How far a slot is in the round that begins after the warp fetched last. */
static uint32_t round_place(const struct ov_sm *sm, uint32_t slot)
{
	uint32_t slots = sm->m->slots;
	return (slot + slots - (sm->last_fetched + 1) % slots) % slots;
}

/* Warps that are done, in the round up to `end`, or all. */
static void retire_warps(struct ov_sm *sm, uint32_t end)
{
	const struct ov_machine *m = sm->m;
	bool all = !m->gpu->retire_in_fetch || end == OV_NONE;
	for (uint32_t w = 0; w < ov_slot_words(m) && sm->retirable_count; w++)
		for (uint64_t bits = sm->retirable[w]; bits; bits &= bits - 1) {
			uint32_t slot = w * 64 + (uint32_t)__builtin_ctzll(bits);
			if (all || round_place(sm, slot) < round_place(sm, end))
				retire_warp(sm, slot);
		}
}

static inline void ov_fetch(struct ov_sm *sm)
{
	const struct ov_machine *m = sm->m;
	for (uint32_t i = 0; i < ov_fetches(m); i++) {
		if (ov_next_reply(sm) <= sm->now) {
			uint32_t slot = sm->replies[sm->reply_head].slot;
			sm->reply_head = (sm->reply_head + 1) % m->slots;
			sm->reply_count--;
			deliver_instructions(sm, slot);
			continue;
		}
		uint32_t slot = ov_next_bit_after(sm->hungry, ov_slot_words(m), sm->last_fetched);
		if (sm->retirable_count)
			retire_warps(sm, slot);
		if (slot == OV_NONE)
			break;
		fetch_for(sm, slot);
	}
	if (sm->retirable_count && !m->gpu->retire_in_fetch)
		retire_warps(sm, OV_NONE);
}

#endif
