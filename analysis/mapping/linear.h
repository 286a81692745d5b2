/*
 * linear: exact systems of linear equations with symbols on the right hand side.
 *
 * Every equation is a sum of terms that equals 0. If a term's index is below the number of unknowns, it is an unknown. Otherwise
 * it is a symbol, whose value is not known yet. The system is always kept solved: an unknown is free, or it is a sum of free
 * unknowns and symbols over a common denominator.
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

/* rank[i]: where there is a choice, unknowns of high rank stay free. The array is copied. */
int linear_create(uint32_t unknowns, const uint8_t *rank, struct linear **out, struct gs_error *err);
void linear_free(struct linear *l);
/* Adds an equation. Its terms may be in any order. An index may occur twice. linear_solve() uses it later. */
int linear_add(struct linear *l, const struct linear_term *terms, uint32_t count, struct gs_error *err);
/* Solves all equations that were added, the simplest first. */
int linear_solve(struct linear *l, struct gs_error *err);
/* Whether the sum has free unknowns, so that an equation with it would determine one more. */
int linear_is_open(struct linear *l, const struct linear_term *terms, uint32_t count, bool *open, struct gs_error *err);
bool linear_is_free(const struct linear *l, uint32_t unknown);
/* The sum of a solved unknown. The sum of a free one is empty (count 0). The system owns it. It is valid until the system
 * changes. */
const struct linear_sum *linear_value(const struct linear *l, uint32_t unknown);
/* Sums that have only symbols and must be 0. */
uint32_t linear_checks(const struct linear *l, const struct linear_sum **out);
/* Equations that were left out because their numbers became too large. */
uint32_t linear_dropped(const struct linear *l);

#endif
