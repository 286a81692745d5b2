/* memory: the allocations of a CUDA program, which are memory of the host, by address. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_MEMORY_H
#define GPUSIM_RUNTIME_GUEST_CUDA_MEMORY_H

#include "runtime/cuda.h"

/* The most bytes of device and managed memory. */
void memory_bound(size_t bytes);
/* Takes an allocation out of the table and frees it, unless it is the application's own. -EINVAL: there is none of that address. */
int memory_release(void *address, struct gs_error *err);
/* Adds memory that somebody else frees, such as a module's variables. Replaces nothing: -EEXIST where it overlaps another. */
int memory_add(const struct cuda_allocation *a, struct gs_error *err);
void memory_forget(const void *address);
/* Allocations by ascending address, at most so many. Returns how many there are. */
size_t memory_list(struct cuda_allocation *out, size_t room);

#endif
