/*
 * The time of the SM that ends last, without a simulation.
 *
 *   groups go to SMs in turn, then to the one that has room first
 *   shared: the n groups of an SM go on at 1 / n of its rate, and end after as many instructions as they have
 *   alone:  a group ends after the instructions of its longest warp
 * Only ratios of such times are used: those of all SMs over those of some.
 */
#include "models/grid/balance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Of launches with more groups, none matters much. Bounds the time: 10 ms. */
enum { MOST_GROUPS = 1 << 16 };

struct spread_groups {
	const struct ov_work *work;
	const struct ov_plan *plan;
	bool shared;
	uint32_t sms, places;
	uint64_t groups, next;
	double *left;   /* by SM and place; negative: nothing is there */
	double *now;    /* by SM: of its last change */
	double *first;  /* by SM: when its next group ends; INFINITY: none is there */
};

static double length_of(const struct spread_groups *s, uint64_t n)
{
	const struct group_work *w = &s->work->pattern[warps_pattern(s->work->warps, ov_group_id(s->plan, n))];
	return s->shared ? w->warp_instructions : w->longest;
}

static double rate_of(const struct spread_groups *s, const double *left)
{
	uint32_t live = 0;
	for (uint32_t p = 0; p < s->places; p++)
		live += left[p] >= 0;
	return s->shared && live ? 1.0 / live : 1;
}

static void find_first(struct spread_groups *s, uint32_t sm)
{
	const double *left = &s->left[(size_t)sm * s->places];
	double least = INFINITY;
	for (uint32_t p = 0; p < s->places; p++)
		least = left[p] >= 0 ? fmin(least, left[p]) : least;
	s->first[sm] = s->now[sm] + least / rate_of(s, left);
}

/* An SM goes on until its next group ends. Others take its place, as long as there are any. */
static void end_group(struct spread_groups *s, uint32_t sm)
{
	double *left = &s->left[(size_t)sm * s->places], done = (s->first[sm] - s->now[sm]) * rate_of(s, left);
	double rounding = 1e-9 * s->first[sm];
	s->now[sm] = s->first[sm];
	for (uint32_t p = 0; p < s->places; p++) {
		if (left[p] < 0)
			continue;
		left[p] = left[p] - done > rounding ? left[p] - done : -1;
		if (left[p] < 0 && s->next < s->groups)
			left[p] = length_of(s, s->next++);
	}
	find_first(s, sm);
}

static void fill_sms(struct spread_groups *s)
{
	for (uint32_t p = 0; p < s->places; p++)
		for (uint32_t i = 0; i < s->sms; i++)
			s->left[(size_t)i * s->places + p] = s->next < s->groups ? length_of(s, s->next++) : -1;
	for (uint32_t i = 0; i < s->sms; i++)
		find_first(s, i);
}

static double time_of_last(struct spread_groups *s)
{
	double last = 0;
	fill_sms(s);
	for (;;) {
		uint32_t sm = 0;
		for (uint32_t i = 1; i < s->sms; i++)
			sm = s->first[i] < s->first[sm] ? i : sm;
		if (isinf(s->first[sm]))
			return last;
		last = s->first[sm];
		end_group(s, sm);
	}
}

static int find_time(const struct ov_work *work, const struct ov_plan *plan, uint32_t sms, uint32_t residency, bool shared, double *time)
{
	struct spread_groups s = {.work = work, .plan = plan, .shared = shared, .sms = sms, .places = residency, .groups = plan->groups};
	s.left = calloc((size_t)sms * residency, sizeof *s.left);
	s.now = calloc(sms, sizeof *s.now);
	s.first = calloc(sms, sizeof *s.first);
	int rc = s.left && s.now && s.first ? 0 : -ENOMEM;
	if (!rc)
		*time = time_of_last(&s);
	free(s.left);
	free(s.now);
	free(s.first);
	return rc;
}

static int find_ratio(const struct ov_work *work, const struct ov_plan *plan, uint32_t residency, bool shared, double *ratio)
{
	const struct ov_plan all = {.groups = plan->all, .all = plan->all};
	double of_all = 0, of_some = 0;
	int rc = find_time(work, &all, work->gpu->sm_count, residency, shared, &of_all);
	if (!rc)
		rc = find_time(work, plan, plan->sm_count, residency, shared, &of_some);
	*ratio = of_some > 0 ? of_all / of_some : 1;
	return rc;
}

int balance_of(const struct ov_work *work, const struct ov_plan *plan, uint32_t residency, struct balance *out)
{
	*out = (struct balance){0};
	for (uint64_t n = 0; n < plan->groups; n++)
		out->work += work->pattern[warps_pattern(work->warps, ov_group_id(plan, n))].warp_instructions;
	out->shared = out->alone = out->work > 0 ? work->instructions / work->gpu->sm_count / (out->work / plan->sm_count) : 1;
	if (plan->all > MOST_GROUPS)
		return 0;
	int rc = find_ratio(work, plan, residency, true, &out->shared);
	return rc ? rc : find_ratio(work, plan, residency, false, &out->alone);
}
