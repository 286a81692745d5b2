/*
 * Occupancy vector: constants by an index that all lanes of a warp share (ULDC).
 *
 *   scheduler: a few lines, the longest unused one makes room -> its SM brings one line every const_uniform_cycles -> const_uniform_latency
 *
 * The warp does not issue the load before its line is there, nor anything behind it. A line on its way keeps its place, and so does one that has come,
 * for as long as the warp needs to load from it twice. If all places are kept, warps wait for one, those first that came first. So as many warps as
 * there are places go through constants at their own pace. More of them lose their lines before they have read all of them, unless they go together.
 * Source: an H200 (tests/accuracy/truth/micro_uniform.cu; docs/notes/constants.md).
 */
#ifndef GPUSIM_MODELS_SM_CONSTANTS_H
#define GPUSIM_MODELS_SM_CONSTANTS_H

#include "models/sm/memory.h"
#include "models/sm/variant.h"
#include "models/util/minmax.h"

/* The line that the next access of the warp goes to, as its group and its rounds have it; false: not known. */
static inline bool next_line(const struct ov_sm *sm, const struct ov_warp *w, uint32_t slot, struct memory_part *out)
{
	const struct path_requests *r = w->requests;
	uint64_t line = gpu_of(sm)->const_access_bytes;
	if (!r || w->access == w->access_count || r->first[w->access + 1] <= r->first[w->access])
		return false;
	struct ov_flight f = {.op = w->pc, .request = w->access, .slot = (uint16_t)slot};
	*out = r->parts[r->first[w->access]];
	out->address = shifted_address(sm, &f, out->address);
	if (w->path->gap_count)
		out->address = ov_round_address(sm, w, w->access, out->address, line);
	out->address = out->address / line * line;
	return true;
}

/* Of those that nobody waits for, the one that was used longest ago; NULL: there is none. */
static inline struct ov_constant_line *oldest_line(struct ov_constant_line *lines, uint32_t count, uint64_t now)
{
	struct ov_constant_line *oldest = NULL;
	for (struct ov_constant_line *l = lines; l < lines + count; l++)
		if ((!l->ready || l->ready + CONSTANT_KEPT_CYCLES <= now) && (!oldest || l->used < oldest->used))
			oldest = l;
	return oldest;
}

/* When the line is there that is asked for now, by way of the SM's other constants. */
static uint64_t bring_line(struct ov_sm *sm, const struct memory_part *part)
{
	struct ov_memory *o = sm->memory;
	uint64_t start = max_u64(sm->now, o->uniform_free);
	o->uniform_free = start + gpu_of(sm)->const_uniform_cycles;
	return start + (uint64_t)gpu_of(sm)->const_uniform_latency + constant_cycles(sm, part, 1);
}

/* Whether another warp of the scheduler has waited longer for a place. */
static bool is_behind(const struct ov_sm *sm, const struct ov_warp *w)
{
	for (uint32_t slot = w->scheduler; slot < sm->m->slots; slot += sm->m->schedulers) {
		const struct ov_warp *other = &sm->warps[slot];
		bool waits = other != w && other->turn && !other->finished && sm->ops[other->pc].constant;
		if (waits && (!w->turn || other->turn < w->turn))
			return true;
	}
	return false;
}

/* When the warp may try again; 0: it finds its line now. */
static uint64_t wait_for_line(struct ov_sm *sm, struct ov_warp *w, struct ov_constant_line *lines, const struct memory_part *part)
{
	uint32_t count = sm->memory->uniform_lines_each;
	uint64_t first = OV_NEVER;
	for (struct ov_constant_line *l = lines; l < lines + count; l++) {
		if (l->ready && l->address == part->address) {
			w->turn = 0;
			l->used = max_u64(l->ready, sm->now);
			return l->ready > sm->now ? l->ready : 0;
		}
		first = min_u64(first, l->ready + CONSTANT_KEPT_CYCLES);
	}
	struct ov_constant_line *line = oldest_line(lines, count, sm->now);
	if (!line || is_behind(sm, w)) {
		w->turn = w->turn ? w->turn : ++sm->memory->uniform_turns;
		return max_u64(first, sm->now + 1);
	}
	w->turn = 0;
	line->address = part->address;
	line->used = line->ready = bring_line(sm, part);
	return line->ready;
}

/* Whether the warp has the constant that it is about to load. If not, it waits. */
static __attribute__((noinline)) bool ov_constant_is_there(struct ov_sm *sm, struct ov_warp *w, uint32_t slot)
{
	struct memory_part part;
	struct ov_constant_line *lines = sm->memory->uniform_lines + (size_t)w->scheduler * sm->memory->uniform_lines_each;
	uint64_t wait = next_line(sm, w, slot, &part) ? wait_for_line(sm, w, lines, &part) : 0;
	if (!wait)
		return true;
	w->wait = OV_AT_CONSTANT;
	ov_schedule(sm, wait, OV_BRANCHED, slot, 0);
	return false;
}

#endif
