/* copies: copies and fills of up to three dimensions, in memory of the host. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_COPIES_H
#define GPUSIM_RUNTIME_GUEST_CUDA_COPIES_H

#include "runtime/cuda.h"

uint64_t copy_bytes(const struct cuda_copy *c); /* that move */
/* Rows may overlap, as with memmove. */
void copy_execute(const struct cuda_copy *c);
void fill_execute(const struct cuda_copy *shape, uint32_t value, unsigned unit);
/* The source, row after row without gaps, in memory that the caller frees; *c then reads from there. False: out of memory. */
bool copy_stage(struct cuda_copy *c, void **staged);

#endif
