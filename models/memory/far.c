/*
 * Loads that find their line in another partition of L2; see far.h.
 *
 * What is copied is as much as a miss brings: of an H200, sector 1 of a line comes with sector 0, and sector 2 does not (places.csv,
 * far_sectors). Copies of a line are there or not for all that ask for it from one half, by chance.
 */
#include "models/memory/far.h"

#include "models/util/divide.h"
#include "models/util/hash.h"

void far_lines_set(struct far_lines *f, const struct gpu *gpu, const struct memory_range *ranges, size_t count)
{
	double partitions = gpu->l2_partitions;
	for (size_t i = 0; i < count && partitions > 1; i++) {
		uint64_t argument = argument_of_address(ranges[i].address);
		if (argument >= PLACED_ARGUMENTS)
			continue;
		f->missing[argument] = ranges[i].far * partitions / (partitions - 1);
		f->any |= ranges[i].far > 0;
	}
}

bool far_lines_copy(struct far_lines *f, const struct gpu *gpu, const struct memory_request *r)
{
	enum { WHOLE = 1 << 16 };
	uint64_t argument = argument_of_address(r->address), half = r->sm % 2;
	if (argument >= PLACED_ARGUMENTS || (double)(hash_number(r->address ^ half << 48) % WHOLE) >= f->missing[argument] * WHOLE)
		return false;
	uint64_t first = r->address + (uint64_t)__builtin_ctz(r->sectors) * MEMORY_SECTOR, piece = quotient(first, gpu->dram_access_bytes);
	uint64_t *last = &f->copied[half][hash_number(piece) % FAR_RECENT];
	bool copied = *last == piece;
	*last = piece;
	return !copied;
}
