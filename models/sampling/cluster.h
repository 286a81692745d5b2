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

/* ---- launches of a kernel, as they come ---- */

enum { LAUNCH_FEATURES = 4 };

/* TBPoint, equation 2, before it is normalised. */
struct launch_features {
	double thread_instructions, warp_instructions, memory_requests; /* of the launch */
	double group_variation; /* standard deviation over mean, of what groups execute */
	uint64_t kind; /* launches of different kinds are never alike: a hash of the work-group's size and what else there is */
};

/* A cluster of launches: the first of them, which was simulated, stands for all. */
struct launch_cluster {
	struct launch_features low, high; /* of its members */
	struct launch_features representative;
	uint64_t members;
	void *data; /* the caller's: what the simulation of the representative gave */
};

struct launch_clusters {
	struct launch_cluster *clusters;
	size_t count, room;
	struct launch_features sum; /* of all launches so far: what features are normalised by is their mean */
	uint64_t launches;
};

/*
 * The cluster that a launch belongs to: the nearest cluster that has no member further away than the threshold;
 * the launch is then counted as a member. NULL: it is far from all, and to be simulated. Features are normalised by the mean of
 * all launches up to this one or, where the two compared are smaller than that, by the larger of the two: a launch is
 * never near another only because both are small.
 */
struct launch_cluster *launch_clusters_find(struct launch_clusters *c, const struct launch_features *f, double threshold);
/* How far a launch is from the one that stands for the cluster, as the two are compared. */
double launch_clusters_distance(const struct launch_clusters *c, const struct launch_cluster *k, const struct launch_features *f);
/* Makes the launch that was not found a cluster of its own. NULL when memory runs out. */
struct launch_cluster *launch_clusters_add(struct launch_clusters *c, const struct launch_features *f, void *data);
void launch_clusters_free(struct launch_clusters *c); /* not the callers' data */

#endif
