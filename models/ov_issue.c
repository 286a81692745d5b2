/*
 * Occupancy vector: issue.
 *
 * GATSim, Algorithm 1, lines 6 to 20: of the warps that are ready and whose unit has a free entry, the scheduler's policy
 * chooses one, which then goes on along its path. A warp is ready when its buffer holds its next instruction
 * and no register of it is pending; that replaces the latency per instruction of the algorithm, and equals it where a
 * warp is alone or each instruction needs the one before.
 */
#include "models/ov.h"

#include <string.h>

/* A register that the instruction has to wait for, or OV_NONE. */
static uint32_t find_pending(const struct ov_sm *sm, uint32_t slot, const struct ov_op *op)
{
	const uint16_t *operand = &sm->m->operands[op->first_operand];
	const uint16_t *end = operand + op->writes + op->reads + op->waits;
	const uint8_t *registers = &sm->registers[(size_t)slot * sm->m->register_count];
	for (; operand < end; operand++)
		if (registers[*operand])
			return *operand;
	return OV_NONE;
}

static void flip_ready(const struct ov_scheduler *s, const struct ov_warp *w)
{
	uint64_t *ready = &s->ready[w->position / 64 * (OV_KINDS + 1)], bit = 1ULL << w->position % 64;
	ready[w->ready_kind] ^= bit;
	ready[OV_KINDS] ^= bit;
}

static inline void leave_masks(struct ov_scheduler *s, struct ov_warp *w)
{
	if (w->ready_kind != OV_NONE) {
		flip_ready(s, w);
		w->ready_kind = OV_NONE;
		return;
	}
	if (w->flush)
		ov_clear(s->flush, w->position);
	else if (w->memory_blocked || !w->blocked)
		ov_clear(s->long_wait, w->position);
	w->blocked = w->flush = w->memory_blocked = false;
}

static void block_warp(struct ov_sm *sm, struct ov_scheduler *s, struct ov_warp *w, uint32_t slot)
{
	w->blocked = true;
	w->memory_blocked = sm->registers[(size_t)slot * sm->m->register_count + w->blocked_on] == OV_LOADING;
	if (w->memory_blocked)
		ov_set(s->long_wait, w->position);
}

void ov_update_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	struct ov_scheduler *s = &sm->schedulers[w->scheduler];
	leave_masks(s, w);
	if (w->wait && !w->finished) {
		ov_set(s->long_wait, w->position);
	} else if (w->buffered && w->buffer_pc != w->pc) {
		w->flush = true;
		ov_set(s->flush, w->position);
	} else if (w->buffered) {
		const struct ov_op *op = &sm->m->ops[w->pc];
		if (w->pending && (w->blocked_on = find_pending(sm, slot, op)) != OV_NONE) {
			block_warp(sm, s, w, slot);
			return;
		}
		w->ready_kind = op->kind;
		flip_ready(s, w);
	}
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
static void renumber(struct ov_sm *sm, struct ov_scheduler *s)
{
	uint32_t words = sm->m->position_words, count = 0;
	uint64_t unfinished[OV_MAX_WORDS];
	memcpy(unfinished, s->unfinished, words * sizeof *unfinished);
	uint64_t *masks[] = {s->flush, s->unfinished, s->long_wait, s->active};
	for (uint32_t i = 0; i < GS_ARRAY_LEN(masks); i++)
		memset(masks[i], 0, words * sizeof(uint64_t));
	memset(s->ready, 0, (size_t)words * (OV_KINDS + 1) * sizeof(uint64_t));
	s->last_position = sm->m->positions - 1;
	for (uint32_t i = 0; i < words; i++)
		for (uint64_t bits = unfinished[i]; bits; bits &= bits - 1) {
			uint32_t slot = s->slot_at[i * 64 + (uint32_t)__builtin_ctzll(bits)];
			place_warp(sm, s, slot, count++);
		}
	s->next_position = count;
	for (uint32_t i = 0; i < count; i++) {
		sm->warps[s->slot_at[i]].ready_kind = OV_NONE;
		ov_update_warp(sm, s->slot_at[i]);
	}
}

void ov_add_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	struct ov_scheduler *s = &sm->schedulers[w->scheduler];
	if (sm->m->by_age && s->next_position == sm->m->positions)
		renumber(sm, s);
	place_warp(sm, s, slot, sm->m->by_age ? s->next_position++ : slot / sm->m->schedulers);
}

static void release_barrier(struct ov_sm *sm, uint32_t group)
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

static void check_barrier(struct ov_sm *sm, uint32_t group)
{
	const struct ov_group *g = &sm->groups[group];
	if (g->arrived && g->arrived >= g->unfinished)
		release_barrier(sm, group);
}

/* It issues nothing more. It retires when all that it has issued is complete. */
void ov_finish_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	struct ov_scheduler *s = &sm->schedulers[w->scheduler];
	sm->groups[w->group].arrived -= w->wait == OV_AT_BARRIER;
	w->finished = true;
	w->wait = OV_RUNS;
	leave_masks(s, w);
	ov_clear(s->unfinished, w->position);
	ov_flush_buffer(sm, slot, 0);
	if (w->in_flight == 0)
		ov_may_retire(sm, slot);
	sm->groups[w->group].unfinished--;
	check_barrier(sm, w->group);
}

/* What the memory system does with the warp's next instruction. */
static void look_up_access(const struct ov_sm *sm, const struct ov_warp *w, struct ov_flight *f)
{
	const struct launch_warps *launch = sm->m->launch;
	bool own = w->access != w->access_end;
	f->request = own ? (uint32_t)(w->access - w->access_begin) : OV_NONE;
	f->accesses = own ? *w->access : launch->usual_accesses ? launch->usual_accesses[w->pc] : 1;
	f->wait = own && w->memory_wait ? *w->memory_wait : launch->usual_waits ? launch->usual_waits[w->pc] : 0;
}

static void take_access(struct ov_warp *w)
{
	if (w->access == w->access_end)
		return;
	w->access++;
	w->memory_wait += w->memory_wait != NULL;
}

static void reserve_registers(struct ov_sm *sm, uint32_t slot, const struct ov_op *op)
{
	uint8_t *registers = &sm->registers[(size_t)slot * sm->m->register_count];
	const uint16_t *operands = &sm->m->operands[op->first_operand];
	for (uint32_t i = 0, writes = op->writes; i < writes; i++)
		registers[operands[i]] = op->kind == OV_LDST ? OV_LOADING : OV_PENDING;
	sm->warps[slot].pending += op->writes;
}

bool ov_next_block(const struct ov_sm *sm, struct ov_warp *w)
{
	while (!w->left && w->block != w->block_end) {
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
	if (wait != OV_AT_FENCE || w->pending)
		w->wait = (uint8_t)wait;
}

/* What the warp is after it has issued the instruction at pc. */
static void step_warp(struct ov_sm *sm, uint32_t slot, const struct ov_op *op)
{
	struct ov_warp *w = &sm->warps[slot];
	uint32_t next = w->pc + 1;
	w->buffered--;
	w->buffer_pc = next;
	w->pc = next;
	w->left--;
	if (op->stops)
		stop_warp(sm, w, (enum ov_wait)op->stops);
	if (!ov_next_block(sm, w)) {
		ov_finish_warp(sm, slot);
		return;
	}
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

static inline bool accept(struct ov_sm *sm, uint32_t partition, const struct ov_flight *f)
{
	if (!sm->m->collects)
		return ov_unit_takes(sm, partition, f);
	struct ov_partition *p = &sm->partitions[partition];
	struct ov_lane *l = &p->lanes[f->kind];
	if (l->port_count == l->size)
		return false;
	l->port[l->port_count++] = *f;
	p->port_kinds |= 1u << f->kind;
	if (l->port_count == l->size)
		p->full_kinds |= 1u << f->kind;
	return true;
}

static bool issue_warp(struct ov_sm *sm, uint32_t slot)
{
	struct ov_warp *w = &sm->warps[slot];
	const struct ov_op *op = &sm->m->ops[w->pc];
	struct ov_flight f = {.op = w->pc, .uid = sm->uid, .slot = (uint16_t)slot, .kind = op->kind, .accesses = 1};
	if (op->accesses)
		look_up_access(sm, w, &f);
	if (!accept(sm, ov_partition(sm->m, slot), &f))
		return false;
	if (op->accesses)
		take_access(w);
	reserve_registers(sm, slot, op);
	w->in_flight++;
	if (sm->m->on_issue)
		sm->m->on_issue(sm->m->options->ctx, sm->now, slot, w->pc);
	sm->uid++;
	sm->issued++;
	sm->instructions++;
	step_warp(sm, slot, op);
	return true;
}

/* The warps that a scheduler would stop at: to issue, or to flush. */
static bool find_candidates(const struct ov_sm *sm, const struct ov_scheduler *s, uint32_t partition, uint64_t *mask)
{
	uint32_t words = sm->m->position_words, full = sm->partitions[partition].full_kinds;
	uint64_t any = 0;
	for (uint32_t w = 0; w < words; w++) {
		const uint64_t *ready = &s->ready[w * (OV_KINDS + 1)];
		uint64_t found = ready[OV_KINDS];
		for (uint32_t kinds = full; kinds; kinds &= kinds - 1)
			found &= ~ready[__builtin_ctz(kinds)];
		found |= s->flush[w];
		mask[w] = found;
		any |= found;
	}
	return any != 0;
}

/* Further instructions of the warp that has just issued one. */
static void issue_more(struct ov_sm *sm, const struct ov_scheduler *s, uint32_t slot)
{
	const struct ov_warp *w = &sm->warps[slot];
	for (uint32_t n = 1; n < sm->m->gpu->issue_per_scheduler && w->ready_kind != OV_NONE; n++)
		if (s->slot_at[w->position] != slot || !issue_warp(sm, slot))
			break;
}

static void run_scheduler(struct ov_sm *sm, uint32_t n)
{
	struct ov_scheduler *s = &sm->schedulers[n];
	uint64_t mask[OV_MAX_WORDS];
	uint32_t position;
	if (!find_candidates(sm, s, sm->m->partitions == 1 ? 0 : n, mask))
		return;
	ov_pick_fn *pick = ov_policies[sm->m->gpu->scheduler_policy];
	while ((position = pick(sm->m, s, mask)) != OV_NONE) {
		uint32_t slot = s->slot_at[position];
		if (sm->warps[slot].flush) {
			ov_flush_buffer(sm, slot, sm->warps[slot].pc);
			ov_update_warp(sm, slot);
			sm->moved = true;
		} else if (issue_warp(sm, slot)) {
			s->last_slot = slot;
			s->last_position = position;
			sm->moved = true;
			issue_more(sm, s, slot);
			return;
		}
		ov_clear(mask, position);
	}
}

/* Which scheduler goes first alternates: they compete for what they share. */
void ov_issue(struct ov_sm *sm)
{
	uint32_t count = sm->m->schedulers, n = sm->turn;
	sm->issued = 0;
	for (uint32_t i = 0; i < count; i++, n = n + 1 == count ? 0 : n + 1)
		run_scheduler(sm, n);
}
