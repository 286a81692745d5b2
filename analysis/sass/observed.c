/* What warps were seen to execute, instruction by instruction; see observed.h. analysis/sass/blocks.c makes blocks of it. */
#include "analysis/sass/internal.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct observed_code *observed_new(void)
{
	struct observed_code *c = calloc(1, sizeof *c);
	if (c)
		c->entry_block = OBSERVED_NONE;
	return c;
}

void observed_free(struct observed_code *c)
{
	if (!c)
		return;
	free(c->seen);
	free(c->slots);
	free(c->edges);
	free(c->edge_slots);
	free(c->block_edges);
	free(c->first_edge);
	gs_buf_free(&c->strings);
	free(c);
}

void observed_begin(struct observed_warp *w)
{
	for (int l = 0; l < OBSERVED_LANES; l++)
		w->last[l] = OBSERVED_NONE;
}

/* ---- instructions ---- */

static size_t slot_of(const struct observed_code *c, uint64_t pc)
{
	size_t at = (size_t)(pc * UINT64_C(0x9e3779b97f4a7c15) >> 20) & (c->slot_count - 1);
	while (c->slots[at] != OBSERVED_NONE && c->seen[c->slots[at]].pc != pc)
		at = (at + 1) & (c->slot_count - 1);
	return at;
}

static int grow_slots(struct observed_code *c)
{
	if (c->slot_count && c->count * 2 < c->slot_count)
		return 0;
	size_t count = c->slot_count ? c->slot_count * 2 : 1024;
	uint32_t *slots = malloc(count * sizeof *slots);
	if (!slots)
		return -ENOMEM;
	free(c->slots);
	c->slots = slots;
	c->slot_count = count;
	memset(slots, 0xff, count * sizeof *slots);
	for (uint32_t i = 0; i < c->count; i++)
		slots[slot_of(c, c->seen[i].pc)] = i;
	return 0;
}

uint32_t observed_find(const struct observed_code *c, uint64_t pc)
{
	return c->slot_count ? c->slots[slot_of(c, pc)] : OBSERVED_NONE;
}

static bool is_same(const struct observed_code *c, const struct seen_instruction *s, const struct observed_instruction *i)
{
	const char *opcode = c->strings.data + s->opcode;
	return strlen(opcode) == i->opcode_length && !memcmp(opcode, i->opcode, i->opcode_length);
}

static int64_t add_instruction(struct observed_code *c, const struct observed_instruction *i)
{
	if (c->count == OBSERVED_MOST)
		return -EFBIG;
	if (grow_slots(c) || !gs_reserve(&c->seen, c->count, &c->room, sizeof *c->seen))
		return -ENOMEM;
	struct seen_instruction *s = &c->seen[c->count];
	*s = (struct seen_instruction){.pc = i->pc, .result = i->result, .source_count = i->source_count, .opcode = (uint32_t)c->strings.len,
	                               .off = i->off, .block = OBSERVED_NONE, .site = OBSERVED_NONE};
	memcpy(s->sources, i->sources, sizeof s->sources);
	gs_buf_add(&c->strings, i->opcode, i->opcode_length);
	gs_buf_add(&c->strings, "", 1);
	if (c->strings.failed)
		return -ENOMEM;
	s->what = sass_look_up(c->strings.data + s->opcode);
	c->slots[slot_of(c, i->pc)] = c->count;
	return c->count++;
}

/* ---- ways ---- */

static size_t edge_slot(const struct observed_code *c, uint32_t from, uint32_t to)
{
	uint64_t key = (uint64_t)from << 32 | to;
	size_t at = (size_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> 24) & (c->edge_slot_count - 1);
	while (c->edge_slots[at] != OBSERVED_NONE && (c->edges[c->edge_slots[at]].from != from || c->edges[c->edge_slots[at]].to != to))
		at = (at + 1) & (c->edge_slot_count - 1);
	return at;
}

static int grow_edges(struct observed_code *c)
{
	if (c->edge_slot_count && c->edge_count * 2 < c->edge_slot_count)
		return 0;
	size_t count = c->edge_slot_count ? c->edge_slot_count * 2 : 1024;
	uint32_t *slots = malloc(count * sizeof *slots);
	if (!slots)
		return -ENOMEM;
	free(c->edge_slots);
	c->edge_slots = slots;
	c->edge_slot_count = count;
	memset(slots, 0xff, count * sizeof *slots);
	for (uint32_t i = 0; i < c->edge_count; i++)
		slots[edge_slot(c, c->edges[i].from, c->edges[i].to)] = i;
	return 0;
}

static int add_edge(struct observed_code *c, uint32_t from, uint32_t to)
{
	if (grow_edges(c))
		return -ENOMEM;
	size_t at = edge_slot(c, from, to);
	if (c->edge_slots[at] != OBSERVED_NONE)
		return 0;
	if (c->edge_count == OBSERVED_MOST_EDGES)
		return -EFBIG;
	if (!gs_reserve(&c->edges, c->edge_count, &c->edge_room, sizeof *c->edges))
		return -ENOMEM;
	c->edge_slots[at] = (uint32_t)c->edge_count;
	c->edges[c->edge_count++] = (struct seen_edge){from, to};
	return 0;
}

/* The lanes of the mask that have executed the same last. */
static uint32_t lanes_at(const struct observed_warp *w, uint32_t mask, uint32_t last)
{
	uint32_t lanes = 0;
	for (int l = 0; l < OBSERVED_LANES; l++)
		lanes |= (uint32_t)(w->last[l] == last) << l;
	return lanes & mask;
}

/* Lanes that were together part, and these go on before the others. Which way comes first most often is found by votes (Boyer and Moore). */
static void part_lanes(struct seen_instruction *s, uint32_t to)
{
	s->parts = true;
	if (s->first == to + 1) {
		s->votes++;
	} else if (s->votes) {
		s->votes--;
	} else {
		s->first = to + 1;
		s->votes = 1;
	}
}

static int follow_lanes(struct observed_code *c, struct observed_warp *w, uint32_t mask, uint32_t to)
{
	while (mask) {
		uint32_t last = w->last[__builtin_ctz(mask)], lanes = lanes_at(w, mask, last);
		if (last != OBSERVED_NONE && lanes_at(w, UINT32_MAX, last) != lanes)
			part_lanes(&c->seen[last], to);
		if (last == OBSERVED_NONE || to == OBSERVED_NONE || c->seen[last].next != to + 1) { /* not the way of the last time */
			int result = add_edge(c, last, to);
			if (result)
				return result;
			if (last != OBSERVED_NONE)
				c->seen[last].next = to + 1;
		}
		mask &= ~lanes;
	}
	return 0;
}

static void note_space(struct seen_instruction *s, const struct observed_instruction *i)
{
	if (!i->addresses)
		return;
	s->addresses = true;
	if (s->what.space == SPACE_generic)
		s->spaces |= (uint8_t)(i->space == SPACE_shared ? 1 : i->space == SPACE_local ? 2 : 4);
}

int64_t observed_execute(struct observed_code *c, struct observed_warp *w, const struct observed_instruction *i)
{
	uint32_t at = observed_find(c, i->pc);
	if (at == OBSERVED_NONE) {
		int64_t added = add_instruction(c, i);
		if (added < 0)
			return added;
		at = (uint32_t)added;
	} else if (!is_same(c, &c->seen[at], i)) {
		return -EEXIST;
	}
	c->seen[at].times++;
	note_space(&c->seen[at], i);
	int result = follow_lanes(c, w, i->mask, at);
	for (uint32_t left = i->mask; left; left &= left - 1)
		w->last[__builtin_ctz(left)] = at;
	return result ? result : (int64_t)at;
}

int observed_end(struct observed_code *c, struct observed_warp *w)
{
	uint32_t begun = 0;
	for (int l = 0; l < OBSERVED_LANES; l++)
		begun |= (uint32_t)(w->last[l] != OBSERVED_NONE) << l;
	int result = follow_lanes(c, w, begun, OBSERVED_NONE);
	observed_begin(w);
	return result;
}

void observed_unknown(const struct observed_code *c, observed_unknown_fn *tell, void *ctx)
{
	for (uint32_t i = 0; i < c->count; i++)
		if (!c->seen[i].what.name)
			tell(ctx, c->strings.data + c->seen[i].opcode, c->seen[i].times);
}
