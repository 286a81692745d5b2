/*
 * Where groups do the same, a part of the SMs, with its share of memory, takes as long as all of them.
 *
 *   d: standard deviation over groups, relative to the mean, of instructions, of those of the longest warp, and of parts of requests
 *   d <= SAME in all, and groups that were not traced move by fixed steps: a quarter of the SMs
 *   d <= LIKE in all: half of them
 * How far off that is, is in docs/notes/sampling.md. Atomic operations on global memory meet in one place from all SMs, and wait for less where
 * there are fewer: two histograms came out 3% too fast.
 */
#include "models/sampling/alike.h"

#include <math.h>

#define SAME 0.02
#define LIKE 0.1 /* TBPoint (V-A) calls launches alike up to there */
#define FIXED_STEPS 0.01 /* as of stand_in of struct launch_warps */

/* Steps that are not worth an error: what comes before the simulation, trace and warps, takes as long. */
static const double enough = 60000;
/* SMs that have groups. The launch ends with the last of them, and the last of few is early: with 8 of 32, errors were twice as large. */
static const double least_busy = 16;

static bool has_global_atomics(const struct kernel_code *code)
{
	for (uint32_t i = 0; i < code->code_count; i++)
		if (code->code[i].class == CODE_atomic && code->code[i].space != SPACE_shared)
			return true;
	return false;
}

/* Sums over the launch's groups: of what they do, and of its square. */
struct group_sums {
	double groups, sum, squares;
};

static void add(struct group_sums *m, double times, double value)
{
	m->groups += times;
	m->sum += times * value;
	m->squares += times * value * value;
}

static double deviation(const struct group_sums *m)
{
	double mean = m->sum / m->groups;
	return m->sum > 0 ? sqrt(fmax(m->squares / m->groups / (mean * mean) - 1, 0)) : 0;
}

/* The largest deviation of what groups do. */
static double groups_differ(const struct launch_warps *w, const struct group_work *pattern)
{
	struct group_sums instructions = {0}, longest = {0}, traffic = {0};
	for (uint64_t g = 0; g < w->pattern_groups; g++) {
		double times = (double)warps_pattern_times(w, g);
		add(&instructions, times, pattern[g].warp_instructions);
		add(&longest, times, pattern[g].longest);
		add(&traffic, times, pattern[g].traffic);
	}
	return fmax(fmax(deviation(&instructions), deviation(&longest)), deviation(&traffic));
}

double alike_share(const struct launch_warps *w, const struct group_work *pattern, uint32_t sms, double steps)
{
	double share = fmax(enough / steps, least_busy / fmin((double)w->groups, sms));
	if (share > ALIKE_MOST_SHARE || has_global_atomics(w->code))
		return 1;
	double apart = groups_differ(w, pattern);
	bool same = apart <= SAME && w->stand_in <= FIXED_STEPS;
	return same ? fmax(share, 0.25) : apart <= LIKE ? fmax(share, 0.5) : 1;
}
