/* heap: the memory of malloc and free in kernels. It stays from launch to launch. */
#ifndef GPUSIM_RUNTIME_GUEST_CUDA_HEAP_H
#define GPUSIM_RUNTIME_GUEST_CUDA_HEAP_H

#include <stdint.h>

/* The address of its struct lifted_heap, made at the first call. 0: there is no memory, and every malloc fails. */
uint64_t heap_address(void);

#endif
