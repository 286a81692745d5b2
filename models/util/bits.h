/* bits: how many of a word are set. Without -mpopcnt the compiler's builtin is a call. */
#ifndef GPUSIM_MODELS_UTIL_BITS_H
#define GPUSIM_MODELS_UTIL_BITS_H

#include <stdint.h>

/* Sums of neighbours, of 2, 4 and 8 bits; a multiplication adds up the bytes (Warren, Hacker's Delight, 5-1). */
static inline uint32_t bits_set(uint64_t word)
{
	word -= word >> 1 & 0x5555555555555555u;
	word = (word & 0x3333333333333333u) + (word >> 2 & 0x3333333333333333u);
	word = (word + (word >> 4)) & 0x0f0f0f0f0f0f0f0fu;
	return (uint32_t)(word * 0x0101010101010101u >> 56);
}

#endif
