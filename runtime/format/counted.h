/*
 * Where PTX that counts (annotator/count/count.h) has its counts: in memory of the GPU, at an address in a variable of the module. The variable has two
 * 64-bit words: that address, and how many threads have a place, a multiple of 32. Thread i has, for column c of C, the 32-bit word
 * counted_word(). Threads without a place share those behind the last.
 */
#ifndef GPUSIM_RUNTIME_FORMAT_COUNTED_H
#define GPUSIM_RUNTIME_FORMAT_COUNTED_H

#include <stdint.h>

#define COUNT_VARIABLE "gpusim_counts"

enum { COUNTED_WARP = 32 };

static inline uint64_t counted_word(uint64_t thread, uint64_t column, uint64_t columns)
{
	return (thread / COUNTED_WARP * columns + column) * COUNTED_WARP + thread % COUNTED_WARP;
}

static inline uint64_t counted_words(uint64_t places, uint64_t columns)
{
	return (places / COUNTED_WARP + 1) * columns * COUNTED_WARP;
}

#endif
