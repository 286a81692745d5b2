/* Where a GPU's driver puts buffers; see places.h. */
#include "models/memory/places.h"

#include "models/accesses/image.h"

#define FIRST (1ull << 30) /* below all addresses of arguments, and of constants */

void memory_places_init(struct memory_places *p, const struct gpu *gpu, const uint64_t *bytes, size_t count)
{
	uint64_t step = gpu->allocation_bytes, most = gpu->allocation_most_bytes, together = 2 * most, next = 0;
	*p = (struct memory_places){0};
	for (size_t i = 0; step && bytes && i < count && i < PLACED_ARGUMENTS; i++) {
		uint64_t size = argument_memory(bytes[i]);
		if (!size || size > most)
			continue;
		if (next % together + size > together)
			next += together - next % together;
		p->at[i] = FIRST + next;
		p->count = (uint32_t)i + 1;
		next += (size + step - 1) / step * step;
	}
}
