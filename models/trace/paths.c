/* The paths of warps: each kept once, or, where every warp touches its own memory, at least the blocks of equal ones. */
#include "models/trace/internal.h"
#include "models/util/hash.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Pieces grow with what is kept, so that stores of few paths are small. */
static bool add_piece(struct trace_store *s, size_t bytes)
{
	enum { LEAST = 1 << 12, MOST = 1 << 18 };
	size_t usual = s->owned_bytes < LEAST ? LEAST : s->owned_bytes < MOST ? s->owned_bytes : MOST;
	struct store_piece piece = {.room = bytes > usual ? bytes : usual};
	if (!gs_reserve(&s->owned, s->owned_count, &s->owned_room, sizeof *s->owned) || !(piece.memory = malloc(piece.room)))
		return false;
	s->owned[s->owned_count++] = piece;
	s->owned_bytes += piece.room;
	return true;
}

/* A copy that the store frees, for any type. NULL when memory runs out. */
static void *keep_copy(struct trace_store *s, const void *data, size_t bytes)
{
	size_t taken = (bytes + 1 + 15) & ~(size_t)15;
	struct store_piece *last = s->owned_count ? &s->owned[s->owned_count - 1] : NULL;
	if (!last || last->room - last->used < taken) {
		if (!add_piece(s, taken))
			return NULL;
		last = &s->owned[s->owned_count - 1];
	}
	void *copy = (char *)last->memory + last->used;
	last->used += taken;
	if (bytes)
		memcpy(copy, data, bytes);
	return copy;
}

/* memcmp takes no NULL, which a buffer without bytes may have. */
static bool same_bytes(const void *a, size_t length, const struct gs_buf *b)
{
	return length == b->len && (!length || !memcmp(a, b->data, length));
}

/* The slot of a path with these blocks (and accesses, where there are no requests), or a free one. */
static size_t find_slot(const struct trace_store *s, const struct recorded_path *r, bool requests, uint64_t hash)
{
	size_t at = hash & (s->slot_count - 1);
	for (; s->slots[at].path; at = (at + 1) & (s->slot_count - 1)) {
		const struct warp_path *p = &s->paths[s->slots[at].path - 1];
		if (s->slots[at].hash == hash && same_bytes(p->blocks, p->block_count * sizeof *p->blocks, &r->blocks) &&
		    (requests || (same_bytes(p->accesses, p->access_count * sizeof *p->accesses, &r->accesses) &&
		                  same_bytes(p->gaps, p->gap_count * sizeof *p->gaps, &r->gaps))))
			break;
	}
	return at;
}

static bool grow_slots(struct trace_store *s)
{
	size_t count = s->slot_count ? 2 * s->slot_count : 1024;
	struct path_slot *slots = calloc(count, sizeof *slots);
	if (!slots)
		return false;
	for (size_t i = 0; i < s->slot_count; i++) {
		size_t at = s->slots[i].hash & (count - 1);
		while (slots[at].path)
			at = (at + 1) & (count - 1);
		if (s->slots[i].path)
			slots[at] = s->slots[i];
	}
	free(s->slots);
	s->slots = slots;
	s->slot_count = count;
	return true;
}

static bool room_for_path(struct trace_store *s)
{
	if (s->path_count < s->path_room)
		return true;
	size_t room = s->path_room ? 2 * s->path_room : 64;
	struct warp_path *paths = reallocarray(s->paths, room, sizeof *paths);
	s->paths = paths ? paths : s->paths;
	struct path_requests *requests = reallocarray(s->requests, room, sizeof *requests);
	s->requests = requests ? requests : s->requests;
	s->path_room = paths && requests ? room : s->path_room;
	return paths && requests;
}

/* The gaps of a path, with their shifts and weights. */
static int add_gaps(struct trace_store *s, const struct recorded_path *r, struct warp_path *p)
{
	struct path_gap *gaps = keep_copy(s, r->gaps.data, r->gaps.len);
	p->weights = keep_copy(s, r->weights.data, r->weights.len);
	struct round_shift *shifts = r->shifts.len ? keep_copy(s, r->shifts.data, r->shifts.len) : NULL;
	if (!gaps || !p->weights || (r->shifts.len && !shifts) ||
	    !gs_reserve(&s->lists, s->list_count, &s->list_room, sizeof *s->lists))
		return -ENOMEM;
	p->gaps = gaps;
	p->gap_count = r->gaps.len / sizeof *gaps;
	if (shifts)
		s->lists[s->list_count++] = (struct shift_list){shifts, r->shifts.len / sizeof *shifts};
	for (size_t g = 0; g < p->gap_count && shifts; g++) {
		gaps[g].shifts = shifts;
		shifts += gaps[g].access_count;
	}
	return 0;
}

/* Blocks of a path that is the same but for its addresses are shared. */
static int add_path(struct trace_store *s, const struct recorded_path *r, bool requests, const uint32_t *blocks)
{
	if (!room_for_path(s))
		return -ENOMEM;
	struct warp_path p = {.block_count = r->blocks.len / sizeof *p.blocks,
	                      .access_count = r->accesses.len / sizeof *p.accesses,
	                      .active_lanes = r->lane_instructions};
	p.blocks = blocks ? blocks : keep_copy(s, r->blocks.data, r->blocks.len);
	p.accesses = keep_copy(s, r->accesses.data, r->accesses.len);
	s->block_count += blocks ? 0 : p.block_count;
	s->part_count += r->parts.len / sizeof(struct memory_part) + p.access_count / 2;
	if (!p.blocks || !p.accesses)
		return -ENOMEM;
	if (requests) {
		s->requests[s->path_count] = (struct path_requests){.first = keep_copy(s, r->first.data, r->first.len),
		                                                    .parts = keep_copy(s, r->parts.data, r->parts.len)};
		if (!s->requests[s->path_count].first || !s->requests[s->path_count].parts)
			return -ENOMEM;
	}
	int result = r->gaps.len ? add_gaps(s, r, &p) : 0;
	if (!result)
		s->paths[s->path_count++] = p;
	return result;
}

int trace_store_keep(struct trace_store *s, const struct recorded_path *r, bool requests, uint32_t *path)
{
	if (2 * s->path_count + 2 >= s->slot_count && !grow_slots(s))
		return -ENOMEM;
	uint64_t hash = hash_bytes(r->blocks.data, r->blocks.len, 0);
	hash = requests ? hash : hash_bytes(r->accesses.data, r->accesses.len, hash);
	size_t slot = find_slot(s, r, requests, hash);
	uint32_t known = s->slots[slot].path;
	if (known && !requests) {
		*path = known - 1;
		return 0;
	}
	int result = add_path(s, r, requests, known ? s->paths[known - 1].blocks : NULL);
	*path = (uint32_t)s->path_count - 1;
	if (!result && !known)
		s->slots[slot] = (struct path_slot){hash, (uint32_t)s->path_count};
	return result;
}

bool trace_store_has_gaps(const struct trace_store *s)
{
	bool any = false;
	for (size_t i = 0; i < s->path_count && !any; i++)
		any = s->paths[i].gap_count;
	return any;
}

void trace_store_reweigh(const struct kernel_code *code, struct warp_path *path, double before)
{
	if (path->gap_count)
		path_weigh(code, path->blocks, path->block_count, (struct path_gap *)path->gaps, path->gap_count, (double *)path->weights);
	if (before > 0)
		path->active_lanes = (uint64_t)((double)path->active_lanes * path_instructions(code, path) / before);
}

/* Instructions of outermost windows that are done `factor` times as often, once at least. */
static double work_of_windows(const struct warp_path *p, double factor)
{
	double sum = 0;
	for (size_t g = 0; g < p->gap_count; g++)
		sum += p->gaps[g].outer < 0 ? fmax(1, factor * (1 + p->gaps[g].rounds)) * p->gaps[g].work : 0;
	return sum;
}

/* How much more often windows are done so that they come to `wanted` instructions. */
static double find_factor(const struct warp_path *p, double wanted)
{
	enum { HALVINGS = 30 };
	double low = 0, high = fmax(wanted / fmax(work_of_windows(p, 1), 1), 1) * 2;
	for (int i = 0; i < HALVINGS; i++) {
		double middle = (low + high) / 2;
		*(work_of_windows(p, middle) < wanted ? &low : &high) = middle;
	}
	return high;
}

int trace_store_vary(struct trace_store *s, const struct kernel_code *code, uint32_t of, double times, uint32_t *path, double *actual)
{
	struct warp_path p = s->paths[of];
	double before = path_instructions(code, &p);
	struct path_gap *gaps = keep_copy(s, p.gaps, p.gap_count * sizeof *p.gaps);
	p.gaps = gaps;
	p.weights = keep_copy(s, p.weights, p.weights ? p.block_count * sizeof *p.weights : 0);
	if (!gaps || !p.weights || !room_for_path(s))
		return -ENOMEM;
	double factor = find_factor(&p, work_of_windows(&p, 1) + before * (times - 1));
	for (size_t g = 0; g < p.gap_count; g++)
		gaps[g].rounds = gaps[g].outer < 0 ? fmax(1, factor * (1 + gaps[g].rounds)) - 1 : gaps[g].rounds;
	trace_store_reweigh(code, &p, before);
	*actual = before > 0 ? path_instructions(code, &p) / before : 1;
	*path = (uint32_t)s->path_count++;
	s->paths[*path] = p;
	s->requests[*path] = s->requests[of];
	return 0;
}

size_t trace_store_bytes(const struct trace_store *s)
{
	return s->owned_bytes + s->path_room * (sizeof *s->paths + sizeof *s->requests) + s->slot_count * sizeof *s->slots;
}

void trace_store_free(struct trace_store *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->owned_count; i++)
		free(s->owned[i].memory);
	free(s->owned);
	free(s->paths);
	free(s->requests);
	free(s->path_of);
	free(s->pattern_ids);
	free(s->shifts);
	free(s->starts);
	free(s->places);
	free(s->common.slots);
	free(s->lists);
	free(s->slots);
	free(s);
}
