/*
 * places: where a GPU's driver puts the buffers of a launch.
 *
 * Addresses of launches are by argument (argument_of_address), so that they are the same from run to run.
 * A driver puts small buffers one behind the other (allocation_bytes), so that two of them may be in one slice of L2. Slices, sets, banks
 * and rows follow from that.
 */
#ifndef GPUSIM_MODELS_MEMORY_PLACES_H
#define GPUSIM_MODELS_MEMORY_PLACES_H

#include "models/accesses/requests.h"
#include "models/gpu/gpu.h"

enum { PLACED_ARGUMENTS = 32 };
struct memory_places {
	uint64_t at[PLACED_ARGUMENTS]; /* of an argument's first byte; 0: where the launch has it */
	uint32_t count;
};

/* Buffers were made in the order of the arguments, none between them. bytes: of the memory that each points to; 0: not known. */
void memory_places_init(struct memory_places *p, const struct gpu *gpu, const uint64_t *bytes, size_t count);

static inline uint64_t memory_placed(const struct memory_places *p, uint64_t address)
{
	uint64_t argument = argument_of_address(address);
	return argument < p->count && p->at[argument] ? p->at[argument] + (address & ((1ull << ARGUMENT_BITS) - 1)) : address;
}

#endif
