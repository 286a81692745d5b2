/*
 * Runs of groups that stand for a launch: stratified sampling, with allocation in proportion.
 *
 *   part i of the launch, groups [a, b) of G, has numbers [round(a g / G), round(b g / G)) of the g that are chosen
 *   as up to MOST_RUNS runs of neighbours, or as many as are asked for, the first at the part's begin, the last at its end, and as
 *   many left out between any two
 * Source: Cochran, Sampling Techniques, 5.5 (proportional allocation). Without parts, the first groups of a launch, which often
 * are unlike all others, would count as much as a whole run does.
 */
#include "models/sampling/runs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Runs of a part, at most, and epochs of a run, at least: two units of sampling. More runs are spread more evenly; shorter ones have
 * fewer neighbours that meet in caches. */
enum { MOST_RUNS = 8, RUN_EPOCHS = 2 };

struct chooser {
	uint64_t groups, all, whole, least;
	struct group_run *runs;
	size_t count;
};

static uint64_t number_of(const struct chooser *c, uint64_t group)
{
	return (uint64_t)(((__uint128_t)group * c->groups + c->all / 2) / c->all);
}

static void choose_in(struct chooser *c, uint64_t begin, uint64_t end)
{
	uint64_t first = number_of(c, begin), some = number_of(c, end) - first, left_out = end - begin - some;
	uint64_t runs = some / (RUN_EPOCHS * c->whole);
	runs = runs < MOST_RUNS ? runs : MOST_RUNS;
	runs = runs < c->least ? c->least : runs;
	if (some < runs) {
		if (some)
			c->runs[c->count++] = (struct group_run){first, begin + left_out / 2};
		return;
	}
	for (uint64_t r = 0; r < runs; r++) {
		uint64_t n = (r * some + runs - 1) / runs;
		c->runs[c->count++] = (struct group_run){first + n, begin + n + r * left_out / (runs - 1)};
	}
}

int runs_choose(const struct region *regions, size_t count, uint64_t groups, uint64_t all, uint64_t whole, uint64_t least,
                struct group_run **out, size_t *out_count)
{
	struct chooser c = {.groups = groups, .all = all, .whole = whole ? whole : 1, .least = least};
	uint64_t at = 0;
	if (count > groups / (RUN_EPOCHS * c.whole)) /* hardly any neighbours would be left */
		count = 0;
	c.runs = calloc((2 * count + 1) * (least > MOST_RUNS ? least : MOST_RUNS), sizeof *c.runs);
	if (!c.runs)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++) {
		if (regions[i].first > at)
			choose_in(&c, at, regions[i].first);
		choose_in(&c, regions[i].first, regions[i].end);
		at = regions[i].end;
	}
	if (all > at)
		choose_in(&c, at, all);
	*out = c.runs;
	*out_count = c.count;
	return 0;
}

/* Which SMs, from 0 to `most`, stand for all at this time: others each time, so that rows of a grid that are as long as there are SMs do not
 * always give the same places. Steps by the golden ratio are spread evenly, however many there are (Knuth, The Art of Computer Programming, 6.4). */
static uint64_t first_sm(uint64_t epoch, uint64_t most)
{
	double turn = 0.5 + 0.61803398875 * (double)epoch;
	return (uint64_t)((turn - floor(turn)) * (double)(most + 1));
}

int runs_of_rounds(uint64_t groups, uint64_t all, uint32_t few, uint32_t sms, uint32_t residency, uint64_t with, struct group_run **out,
                   size_t *out_count)
{
	const uint64_t most = sms - few, of_with = with % sms < most ? with % sms : most;
	uint64_t rounds = (groups + few - 1) / few, epochs = (rounds + residency - 1) / residency;
	uint64_t left_out = all / sms > rounds ? all / sms - rounds : 0;
	struct group_run *runs = calloc(rounds, sizeof *runs);
	if (!runs)
		return -ENOMEM;
	for (uint64_t r = 0; r < rounds; r++) {
		uint64_t epoch = r / residency, skipped = epochs > 1 ? left_out * epoch / (epochs - 1) : left_out / 2;
		uint64_t first = r * few, count = groups - first < few ? groups - first : few;
		uint64_t id = (r + skipped) * sms + (with == RUNS_ANY ? first_sm(epoch, most) : of_with);
		runs[r] = (struct group_run){first, id < all - count ? id : all - count};
	}
	*out = runs;
	*out_count = rounds;
	return 0;
}

uint64_t runs_id(const struct group_run *runs, size_t count, uint64_t n)
{
	size_t low = 0, high = count;
	while (high - low > 1) {
		size_t middle = low + (high - low) / 2;
		*(runs[middle].first <= n ? &low : &high) = middle;
	}
	return runs[low].id + (n - runs[low].first);
}
