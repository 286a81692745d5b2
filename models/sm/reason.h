/*
 * Occupancy vector: where cycles go.
 *
 * A cycle in which an instruction issues is an issue cycle. In any other cycle each scheduler has a reason: what holds up its
 * oldest warp that still has instructions. The first of these reasons in the order of CYCLE_KINDS counts. A latency (fetch,
 * dependency, memory, barrier) becomes the tail, if the SM has fewer groups than it once had and gets no more: with more
 * groups it would have been hidden. Cycles in which all warps have ended, and wait for what is in flight, are the tail as
 * well. Cycles before the first issue, and cycles without any group that has started, are the launch's.
 */
#ifndef GPUSIM_MODELS_SM_REASON_H
#define GPUSIM_MODELS_SM_REASON_H

#include "models/sm/memory.h"
#include "models/sm/units.h"
#include "models/sm/variant.h"

static const enum cycle_kind unit_kinds[OV_KINDS] = {CYCLES_unit_fp32, CYCLES_unit_int, CYCLES_unit_fp64, CYCLES_unit_sfu,
                                                     CYCLES_unit_tensor, CYCLES_unit_ldst};

/*
 * Ready, but the port is full: of instructions that wait for their unit, for operands, or for a collector. Collectors that
 * have all operands wait for a unit, too, maybe another than the warp needs.
 */
static enum cycle_kind unit_reason(const struct ov_sm *sm, uint32_t kind)
{
	return kind == OV_LDST && ov_has_memory(sm) ? ov_memory_reason(sm) : unit_kinds[kind];
}

static enum cycle_kind port_reason(const struct ov_sm *sm, uint32_t partition, uint32_t kind)
{
	const struct ov_partition *p = &sm->partitions[partition];
	const struct ov_lane *l = &p->lanes[kind];
	uint64_t ready = p->ready[l->pool];
	if (!ov_collects(sm->m) || l->collected_count == sm->m->ports[kind] || ov_units_busy(sm, partition, kind))
		return unit_reason(sm, kind);
	if (ready)
		return unit_reason(sm, sm->collectors[p->pools[l->pool].first + (uint32_t)__builtin_ctzll(ready)].flight.kind);
	return p->waiting_banks || sm->m->read_ports ? CYCLES_bank_conflicts : CYCLES_collectors;
}

static enum cycle_kind warp_reason(const struct ov_sm *sm, uint32_t slot)
{
	const struct ov_warp *w = &sm->warps[slot];
	if (w->wait == OV_AT_BARRIER)
		return CYCLES_barrier;
	if (w->wait == OV_AT_ATOMIC && ov_has_memory(sm))
		return CYCLES_atomics;
	if (w->wait == OV_AT_BRANCH || w->wait == OV_AT_TABLE)
		return CYCLES_fetch;
	if (w->wait || w->place == OV_LOAD_BLOCKED)
		return CYCLES_memory;
	if (w->place == OV_BLOCKED)
		return CYCLES_dependency;
	if (w->place < OV_KINDS)
		return port_reason(sm, ov_partition(sm->m, slot), w->place);
	return CYCLES_fetch;
}

static bool is_latency(enum cycle_kind kind)
{
	return kind == CYCLES_fetch || kind == CYCLES_dependency || kind == CYCLES_memory || kind == CYCLES_barrier ||
	       kind == CYCLES_atomics;
}

static enum cycle_kind ov_reason(const struct ov_sm *sm)
{
	enum cycle_kind best = CYCLES_tail;
	if (sm->uid == 0 || !sm->live_groups)
		return CYCLES_launch;
	for (uint32_t i = 0; i < sm->m->schedulers; i++) {
		const struct ov_scheduler *s = &sm->schedulers[i];
		uint32_t position = ov_next_bit(s->unfinished, ov_position_words(sm->m), 0);
		if (position == OV_NONE)
			continue;
		enum cycle_kind reason = warp_reason(sm, s->slot_at[position]);
		best = reason < best ? reason : best;
	}
	if (best == CYCLES_tail && sm->coming_groups)
		return CYCLES_launch;
	bool fewer = sm->no_more && sm->live_groups < sm->peak_groups;
	return fewer && is_latency(best) ? CYCLES_tail : best;
}

/* In a cycle that the stages skipped: warps wait for what they waited for, units and L1 may have become free. */
static inline enum cycle_kind ov_reason_again(const struct ov_sm *sm)
{
	enum cycle_kind last = sm->reason;
	bool same = last == CYCLES_fetch || last == CYCLES_dependency || last == CYCLES_memory || last == CYCLES_barrier ||
	            last == CYCLES_launch || last == CYCLES_tail;
	return same ? last : ov_reason(sm);
}

#endif
