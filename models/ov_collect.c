/*
 * Occupancy vector: operand collection. An issued instruction takes a collector, which asks the banks of its registers
 * in their order; a bank answers one read per cycle, or none while a result is written to it. A collector that has
 * all its operands hands the instruction to its units when there is an entry free, in turn.
 *
 * A bank is (register number + warp slot) mod banks. Without resolve_banks, reading takes a cycle and what the
 * bank-conflict model adds to it.
 */
#include "models/ov.h"

static uint32_t next_ready(uint64_t ready, uint32_t last)
{
	uint64_t after = last >= 63 ? 0 : ready & (~0ULL << (last + 1));
	return (uint32_t)__builtin_ctzll(after ? after : ready);
}

/* In the order of issue: the units take the oldest. */
static void insert_collected(struct ov_lane *l, const struct ov_flight *f)
{
	uint32_t at = l->collected_count++;
	for (; at && (int32_t)(l->collected[at - 1].uid - f->uid) > 0; at--)
		l->collected[at] = l->collected[at - 1];
	l->collected[at] = *f;
}

static void dispatch_from(struct ov_sm *sm, struct ov_pool *p)
{
	uint64_t ready = p->ready;
	for (uint32_t d = 0; d < p->dispatchers && ready; d++) {
		uint32_t unit = next_ready(ready, p->last[d]);
		const struct ov_flight *f = &p->units[unit].flight;
		struct ov_lane *l = ov_lane_of(sm, p->partition, f->kind);
		ready &= ~(1ULL << unit);
		if (l->collected_count == sm->m->ports[f->kind]) {
			d--;
			continue;
		}
		p->last[d] = unit;
		insert_collected(l, f);
		p->ready &= ~(1ULL << unit);
		p->free |= 1ULL << unit;
		sm->in_collectors--;
		sm->in_collected++;
		sm->collected_kinds |= 1u << f->kind;
		sm->moved = true;
	}
}

static void dispatch(struct ov_sm *sm)
{
	uint32_t pools = sm->m->pools;
	for (uint32_t p = 0; p < sm->m->partitions; p++)
		for (uint32_t bits = sm->ready_pools[p]; bits; bits &= bits - 1) {
			uint32_t n = (uint32_t)__builtin_ctz(bits);
			dispatch_from(sm, &sm->pools[p * pools + n]);
			if (!sm->pools[p * pools + n].ready)
				sm->ready_pools[p] &= ~(1u << n);
		}
}

void ov_read_done(struct ov_sm *sm, uint32_t pool, uint32_t unit)
{
	struct ov_pool *p = &sm->pools[pool];
	p->ready |= 1ULL << unit;
	sm->ready_pools[p->partition] |= 1u << (pool - p->partition * sm->m->pools);
}

static void read_bank(struct ov_sm *sm, uint32_t partition, uint32_t bank)
{
	struct ov_bank *b = &sm->banks[partition * sm->m->banks + bank];
	uint32_t n = b->head;
	struct ov_read *r = &sm->reads[n];
	if (--sm->pools[r->pool].units[r->unit].missing == 0)
		ov_read_done(sm, r->pool, r->unit);
	b->head = r->next;
	if (b->head == OV_NONE) {
		b->tail = OV_NONE;
		sm->waiting_banks[partition] &= ~(1ULL << bank);
	}
	r->next = sm->free_read;
	sm->free_read = n;
	sm->moved = true;
}

static void read_banks(struct ov_sm *sm)
{
	for (uint32_t p = 0; p < sm->m->partitions; p++) {
		uint64_t banks = sm->waiting_banks[p] & ~sm->written_banks[p];
		/* A read that a write holds up moves in the next cycle. */
		sm->recheck |= (sm->waiting_banks[p] & sm->written_banks[p]) != 0;
		for (; banks; banks &= banks - 1)
			read_bank(sm, p, (uint32_t)__builtin_ctzll(banks));
		sm->written_banks[p] = 0;
	}
}

static void ask_banks(struct ov_sm *sm, uint32_t pool, uint32_t unit)
{
	struct ov_pool *p = &sm->pools[pool];
	const struct ov_flight *f = &p->units[unit].flight;
	const struct ov_op *op = &sm->m->ops[f->op];
	const struct ov_warp *w = &sm->warps[f->slot];
	for (uint32_t i = 0; i < op->reads; i++) {
		uint32_t bank = ov_bank_of(sm->m, w, op->first_operand + op->writes + i), n = sm->free_read;
		struct ov_bank *b = &sm->banks[p->partition * sm->m->banks + bank];
		sm->free_read = sm->reads[n].next;
		sm->reads[n] = (struct ov_read){OV_NONE, (uint16_t)pool, (uint16_t)unit};
		if (b->tail == OV_NONE)
			b->head = n;
		else
			sm->reads[b->tail].next = n;
		sm->conflicts += b->tail != OV_NONE;
		b->tail = n;
		sm->waiting_banks[p->partition] |= 1ULL << bank;
	}
	p->units[unit].missing = op->reads;
}

static uint32_t extra_cycles(double *debt, double extra)
{
	*debt += extra;
	uint32_t whole = (uint32_t)*debt;
	*debt -= whole;
	return whole;
}

static void collect(struct ov_sm *sm, uint32_t pool, uint32_t unit, const struct ov_flight *f)
{
	struct ov_pool *p = &sm->pools[pool];
	const struct warp_options *options = sm->m->options;
	p->free &= ~(1ULL << unit);
	p->units[unit].flight = *f;
	if (sm->m->ops[f->op].reads == 0)
		ov_read_done(sm, pool, unit);
	else if (sm->m->resolves_banks)
		ask_banks(sm, pool, unit);
	else
		ov_schedule(sm, sm->now + 2 + extra_cycles(&sm->read_debt, options->extra_read_cycles), OV_READ_DONE, pool, unit);
	sm->in_collectors++;
	sm->moved = true;
}

static void allocate_kind(struct ov_sm *sm, uint32_t partition, uint32_t kind)
{
	struct ov_lane *l = ov_lane_of(sm, partition, kind);
	const struct ov_pool *p = &sm->pools[l->pool];
	uint32_t taken = 0;
	for (; taken < l->port_count && p->free; taken++)
		collect(sm, l->pool, (uint32_t)__builtin_ctzll(p->free), &l->port[taken]);
	if (!taken)
		return;
	l->port_count -= taken;
	for (uint32_t i = 0; i < l->port_count; i++)
		l->port[i] = l->port[i + taken];
	sm->full_kinds[partition] &= ~(1u << kind);
	if (!l->port_count)
		sm->port_kinds[partition] &= ~(1u << kind);
}

static void allocate(struct ov_sm *sm)
{
	for (uint32_t p = 0; p < sm->m->partitions; p++)
		for (uint32_t bits = sm->port_kinds[p]; bits; bits &= bits - 1)
			allocate_kind(sm, p, (uint32_t)__builtin_ctz(bits));
}

void ov_collect(struct ov_sm *sm)
{
	for (uint32_t i = 0; i < sm->m->gpu->collector_steps; i++) {
		if (sm->in_collectors)
			dispatch(sm);
		read_banks(sm);
		allocate(sm);
	}
}
