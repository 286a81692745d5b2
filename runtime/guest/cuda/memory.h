/* memory: the allocations of a CUDA program, which are memory of the host, by address; and its texture and surface objects. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_MEMORY_H
#define GPUSIM_RUNTIME_GUEST_CUDA_MEMORY_H

#include "runtime/cuda.h"
#include "runtime/format/lifted.h"

/* The most bytes of device and managed memory. */
void memory_bound(size_t bytes);
/* Takes an allocation out of the table and frees it, unless it is the application's own. -EINVAL: there is none of that address. */
int memory_release(void *address, struct gs_error *err);
/* Adds memory that somebody else frees, such as a module's variables. Replaces nothing: -EEXIST where it overlaps another. */
int memory_add(const struct cuda_allocation *a, struct gs_error *err);
void memory_forget(const void *address);
/* Allocations by ascending address, at most so many. Returns how many there are. */
size_t memory_list(struct cuda_allocation *out, size_t room);

struct cuda_texture {
	uint64_t object;             /* its address */
	struct lifted_texture level; /* the first */
	bool written, by_rows;       /* as cuda_texture_made has it */
};
/* False: the value is no object. */
bool texture_find(uint64_t object, struct cuda_texture *out);
/* Its shape (models/accesses/image.h), and the texels of a row there: of memory with a pitch, all that the pitch has room for. 0: it has none, since it is
 * linear memory, or too large. */
uint64_t texture_shape(const struct cuda_texture *t, uint64_t *row_texels);

#endif
