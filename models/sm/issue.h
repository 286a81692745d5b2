/*
 * Occupancy vector: issue (GATSim, Algorithm 1, lines 6 to 20).
 *
 * The scheduler's policy chooses among warps that are ready and whose unit has a free entry. The chosen warp then goes on
 * along its path. A warp is ready when its buffer holds its next instruction and no register of it is pending. That replaces
 * the algorithm's latency per instruction, and equals it where a warp is alone, or where each instruction needs the one
 * before.
 */
#ifndef GPUSIM_MODELS_SM_ISSUE_H
#define GPUSIM_MODELS_SM_ISSUE_H

#include "models/sm/constants.h"
#include "models/sm/copies.h"
#include "models/sm/needs.h"
#include "models/sm/gaps.h"
#include "models/sm/policies.h"
#include "models/sm/units.h"
#include "models/sm/variant.h"
#include "models/sm/wheel.h"

#include <string.h>

/* A register that the instruction has to wait for, or OV_NONE. */
static uint32_t find_pending(const struct ov_sm *sm, uint32_t slot, const struct ov_op *op)
{
	const uint16_t *operand = &sm->m->operands[op->first_operand];
	const uint16_t *end = operand + op->writes + op->reads + op->waits;
	const uint16_t *registers = &sm->registers[(size_t)slot * sm->m->register_count];
	for (; operand < end; operand++)
		if (registers[*operand])
			return *operand;
	return OV_NONE;
}

/* Of those that are pending, the first in the order of operands. */
static __attribute__((noinline)) uint64_t first_pending(const struct ov_machine *m, const struct ov_op *op, uint64_t pending)
{
	const uint16_t *operand = &m->operands[op->first_operand];
	while (!(pending >> *operand & 1))
		operand++;
	return 1ULL << *operand;
}

/* With masks it waits for all of them at once, unless loads write only some: then for the first, which says what it waits for. */
static inline enum ov_place masked_place(const struct ov_sm *sm, struct ov_warp *w, const struct ov_op *op)
{
	uint64_t pending = w->unwritten & op->uses, loads = pending & w->loading;
	enum ov_place blocked = loads ? OV_LOAD_BLOCKED : OV_BLOCKED;
	w->blocking = pending;
	if (__builtin_expect((loads != 0) & (loads != pending), 0)) {
		w->blocking = first_pending(sm->m, op, pending);
		blocked = w->blocking & loads ? OV_LOAD_BLOCKED : OV_BLOCKED;
	}
	return pending ? blocked : (enum ov_place)op->kind;
}

/* Where a warp belongs whose buffer begins with its next instruction. */
static inline enum ov_place ready_place(const struct ov_sm *sm, struct ov_warp *w, uint32_t slot)
{
	const struct ov_op *op = &sm->ops[w->pc];
	if (ov_masks(sm->m))
		return masked_place(sm, w, op);
	if (!(w->unwritten & op->uses))
		return (enum ov_place)op->kind;
	uint32_t reg = find_pending(sm, slot, op);
	if (reg == OV_NONE)
		return (enum ov_place)op->kind;
	w->blocked_on = reg;
	return sm->registers[(size_t)slot * sm->m->register_count + reg] == OV_LOADING ? OV_LOAD_BLOCKED : OV_BLOCKED;
}

static inline void move_warp(struct ov_scheduler *s, struct ov_warp *w, enum ov_place place)
{
	uint64_t *places = ov_places(s, ov_word(w->position)), bit = 1ULL << w->position % 64;
	places[w->place] &= ~bit;
	places[place] |= bit;
	w->place = (uint16_t)place;
}

static inline void ov_update_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	enum ov_place place = w->wait                      ? OV_WAITS
	                    : !w->buffered                 ? OV_NOWHERE
	                    : w->buffer_pc != w->pc        ? OV_FLUSHES
	                                                   : ready_place(sm, w, slot);
	move_warp(&sm->schedulers[w->scheduler], w, place);
}

static inline void ov_update_blocked(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	move_warp(&sm->schedulers[w->scheduler], w, ready_place(sm, w, slot));
}

static void place_warp(struct ov_sm *sm, struct ov_scheduler *s, uint32_t slot, uint32_t position)
{
	sm->warps[slot].position = position;
	s->slot_at[position] = slot;
	ov_set(s->unfinished, position);
	if (sm->m->by_age && slot == s->last_slot)
		s->last_position = position;
}

/* Closes the gaps that finished warps have left. */
static inline void renumber(struct ov_sm *sm, struct ov_scheduler *s)
{
	uint32_t words = ov_position_words(sm->m), count = 0;
	uint64_t unfinished[OV_MAX_WORDS];
	memcpy(unfinished, s->unfinished, words * sizeof *unfinished);
	memset(s->unfinished, 0, words * sizeof *s->unfinished);
	memset(s->active, 0, words * sizeof *s->active);
	memset(s->places, 0, (size_t)words * OV_PLACES * sizeof *s->places);
	s->last_position = sm->m->positions - 1;
	for (uint32_t i = 0; i < words; i++)
		for (uint64_t bits = unfinished[i]; bits; bits &= bits - 1) {
			uint32_t slot = s->slot_at[i * 64 + (uint32_t)__builtin_ctzll(bits)];
			place_warp(sm, s, slot, count++);
		}
	s->next_position = count;
	for (uint32_t i = 0; i < count; i++)
		ov_update_warp(sm, s->slot_at[i]);
}

static inline void ov_add_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	struct ov_scheduler *s = &sm->schedulers[w->scheduler];
	if (sm->m->by_age && s->next_position == sm->m->positions)
		renumber(sm, s);
	place_warp(sm, s, slot, sm->m->by_age ? s->next_position++ : slot / sm->m->schedulers);
}

static void ov_release_barrier(struct ov_sm *sm, uint32_t group)
{
	struct ov_group *g = &sm->groups[group];
	g->arrived = 0;
	for (uint32_t i = 0; i < sm->m->warps_per_group; i++) {
		uint32_t slot = group * sm->m->warps_per_group + i;
		if (sm->warps[slot].wait != OV_AT_BARRIER)
			continue;
		sm->warps[slot].wait = OV_RUNS;
		ov_update_warp(sm, slot);
	}
}

/* All have arrived: they go on barrier_latency after the last of them. None of them issues or ends before that. */
static void check_barrier(struct ov_sm *sm, uint32_t group)
{
	const struct ov_group *g = &sm->groups[group];
	if (!g->arrived || g->arrived < g->unfinished)
		return;
	if (sm->m->barrier_cycles > 1)
		ov_schedule(sm, sm->now + sm->m->barrier_cycles, OV_BARRIER_OPENS, group, 0);
	else
		ov_release_barrier(sm, group);
}

/* It issues nothing more. It retires when all that it has issued is complete. */
static void ov_finish_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	struct ov_scheduler *s = &sm->schedulers[w->scheduler];
	sm->groups[w->group].arrived -= w->wait == OV_AT_BARRIER;
	w->finished = true;
	w->wait = OV_RUNS;
	move_warp(s, w, OV_NOWHERE);
	ov_clear(s->unfinished, w->position);
	ov_flush_buffer(sm, slot, 0);
	if (w->in_flight == 0)
		ov_may_retire(sm, slot);
	sm->groups[w->group].unfinished--;
	check_barrier(sm, w->group);
}

static void mark_pending(struct ov_warp *w, uint16_t *registers, uint16_t mark, enum ov_register state)
{
	registers[mark - 1] = (uint16_t)state;
	w->unwritten |= 1ULL << (mark - 1) % 64;
	w->pending++;
}

/* Others wait until the access has read its operands, and the warp until its next instruction may issue. */
static __attribute__((noinline)) void mark_more(struct ov_sm *sm, struct ov_warp *w, uint32_t slot, const struct ov_op *op)
{
	uint32_t n = (uint32_t)(op - sm->ops);
	const struct ov_marks *marks = &sm->m->marks[n];
	uint16_t *registers = &sm->registers[(size_t)slot * sm->m->register_count];
	if (marks->read)
		mark_pending(w, registers, marks->read, OV_LOADING);
	if (!marks->stall)
		return;
	mark_pending(w, registers, marks->stall, OV_PENDING);
	w->in_flight++;
	ov_schedule(sm, sm->now + marks->cycles, OV_STALL_ENDS, slot, n);
}

static inline void reserve_registers(struct ov_sm *sm, struct ov_warp *w, uint32_t slot, const struct ov_op *op)
{
	w->unwritten |= op->sets;
	if (__builtin_expect(op->copies, 0))
		ov_copies_issued(sm, w, slot, op);
	if (ov_masks(sm->m)) {
		w->loading |= op->sets & -(uint64_t)(op->marks == OV_LOADING);
		return;
	}
	uint16_t *registers = &sm->registers[(size_t)slot * sm->m->register_count];
	registers[op->target] = op->marks;
	if (op->writes > 1)
		mark_registers(sm->m, registers, op, (enum ov_register)op->marks);
	w->pending += op->writes;
	if (__builtin_expect(sm->m->marks != NULL, 0))
		mark_more(sm, w, slot, op);
}

static inline bool ov_next_block(const struct ov_sm *sm, struct ov_warp *w)
{
	while (!w->left && (w->block != w->block_end || ov_pass_gap(sm, w))) {
		const struct code_block *b = &sm->m->launch->code->blocks[*w->block++];
		w->pc = b->first;
		w->left = b->count;
	}
	return w->left > 0;
}

static void stop_warp(struct ov_sm *sm, struct ov_warp *w, enum ov_wait wait)
{
	if (wait == OV_AT_BARRIER)
		sm->groups[w->group].arrived++;
	if (wait != OV_AT_FENCE || w->unwritten)
		w->wait = (uint16_t)wait;
}

/* One unit of the SM finds the ways of all tables, one after the other. */
static uint64_t find_way(struct ov_sm *sm)
{
	const struct gpu *gpu = sm->m->gpu;
	uint64_t alone = sm->now + gpu->table_wait_cycles;
	sm->tables_free = (sm->tables_free > sm->now ? sm->tables_free : sm->now) + gpu->table_way_cycles;
	return sm->tables_free > alone ? sm->tables_free : alone;
}

/* After an instruction that ends a block or stops its warp. */
static __attribute__((noinline)) void leave_block(struct ov_sm *sm, struct ov_warp *w, uint32_t slot, const struct ov_op *op)
{
	uint32_t next = w->pc;
	if (op->stops)
		stop_warp(sm, w, (enum ov_wait)op->stops);
	if (!ov_next_block(sm, w)) {
		ov_finish_warp(sm, slot);
		return;
	}
	if (op->stops == OV_AT_BRANCH)
		ov_schedule(sm, sm->now + sm->m->gpu->branch_wait_cycles, OV_BRANCHED, slot, 0);
	else if (op->stops == OV_AT_TABLE)
		ov_schedule(sm, find_way(sm), OV_BRANCHED, slot, 0);
	else if (op->stops == OV_AT_GPU_FENCE)
		ov_schedule(sm, sm->now + 1, OV_FENCED, slot, 0);
	if (op->flags & CODE_EXIT)
		ov_flush_buffer(sm, slot, next);
	else if (w->pc != next && sm->m->gpu->flush_at_branch)
		ov_flush_buffer(sm, slot, w->pc);
	else
		ov_update_hungry(sm, w, slot);
	if (w->wait == OV_AT_BARRIER)
		check_barrier(sm, w->group);
	ov_update_warp(sm, slot);
}

/* What the warp is after it has issued the instruction at pc. */
static inline void step_warp(struct ov_sm *sm, struct ov_scheduler *s, struct ov_warp *w, uint32_t slot, const struct ov_op *op)
{
	w->buffered--;
	w->buffer_pc = ++w->pc;
	if ((--w->left == 0) | op->leaves) {
		leave_block(sm, w, slot, op);
		return;
	}
	sm->hungry[ov_word(slot)] |= (uint64_t)((w->buffered <= sm->m->refill_at) & !w->fetching) << slot % 64;
	move_warp(s, w, w->buffered ? ready_place(sm, w, slot) : OV_NOWHERE);
}

/* The next place in the port of its kind, which is not full. */
static inline struct ov_flight *enter_port(struct ov_partition *p, uint32_t kind)
{
	struct ov_lane *l = &p->lanes[kind];
	uint32_t at = l->port_count++;
	p->port_kinds |= 1u << kind;
	p->open[kind] = -(uint64_t)(at + 1 < l->size);
	return &l->port[at];
}

static inline __attribute__((always_inline)) bool issue_warp(struct ov_sm *sm, struct ov_scheduler *s, uint32_t slot, uint32_t partition)
{
	struct ov_warp *w = &sm->warps[slot];
	const struct ov_op *op = &sm->ops[w->pc];
	bool own = op->accesses & (w->access != w->access_count);
	if (!OV_PLAIN && __builtin_expect(op->constant, 0) && ov_has_memory(sm) && !ov_constant_is_there(sm, w, slot)) {
		ov_update_warp(sm, slot);
		return false;
	}
	struct ov_flight here, *f = ov_collects(sm->m) ? enter_port(&sm->partitions[partition], op->kind) : &here;
	f->op = w->pc;
	f->uid = sm->uid;
	f->request = w->access | -(uint32_t)!own; /* or OV_NONE */
	f->slot = (uint16_t)slot;
	f->kind = op->kind;
	if (f == &here && !ov_unit_takes(sm, partition, f))
		return false;
	w->access += own;
	reserve_registers(sm, w, slot, op);
	w->in_flight++;
	if (!OV_PLAIN && sm->m->on_issue)
		sm->m->on_issue(sm->m->options->ctx, sm->now, slot, w->pc);
	sm->uid++;
	sm->issued++;
	s->last_op = f->op;
	if (!OV_PLAIN && sm->m->needs)
		ov_takes(sm, f->op, partition);
	step_warp(sm, s, w, slot, op);
	return true;
}

/* The warps that a scheduler would stop at: to issue, or to flush. */
static inline bool find_candidates(const struct ov_sm *sm, const struct ov_scheduler *s, uint32_t partition, uint64_t *mask)
{
	uint32_t words = ov_position_words(sm->m);
	const uint64_t *open = sm->partitions[partition].open;
	uint64_t any = 0;
	for (uint32_t w = 0; w < words; w++) {
		const uint64_t *places = ov_places(s, w);
		uint64_t found = places[OV_FLUSHES];
#pragma GCC unroll 8
		for (uint32_t kind = 0; kind < OV_KINDS; kind++)
			found |= places[kind] & open[kind];
		mask[w] = found;
		any |= found;
	}
	return any != 0;
}

/* Further instructions of the warp that has just issued one. */
static __attribute__((noinline)) void issue_more(struct ov_sm *sm, struct ov_scheduler *s, uint32_t slot, uint32_t partition)
{
	const struct ov_warp *w = &sm->warps[slot];
	for (uint32_t n = 1; n < ov_issues(sm->m) && w->place < OV_KINDS; n++)
		if (s->slot_at[w->position] != slot || !sm->partitions[partition].open[w->place] ||
		    !issue_warp(sm, s, slot, partition))
			break;
}

/*
 * Whether the registers of the instruction can be read within the window: if not, the scheduler waits with it. That is
 * what NVIDIA's do from Volta on (Huerta et al., "Analyzing Modern NVIDIA GPU cores", 2025), and what docs/models.md has measurements of.
 */
static inline bool reads_in_time(struct ov_sm *sm, const struct ov_scheduler *s, uint32_t slot, uint32_t partition)
{
	uint32_t pc = sm->warps[slot].pc;
	const struct read_ports *ports = &sm->m->read_ports[pc];
	const uint8_t *reads = s->last_slot == slot && s->last_op + 1 == pc ? ports->after : ports->reads;
	uint64_t *until = sm->partitions[partition].read_until, next[READ_PORT_BANKS];
	if (sm->m->needs && sm->m->needs[pc].in_turn)
		return true;
	if (ov_meets_turns(sm, partition, reads))
		return false;
	for (uint32_t b = 0; b < READ_PORT_BANKS; b++) {
		bool idle = until[b] <= sm->now;
		next[b] = (idle ? sm->now : until[b]) + reads[b];
		if (!idle && next[b] > sm->now + sm->m->read_window)
			return false;
	}
	memcpy(until, next, sizeof next);
	return true;
}

static inline void run_scheduler(struct ov_sm *sm, uint32_t n)
{
	struct ov_scheduler *s = &sm->schedulers[n];
	uint64_t mask[OV_ONE_WORD ? 1 : OV_MAX_WORDS];
	uint32_t position, partition = ov_partitions(sm->m) == 1 ? 0 : n;
	if ((!OV_PLAIN && ov_is_held(sm, partition)) || !find_candidates(sm, s, partition, mask))
		return;
	while ((position = ov_pick(sm->m, s, mask)) != OV_NONE) {
		uint32_t slot = s->slot_at[position];
		if (sm->warps[slot].place == OV_FLUSHES) {
			ov_flush_buffer(sm, slot, sm->warps[slot].pc);
			ov_update_warp(sm, slot);
			sm->moved = true;
		} else if (!OV_PLAIN && sm->m->needs && !ov_finds_units(sm, slot, partition)) {
			; /* another one may */
		} else if (!OV_PLAIN && sm->m->read_ports && !reads_in_time(sm, s, slot, partition)) {
			sm->conflicts++;
			sm->recheck = true;
			return;
		} else if (issue_warp(sm, s, slot, partition)) {
			s->last_slot = slot;
			s->last_position = position;
			sm->moved = true;
			if (ov_issues(sm->m) > 1)
				issue_more(sm, s, slot, partition);
			return;
		}
		ov_clear(mask, position);
	}
}

/* Which scheduler goes first alternates: they compete for what they share. */
static inline void ov_issue(struct ov_sm *sm)
{
	uint32_t count = sm->m->schedulers, n = sm->turn;
	sm->issued = 0;
	for (uint32_t i = 0; i < count; i++, n = n + 1 == count ? 0 : n + 1)
		run_scheduler(sm, n);
	sm->instructions += sm->issued;
}

#endif
