/*
 * coalesce: the parts that a warp's access to memory falls into, from the addresses of its lanes. Used by accesses.c, which
 * only counts them, and by models/trace/warps.c, which keeps them.
 */
#ifndef GPUSIM_MODELS_ACCESSES_COALESCE_H
#define GPUSIM_MODELS_ACCESSES_COALESCE_H

#include "models/accesses/accesses.h"
#include "models/accesses/requests.h"

enum { COALESCE_MOST_LANES = 128, COALESCE_MOST_PARTS = COALESCE_MOST_LANES * 10 }; /* as MOST_LANES of accesses.c */

/* Fills *parts, which has room for COALESCE_MOST_PARTS, and returns how many there are. For every space but shared and
 * param. What lies in private memory has been placed already (see models/trace/warps.c). */
uint32_t coalesce(const struct gpu *gpu, const struct access_kind *kind, const uint64_t *addresses, uint32_t lanes,
                  struct memory_part *parts);

#endif
