/*
 * Lines that are common to all groups: the top of a tree, a table that all look into.
 *
 * Where addresses depend on data, those of groups that were not traced are turned within what was touched. Lines that most groups touch are no matter of
 * data, and would be in caches for the next group: they stay. A line is common if three quarters of the traced groups touched it: by chance that many meet in a line only if each of
 * them touches most of that part of memory, and then it makes little difference.
 */
#include "models/trace/internal.h"

#include <errno.h>
#include <stdlib.h>

enum { LEAST_GROUPS = 4, MOST_LINES = 1 << 20, FIRST_ROOM = 1024 };

struct line_count {
	uint64_t line; /* + 1; 0: free */
	uint32_t groups, last; /* last: number of the latest group, + 1 */
};

struct line_counts {
	struct line_count *slots;
	size_t room, count;
};

static struct line_count *find_line(struct line_count *slots, size_t room, uint64_t line)
{
	size_t i = hash_number(line) & (room - 1);
	while (slots[i].line && slots[i].line != line)
		i = (i + 1) & (room - 1);
	return &slots[i];
}

static bool grow(struct line_counts *c)
{
	size_t room = c->room ? 4 * c->room : FIRST_ROOM;
	struct line_count *slots = c->count < MOST_LINES ? calloc(room, sizeof *slots) : NULL;
	if (!slots)
		return false;
	for (size_t i = 0; i < c->room; i++)
		if (c->slots[i].line)
			*find_line(slots, room, c->slots[i].line) = c->slots[i];
	free(c->slots);
	c->slots = slots;
	c->room = room;
	return true;
}

static bool count_line(struct line_counts *c, uint64_t address, uint32_t group)
{
	if (2 * (c->count + 1) > c->room && !grow(c))
		return false;
	uint64_t line = address / LINE_SET_BYTES + 1;
	struct line_count *found = find_line(c->slots, c->room, line);
	c->count += !found->line;
	found->line = line;
	found->groups += found->last != group + 1;
	found->last = group + 1;
	return true;
}

static bool is_turned(const struct launch_warps *w, uint32_t instruction)
{
	const struct address_shift *s = &w->shifts[instruction];
	return !s->linear && s->bytes > LINE_SET_BYTES;
}

/* The lines of a path that are turned. False: there are too many, or there is no memory. */
static bool count_path(struct line_counts *c, const struct launch_warps *w, const struct warp_path *path, uint32_t group)
{
	size_t n = 0;
	for (size_t b = 0; b < path->block_count && path->requests; b++) {
		const struct code_block *block = &w->code->blocks[path->blocks[b]];
		for (uint32_t i = block->first; i < block->first + block->count; i++) {
			if (!code_has_accesses(w->code->code[i].class))
				continue;
			if (n >= path->access_count)
				return true;
			size_t request = n++;
			if (!is_turned(w, i))
				continue;
			for (uint32_t p = path->requests->first[request]; p < path->requests->first[request + 1]; p++)
				if (!count_line(c, path->requests->parts[p].address, group))
					return false;
		}
	}
	return true;
}

/* The groups that were counted; 0: not all could be. A traced group that stands for several counts once: known holds their ids. */
static uint32_t count_groups(struct line_counts *c, const struct launch_warps *w, struct line_counts *known)
{
	uint32_t groups = 0;
	for (uint64_t p = 0; p < w->pattern_groups; p++) {
		size_t before = known->count;
		if (!count_line(known, w->pattern_ids[p] * LINE_SET_BYTES, 0))
			return 0;
		if (known->count == before)
			continue;
		for (uint32_t k = 0; k < w->warps_per_group; k++)
			if (!count_path(c, w, &w->paths[w->path_of[p * w->warps_per_group + k]], groups))
				return 0;
		groups++;
	}
	return groups;
}

static bool is_common(const struct line_count *l, uint32_t groups)
{
	return l->line && 4 * (uint64_t)l->groups >= 3 * (uint64_t)groups;
}

static int keep_common(const struct line_counts *c, uint32_t groups, struct line_set *out)
{
	size_t count = 0, room = FIRST_ROOM;
	for (size_t i = 0; i < c->room; i++)
		count += is_common(&c->slots[i], groups);
	if (!count)
		return 0;
	while (room < 2 * count)
		room *= 2;
	out->slots = calloc(room, sizeof *out->slots);
	if (!out->slots)
		return -ENOMEM;
	out->room = room;
	for (size_t i = 0; i < c->room; i++) {
		if (!is_common(&c->slots[i], groups))
			continue;
		size_t at = hash_number(c->slots[i].line) & (room - 1);
		while (out->slots[at])
			at = (at + 1) & (room - 1);
		out->slots[at] = c->slots[i].line;
	}
	return 0;
}

int common_lines(const struct launch_warps *w, struct line_set *out)
{
	struct line_counts counts = {0}, known = {0};
	bool any = false;
	*out = (struct line_set){0};
	for (uint32_t i = 0; i < w->code->code_count; i++)
		any |= is_turned(w, i);
	if (!any || w->pattern_groups < LEAST_GROUPS)
		return 0;
	uint32_t groups = count_groups(&counts, w, &known);
	int result = groups < LEAST_GROUPS ? 0 : keep_common(&counts, groups, out);
	free(counts.slots);
	free(known.slots);
	return result;
}
