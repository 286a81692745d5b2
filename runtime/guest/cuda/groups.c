#include "runtime/guest/cuda/groups.h"

#include "runtime/format/lifted.h"

#include <stdlib.h>
#include <string.h>

static void add_box(const struct box *b, const uint64_t grid[3], uint32_t *list, size_t *count)
{
	for (uint64_t z = b->first[2]; z < b->first[2] + b->count[2]; z++)
		for (uint64_t y = b->first[1]; y < b->first[1] + b->count[1]; y++)
			for (uint64_t x = b->first[0]; x < b->first[0] + b->count[0]; x++)
				list[(*count)++] = (uint32_t)((z * grid[1] + y) * grid[0] + x);
}

static bool lists_new(const uint64_t grid[3], struct group_lists *out)
{
	const uint64_t most = UINT64_C(1) << 26; /* so that the lists are at most 256 MiB */
	uint64_t groups = grid[0] * grid[1] * grid[2];
	*out = (struct group_lists){0};
	if (grid[0] > most || grid[1] > most || grid[2] > most || grid[0] * grid[1] > most || groups > most)
		return false;
	out->traced = malloc(groups * sizeof *out->traced + 1);
	return out->traced;
}

bool groups_list(const uint64_t grid[3], bool traced, struct group_lists *out)
{
	const struct box all = {.count = {grid[0], grid[1], grid[2]}};
	if (!lists_new(grid, out))
		return false;
	out->others = out->traced;
	add_box(&all, grid, out->traced, traced ? &out->traced_count : &out->other_count);
	return true;
}

bool groups_divide(const struct boxes *boxes, const uint64_t grid[3], struct group_lists *out)
{
	if (!lists_new(grid, out))
		return false;
	out->others = out->traced + boxes->traced_groups;
	for (size_t i = 0; i < boxes->count; i++)
		if (boxes->list[i].traced)
			add_box(&boxes->list[i], grid, out->traced, &out->traced_count);
		else
			add_box(&boxes->list[i], grid, out->others, &out->other_count);
	return true;
}

bool groups_mark(const struct boxes *boxes, const uint64_t grid[3], struct group_lists *out)
{
	struct group_lists lists;
	if (!groups_divide(boxes, grid, &lists))
		return false;
	if (!groups_list(grid, true, out)) {
		free(lists.traced);
		return false;
	}
	for (size_t i = 0; i < lists.traced_count; i++)
		out->traced[lists.traced[i]] |= LIFTED_TRACED;
	free(lists.traced);
	return true;
}

/* When group `number` comes to its instructions, which may be anything between its begin and its end. As many groups begin at once as the GPU
 * holds, and each of the others when one ends. Unit: the time from one such end to the next. */
static size_t time_of(uint64_t number, size_t at, size_t resident)
{
	uint64_t mixed = (number + 1) * 0x9e3779b97f4a7c15ull;
	mixed = (mixed ^ mixed >> 29) * 0xbf58476d1ce4e5b9ull;
	return (at < resident ? 0 : at - resident + 1) + (size_t)((mixed >> 32) * resident >> 32);
}

bool groups_mix(uint32_t *list, size_t count, uint64_t resident)
{
	const size_t held = resident < count ? (size_t)resident : count;
	size_t *ends = count > 1 && held > 1 ? calloc(count + 1, sizeof *ends) : NULL; /* by time, where its groups end in the list */
	uint32_t *mixed = ends ? malloc(count * sizeof *mixed) : NULL;
	for (size_t i = 0; i < count && mixed; i++)
		ends[time_of(list[i], i, held)]++;
	for (size_t t = 1; t <= count && mixed; t++)
		ends[t] += ends[t - 1];
	for (size_t i = count; i-- > 0 && mixed;)
		mixed[--ends[time_of(list[i], i, held)]] = list[i];
	if (mixed)
		memcpy(list, mixed, count * sizeof *mixed);
	free(mixed);
	free(ends);
	return mixed || count < 2 || held < 2;
}
