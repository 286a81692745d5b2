/*
 * linear: exact systems of linear equations with symbols on the right hand side.
 *
 * Every equation is a sum of terms that is 0. A term's index below the number of unknowns is an unknown, the others are
 * symbols, whose values nobody knows yet. The system is kept solved: an unknown is free, or a sum of free
 * ones and symbols over a common denominator.
 */
#ifndef GPUSIM_ANALYSIS_MAPPING_LINEAR_H
#define GPUSIM_ANALYSIS_MAPPING_LINEAR_H

#include "runtime/base/base.h"

struct linear_term {
	uint32_t of;
	int64_t factor;
};

/* Terms in the order of their indices, each index once, no factor 0. */
struct linear_sum {
	struct linear_term *terms;
	uint32_t count;
	int64_t denominator; /* positive; 1 in equations */
};

struct linear;

/* rank[i]: unknowns of high rank are left free where there is a choice. Copied. */
int linear_create(uint32_t unknowns, const uint8_t *rank, struct linear **out, struct gs_error *err);
void linear_free(struct linear *l);
/* Terms in any order; an index may come twice. Used by linear_solve only. */
int linear_add(struct linear *l, const struct linear_term *terms, uint32_t count, struct gs_error *err);
/* Takes in all equations that were added, the simplest first. */
int linear_solve(struct linear *l, struct gs_error *err);
/* Whether the sum has free unknowns, so that an equation with it would determine one more. */
int linear_is_open(struct linear *l, const struct linear_term *terms, uint32_t count, bool *open, struct gs_error *err);
bool linear_is_free(const struct linear *l, uint32_t unknown);
/* A solved unknown's sum; a free one has none (count 0). Owned by the system, valid until it changes. */
const struct linear_sum *linear_value(const struct linear *l, uint32_t unknown);
/* Sums of symbols only that must be 0. */
uint32_t linear_checks(const struct linear *l, const struct linear_sum **out);
/* Equations that were left out because their numbers became too large. */
uint32_t linear_dropped(const struct linear *l);

#endif
