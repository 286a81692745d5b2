/*
 * Makes the short form of a trace of the form that costs GPUs least (runtime/format/traces.h). Events go through the functions that write the
 * short form at once where kernels run in this process (trace_native.c). What the words say may be anything: a device may be wrong.
 */
#include "runtime/guest/support/trace_columns.h"

#include "runtime/format/traces.h"
#include "runtime/guest/support/trace_native.h"

#include <stdlib.h>
#include <string.h>

enum { CHUNK_WORDS = TRACE_CHUNK_BYTES / 8, MOST_BASES = 64 };

/* One work-item's column. */
struct column {
	const uint64_t *first;
	size_t step;
	uint64_t group;
	uint32_t lane, count;
	int cut;
};

static uint64_t word_of(const struct column *c, uint32_t index)
{
	return c->first[(COLUMN_HEADER_WORDS + (size_t)index) * c->step];
}

static struct column column_at(const uint64_t *words, size_t columns, size_t index)
{
	const uint64_t *first = words + TRACE_HEADER_WORDS + index;
	uint64_t who = first[columns];
	return (struct column){first, columns, first[0], (uint32_t)who & ((1u << COLUMN_CUT_BIT) - 1), (uint32_t)(who >> 32),
	                       who >> COLUMN_CUT_BIT & 1};
}

/* ---- one work-item ---- */

/* What the first work-item of a group records. */
struct group_told {
	uint64_t group, begin[10];
	uint64_t bases[MOST_BASES][4];
	size_t base_count;
	int begun;
};

static void keep_base(struct group_told *g, const uint64_t base[4])
{
	if (g->base_count < MOST_BASES)
		memcpy(g->bases[g->base_count++], base, sizeof g->bases[0]);
}

static struct native_trace *begin_item(const struct group_told *g, const struct column *c, uint64_t *to, uint64_t chunks, uint32_t blocks,
                                       uint32_t sites)
{
	const uint64_t *b = g->begin, x = b[5] ? b[5] : 1, y = b[6] ? b[6] : 1;
	return native_begin(to, chunks, 0, 0, c->group, (uint32_t)b[0], (uint32_t)b[1], b[2], b[3], b[4], b[8], b[9], c->lane % x,
	                    c->lane / x % y, c->lane / x / y, x, y, b[7], 1, blocks, sites, 0);
}

/* Words of an event after its first. */
static uint32_t words_after(uint64_t event)
{
	static const uint32_t told[4] = {[COLUMN_BEGIN] = 10, [COLUMN_BASE] = 3, [COLUMN_GAP] = 2};
	switch (event & ((1 << COLUMN_TAG_BITS) - 1)) {
	case COLUMN_COPY:
		return 1;
	case COLUMN_TOLD:
		return told[event >> COLUMN_TAG_BITS & 3];
	default:
		return 0;
	}
}

static void write_event(struct native_trace *t, const struct column *c, uint32_t at)
{
	uint64_t event = word_of(c, at), what = event >> COLUMN_TAG_BITS & 3;
	uint32_t site = event >> COLUMN_SITE_SHIFT & ((1u << (COLUMN_ADDRESS_SHIFT - COLUMN_SITE_SHIFT)) - 1);
	int class = event >> COLUMN_TAG_BITS & ((1 << (COLUMN_SITE_SHIFT - COLUMN_TAG_BITS)) - 1);
	switch (event & ((1 << COLUMN_TAG_BITS) - 1)) {
	case COLUMN_BLOCK:
		native_b((uint32_t)(event >> COLUMN_TAG_BITS), t);
		return;
	case COLUMN_ACCESS:
		trace_access(t, site, class, event >> COLUMN_ADDRESS_SHIFT, 0);
		return;
	case COLUMN_COPY:
		trace_access(t, site, class, event >> COLUMN_ADDRESS_SHIFT, word_of(c, at + 1));
		return;
	default:
		if (what == COLUMN_GAP)
			trace_gap(t, (uint32_t)(event >> COLUMN_TOLD_SHIFT), word_of(c, at + 1), word_of(c, at + 2));
	}
}

/* Reads what a group's first work-item says of it. */
static void read_told(struct group_told *g, const struct column *c)
{
	g->group = c->group;
	g->begun = 0;
	g->base_count = 0;
	for (uint32_t at = 0; at < c->count && c->count - at > words_after(word_of(c, at)); at += 1 + words_after(word_of(c, at))) {
		uint64_t event = word_of(c, at), what = event >> COLUMN_TAG_BITS & 3;
		if ((event & ((1 << COLUMN_TAG_BITS) - 1)) != COLUMN_TOLD)
			continue;
		if (what == COLUMN_BEGIN)
			for (uint32_t i = 0; i < 10; i++)
				g->begin[i] = word_of(c, at + 1 + i);
		else if (what == COLUMN_BASE)
			keep_base(g, (const uint64_t[4]){event >> COLUMN_TOLD_SHIFT, word_of(c, at + 1), word_of(c, at + 2), word_of(c, at + 3)});
		g->begun |= what == COLUMN_BEGIN;
	}
}

static void write_item(const struct group_told *g, const struct column *c, uint64_t *to, uint64_t chunks, uint32_t blocks, uint32_t sites)
{
	struct native_trace *t = begin_item(g, c, to, chunks, blocks, sites);
	uint32_t at = 0;
	for (size_t i = 0; i < g->base_count; i++)
		native_base_f((uint32_t)g->bases[i][0], (uint32_t)g->bases[i][1], g->bases[i][2], g->bases[i][3], t);
	for (; at < c->count && c->count - at > words_after(word_of(c, at)); at += 1 + words_after(word_of(c, at)))
		write_event(t, c, at);
	if (c->cut)
		trace_cut(t);
	native_end(t);
}

/* ---- all of them ---- */

static int compare_columns(const void *a, const void *b)
{
	const struct column *x = a, *y = b;
	if (x->group != y->group)
		return x->group < y->group ? -1 : 1;
	return x->lane < y->lane ? -1 : x->lane > y->lane;
}

/* Chunks that are enough: a word becomes up to 13 bytes, and a chunk ends up to 128 bytes before its end. */
static size_t chunks_for(const struct column *list, size_t count)
{
	size_t chunks = 0;
	for (size_t i = 0; i < count; i++)
		chunks += 2 + (size_t)list[i].count * 13 / (TRACE_CHUNK_BYTES - TRACE_CHUNK_HEADER_WORDS * 8 - 128);
	return chunks;
}

/* The columns with something in them, in the order of groups and work-items. */
static struct column *sorted_columns(const uint64_t *words, size_t word_count, size_t *count)
{
	const size_t columns = trace_columns(words, word_count);
	struct column *list = columns ? calloc(columns, sizeof *list) : NULL;
	const size_t rows = list ? (word_count - TRACE_HEADER_WORDS) / columns - COLUMN_HEADER_WORDS : 0;
	*count = 0;
	for (size_t i = 0; list && i < columns; i++) {
		struct column c = column_at(words, columns, i);
		if (c.count && c.count <= rows)
			list[(*count)++] = c;
	}
	if (list)
		qsort(list, *count, sizeof *list, compare_columns);
	return list;
}

uint64_t *columns_to_chunks(const uint64_t *words, size_t word_count, uint32_t blocks, uint32_t sites, size_t *chunks)
{
	size_t count;
	struct column *list = sorted_columns(words, word_count, &count);
	const size_t most = list ? chunks_for(list, count) : 0;
	uint64_t *to = list ? calloc(TRACE_HEADER_WORDS + most * CHUNK_WORDS, sizeof *to) : NULL; /* what is not written takes no memory */
	struct group_told *told = to ? calloc(1, sizeof *told) : NULL;
	for (size_t i = 0; told && i < count; i++) {
		if (!list[i].lane)
			read_told(told, &list[i]);
		if (told->begun && told->group == list[i].group)
			write_item(told, &list[i], to, most, blocks, sites);
	}
	*chunks = told ? (size_t)(uint32_t)to[0] : 0;
	*chunks = *chunks < most ? *chunks : most;
	if (!told) {
		free(to);
		to = NULL;
	}
	free(told);
	free(list);
	return to;
}
