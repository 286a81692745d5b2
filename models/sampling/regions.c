/*
 * Homogeneous regions of a launch.
 *
 *   stall probability of an epoch = mean over its groups of memory requests / warp instructions      (equation 5)
 *   clusters of epochs by it; variation factor = max(CoV of requests, CoV of instructions), beyond the limit: no cluster
 *   a region = consecutive epochs of one cluster
 * Source: Huang et al., TBPoint, IV-B1. Beyond it: where consecutive epochs all have large and small groups, as irregular kernels do,
 * and of the same mixture, the mixture is what is homogeneous:
 *   mixed region = consecutive epochs beyond the limit of variation whose stall probability and variation are within the
 *   distance of the first one's, and mean work likewise, relative to it
 * With the memory hierarchy, traffic per instruction likewise.
 */
#include "models/sampling/regions.h"
#include "models/util/minmax.h"

#include "models/sampling/cluster.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct moments {
	double count, sum, squares;
};

static void sums_add(struct moments *s, double x)
{
	s->count++;
	s->sum += x;
	s->squares += x * x;
}

/* Standard deviation over mean. */
static double variation(const struct moments *s)
{
	double mean = s->sum / s->count, variance = s->squares / s->count - mean * mean;
	return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

struct epoch {
	double stall, variation, work; /* work: mean of a group */
	double traffic;                /* per instruction */
};

static struct epoch epoch_of(const struct group_work *groups, uint64_t count)
{
	struct moments stall = {0}, requests = {0}, instructions = {0};
	double traffic = 0;
	for (uint64_t g = 0; g < count; g++) {
		const struct group_work *w = &groups[g];
		sums_add(&stall, w->warp_instructions > 0 ? w->memory_requests / w->warp_instructions : 0);
		sums_add(&requests, w->memory_requests);
		sums_add(&instructions, w->warp_instructions);
		traffic += w->traffic;
	}
	return (struct epoch){stall.sum / stall.count, fmax(variation(&requests), variation(&instructions)),
	                      instructions.sum / instructions.count, instructions.sum > 0 ? traffic / instructions.sum : 0};
}

static bool is_mixed(const struct epoch *e, const struct region_limits *limits)
{
	return e->variation > limits->variation;
}

static bool is_same_mixture(const struct epoch *a, const struct epoch *b, const struct region_limits *limits)
{
	return fabs(a->stall - b->stall) <= limits->distance && fabs(a->variation - b->variation) <= limits->distance &&
	       fabs(a->work - b->work) <= limits->distance * a->work;
}

static bool is_same_traffic(const struct epoch *a, const struct epoch *b, const struct region_limits *limits)
{
	return !limits->traffic || fabs(a->traffic - b->traffic) <= limits->traffic * a->traffic;
}

/* Regions of epochs whose clusters are known; those of a mixture have numbers after the clusters'. */
static size_t join_epochs(const struct epoch *epochs, const uint32_t *cluster, size_t count, const struct region_limits *limits,
                          struct region *out)
{
	size_t regions = 0, first = 0;
	for (size_t e = 0; e < count; e++) {
		bool mixed = is_mixed(&epochs[e], limits), goes_on = e && mixed == is_mixed(&epochs[e - 1], limits);
		goes_on = goes_on && is_same_traffic(&epochs[first], &epochs[e], limits);
		if (goes_on)
			goes_on = mixed ? is_same_mixture(&epochs[first], &epochs[e], limits) : cluster[e - 1] == cluster[e];
		if (!goes_on) {
			first = e;
			out[regions++] = (struct region){mixed ? (uint32_t)(count + e) : cluster[e], e, 0};
		}
		out[regions - 1].end = e + 1;
	}
	return regions;
}

/* From epochs to groups. Few epochs of a mixture have outliers. */
static size_t to_groups(struct region *r, size_t count, const struct epoch *epochs, const struct region_limits *limits,
                        uint64_t epoch, uint64_t groups)
{
	size_t kept = 0;
	for (size_t i = 0; i < count; i++) {
		if (is_mixed(&epochs[r[i].first], limits) && r[i].end - r[i].first < MIXED_EPOCHS)
			continue;
		r[kept++] = (struct region){r[i].id, r[i].first * epoch, min_u64(r[i].end * epoch, groups)};
	}
	return kept;
}

int regions_build(const struct group_work *groups, uint64_t count, uint64_t epoch, const struct region_limits *limits,
                  struct region **out, size_t *out_count)
{
	size_t number = (size_t)((count + epoch - 1) / epoch);
	struct epoch *epochs = calloc(number + 1, sizeof *epochs);
	double *stall = calloc(number + 1, sizeof *stall);
	uint32_t *cluster = calloc(number + 1, sizeof *cluster);
	struct region *found = calloc(number + 1, sizeof *found);
	int result = epochs && stall && cluster && found ? 0 : -ENOMEM;
	for (size_t e = 0; e < number && !result; e++) {
		epochs[e] = epoch_of(groups + e * epoch, min_u64(epoch, count - e * epoch));
		stall[e] = epochs[e].stall;
	}
	if (!result && cluster_numbers(stall, number, limits->distance, cluster) < 0)
		result = -ENOMEM;
	if (!result) {
		*out_count = join_epochs(epochs, cluster, number, limits, found);
		*out_count = to_groups(found, *out_count, epochs, limits, epoch, count);
		*out = found;
	}
	free(epochs);
	free(stall);
	free(cluster);
	if (result)
		free(found);
	return result;
}
