/* Whether what a scheduler has chosen finds what it needs in this cycle (state/needs.h), and what it then takes. */
#ifndef GPUSIM_MODELS_SM_NEEDS_H
#define GPUSIM_MODELS_SM_NEEDS_H

#include "models/sm/variant.h"

/* The half that takes it, or -1. */
static inline int free_half(const struct ov_sm *sm, const struct ov_partition *p, enum ov_half half)
{
	bool heavy = p->half_free[0] <= sm->now, lite = p->half_free[1] <= sm->now;
	if (half != OV_LITE && heavy)
		return 0;
	return half != OV_HEAVY && lite ? 1 : -1;
}

static inline bool ov_is_held(struct ov_sm *sm, uint32_t partition)
{
	bool held = sm->m->needs && sm->partitions[partition].held_until > sm->now;
	sm->recheck |= held;
	return held;
}

static inline bool ov_finds_units(struct ov_sm *sm, uint32_t slot, uint32_t partition)
{
	const struct ov_partition *p = &sm->partitions[partition];
	const struct ov_needs *n = &sm->m->needs[sm->warps[slot].pc];
	bool finds = (!n->half || free_half(sm, p, (enum ov_half)n->half) >= 0) && (!n->sync || p->sync_free <= sm->now);
	sm->recheck |= !finds;
	return finds;
}

/* Whether a bank that is to be read is kept by operands that are read in turn. */
static inline bool ov_meets_turns(const struct ov_sm *sm, uint32_t partition, const uint8_t *reads)
{
	const struct ov_partition *p = &sm->partitions[partition];
	bool meets = false;
	for (uint32_t b = 0; b < READ_PORT_BANKS && sm->m->needs; b++)
		meets |= reads[b] && p->turn_until[b] > sm->now;
	return meets;
}

static inline void read_in_turn(const struct ov_sm *sm, struct ov_partition *p, const struct ov_needs *n)
{
	uint64_t at = p->turn_free > sm->now ? p->turn_free : sm->now;
	for (uint32_t r = 0; r < n->in_turn; r++, at++)
		p->turn_until[n->banks >> OV_BANK_BITS * r & (READ_PORT_BANKS - 1)] = at + 2;
	p->turn_free = at;
}

static inline void ov_takes(struct ov_sm *sm, uint32_t op, uint32_t partition)
{
	struct ov_partition *p = &sm->partitions[partition];
	const struct ov_needs *n = &sm->m->needs[op];
	if (n->half)
		p->half_free[free_half(sm, p, (enum ov_half)n->half)] = sm->now + n->cycles;
	if (n->sync)
		p->sync_free = sm->now + n->sync;
	if (n->in_turn)
		read_in_turn(sm, p, n);
	p->held_until = sm->now + 1 + n->held;
}

#endif
