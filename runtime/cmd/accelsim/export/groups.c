/*
 * All groups of a launch, in order. A trace is decoded some groups at a time: it takes ten times the memory then, and a launch may have a
 * gigabyte of it.
 *
 * Where memory did not last for all groups of a launch, others stand for those that are missing: the ones that the models take
 * (models/trace/groups.c: the same work by counters, the same borders of the grid, near), with their addresses moved as those of traced groups were
 * seen to move (models/trace/moves).
 */
#include "runtime/cmd/accelsim/export/export.h"

#include "models/trace/read.h"
#include "models/traffic/footprint.h"
#include "runtime/format/traces.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum {
	HEADER_BYTES = TRACE_CHUNK_HEADER_WORDS * sizeof(uint64_t),
	CHUNK_WORDS = TRACE_CHUNK_BYTES / sizeof(uint64_t),
	CHUNK_ROOM = TRACE_CHUNK_BYTES - HEADER_BYTES,
	BATCH_CHUNKS = 1 << 13,  /* that are decoded at a time, about: 4 MB as the device wrote them */
	SAMPLE_CHUNKS = 1 << 14, /* of the groups that stand for others */
	SAMPLE_GROUPS = 512,
	LEAST_SAMPLE = 4,
};

struct chunk_place {
	uint64_t group;
	size_t at; /* of the trace's bytes */
};

struct group_source {
	const struct export_launch *launch;
	struct chunk_place *chunks; /* by group */
	size_t chunk_count;
	uint64_t groups;
	struct group_chunks {
		size_t first, count;
		bool usable; /* all of its work-items are there to their end; or, where that is so of no group, some are */
	} *list;         /* by group */
	uint64_t usable;
	/* Those that stand for others: */
	struct launch_trace *sample;
	struct trace_warps moves;
	bool moved; /* moves is filled */
	struct warp_writer *writer;
};

static int by_group(const void *a, const void *b)
{
	const struct chunk_place *x = a, *y = b;
	return x->group != y->group ? (x->group < y->group ? -1 : 1) : x->at < y->at ? -1 : x->at > y->at;
}

static void read_header(const struct group_source *s, size_t at, uint64_t header[TRACE_CHUNK_HEADER_WORDS])
{
	memcpy(header, s->launch->bytes + at, HEADER_BYTES);
}

static size_t used_bytes(const uint64_t header[TRACE_CHUNK_HEADER_WORDS])
{
	return (uint32_t)header[2] < CHUNK_ROOM ? (uint32_t)header[2] : CHUNK_ROOM;
}

static int find_chunks(struct group_source *s)
{
	uint64_t header[TRACE_CHUNK_HEADER_WORDS];
	bool sorted = true;
	s->chunks = calloc(s->launch->chunk_count + 1, sizeof *s->chunks);
	s->list = calloc(s->groups + 1, sizeof *s->list);
	if (!s->chunks || !s->list)
		return -ENOMEM;
	for (size_t at = 0; at + HEADER_BYTES <= s->launch->length && s->chunk_count < s->launch->chunk_count; at += HEADER_BYTES + used_bytes(header)) {
		read_header(s, at, header);
		sorted &= !s->chunk_count || s->chunks[s->chunk_count - 1].group <= header[0];
		if (header[0] < s->groups)
			s->chunks[s->chunk_count++] = (struct chunk_place){header[0], at};
	}
	if (!sorted)
		qsort(s->chunks, s->chunk_count, sizeof *s->chunks, by_group);
	for (size_t i = s->chunk_count; i-- > 0;) {
		s->list[s->chunks[i].group].first = i;
		s->list[s->chunks[i].group].count++;
	}
	return 0;
}

/* Work-items of a group; of the last of a dimension there may be fewer. */
static uint64_t items_of(const struct export_launch *l, uint64_t group)
{
	uint64_t items = 1;
	for (int d = 0; d < 3; d++) {
		uint64_t first = group % l->groups[d] * l->local[d];
		items *= l->global[d] - first < l->local[d] ? l->global[d] - first : l->local[d];
		group /= l->groups[d];
	}
	return items;
}

/* Every work-item has a first chunk, and none was left without room for the next. */
static bool is_whole(const struct group_source *s, uint64_t group)
{
	const struct group_chunks *g = &s->list[group];
	uint64_t header[TRACE_CHUNK_HEADER_WORDS], begun = 0;
	for (size_t i = g->first; i < g->first + g->count; i++) {
		read_header(s, s->chunks[i].at, header);
		if (header[2] >> 32)
			return false;
		begun += !(header[1] >> 32);
	}
	return g->count && begun == items_of(s->launch, group);
}

static void find_usable(struct group_source *s)
{
	for (uint64_t g = 0; g < s->groups; g++)
		s->usable += s->list[g].usable = is_whole(s, g);
	for (uint64_t g = 0; g < s->groups && !s->usable; g++)
		s->list[g].usable = s->list[g].count;
}

/* NULL: they cannot be read. */
static struct launch_trace *decode(const struct group_source *s, const uint64_t *ids, size_t count)
{
	const struct export_launch *l = s->launch;
	struct trace_layout layout = {.sites = l->sites, .site_count = l->site_count, .block_count = l->block_count,
	                              .argument_bytes = l->argument_bytes, .argument_count = l->argument_count};
	struct launch_trace *out = NULL;
	struct gs_error err;
	size_t chunks = 0;
	for (size_t i = 0; i < count; i++)
		chunks += s->list[ids[i]].count;
	uint64_t *words = calloc(TRACE_HEADER_WORDS + chunks * CHUNK_WORDS, sizeof *words);
	if (!words)
		return NULL;
	words[0] = chunks;
	uint64_t *chunk = words + TRACE_HEADER_WORDS;
	for (size_t i = 0; i < count; i++)
		for (size_t c = s->list[ids[i]].first; c < s->list[ids[i]].first + s->list[ids[i]].count; c++, chunk += CHUNK_WORDS) {
			read_header(s, s->chunks[c].at, chunk);
			memcpy(chunk + TRACE_CHUNK_HEADER_WORDS, l->bytes + s->chunks[c].at + HEADER_BYTES, used_bytes(chunk));
		}
	memcpy(layout.groups, l->groups, sizeof layout.groups);
	for (int d = 0; d < 3; d++)
		layout.local[d] = (uint32_t)l->local[d];
	if (trace_read(words, TRACE_HEADER_WORDS + chunks * CHUNK_WORDS, &layout, &out, &err))
		out = NULL;
	free(words);
	if (out && out->group_count == count)
		return out;
	trace_free(out);
	return NULL;
}

/* ---- those that stand for others ---- */

/* Usable groups, evenly from all of them. */
static size_t choose_sample(const struct group_source *s, uint64_t *ids)
{
	uint64_t all = 0, seen = 0;
	size_t chunks = 0, count = 0;
	for (uint64_t g = 0; g < s->groups; g++) {
		all += s->list[g].usable;
		chunks += s->list[g].usable ? s->list[g].count : 0;
	}
	uint64_t wanted = chunks ? all * SAMPLE_CHUNKS / chunks : 0;
	wanted = wanted < LEAST_SAMPLE ? LEAST_SAMPLE : wanted > SAMPLE_GROUPS ? SAMPLE_GROUPS : wanted;
	wanted = wanted < all ? wanted : all;
	for (uint64_t g = 0; g < s->groups && count < wanted; g++)
		if (s->list[g].usable && (wanted < 2 || seen++ * (wanted - 1) / (all - 1) >= count))
			ids[count++] = g;
	return count;
}

static int start_stand_ins(struct group_source *s, struct gs_error *err)
{
	const struct export_launch *l = s->launch;
	uint64_t ids[SAMPLE_GROUPS];
	struct trace_shape shape = {.requests = true};
	struct gs_error why;
	size_t count = choose_sample(s, ids);
	uint16_t *usual = calloc(l->code->code->code_count + 1u, sizeof *usual);
	s->sample = count ? decode(s, ids, count) : NULL;
	if (!s->sample || !usual) {
		free(usual);
		return gs_fail(err, ENOENT, "nothing of its trace can be read; " EXPORT_RECORD);
	}
	memcpy(shape.groups, l->groups, sizeof shape.groups);
	memcpy(shape.local, l->local, sizeof shape.local);
	for (uint32_t i = 0; i < l->code->code->code_count; i++)
		usual[i] = 1;
	s->moved = !trace_warps(l->gpu, l->code->code, s->sample, &shape, l->lanes, usual, &s->moves, &why);
	free(usual);
	s->writer = warp_writer_new(l, s->sample, !s->usable);
	return s->writer ? 0 : gs_fail(err, ENOMEM, "out of memory");
}

static const struct traced_group *find_in_sample(const struct group_source *s, uint64_t id)
{
	for (size_t i = 0; i < s->sample->group_count; i++)
		if (s->sample->groups[i].group == id)
			return &s->sample->groups[i];
	return NULL;
}

static int write_stand_in(struct group_source *s, uint64_t group, FILE *out, struct gs_error *err)
{
	const struct launch_warps *w = &s->moves.warps;
	const struct traced_group *from = NULL;
	int result = s->writer ? 0 : start_stand_ins(s, err);
	if (result)
		return result;
	if (s->moved && w->pattern_ids)
		from = find_in_sample(s, w->pattern_ids[warps_pattern(w, group)]);
	return from ? export_group(s->writer, from, group, w, out, err)
	            : export_group(s->writer, &s->sample->groups[group % s->sample->group_count], group, NULL, out, err);
}

/* ---- all ---- */

/* From this one on, as many as are decoded at a time. *next: the one behind them. */
static int write_batch(const struct group_source *s, uint64_t first, uint64_t *next, FILE *out, struct gs_error *err)
{
	size_t chunks = 0, count = 0;
	uint64_t end = first;
	while (end < s->groups && s->list[end].usable && chunks < BATCH_CHUNKS)
		chunks += s->list[end++].count;
	uint64_t *ids = calloc(end - first, sizeof *ids);
	for (uint64_t g = first; g < end && ids; g++)
		ids[count++] = g;
	struct launch_trace *trace = ids ? decode(s, ids, count) : NULL;
	struct warp_writer *w = trace ? warp_writer_new(s->launch, trace, !s->usable) : NULL;
	int result = w ? 0 : gs_fail(err, trace ? ENOMEM : ENOENT, trace ? "out of memory" : "its trace cannot be read");
	for (size_t i = 0; i < count && !result; i++)
		result = export_group(w, &trace->groups[i], trace->groups[i].group, NULL, out, err);
	warp_writer_free(w);
	trace_free(trace);
	free(ids);
	*next = end;
	return result;
}

int export_groups(const struct export_launch *launch, FILE *out, uint64_t *stand_ins, struct gs_error *err)
{
	struct group_source s = {.launch = launch, .groups = launch->groups[0] * launch->groups[1] * launch->groups[2]};
	int result = find_chunks(&s) ? gs_fail(err, ENOMEM, "out of memory") : 0;
	if (!result)
		find_usable(&s);
	*stand_ins = s.groups - s.usable;
	for (uint64_t g = 0; g < s.groups && !result;) {
		if (s.list[g].usable)
			result = write_batch(&s, g, &g, out, err);
		else
			result = write_stand_in(&s, g++, out, err);
	}
	warp_writer_free(s.writer);
	if (s.moved)
		trace_warps_free(&s.moves);
	trace_free(s.sample);
	free(s.chunks);
	free(s.list);
	return result;
}
