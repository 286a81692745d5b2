/*
 * Groups that were not traced do what a traced one did, but not as much of it: their loops are longer or shorter. Counters say by how
 * much, and the windows of the traced group's paths are done more or less often.
 *
 *   a: instructions of a path; work_g, rounds_g: of its outermost windows
 *   w: what a warp of the group did over what that of the traced one did, by counters, in steps of a few percent
 *   windows are done max(1, f (1 + rounds_g)) times, so that a - sum((1 + rounds_g) work_g) + sum(max(1, f (1 + rounds_g)) work_g) = a w
 * Warps of kernels with barriers all have the w of their group, so that those which meet in a loop still do. Warps of one path and step
 * share a path.
 */
#include "models/trace/internal.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
	MOST_STEPS = 140,      /* up and down, when steps are the shortest: 240 times as much, or as little */
	STEPS = 2 * MOST_STEPS + 1,
	MOST_BLOCKS = 1 << 21, /* of all paths that are made: bounds memory, 32 MB, and the time to look at them */
};
static const double shortest = 0.04; /* of steps: warps are within 2% */

struct made_path {
	uint32_t path; /* + 1; 0: none */
	float times;   /* what it does over what the traced path does */
};

struct loop_fitting {
	const struct fit_input *in;
	double step;
	struct made_path **made; /* by traced path, where any is needed: by step */
};

double fit_least(const struct kernel_code *code, const struct trace_store *s, const uint32_t *paths, uint32_t count)
{
	double all = 0, loops = 0;
	for (uint32_t i = 0; i < count; i++) {
		const struct warp_path *p = &s->paths[paths[i]];
		all += path_instructions(code, p);
		for (size_t g = 0; g < p->gap_count; g++)
			loops += p->gaps[g].outer < 0 ? p->gaps[g].rounds * p->gaps[g].work : 0;
	}
	for (uint32_t i = 0; i < count && loops <= 0; i++)
		if (s->loops[paths[i]])
			return 1 - 1e-9;
	return all > 0 && loops > 0 ? 1 - loops / all : 1;
}

static int step_of(const struct loop_fitting *f, double times)
{
	double most = floor(MOST_STEPS * shortest / f->step), steps = times > 0 ? log(times) / log1p(f->step) : -most;
	return (int)round(fmin(fmax(steps, -most), most));
}

/* What a warp of the group did over what that of the traced one did. */
static double times_of(const struct loop_fitting *f, uint64_t group, uint32_t warp)
{
	const struct fit_input *in = f->in;
	const struct group_stand_in *s = &in->list[group];
	double own = s->work, traced = s->of_traced;
	if (in->by_warp && !in->together) {
		own = in->by_warp[group * in->per_group + warp];
		traced = in->by_warp[(in->count + s->traced) * in->per_group + warp];
	}
	return traced > 0 && own > 0 ? own / traced : 1;
}

static uint32_t path_of(const struct loop_fitting *f, uint64_t group, uint32_t warp)
{
	return f->in->paths[(size_t)f->in->list[group].traced * f->in->per_group + warp];
}

/* Of the warp's path; 0: as it is. */
static int step_for(const struct loop_fitting *f, uint64_t group, uint32_t warp)
{
	uint32_t path = path_of(f, group, warp);
	return f->in->store->paths[path].gap_count || f->in->store->loops[path] ? step_of(f, times_of(f, group, warp)) : 0;
}

/* NULL when memory runs out. */
static struct made_path *place_of(const struct loop_fitting *f, uint32_t path, int step)
{
	if (!f->made[path])
		f->made[path] = calloc(STEPS, sizeof *f->made[path]);
	return f->made[path] ? &f->made[path][MOST_STEPS + step] : NULL;
}

static void forget_places(const struct loop_fitting *f, size_t paths)
{
	for (size_t p = 0; p < paths; p++) {
		free(f->made[p]);
		f->made[p] = NULL;
	}
}

/* Blocks of all paths that are to be made. */
static int count_blocks(const struct loop_fitting *f, uint64_t *blocks)
{
	*blocks = 0;
	for (uint64_t g = 0; g < f->in->count; g++)
		for (uint32_t w = 0; w < f->in->per_group; w++) {
			int step = step_for(f, g, w);
			struct made_path *at = step ? place_of(f, path_of(f, g, w), step) : NULL;
			if (step && !at)
				return -ENOMEM;
			if (!step || at->path)
				continue;
			*blocks += f->in->store->paths[path_of(f, g, w)].block_count;
			at->path = 1;
		}
	return 0;
}

static int fit_warp(const struct loop_fitting *f, uint64_t group, uint32_t warp, uint32_t *path, double *times)
{
	int step = step_for(f, group, warp), result = 0;
	*path = path_of(f, group, warp);
	*times = 1;
	if (!step)
		return 0;
	struct made_path *at = place_of(f, *path, step);
	if (!at)
		return -ENOMEM;
	if (!at->path) {
		double actual;
		result = trace_store_vary(f->in->store, f->in->code, *path, pow(1 + f->step, step), &at->path, &actual);
		at->path++;
		at->times = (float)actual;
	}
	*path = at->path - 1;
	*times = at->times;
	return result;
}

/* What all of the group's warps do over what those of the traced one did, as counters weigh them. */
static int fit_group(const struct loop_fitting *f, uint64_t group, uint32_t *paths)
{
	const struct fit_input *in = f->in;
	struct group_stand_in *s = &in->list[group];
	double sum = 0, all = 0;
	for (uint32_t w = 0; w < in->per_group; w++) {
		double times, weight = in->by_warp ? in->by_warp[(in->count + s->traced) * in->per_group + w] : 1;
		int result = fit_warp(f, group, w, &paths[w], &times);
		if (result)
			return result;
		sum += weight * times;
		all += weight;
	}
	s->times = all > 0 ? sum / all : 1;
	return 0;
}

int stand_ins_fit(const struct fit_input *in, uint32_t *path_of)
{
	size_t paths = in->store->path_count;
	struct loop_fitting f = {in, shortest, calloc(paths + 1, sizeof *f.made)};
	uint64_t blocks = UINT64_MAX;
	int result = f.made ? 0 : -ENOMEM;
	for (; !result && blocks > MOST_BLOCKS && f.step < 1; f.step *= 2) {
		result = count_blocks(&f, &blocks);
		forget_places(&f, paths);
	}
	f.step /= 2;
	for (uint64_t g = 0; g < in->count && !result; g++)
		result = fit_group(&f, g, path_of + g * in->per_group);
	if (f.made)
		forget_places(&f, paths);
	free(f.made);
	return result;
}
