/*
 * ticks: what all parts of memory share.
 *
 * Time is counted in ticks, MEMORY_TICKS of a core cycle, because ports and DRAM do not keep the core's step.
 */
#ifndef GPUSIM_MODELS_MEMORY_TICKS_H
#define GPUSIM_MODELS_MEMORY_TICKS_H

#include <stdint.h>

/* Ticks per cycle: ports and DRAM are off by 0.4% of a cycle at most. Bytes of a sector: the smallest piece that a GPU moves. */
enum { MEMORY_TICKS = 256, MEMORY_SECTOR = 32 };
enum { MEMORY_PARTS = 16 }; /* of a cycle: large sums in few bits */
#define MEMORY_NONE UINT32_MAX
#define MEMORY_NEVER UINT64_MAX

#endif
