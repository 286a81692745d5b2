/*
 * Occupancy vector: what happens later. A wheel of OV_WHEEL cycles; an event further away stays in its place for more turns.
 */
#ifndef GPUSIM_MODELS_SM_WHEEL_H
#define GPUSIM_MODELS_SM_WHEEL_H

#include "models/sm/copies.h"
#include "models/sm/memory.h"
#include "models/sm/variant.h"

#include <errno.h>
#include <stdlib.h>

/* Nothing of this cycle: its events are being dealt with, or have been. */
static inline void ov_schedule(struct ov_sm *sm, uint64_t time, enum ov_event_kind kind, uint32_t slot, uint32_t op)
{
	uint32_t n = pool_take(&sm->event_pool, sm->events, next), place = time % OV_WHEEL;
	if (__builtin_expect(n == POOL_NONE, 0)) {
		sm->error = -ENOMEM;
		return;
	}
	struct ov_event *e = &sm->events[n];
	e->time = (uint32_t)time;
	e->next = sm->wheel[place];
	e->op = op;
	e->slot = (uint16_t)slot;
	e->kind = (uint16_t)kind;
	sm->wheel[place] = n;
	sm->wheel_used[place / 64] |= 1ULL << place % 64;
}

static inline void free_event(struct ov_sm *sm, uint32_t n)
{
	pool_give(&sm->event_pool, sm->events, next, n);
}

/* The earliest in a bucket. */
static uint64_t bucket_time(const struct ov_sm *sm, uint32_t place)
{
	uint32_t least = UINT32_MAX;
	for (uint32_t n = sm->wheel[place]; n != OV_NONE; n = sm->events[n].next) {
		uint32_t ahead = sm->events[n].time - (uint32_t)sm->now;
		least = ahead < least ? ahead : least;
	}
	return sm->now + least;
}

static uint64_t ov_next_event(const struct ov_sm *sm)
{
	uint64_t best = OV_NEVER;
	for (uint32_t d = 1; d <= OV_WHEEL; d++) {
		uint32_t place = ov_next_bit(sm->wheel_used, OV_WHEEL / 64, (uint32_t)((sm->now + d) % OV_WHEEL));
		if (place == OV_NONE)
			break;
		uint32_t distance = (uint32_t)((place - sm->now - 1) % OV_WHEEL) + 1;
		if (distance < d)
			break;
		d = distance;
		uint64_t time = bucket_time(sm, place);
		best = time < best ? time : best;
		if (best <= sm->now + d)
			break;
	}
	return best;
}

static inline void complete_instruction(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	w->in_flight--;
	if (w->finished && w->in_flight == 0)
		ov_may_retire(sm, slot);
}

/* All registers that it writes but the first. */
static __attribute__((noinline)) void mark_registers(const struct ov_machine *m, uint16_t *registers, const struct ov_op *op,
                                                     enum ov_register state)
{
	const uint16_t *operands = &m->operands[op->first_operand];
	for (uint32_t i = 1; i < op->writes; i++)
		registers[operands[i]] = (uint16_t)state;
}

static inline void pass_fence(struct ov_sm *sm, struct ov_warp *w, uint32_t slot)
{
	w->wait = OV_RUNS;
	ov_update_warp(sm, slot);
}

/* Without masks: after a register was written. */
static inline void pass_written(struct ov_sm *sm, struct ov_warp *w, uint32_t slot, const uint16_t *registers)
{
	if (w->wait == OV_AT_FENCE && w->pending == 0)
		pass_fence(sm, w, slot);
	else if ((w->place == OV_BLOCKED || w->place == OV_LOAD_BLOCKED) && !registers[w->blocked_on])
		ov_update_blocked(sm, slot);
}

static inline void release_masked(struct ov_sm *sm, struct ov_warp *w, uint32_t slot, const struct ov_op *op)
{
	w->unwritten &= ~op->sets;
	w->loading &= ~op->sets;
	if (w->wait == OV_AT_FENCE && !w->unwritten)
		pass_fence(sm, w, slot);
	else if (w->blocking && !(w->unwritten & w->blocking))
		ov_update_blocked(sm, slot);
}

static inline void release_registers(struct ov_sm *sm, uint32_t slot, const struct ov_op *op)
{
	struct ov_warp *w = &sm->warps[slot];
	if (__builtin_expect(op->copies == OV_COPY, 0))
		ov_copy_ended(sm, w, slot);
	if (ov_masks(sm->m)) {
		release_masked(sm, w, slot, op);
		return;
	}
	uint16_t *registers = &sm->registers[(size_t)slot * sm->m->register_count];
	registers[op->target] = OV_WRITTEN;
	if (op->writes > 1)
		mark_registers(sm->m, registers, op, OV_WRITTEN);
	w->pending -= op->writes;
	w->unwritten &= -(uint64_t)(w->pending != 0);
	pass_written(sm, w, slot, registers);
}

static void release_mark(struct ov_sm *sm, uint32_t slot, uint16_t mark)
{
	struct ov_warp *w = &sm->warps[slot];
	uint16_t *registers = &sm->registers[(size_t)slot * sm->m->register_count];
	registers[mark - 1] = OV_WRITTEN;
	w->pending--;
	w->unwritten &= -(uint64_t)(w->pending != 0);
	pass_written(sm, w, slot, registers);
}

/* An access has read its operands: what waited to write them may go on. */
static void ov_operands_read(struct ov_sm *sm, uint32_t slot, uint32_t n)
{
	if (sm->m->marks[n].read)
		release_mark(sm, slot, sm->m->marks[n].read);
}

static void end_stall(struct ov_sm *sm, uint32_t slot, uint32_t n)
{
	release_mark(sm, slot, sm->m->marks[n].stall);
	complete_instruction(sm, slot);
}

/* A unit's result always finds its bank; reads of this cycle wait for it. */
static inline void write_banks(struct ov_sm *sm, uint32_t slot, const struct ov_op *op)
{
	if (ov_resolves_banks(sm->m))
		ov_partition_of(sm, slot)->written_banks |= ov_rotate(sm->m, &sm->warps[slot], op->write_banks);
}

static inline void write_result(struct ov_sm *sm, uint32_t slot, uint32_t n)
{
	const struct ov_op *op = &sm->ops[n];
	write_banks(sm, slot, op);
	release_registers(sm, slot, op);
	complete_instruction(sm, slot);
}

static void ov_complete_result(struct ov_sm *sm, uint32_t slot, uint32_t op)
{
	write_result(sm, slot, op);
}

/* Of shared memory: one after the other, and not while a unit writes to the bank. */
static inline void ov_write_load_results(struct ov_sm *sm)
{
	uint32_t limit = sm->m->gpu->load_results;
	for (uint32_t done = 0; sm->results_head != OV_NONE && (done < limit || !limit); done++) {
		uint32_t n = sm->results_head;
		struct ov_event *e = &sm->events[n];
		const struct ov_op *op = &sm->ops[e->op];
		uint64_t banks = ov_resolves_banks(sm->m) ? ov_rotate(sm->m, &sm->warps[e->slot], op->write_banks) : 0;
		uint64_t *written = &ov_partition_of(sm, e->slot)->written_banks;
		if (limit && *written & banks)
			break;
		*written |= banks;
		sm->results_head = e->next;
		release_registers(sm, e->slot, op);
		complete_instruction(sm, e->slot);
		free_event(sm, n);
		sm->moved = true;
	}
	if (sm->results_head == OV_NONE)
		sm->results_tail = OV_NONE;
}

static void queue_load_result(struct ov_sm *sm, uint32_t n)
{
	sm->events[n].next = OV_NONE;
	if (sm->results_tail == OV_NONE)
		sm->results_head = n;
	else
		sm->events[sm->results_tail].next = n;
	sm->results_tail = n;
}

/* What the warp did before is done first; then the fence goes to L2 and back. L1 forgets what it has. */
static void pass_gpu_fence(struct ov_sm *sm, uint32_t slot)
{
	enum { LOOK_AGAIN = 8 };
	const struct ov_warp *w = &sm->warps[slot];
	if (w->in_flight) {
		ov_schedule(sm, sm->now + LOOK_AGAIN, OV_FENCED, slot, 0);
		return;
	}
	uint64_t from = w->acknowledged > sm->now ? w->acknowledged : sm->now;
	ov_schedule(sm, from + sm->m->gpu->fence_latency, OV_BRANCHED, slot, 0);
	ov_memory_forgets(sm);
}

static void process(struct ov_sm *sm, const struct ov_event *e)
{
	switch ((enum ov_event_kind)e->kind) {
	case OV_WRITE:
		write_result(sm, e->slot, e->op);
		break;
	case OV_LOADED:
		release_registers(sm, e->slot, &sm->ops[e->op]);
		complete_instruction(sm, e->slot);
		break;
	case OV_ATOMIC_BACK:
	case OV_BRANCHED:
		sm->warps[e->slot].wait = OV_RUNS;
		ov_update_warp(sm, e->slot);
		break;
	case OV_FENCED:
		pass_gpu_fence(sm, e->slot);
		break;
	case OV_STALL_ENDS:
		end_stall(sm, e->slot, e->op);
		break;
	case OV_BARRIER_OPENS:
		ov_release_barrier(sm, e->slot);
		break;
	case OV_PART_WRITTEN:
		write_banks(sm, e->slot, &sm->ops[e->op]);
		break;
	case OV_READ_DONE:
		ov_read_done(sm, e->op);
		break;
	case OV_GROUP:
		ov_group_comes(sm, e->op);
		break;
	case OV_L1:
		ov_memory_step(sm);
		break;
	case OV_ANSWER:
		ov_memory_answer(sm, e->op);
		break;
	case OV_STORED:
	case OV_SHARED_RESULT:
		complete_instruction(sm, e->slot);
		break;
	}
}

static inline void ov_process_events(struct ov_sm *sm)
{
	uint32_t place = sm->now % OV_WHEEL, n = sm->wheel[place], next, later = OV_NONE;
	if (n == OV_NONE)
		return;
	sm->wheel[place] = OV_NONE;
	sm->wheel_used[place / 64] &= ~(1ULL << place % 64);
	for (; n != OV_NONE; n = next) {
		const struct ov_event e = sm->events[n];
		next = e.next;
		if (e.time != (uint32_t)sm->now) {
			sm->events[n].next = later;
			later = n;
			continue;
		}
		sm->moved = true;
		sm->woken |= !OV_PLAIN && e.kind < OV_L1;
		if (e.kind == OV_SHARED_RESULT) {
			queue_load_result(sm, n);
			continue;
		}
		free_event(sm, n);
		if (e.kind == OV_WRITE)
			write_result(sm, e.slot, e.op);
		else
			process(sm, &e);
	}
	if (later != OV_NONE) {
		sm->wheel[place] = later;
		sm->wheel_used[place / 64] |= 1ULL << place % 64;
	}
}

#endif
