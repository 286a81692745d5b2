/*
 * hash: where a key goes in a table, and choices that are the same in each run.
 *
 * Estimates depend on hash_bytes (seeds of synthesised warps) and on hash_number (which lines of memory are counted): another hash
 * changes them a little.
 */
#ifndef GPUSIM_MODELS_UTIL_HASH_H
#define GPUSIM_MODELS_UTIL_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HASH_GOLDEN 0x9e3779b97f4a7c15u /* 2^64 divided by the golden ratio: Knuth, The Art of Computer Programming, 6.4 */

/* Of a number whose bits are spread evenly by a multiplication: take the high bits. The fastest of them. */
static inline uint64_t hash_high(uint64_t number)
{
	return number * HASH_GOLDEN;
}

/* Of a number, good in all bits. */
static inline uint64_t hash_number(uint64_t number)
{
	number ^= number >> 31;
	number *= HASH_GOLDEN;
	return number ^ number >> 29;
}

static inline uint64_t hash_word(uint64_t hash, uint32_t word)
{
	hash = (hash ^ word) * 0xff51afd7ed558ccdu; /* a multiplier of MurmurHash3's 64-bit finaliser */
	return hash ^ hash >> 32;
}

/* Of bytes, by words of 32 bits; the last word is filled up with zeros. `seed` may be the hash of what was before. */
static inline uint64_t hash_bytes(const void *data, size_t bytes, uint64_t seed)
{
	uint64_t hash = HASH_GOLDEN ^ seed ^ (bytes + 3) / 4;
	size_t whole = bytes / 4 * 4;
	uint32_t word = 0;
	for (size_t at = 0; at < whole; at += 4) { /* a copy of known length is one load */
		memcpy(&word, (const char *)data + at, 4);
		hash = hash_word(hash, word);
	}
	if (bytes == whole)
		return hash;
	word = 0;
	memcpy(&word, (const char *)data + whole, bytes - whole);
	return hash_word(hash, word);
}

#endif
