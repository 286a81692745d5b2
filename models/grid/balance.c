/*
 * The time of the SM that ends last, without a simulation.
 *
 *   groups go to SMs in turn, then to the one that has room first
 *   shared: the n groups of an SM go on at 1 / n of its rate, and end after as many instructions as they have. Where schedulers take the oldest warp
 *           that can go on, the oldest group has all of the rate: long groups do not stay for as long as short ones come and go
 *   issue:  so do the n groups that have warps of a scheduler, with the instructions of these warps. A group ends with the last of its warps
 *   alone:  a group ends after the instructions of its longest warp
 * Only ratios of such times are used: those of all SMs over those of some.
 */
#include "models/grid/balance.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

/* Of launches with more groups, none matters much. Bounds the time: 10 ms. */
enum { MOST_GROUPS = 1 << 16 };

/* What groups are spread over. */
enum spread_over {
	OVER_SMS,        /* shared */
	OVER_SCHEDULERS, /* issue */
	ALONE,
};

struct spread_groups {
	const struct ov_work *work;
	const struct ov_plan *plan;
	enum spread_over over;
	uint32_t sms, places;
	uint32_t parts; /* of an SM that do not help one another: its schedulers, or 1 */
	uint64_t groups, next;
	double *left;   /* by SM, part and place; negative: nothing is there */
	bool in_turn;   /* its groups, the oldest first */
	uint64_t *age;  /* by SM and place: the number of its group */
	double *now;    /* by SM: of its last change */
	double *first;  /* by SM: when its next group, or part of one, ends; INFINITY: none is there */
};

static uint64_t pattern_of(const struct spread_groups *s, uint64_t n)
{
	return warps_pattern(s->work->warps, ov_group_id(s->plan, n));
}

static double *place_of(const struct spread_groups *s, uint32_t sm, uint32_t part, uint32_t place)
{
	return &s->left[((size_t)sm * s->parts + part) * s->places + place];
}

/* The warps of an SM's places go to its schedulers in turn (models/sm/sm.c). */
static void give_to_schedulers(struct spread_groups *s, uint32_t sm, uint32_t place, uint64_t pattern)
{
	const struct launch_warps *w = s->work->warps;
	for (uint32_t i = 0; i < w->warps_per_group; i++) {
		double *left = place_of(s, sm, (uint32_t)(((uint64_t)place * w->warps_per_group + i) % s->parts), place);
		*left = fmax(*left, 0) + s->work->paths[w->path_of[pattern * w->warps_per_group + i]].warp_instructions;
	}
}

/* The next group, if there is any, in an empty place. */
static void give_group(struct spread_groups *s, uint32_t sm, uint32_t place)
{
	if (s->next == s->groups)
		return;
	s->age[(size_t)sm * s->places + place] = s->next;
	uint64_t pattern = pattern_of(s, s->next++);
	const struct group_work *w = &s->work->pattern[pattern];
	if (s->over == OVER_SCHEDULERS)
		give_to_schedulers(s, sm, place, pattern);
	else
		*place_of(s, sm, 0, place) = s->over == OVER_SMS ? w->warp_instructions : w->longest;
}

/* Of the groups that are in a part of an SM, all the same, or that of the oldest one, which is *oldest; else that is UINT32_MAX. */
static double rate_of(const struct spread_groups *s, uint32_t sm, const double *left, uint32_t *oldest)
{
	const uint64_t *age = &s->age[(size_t)sm * s->places];
	uint32_t live = 0;
	*oldest = UINT32_MAX;
	for (uint32_t p = 0; p < s->places; p++) {
		live += left[p] >= 0;
		if (s->in_turn && left[p] >= 0 && (*oldest == UINT32_MAX || age[p] < age[*oldest]))
			*oldest = p;
	}
	return s->over != ALONE && !s->in_turn && live ? 1.0 / live : 1;
}

static bool goes_on(const double *left, uint32_t place, uint32_t oldest)
{
	return left[place] >= 0 && (oldest == UINT32_MAX || place == oldest);
}

static void find_first(struct spread_groups *s, uint32_t sm)
{
	double soonest = INFINITY;
	for (uint32_t part = 0; part < s->parts; part++) {
		const double *left = place_of(s, sm, part, 0);
		uint32_t oldest;
		double least = INFINITY, rate = rate_of(s, sm, left, &oldest);
		for (uint32_t p = 0; p < s->places; p++)
			least = goes_on(left, p, oldest) ? fmin(least, left[p]) : least;
		soonest = fmin(soonest, least / rate);
	}
	s->first[sm] = s->now[sm] + soonest;
}

static bool is_empty(const struct spread_groups *s, uint32_t sm, uint32_t place)
{
	for (uint32_t part = 0; part < s->parts; part++)
		if (*place_of(s, sm, part, place) >= 0)
			return false;
	return true;
}

/* An SM goes on until its next group ends. Others take its place, as long as there are any. */
static void end_group(struct spread_groups *s, uint32_t sm)
{
	double cycles = s->first[sm] - s->now[sm], rounding = 1e-9 * s->first[sm];
	s->now[sm] = s->first[sm];
	for (uint32_t part = 0; part < s->parts; part++) {
		uint32_t oldest;
		double *left = place_of(s, sm, part, 0), done = cycles * rate_of(s, sm, left, &oldest);
		for (uint32_t p = 0; p < s->places; p++)
			if (goes_on(left, p, oldest))
				left[p] = left[p] - done > rounding ? left[p] - done : -1;
	}
	for (uint32_t p = 0; p < s->places; p++)
		if (is_empty(s, sm, p))
			give_group(s, sm, p);
	find_first(s, sm);
}

static void fill_sms(struct spread_groups *s)
{
	for (size_t i = 0; i < (size_t)s->sms * s->parts * s->places; i++)
		s->left[i] = -1;
	for (uint32_t p = 0; p < s->places; p++)
		for (uint32_t i = 0; i < s->sms; i++)
			give_group(s, i, p);
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

static int find_time(const struct ov_work *work, const struct ov_plan *plan, uint32_t sms, uint32_t residency, enum spread_over over, double *time)
{
	struct spread_groups s = {.work = work, .plan = plan, .over = over, .sms = sms, .places = residency, .groups = plan->groups};
	s.parts = over == OVER_SCHEDULERS ? work->gpu->schedulers_per_sm : 1;
	s.left = calloc((size_t)sms * s.parts * residency, sizeof *s.left);
	enum gpu_scheduler_policy policy = work->gpu->scheduler_policy;
	s.in_turn = over != ALONE && (policy == GPU_SCHEDULER_gto || policy == GPU_SCHEDULER_oldest);
	s.age = calloc((size_t)sms * residency, sizeof *s.age);
	s.now = calloc(sms, sizeof *s.now);
	s.first = calloc(sms, sizeof *s.first);
	int rc = s.left && s.age && s.now && s.first ? 0 : -ENOMEM;
	if (!rc)
		*time = time_of_last(&s);
	free(s.left);
	free(s.age);
	free(s.now);
	free(s.first);
	return rc;
}

static int find_ratio(const struct ov_work *work, const struct ov_plan *plan, uint32_t residency, enum spread_over over, double *ratio)
{
	const struct ov_plan all = {.groups = plan->all, .all = plan->all};
	double of_all = 0, of_some = 0;
	int rc = find_time(work, &all, work->gpu->sm_count, residency, over, &of_all);
	if (!rc)
		rc = find_time(work, plan, plan->sm_count, residency, over, &of_some);
	*ratio = of_some > 0 ? of_all / of_some : 1;
	return rc;
}

/* Whether warps of a group differ: else all schedulers of an SM have as much to do. */
static bool has_uneven_groups(const struct ov_work *work)
{
	const struct launch_warps *w = work->warps;
	for (uint64_t g = 0; g < w->pattern_groups; g++)
		if (work->pattern[g].warp_instructions < (1 - 1e-9) * work->pattern[g].longest * w->warps_per_group)
			return true;
	return w->warps_per_group % work->gpu->schedulers_per_sm != 0;
}

int balance_of(const struct ov_work *work, const struct ov_plan *plan, uint32_t residency, struct balance *out)
{
	*out = (struct balance){0};
	for (uint64_t n = 0; n < plan->groups; n++)
		out->work += work->pattern[warps_pattern(work->warps, ov_group_id(plan, n))].warp_instructions;
	out->shared = out->alone = out->work > 0 ? work->instructions / work->gpu->sm_count / (out->work / plan->sm_count) : 1;
	out->issue = out->shared;
	out->counted = plan->all <= MOST_GROUPS;
	if (!out->counted)
		return 0;
	int rc = find_ratio(work, plan, residency, OVER_SMS, &out->shared);
	out->issue = out->shared;
	if (!rc && work->gpu->sub_cores && has_uneven_groups(work))
		rc = find_ratio(work, plan, residency, OVER_SCHEDULERS, &out->issue);
	return rc ? rc : find_ratio(work, plan, residency, ALONE, &out->alone);
}

double balance_doubt(const struct balance *b, const struct ov_plan *plan, double share)
{
	if (plan->groups >= plan->all || !(b->work > 0) || !(share > 0))
		return 0;
	if (!b->counted)
		return plan->groups > plan->sm_count ? (double)plan->sm_count / (double)plan->groups : 0;
	double common = share / b->work;
	double most = fmax(fmax(b->shared, b->issue), fmax(b->alone, common)), least = fmin(fmin(b->shared, b->issue), fmin(b->alone, common));
	return (most - least) / (most + least);
}
