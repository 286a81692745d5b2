/* TBPoint's measure of a group: instructions and memory requests of its warps (III, equation 2). */
#include "models/sampling/features.h"

#include "models/code/costs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Rounds of a window that are simulated until its rate is known (models/grid/rates.c), about. */
static const double MOST_ROUNDS = 4;

/* Accesses of a block where paths do not have their own. */
static double usual_accesses_of(const struct launch_warps *w, const struct code_block *b)
{
	double sum = 0;
	for (uint32_t i = b->first; i < b->first + b->count; i++)
		if (code_has_accesses((enum code_class)w->code->code[i].class))
			sum += w->usual_accesses ? w->usual_accesses[i] : 1;
	return sum;
}

/* Of one execution of a block, which is done `times`. Returns how many of the path's accesses it has. */
static size_t add_accesses(const struct launch_warps *w, const struct warp_path *p, const struct code_block *b, size_t first,
                           double times, struct group_work *s)
{
	size_t n = first;
	for (uint32_t i = b->first; i < b->first + b->count && n < p->access_count; i++) {
		if (!code_has_accesses((enum code_class)w->code->code[i].class))
			continue;
		s->memory_requests += times * p->accesses[n];
		s->traffic += p->requests ? times * (p->requests->first[n + 1] - p->requests->first[n]) : 0;
		n++;
	}
	return n - first;
}

static struct group_work path_work(const struct launch_warps *w, const struct warp_path *p)
{
	struct group_work s = {0};
	size_t next = 0;
	for (size_t i = 0; i < p->block_count; i++) {
		const struct code_block *b = &w->code->blocks[p->blocks[i]];
		double times = path_weight(p, i);
		s.warp_instructions += times * b->count;
		s.stepped += (times < MOST_ROUNDS ? times : MOST_ROUNDS) * b->count;
		if (!p->accesses)
			s.memory_requests += times * usual_accesses_of(w, b);
		else if (p->weights)
			next += add_accesses(w, p, b, next, times, &s);
	}
	for (size_t i = 0; p->accesses && !p->weights && i < p->access_count; i++)
		s.memory_requests += p->accesses[i];
	if (!p->weights)
		s.traffic = p->requests && p->access_count ? p->requests->first[p->access_count] : 0;
	return s;
}

struct group_work *paths_work(const struct launch_warps *warps)
{
	struct group_work *out = calloc(warps->path_count + 1, sizeof *out);
	for (uint32_t i = 0; out && i < warps->path_count; i++) {
		out[i] = path_work(warps, &warps->paths[i]);
		out[i].longest = out[i].warp_instructions;
	}
	return out;
}

struct group_work *pattern_work(const struct launch_warps *warps, const struct group_work *paths)
{
	struct group_work *out = calloc(warps->pattern_groups + 1, sizeof *out);
	for (uint64_t g = 0; out && g < warps->pattern_groups; g++)
		for (uint32_t i = 0; i < warps->warps_per_group; i++) {
			const struct group_work *p = &paths[warps->path_of[g * warps->warps_per_group + i]];
			out[g].warp_instructions += p->warp_instructions;
			out[g].memory_requests += p->memory_requests;
			out[g].traffic += p->traffic;
			out[g].stepped += p->stepped;
			out[g].longest = fmax(out[g].longest, p->longest);
		}
	return out;
}
