/*
 * Executions of blocks as sums of source counts.
 *
 *   edges = known + open * values,  known = sum over counters of count * column
 * With fixed shares of branches the values that code_estimate.c chooses are linear in the known part: those of each counter alone add up. For
 * what shares leave open, too, they stay where they begin: each work-item has its part of what all have.
 */
#include "models/code/code_map.h"

#include "models/code/code_estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct map_maker {
	struct code_map *map;
	const struct kernel_code *code;
	struct code_counts all;
	double *known, *values, *column, *blocks; /* of all: per edge, per unknown; of the column under way: per edge, per block and 1 */
	struct code_estimator *estimator; /* NULL: nothing is open */
	struct gs_buf entries;
};

static void add_known(const struct kernel_code *c, uint32_t counter, double times, double *known)
{
	for (uint32_t i = 0; i < c->edge_count; i++)
		for (uint32_t t = c->edges[i].first_term; t < c->edges[i].first_term + c->edges[i].term_count; t++)
			if (c->terms[t].of == counter)
				known[i] += times * c->terms[t].factor / c->edges[i].denominator;
}

/* The known part in `column` and values that belong to it become entries. */
static void add_column(struct map_maker *m, const double *values, double times)
{
	static const double nothing = 1e-9; /* what is left of numbers that cancel out */
	const struct kernel_code *c = m->code;
	memset(m->blocks, 0, (c->block_count + 1u) * sizeof *m->blocks);
	for (uint32_t i = 0; i < c->edge_count; i++) {
		const struct code_edge *e = &c->edges[i];
		double value = m->column[i];
		for (uint32_t t = e->first_term; t < e->first_term + e->term_count && values; t++)
			if (c->terms[t].of >= c->counter_count)
				value += (double)c->terms[t].factor / e->denominator * values[c->terms[t].of - c->counter_count];
		m->blocks[e->from] += value;
		m->blocks[c->block_count] += value * code_edge_instructions(c, e);
	}
	for (uint32_t b = 0; b <= c->block_count; b++) {
		struct code_map_entry entry = {b, m->blocks[b] * times};
		if (fabs(entry.times) > nothing)
			gs_buf_add(&m->entries, &entry, sizeof entry);
	}
}

static void begin_column(struct map_maker *m, uint32_t number)
{
	memset(m->column, 0, m->code->edge_count * sizeof *m->column);
	m->map->first[number] = (uint32_t)(m->entries.len / sizeof(struct code_map_entry));
}

/* A column is found for as much as there is in all, so that what is small enough for the estimator does not depend on the launch. */
static void make_columns(struct map_maker *m, const uint64_t *sums, uint64_t items)
{
	const struct kernel_code *c = m->code;
	double *values = m->values + c->unknown_count;
	for (uint32_t n = 0; n < c->counter_count; n++) {
		double times = sums[n] ? (double)sums[n] : 1;
		begin_column(m, n);
		add_known(c, n, times, m->column);
		memset(values, 0, c->unknown_count * sizeof *values);
		if (m->estimator)
			code_estimator_fit(m->estimator, m->column, values);
		add_column(m, values, 1 / times);
	}
	begin_column(m, c->counter_count);
	memcpy(values, m->values, c->unknown_count * sizeof *values);
	if (m->estimator)
		code_estimator_fit(m->estimator, m->column, values);
	add_column(m, values, 1 / (double)(items ? items : 1));
	m->map->first[c->counter_count + 1] = (uint32_t)(m->entries.len / sizeof(struct code_map_entry));
}

/* What is open, for all together. */
static int estimate_all(struct map_maker *m, const uint64_t *sums)
{
	const struct kernel_code *c = m->code;
	if (!c->unknown_count)
		return 0;
	m->estimator = code_estimator_new(c);
	if (!m->estimator || code_count(c, sums, &m->all))
		return -ENOMEM;
	for (uint32_t n = 0; n < c->counter_count; n++)
		add_known(c, n, (double)sums[n], m->known);
	for (uint32_t i = 0; i < c->unknown_count; i++)
		m->values[i] = m->all.edges[c->unknowns[i].edge];
	code_estimator_share(m->estimator, m->known, m->values);
	return 0;
}

int code_map_init(struct code_map *map, const struct kernel_code *code, const uint64_t *sums, uint64_t items)
{
	struct map_maker m = {.map = map, .code = code};
	*map = (struct code_map){.code = code, .first = calloc(code->counter_count + 2u, sizeof *map->first)};
	m.known = calloc(code->edge_count + 1u, sizeof *m.known);
	m.column = calloc(code->edge_count + 1u, sizeof *m.column);
	m.values = calloc(2 * (size_t)code->unknown_count + 1, sizeof *m.values);
	m.blocks = calloc(code->block_count + 1u, sizeof *m.blocks);
	m.all.edges = calloc(code->edge_count + 1u, sizeof *m.all.edges);
	m.all.blocks = calloc(code->block_count + 1u, sizeof *m.all.blocks);
	int rc = map->first && m.known && m.column && m.values && m.blocks && m.all.edges && m.all.blocks ? 0 : -ENOMEM;
	if (!rc)
		rc = estimate_all(&m, sums);
	if (!rc)
		make_columns(&m, sums, items);
	rc = rc || m.entries.failed ? -ENOMEM : 0;
	map->entries = (struct code_map_entry *)(void *)m.entries.data;
	code_estimator_free(m.estimator);
	free(m.known);
	free(m.column);
	free(m.values);
	free(m.blocks);
	free(m.all.edges);
	free(m.all.blocks);
	return rc;
}

void code_map_free(struct code_map *m)
{
	free(m->entries);
	free(m->first);
	*m = (struct code_map){0};
}

static void add_entries(const struct code_map *m, uint32_t column, double times, double *blocks)
{
	for (uint32_t i = m->first[column]; i < m->first[column + 1]; i++)
		blocks[m->entries[i].block] += times * m->entries[i].times;
}

void code_map_count(const struct code_map *m, const uint64_t *counts, double *blocks)
{
	const struct kernel_code *c = m->code;
	memset(blocks, 0, (c->block_count + 1u) * sizeof *blocks);
	for (uint32_t n = 0; n < c->counter_count; n++)
		if (counts[n])
			add_entries(m, n, (double)counts[n], blocks);
	add_entries(m, c->counter_count, 1, blocks);
	for (uint32_t b = 0; b <= c->block_count; b++)
		blocks[b] = blocks[b] > 0 ? blocks[b] : 0;
}
