/* The second time that a stream is read: counters of work-items, and the traces of some groups. */
#include "runtime/cmd/streams/job.h"
#include "runtime/cmd/streams/windows.h"

#include "runtime/format/counters.h"
#include "runtime/format/traces.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

enum { MOST_SLOTS = 1 << 20 };

struct trace_counting {
	struct import_job *job;
	const struct imported_launch *launch;
	const struct imported_kernel *kernel;
	struct launch_counts *out;
	uint32_t *columns; /* of the counters: word c of work-item i at c * places + i */
	struct lane_layout layout;
	struct lane_writer *writer;
	struct window_rules windows;
	struct touched_piece pieces[IMPORT_MOST_PIECES];
	uint64_t items, groups;  /* of a group; of the launch */
	uint64_t traced_groups;  /* that are wanted */
	uint64_t group;
	bool traced;
	uint32_t warp;
	uint32_t last[TRACE_WARP_LANES]; /* block that each lane is in */
};

size_t import_pieces(const struct import_job *job, const struct imported_launch *launch, size_t *numbers)
{
	size_t count = 0;
	for (size_t i = 0; i < launch->touch_count; i++) {
		long piece = pieces_find(&job->memory, launch->first_touch[i]);
		size_t known = 0;
		while (known < count && numbers[known] < (size_t)piece)
			known++;
		if (piece < 0 || (known < count && numbers[known] == (size_t)piece))
			continue;
		memmove(numbers + known + 1, numbers + known, (count - known) * sizeof *numbers);
		numbers[known] = (size_t)piece;
		count++;
	}
	return count;
}

/* ---- room ---- */

static uint64_t size_word(const uint64_t local[3])
{
	return local[0] | local[1] << COUNTER_SIZE_BITS | local[2] << 2 * COUNTER_SIZE_BITS;
}

/* Whole groups have places. */
static int make_counters(struct trace_counting *c)
{
	struct launch_counts *out = c->out;
	const uint64_t columns = c->kernel->code->counter_count;
	uint64_t most = c->job->counter_bytes / (columns * sizeof(uint32_t)) / c->items * c->items, all = c->items * c->groups;
	out->slots = c->groups < MOST_SLOTS ? (size_t)c->groups : MOST_SLOTS;
	out->places = (size_t)(all <= most ? all : most ? most : c->items);
	out->word_count = COUNTER_HEADER_WORDS + out->slots + 1 + (out->places * columns + 1) / 2 + (all > out->places ? COUNTER_SPARE / 2 : 0);
	out->words = calloc(out->word_count, sizeof *out->words);
	if (!out->words)
		return -ENOMEM;
	out->words[COUNTER_SLOTS] = out->slots;
	for (size_t s = 0; s < out->slots; s++)
		out->words[COUNTER_HEADER_WORDS + s] = size_word(c->launch->header.block);
	c->columns = (uint32_t *)(out->words + COUNTER_HEADER_WORDS + out->slots + 1);
	return 0;
}

static int make_writer(struct trace_counting *c, uint32_t **site_bytes, uint8_t **site_spaces)
{
	const struct kernel_code *code = c->kernel->code;
	size_t numbers[IMPORT_MOST_PIECES];
	*site_bytes = calloc(code->site_count + 1u, sizeof **site_bytes);
	*site_spaces = calloc(code->site_count + 1u, sizeof **site_spaces);
	if (!*site_bytes || !*site_spaces)
		return -ENOMEM;
	for (uint32_t i = 0; i < code->code_count; i++)
		if (code->code[i].site >= 0) {
			(*site_bytes)[code->code[i].site] = code->code[i].bytes;
			(*site_spaces)[code->code[i].site] = code->code[i].space;
		}
	c->layout = (struct lane_layout){.block_count = code->counter_count, .code = code, .site_bytes = *site_bytes, .site_spaces = *site_spaces,
	                                 .shared_base = c->launch->header.shared_base, .local_base = c->launch->header.local_base,
	                                 .most_bytes = c->job->trace_bytes, .pieces = c->pieces, .piece_count = import_pieces(c->job, c->launch, numbers)};
	for (size_t i = 0; i < c->layout.piece_count; i++)
		c->pieces[i] = c->job->memory.list[numbers[i]];
	memcpy(c->layout.local, c->launch->header.block, sizeof c->layout.local);
	memcpy(c->layout.grid, c->launch->header.grid, sizeof c->layout.grid);
	if (!c->job->all_groups && window_rules_make(code, &c->windows))
		return -ENOMEM;
	c->layout.windows = c->job->all_groups ? NULL : &c->windows;
	c->writer = lane_writer_new(&c->layout);
	return c->writer ? 0 : -ENOMEM;
}

/* ---- groups ---- */

/* As for launches of our own, groups in some runs that lie evenly in the launch, from its first group to its last. */
bool import_traces(uint64_t wanted, uint64_t groups, uint64_t group)
{
	uint64_t runs = wanted < BOX_MOST_RUNS ? wanted : BOX_MOST_RUNS;
	if (wanted >= groups)
		return true;
	for (uint64_t r = 0; r < runs; r++) {
		uint64_t length = wanted / runs + (r < wanted % runs);
		uint64_t first = runs > 1 ? (uint64_t)((double)(groups - length) * (double)r / (double)(runs - 1)) : 0;
		if (group >= first && group - first < length)
			return true;
	}
	return false;
}

static void end_warp(struct trace_counting *c);

static void end_group(struct trace_counting *c)
{
	end_warp(c);
	if (c->traced)
		lane_writer_end(c->writer, &c->out->trace);
	c->traced = false;
}

static void begin_group(struct trace_counting *c, uint64_t group)
{
	end_group(c);
	c->group = group;
	c->traced = import_traces(c->traced_groups, c->groups, group) && c->out->trace.len < c->job->trace_bytes;
	if (c->traced)
		lane_writer_begin(c->writer, group);
}

/* ---- warps ---- */

static void count_lanes(struct trace_counting *c, uint32_t counter, uint32_t lanes)
{
	uint64_t first = c->group * c->items + (uint64_t)c->warp * TRACE_WARP_LANES;
	uint32_t *column = c->columns + (uint64_t)counter * c->out->places + first;
	if (first + c->items > c->out->places + (uint64_t)c->warp * TRACE_WARP_LANES) /* its group has no places */
		return;
	for (; lanes; lanes &= lanes - 1) {
		uint32_t *count = &column[__builtin_ctz(lanes)];
		*count += *count < COUNTER_FULL;
	}
}

/* Lanes go on from the blocks that they are in to another one. */
static void count_ways(struct trace_counting *c, uint32_t lanes, uint32_t to)
{
	while (lanes) {
		uint32_t from = c->last[__builtin_ctz(lanes)], same = 0;
		for (int l = 0; l < TRACE_WARP_LANES; l++)
			same |= (uint32_t)(c->last[l] == from) << l;
		same &= lanes;
		uint32_t counter = from == OBSERVED_NONE ? OBSERVED_NONE : observed_edge(c->kernel->observed, from, to);
		if (counter != OBSERVED_NONE)
			count_lanes(c, counter, same);
		lanes &= ~same;
	}
}

static void enter_block(struct trace_counting *c, uint32_t lanes, uint32_t block)
{
	count_ways(c, lanes, block);
	count_lanes(c, block, lanes);
	for (; lanes; lanes &= lanes - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(lanes);
		c->last[lane] = block;
		if (c->traced)
			lane_writer_block(c->writer, c->warp * TRACE_WARP_LANES + lane, block);
	}
}

static void end_warp(struct trace_counting *c)
{
	uint32_t begun = 0;
	for (int l = 0; l < TRACE_WARP_LANES; l++)
		begun |= (uint32_t)(c->last[l] != OBSERVED_NONE) << l;
	count_ways(c, begun, OBSERVED_NONE);
	memset(c->last, 0xff, sizeof c->last);
}

static void take_line(struct trace_counting *c, const struct sass_line *line)
{
	const struct observed_code *o = c->kernel->observed;
	uint32_t at = observed_find(o, line->in.pc), block = at == OBSERVED_NONE ? OBSERVED_NONE : observed_block(o, at), fresh = 0;
	if (at == OBSERVED_NONE || !line->in.mask) /* the file has changed */
		return;
	for (uint32_t left = observed_entry(o) == OBSERVED_NONE ? 0 : line->in.mask; left; left &= left - 1)
		fresh |= c->last[__builtin_ctz(left)] == OBSERVED_NONE ? left & -left : 0;
	if (fresh)
		enter_block(c, fresh, observed_entry(o));
	if (block != OBSERVED_NONE)
		enter_block(c, line->in.mask, block);
	uint32_t site = observed_site(o, at);
	if (!c->traced || !line->in.addresses || site == OBSERVED_NONE)
		return;
	for (uint32_t left = line->in.mask; left; left &= left - 1) {
		uint32_t lane = (uint32_t)__builtin_ctz(left);
		lane_writer_access(c->writer, c->warp * TRACE_WARP_LANES + lane, site, line->address[lane]);
	}
}

/* ---- the launch ---- */

static int read_stream(struct trace_counting *c, void *stream, struct gs_error *err)
{
	struct sass_part part;
	int item;
	while ((item = c->launch->kind->next(stream, &part, err)) > SASS_ITEM_END) {
		if (item == SASS_ITEM_GROUP)
			begin_group(c, part.group);
		else if (item == SASS_ITEM_GROUP_END)
			end_group(c);
		else if (item == SASS_ITEM_WARP) {
			end_warp(c);
			c->warp = part.warp;
		} else {
			take_line(c, part.line);
			if (!(++c->job->lines & 0xffff))
				import_progress(c->job, part.bytes);
		}
	}
	end_group(c);
	return item < 0 ? item : c->out->trace.failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}

/* Groups that are not in the stream do as the first ones, in turn. */
static void repeat_counts(struct trace_counting *c)
{
	const uint64_t known = c->launch->counted;
	for (uint64_t g = known; known && g < c->out->places / c->items; g++) {
		if (import_traces(c->traced_groups, c->groups, g))
			continue;
		for (uint32_t counter = 0; counter < c->kernel->code->counter_count; counter++) {
			uint32_t *column = c->columns + (uint64_t)counter * c->out->places;
			memcpy(column + g * c->items, column + g % known * c->items, c->items * sizeof *column);
		}
	}
}

uint64_t import_traced_groups(const struct import_job *job, const struct sass_header *h)
{
	uint64_t some = job->trace_items / (h->block[0] * h->block[1] * h->block[2]);
	return job->all_groups ? h->grid[0] * h->grid[1] * h->grid[2] : some ? some : 1;
}

int import_count(struct import_job *job, const struct imported_launch *launch, struct launch_counts *out, struct gs_error *err)
{
	struct trace_counting c = {.job = job, .launch = launch, .kernel = &job->kernels[launch->kernel], .out = out};
	const struct sass_header *h = &launch->header;
	const struct sass_header *now = NULL;
	void *stream = NULL;
	uint32_t *site_bytes = NULL;
	uint8_t *site_spaces = NULL;
	*out = (struct launch_counts){0};
	c.items = h->block[0] * h->block[1] * h->block[2];
	c.groups = h->grid[0] * h->grid[1] * h->grid[2];
	c.traced_groups = import_traced_groups(job, h);
	memset(c.last, 0xff, sizeof c.last);
	int result = launch->kind->open(launch->of, &stream, &now, err);
	if (!result && memcmp(now, h, sizeof *h))
		result = gs_fail(err, EBADMSG, "%s changes while it is read", launch->path);
	if (!result && (make_counters(&c) || make_writer(&c, &site_bytes, &site_spaces)))
		result = gs_fail(err, ENOMEM, "out of memory");
	if (!result)
		result = read_stream(&c, stream, err);
	if (!result)
		repeat_counts(&c);
	launch->kind->close(stream);
	lane_writer_free(c.writer);
	window_rules_free(&c.windows);
	free(site_bytes);
	free(site_spaces);
	if (result)
		launch_counts_free(out);
	return result;
}

void launch_counts_free(struct launch_counts *c)
{
	free(c->words);
	gs_buf_free(&c->trace);
	*c = (struct launch_counts){0};
}
