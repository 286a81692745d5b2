/* divide: divisions by numbers that mostly are powers of two, where a shift is ten times faster. */
#ifndef GPUSIM_MODELS_UTIL_DIVIDE_H
#define GPUSIM_MODELS_UTIL_DIVIDE_H

#include <stdint.h>

static inline uint64_t quotient(uint64_t number, uint64_t by)
{
	return by & (by - 1) ? number / by : number >> __builtin_ctzll(by);
}

static inline uint64_t remainder_by(uint64_t number, uint64_t by)
{
	return by & (by - 1) ? number % by : number & (by - 1);
}

#endif
