/*
 * Computes the cost of one step from times.
 *
 *   median of repeats; slope = (time(high) - time(low)) / (high - low), so that what does not grow with the argument cancels
 *   spread of a slope = the two times' spreads, in ns, over their difference
 */
#include "runtime/cmd/tune/tune.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

static int by_size(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

void tune_median(double *samples, size_t count, struct tune_sample *s)
{
	qsort(samples, count, sizeof *samples, by_size);
	/* Something else on the machine may have disturbed one of several runs. */
	size_t last = count > 3 ? count - 2 : count - 1;
	s->ns = samples[count / 2];
	s->spread = s->ns > 0 ? (samples[last] - samples[0]) / s->ns : 0;
}

int tune_slope(struct tuner *t, struct tune_job *job, unsigned argument, uint32_t low, uint32_t high, struct tune_sample *s)
{
	struct tune_sample at_low, at_high;
	job->arguments[argument].number = low;
	int result = tune_run(t, job, &at_low);
	if (result)
		return result;
	job->arguments[argument].number = high;
	result = tune_run(t, job, &at_high);
	if (result)
		return result;
	double difference = at_high.ns - at_low.ns;
	s->ns = difference / (high - low);
	s->spread = difference > 0 ? (at_low.spread * at_low.ns + at_high.spread * at_high.ns) / 2 / difference : 1;
	if (!(difference > 0))
		return gs_fail(&t->error, ERANGE, "%s: more work takes no longer", job->kernel);
	return 0;
}

double tune_cycles(const struct tuner *t, double ns)
{
	return ns * t->clock_mhz / 1000;
}

struct tune_sample tune_step(const struct tuner *t, const struct tune_sample slopes[2], unsigned steps)
{
	double difference = slopes[1].ns - slopes[0].ns, noise = slopes[0].spread * slopes[0].ns + slopes[1].spread * slopes[1].ns;
	return (struct tune_sample){.ns = tune_cycles(t, difference / steps), .spread = difference > 0 ? noise / 2 / difference : 1};
}

double tune_whole(double cycles)
{
	double whole = floor(cycles + 0.5);
	if (whole > 0 && fabs(cycles - whole) <= 0.05 * whole)
		return whole;
	return floor(cycles * 10 + 0.5) / 10;
}

double tune_power(double value, double tolerance)
{
	if (!(value > 0))
		return value;
	double power = exp2(floor(log2(value) + 0.5));
	return fabs(value - power) <= tolerance * power ? power : floor(value * 100 + 0.5) / 100;
}

double tune_roundest(double least, double most)
{
	double power = 1;
	while (floor(most / (2 * power)) * 2 * power >= least && power < most)
		power *= 2;
	return floor(most / power) * power;
}
