/* stored: what memory a kernel stores to, as far as its code shows. */
#ifndef GPUSIM_MODELS_STORED_H
#define GPUSIM_MODELS_STORED_H

#include "models/code/code.h"

/* Of each node, the arguments that it depends on: bit a, of the first 32. The caller frees it; NULL when out of memory. */
uint32_t *arguments_of_nodes(const struct kernel_code *code);
/* Bit a: argument a, of the first 32. Addresses that are loaded from memory are in none. 0 as well when out of memory. */
uint32_t stored_arguments(const struct kernel_code *code);

#endif
