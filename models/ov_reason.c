/*
 * Occupancy vector: where cycles go.
 *
 * A cycle in which an instruction issues is an issue cycle. Any other is lost to what holds up the warp that each
 * scheduler would have liked first, the oldest that still has instructions; of the schedulers' reasons the first in the
 * order of CYCLE_KINDS counts. Cycles without an issue in which the SM has fewer groups than it once had, and gets no
 * more, are the tail: with more groups they would have been filled. So are those in which all warps have ended and wait
 * for what they have in flight. Cycles before the first issue, and without any group, are the launch's.
 */
#include "models/ov.h"

static const enum cycle_kind unit_kinds[OV_KINDS] = {CYCLES_unit_fp32, CYCLES_unit_int, CYCLES_unit_fp64, CYCLES_unit_sfu,
                                                     CYCLES_unit_ldst};

/* Ready, but the port is full: of instructions that wait for their unit, for operands, or for a collector. */
static enum cycle_kind port_reason(const struct ov_sm *sm, uint32_t partition, uint32_t kind)
{
	const struct ov_lane *l = ov_lane_of(sm, partition, kind);
	if (!sm->m->collects || l->collected_count == sm->m->ports[kind])
		return unit_kinds[kind];
	return sm->waiting_banks[partition] ? CYCLES_bank_conflicts : CYCLES_collectors;
}

static enum cycle_kind warp_reason(const struct ov_sm *sm, uint32_t slot)
{
	const struct ov_warp *w = &sm->warps[slot];
	if (w->wait == OV_AT_BARRIER)
		return CYCLES_barrier;
	if (w->wait || w->memory_blocked)
		return CYCLES_memory;
	if (w->blocked)
		return CYCLES_dependency;
	if (w->ready_kind != OV_NONE)
		return port_reason(sm, ov_partition(sm->m, slot), w->ready_kind);
	return CYCLES_fetch;
}

enum cycle_kind ov_reason(const struct ov_sm *sm)
{
	enum cycle_kind best = CYCLES_tail;
	if (sm->no_more && sm->live_groups < sm->peak_groups)
		return CYCLES_tail;
	if (sm->uid == 0)
		return CYCLES_launch;
	for (uint32_t i = 0; i < sm->m->schedulers; i++) {
		const struct ov_scheduler *s = &sm->schedulers[i];
		uint32_t position = ov_next_bit(s->unfinished, sm->m->position_words, 0);
		if (position == OV_NONE)
			continue;
		enum cycle_kind reason = warp_reason(sm, s->slot_at[position]);
		best = reason < best ? reason : best;
	}
	return sm->live_groups ? best : CYCLES_launch;
}
