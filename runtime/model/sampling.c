/*
 * Launches that behave like one that was simulated take its cycles per instruction (TBPoint, III). Each kernel has clusters of its own
 * on each target. To measure the sampling error, every n-th sampled launch is simulated in full as well. Only the thread that models
 * calls this.
 */
#include "runtime/model/sampling.h"

#include "runtime/model/simulation.h"

#include <math.h>
#include <stdlib.h>

static const double THRESHOLD = 0.1; /* TBPoint, V-A */
static const double most_checked = 2e7; /* warp instructions, some seconds; of a larger launch homogeneous regions stay sampled */

/* What a launch like it gave, and how far from it this one is. NULL: simulate it. */
static const struct estimate *known_estimate(void *ctx, const struct launch_features *f, double *distance)
{
	struct sampling *s = ctx;
	struct launch_cluster *k = launch_clusters_find(&s->clusters, f, THRESHOLD);
	if (!k)
		return NULL;
	*distance = launch_clusters_distance(&s->clusters, k, f);
	return k->data;
}

static void keep_estimate(struct sampling *s, const struct estimate *e)
{
	struct estimate *copy = malloc(sizeof *copy);
	if (copy) {
		*copy = *e;
		if (!launch_clusters_add(&s->clusters, &e->features, copy))
			free(copy);
	}
}

static void check_error(const struct gpu *gpu, struct launch_result *r, size_t t)
{
	struct model_options full = r->sim->model;
	struct estimate e;
	full.exact |= (double)r->estimates[t].warp_instructions <= most_checked;
	if (model_launch(gpu, &r->profile, &full, &e, NULL) || !(e.time_ns > 0))
		return;
	stats_add_check(&r->sim->stats, r->launch->kernel_name, t, fabs(r->estimates[t].time_ns / e.time_ns - 1));
}

int sampling_model(const struct gpu *gpu, struct launch_result *r, size_t t, struct gs_error *err)
{
	struct sampling **at = &r->launch->facts->samplings[t];
	struct model_options options = r->sim->model;
	uint64_t every = r->sim->options.check.number;
	if (r->sim->options.sampling.number != SAMPLING_OFF && !*at)
		*at = calloc(1, sizeof **at);
	if (r->sim->options.sampling.number != SAMPLING_OFF && *at) {
		options.alike = known_estimate;
		options.alike_ctx = *at;
	}
	int result = model_launch(gpu, &r->profile, &options, &r->estimates[t], err);
	if (result || !options.alike)
		return result;
	if (!r->estimates[t].sampled)
		keep_estimate(*at, &r->estimates[t]);
	if ((r->estimates[t].sampled || r->estimates[t].spread > 0) && every && ++(*at)->taken % every == 0)
		check_error(gpu, r, t);
	return 0;
}

void sampling_free(struct sampling *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < s->clusters.count; i++)
		free(s->clusters.clusters[i].data);
	launch_clusters_free(&s->clusters);
	free(s);
}
