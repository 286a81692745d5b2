/*
 * Occupancy vector: the queue of groups, with sampling within the launch (TBPoint, IV-B2).
 *
 * SMs run ahead of one another between the cycles in which they get groups. What an SM has executed by a time in between is
 * interpolated.
 */
#include "models/grid/dispatch.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

uint64_t ov_group_id(const struct ov_plan *plan, uint64_t n)
{
	if (plan->groups == plan->all)
		return n;
	if (plan->runs)
		return runs_id(plan->runs, plan->run_count, n);
	return (uint64_t)((double)n * (double)plan->all / (double)plan->groups);
}

double ov_done_at(const struct ov_sm *sm, struct ov_progress before, uint64_t time)
{
	uint64_t now = ov_time(sm);
	double cycles = (double)(now - before.time), share = time >= now ? 1 : (double)(time - before.time) / cycles;
	if (time <= before.time)
		return before.instructions;
	return before.instructions + share * (ov_done(sm) - before.instructions);
}

static double work_before(const struct ov_plan *plan, uint64_t n)
{
	return plan->work ? plan->work[n] : plan->group_work * (double)n;
}

static double asked_per_work(const struct ov_plan *plan, uint64_t first, uint64_t end)
{
	double work = work_before(plan, end) - work_before(plan, first);
	return work > 0 ? (plan->asked[end] - plan->asked[first]) / work : 0;
}

/* By how much the next groups ask memory for more or less per instruction than those whose rate they get. */
static double unlike_measured(const struct ov_dispatch *d, uint64_t groups)
{
	if (!d->plan->asked || !groups)
		return 0;
	double measured = asked_per_work(d->plan, d->sampler.measured_from, d->next);
	return measured > 0 ? fabs(asked_per_work(d->plan, d->next, d->next + groups) / measured - 1) : 0;
}

int ov_dispatch_init(struct ov_dispatch *d, const struct ov_plan *plan, const struct ov_machine *m)
{
	size_t all = (size_t)plan->sm_count * m->groups_per_sm;
	*d = (struct ov_dispatch){.plan = plan, .places = m->groups_per_sm, .in_place = malloc(all * sizeof *d->in_place), .fit = all,
	                          .ends = malloc(all * sizeof *d->ends)};
	d->turnaround = m->gpu->group_turnaround;
	d->sm_interval = m->gpu->group_interval;
	/* The SMs that are not simulated get their share of groups, too. */
	d->interval = m->gpu->grid_interval * (double)m->gpu->sm_count / (double)plan->sm_count;
	if (!d->in_place || !d->ends)
		return -ENOMEM;
	memset(d->in_place, 0xff, all * sizeof *d->in_place); /* OV_NO_GROUP */
	sampler_start(&d->sampler, plan->regions, plan->region_count, &plan->limits, plan->whole ? plan->whole : 1);
	d->sampler.interval = d->interval;
	return 0;
}

void ov_dispatch_free(struct ov_dispatch *d, struct ov_outcome *out)
{
	free(d->in_place);
	free(d->ends);
	out->skipped_instructions += d->sampler.skipped_instructions;
	out->skipped_cycles += d->sampler.skipped_cycles;
	out->spread_cycles += d->sampler.spread_cycles;
}

/* Groups that ended are taken back one after the other, an interval for each. */
static double take_back(const struct ov_dispatch *d, double free_at, uint64_t ended)
{
	return fmax(free_at, (double)ended) + d->interval;
}

/*
 * The distributor of groups fills a GPU that is empty as fast as SMs take groups. A group that follows another in its place has to wait
 * until the distributor has come to the end of that one: if groups end together, those that follow start one after the other.
 */
uint64_t ov_dispatch_start(const struct ov_dispatch *d, double free_at, const struct ov_sm *sm)
{
	double start = (double)sm->now;
	if (d->given > d->fit)
		start = fmax(start, free_at - (double)sm->jumped) + d->turnaround;
	if (sm->started)
		start = fmax(start, (double)sm->group_start + d->sm_interval);
	return (uint64_t)(start + 0.5);
}

void ov_dispatch_add_ends(struct ov_dispatch *d, const struct ov_sm *sm, uint32_t stands_for)
{
	for (uint32_t place = 0; place < d->places; place++)
		for (uint32_t i = 0; i < stands_for && sm->groups[place].ended; i++)
			d->ends[d->end_count++] = sm->groups[place].ended;
}

static int by_time(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;
	return *x < *y ? -1 : *x > *y;
}

void ov_dispatch_end(struct ov_dispatch *d, struct ov_outcome *out)
{
	if (!(d->interval > 0))
		return;
	double free_at = d->free_at;
	qsort(d->ends, d->end_count, sizeof *d->ends, by_time);
	for (uint64_t i = 0; i < d->end_count; i++)
		free_at = take_back(d, free_at, d->ends[i]);
	if (free_at > (double)out->cycles) {
		uint64_t more = (uint64_t)(free_at + 0.5) - out->cycles;
		out->by[CYCLES_launch] += more;
		out->cycles += more;
	}
}

uint64_t ov_dispatch_next(struct ov_dispatch *d, uint32_t sm, const struct ov_sm *state, uint64_t time, double done)
{
	const struct ov_plan *plan = d->plan;
	uint32_t place = 0;
	while (state->groups[place].live)
		place++;
	uint64_t *in_place = &d->in_place[(size_t)sm * d->places + place];
	bool follows = *in_place != OV_NO_GROUP;
	if (follows)
		sampler_retire(&d->sampler, *in_place, (double)time, done);
	*in_place = OV_NO_GROUP;
	if (d->next == plan->groups)
		return OV_NO_GROUP;
	uint64_t skips = sampler_skips(&d->sampler, d->next);
	sampler_skip(&d->sampler, skips, work_before(plan, d->next + skips) - work_before(plan, d->next), unlike_measured(d, skips));
	d->next += skips;
	if (d->next == plan->groups)
		return OV_NO_GROUP;
	sampler_dispatch(&d->sampler, d->next, (double)time, done);
	d->given++;
	if (follows)
		d->free_at = take_back(d, d->free_at, time);
	*in_place = plan->left_out && plan->left_out[d->next] ? OV_NO_GROUP : d->next;
	return d->next++;
}
