/*
 * What L2 holds before what is simulated.
 *
 *   a launch that fits:  all of it, but what is cold. Of a part from its midst, groups before it have asked for a line, too, if several groups
 *       do: of those that n groups ask for, one in n is still to be asked for first
 *   one that does not:   its last ranges, likewise, if it is simulated from its begin
 *   a part from its midst: what the launch itself keeps there. Under LRU a range has a share of the capacity, its share of all lines:
 *       a range that fits into its share is there whole;
 *       a range that any group asks for anywhere has as many lines as its share, spread evenly;
 *       a range that groups go through, each its own piece, has lines that nobody asks for again. Lines at the borders of pieces come once.
 * Lines of a range that is written are dirty, so each line that comes in sends one out. Without this, a part of a large
 * launch would find L2 empty, and its writes would cost nothing.
 */
#include "models/memory/warm.h"

enum { MOST_RANGES = 64 }; /* of memory; kernels hardly have more arguments. Further ones are left out */

struct warm_part {
	const struct memory_range *range;
	double lines;      /* of the capacity */
	double given, step; /* lines given so far; lines of the range between two of these */
	bool settled;
};

/* Lines of a range that a group brings to L2, about: neighbours share those at the borders of their pieces. */
static double coming(const struct memory_range *range)
{
	return !range->anywhere && range->times > 1 ? range->traffic / range->times : range->traffic;
}

/* Ranges that fit leave the rest of their part to the others. */
static void divide(struct warm_part *parts, size_t count, double capacity, uint64_t line)
{
	for (bool again = true; again;) {
		double traffic = 0, left = capacity;
		again = false;
		for (size_t i = 0; i < count; i++) {
			left -= parts[i].settled ? parts[i].lines : 0;
			traffic += parts[i].settled ? 0 : coming(parts[i].range);
		}
		for (size_t i = 0; i < count; i++) {
			double whole = (double)(parts[i].range->bytes / line);
			if (parts[i].settled)
				continue;
			parts[i].lines = traffic > 0 ? left * coming(parts[i].range) / traffic : 0;
			if (parts[i].lines < whole)
				continue;
			parts[i].lines = whole;
			parts[i].settled = again = true;
		}
	}
	for (size_t i = 0; i < count; i++)
		parts[i].step = parts[i].lines > 0 ? (double)(parts[i].range->bytes / line) / parts[i].lines : 1;
}

static void warm_next_line(struct warm_part *p, size_t n, uint64_t line, warm_fn *on_line, void *ctx)
{
	uint64_t at = (uint64_t)(p->given * (p->settled || p->range->anywhere ? p->step : 1)) * line;
	uint64_t base = p->settled || p->range->anywhere ? p->range->address / line * line : NO_LAUNCHS_MEMORY + ((uint64_t)n << 48);
	on_line(ctx, base + at, p->range->written);
	p->given++;
}

/* In turn, as they would have come. */
static void warm_steady(struct warm_part *parts, size_t count, uint64_t line, warm_fn *on_line, void *ctx)
{
	for (;;) {
		size_t next = count;
		double least = 1;
		for (size_t i = 0; i < count; i++)
			if (parts[i].given < parts[i].lines && parts[i].given / parts[i].lines < least) {
				least = parts[i].given / parts[i].lines;
				next = i;
			}
		if (next == count)
			return;
		warm_next_line(&parts[next], next, line, on_line, ctx);
	}
}

/* Of a range, if all of a launch is simulated, or a part from its midst. */
static double cold_in_part(const struct memory_range *range, bool steady)
{
	return steady && range->times > 1 ? range->cold / range->times : range->cold;
}

/* Cold lines are spread evenly, so that any part of the launch has its share of them. */
static bool is_cold(double share, uint64_t n)
{
	return share > 0 && (uint64_t)((double)(n + 1) * share) > (uint64_t)((double)n * share);
}

/* What is followed by more than the capacity is gone again. */
static void warm_last(const struct memory_range *ranges, size_t count, uint64_t all, uint64_t capacity, uint64_t line, bool steady,
                      warm_fn *on_line, void *ctx)
{
	for (size_t i = 0; i < count; i++) {
		uint64_t skip = all > 2 * capacity ? all - 2 * capacity : 0, end = ranges[i].address + ranges[i].bytes;
		skip = skip < ranges[i].bytes ? skip : ranges[i].bytes;
		all -= ranges[i].bytes;
		double cold = cold_in_part(&ranges[i], steady);
		for (uint64_t at = (ranges[i].address + skip) / line * line; at < end && cold < 1; at += line)
			if (!is_cold(cold, at / line))
				on_line(ctx, at, false);
	}
}

void warm_lines(const struct memory_range *ranges, size_t count, uint64_t capacity, uint64_t line, bool steady, warm_fn *on_line,
                void *ctx)
{
	struct warm_part parts[MOST_RANGES] = {0};
	uint64_t all = 0;
	for (size_t i = 0; i < count; i++)
		all += ranges[i].bytes;
	if (!steady || all <= capacity) {
		warm_last(ranges, count, all, capacity, line, steady, on_line, ctx);
		return;
	}
	count = count < MOST_RANGES ? count : MOST_RANGES;
	for (size_t i = 0; i < count; i++)
		parts[i].range = &ranges[i];
	divide(parts, count, (double)(capacity / line), line);
	warm_steady(parts, count, line, on_line, ctx);
}
