/* line_set: lines of memory that stay where they are when the addresses of a group are moved (struct address_shift). */
#ifndef GPUSIM_MODELS_WARPS_LINE_SET_H
#define GPUSIM_MODELS_WARPS_LINE_SET_H

#include "models/util/hash.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LINE_SET_BYTES = 128 }; /* of a line, on all GPUs */

/* A table with room for a power of two, searched from the place that a hash of the line gives. Elements are line + 1; 0: free. */
struct line_set {
	uint64_t *slots;
	size_t room; /* 0: there are none */
};

static inline bool line_set_has(const struct line_set *s, uint64_t address)
{
	uint64_t wanted = address / LINE_SET_BYTES + 1;
	if (!s || !s->room)
		return false;
	for (size_t i = hash_number(wanted) & (s->room - 1); s->slots[i]; i = (i + 1) & (s->room - 1))
		if (s->slots[i] == wanted)
			return true;
	return false;
}

#endif
