/*
 * variant: what a variant of the stages takes for granted, and helpers of all stages.
 *
 * A .c file that includes cycle.h may define before it:
 *   OV_ONE_WORD       an SM's warps, and the positions of a scheduler, fit into a word of 64 bits
 *   OV_ONE_PARTITION  all schedulers share their units and collectors
 *   OV_PLAIN          memory is perfect; operands are read from banks, one step per cycle; one instruction is fetched per cycle, and one
 *                     issued by each scheduler
 *   OV_MASKS          the registers of a warp fit into a word
 */
#ifndef GPUSIM_MODELS_SM_VARIANT_H
#define GPUSIM_MODELS_SM_VARIANT_H

#include "models/sm/state/sm.h"

#ifndef OV_ONE_WORD
#define OV_ONE_WORD 0
#endif
#ifndef OV_ONE_PARTITION
#define OV_ONE_PARTITION 0
#endif
#ifndef OV_PLAIN
#define OV_PLAIN 0
#endif
#ifndef OV_MASKS
#define OV_MASKS 0
#endif

static inline uint32_t ov_position_words(const struct ov_machine *m)
{
	return OV_ONE_WORD ? 1 : m->position_words;
}

static inline uint32_t ov_slot_words(const struct ov_machine *m)
{
	return OV_ONE_WORD ? 1 : m->slot_words;
}

static inline uint32_t ov_partitions(const struct ov_machine *m)
{
	return OV_ONE_PARTITION ? 1 : m->partitions;
}

static inline bool ov_has_memory(const struct ov_sm *sm)
{
	return !OV_PLAIN && sm->memory;
}

static inline bool ov_collects(const struct ov_machine *m)
{
	return OV_PLAIN || m->collects;
}

static inline bool ov_resolves_banks(const struct ov_machine *m)
{
	return OV_PLAIN || m->resolves_banks;
}

static inline uint32_t ov_collector_steps(const struct ov_machine *m)
{
	return OV_PLAIN ? 1 : m->collector_steps;
}

static inline uint32_t ov_issues(const struct ov_machine *m)
{
	return OV_PLAIN ? 1 : m->issues;
}

static inline uint32_t ov_fetches(const struct ov_machine *m)
{
	return OV_PLAIN ? 1 : m->fetches;
}

/* Each register has its own bit of a mask. */
static inline bool ov_masks(const struct ov_machine *m)
{
	return OV_MASKS || m->masks;
}

static inline uint32_t ov_word(uint32_t i)
{
	return OV_ONE_WORD ? 0 : i / 64;
}

/* A scheduler's masks of places for the word of a position. */
static inline uint64_t *ov_places(const struct ov_scheduler *s, uint32_t word)
{
	return OV_ONE_WORD ? (uint64_t *)s->word : &s->places[word * OV_PLACES];
}

static inline bool ov_bit(const uint64_t *mask, uint32_t i)
{
	return mask[ov_word(i)] >> i % 64 & 1;
}

static inline void ov_set(uint64_t *mask, uint32_t i)
{
	mask[ov_word(i)] |= 1ULL << i % 64;
}

static inline void ov_clear(uint64_t *mask, uint32_t i)
{
	mask[ov_word(i)] &= ~(1ULL << i % 64);
}

/* The first bit set from i on, cyclically; OV_NONE if none is. */
static inline uint32_t ov_next_bit(const uint64_t *mask, uint32_t words, uint32_t i)
{
	uint32_t start = i / 64 < words ? i / 64 : 0, shift = i / 64 < words ? i % 64 : 0;
	uint64_t first = mask[start] & (~0ULL << shift);
	if (first)
		return start * 64 + (uint32_t)__builtin_ctzll(first);
	for (uint32_t w = start + 1; w < words; w++)
		if (mask[w])
			return w * 64 + (uint32_t)__builtin_ctzll(mask[w]);
	for (uint32_t w = 0; w <= start; w++)
		if (mask[w])
			return w * 64 + (uint32_t)__builtin_ctzll(mask[w]);
	return OV_NONE;
}

/* The first bit set after i, cyclically; OV_NONE if none is. */
static inline uint32_t ov_next_bit_after(const uint64_t *mask, uint32_t words, uint32_t i)
{
	if (!OV_ONE_WORD)
		return ov_next_bit(mask, words, i + 1);
	uint64_t after = mask[0] & (~1ULL << i % 64);
	return mask[0] ? (uint32_t)__builtin_ctzll(after ? after : mask[0]) : OV_NONE;
}

static inline uint32_t ov_partition(const struct ov_machine *m, uint32_t slot)
{
	return ov_partitions(m) == 1 ? 0 : slot % m->schedulers;
}

static inline struct ov_partition *ov_partition_of(struct ov_sm *sm, uint32_t slot)
{
	return &sm->partitions[ov_partition(sm->m, slot)];
}

/* The whole cycles of a debt that grows by extra. */
static inline uint32_t ov_extra_cycles(double *debt, double extra)
{
	*debt += extra;
	uint32_t whole = (uint32_t)*debt;
	*debt -= whole;
	return whole;
}

/* Banks of a warp, from those of slot 0: (register + slot) mod banks. */
static inline uint64_t ov_rotate(const struct ov_machine *m, const struct ov_warp *w, uint64_t banks)
{
	if (OV_PLAIN || m->banks_rotate)
		return banks << w->bank | banks >> (-w->bank & 63);
	return w->bank ? ((banks << w->bank) | (banks >> (m->banks - w->bank))) & m->all_banks : banks;
}

static inline void ov_update_hungry(struct ov_sm *sm, const struct ov_warp *w, uint32_t slot)
{
	bool hungry = w->buffered <= sm->m->refill_at && !w->fetching && !w->finished;
	uint64_t *word = &sm->hungry[ov_word(slot)];
	*word = (*word & ~(1ULL << slot % 64)) | (uint64_t)hungry << slot % 64;
}

static inline void ov_may_retire(struct ov_sm *sm, uint32_t slot)
{
	ov_set(sm->retirable, slot);
	sm->retirable_count++;
}

/* The stages meet in these. */
static inline void ov_schedule(struct ov_sm *sm, uint64_t time, enum ov_event_kind kind, uint32_t slot, uint32_t op);
static void ov_complete_result(struct ov_sm *sm, uint32_t slot, uint32_t op);
static void ov_operands_read(struct ov_sm *sm, uint32_t slot, uint32_t op); /* sm->m->marks is there */
/* Puts a warp into the mask that its state asks for. */
static inline void ov_update_warp(struct ov_sm *sm, uint32_t slot);
/* The same, of one that waits for nothing but registers. */
static inline void ov_update_blocked(struct ov_sm *sm, uint32_t slot);
static void ov_flush_buffer(struct ov_sm *sm, uint32_t slot, uint32_t pc);
static void ov_read_done(struct ov_sm *sm, uint32_t collector);
static void ov_release_barrier(struct ov_sm *sm, uint32_t group);

#endif
