/*
 * Occupancy vector: units (GATSim, II-D: FUFREE and the occupancy of functional units).
 *
 * A unit is busy for an instruction's initiation interval; the load/store unit for as many cycles as the instruction makes
 * accesses. A unit takes the oldest instruction that waits for its kind, or none. With completion_slots, an instruction does
 * not start if it would finish together with another one of the unit. Nor does it start if no bus is free for its result.
 */
#ifndef GPUSIM_MODELS_SM_UNITS_H
#define GPUSIM_MODELS_SM_UNITS_H

#include "models/sm/memory.h"
#include "models/sm/variant.h"

static inline bool is_idle(const struct ov_sm *sm, const struct ov_unit *u)
{
	return u->free_at / OV_FRACTION <= sm->now;
}

/* Its place at the end of the unit, and on a result bus; false: another has them. */
static inline bool reserve_finish(struct ov_sm *sm, struct ov_unit *u, const struct ov_op *op)
{
	uint32_t stamp = (uint32_t)sm->now + op->latency, at = stamp & (sm->m->bus_places - 1);
	struct ov_bus *bus = &sm->bus[at];
	bool used = bus->time == stamp;
	uint32_t results = bus->count & -(uint32_t)used;
	uint64_t units = bus->units & -(uint64_t)used;
	if ((results >= sm->m->result_buses) | ((units & u->bit) != 0)) {
		sm->recheck = true;
		return false;
	}
	*bus = (struct ov_bus){stamp, results + 1, units | u->bit};
	return true;
}

static inline void occupy_unit(struct ov_sm *sm, struct ov_unit *u, uint64_t interval)
{
	uint64_t now = sm->now * OV_FRACTION;
	u->free_at = (u->free_at > now ? u->free_at : now) + interval;
	sm->moved = true;
}

/* Returns whether it could start. */
static inline bool start_instruction(struct ov_sm *sm, struct ov_unit *u, const struct ov_flight *f)
{
	const struct ov_op *op = &sm->ops[f->op];
	uint32_t wait = op->result;
	if (!reserve_finish(sm, u, op))
		return false;
	if (!ov_resolves_banks(sm->m))
		wait += ov_extra_cycles(&sm->write_debt, sm->m->options->extra_write_cycles);
	occupy_unit(sm, u, op->initiation);
	if (wait)
		ov_schedule(sm, sm->now + wait, OV_WRITE, f->slot, f->op);
	else
		ov_complete_result(sm, f->slot, f->op);
	return true;
}

/* Into how many accesses the instruction falls apart, and how long they take beyond a hit of L1. */
static inline uint32_t accesses_of(const struct ov_sm *sm, const struct ov_flight *f, const struct ov_op *op)
{
	const uint16_t *usual = sm->m->launch->usual_accesses;
	if (!op->accesses)
		return 1;
	return f->request != OV_NONE ? sm->warps[f->slot].accesses[f->request] : usual ? usual[f->op] : 1;
}

static inline uint32_t wait_of(const struct ov_sm *sm, const struct ov_flight *f, const struct ov_op *op)
{
	const uint16_t *usual = sm->m->launch->usual_waits, *own = sm->warps[f->slot].memory_waits;
	if (!op->accesses)
		return 0;
	return f->request != OV_NONE && own ? own[f->request] : usual ? usual[f->op] : 0;
}

/* For how long the last access comes after the first. Constants that differ are looked up one after the other, which takes longer than their unit. */
static inline uint64_t last_access(const struct ov_sm *sm, const struct ov_op *op, uint64_t held)
{
	const struct gpu *gpu = sm->m->gpu;
	if (op->space != SPACE_const || !gpu->const_each_cycles || gpu->const_each_latency <= 0)
		return (held - op->initiation) / OV_FRACTION;
	uint64_t different = held / op->initiation / gpu->const_each_cycles;
	return different > 1 ? (uint64_t)((double)(different - 1) * gpu->const_each_latency) : 0;
}

/* Accesses follow one another; the last one brings the result. Without any, there is nothing to wait for. */
static void start_access(struct ov_sm *sm, struct ov_unit *u, const struct ov_flight *f)
{
	const struct ov_op *op = &sm->ops[f->op];
	uint32_t accesses = accesses_of(sm, f, op), extra = wait_of(sm, f, op);
	uint64_t count = accesses ? accesses : 1, held = count * op->initiation;
	uint64_t done = sm->now + op->result + extra + last_access(sm, op, held);
	if (!accesses && op->latency_rule != OV_SHARED)
		done = sm->now + 1;
	occupy_unit(sm, u, held);
	if (__builtin_expect(sm->m->marks != NULL, 0))
		ov_operands_read(sm, f->slot, f->op);
	if (ov_has_memory(sm) && ov_memory_takes(sm, f, accesses)) { /* lines of constants that cannot be asked for yet hold it up */
		uint64_t data = ov_memory_reads_data(sm, op, accesses);
		u->free_at = max_u64(u->free_at, max_u64(sm->memory->constants_taken, data) * OV_FRACTION);
		return;
	}
	if (op->class == CODE_atomic && sm->m->gpu->atomics_stop_warp)
		ov_schedule(sm, done > sm->now + 1 ? done - 1 : done, OV_ATOMIC_BACK, f->slot, f->op);
	/* Data from beyond L1 comes access by access, and each is a write of the register's bank. */
	if (op->latency_rule == OV_LOAD && extra && ov_resolves_banks(sm->m))
		for (uint64_t i = 1; i < count; i++)
			ov_schedule(sm, done - i * op->initiation / OV_FRACTION, OV_PART_WRITTEN, f->slot, f->op);
	/* Data from beyond L1 is written like data from shared memory; a hit has its own way. */
	if (op->latency_rule == OV_SHARED || (op->latency_rule == OV_LOAD && extra))
		ov_schedule(sm, done, OV_SHARED_RESULT, f->slot, f->op);
	else
		ov_schedule(sm, done, op->latency_rule == OV_LOAD ? OV_LOADED : OV_STORED, f->slot, f->op);
}

/* Units of a kind are spread over the partitions, or, where they are fewer, serve them all. */
static struct ov_lane *oldest_lane(struct ov_sm *sm, uint32_t kind, uint32_t unit)
{
	const struct ov_machine *m = sm->m;
	if (m->unit_count[kind] >= ov_partitions(m)) {
		struct ov_lane *own = ov_lane_of(sm, ov_partitions(m) == 1 ? 0 : unit % ov_partitions(m), kind);
		return own->collected_count ? own : NULL;
	}
	struct ov_lane *oldest = NULL;
	for (uint32_t p = 0; p < ov_partitions(m); p++) {
		struct ov_lane *l = ov_lane_of(sm, p, kind);
		if (l->collected_count && (!oldest || (int32_t)(l->collected[0].uid - oldest->collected[0].uid) < 0))
			oldest = l;
	}
	return oldest;
}

static inline bool start_any(struct ov_sm *sm, struct ov_unit *u, const struct ov_flight *f, uint32_t kind)
{
	if (kind != OV_LDST || sm->ops[f->op].latency_rule == OV_NOT_MEMORY)
		return start_instruction(sm, u, f);
	if (ov_has_memory(sm) && ov_memory_full(sm))
		return false;
	start_access(sm, u, f);
	return true;
}

static inline bool start_first(struct ov_sm *sm, struct ov_unit *u, struct ov_lane *l, uint32_t kind)
{
	struct ov_flight *f = l->collected;
	if (!start_any(sm, u, f, kind))
		return false;
	uint32_t left = --l->collected_count;
	f[0] = f[1];
	for (uint32_t i = 1; i < left; i++)
		f[i] = f[i + 1];
	struct ov_partition *p = &sm->partitions[OV_ONE_PARTITION ? 0 : l->partition];
	p->choked_kinds &= ~(1u << kind);
	p->refused = 0;
	return true;
}

static bool any_collected(const struct ov_sm *sm, uint32_t kind)
{
	for (uint32_t p = 0; p < ov_partitions(sm->m); p++)
		if (ov_lane_of(sm, p, kind)->collected_count)
			return true;
	return false;
}

/* From the lanes of all partitions. */
static void start_partitioned(struct ov_sm *sm, uint32_t kind)
{
	const struct ov_machine *m = sm->m;
	struct ov_unit *u = &sm->units[m->first_unit[kind]], *end = u + m->unit_count[kind];
	struct ov_lane *l;
	uint64_t first = OV_NEVER;
	for (uint32_t n = 0; u < end; n++, u++) {
		while (is_idle(sm, u) && (l = oldest_lane(sm, kind, n)))
			if (!start_first(sm, u, l, kind))
				break;
		first = u->free_at < first ? u->free_at : first;
	}
	sm->start_at[kind] = first / OV_FRACTION;
	if (!any_collected(sm, kind))
		sm->collected_kinds &= ~(1u << kind);
}

/* There is something in the lane. */
static inline __attribute__((always_inline)) void start_kind(struct ov_sm *sm, uint32_t kind)
{
	const struct ov_machine *m = sm->m;
	struct ov_unit *u = &sm->units[m->first_unit[kind]], *end = u + m->unit_count[kind];
	struct ov_lane *l = ov_lane_of(sm, 0, kind);
	uint64_t first = OV_NEVER;
	if (ov_partitions(m) > 1) {
		start_partitioned(sm, kind);
		return;
	}
	for (; u < end; u++) {
		while (is_idle(sm, u) && start_first(sm, u, l, kind))
			if (!l->collected_count) {
				/* What comes next finds out when a unit is free. */
				sm->start_at[kind] = 0;
				sm->collected_kinds &= ~(1u << kind);
				return;
			}
		first = u->free_at < first ? u->free_at : first;
	}
	sm->start_at[kind] = first / OV_FRACTION;
}

static inline void ov_start_units(struct ov_sm *sm)
{
	for (uint32_t bits = sm->collected_kinds & ~(1u << OV_LDST); bits; bits &= bits - 1) {
		uint32_t kind = (uint32_t)__builtin_ctz(bits);
		if (sm->start_at[kind] <= sm->now)
			start_kind(sm, kind);
	}
}

static inline void ov_start_memory(struct ov_sm *sm)
{
	if (sm->collected_kinds >> OV_LDST & 1 && sm->start_at[OV_LDST] <= sm->now)
		start_kind(sm, OV_LDST);
}

static bool serves(const struct ov_machine *m, uint32_t kind, uint32_t n, uint32_t partition)
{
	return ov_partitions(m) == 1 || m->unit_count[kind] < ov_partitions(m) || n % ov_partitions(m) == partition;
}

static bool ov_units_busy(const struct ov_sm *sm, uint32_t partition, uint32_t kind)
{
	const struct ov_unit *u = &sm->units[sm->m->first_unit[kind]];
	for (uint32_t n = 0; n < sm->m->unit_count[kind]; n++, u++)
		if (serves(sm->m, kind, n, partition) && u->free_at <= sm->now * OV_FRACTION)
			return false;
	return true;
}

static bool ov_unit_takes(struct ov_sm *sm, uint32_t partition, const struct ov_flight *f)
{
	const struct ov_machine *m = sm->m;
	struct ov_unit *u = &sm->units[m->first_unit[f->kind]];
	for (uint32_t n = 0; n < m->unit_count[f->kind]; n++, u++) {
		if (!serves(m, f->kind, n, partition) || !is_idle(sm, u))
			continue;
		if (start_any(sm, u, f, f->kind))
			return true;
		if (f->kind == OV_LDST)
			return false;
	}
	return false;
}

/* When the next busy unit is free. */
static uint64_t ov_next_unit(const struct ov_sm *sm)
{
	uint64_t best = OV_NEVER;
	for (uint32_t n = 0; n < sm->m->units; n++) {
		uint64_t free = sm->units[n].free_at / OV_FRACTION;
		if (free > sm->now && free < best)
			best = free;
	}
	return best;
}

#endif
