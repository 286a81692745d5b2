/* Who is tried at the end of a run; see allot.h. */
#include "runtime/estimates/allot.h"

#include <math.h>

static double times_from(const struct trial_candidate *list, size_t from, size_t count)
{
	double sum = 0;
	for (size_t i = from; i < count; i++)
		sum += list[i].share;
	return sum;
}

/* Groups that trials fit in, with one more trial for the launch as it is: whole waves. 0: not even one does. */
static uint64_t part_for(const struct trial_candidate *c, double work)
{
	double waves = c->at_once && c->executed > 0 ? (double)c->groups * work / (c->wanted + 1) / c->executed / (double)c->at_once : 0;
	return waves >= 1 && floor(waves) * (double)c->at_once < (double)c->groups ? (uint64_t)floor(waves) * c->at_once : 0;
}

/* Returns what it takes. */
static double allot(struct trial_candidate *c, double work)
{
	double each = fmax(c->simulated, 1), fit = work / each;
	c->trials = 0;
	c->part = 0;
	c->on = 0;
	if (fit >= c->wanted) {
		c->trials = c->wanted;
		return c->wanted * each;
	}
	if ((c->part = part_for(c, work))) {
		c->trials = c->wanted;
		return (c->wanted + 1) * c->executed * (double)c->part / (double)c->groups;
	}
	c->trials = floor(fit);
	if (c->least_on > 0 && fit >= 2 * c->least_on) { /* the launch as it is, and one trial, at least */
		c->on = fmax(fit / (c->wanted + 1), c->least_on);
		c->trials = fmin(c->wanted, fit / c->on - 1);
		return (c->trials + 1) * c->on * each;
	}
	return c->trials * each;
}

double allot_trials(struct trial_candidate *list, size_t count, double work)
{
	double left = work;
	for (size_t i = 0; i < count; i++) {
		struct trial_candidate *c = &list[i];
		double all = times_from(list, i, count), taken = allot(c, all > 0 ? left * c->share / all : 0);
		if (c->trials < fmin(c->wanted, 1)) /* rather a few trials of a long kernel than many of short ones */
			taken = allot(c, left);
		left -= taken;
	}
	return work - left;
}
