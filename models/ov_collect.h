/*
 * Occupancy vector: operand collection. An issued instruction takes a collector, which asks the banks of its registers
 * in their order; a bank answers one read per cycle, or none while a result is written to it. A collector that has
 * all its operands hands the instruction to its units when there is an entry free, in turn.
 *
 * A bank is (register number + warp slot) mod banks. Without resolve_banks, reading takes a cycle and what the
 * bank-conflict model adds to it.
 */
#ifndef GPUSIM_OV_COLLECT_H
#define GPUSIM_OV_COLLECT_H

#include "models/ov_stages.h"

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

static void dispatch_from(struct ov_sm *sm, struct ov_lane *lanes, struct ov_pool *p)
{
	const struct ov_collector *collectors = &sm->collectors[p->first];
	uint64_t ready = p->ready, taken = 0;
	uint32_t kinds = 0, count = 0;
	for (uint32_t d = 0, dispatchers = p->dispatchers; d < dispatchers && ready; d++) {
		uint32_t unit = next_ready(ready, p->last[d]);
		const struct ov_flight *f = &collectors[unit].flight;
		struct ov_lane *l = &lanes[f->kind];
		ready &= ~(1ULL << unit);
		if (l->collected_count == l->size) {
			if (p->one_kind)
				break;
			d--;
			continue;
		}
		p->last[d] = (uint8_t)unit;
		insert_collected(l, f);
		taken |= 1ULL << unit;
		kinds |= 1u << f->kind;
		count++;
	}
	if (!taken)
		return;
	p->ready &= ~taken;
	p->free |= taken;
	sm->in_collected += count;
	sm->collected_kinds |= kinds;
	sm->moved = true;
}

static void dispatch(struct ov_sm *sm, struct ov_partition *p)
{
	uint32_t left = 0;
	for (uint32_t bits = p->ready_pools; bits; bits &= bits - 1) {
		struct ov_pool *pool = &p->pools[__builtin_ctz(bits)];
		dispatch_from(sm, p->lanes, pool);
		left |= pool->ready ? bits & -bits : 0;
	}
	p->ready_pools = left;
}

static inline void read_done(struct ov_partition *p, const struct ov_collector *c)
{
	p->pools[c->pool].ready |= c->bit;
	p->ready_pools |= 1u << c->pool;
}

static void ov_read_done(struct ov_sm *sm, uint32_t collector)
{
	const struct ov_collector *c = &sm->collectors[collector];
	read_done(&sm->partitions[c->partition], c);
}

/* Of banks just read, those that are to be read once more, and those still needed. */
static uint64_t ask_again(struct ov_collector *c, uint64_t banks, uint64_t need)
{
	for (uint32_t i = 0; i < c->more_count;) {
		uint64_t bank = 1ULL << c->more[i];
		if (banks & bank && !(need & bank)) {
			need |= bank;
			c->more[i] = c->more[--c->more_count];
		} else {
			i++;
		}
	}
	return need;
}

/* A bank answers the first that asks, unless it is being written. */
static void read_banks(struct ov_sm *sm, struct ov_partition *p)
{
	struct ov_reading *reading = p->reading;
	struct ov_collector *collectors = sm->collectors;
	uint64_t idle = ~p->written_banks, waiting = 0;
	uint32_t kept = 0, count = p->reading_count;
	for (uint32_t i = 0; i < count; i++) {
		struct ov_collector *c = &collectors[reading[i].collector];
		uint64_t read = reading[i].need & idle, need = reading[i].need & ~idle;
		idle &= ~read;
		if (c->more_count)
			need = ask_again(c, read, need);
		waiting |= need;
		if (need)
			reading[kept++] = (struct ov_reading){need, reading[i].collector};
		else
			read_done(p, c);
	}
	/* Something is read in this cycle or, written banks being free again, in the next. */
	sm->moved = true;
	p->reading_count = kept;
	p->waiting_banks = waiting;
}

static void note_repeats(struct ov_sm *sm, struct ov_collector *c, const struct ov_op *op, const struct ov_warp *w)
{
	const struct kernel_code *code = sm->m->launch->code;
	const uint16_t *reads = &code->operands[op->first_operand + op->writes];
	uint64_t seen = 0;
	for (uint32_t i = 0; i < op->reads; i++) {
		uint32_t bank = (code->register_table[reads[i]].number + w->bank) % sm->m->banks;
		if (seen >> bank & 1)
			c->more[c->more_count++] = (uint8_t)bank;
		seen |= 1ULL << bank;
	}
	sm->conflicts += c->more_count;
}

/* Counts the reads that find the bank's queue not empty. */
static void ask_banks(struct ov_sm *sm, struct ov_partition *p, const struct ov_op *op, uint32_t collector)
{
	struct ov_collector *c = &sm->collectors[collector];
	const struct ov_warp *w = &sm->warps[c->flight.slot];
	uint64_t need = ov_rotate(sm->m, w, op->read_banks);
	for (uint64_t met = need & p->waiting_banks; met; met &= met - 1)
		sm->conflicts++;
	p->waiting_banks |= need;
	p->reading[p->reading_count++] = (struct ov_reading){need, collector};
	if (op->repeats)
		note_repeats(sm, c, op, w);
}

static void collect(struct ov_sm *sm, struct ov_partition *p, struct ov_pool *pool, const struct ov_flight *f)
{
	const struct ov_machine *m = sm->m;
	const struct ov_op *op = &m->ops[f->op];
	uint32_t collector = pool->first + (uint32_t)__builtin_ctzll(pool->free);
	struct ov_collector *c = &sm->collectors[collector];
	pool->free &= pool->free - 1;
	c->flight = *f;
	if (op->reads == 0)
		read_done(p, c);
	else if (m->resolves_banks)
		ask_banks(sm, p, op, collector);
	else
		ov_schedule(sm, sm->now + 2 + ov_extra_cycles(&sm->read_debt, m->options->extra_read_cycles), OV_READ_DONE, 0, collector);
}

static void allocate_kind(struct ov_sm *sm, struct ov_partition *p, uint32_t kind)
{
	struct ov_lane *l = &p->lanes[kind];
	struct ov_pool *pool = &p->pools[l->pool];
	uint32_t taken = 0, count = l->port_count;
	for (; taken < count && pool->free; taken++)
		collect(sm, p, pool, &l->port[taken]);
	if (!taken)
		return;
	l->port_count = count - taken;
	for (uint32_t i = taken; i < count; i++)
		l->port[i - taken] = l->port[i];
	sm->moved = true;
	p->full_kinds &= ~(1u << kind);
	if (taken == count)
		p->port_kinds &= ~(1u << kind);
}

static inline void ov_collect(struct ov_sm *sm)
{
	const struct ov_machine *m = sm->m;
	for (uint32_t i = 0; i < m->collector_steps; i++)
		for (struct ov_partition *p = sm->partitions, *end = p + ov_partitions(m); p < end; p++) {
			if (p->ready_pools)
				dispatch(sm, p);
			if (p->reading_count)
				read_banks(sm, p);
			p->written_banks = 0;
			for (uint32_t bits = p->port_kinds; bits; bits &= bits - 1)
				allocate_kind(sm, p, (uint32_t)__builtin_ctz(bits));
		}
}

#endif
