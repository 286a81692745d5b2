/*
 * Ways and addresses of traced work-items.
 *
 * The place of an access in the trace is the number of source blocks that had begun before it. An instruction takes the first
 * access of its site that lies at its own place or after it. Its own place is the source block of the site, if that begins in
 * this step of the way; else what has begun so far. So copies in an unrolled loop take one access after the other, an
 * instruction that was moved out of a loop takes the loop's first, and accesses that the compiler left out are passed over.
 * If there is none, it takes the last access before its place: a store that was moved out of a loop. Parts of an access each
 * go through the site's accesses by themselves.
 */
#include "models/trace/lanes.h"

#include "models/util/hash.h"
#include "models/util/limits.h"
#include "models/warps/walk.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum {
	WAY_SLOTS = 256,    /* ways that are found again: more save time, and change nothing */
	COUNTED_FIRST = 64, /* lanes whose counters are used in any case, to find source blocks that no trace has */
};

struct kept_way {
	struct traced_way way;
	uint64_t hash, warp;
	bool used;
};

struct trace_reader {
	const struct kernel_code *code;
	const struct launch_trace *trace;
	const struct lane_counts *lanes;
	struct trace_walker *walker;
	int32_t *stream_of;      /* per instruction: what goes through its site's accesses by itself; -1: no site */
	uint32_t *site_of;       /* per stream */
	uint32_t stream_count;
	bool *wanted, *seen;     /* per site: some instruction is for it; per source block: some lane has it */
	struct kept_way ways[WAY_SLOTS];
	uint64_t warp, counted;
	uint32_t *row;
	uint64_t *counts;
	struct code_counts sums;
	bool failed; /* out of memory while counting */
	struct gs_buf path; /* scratch */
};

struct access {
	uint32_t place; /* source blocks that had begun */
	uint32_t bytes;
	uint64_t address;
};

struct stream_cursor {
	uint32_t low;   /* accesses before it lie before the lane's place */
	uint32_t taken; /* one more than the last that was taken */
	size_t step;    /* at which it was */
};

struct traced_lane {
	const struct trace_reader *reader;
	const struct traced_way *way;
	struct traced_way own; /* where no slot was free */
	size_t at;             /* one more than the step */
	uint32_t item;
	uint32_t *first;       /* per site: of accesses; one more than sites */
	struct access *accesses;
	struct stream_cursor *cursors; /* per stream */
	size_t access_room;
	uint32_t *source; /* scratch: known source blocks */
	size_t source_room;
	struct way_gap *gaps;
	size_t gap_count, gap_room;
};

/* ---- the reader ---- */

static int number_streams(struct trace_reader *r)
{
	const struct kernel_code *c = r->code;
	r->stream_of = malloc((c->code_count + 1u) * sizeof *r->stream_of);
	r->site_of = calloc(c->code_count + 1u, sizeof *r->site_of);
	uint32_t *offset_of = calloc(c->code_count + 1u, sizeof *offset_of);
	int result = r->stream_of && r->site_of && offset_of ? 0 : -ENOMEM;
	for (uint32_t i = 0; i < c->code_count && !result; i++) {
		const struct code_instruction *in = &c->code[i];
		r->stream_of[i] = -1;
		if (in->site < 0 || (uint32_t)in->site >= r->trace->site_count || !code_accesses_memory(in))
			continue;
		uint32_t s = 0;
		while (s < r->stream_count && (r->site_of[s] != (uint32_t)in->site || offset_of[s] != in->site_offset))
			s++;
		if (s == r->stream_count) {
			r->site_of[s] = (uint32_t)in->site;
			offset_of[s] = in->site_offset;
			r->stream_count++;
		}
		r->stream_of[i] = (int32_t)s;
		r->wanted[in->site] = true;
	}
	free(offset_of);
	return result;
}

static void see_blocks(struct trace_reader *r)
{
	for (size_t g = 0; g < r->trace->group_count; g++)
		for (uint32_t l = 0; l < r->trace->groups[g].lane_count; l++) {
			const struct lane_trace *lane = &r->trace->groups[g].lanes[l];
			for (size_t i = 0; i < lane->count; i++)
				if (lane->events[i].what < r->code->counter_count)
					r->seen[lane->events[i].what] = true;
		}
}

struct trace_reader *trace_reader_new(const struct kernel_code *code, const struct launch_trace *trace,
                                      const struct lane_counts *lanes)
{
	struct trace_reader *r = calloc(1, sizeof *r);
	if (!r)
		return NULL;
	r->code = code;
	r->trace = trace;
	r->lanes = lanes && lanes->gather ? lanes : NULL;
	r->walker = trace_walker_new(code);
	r->wanted = calloc(trace->site_count + 1u, sizeof *r->wanted);
	r->seen = calloc(code->counter_count + 1u, sizeof *r->seen);
	r->row = calloc((r->lanes ? r->lanes->columns : 0) + 1u, sizeof *r->row);
	r->counts = calloc(code->counter_count + 1u, sizeof *r->counts);
	r->sums.edges = calloc(code->edge_count + 1u, sizeof *r->sums.edges);
	r->sums.blocks = calloc(code->block_count + 1u, sizeof *r->sums.blocks);
	if (!r->walker || !r->wanted || !r->seen || !r->row || !r->counts || !r->sums.edges || !r->sums.blocks ||
	    number_streams(r)) {
		trace_reader_free(r);
		return NULL;
	}
	see_blocks(r);
	return r;
}

static void way_free(struct traced_way *way)
{
	free(way->blocks);
	free(way->before);
	free(way->source);
	*way = (struct traced_way){0};
}

void trace_reader_free(struct trace_reader *r)
{
	if (!r)
		return;
	for (size_t i = 0; i < WAY_SLOTS; i++)
		way_free(&r->ways[i].way);
	trace_walker_free(r->walker);
	free(r->stream_of);
	free(r->site_of);
	free(r->wanted);
	free(r->seen);
	free(r->row);
	free(r->counts);
	free(r->sums.edges);
	free(r->sums.blocks);
	gs_buf_free(&r->path);
	free(r);
}

void trace_reader_next_warp(struct trace_reader *r)
{
	r->warp++;
}

/* ---- ways ---- */

/* How often the lane took each edge; NULL without counters. A source block that counts, but never is in a trace, has no event. */
static const double *count_edges(struct trace_reader *r, uint64_t group, uint32_t item)
{
	if (!r->lanes)
		return NULL;
	r->lanes->gather(r->lanes->ctx, group, item, r->row);
	r->lanes->expand(r->lanes->ctx, r->row, r->counts);
	r->failed |= code_count(r->code, r->counts, &r->sums) != 0;
	for (uint32_t i = 0; i < r->code->probe_count; i++)
		if (!r->seen[r->code->probes[i]] && r->counts[r->code->probes[i]])
			trace_walker_ignore(r->walker, r->code->probes[i]);
	return r->sums.edges;
}

/* Blocks and places apart, as replays take them. */
static int keep_steps(struct trace_reader *r, struct traced_way *way)
{
	const struct trace_step *steps = (const struct trace_step *)(void *)r->path.data;
	way->steps = r->path.len / sizeof *steps;
	way->blocks = malloc((way->steps + 1) * sizeof *way->blocks);
	way->before = malloc((way->steps + 1) * sizeof *way->before);
	if (!way->blocks || !way->before)
		return -ENOMEM;
	for (size_t i = 0; i < way->steps; i++) {
		way->blocks[i] = steps[i].block;
		way->before[i] = steps[i].before;
	}
	way->before[way->steps] = (uint32_t)way->source_count;
	return 0;
}

/* The way that counts alone make; its steps are then spread evenly over the trace. Where that was cut, or left iterations out, the way is not much longer
 * than it: counters say how much more there is. */
static int guess_way(struct trace_reader *r, const double *edges, struct traced_way *way)
{
	enum { MOST_BLOCKS = MODEL_MOST_BLOCKS / 4, USUAL_BLOCKS = 1 << 16, PER_SOURCE_BLOCK = 4 };
	const size_t most = PER_SOURCE_BLOCK * way->source_count + USUAL_BLOCKS;
	struct gs_buf blocks = {0};
	int64_t wanted = edges ? walk_lane(r->code, edges, 1, most < MOST_BLOCKS ? most : MOST_BLOCKS, &blocks) : -ENOENT;
	size_t steps = blocks.len / sizeof(uint32_t);
	for (size_t i = 0; i < steps && wanted >= 0; i++) {
		struct trace_step step = {((const uint32_t *)(void *)blocks.data)[i],
		                          (uint32_t)(way->source_count * i / steps)};
		gs_buf_add(&r->path, &step, sizeof step);
	}
	way->guessed = true;
	way->shortened = wanted > (int64_t)steps;
	gs_buf_free(&blocks);
	return wanted < 0 ? (int)wanted : r->path.failed ? -ENOMEM : 0;
}

static int find_way(struct trace_reader *r, const struct traced_lane *l, size_t count, bool cut, uint64_t group, uint32_t item,
                    struct traced_way *way)
{
	way_free(way);
	way->source = malloc((count + 1) * sizeof *way->source);
	if (!way->source)
		return -ENOMEM;
	memcpy(way->source, l->source, count * sizeof *way->source);
	way->source_count = count;
	way->cut = cut;
	/* What a lane's counters say is known late: most traces leave no choice. */
	const double *edges = r->counted++ < COUNTED_FIRST && r->lanes && lanes_are_counted(r->lanes, group) ? count_edges(r, group, item) : NULL;
	r->path.len = 0;
	int result = trace_walk(r->walker, way->source, count, cut, edges, &r->path);
	if (!edges && r->lanes && (result == -ENOENT || (!result && trace_walk_had_choice(r->walker)))) {
		edges = count_edges(r, group, item);
		r->path.len = 0;
		result = trace_walk(r->walker, way->source, count, cut, edges, &r->path);
	}
	if (result == -ENOENT)
		result = guess_way(r, edges, way);
	if (r->failed)
		return -ENOMEM;
	return result ? result : keep_steps(r, way);
}

static bool same_source(const struct traced_way *way, const uint32_t *source, size_t count, bool cut)
{
	return way->source_count == count && way->cut == cut && !memcmp(way->source, source, count * sizeof *source);
}

/* The same source blocks lead the same way. A slot whose way another lane of the warp has is not given away. */
static int choose_way(struct trace_reader *r, struct traced_lane *l, size_t count, bool cut, uint64_t group, uint32_t item)
{
	uint64_t hash = hash_bytes(l->source, count * sizeof *l->source, 0);
	struct kept_way *slot = &r->ways[hash % WAY_SLOTS];
	if (slot->used && slot->hash == hash && same_source(&slot->way, l->source, count, cut)) {
		slot->warp = r->warp;
		l->way = &slot->way;
		return 0;
	}
	bool take = !slot->used || slot->warp != r->warp;
	struct traced_way *way = take ? &slot->way : &l->own;
	slot->used &= !take;
	int result = find_way(r, l, count, cut, group, item, way);
	if (take && !result) {
		slot->used = true;
		slot->hash = hash;
		slot->warp = r->warp;
	}
	l->way = way;
	return result;
}

/* ---- lanes ---- */

struct traced_lane *traced_lane_new(const struct trace_reader *r)
{
	struct traced_lane *l = calloc(1, sizeof *l);
	if (!l)
		return NULL;
	l->reader = r;
	l->first = calloc(r->trace->site_count + 2u, sizeof *l->first);
	l->cursors = calloc(r->stream_count + 1u, sizeof *l->cursors);
	if (!l->first || !l->cursors) {
		traced_lane_free(l);
		return NULL;
	}
	return l;
}

void traced_lane_free(struct traced_lane *l)
{
	if (!l)
		return;
	way_free(&l->own);
	free(l->first);
	free(l->accesses);
	free(l->cursors);
	free(l->source);
	free(l->gaps);
	free(l);
}

static bool make_room(void **array, size_t *room, size_t count, size_t size)
{
	if (count <= *room)
		return true;
	void *larger = reallocarray(*array, count + count / 2, size);
	if (!larger)
		return false;
	*array = larger;
	*room = count + count / 2;
	return true;
}

static bool is_wanted(const struct trace_reader *r, uint32_t what)
{
	uint32_t site = what - TRACE_ACCESS;
	return what >= TRACE_ACCESS && site < r->trace->site_count && r->wanted[site];
}

/* Accesses by site, each with its place, and the source blocks that the target's code has. */
static int sort_events(struct traced_lane *l, const struct lane_trace *trace, size_t *source_count)
{
	const struct trace_reader *r = l->reader;
	uint32_t sites = r->trace->site_count, begun = 0;
	memset(l->first, 0, (sites + 2u) * sizeof *l->first);
	for (size_t i = 0; i < trace->count; i++)
		if (is_wanted(r, trace->events[i].what))
			l->first[trace->events[i].what - TRACE_ACCESS + 2]++;
	for (uint32_t s = 2; s <= sites + 1; s++)
		l->first[s] += l->first[s - 1];
	if (!make_room((void **)&l->accesses, &l->access_room, l->first[sites + 1] + 1u, sizeof *l->accesses) ||
	    !make_room((void **)&l->source, &l->source_room, trace->count + 1, sizeof *l->source))
		return -ENOMEM;
	for (size_t i = 0; i < trace->count; i++) {
		const struct trace_event *e = &trace->events[i];
		if (is_wanted(r, e->what))
			l->accesses[l->first[e->what - TRACE_ACCESS + 1]++] = (struct access){begun, e->bytes, e->address};
		else if (e->what < TRACE_ACCESS && trace_walker_knows(r->walker, e->what))
			l->source[begun++] = e->what;
	}
	*source_count = begun;
	return 0;
}

/* The step in which a source block of the way began, by its number there. */
static size_t step_of_source(const struct traced_way *way, uint32_t number)
{
	size_t low = 0, high = way->steps;
	while (low < high) { /* the first step after which it had begun */
		size_t middle = (low + high) / 2;
		if (way->before[middle + 1] > number)
			high = middle;
		else
			low = middle + 1;
	}
	return low;
}

/* The event with which the window of a gap begins; SIZE_MAX: it is not in the trace. */
static size_t find_window(const struct lane_trace *trace, const struct trace_gap *gap)
{
	uint32_t left = gap->kept;
	for (size_t i = gap->before < trace->count ? gap->before : trace->count; i-- > 0 && left;)
		if (trace->events[i].what == gap->body && !--left)
			return i;
	return SIZE_MAX;
}

static bool is_in_window(const struct traced_way *way, size_t from, size_t end, uint32_t block)
{
	for (size_t s = end; s-- > from;)
		if (way->blocks[s] == block)
			return true;
	return false;
}

/* A window ends before the first block that its iterations do not have: what follows the loop may have no probe of its own. */
static size_t end_of_window(const struct traced_way *way, size_t from, uint32_t begun, size_t at)
{
	size_t end = begun ? step_of_source(way, begun - 1) + 1 : at;
	while (end < at && is_in_window(way, from, end, way->blocks[end]))
		end++;
	return end < at ? end : at;
}

static uint32_t count_bodies(const struct traced_way *way, size_t from, size_t to, uint32_t body)
{
	uint32_t count = 0;
	for (uint32_t i = way->before[from]; i < way->before[to]; i++)
		count += way->source[i] == body;
	return count;
}

/*
 * A loop that the compiler unrolled ends with single iterations, those that are left of whole rounds. What the last window leaves out did not do
 * these. So it ends before the blocks that the window before it does not have, if that leaves something of it.
 */
static void end_before_rest(const struct traced_way *way, const struct way_gap *before, struct way_gap *gap)
{
	size_t at = gap->at;
	if (before->body != gap->body || before->at > gap->from)
		return;
	while (at > gap->from && !is_in_window(way, before->from, before->at, way->blocks[at - 1]))
		at--;
	uint32_t kept = at > gap->from && at < gap->at ? count_bodies(way, gap->from, at, gap->body) : 0;
	if (!kept)
		return;
	gap->at = at;
	gap->kept = kept;
}

/* For each event, how many of the way's source blocks had begun before it. The target's code may have lost the block of a loop's body,
 * so that events say where windows are. */
static uint32_t *count_begun(const struct traced_lane *l, const struct lane_trace *trace)
{
	uint32_t *begun = malloc((trace->count + 1) * sizeof *begun);
	if (!begun)
		return NULL;
	begun[0] = 0;
	for (size_t i = 0; i < trace->count; i++)
		begun[i + 1] = begun[i] + (trace->events[i].what < TRACE_ACCESS && trace_walker_knows(l->reader->walker, trace->events[i].what));
	return begun;
}

/* The gaps of the trace as steps of the way that was found. */
static int place_gaps(struct traced_lane *l, const struct lane_trace *trace)
{
	l->gap_count = 0;
	if (!trace->gap_count || l->way->guessed)
		return 0;
	if (!make_room((void **)&l->gaps, &l->gap_room, trace->gap_count, sizeof *l->gaps))
		return -ENOMEM;
	uint32_t *begun = count_begun(l, trace);
	for (size_t g = 0; g < trace->gap_count && begun; g++) {
		const struct trace_gap *gap = &trace->gaps[g];
		size_t first = find_window(trace, gap), before = gap->before < trace->count ? gap->before : trace->count;
		struct way_gap to = {.body = gap->body, .kept = gap->kept, .iterations = gap->iterations};
		if (first == SIZE_MAX)
			continue;
		to.from = step_of_source(l->way, begun[first]);
		to.at = step_of_source(l->way, begun[before]);
		if (to.from >= to.at)
			continue;
		to.at = end_of_window(l->way, to.from, begun[before], to.at);
		if (l->gap_count)
			end_before_rest(l->way, &l->gaps[l->gap_count - 1], &to);
		l->gaps[l->gap_count++] = to;
	}
	free(begun);
	return begun ? 0 : -ENOMEM;
}

int traced_lane_begin(struct trace_reader *r, struct traced_lane *l, const struct traced_group *group, uint32_t item)
{
	size_t source_count;
	int result = sort_events(l, &group->lanes[item], &source_count);
	memset(l->cursors, 0, r->stream_count * sizeof *l->cursors);
	l->at = 0;
	l->item = item;
	l->way = NULL;
	l->gap_count = 0;
	if (!result)
		result = choose_way(r, l, source_count, group->lanes[item].cut, group->group, item);
	return result ? result : place_gaps(l, &group->lanes[item]);
}

const struct way_gap *traced_lane_gaps(const struct traced_lane *l, size_t *count)
{
	*count = l->gap_count;
	return l->gaps;
}

const struct traced_way *traced_lane_way(const struct traced_lane *l)
{
	return l->way;
}

void traced_lane_step(struct traced_lane *l)
{
	l->at++;
}

int32_t traced_lane_next(const struct traced_lane *l)
{
	return l->at < l->way->steps ? (int32_t)l->way->blocks[l->at] : -1;
}

/*
 * From which place on an access of the instruction's site belongs to the step; *begins: because the site's block begins in
 * it. Else the instruction is of a block that began earlier, or was moved here from one that will begin later: the probes
 * before it show how far the step has come.
 */
static uint32_t place_of(const struct traced_lane *l, const struct code_instruction *in, uint32_t source_block, bool *begins)
{
	uint32_t from = l->way->before[l->at - 1], to = l->way->before[l->at];
	const struct code_block *b = &l->reader->code->blocks[l->way->blocks[l->at - 1]];
	*begins = false;
	for (uint32_t i = from; i < to; i++)
		if (l->way->source[i] == source_block) {
			*begins = true;
			return i + 1;
		}
	uint32_t on_edge = to - from > b->probe_count ? to - from - b->probe_count : 0;
	uint32_t place = from + on_edge + in->probes_before;
	return place < to ? place : to;
}

/* Neighbours that were made one instruction are one access of the target. */
static void take_neighbours(struct stream_cursor *c, const struct access *list, uint32_t count, uint64_t begin, uint64_t bytes,
                            uint32_t last_place)
{
	while (c->taken < count && list[c->taken].address - begin < bytes && list[c->taken].place <= last_place)
		c->taken++;
}

bool traced_lane_address(struct traced_lane *l, uint32_t instruction, uint64_t *address, uint32_t *bytes)
{
	const struct trace_reader *r = l->reader;
	const struct code_instruction *in = &r->code->code[instruction];
	int32_t stream = r->stream_of[instruction];
	if (stream < 0 || !l->at || l->at > l->way->steps)
		return false;
	const struct trace_site *site = &r->trace->sites[in->site];
	const struct access *list = l->accesses + l->first[in->site];
	uint32_t count = l->first[in->site + 1] - l->first[in->site];
	struct stream_cursor *c = &l->cursors[stream];
	bool begins;
	uint32_t place = place_of(l, in, site->block, &begins);
	if (!count)
		return false;
	while (c->low < count && list[c->low].place < place)
		c->low++;
	uint32_t take = c->low;
	/* Behind what the same step took, and what an earlier one took for this source block, too. */
	if (take < c->taken && (!begins || c->step == l->at))
		take = c->taken;
	take = take < count ? take : count - 1;
	c->taken = take + 1;
	c->step = l->at;
	*address = list[take].address + in->site_offset;
	*bytes = site->kind == TRACE_bulk || site->space == SPACE_texture ? list[take].bytes : 0;
	if (site->kind == TRACE_copy_in || site->kind == TRACE_copy_out) /* the group's copy, of which each takes its element */
		*address += (uint64_t)l->item * in->bytes;
	if (in->elements > 1 && in->bytes > site->bytes) { /* aligned to all of it, as vector accesses are */
		*address -= *address % in->bytes;
		take_neighbours(c, list, count, *address, in->bytes, l->way->before[l->at]);
	}
	return true;
}
