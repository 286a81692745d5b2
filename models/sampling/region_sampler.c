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
	s->skipped_groups += groups;
	s->skipped_instructions += instructions;
	s->skipped_cycles += instructions / s->rate;
	s->spread_cycles += instructions / s->rate * hypot(s->spread, unlike);
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

/* The units from first_unit on. The last one ends now. */
static double spread_of(const struct region_sampler *s, double cycle, double instructions)
{
	double measured = (double)(s->dispatched - s->begins[first_unit(s)].dispatched);
	double spread = fmax(s->difference, s->limits.fine); /* nothing finer was measured */
	spread = fmax(spread, ENDS / measured); /* a group more or less at either end of what was measured */
	for (uint32_t i = first_unit(s); i <= s->units; i++) {
		bool last = i == s->units;
		double cycles = (last ? cycle : s->begins[i + 1].cycle) - s->begins[i].cycle;
		double executed = (last ? instructions : s->begins[i + 1].instructions) - s->begins[i].instructions;
		if (cycles > 0)
			spread = fmax(spread, fabs(executed / cycles / s->rate - 1));
	}
	return spread;
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
