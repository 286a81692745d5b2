/*
 * Launches of one kernel that behave alike, online: each is compared with what was simulated before it.
 *
 *   vector = <thread instructions, warp instructions, memory requests, each over its mean; variation of group sizes>
 *   a launch joins a cluster if no member of it is further away than the threshold (0.1)
 * The members of a cluster are kept as a box, and the distance to its furthest corner stands for that to its furthest
 * member: it is never less.
 * Source: Huang et al., TBPoint, III, equation 2.
 */
#include "models/sampling/cluster.h"

#include "runtime/base/base.h"

#include <math.h>
#include <stdlib.h>

static void as_vector(const struct launch_features *f, double out[LAUNCH_FEATURES])
{
	out[0] = f->thread_instructions;
	out[1] = f->warp_instructions;
	out[2] = f->memory_requests;
	out[3] = f->group_variation;
}

static struct launch_features from_vector(const double v[LAUNCH_FEATURES])
{
	return (struct launch_features){.thread_instructions = v[0], .warp_instructions = v[1], .memory_requests = v[2],
	                                .group_variation = v[3]};
}

/* To the corner of the box low..high that is furthest from the launch. */
static double feature_distance(const struct launch_clusters *c, const struct launch_features *f, const struct launch_features *low,
                       const struct launch_features *high)
{
	double x[LAUNCH_FEATURES], l[LAUNCH_FEATURES], h[LAUNCH_FEATURES], sum[LAUNCH_FEATURES], total = 0;
	as_vector(f, x);
	as_vector(low, l);
	as_vector(high, h);
	as_vector(&c->sum, sum);
	for (int i = 0; i < LAUNCH_FEATURES; i++) {
		double apart = fmax(fabs(x[i] - l[i]), fabs(x[i] - h[i])), scale = 1;
		if (i < 3)
			scale = fmin(sum[i] / (double)c->launches, fmax(x[i], h[i]));
		if (apart > 0)
			total += scale > 0 ? apart / scale * (apart / scale) : INFINITY;
	}
	return sqrt(total);
}

static void include(struct launch_cluster *k, const struct launch_features *f)
{
	double x[LAUNCH_FEATURES], l[LAUNCH_FEATURES], h[LAUNCH_FEATURES];
	as_vector(f, x);
	as_vector(&k->low, l);
	as_vector(&k->high, h);
	for (int i = 0; i < LAUNCH_FEATURES; i++) {
		l[i] = fmin(l[i], x[i]);
		h[i] = fmax(h[i], x[i]);
	}
	k->low = from_vector(l);
	k->high = from_vector(h);
	k->members++;
}

double launch_clusters_distance(const struct launch_clusters *c, const struct launch_cluster *k, const struct launch_features *f)
{
	return feature_distance(c, f, &k->representative, &k->representative);
}

struct launch_cluster *launch_clusters_find(struct launch_clusters *c, const struct launch_features *f, double threshold)
{
	struct launch_cluster *found = NULL;
	double nearest = INFINITY;
	c->launches++;
	c->sum.thread_instructions += f->thread_instructions;
	c->sum.warp_instructions += f->warp_instructions;
	c->sum.memory_requests += f->memory_requests;
	for (size_t i = 0; i < c->count; i++) {
		struct launch_cluster *k = &c->clusters[i];
		if (k->representative.kind != f->kind)
			continue;
		double to_representative = launch_clusters_distance(c, k, f);
		if (to_representative < nearest && feature_distance(c, f, &k->low, &k->high) <= threshold) {
			nearest = to_representative;
			found = k;
		}
	}
	if (found)
		include(found, f);
	return found;
}

struct launch_cluster *launch_clusters_add(struct launch_clusters *c, const struct launch_features *f, void *data)
{
	if (!gs_reserve(&c->clusters, c->count, &c->room, sizeof *c->clusters))
		return NULL;
	c->clusters[c->count] = (struct launch_cluster){*f, *f, *f, 1, data};
	return &c->clusters[c->count++];
}

void launch_clusters_free(struct launch_clusters *c)
{
	free(c->clusters);
	*c = (struct launch_clusters){0};
}
