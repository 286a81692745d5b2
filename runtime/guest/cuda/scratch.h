/* scratch: memory of the groups that run at a time (runtime/format/lifted.h), used again and again. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_SCRATCH_H
#define GPUSIM_RUNTIME_GUEST_CUDA_SCRATCH_H

#include <stdint.h>

struct scratch {
	struct scratch *next;
	uint64_t slots, slot_bytes;
	uint32_t *flags; /* one per slot */
	void *memory;
	uint64_t bytes;
};

/* At least so many slots of at least so many bytes, all free. NULL: out of memory. */
struct scratch *scratch_take(uint64_t slots, uint64_t slot_bytes);
void scratch_give_back(struct scratch *s);

/* The memory of malloc and free in kernels, which stays from launch to launch: the address of its struct lifted_heap. 0: there is none, and
 * every malloc fails. */
uint64_t heap_address(void);

#endif
