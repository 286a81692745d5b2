/*
 * Copies of one branch of the source are expected to behave alike. With the share of a class
 *   s = sum of its edges / sum of the blocks that they leave
 * the unknowns minimise the sum of (edge - s * block)^2 / block over all edges that have likes, by conjugate gradients on
 * the normal equations (Hestenes and Stiefel 1952); the shares are taken anew from the result until they stay. An
 * edge that comes out negative is lifted to 0 by the smallest change of its unknowns (Kaczmarz' projection). The
 * slow path of a library stays at its lower bound.
 */
#include "models/code/code_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

struct estimate_work {
	const struct kernel_code *code;
	const double *known;
	const struct code_interval *bounds;
	double *values;          /* per unknown */
	double *edges, *blocks;  /* as the values make them */
	double *share, *of;      /* per class */
	uint32_t class_count;
	/* conjugate gradients: per unknown ... */
	double *gradient, *direction, *step;
	/* ... and per edge */
	double *weight, *residual, *image;
};

static bool is_open(const struct kernel_code *c, uint32_t edge)
{
	const struct code_edge *e = &c->edges[edge];
	for (uint32_t i = e->first_term; i < e->first_term + e->term_count; i++)
		if (c->terms[i].of >= c->counter_count)
			return true;
	return false;
}

/* The unknowns' part of an edge's sum. */
static double part_of(const struct kernel_code *c, uint32_t edge, const double *values)
{
	const struct code_edge *e = &c->edges[edge];
	double sum = 0;
	for (uint32_t i = e->first_term; i < e->first_term + e->term_count; i++)
		if (c->terms[i].of >= c->counter_count)
			sum += (double)c->terms[i].factor / e->denominator * values[c->terms[i].of - c->counter_count];
	return sum;
}

static double clamp_to(const struct code_interval *b, double value)
{
	if (value > b->high)
		value = b->high;
	return value < b->low ? b->low : value;
}

/* Edges, blocks, shares and the weights that follow from them. */
static void take_shares(struct estimate_work *w)
{
	const struct kernel_code *c = w->code;
	memset(w->blocks, 0, c->block_count * sizeof *w->blocks);
	memset(w->share, 0, w->class_count * sizeof *w->share);
	memset(w->of, 0, w->class_count * sizeof *w->of);
	for (uint32_t i = 0; i < c->edge_count; i++) {
		w->edges[i] = w->known[i] + part_of(c, i, w->values);
		w->blocks[c->edges[i].from] += w->edges[i];
	}
	for (uint32_t i = 0; i < c->edge_count; i++) {
		w->share[c->edges[i].alike] += w->edges[i];
		w->of[c->edges[i].alike] += w->blocks[c->edges[i].from];
	}
	for (uint32_t i = 0; i < w->class_count; i++) {
		double share = w->of[i] > 0 ? w->share[i] / w->of[i] : 0;
		w->share[i] = share < 0 ? 0 : share > 1 ? 1 : share;
	}
	for (uint32_t i = 0; i < c->edge_count; i++)
		w->weight[i] = c->edges[i].alike ? 1 / sqrt(1 + fabs(w->blocks[c->edges[i].from])) : 0;
}

/* What a change of the unknowns does to the weighted differences. */
static void forward(struct estimate_work *w, const double *change, double *out)
{
	const struct kernel_code *c = w->code;
	for (uint32_t b = 0; b < c->block_count; b++) {
		const struct code_block *block = &c->blocks[b];
		double sum = 0;
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++)
			sum += out[i] = part_of(c, i, change);
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++)
			out[i] = w->weight[i] * (out[i] - w->share[c->edges[i].alike] * sum);
	}
}

/* The transpose of forward. */
static void backward(struct estimate_work *w, const double *differences, double *out)
{
	const struct kernel_code *c = w->code;
	memset(out, 0, c->unknown_count * sizeof *out);
	for (uint32_t b = 0; b < c->block_count; b++) {
		const struct code_block *block = &c->blocks[b];
		double sum = 0;
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++)
			sum += w->share[c->edges[i].alike] * w->weight[i] * differences[i];
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++) {
			const struct code_edge *e = &c->edges[i];
			double z = w->weight[i] * differences[i] - sum;
			for (uint32_t t = e->first_term; z != 0 && t < e->first_term + e->term_count; t++)
				if (c->terms[t].of >= c->counter_count)
					out[c->terms[t].of - c->counter_count] += z * c->terms[t].factor / e->denominator;
		}
	}
	for (uint32_t i = 0; i < c->unknown_count; i++)
		if (c->unknowns[i].least)
			out[i] = 0;
}

static double square(const double *v, uint32_t count)
{
	double sum = 0;
	for (uint32_t i = 0; i < count; i++)
		sum += v[i] * v[i];
	return sum;
}

static void minimise(struct estimate_work *w)
{
	enum { MOST_STEPS = 64 }; /* of conjugate gradients; fewer where the residual is small. Bounds the time */
	const struct kernel_code *c = w->code;
	for (uint32_t i = 0; i < c->edge_count; i++)
		w->residual[i] = w->weight[i] * (w->share[c->edges[i].alike] * w->blocks[c->edges[i].from] - w->edges[i]);
	backward(w, w->residual, w->gradient);
	memcpy(w->direction, w->gradient, c->unknown_count * sizeof *w->direction);
	double length = square(w->gradient, c->unknown_count), enough = 1e-12 * length;
	for (uint32_t step = 0; step < MOST_STEPS && step <= c->unknown_count && length > enough && length > 1e-9; step++) {
		forward(w, w->direction, w->image);
		double curvature = square(w->image, c->edge_count);
		if (!(curvature > 0))
			return;
		double by = length / curvature;
		for (uint32_t i = 0; i < c->unknown_count; i++)
			w->values[i] += by * w->direction[i];
		for (uint32_t i = 0; i < c->edge_count; i++)
			w->residual[i] -= by * w->image[i];
		backward(w, w->residual, w->gradient);
		double next = square(w->gradient, c->unknown_count);
		for (uint32_t i = 0; i < c->unknown_count; i++)
			w->direction[i] = w->gradient[i] + next / length * w->direction[i];
		length = next;
	}
}

/* False: there was nothing to lift. */
static bool lift_negative(struct estimate_work *w)
{
	const struct kernel_code *c = w->code;
	bool lifted = false;
	for (uint32_t i = 0; i < c->unknown_count; i++)
		w->values[i] = clamp_to(&w->bounds[i], w->values[i]);
	for (uint32_t i = 0; i < c->edge_count; i++) {
		const struct code_edge *e = &c->edges[i];
		double value = is_open(c, i) ? w->known[i] + part_of(c, i, w->values) : 0, length = 0;
		if (value > -1e-6)
			continue;
		for (uint32_t t = e->first_term; t < e->first_term + e->term_count; t++)
			if (c->terms[t].of >= c->counter_count)
				length += (double)c->terms[t].factor * c->terms[t].factor;
		for (uint32_t t = e->first_term; t < e->first_term + e->term_count; t++)
			if (c->terms[t].of >= c->counter_count)
				w->values[c->terms[t].of - c->counter_count] -= value * e->denominator * c->terms[t].factor / length;
		lifted = true;
	}
	return lifted;
}

static void iterate(struct estimate_work *w)
{
	enum { ROUNDS = 8, LIFTS = 50 }; /* until shares change by less than 0.1%, which takes fewer; LIFTS: counts below 0 that are raised */
	const struct kernel_code *c = w->code;
	double change = 1;
	for (int round = 0; round < ROUNDS && change > 1e-3; round++) {
		take_shares(w);
		memcpy(w->step, w->values, c->unknown_count * sizeof *w->step);
		minimise(w);
		for (int i = 0; i < LIFTS && lift_negative(w); i++)
			;
		change = 0;
		for (uint32_t i = 0; i < c->unknown_count; i++)
			change = fmax(change, fabs(w->values[i] - w->step[i]) / (1 + fabs(w->values[i])));
	}
}

static void start_values(struct estimate_work *w)
{
	const struct kernel_code *c = w->code;
	for (uint32_t i = 0; i < c->unknown_count; i++) {
		const struct code_interval *b = &w->bounds[i];
		bool middle = !c->unknowns[i].least && isfinite(b->high);
		w->values[i] = middle ? clamp_to(b, (b->low + b->high) / 2) : b->low;
	}
}

bool code_estimate(const struct kernel_code *code, const double *known, const struct code_interval *bounds,
                   double *values)
{
	struct estimate_work w = {.code = code, .known = known, .bounds = bounds, .values = values, .class_count = 1};
	for (uint32_t i = 0; i < code->edge_count; i++)
		if (code->edges[i].alike >= w.class_count)
			w.class_count = code->edges[i].alike + 1;
	size_t edges = code->edge_count, unknowns = code->unknown_count, blocks = code->block_count;
	double *room = calloc(4 * edges + 3 * unknowns + blocks + 2 * (size_t)w.class_count, sizeof *room);
	if (!room)
		return false;
	w.edges = room;
	w.weight = w.edges + edges;
	w.residual = w.weight + edges;
	w.image = w.residual + edges;
	w.gradient = w.image + edges;
	w.direction = w.gradient + unknowns;
	w.step = w.direction + unknowns;
	w.blocks = w.step + unknowns;
	w.share = w.blocks + blocks;
	w.of = w.share + w.class_count;
	start_values(&w);
	iterate(&w);
	free(room);
	return true;
}
