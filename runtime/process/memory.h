/* memory: how much of it there is. */
#ifndef GPUSIM_RUNTIME_PROCESS_MEMORY_H
#define GPUSIM_RUNTIME_PROCESS_MEMORY_H

#include <stdint.h>

/* Bytes that this process may have: the machine's, or what a container is limited to. */
uint64_t memory_bytes(void);

#endif
