/*
 * Copies of one branch of the source are expected to behave alike. With the share of a class
 *   s = sum of its edges / sum of the blocks that they leave
 * the unknowns minimise the sum of (edge - s * block)^2 / block over all edges that have likes, by conjugate gradients on
 * the normal equations (Hestenes and Stiefel 1952); the shares are taken anew from the result until they stay. An
 * edge that comes out negative is lifted to 0 by the smallest change of its unknowns (Kaczmarz' projection). The
 * slow path of a library stays at its lower bound.
 * A launch asks this once for each of its work-items, so that only what is open is looked at again and again.
 */
#include "models/code/code_estimate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* A term of an edge's sum that is an unknown. */
struct open_term {
	uint32_t unknown;
	double factor; /* divided by the edge's denominator */
};

struct code_estimator {
	const struct kernel_code *code;
	uint32_t *first;         /* per edge: of its open terms; one more than edges */
	struct open_term *terms;
	uint32_t *open_blocks, open_block_count; /* with edges that have likes, and some that have open terms */
	double *room;            /* all that follows is in it */
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

static bool is_open(const struct code_estimator *w, uint32_t edge)
{
	return w->first[edge] < w->first[edge + 1];
}

/* The unknowns' part of an edge's sum. */
static double part_of(const struct code_estimator *w, uint32_t edge, const double *values)
{
	double sum = 0;
	for (uint32_t i = w->first[edge]; i < w->first[edge + 1]; i++)
		sum += w->terms[i].factor * values[w->terms[i].unknown];
	return sum;
}

static void find_open_blocks(struct code_estimator *w)
{
	const struct kernel_code *c = w->code;
	for (uint32_t b = 0; b < c->block_count; b++) {
		const struct code_block *block = &c->blocks[b];
		bool open = false, alike = false;
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++) {
			open |= is_open(w, i);
			alike |= c->edges[i].alike != 0;
		}
		if (open && alike)
			w->open_blocks[w->open_block_count++] = b;
	}
}

static void find_open(struct code_estimator *w)
{
	const struct kernel_code *c = w->code;
	uint32_t count = 0;
	for (uint32_t i = 0; i < c->edge_count; i++) {
		const struct code_edge *e = &c->edges[i];
		w->first[i] = count;
		for (uint32_t t = e->first_term; t < e->first_term + e->term_count; t++)
			if (c->terms[t].of >= c->counter_count)
				w->terms[count++] = (struct open_term){c->terms[t].of - c->counter_count, (double)c->terms[t].factor / e->denominator};
	}
	w->first[c->edge_count] = count;
	find_open_blocks(w);
}

static double clamp_to(const struct code_interval *b, double value)
{
	if (value > b->high)
		value = b->high;
	return value < b->low ? b->low : value;
}

/* Edges and blocks, as the values make them. */
static void take_edges(struct code_estimator *w)
{
	const struct kernel_code *c = w->code;
	memset(w->blocks, 0, c->block_count * sizeof *w->blocks);
	for (uint32_t i = 0; i < c->edge_count; i++) {
		w->edges[i] = w->known[i] + part_of(w, i, w->values);
		w->blocks[c->edges[i].from] += w->edges[i];
	}
}

/* The same, and the shares and the weights that follow from them. */
static void take_shares(struct code_estimator *w)
{
	const struct kernel_code *c = w->code;
	take_edges(w);
	memset(w->share, 0, w->class_count * sizeof *w->share);
	memset(w->of, 0, w->class_count * sizeof *w->of);
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

/* What a change of the unknowns does to the weighted differences: nothing but in open blocks. */
static void forward(struct code_estimator *w, const double *change, double *out)
{
	const struct kernel_code *c = w->code;
	for (uint32_t b = 0; b < w->open_block_count; b++) {
		const struct code_block *block = &c->blocks[w->open_blocks[b]];
		double sum = 0;
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++)
			sum += out[i] = part_of(w, i, change);
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++)
			out[i] = w->weight[i] * (out[i] - w->share[c->edges[i].alike] * sum);
	}
}

/* The transpose of forward. */
static void backward(struct code_estimator *w, const double *differences, double *out)
{
	const struct kernel_code *c = w->code;
	memset(out, 0, c->unknown_count * sizeof *out);
	for (uint32_t b = 0; b < w->open_block_count; b++) {
		const struct code_block *block = &c->blocks[w->open_blocks[b]];
		double sum = 0;
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++)
			sum += w->share[c->edges[i].alike] * w->weight[i] * differences[i];
		for (uint32_t i = block->first_edge; i < block->first_edge + block->edge_count; i++) {
			double z = w->weight[i] * differences[i] - sum;
			for (uint32_t t = w->first[i]; t < w->first[i + 1]; t++)
				out[w->terms[t].unknown] += z * w->terms[t].factor;
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

static void minimise(struct code_estimator *w)
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
static bool lift_negative(struct code_estimator *w)
{
	const struct kernel_code *c = w->code;
	bool lifted = false;
	for (uint32_t i = 0; i < c->unknown_count; i++)
		w->values[i] = clamp_to(&w->bounds[i], w->values[i]);
	for (uint32_t i = 0; i < c->edge_count; i++) {
		double value = is_open(w, i) ? w->known[i] + part_of(w, i, w->values) : 0, length = 0;
		if (value > -1e-6)
			continue;
		for (uint32_t t = w->first[i]; t < w->first[i + 1]; t++)
			length += w->terms[t].factor * w->terms[t].factor;
		for (uint32_t t = w->first[i]; t < w->first[i + 1]; t++)
			w->values[w->terms[t].unknown] -= value * w->terms[t].factor / length;
		lifted = true;
	}
	return lifted;
}

static void iterate(struct code_estimator *w)
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

static void start_values(struct code_estimator *w)
{
	const struct kernel_code *c = w->code;
	for (uint32_t i = 0; i < c->unknown_count; i++) {
		const struct code_interval *b = &w->bounds[i];
		bool middle = !c->unknowns[i].least && isfinite(b->high);
		w->values[i] = middle ? clamp_to(b, (b->low + b->high) / 2) : b->low;
	}
}

static void take_room(struct code_estimator *w, double *room)
{
	size_t edges = w->code->edge_count, unknowns = w->code->unknown_count;
	w->edges = w->room = room;
	w->weight = w->edges + edges;
	w->residual = w->weight + edges;
	w->image = w->residual + edges;
	w->gradient = w->image + edges;
	w->direction = w->gradient + unknowns;
	w->step = w->direction + unknowns;
	w->blocks = w->step + unknowns;
	w->share = w->blocks + w->code->block_count;
	w->of = w->share + w->class_count;
}

struct code_estimator *code_estimator_new(const struct kernel_code *code)
{
	struct code_estimator *w = calloc(1, sizeof *w);
	if (!w)
		return NULL;
	w->code = code;
	w->class_count = 1;
	for (uint32_t i = 0; i < code->edge_count; i++)
		if (code->edges[i].alike >= w->class_count)
			w->class_count = code->edges[i].alike + 1;
	take_room(w, calloc(4 * (size_t)code->edge_count + 3 * (size_t)code->unknown_count + code->block_count + 2 * (size_t)w->class_count,
	                    sizeof *w->room));
	w->first = malloc((code->edge_count + 1u) * sizeof *w->first);
	w->terms = malloc((code->term_count + 1u) * sizeof *w->terms);
	w->open_blocks = malloc((code->block_count + 1u) * sizeof *w->open_blocks);
	if (!w->room || !w->first || !w->terms || !w->open_blocks) {
		code_estimator_free(w);
		return NULL;
	}
	find_open(w);
	return w;
}

void code_estimator_free(struct code_estimator *w)
{
	if (!w)
		return;
	free(w->first);
	free(w->terms);
	free(w->open_blocks);
	free(w->room);
	free(w);
}

void code_estimator_share(struct code_estimator *w, const double *known, double *values)
{
	w->known = known;
	w->values = values;
	take_shares(w);
}

void code_estimator_fit(struct code_estimator *w, const double *known, double *values)
{
	w->known = known;
	w->values = values;
	take_edges(w);
	minimise(w);
}

bool code_estimate(const struct kernel_code *code, const double *known, const struct code_interval *bounds,
                   double *values)
{
	struct code_estimator *w = code_estimator_new(code);
	if (!w)
		return false;
	w->known = known;
	w->bounds = bounds;
	w->values = values;
	start_values(w);
	iterate(w);
	code_estimator_free(w);
	return true;
}
