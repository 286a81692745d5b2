/* Launches that were counted, for those that were not; see counted.h. */
#include "runtime/estimates/counted.h"

#include "models/util/hash.h"
#include "runtime/estimates/job.h"
#include "runtime/model/simulation.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static const double like_others = 0.02; /* the error of launches of the same sizes; likewise models/sampling/families.h */
static const double between_others = 0.1; /* of those between others, before what these differ by */

static double items_of(const struct launch_record *l)
{
	return (double)l->global[0] * (double)l->global[1] * (double)l->global[2];
}

/* Buffers change from launch to launch where two take turns, and the work stays the same. */
static uint64_t hash_arguments(const struct launch_record *l)
{
	uint64_t hash = 0;
	for (size_t i = 0; i < l->argument_count; i++)
		if (l->arguments_known[i] && !(l->argument_bytes && l->argument_bytes[i]))
			hash = hash_bytes(&l->argument_values[i], sizeof l->argument_values[i], hash);
	return hash;
}

static bool same_sizes(const struct counted_launch *c, const struct launch_record *l)
{
	return !memcmp(c->global, l->global, sizeof c->global) && !memcmp(c->local, l->local, sizeof c->local) &&
	       c->local_bytes == l->local_bytes;
}

static struct counted_launch *latest(const struct counted_launches *c)
{
	return c->count ? &c->launches[(c->count - 1) % COUNTED_KEPT] : NULL;
}

static size_t kept(const struct counted_launches *c)
{
	return c->count < COUNTED_KEPT ? c->count : COUNTED_KEPT;
}

static void keep_counts(struct counted_launch *c, const struct launch_record *l, const struct launch_profile *p)
{
	free(c->counts);
	c->counts = malloc((l->artifact->block_count + 1) * sizeof *c->counts);
	for (size_t i = 0; c->counts && i < l->artifact->block_count; i++)
		c->counts[i] = (double)p->counts[i] * p->scale;
}

void counted_add(struct counted_launches *c, const struct launch_record *l, const struct launch_profile *p, struct estimate_job *job)
{
	struct counted_launch *at = latest(c);
	uint64_t arguments = hash_arguments(l);
	if (at && at->job == job && same_sizes(at, l) && at->arguments == arguments) {
		at->seq = l->seq;
		return;
	}
	if (!c->launches && !(c->launches = calloc(COUNTED_KEPT, sizeof *c->launches)))
		return;
	at = &c->launches[c->count++ % COUNTED_KEPT];
	job_unref(at->job);
	at->job = job_ref(job);
	at->seq = l->seq;
	memcpy(at->global, l->global, sizeof at->global);
	memcpy(at->local, l->local, sizeof at->local);
	memcpy(at->chosen, p->local, sizeof at->chosen);
	at->local_bytes = l->local_bytes;
	at->arguments = arguments;
	at->items = items_of(l);
	at->first = c->count == 1;
	keep_counts(at, l, p);
}

void counted_clear(struct counted_launches *c)
{
	for (size_t i = 0; i < kept(c); i++) {
		job_unref(c->launches[i].job);
		free(c->launches[i].counts);
	}
	free(c->launches);
	*c = (struct counted_launches){0};
}

/* ---- finding some ---- */

/* It has no estimate, and will not have one. */
static bool is_useless(const struct counted_launch *c)
{
	return !c->counts || (c->job->taken && c->job->result);
}

static uint64_t apart(const struct counted_launch *c, const struct launch_record *l)
{
	return c->seq > l->seq ? c->seq - l->seq : l->seq - c->seq;
}

/* It found cold caches, and a launch after it did not. */
static bool is_colder(const struct counted_launch *c, const struct launch_record *l)
{
	return c->first && c->seq < l->seq;
}

/* Whether one of the same sizes is better: the same arguments first, then as warm, then the nearest. */
static bool is_better(const struct counted_launch *at, const struct counted_launch *best, const struct launch_record *l, uint64_t arguments)
{
	bool same = at->arguments == arguments, best_same = best && best->arguments == arguments;
	if (!best || same != best_same)
		return !best || same;
	if (is_colder(at, l) != is_colder(best, l))
		return is_colder(best, l);
	return apart(at, l) < apart(best, l);
}

/* Of those of the same sizes that are done, or that are not yet. NULL: there is none. */
static const struct counted_launch *find_same(const struct counted_launches *c, const struct launch_record *l, bool done)
{
	const struct counted_launch *best = NULL;
	uint64_t arguments = hash_arguments(l);
	for (size_t i = 0; i < kept(c); i++) {
		const struct counted_launch *at = &c->launches[i];
		if (!is_useless(at) && at->job->taken == done && same_sizes(at, l) && is_better(at, best, l, arguments))
			best = at;
	}
	return best;
}

/* The next smaller or larger one, whether it is done or not; of those with the same local size if there are any. NULL: there is none. */
static const struct counted_launch *find_next(const struct counted_launches *c, const struct launch_record *l, bool larger)
{
	const struct counted_launch *best = NULL;
	bool best_local = false;
	double items = items_of(l);
	for (size_t i = 0; i < kept(c); i++) {
		const struct counted_launch *at = &c->launches[i];
		bool local = !memcmp(at->local, l->local, sizeof at->local);
		if (is_useless(at) || (larger ? at->items < items : at->items > items) || (best_local && !local))
			continue;
		double further = !best || local != best_local ? -1 : larger ? at->items - best->items : best->items - at->items;
		if (further < 0 || (further == 0 && apart(at, l) < apart(best, l))) {
			best = at;
			best_local = local;
		}
	}
	return best;
}

static bool has_later(const struct counted_launches *c, const struct launch_record *l)
{
	const struct counted_launch *last = latest(c);
	return last && last->seq > l->seq;
}

bool counted_ready(const struct counted_launches *c, const struct launch_record *l, bool no_more)
{
	const struct counted_launch *same = find_same(c, l, true);
	if (same && !is_colder(same, l))
		return true;
	if (same)
		return no_more && !find_same(c, l, false);
	if (!no_more && !has_later(c, l))
		return false;
	const struct counted_launch *a = find_next(c, l, false), *b = find_next(c, l, true);
	return (!a || a->job->taken) && (!b || b->job->taken);
}

static double time_of(const struct counted_launch *c)
{
	return c->job->estimate.time_ns;
}

/* What others of the same sizes are off by. */
static double error_like(const struct counted_launches *c, const struct launch_record *l, const struct counted_launch *like)
{
	double most = like_others;
	for (size_t i = 0; i < kept(c); i++) {
		const struct counted_launch *at = &c->launches[i];
		if (!is_useless(at) && at->job->taken && same_sizes(at, l) && time_of(like) > 0)
			most = fmax(most, fabs(time_of(at) / time_of(like) - 1));
	}
	return fmin(most, 1);
}

bool counted_find(const struct counted_launches *c, const struct launch_record *l, struct counted_between *out)
{
	const struct counted_launch *a = find_same(c, l, true), *b = a;
	if (a) {
		*out = (struct counted_between){.a = a, .b = a, .error = error_like(c, l, a)};
		return true;
	}
	a = find_next(c, l, false);
	b = find_next(c, l, true);
	a = a && a->job->taken ? a : NULL;
	b = b && b->job->taken ? b : NULL;
	if (!a && !b)
		return false;
	*out = (struct counted_between){.a = a ? a : b, .b = b ? b : a};
	double items = items_of(l), from = out->a->items, to = out->b->items;
	if (to > from) {
		out->weight = (items - from) / (to - from);
		out->error = fmin(between_others + fabs(time_of(b) - time_of(a)) / 4 / fmax(time_of(a), time_of(b)), 1);
	} else {
		out->b = out->a;
		out->error = fmin(between_others + fabs(1 - items / from), 1);
	}
	return true;
}

/* ---- the estimate ---- */

void counted_profile(const struct launch_record *l, const struct counted_between *between, uint64_t *counts, struct launch_profile *out)
{
	double weight = between ? between->weight : 0, times = between && between->a == between->b ? items_of(l) / between->a->items : 1;
	for (int d = 0; d < 3; d++) {
		uint64_t chosen = between ? between->a->chosen[d] : 1;
		out->global[d] = l->global[d];
		out->local[d] = l->local[d] ? l->local[d] : chosen;
		out->groups[d] = (out->global[d] + out->local[d] - 1) / out->local[d];
	}
	out->local_bytes = l->local_bytes;
	out->cuda = l->cuda;
	out->counts = counts;
	out->scale = 1;
	for (size_t i = 0; between && i < l->artifact->block_count; i++)
		counts[i] = (uint64_t)(((1 - weight) * between->a->counts[i] + weight * between->b->counts[i]) * times + 0.5);
}

struct estimate_job *counted_job(const struct simulation *sim, const struct launch_record *l, const struct launch_profile *p, size_t target,
                                 const struct counted_between *between)
{
	static const flag_set of_sizes = (flag_set)1 << FLAG_sampled | (flag_set)1 << FLAG_does_not_fit;
	static const char no_key[33] = "";
	struct estimate_job *a = between->a->job, *b = between->b->job;
	struct launch_profile f = *p;
	f.code = l->facts->code[sim->targets[target].arch];
	f.accesses = a->accesses;
	f.unknown_accesses = a->profile.unknown_accesses;
	struct estimate_job *job = job_new(sim, l, &f, target, a->kernel, no_key);
	if (!job)
		return NULL;
	job->a = job_ref(a);
	job->b = job_ref(b);
	job->between = (struct family_between){
		.a = &a->estimate, .b = &b->estimate, .a_instructions = a->instructions, .b_instructions = b->instructions,
		.size = items_of(l), .a_size = between->a->items, .b_size = between->b->items, .weight = between->weight, .error = between->error,
	};
	job_start(job, NULL);
	job->taken = true;
	job->estimate.flags &= a->estimate.flags | b->estimate.flags | of_sizes; /* counts that are rounded may not agree */
	return job;
}
