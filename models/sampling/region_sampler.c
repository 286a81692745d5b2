/*
 * Sampling of homogeneous regions.
 *
 *   enter: all groups in flight are of one region
 *   warm up: a sampling unit lasts from the start of a group to its end; when two that follow one another differ by less than
 *   the limit in instructions per cycle, caches are warm
 *   fast-forward: the region's other groups are skipped, their cycles being instructions / that rate
 *   exit: the next group is of another region, or of none
 * Source: Huang et al., TBPoint, IV-B2, Fig. 7, Table IV.
 */
#include "models/sampling/regions.h"

#include <math.h>
#include <string.h>

enum { ENDS = 2 }; /* of what was measured: a group more or less at each */

void sampler_start(struct region_sampler *s, const struct region *regions, size_t count, const struct region_limits *limits,
                   uint64_t whole)
{
	memset(s, 0, sizeof *s);
	s->regions = regions;
	s->count = count;
	s->limits = *limits;
	s->whole = whole;
}

static bool in_region(const struct region_sampler *s, uint64_t group)
{
	return s->at < s->count && group >= s->regions[s->at].first && group < s->regions[s->at].end;
}

static void leave_region(struct region_sampler *s)
{
	s->entered = s->forward = s->specified = s->continues = false;
	s->last_rate = s->rate = 0;
	s->inside = s->skip_end = s->dispatched = 0;
	s->units = 0;
}

static void come_to(struct region_sampler *s, uint64_t group)
{
	while (s->at < s->count && group >= s->regions[s->at].end) {
		leave_region(s);
		s->at++;
	}
}

uint64_t sampler_skips(struct region_sampler *s, uint64_t group)
{
	come_to(s, group);
	if (!s->forward || !in_region(s, group))
		return 0;
	if (!s->skip_end)
		s->skip_end = group + (s->regions[s->at].end - group) / s->whole * s->whole;
	return group < s->skip_end ? s->skip_end - group : 0;
}

void sampler_skip(struct region_sampler *s, uint64_t groups, double instructions, double unlike)
{
	if (!groups)
		return;
	/* Places that were full at first may have become rarer ever since, without the rate having shown it yet. */
	double cycles = fmax(instructions / s->rate, (double)groups * s->interval);
	s->skipped_groups += groups;
	s->skipped_instructions += instructions;
	s->skipped_cycles += cycles;
	s->spread_cycles += cycles * hypot(s->spread, unlike);
}

void sampler_dispatch(struct region_sampler *s, uint64_t group, double cycle, double instructions)
{
	come_to(s, group);
	bool inside = in_region(s, group);
	s->running++;
	s->inside += inside;
	if (s->continues) {
		s->continues = false;
		s->unit_group = group;
	}
	if (s->entered && !s->specified && !s->forward) {
		s->specified = true;
		s->unit_group = group;
		s->begins[s->units].cycle = cycle;
		s->begins[s->units].instructions = instructions;
		s->begins[s->units].dispatched = s->dispatched;
	}
	s->dispatched += inside;
	s->entered |= inside && s->inside == s->running;
}

/* The region's rate is that of the second half of its units: of the last one where there are two, as in the paper. Units follow one
 * another without a gap, so that what is in flight at their ends counts for less the more there are. */
static uint32_t first_unit(const struct region_sampler *s)
{
	return (s->units + 1) / 2;
}

/* Two units agree; a large region may go on until they agree better. */
static bool is_warm(const struct region_sampler *s)
{
	const struct region *r = &s->regions[s->at];
	double share = s->limits.fine_share * (double)(r->end - r->first), epochs = s->limits.fine_epochs * (double)s->whole;
	double measured = (double)(s->dispatched - s->begins[first_unit(s)].dispatched);
	bool enough = (double)s->dispatched >= fmin(share, epochs);
	return s->difference < s->limits.unit_difference &&
	       (enough || (s->difference < s->limits.fine && measured * s->limits.fine >= 1));
}

static double rate_since(const struct region_sampler *s, uint32_t unit, double cycle, double instructions)
{
	double cycles = cycle - s->begins[unit].cycle;
	return cycles > 0 ? (instructions - s->begins[unit].instructions) / cycles : 0;
}

/* By how much a unit's rate differs from the region's, relative. The last one ends now. */
static double unit_off(const struct region_sampler *s, uint32_t i, double cycle, double instructions)
{
	bool last = i == s->units;
	double cycles = (last ? cycle : s->begins[i + 1].cycle) - s->begins[i].cycle;
	double executed = (last ? instructions : s->begins[i + 1].instructions) - s->begins[i].instructions;
	return cycles > 0 ? fabs(executed / cycles / s->rate - 1) : 0;
}

/* Student's t: the mean of n units is so many of its standard errors away from what it is of all, at most, in 95% of cases. */
static double student(uint32_t units)
{
	static const double by_units[] = {12.71, 4.30, 3.18, 2.78, 2.57, 2.45, 2.36, 2.31, 2.26, 2.23}; /* of 2 units and more; two-sided */
	const uint32_t most = sizeof by_units / sizeof *by_units + 1;
	return by_units[(units < most ? units : most) - 2];
}

/* By how much the mean of the units from `first` on, two at least, may be off because they differ by chance. Groups run in waves, so
 * that two units may agree that are both off: it takes more units than two to know. No more than any unit was off since the region's first
 * wave, whose groups begin together. */
static double chance_of(const struct region_sampler *s, uint32_t first, double cycle, double instructions)
{
	double squares = 0, most = 0, units = s->units - first + 1;
	for (uint32_t i = 1; i <= s->units; i++) {
		double off = unit_off(s, i, cycle, instructions);
		most = fmax(most, off);
		squares += i >= first ? off * off : 0;
	}
	return fmin(most, student(s->units - first + 1) * sqrt(squares / (units - 1) / units));
}

/* The units from first_unit on. */
static double spread_of(const struct region_sampler *s, double cycle, double instructions)
{
	uint32_t first = first_unit(s);
	double measured = (double)(s->dispatched - s->begins[first].dispatched);
	double spread = fmax(s->difference, s->limits.fine); /* nothing finer was measured */
	spread = fmax(spread, ENDS / measured); /* a group more or less at either end of what was measured */
	for (uint32_t i = first; i <= s->units; i++)
		spread = fmax(spread, unit_off(s, i, cycle, instructions));
	return first < s->units ? fmax(spread, chance_of(s, first, cycle, instructions)) : spread;
}

static void end_unit(struct region_sampler *s, double cycle, double instructions)
{
	double rate = rate_since(s, s->units, cycle, instructions);
	s->specified = false;
	s->difference = s->last_rate > 0 ? fabs(rate - s->last_rate) / s->last_rate : 1;
	if (rate > 0 && is_warm(s)) {
		s->forward = true;
		s->rate = rate_since(s, first_unit(s), cycle, instructions);
		s->measured_from = s->regions[s->at].first + s->begins[first_unit(s)].dispatched;
		s->spread = spread_of(s, cycle, instructions);
	}
	s->last_rate = rate;
	s->units += s->units + 1 < REGION_UNITS;
}

void sampler_retire(struct region_sampler *s, uint64_t group, double cycle, double instructions)
{
	bool inside = in_region(s, group);
	s->running--;
	s->inside -= inside;
	/* A group that is short beside the others is no unit: the next one goes on with it. */
	if (s->specified && group == s->unit_group) {
		s->continues = s->dispatched - s->begins[s->units].dispatched < s->whole - s->whole / 8;
		if (!s->continues)
			end_unit(s, cycle, instructions);
	}
	s->entered |= s->running && s->inside == s->running;
}
