/*
 * random: numbers that look like chance and are the same in each run, so that equal launches have equal estimates.
 *
 * The two sequences are Marsaglia's xorshift ("Xorshift RNGs", 2003) and Vigna's xorshift64* ("An experimental exploration of Marsaglia's
 * xorshift generators, scrambled", 2016). Both stay, because estimates depend on the exact numbers. A state must not be 0.
 */
#ifndef GPUSIM_MODELS_UTIL_RANDOM_H
#define GPUSIM_MODELS_UTIL_RANDOM_H

#include <stdint.h>

/* xorshift64: for choices along a walk (models/warps/walk.c). */
static inline uint64_t random_walk(uint64_t *state)
{
	*state ^= *state << 13;
	*state ^= *state >> 7;
	*state ^= *state << 17;
	return *state;
}

/* xorshift64*: for samples (models/analytical/unit_slots.c). */
static inline uint64_t random_sample(uint64_t *state)
{
	*state ^= *state >> 12;
	*state ^= *state << 25;
	*state ^= *state >> 27;
	return *state * 2685821657736338717u;
}

/* From 0 to below 1, by the 53 high bits of a random number. */
static inline double random_share(uint64_t number)
{
	return (double)(number >> 11) / 9007199254740992.0;
}

/* From 0 to below `bound`, by the 32 high bits. */
static inline uint32_t random_below(uint64_t number, uint32_t bound)
{
	return (uint32_t)((number >> 32) * bound >> 32);
}

#endif
