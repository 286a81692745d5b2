/* far: which loads find their line in another partition of L2, because an SM's own has no copy of it (models/gpu/kept.h). */
#ifndef GPUSIM_MODELS_MEMORY_FAR_H
#define GPUSIM_MODELS_MEMORY_FAR_H

#include "models/accesses/requests.h"
#include "models/gpu/gpu.h"
#include "models/memory/places.h"
#include "models/memory/request.h"

enum { FAR_RECENT = 8192 }; /* copies of half a megabyte: those that a warp's next loads find */
struct far_lines {
	bool any; /* copies that are missing */
	double missing[PLACED_ARGUMENTS]; /* of copies of an argument's lines */
	uint64_t copied[2][FAR_RECENT];   /* what was copied to each half last: addresses over dram_access_bytes, by their hashes */
};

/* All zero: none. */
void far_lines_set(struct far_lines *f, const struct gpu *gpu, const struct memory_range *ranges, size_t count);
/* Whether there is no copy for a load whose line is at home elsewhere; there is one afterwards. */
bool far_lines_copy(struct far_lines *f, const struct gpu *gpu, const struct memory_request *r);

#endif
