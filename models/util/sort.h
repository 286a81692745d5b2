/* sort: many numbers in order. */
#ifndef GPUSIM_MODELS_UTIL_SORT_H
#define GPUSIM_MODELS_UTIL_SORT_H

#include <stddef.h>
#include <stdint.h>

/* The smallest first. scratch has room for as many. */
void sort_numbers(uint64_t *numbers, size_t count, uint64_t *scratch);

#endif
