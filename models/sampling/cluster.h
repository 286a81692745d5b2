/*
 * cluster: things that behave alike, by hierarchical clustering of their features (TBPoint III and IV-B).
 *
 * A cluster is complete: no two of its members are further apart than the threshold. That is complete linkage, cut at the
 * threshold.
 */
#ifndef GPUSIM_MODELS_SAMPLING_CLUSTER_H
#define GPUSIM_MODELS_SAMPLING_CLUSTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* count points of `dimensions` numbers each, one after the other; Euclidean distances. Fills cluster_of, clusters numbered in
 * the order of their first members, and returns how many there are, or -ENOMEM. Takes count^2 memory. */
int64_t cluster_points(const double *points, size_t count, size_t dimensions, double threshold, uint32_t *cluster_of);
/* The same of single numbers, however many. */
int64_t cluster_numbers(const double *numbers, size_t count, double threshold, uint32_t *cluster_of);

#endif
