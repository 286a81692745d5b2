/*
 * Groups that were not traced do what a traced one did, but not as much of it: their loops are longer or shorter. Counters say by how
 * much, and the windows of the traced group's paths are done more or less often.
 *
 *   a: instructions of a path; work_g, rounds_g: of its outermost windows
 *   d: what a warp of the group did more than that of the traced one, by counters
 *   w: 1 + d / a, in steps of a few percent
 *   windows are done max(1, f (1 + rounds_g)) times, so that a - sum((1 + rounds_g) work_g) + sum(max(1, f (1 + rounds_g)) work_g) = a w
 * d is added, because counters know the longest lane: what lanes did in turns is in the path, and does not become more. Warps of kernels
 * with barriers all have the w of their group, so that those which meet in a loop still do. Loops without gaps stay as they are: they are short,
 * and one that a compiler has unrolled is another loop when it is long. Warps of one path and step share a path.
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
	float added;   /* instructions that it does more than the traced path */
};

struct loop_fitting {
	const struct fit_input *in;
	double step;
	struct made_path **made; /* by traced path, where any is needed: by step */
	double *instructions;    /* of the traced paths */
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
	return all > 0 && loops > 0 ? 1 - loops / all : 1;
}

static int step_of(const struct loop_fitting *f, double times)
{
	double most = floor(MOST_STEPS * shortest / f->step), steps = times > 0 ? log(times) / log1p(f->step) : -most;
	return (int)round(fmin(fmax(steps, -most), most));
}

static uint32_t path_of(const struct loop_fitting *f, uint64_t group, uint32_t warp)
{
	return f->in->paths[(size_t)f->in->list[group].traced * f->in->per_group + warp];
}

/* What a warp of the group is to do over what its path does. */
static double times_of(const struct loop_fitting *f, uint64_t group, uint32_t warp)
{
	const struct fit_input *in = f->in;
	const struct group_stand_in *s = &in->list[group];
	double own = s->work, traced = s->of_traced, all = 0;
	if (in->by_warp && !in->together) {
		own = in->by_warp[group * in->per_group + warp];
		traced = in->by_warp[(in->count + s->traced) * in->per_group + warp];
		all = f->instructions[path_of(f, group, warp)];
	} else {
		for (uint32_t w = 0; w < in->per_group; w++)
			all += f->instructions[path_of(f, group, w)];
	}
	return traced > 0 && own > 0 && all > 0 ? 1 + (own - traced) / all : 1;
}

/* Of the warp's path; 0: as it is. */
static int step_for(const struct loop_fitting *f, uint64_t group, uint32_t warp)
{
	uint32_t path = path_of(f, group, warp);
	return f->in->store->paths[path].gap_count ? step_of(f, times_of(f, group, warp)) : 0;
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

static int fit_warp(const struct loop_fitting *f, uint64_t group, uint32_t warp, uint32_t *path, double *added)
{
	int step = step_for(f, group, warp);
	uint32_t of = path_of(f, group, warp);
	*path = of;
	*added = 0;
	if (!step)
		return 0;
	struct made_path *at = place_of(f, of, step);
	if (!at)
		return -ENOMEM;
	if (!at->path) {
		double times;
		int result = trace_store_vary(f->in->store, f->in->code, of, pow(1 + f->step, step), path, &times);
		if (result)
			return result;
		*at = (struct made_path){*path + 1, (float)((times - 1) * f->instructions[of])};
	}
	*path = at->path - 1;
	*added = at->added;
	return 0;
}

static int fit_group(const struct loop_fitting *f, uint64_t group, uint32_t *paths)
{
	struct group_stand_in *s = &f->in->list[group];
	double added;
	int result = 0;
	for (uint32_t w = 0; w < f->in->per_group && !result; w++) {
		result = fit_warp(f, group, w, &paths[w], &added);
		s->added += added;
	}
	return result;
}

int stand_ins_fit(const struct fit_input *in, uint32_t *path_of)
{
	size_t paths = in->store->path_count;
	struct loop_fitting f = {in, shortest, calloc(paths + 1, sizeof *f.made), calloc(paths + 1, sizeof *f.instructions)};
	uint64_t blocks = UINT64_MAX;
	int result = f.made && f.instructions ? 0 : -ENOMEM;
	for (size_t p = 0; p < paths && !result; p++)
		f.instructions[p] = path_instructions(in->code, &in->store->paths[p]);
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
	free(f.instructions);
	return result;
}
