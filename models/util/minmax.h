/* minmax: the smaller and the larger of two numbers. */
#ifndef GPUSIM_MODELS_UTIL_MINMAX_H
#define GPUSIM_MODELS_UTIL_MINMAX_H

#include <stdint.h>

static inline uint32_t min_u32(uint32_t a, uint32_t b)
{
	return a < b ? a : b;
}

static inline uint32_t max_u32(uint32_t a, uint32_t b)
{
	return a > b ? a : b;
}

static inline uint64_t min_u64(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t max_u64(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Of a number and NaN, b: fmin and fmax return the number, and are function calls. */
static inline double min_double(double a, double b)
{
	return a < b ? a : b;
}

static inline double max_double(double a, double b)
{
	return a > b ? a : b;
}

#endif
