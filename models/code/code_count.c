/*
 * How often each edge and block of the target's code ran, from the counts of the source's blocks.
 *
 *   edge = (sum of factor * source count + sum of factor * unknown) / denominator
 * An unknown is what probes and flow leave open. It is bounded, because no count is negative: for every edge that it is part
 * of, factor * unknown >= -(the rest of the sum at its largest). The bounds are narrowed until they stay. Then the unknowns
 * are estimated between them (code_estimate.c). Source: flow conservation (docs/target-code.md).
 */
#include "models/code/code_estimate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* An edge with its known part summed up. */
struct edge_sums {
	const struct kernel_code *code;
	double *known;          /* per edge, already divided */
	struct code_interval *bounds; /* per unknown */
	double *values;               /* per unknown */
	uint32_t *open;          /* edges that have unknowns */
	bool contradicts;        /* no values of the unknowns make all edges non-negative */
	uint32_t open_count;
};

/* Where 64 bits are not enough. */
static bool known_part_wide(const struct kernel_code *c, const struct code_term *terms, uint32_t count, uint32_t denominator,
                            const uint64_t *counts, double *out)
{
	__int128 sum = 0;
	for (uint32_t i = 0; i < count; i++)
		if (terms[i].of < c->counter_count)
			sum += (__int128)terms[i].factor * (__int128)counts[terms[i].of];
	*out = (double)sum / denominator;
	return sum % denominator == 0;
}

/* The part of a sum that source counts determine; false where it does not come out whole. */
static bool known_part(const struct kernel_code *c, const struct code_term *terms, uint32_t count, uint32_t denominator,
                       const uint64_t *counts, double *out, bool *has_unknown)
{
	int64_t sum = 0, product;
	bool fits = true;
	*has_unknown = false;
	for (uint32_t i = 0; i < count; i++) {
		if (terms[i].of < c->counter_count)
			fits = fits && !__builtin_mul_overflow(terms[i].factor, counts[terms[i].of], &product) &&
			       !__builtin_add_overflow(sum, product, &sum);
		else
			*has_unknown = true;
	}
	*out = (double)sum / denominator;
	bool whole = fits ? sum % (int64_t)denominator == 0 : known_part_wide(c, terms, count, denominator, counts, out);
	return *has_unknown || whole;
}

/* The largest that the other unknowns of an edge let its sum become. */
static double largest_rest(const struct edge_sums *s, const struct code_edge *e, uint32_t but)
{
	const struct kernel_code *c = s->code;
	double rest = s->known[e - c->edges];
	for (uint32_t i = e->first_term; i < e->first_term + e->term_count; i++) {
		const struct code_term *t = &c->terms[i];
		if (t->of < c->counter_count || i == but)
			continue;
		const struct code_interval *b = &s->bounds[t->of - c->counter_count];
		rest += (double)t->factor / e->denominator * (t->factor > 0 ? b->high : b->low);
	}
	return rest;
}

static bool narrow_edge(struct edge_sums *s, const struct code_edge *e)
{
	const struct kernel_code *c = s->code;
	bool changed = false;
	for (uint32_t i = e->first_term; i < e->first_term + e->term_count; i++) {
		const struct code_term *t = &c->terms[i];
		if (t->of < c->counter_count || !t->factor)
			continue;
		struct code_interval *b = &s->bounds[t->of - c->counter_count];
		double rest = largest_rest(s, e, i), factor = (double)t->factor / e->denominator, bound = -rest / factor;
		bool raises = factor > 0 && bound > b->low + 1e-9, lowers = factor < 0 && bound < b->high - 1e-9;
		/* Bounds that cross would drive each other for ever. */
		if ((raises && bound > b->high + 1e-6) || (lowers && bound < b->low - 1e-6)) {
			s->contradicts = true;
			continue;
		}
		if (raises)
			b->low = bound;
		else if (lowers)
			b->high = bound;
		changed |= raises || lowers;
	}
	return changed;
}

/* Bounds that creep towards each other over a cycle of sums may take for ever; what is left then is still a bound. */
static void narrow_bounds(struct edge_sums *s)
{
	enum { ROUNDS = 20 }; /* bounds the time. More of them may narrow what counters leave open, never widen it */
	bool changed = true;
	for (int round = 0; changed && round < ROUNDS; round++) {
		changed = false;
		for (uint32_t i = 0; i < s->open_count; i++)
			changed |= narrow_edge(s, &s->code->edges[s->open[i]]);
	}
}

/* With every unknown chosen. */
static double edge_value(const struct edge_sums *s, const struct code_edge *e)
{
	const struct kernel_code *c = s->code;
	double value = s->known[e - c->edges];
	for (uint32_t i = e->first_term; i < e->first_term + e->term_count; i++) {
		const struct code_term *t = &c->terms[i];
		if (t->of >= c->counter_count)
			value += (double)t->factor / e->denominator * s->values[t->of - c->counter_count];
	}
	return value;
}

double code_edge_instructions(const struct kernel_code *c, const struct code_edge *e)
{
	const struct code_block *b = &c->blocks[e->from];
	bool falls = b->count && !e->taken && c->code[b->first + b->count - 1].flags & CODE_CONDITIONAL;
	return (double)b->count - falls;
}

static void sum_up(struct edge_sums *s, struct code_counts *out)
{
	const struct kernel_code *c = s->code;
	for (uint32_t i = 0; i < c->block_count; i++)
		out->blocks[i] = 0;
	for (uint32_t i = 0; i < c->edge_count; i++) {
		const struct code_edge *e = &c->edges[i];
		double value = edge_value(s, e);
		/* Estimates may miss 0 by a little; known counts may not. */
		if (value < -1e-6 && value == s->known[i])
			out->inconsistent = true;
		out->edges[i] = value > 0 ? value : 0;
		out->blocks[e->from] += out->edges[i];
		out->thread_instructions += out->edges[i] * code_edge_instructions(c, e);
	}
}

/* Bounds of the instructions: the unknowns' share of all of them, each at its worst. */
static int bound_instructions(const struct edge_sums *s, struct code_counts *out)
{
	const struct kernel_code *c = s->code;
	double *weight = calloc(c->unknown_count + 1, sizeof *weight);
	if (!weight)
		return -ENOMEM;
	out->low = out->high = 0;
	for (uint32_t i = 0; i < c->edge_count; i++) {
		const struct code_edge *e = &c->edges[i];
		double n = code_edge_instructions(c, e);
		out->low += n * s->known[i];
		for (uint32_t t = e->first_term; t < e->first_term + e->term_count; t++)
			if (c->terms[t].of >= c->counter_count)
				weight[c->terms[t].of - c->counter_count] += n * c->terms[t].factor / e->denominator;
	}
	out->high = out->low;
	for (uint32_t i = 0; i < c->unknown_count; i++) {
		const struct code_interval *b = &s->bounds[i];
		double high = isfinite(b->high) ? b->high : b->low;
		out->low += weight[i] * (weight[i] > 0 ? b->low : high);
		out->high += weight[i] * (weight[i] > 0 ? high : b->low);
		out->bounded |= high > b->low;
	}
	free(weight);
	return 0;
}

static void check_sums(const struct kernel_code *c, const uint64_t *counts, struct code_counts *out)
{
	for (uint32_t i = 0; i < c->check_count; i++) {
		double sum;
		bool unknown;
		known_part(c, &c->terms[c->checks[i].first_term], c->checks[i].term_count, 1, counts, &sum, &unknown);
		out->inconsistent |= sum != 0;
	}
}

/* The counts, once there is room for all that is found on the way. */
static int count_edges(struct edge_sums *s, const uint64_t *counts, struct code_counts *out)
{
	const struct kernel_code *code = s->code;
	for (uint32_t i = 0; i < code->unknown_count; i++)
		s->bounds[i] = (struct code_interval){0, INFINITY};
	for (uint32_t i = 0; i < code->edge_count; i++) {
		const struct code_edge *e = &code->edges[i];
		bool unknown;
		if (!known_part(code, &code->terms[e->first_term], e->term_count, e->denominator, counts, &s->known[i],
		                &unknown))
			out->inconsistent = true;
		if (unknown)
			s->open[s->open_count++] = i;
	}
	narrow_bounds(s);
	out->inconsistent |= s->contradicts;
	int result = bound_instructions(s, out);
	if (!result && code->unknown_count && !code_estimate(code, s->known, s->bounds, s->values))
		result = -ENOMEM;
	if (!result) {
		sum_up(s, out);
		check_sums(code, counts, out);
	}
	return result;
}

int code_count(const struct kernel_code *code, const uint64_t *counts, struct code_counts *out)
{
	struct edge_sums s = {.code = code};
	out->low = out->high = out->thread_instructions = 0;
	out->inconsistent = out->bounded = false;
	s.known = malloc((code->edge_count + 1) * sizeof *s.known);
	s.bounds = malloc((code->unknown_count + 1) * sizeof *s.bounds);
	s.values = malloc((code->unknown_count + 1) * sizeof *s.values);
	s.open = malloc((code->edge_count + 1) * sizeof *s.open);
	int result = s.known && s.bounds && s.values && s.open ? count_edges(&s, counts, out) : -ENOMEM;
	free(s.known);
	free(s.bounds);
	free(s.values);
	free(s.open);
	return result;
}
