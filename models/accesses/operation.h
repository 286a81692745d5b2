/* operation: what an integer operation of the target gives. Used by accesses.c and computer.c, which know its operands. */
#ifndef GPUSIM_MODELS_ACCESSES_OPERATION_H
#define GPUSIM_MODELS_ACCESSES_OPERATION_H

#include "models/code/code.h"

uint64_t operation_cut(uint64_t value, unsigned bits); /* to the low bits */
/* Of a node with operands; those that it does not have are 0. */
uint64_t operation_value(const struct code_node *n, uint64_t a, uint64_t b, uint64_t c);

#endif
