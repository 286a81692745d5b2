/*
 * Which group of a pattern stands for which of a launch (warps.h).
 *
 *   window i = pattern groups i W .. min((i + 1) W, P) - 1, for the groups from ceil(i W G / P) to the next window's first
 */
#include "models/warps/warps.h"

#include "models/util/hash.h"

#include <math.h>

static uint64_t first_of_window(const struct launch_warps *w, uint64_t window)
{
	__uint128_t at = (__uint128_t)window * WARPS_WINDOW, pattern = w->pattern_groups;
	return at < pattern ? (uint64_t)((at * w->groups + pattern - 1) / pattern) : w->groups;
}

static uint64_t window_size(const struct launch_warps *w, uint64_t window)
{
	uint64_t left = w->pattern_groups - window * WARPS_WINDOW;
	return left < WARPS_WINDOW ? left : WARPS_WINDOW;
}

uint64_t warps_pattern(const struct launch_warps *w, uint64_t group)
{
	if (!w->pattern_in_order || w->pattern_groups >= w->groups || group >= w->groups)
		return group % w->pattern_groups;
	uint64_t window = (uint64_t)((__uint128_t)group * w->pattern_groups / w->groups) / WARPS_WINDOW;
	return window * WARPS_WINDOW + (group - first_of_window(w, window)) % window_size(w, window);
}

uint64_t warps_pattern_times(const struct launch_warps *w, uint64_t pattern)
{
	if (!w->pattern_in_order || w->pattern_groups >= w->groups)
		return w->groups / w->pattern_groups + (pattern < w->groups % w->pattern_groups);
	uint64_t window = pattern / WARPS_WINDOW, size = window_size(w, window);
	uint64_t groups = first_of_window(w, window + 1) - first_of_window(w, window);
	return groups / size + (pattern % WARPS_WINDOW < groups % size);
}

/* Bytes of whole rounds, and of the iterations of a part of one. What stays in a sector for several iterations moves by whole rounds: where
 * it is within its sector is known of the iterations of the window only. */
static uint64_t moved_evenly(int64_t step, double rounds, double iterations)
{
	enum { SECTOR = 32 }; /* as of struct memory_part */
	if (fabs((double)step) < iterations * SECTOR)
		rounds = floor(rounds + 0.5);
	int64_t whole = (int64_t)rounds;
	double part = floor((rounds - (double)whole) * iterations + 0.5);
	return (uint64_t)(step * whole + (part > 0 ? (int64_t)((double)step * part / iterations) : 0));
}

uint64_t round_address(const struct round_shift *s, uint64_t address, double rounds, double iterations, uint64_t group, uint64_t line_bytes)
{
	if (!(rounds > 0) || (s->chance && s->bytes <= line_bytes))
		return address;
	uint64_t by = s->chance ? hash_high((uint64_t)(rounds + 0.5) * 1000003 + group) >> 16 : moved_evenly(s->step, rounds, iterations);
	if (!s->bytes)
		return address + by;
	int64_t at = (int64_t)(address - s->low + (s->chance ? by % s->bytes : by)) % (int64_t)s->bytes;
	uint64_t to = s->low + (uint64_t)(at < 0 ? at + (int64_t)s->bytes : at);
	return s->chance ? to / line_bytes * line_bytes + address % line_bytes : to;
}

/* How often a round is done in all. */
static double times_of(const struct path_gap *gaps, int32_t g)
{
	double times = 1;
	for (; g >= 0; g = gaps[g].outer)
		times *= 1 + gaps[g].rounds;
	return times;
}

/* The window of the same loop that begins where this one ends; -1: there is none, or what the loop does changes there. */
static int32_t next_window(const uint32_t *blocks, const struct path_gap *gaps, size_t gap_count, size_t g)
{
	static const double same = 0.02; /* instructions of an iteration */
	size_t n = g + 1;
	while (n < gap_count && gaps[n].from >= gaps[g].at && (gaps[n].from > gaps[g].at || gaps[n].outer != gaps[g].outer))
		n++;
	if (n == gap_count || gaps[n].from != gaps[g].at || blocks[gaps[n].from] != blocks[gaps[g].from])
		return -1;
	double a = gaps[g].work / gaps[g].iterations, b = gaps[n].work / gaps[n].iterations;
	return fabs(a - b) <= same * a ? (int32_t)n : -1;
}

static bool has_inner(const struct path_gap *gaps, size_t g)
{
	return g > 0 && gaps[g - 1].from >= gaps[g].from;
}

/* Whether a warp in a window may as well be in the next one. */
static bool enters_next(const uint32_t *blocks, const struct path_gap *gaps, size_t g, size_t next)
{
	uint32_t a = gaps[g].at - gaps[g].from, b = gaps[next].at - gaps[next].from;
	bool same = a > 0 && b > 0 && !has_inner(gaps, g) && !has_inner(gaps, next);
	for (uint32_t i = 0; same && i < (a > b ? a : b); i++)
		same = blocks[gaps[g].from + i % a] == blocks[gaps[next].from + i % b];
	return same;
}

static void order_windows(const uint32_t *blocks, struct path_gap *gaps, size_t gap_count)
{
	for (size_t g = 0; g < gap_count; g++) {
		gaps[g].first = (int32_t)g;
		gaps[g].before = 0;
	}
	for (size_t g = 0; g < gap_count; g++) {
		int32_t next = gaps[g].next = next_window(blocks, gaps, gap_count, g);
		gaps[g].enters_next = next >= 0 && enters_next(blocks, gaps, g, (size_t)next);
		if (next < 0)
			continue;
		gaps[next].first = gaps[g].first;
		gaps[next].before = gaps[g].before + (1 + gaps[g].rounds) * gaps[g].iterations;
	}
}

double path_instructions(const struct kernel_code *code, const struct warp_path *path)
{
	double sum = 0;
	for (size_t i = 0; i < path->block_count; i++)
		sum += path_weight(path, i) * code->blocks[path->blocks[i]].count;
	return sum;
}

void path_weigh(const struct kernel_code *code, const uint32_t *blocks, size_t block_count, struct path_gap *gaps, size_t gap_count,
                double *weights)
{
	for (size_t b = 0; b < block_count; b++)
		weights[b] = 1;
	for (size_t g = 0; g < gap_count; g++) {
		uint64_t instructions = 0;
		for (size_t b = gaps[g].from; b < gaps[g].at && b < block_count; b++)
			instructions += code->blocks[blocks[b]].count;
		gaps[g].rounds = instructions ? gaps[g].rounds : 0;
		for (size_t b = gaps[g].from; b < gaps[g].at && b < block_count; b++)
			weights[b] *= 1 + gaps[g].rounds;
	}
	for (size_t g = 0; g < gap_count; g++) {
		gaps[g].work = 0;
		for (size_t b = gaps[g].from; b < gaps[g].at && b < block_count; b++)
			gaps[g].work += weights[b] * code->blocks[blocks[b]].count;
		gaps[g].work /= times_of(gaps, (int32_t)g);
	}
	order_windows(blocks, gaps, gap_count);
}
