/* stored: what memory a kernel stores to, as far as its code shows. */
#ifndef GPUSIM_MODELS_STORED_H
#define GPUSIM_MODELS_STORED_H

#include "models/code/code.h"

/* Bit a: argument a, of the first 32. Addresses that are loaded from memory are in none. 0 as well when out of memory. */
uint32_t stored_arguments(const struct kernel_code *code);

#endif
