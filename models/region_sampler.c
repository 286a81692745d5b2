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
#include "models/regions.h"

#include <math.h>
#include <string.h>

void sampler_start(struct region_sampler *s, const struct region *regions, size_t count, const struct region_limits *limits)
{
	memset(s, 0, sizeof *s);
	s->regions = regions;
	s->count = count;
	s->unit_difference = limits->unit_difference;
}

static bool in_region(const struct region_sampler *s, uint64_t group)
{
	return s->at < s->count && group >= s->regions[s->at].first && group < s->regions[s->at].end;
}

static void leave_region(struct region_sampler *s)
{
	s->entered = s->forward = s->specified = false;
	s->last_rate = s->rate = 0;
	s->inside = 0;
}

bool sampler_dispatch(struct region_sampler *s, uint64_t group, double cycle, double instructions, double own)
{
	while (s->at < s->count && group >= s->regions[s->at].end) {
		leave_region(s);
		s->at++;
	}
	bool inside = in_region(s, group);
	if (inside && s->forward) {
		s->skipped_groups++;
		s->skipped_instructions += own;
		s->skipped_cycles += own / s->rate;
		return false;
	}
	s->running++;
	s->inside += inside;
	if (s->entered && !s->specified) {
		s->specified = true;
		s->unit_group = group;
		s->unit_cycle = cycle;
		s->unit_instructions = instructions;
	}
	s->entered |= inside && s->inside == s->running;
	return true;
}

static void end_unit(struct region_sampler *s, double cycle, double instructions)
{
	double rate = cycle > s->unit_cycle ? (instructions - s->unit_instructions) / (cycle - s->unit_cycle) : 0;
	s->specified = false;
	if (rate > 0 && s->last_rate > 0 && fabs(rate - s->last_rate) < s->unit_difference * s->last_rate) {
		s->forward = true;
		s->rate = rate;
	}
	s->last_rate = rate;
}

void sampler_retire(struct region_sampler *s, uint64_t group, double cycle, double instructions)
{
	bool inside = in_region(s, group);
	s->running--;
	s->inside -= inside;
	if (s->specified && group == s->unit_group)
		end_unit(s, cycle, instructions);
	s->entered |= s->running && s->inside == s->running;
}
