/*
 * Occupancy vector: operand collection.
 *
 * An issued instruction takes a collector, which asks the banks of its registers, in the order of collectors. A bank serves
 * one read per cycle, or none while a result is written to it. A collector with all its operands hands the instruction to its
 * units when they have room; collectors take turns. A register's bank is (register number + warp slot) mod banks. Without
 * resolve_banks, reading takes a cycle, and what the bank-conflict model adds.
 */
#ifndef GPUSIM_MODELS_SM_COLLECT_H
#define GPUSIM_MODELS_SM_COLLECT_H

#include "models/sm/variant.h"

/* The next after the one served last, as the lowest bit of what is returned. */
static inline uint64_t next_ready(uint64_t ready, uint32_t last)
{
	uint64_t after = ready & (~1ULL << last);
	return after ? after : ready;
}

/* In the order of issue: the units take the oldest. Of one or two, without a branch, which could not be predicted. */
static inline void insert_collected(struct ov_lane *l, const struct ov_flight *f)
{
	uint32_t count = l->collected_count++;
	struct ov_flight *at = &l->collected[count];
	if (count <= 1) {
		bool older = count & ((int32_t)(l->collected[0].uid - f->uid) > 0);
		at[0] = l->collected[0];
		at[-(int)older] = *f;
		return;
	}
	for (; at != l->collected && (int32_t)(at[-1].uid - f->uid) > 0; at--)
		at[0] = at[-1];
	*at = *f;
}

static inline void free_collectors(struct ov_sm *sm, struct ov_partition *p, uint32_t n, uint64_t taken)
{
	p->free[n] |= taken;
	p->starved_kinds &= ~sm->m->pool_kinds[n];
	sm->moved = true;
	p->ready[n] &= ~taken;
	if (!p->ready[n])
		p->ready_pools &= ~(1u << n);
}

/* From the pool of a kind that has room for what is collected. */
static inline void dispatch_kind(struct ov_sm *sm, struct ov_partition *p, uint32_t kind)
{
	struct ov_pool *pool = &p->pools[kind];
	struct ov_lane *l = &p->lanes[kind];
	const struct ov_collector *collectors = &sm->collectors[pool->first];
	uint32_t room = l->size - l->collected_count, most = room < pool->dispatchers ? room : pool->dispatchers, taken = 0;
	uint64_t ready = p->ready[kind], before = ready;
	do {
		uint64_t next = next_ready(ready, pool->last[taken]);
		uint32_t n = (uint32_t)__builtin_ctzll(next);
		pool->last[taken++] = (uint16_t)n;
		ready &= ~(next & -next);
		insert_collected(l, &collectors[n].flight);
	} while (ready && taken < most);
	sm->collected_kinds |= 1u << kind;
	if (taken == room)
		p->choked_kinds |= 1u << kind;
	free_collectors(sm, p, kind, before & ~ready);
}

/* From the pool that kinds without collectors of their own share. */
static void dispatch_pool(struct ov_sm *sm, struct ov_partition *p, uint32_t n)
{
	struct ov_pool *pool = &p->pools[n];
	const struct ov_collector *collectors = &sm->collectors[pool->first];
	uint64_t ready = p->ready[n] & ~p->refused, taken = 0;
	for (uint32_t d = 0, dispatchers = pool->dispatchers; d < dispatchers && ready;) {
		uint32_t unit = (uint32_t)__builtin_ctzll(next_ready(ready, pool->last[d]));
		const struct ov_flight *f = &collectors[unit].flight;
		struct ov_lane *l = &p->lanes[f->kind];
		ready &= ~(1ULL << unit);
		if (l->collected_count < l->size) {
			pool->last[d++] = (uint16_t)unit;
			insert_collected(l, f);
			taken |= 1ULL << unit;
			sm->collected_kinds |= 1u << f->kind;
			if (l->collected_count == l->size)
				p->choked_kinds |= 1u << f->kind;
		} else {
			p->refused |= 1ULL << unit; /* until a unit takes something from the lane */
		}
	}
	if (taken)
		free_collectors(sm, p, n, taken);
}

static inline void read_done(struct ov_partition *p, const struct ov_collector *c)
{
	p->ready[c->pool] |= c->bit;
	p->ready_pools |= 1u << c->pool;
}

static void ov_read_done(struct ov_sm *sm, uint32_t collector)
{
	const struct ov_collector *c = &sm->collectors[collector];
	read_done(&sm->partitions[c->partition], c);
}

/* Of banks just read, those that are to be read once more, and those still needed. */
static uint64_t ask_again(struct ov_sm *sm, uint32_t collector, uint64_t banks, uint64_t need)
{
	struct ov_collector *c = &sm->collectors[collector];
	uint8_t *more = &sm->more[(size_t)collector * sm->m->max_reads];
	for (uint32_t i = 0; i < c->more;) {
		uint64_t bank = sm->m->bank_bits << more[i];
		if (banks & bank && !(need & bank)) {
			need |= bank;
			more[i] = more[--c->more];
		} else {
			i++;
		}
	}
	return need;
}

/* A bank answers the first that asks, unless it is being written. */
static inline void read_banks(struct ov_sm *sm, struct ov_partition *p)
{
	struct ov_reading *kept = p->reading;
	uint64_t idle = ~p->written_banks, waiting = 0;
	uint32_t pools = 0;
	for (const struct ov_reading *r = p->reading, *end = r + p->reading_count; r < end; r++) {
		const struct ov_collector *c = &sm->collectors[r->collector];
		uint64_t need = r->need & ~idle;
		if (c->more)
			need = ask_again(sm, r->collector, r->need & idle, need);
		idle &= ~r->need;
		waiting |= need;
		uint64_t done = -(uint64_t)!need; /* no branch: it could not be predicted */
		*kept = (struct ov_reading){need, r->collector};
		kept += need != 0;
		p->ready[c->pool] |= c->bit & done;
		pools |= (uint32_t)done & 1u << c->pool;
	}
	p->ready_pools |= pools;
	/* Something is read in this cycle or, written banks being free again, in the next. */
	sm->moved = true;
	p->reading_count = (uint32_t)(kept - p->reading);
	p->waiting_banks = waiting;
}

static void note_repeats(struct ov_sm *sm, uint32_t collector, const struct ov_op *op, const struct ov_warp *w)
{
	const struct kernel_code *code = sm->m->launch->code;
	const uint16_t *reads = &code->operands[op->first_operand + op->writes];
	uint8_t *more = &sm->more[(size_t)collector * sm->m->max_reads];
	uint16_t count = 0;
	uint64_t seen = 0;
	for (uint32_t i = 0; i < op->reads; i++) {
		uint32_t bank = (code->register_table[reads[i]].number + w->bank) % sm->m->banks;
		if (seen >> bank & 1)
			more[count++] = (uint8_t)bank;
		seen |= 1ULL << bank;
	}
	sm->collectors[collector].more = count;
	sm->conflicts += count;
}

/* Counts the reads that find the bank's queue not empty. */
static inline void ask_banks(struct ov_sm *sm, struct ov_partition *p, const struct ov_op *op, uint32_t collector, uint32_t slot)
{
	const struct ov_warp *w = &sm->warps[slot];
	uint64_t need = ov_rotate(sm->m, w, op->read_banks);
	for (uint64_t met = need & p->waiting_banks & sm->m->all_banks; met; met &= met - 1)
		sm->conflicts++;
	p->waiting_banks |= need;
	p->reading[p->reading_count++] = (struct ov_reading){need, collector};
	if (op->repeats)
		note_repeats(sm, collector, op, w);
}

static inline void collect(struct ov_sm *sm, struct ov_partition *p, uint32_t collector, const struct ov_flight *f)
{
	const struct ov_machine *m = sm->m;
	const struct ov_op *op = &sm->ops[f->op];
	struct ov_collector *c = &sm->collectors[collector];
	c->flight = *f;
	if (op->reads == 0)
		read_done(p, c);
	else if (ov_resolves_banks(m))
		ask_banks(sm, p, op, collector, f->slot);
	else
		ov_schedule(sm, sm->now + m->read_cycles + ov_extra_cycles(&sm->read_debt, m->options->extra_read_cycles), OV_READ_DONE, 0, collector);
}

/* There is something in the port, and a collector free. */
static inline void allocate_kind(struct ov_sm *sm, struct ov_partition *p, uint32_t kind)
{
	struct ov_lane *l = &p->lanes[kind];
	uint64_t free = p->free[l->pool];
	uint32_t taken = 0, count = l->port_count, first = p->pools[l->pool].first;
	do {
		collect(sm, p, first + (uint32_t)__builtin_ctzll(free), &l->port[taken]);
		free &= free - 1;
	} while (++taken < count && free);
	p->free[l->pool] = free;
	if (!free)
		p->starved_kinds |= sm->m->pool_kinds[l->pool];
	l->port_count = (uint16_t)(count - taken);
	for (uint32_t i = taken; i < count; i++)
		l->port[i - taken] = l->port[i];
	sm->moved = true;
	p->open[kind] = ~0ULL;
	if (taken == count)
		p->port_kinds &= ~(1u << kind);
}

static inline void collect_step(struct ov_sm *sm, struct ov_partition *p)
{
	/* A kind's own pool has the kind's bit. */
	for (uint32_t bits = p->ready_pools & ~(p->choked_kinds | 1u << OV_KINDS); bits; bits &= bits - 1)
		dispatch_kind(sm, p, (uint32_t)__builtin_ctz(bits));
	if (p->ready_pools >> OV_KINDS)
		dispatch_pool(sm, p, OV_KINDS);
	if (p->reading_count)
		read_banks(sm, p);
	p->written_banks = 0;
	/* One kind may take the last collector of the next. */
	for (uint32_t bits = p->port_kinds & ~p->starved_kinds; bits; bits &= (bits - 1) & ~p->starved_kinds)
		allocate_kind(sm, p, (uint32_t)__builtin_ctz(bits));
}

static inline void ov_collect(struct ov_sm *sm)
{
	const struct ov_machine *m = sm->m;
	for (uint32_t i = 0; i < ov_collector_steps(m); i++)
		for (struct ov_partition *p = sm->partitions, *end = p + ov_partitions(m); p < end; p++)
			if (p->ready_pools | p->reading_count | p->port_kinds)
				collect_step(sm, p);
			else
				p->written_banks = 0;
}

#endif
