#include "tests/lift/traced.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

int traced_read(const struct lift_runner *r, const struct lift_run *run, struct trace_site **sites, struct launch_trace **out,
                struct gs_error *err)
{
	const struct lifted *l = runner_lifted(r);
	struct trace_layout layout = {.site_count = l->site_count, .block_count = l->row_count};
	*sites = calloc(l->site_count + 1u, sizeof **sites);
	if (!*sites)
		return gs_fail(err, ENOMEM, "out of memory");
	for (uint32_t s = 0; s < l->site_count; s++)
		(*sites)[s] = (struct trace_site){.block = l->sites[s].row, .kind = l->sites[s].kind, .space = l->sites[s].space, .bytes = l->sites[s].bytes};
	layout.sites = *sites;
	for (int d = 0; d < 3; d++) {
		layout.local[d] = (uint32_t)run->block[d];
		layout.groups[d] = run->grid[d];
	}
	return trace_read(run->trace, run->trace_words, &layout, out, err);
}

/* Counts of all rows for one thread. */
static void count_thread(const struct lifted *l, const struct lift_kernel *k, const struct lift_run *run, uint64_t thread, int64_t *rows)
{
	memset(rows, 0, l->row_count * sizeof *rows);
	for (uint32_t c = 0; c < k->column_count; c++)
		rows[k->columns[c]] = run->words[c * run->threads + thread];
	for (uint32_t row = 0; row < l->row_count; row++)
		for (uint32_t t = l->rows[row].first_term; t < l->rows[row].first_term + l->rows[row].term_count; t++)
			rows[row] += l->terms[t].factor * rows[l->terms[t].row];
}

/* Rows of blocks that a gap may hide: those inside of loops with gaps, but for the blocks that begin outermost ones. */
static void mark_hidden(const struct lifted *l, const struct lane_trace *lane, bool *hidden)
{
	memset(hidden, 0, l->row_count);
	if (!lane->gap_count)
		return;
	for (uint32_t row = 0; row < l->row_count; row++) {
		const struct graph *g = l->functions[l->rows[row].function].graph;
		if (l->rows[row].block < 0)
			continue;
		int32_t loop = g->blocks[l->rows[row].block].loop;
		hidden[row] = loop >= 0 && (g->loops[loop].depth > 1 || g->loops[loop].header != (uint32_t)l->rows[row].block);
	}
}

static uint64_t compare_lane(const struct lifted *l, const struct lane_trace *lane, const int64_t *rows, int64_t *seen, bool *hidden,
                             uint64_t *compared)
{
	uint64_t found = 0;
	memset(seen, 0, l->row_count * sizeof *seen);
	mark_hidden(l, lane, hidden);
	for (size_t e = 0; e < lane->count; e++)
		if (lane->events[e].what < l->row_count)
			seen[lane->events[e].what]++;
	for (size_t g = 0; g < lane->gap_count; g++)
		seen[lane->gaps[g].body] += (int64_t)lane->gaps[g].iterations;
	for (uint32_t row = 0; row < l->row_count; row++)
		if (l->rows[row].block >= 0 && !hidden[row]) {
			found += seen[row] != rows[row];
			++*compared;
		}
	return found;
}

uint64_t traced_differences(const struct lift_runner *r, const struct lift_run *run, const struct launch_trace *trace, uint64_t *compared)
{
	const struct lifted *l = runner_lifted(r);
	const struct lift_kernel *k = runner_kernel(r, run->kernel);
	uint64_t found = 0, threads = run->block[0] * run->block[1] * run->block[2];
	int64_t *rows = calloc(l->row_count + 1u, sizeof *rows), *seen = calloc(l->row_count + 1u, sizeof *seen);
	bool *hidden = calloc(l->row_count + 1u, 1);
	*compared = 0;
	for (size_t g = 0; g < trace->group_count && rows && seen && hidden; g++)
		for (uint32_t i = 0; i < trace->groups[g].lane_count; i++) {
			count_thread(l, k, run, trace->groups[g].group * threads + i, rows);
			found += trace->groups[g].lanes[i].cut || compare_lane(l, &trace->groups[g].lanes[i], rows, seen, hidden, compared);
		}
	free(rows);
	free(seen);
	free(hidden);
	return found;
}
