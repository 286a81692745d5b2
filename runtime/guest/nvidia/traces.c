#include "runtime/guest/nvidia/traces.h"

#include "models/trace/read.h"
#include "runtime/config/log.h"
#include "runtime/format/counted.h"
#include "runtime/format/traces.h"
#include "runtime/guest/driver/simulation.h"
#include "runtime/guest/nvidia/calls.h"
#include "runtime/model/trace_shapes.h"

#include <stdlib.h>

#define LOG_DOMAIN "cuda"

enum { BEGIN_WORDS = 11, BASE_WORDS = 4 };

static uint64_t groups_of(const struct launch *l, uint64_t grid[3])
{
	for (int d = 0; d < 3; d++)
		grid[d] = l->record.global[d] / l->record.local[d];
	return grid[0] * grid[1] * grid[2];
}

void trace_choose(struct twin_trace *t, struct launch *l, const struct twin_bases *bases)
{
	uint64_t grid[3];
	groups_of(l, grid);
	*t = (struct twin_trace){.bases = bases, .told = BEGIN_WORDS + BASE_WORDS * bases->count};
	t->wanted = plan_groups_in_columns(l, &t->plan) && !t->plan.of && (t->words = plan_columns(l, &t->plan)) && t->plan.column_words > 2 * t->told &&
	            (t->plan.whole || groups_divide(&t->plan.boxes, grid, &t->lists));
}

/* ---- before the twin ---- */

static bool make_table(struct twin_trace *t, const struct launch *l, void *stream)
{
	uint64_t grid[3], groups = groups_of(l, grid);
	if (t->plan.whole)
		return true;
	if (!(t->slots = calloc(groups, sizeof *t->slots)) || nvidia.allocate(&t->table, groups * sizeof *t->slots)) {
		t->table = 0;
		return false;
	}
	for (size_t i = 0; i < t->lists.traced_count; i++)
		t->slots[t->lists.traced[i]] = (uint32_t)i + 1;
	return !nvidia.copy_to(t->table, t->slots, groups * sizeof *t->slots, stream);
}

static bool make_buffer(struct twin_trace *t, void *stream)
{
	size_t free_bytes = 0, total, bytes = t->words * sizeof(uint64_t);
	uint64_t columns = t->plan.columns;
	if (nvidia.memory_info(&free_bytes, &total) || bytes > free_bytes / 2 || nvidia.allocate(&t->buffer, bytes)) {
		t->buffer = 0;
		return false;
	}
	return !nvidia.fill(t->buffer, 0, (TRACE_HEADER_WORDS + COLUMN_HEADER_WORDS * columns) * sizeof(uint64_t), stream) &&
	       !nvidia.copy_to(t->buffer + TRACE_COLUMNS_WORD * sizeof(uint64_t), &columns, sizeof columns, stream);
}

bool trace_prepare(struct twin_trace *t, const struct launch *l, void *module, bool alone, void *stream)
{
	uint64_t variable, words[TRACE_WORDS] = {0};
	size_t bytes;
	if (nvidia.module_global(&variable, &bytes, module, TRACE_VARIABLE) || bytes < sizeof words)
		return false;
	if (make_table(t, l, stream) && make_buffer(t, stream)) {
		words[TRACE_BUFFER_AT] = t->buffer;
		words[TRACE_TABLE_AT] = t->table;
		words[TRACE_COLUMN_COUNT] = t->plan.columns;
		words[TRACE_COLUMN_ROOM] = t->plan.column_words;
		words[TRACE_WINDOW_SIZES] = t->plan.windows;
		words[TRACE_TOLD_WORDS] = t->told;
		words[TRACE_ALONE] = alone;
	} else {
		t->wanted = false;
		simulation.cost.untraced++;
	}
	return !nvidia.copy_to(variable, words, sizeof words, stream);
}

/* ---- after it ---- */

static void tell(uint64_t *column, uint64_t step, uint64_t index, uint64_t word)
{
	column[(COLUMN_HEADER_WORDS + index) * step] = word;
}

/* What the first thread of a group has left free. */
static void tell_group(const struct twin_trace *t, const struct launch *l, uint64_t slot, uint64_t group, uint64_t *words)
{
	const struct launch_record *r = &l->record;
	const uint64_t *n = r->local, step = t->plan.columns;
	uint64_t grid[3], *column = words + TRACE_HEADER_WORDS + slot * n[0] * n[1] * n[2], at = 0;
	groups_of(l, grid);
	const uint64_t begin[BEGIN_WORDS] = {COLUMN_BEGIN << COLUMN_TAG_BITS | COLUMN_TOLD, 0, 0, group % grid[0] * n[0], group / grid[0] % grid[1] * n[1],
	                                     group / grid[0] / grid[1] * n[2], n[0], n[1], n[2], r->global[0], r->global[1]};
	for (; at < BEGIN_WORDS; at++)
		tell(column, step, at, begin[at]);
	for (uint64_t b = 0; b < t->bases->count; b++) {
		tell(column, step, at++, b << COLUMN_TOLD_SHIFT | COLUMN_BASE << COLUMN_TAG_BITS | COLUMN_TOLD);
		tell(column, step, at++, TRACE_BASE_ARGUMENT);
		tell(column, step, at++, t->bases->pairs[2 * b]);
		tell(column, step, at++, t->bases->pairs[2 * b + 1]);
	}
}

/* Memory that is copied into is ordinary, so the driver copies before it returns. */
static bool fetch(const struct twin_trace *t, uint64_t *words, void *stream)
{
	const size_t headers = TRACE_HEADER_WORDS + COLUMN_HEADER_WORDS * t->plan.columns;
	if (nvidia.copy_from(words, t->buffer, headers * sizeof *words, stream) || nvidia.stream_wait(stream))
		return false;
	size_t used = trace_columns_used(words, t->words);
	return used >= headers + t->told * t->plan.columns &&
	       !nvidia.copy_from(words + headers, t->buffer + headers * sizeof *words, (used - headers) * sizeof *words, stream) &&
	       !nvidia.stream_wait(stream);
}

void trace_fetch(struct twin_trace *t, struct launch *l, void *stream)
{
	struct counter_buffer *b = t->wanted && nvidia.stream_wait ? buffer_of_host(TRACE_BUFFER, t->words) : NULL;
	if (!b)
		return;
	if (!fetch(t, b->words, stream)) {
		buffer_give_back(b, 0);
		simulation.cost.untraced++;
		return;
	}
	const uint64_t slots = t->plan.columns / (l->record.local[0] * l->record.local[1] * l->record.local[2]);
	for (uint64_t s = 0; s < slots; s++)
		tell_group(t, l, s, t->plan.whole ? s : t->lists.traced[s], b->words);
	l->trace_buffer = b;
	trace_taken(l->record.facts, l->record.global, l->record.local);
	log_debug("%s: %llu groups traced", l->record.kernel_name, (unsigned long long)slots);
}

void trace_release(struct twin_trace *t)
{
	if (t->buffer)
		nvidia.release(t->buffer);
	if (t->table)
		nvidia.release(t->table);
	free(t->slots);
	free(t->lists.traced);
}
