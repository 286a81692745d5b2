#include "runtime/guest/cuda/groups.h"

#include <stdlib.h>

static void add_box(const struct box *b, const uint64_t grid[3], uint32_t *list, size_t *count)
{
	for (uint64_t z = b->first[2]; z < b->first[2] + b->count[2]; z++)
		for (uint64_t y = b->first[1]; y < b->first[1] + b->count[1]; y++)
			for (uint64_t x = b->first[0]; x < b->first[0] + b->count[0]; x++)
				list[(*count)++] = (uint32_t)((z * grid[1] + y) * grid[0] + x);
}

bool groups_divide(const struct boxes *boxes, const uint64_t grid[3], struct group_lists *out)
{
	const uint64_t most = UINT64_C(1) << 26; /* so that the lists are at most 256 MiB */
	uint64_t groups = grid[0] * grid[1] * grid[2];
	*out = (struct group_lists){0};
	if (grid[0] > most || grid[1] > most || grid[2] > most || grid[0] * grid[1] > most || groups > most ||
	    !(out->traced = malloc(groups * sizeof *out->traced + 1)))
		return false;
	out->others = out->traced + boxes->traced_groups;
	for (size_t i = 0; i < boxes->count; i++)
		if (boxes->list[i].traced)
			add_box(&boxes->list[i], grid, out->traced, &out->traced_count);
		else
			add_box(&boxes->list[i], grid, out->others, &out->other_count);
	return true;
}
