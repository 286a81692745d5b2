/*
 * Homogeneous regions of a launch.
 *
 *   stall probability of an epoch = mean over its groups of memory requests / warp instructions      (equation 5)
 *   clusters of epochs by it; variation factor = max(CoV of requests, CoV of instructions), beyond the limit: no cluster
 *   a region = consecutive epochs of one cluster
 * Source: Huang et al., TBPoint, IV-B1.
 */
#include "models/regions.h"

#include "models/cluster.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

struct sums {
	double count, sum, squares;
};

static void sums_add(struct sums *s, double x)
{
	s->count++;
	s->sum += x;
	s->squares += x * x;
}

/* Standard deviation over mean. */
static double variation(const struct sums *s)
{
	double mean = s->sum / s->count, variance = s->squares / s->count - mean * mean;
	return mean > 0 && variance > 0 ? sqrt(variance) / mean : 0;
}

struct epoch {
	double stall, variation;
};

static struct epoch epoch_of(const struct group_work *groups, uint64_t count)
{
	struct sums stall = {0}, requests = {0}, instructions = {0};
	for (uint64_t g = 0; g < count; g++) {
		const struct group_work *w = &groups[g];
		sums_add(&stall, w->warp_instructions > 0 ? w->memory_requests / w->warp_instructions : 0);
		sums_add(&requests, w->memory_requests);
		sums_add(&instructions, w->warp_instructions);
	}
	return (struct epoch){stall.sum / stall.count, fmax(variation(&requests), variation(&instructions))};
}

static uint64_t at_most(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

int regions_build(const struct group_work *groups, uint64_t count, uint64_t epoch, const struct region_limits *limits,
                  struct region **out, size_t *out_count)
{
	size_t epochs = (size_t)((count + epoch - 1) / epoch), regions = 0;
	double *stall = calloc(epochs + 1, sizeof *stall);
	bool *outlier = calloc(epochs + 1, sizeof *outlier);
	uint32_t *cluster = calloc(epochs + 1, sizeof *cluster);
	struct region *found = calloc(epochs + 1, sizeof *found);
	bool done = false;
	if (!stall || !outlier || !cluster || !found)
		goto out;
	for (size_t e = 0; e < epochs; e++) {
		struct epoch one = epoch_of(groups + e * epoch, at_most(epoch, count - e * epoch));
		stall[e] = one.stall;
		outlier[e] = one.variation > limits->variation;
	}
	if (cluster_numbers(stall, epochs, limits->distance, cluster) < 0)
		goto out;
	for (size_t e = 0; e < epochs; e++) {
		if (outlier[e])
			continue;
		if (!e || outlier[e - 1] || cluster[e - 1] != cluster[e])
			found[regions++] = (struct region){cluster[e], e * epoch, 0};
		found[regions - 1].end = at_most((e + 1) * epoch, count);
	}
	*out = found;
	*out_count = regions;
	done = true;
out:
	free(stall);
	free(outlier);
	free(cluster);
	if (!done)
		free(found);
	return done ? 0 : -ENOMEM;
}
