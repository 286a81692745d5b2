/*
 * Which traced group an untraced one is like.
 *
 *   the one whose work-items and warps did most nearly as much, in percent, by their counters (group_work.c). Where its long loops can be
 *   made longer or shorter (stand_ins.c), what is left then counts, and a part of how much longer they are
 *   among equals, one whose addresses are as far into their lines
 *   among these, one at the same borders of the grid, because groups at a border touch other memory
 *   among these, the nearest by id
 * Why lines: addresses may move from group to group by less than a line, as those of stencils do. Then a warp of one group
 * touches two lines, and the same warp of the next group three. The nearest group would stand for a whole part of the launch,
 * and that part would seem to be unlike the others.
 */
#include "models/trace/internal.h"
#include "models/util/minmax.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static uint32_t borders(const uint64_t grid[3], uint64_t group)
{
	uint32_t all = 0;
	for (int d = 0; d < 3; d++) {
		uint64_t at = group % grid[d];
		group /= grid[d];
		all = all * 3 + (at == 0 ? 0 : at == grid[d] - 1 ? 2 : 1);
	}
	return all;
}

void pattern_counts_free(struct pattern_counts *c)
{
	free(c->work);
	free(c->by_warp);
	*c = (struct pattern_counts){NULL, NULL};
}

/* The groups of the launch first, then those that were traced. */
static int fill_work(const struct kernel_code *code, const struct group_sample *sample, const struct lane_counts *lanes,
                     const struct traced_ids *traced, struct counted_work *work, float *by_warp)
{
	const uint64_t *local = sample->shape->local;
	bool by_blocks = traced->events && code_is_traced_whole(code), some = traced->events && !by_blocks;
	bool *seen = some ? calloc(code->counter_count + 1u, sizeof *seen) : NULL;
	struct work_shape shape = {code, lanes, sample->count, (uint32_t)(local[0] * local[1] * local[2]), sample->warp_size, seen, NULL,
	                           sample->cycles, traced->keep, by_blocks};
	struct code_map map = {0};
	uint64_t *groups = calloc(sample->count + 1, sizeof *groups);
	if (seen)
		find_seen(traced->events, code->counter_count, seen);
	for (uint64_t g = 0; g < sample->count && groups; g++)
		groups[g] = group_of_sample(sample, g);
	int result = groups && (seen || !some) ? map_group_work(&shape, groups, sample->count, &map) : -ENOMEM;
	shape.map = &map;
	if (!result)
		result = count_group_work(&shape, groups, sample->count, work, by_warp);
	float *of_traced = by_warp ? by_warp + sample->count * ((shape.items + shape.warp_size - 1) / shape.warp_size) : NULL;
	if (!result && traced->events)
		result = count_traced_work(&shape, traced->events, traced->ids, traced->count, work + sample->count, of_traced);
	else if (!result)
		result = count_group_work(&shape, traced->ids, traced->count, work + sample->count, of_traced);
	code_map_free(&map);
	free(groups);
	free(seen);
	return result;
}

/* As a logarithm: twice as much is as far as half as much. */
static double more_or_less(double a, double b)
{
	return a < b || a > b ? fabs(log(max_double(a, 1) / max_double(b, 1))) : 0;
}

/* Whether one is more than so many times the other. */
static bool is_beyond(double a, double b, double times)
{
	return max_double(a, 1) > times * max_double(b, 1) || max_double(b, 1) > times * max_double(a, 1);
}

/* By how much more or less work differs. Two long warps do as much in sum as one that is twice as long, and take half of its time. */
static double apart(const struct counted_work *a, const struct counted_work *b)
{
	return max_double(max_double(more_or_less(a->threads, b->threads), more_or_less(a->warps, b->warps)), more_or_less(a->longest, b->longest));
}

/* exp of what apart() may be; INFINITY: anything. Most candidates are told by that, without a logarithm. A little more, because
   apart() is rounded. */
static double most_times(double apart)
{
	return exp(apart) * (1 + 1e-9);
}

static bool is_further(const struct counted_work *a, const struct counted_work *b, double times)
{
	return is_beyond(a->warps, b->warps, times) || is_beyond(a->threads, b->threads, times) || is_beyond(a->longest, b->longest, times);
}

/* Of what stands for a group: a traced one, whose long loops can be made longer, and shorter down to `least` of what it did. Iterations that
 * were not traced need not do as those that were, so that a tenth of how much longer they are counts as well: a guess. INFINITY: it is further
 * apart than most_times allows. */
static double apart_fitted(const struct counted_work *traced, const struct counted_work *work, double least, double most)
{
	static const double stretched = 0.1;
	if (least >= 1 || !(traced->warps > 0) || !(work->warps > 0))
		return is_further(traced, work, most) ? INFINITY : apart(traced, work);
	double times = fmax(work->warps / traced->warps, least);
	struct counted_work fitted = {.threads = traced->threads * times, .warps = traced->warps * times, .longest = traced->longest * times};
	return is_further(&fitted, work, most) ? INFINITY : apart(&fitted, work) + stretched * fabs(log(times));
}

/* How unlike two groups are, the most important first. */
struct difference {
	double work; /* percent */
	uint32_t misaligned;
	bool border;
	uint64_t distance;
};

static bool is_more_alike(const struct difference *a, const struct difference *b)
{
	if (a->work < b->work || a->work > b->work)
		return a->work < b->work;
	if (a->misaligned != b->misaligned)
		return a->misaligned < b->misaligned;
	if (a->border != b->border)
		return b->border;
	return a->distance < b->distance;
}

enum { MOST_STEPS = 8 }; /* of addresses from group to group: kernels have few different ones; further ones are not compared */

struct candidates {
	const uint64_t *ids;
	bool other; /* they are groups of another launch */
	uint32_t *borders;
	size_t count;
	const struct counted_work *work; /* NULL: not known */
	const double *least; /* struct traced_ids */
	int64_t steps[MOST_STEPS][3]; /* bytes by which addresses move that are linear in the group's ids, as far as those are no lines */
	uint32_t step_count;
	int64_t line_bytes;
};

static bool has_steps(const struct candidates *c, const int64_t steps[3])
{
	for (uint32_t i = 0; i < c->step_count; i++)
		if (!memcmp(c->steps[i], steps, sizeof c->steps[i]))
			return true;
	return false;
}

static void find_steps(const struct address_shift *shifts, uint32_t count, struct candidates *c)
{
	for (uint32_t i = 0; i < count && c->step_count < MOST_STEPS; i++) {
		int64_t within[3] = {0};
		for (int d = 0; d < 3 && shifts[i].linear && !shifts[i].image && !shifts[i].split && !shifts[i].starts; d++)
			within[d] = shifts[i].step[d] % c->line_bytes;
		if ((within[0] || within[1] || within[2]) && !has_steps(c, within))
			memcpy(c->steps[c->step_count++], within, sizeof within);
	}
}

/* Of the steps, how many lead from one of the groups to other places in lines than from the other. */
static uint32_t misaligned(const struct trace_shape *shape, const struct candidates *c, uint64_t a, uint64_t b)
{
	int64_t apart[3];
	uint32_t count = 0;
	for (int d = 0; d < 3 && c->step_count; d++) {
		apart[d] = (int64_t)(a % shape->groups[d]) - (int64_t)(b % shape->groups[d]);
		a /= shape->groups[d];
		b /= shape->groups[d];
	}
	for (uint32_t i = 0; i < c->step_count; i++) {
		const int64_t *s = c->steps[i];
		count += (s[0] * apart[0] + s[1] * apart[1] + s[2] * apart[2]) % c->line_bytes != 0;
	}
	return count;
}

static uint32_t most_alike(const struct trace_shape *shape, const struct candidates *c, uint64_t group,
                           const struct counted_work *work)
{
	struct difference least = {.border = true, .work = INFINITY, .misaligned = UINT32_MAX, .distance = UINT64_MAX};
	uint32_t best = 0, own = borders(shape->groups, group);
	double most = INFINITY;
	for (size_t i = 0; i < c->count; i++) {
		struct difference d = {
			.border = c->borders[i] != own,
			.work = work ? floor(100 * apart_fitted(&c->work[i], work, c->least ? c->least[i] : 1, most)) : 0,
			.distance = c->ids[i] > group ? c->ids[i] - group : group - c->ids[i],
		};
		if (c->ids[i] == group && !c->other)
			return (uint32_t)i;
		if (d.work > least.work)
			continue;
		d.misaligned = misaligned(shape, c, group, c->ids[i]);
		if (is_more_alike(&d, &least)) {
			most = d.work < least.work ? most_times((d.work + 1) / 100) : most;
			least = d;
			best = (uint32_t)i;
		}
	}
	return best;
}

uint64_t group_of_sample(const struct group_sample *s, uint64_t n)
{
	const uint64_t *g = s->shape->groups;
	uint64_t all = g[0] * g[1] * g[2];
	return s->count < all ? (uint64_t)(((double)n + 0.5) * (double)all / (double)s->count) : n;
}

/* The group with the most instructions that no traced group stands for, then the next, and so on, as long as launches that
 * differ so much would not be taken for alike (TBPoint, V-A). off: of each group, by how much the nearest of those that stand for groups, and those
 * that are to, is off. */
static void choose_needed(const struct group_sample *sample, const struct counted_work *work, double *off, struct needed_groups *out)
{
	static const double unlike = 0.1; /* TBPoint's threshold of launches */
	for (bool found = true; found && out->count < MOST_NEEDED;) {
		uint64_t worst = 0;
		double most = 0;
		for (uint64_t g = 0; g < sample->count; g++)
			if (off[g] > unlike && off[g] * work[g].warps > most) {
				most = off[g] * work[g].warps;
				worst = g;
			}
		found = most > 0;
		if (found)
			out->ids[out->count++] = group_of_sample(sample, worst);
		for (uint64_t g = 0; g < sample->count && found; g++)
			if (off[g] > unlike)
				off[g] = fmin(off[g], apart(&work[worst], &work[g]));
	}
}

static int find_needed(const struct group_sample *sample, const struct counted_work *work, const struct counted_work *traced,
                       const struct group_stand_in *stands_for, struct needed_groups *out)
{
	double *off = calloc(sample->count + 1, sizeof *off);
	for (uint64_t g = 0; g < sample->count && off; g++)
		off[g] = apart(&traced[stands_for[g].traced], &work[g]);
	if (off)
		choose_needed(sample, work, off, out);
	free(off);
	return off ? 0 : -ENOMEM;
}

static int count_pattern(const struct kernel_code *code, const struct group_sample *sample, const struct lane_counts *lanes,
                         const struct traced_ids *traced, struct pattern_counts *out)
{
	const uint64_t *local = sample->shape->local;
	uint32_t items = (uint32_t)(local[0] * local[1] * local[2]), warps = (items + sample->warp_size - 1) / sample->warp_size;
	bool all = traced->least && counts_all_lanes(items, sample->count);
	out->work = calloc(sample->count + traced->count, sizeof *out->work);
	out->by_warp = all ? calloc((sample->count + traced->count) * warps, sizeof *out->by_warp) : NULL;
	return out->work && (out->by_warp || !all) ? fill_work(code, sample, lanes, traced, out->work, out->by_warp) : -ENOMEM;
}

int trace_groups(const struct kernel_code *code, const struct group_sample *sample, const struct lane_counts *lanes,
                 const struct traced_ids *traced, struct group_stand_in *out, struct pattern_counts *counts, struct needed_groups *needed)
{
	const uint64_t *ids = traced->ids;
	size_t id_count = traced->count;
	struct candidates c = {.ids = ids, .other = traced->other, .borders = calloc(id_count + 1, sizeof *c.borders), .count = id_count,
	                       .least = traced->least, .line_bytes = traced->line_bytes ? traced->line_bytes : 1};
	int result = c.borders ? 0 : -ENOMEM;
	*counts = (struct pattern_counts){NULL, NULL};
	if (!result && lanes && lanes->gather && (id_count < sample->count || traced->other))
		result = count_pattern(code, sample, lanes, traced, counts);
	const struct counted_work *work = counts->work;
	c.work = work ? work + sample->count : NULL;
	if (traced->shifts)
		find_steps(traced->shifts, code->code_count, &c);
	for (size_t i = 0; i < id_count && !result; i++)
		c.borders[i] = borders(sample->shape->groups, ids[i]);
	for (uint64_t g = 0; g < sample->count && !result; g++) {
		out[g] = (struct group_stand_in){.traced = most_alike(sample->shape, &c, group_of_sample(sample, g), work ? &work[g] : NULL)};
		if (!work)
			continue;
		const struct counted_work *of = &c.work[out[g].traced];
		out[g].work = work[g].warps;
		out[g].cycles = work[g].cycles;
		out[g].longest = work[g].longest;
		out[g].of_traced = of->warps;
		out[g].longest_traced = of->longest;
	}
	needed->count = 0;
	if (work && !result)
		result = find_needed(sample, work, c.work, out, needed);
	free(c.borders);
	return result;
}

/* ---- how much stand-ins do ---- */

/* What warps of the groups did over what those that stand for them do: the same counters on both sides, so that what these get
 * wrong about the target's instructions does not matter. */
double share_represented(const struct group_stand_in *list, uint64_t count)
{
	double all = 0, represented = 0;
	for (uint64_t g = 0; g < count; g++) {
		all += list[g].work;
		represented += list[g].of_traced + list[g].added;
	}
	return all > 0 && represented > 0 ? all / represented : 0;
}

/*
 * One warp may take several times as long as most, and longer than schedulers issue for all others. The launch ends with that warp, and how
 * much all did together says nothing of its time. How long it takes over the longest of those that stand for groups, whose group is given
 * back; 0: it is not so.
 */
double longest_represented(const struct gpu *gpu, const struct launch_warps *w, const struct group_stand_in *list, uint64_t count,
                           uint64_t *group)
{
	static const double few = 4; /* times as long as the mean: as few_are_longer of families */
	double issued = 0, cycles = 0, longest = 0, represented = 0, schedulers = (double)gpu->sm_count * gpu->schedulers_per_sm;
	for (uint64_t g = 0; g < count; g++) {
		issued += list[g].work;
		cycles += list[g].cycles;
		longest = fmax(longest, list[g].longest);
		double own = list[g].of_traced > 0 ? list[g].longest_traced * (1 + list[g].added / list[g].of_traced) : 0;
		if (own > represented) {
			represented = own;
			*group = g;
		}
	}
	bool ends_with_it = longest * (double)(count * w->warps_per_group) > few * cycles &&
	                    longest * schedulers > issued * (double)w->groups / (double)count;
	return ends_with_it && represented > 0 ? longest / represented : 0;
}

int count_traced_blocks(const struct kernel_code *code, const struct lane_counts *lanes, const struct group_sample *sample,
                        const struct traced_ids *traced, double *blocks)
{
	const uint64_t *local = sample->shape->local;
	size_t count = traced->events ? sample->count : traced->count;
	struct work_shape shape = {code, lanes, count, (uint32_t)(local[0] * local[1] * local[2]), sample->warp_size, NULL, NULL, NULL, NULL, false};
	struct code_map map = {0};
	uint64_t *groups = calloc(count + 1, sizeof *groups);
	for (size_t i = 0; i < count && groups; i++)
		groups[i] = traced->events ? group_of_sample(sample, i) : traced->ids[i];
	int result = groups ? map_group_work(&shape, groups, count, &map) : -ENOMEM;
	shape.map = &map;
	if (!result)
		result = sum_group_blocks(&shape, groups, count, blocks);
	for (uint32_t b = 0; b < code->block_count; b++)
		blocks[b] *= (double)traced->count / (double)count;
	code_map_free(&map);
	free(groups);
	return result;
}
