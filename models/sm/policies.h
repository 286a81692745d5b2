/*
 * Occupancy vector: the orders in which schedulers choose warps.
 *
 * A scheduler's masks are by position. For policies by age, a position is the order of arrival; for the others, it is the
 * warp's slot.
 */
#ifndef GPUSIM_MODELS_SM_POLICIES_H
#define GPUSIM_MODELS_SM_POLICIES_H

#include "models/sm/variant.h"

static inline uint32_t pick_after_last(const struct ov_machine *m, const struct ov_scheduler *s, const uint64_t *mask)
{
	return ov_next_bit_after(mask, ov_position_words(m), s->last_position);
}

/* Loose round robin: begins with the warp after the one that issued last. */
static inline uint32_t pick_lrr(const struct ov_machine *m, struct ov_scheduler *s, const uint64_t *mask)
{
	return pick_after_last(m, s, mask);
}

static inline uint32_t pick_oldest(const struct ov_machine *m, struct ov_scheduler *s, const uint64_t *mask)
{
	(void)s;
	if (OV_ONE_WORD)
		return mask[0] ? (uint32_t)__builtin_ctzll(mask[0]) : OV_NONE;
	return ov_next_bit(mask, ov_position_words(m), 0);
}

/* Greedy, then oldest. What stays greedy is the slot: a new warp inherits it. */
static inline uint32_t pick_gto(const struct ov_machine *m, struct ov_scheduler *s, const uint64_t *mask)
{
	bool greedy = ov_bit(mask, s->last_position) & (s->slot_at[s->last_position] == s->last_slot);
	uint32_t oldest = pick_oldest(m, s, mask);
	return greedy ? s->last_position : oldest;
}

static inline uint32_t count_bits(const uint64_t *mask, uint32_t words)
{
	uint32_t count = 0;
	for (uint32_t w = 0; w < words; w++)
		count += (uint32_t)__builtin_popcountll(mask[w]);
	return count;
}

/*
 * Two levels: round robin among a few active warps. One that waits for memory or at a barrier makes room for the next
 * that does not.
 */
static inline uint32_t pick_two_level(const struct ov_machine *m, struct ov_scheduler *s, const uint64_t *mask)
{
	uint64_t chosen[OV_MAX_WORDS], able[OV_MAX_WORDS];
	for (uint32_t w = 0; w < ov_position_words(m); w++) {
		const uint64_t *places = ov_places(s, w);
		able[w] = s->unfinished[w] & ~(places[OV_LOAD_BLOCKED] | places[OV_WAITS]);
		s->active[w] &= able[w];
	}
	uint32_t count = count_bits(s->active, ov_position_words(m));
	for (uint32_t w = 0; w < ov_position_words(m); w++) {
		uint64_t pending = able[w] & ~s->active[w];
		for (; pending && count < m->gpu->two_level_warps; count++, pending &= pending - 1)
			s->active[w] |= pending & -pending;
		chosen[w] = mask[w] & s->active[w];
	}
	return pick_after_last(m, s, chosen);
}

/* The first warp of a mask in the scheduler's order, as a position; OV_NONE of an empty mask. */
static inline uint32_t ov_pick(const struct ov_machine *m, struct ov_scheduler *s, const uint64_t *mask)
{
	if (__builtin_expect(m->policy == GPU_SCHEDULER_gto, 1))
		return pick_gto(m, s, mask);
	switch (m->policy) {
#define PICK(word)                                                                                                     \
	case GPU_SCHEDULER_##word:                                                                                         \
		return pick_##word(m, s, mask);
		GPU_SCHEDULER_POLICIES(PICK)
#undef PICK
	case GPU_SCHEDULER_POLICY_COUNT:
		break;
	}
	return OV_NONE;
}

#endif
