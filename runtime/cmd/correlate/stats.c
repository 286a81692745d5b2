/* Statistics of observations; see correlate.h. */
#include "runtime/cmd/correlate/correlate.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define METRIC(name, truth, divisor, estimate, kind) {#name, truth, divisor, estimate, METRIC_##kind},
const struct metric metrics[METRIC_COUNT] = {
#include "runtime/cmd/correlate/correlate.def"
};
#undef METRIC

bool selected(const struct observation *o, const struct selection *s)
{
	return o->metric == s->metric && (!s->group || !strcmp(s->group, o->group)) &&
	       (!s->kernel || !strcmp(s->kernel, o->kernel)) && (!s->half || s->half == o->half);
}

double observation_error(const struct observation *o)
{
	return metrics[o->metric].kind == METRIC_RATE ? o->estimate - o->truth : o->estimate / o->truth - 1;
}

static int ascending(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Pearson's correlation of n points. */
static double correlation_of(const double *x, const double *y, size_t n)
{
	double mx = 0, my = 0, xx = 0, yy = 0, xy = 0;
	for (size_t i = 0; i < n; i++) {
		mx += x[i] / (double)n;
		my += y[i] / (double)n;
	}
	for (size_t i = 0; i < n; i++) {
		xx += (x[i] - mx) * (x[i] - mx);
		yy += (y[i] - my) * (y[i] - my);
		xy += (x[i] - mx) * (y[i] - my);
	}
	return n < 3 || xx <= 0 || yy <= 0 ? NAN : xy / sqrt(xx * yy);
}

static void add_error(const struct observation *o, double *x, double *y, double *errors, struct statistics *s)
{
	bool rate = metrics[o->metric].kind == METRIC_RATE;
	double error = observation_error(o);
	x[s->count] = rate ? o->truth : log(o->truth);
	/* An estimate of 0 has no logarithm, so it is taken as 1. */
	y[s->count] = rate ? o->estimate : log(o->estimate > 0 ? o->estimate : 1);
	errors[s->count++] = fabs(error);
	s->mean += fabs(error);
	s->bias += error;
	if (!s->worst_name || fabs(error) > fabs(s->worst)) {
		s->worst = error;
		s->worst_name = o->name;
	}
}

int statistics_of(const struct correlation *c, const struct selection *sel, struct statistics *out, struct gs_error *err)
{
	double *room = calloc(3 * c->count + 1, sizeof *room);
	if (!room)
		return gs_fail(err, ENOMEM, "out of memory");
	double *x = room, *y = room + c->count, *errors = y + c->count;
	*out = (struct statistics){.correlation = NAN};
	for (size_t i = 0; i < c->count; i++)
		if (selected(&c->list[i], sel) && c->list[i].why[0])
			out->left_out++;
		else if (selected(&c->list[i], sel))
			add_error(&c->list[i], x, y, errors, out);
	if (out->count) {
		size_t n = out->count;
		out->mean /= (double)n;
		out->bias /= (double)n;
		out->correlation = correlation_of(x, y, n);
		qsort(errors, n, sizeof *errors, ascending);
		out->median = n % 2 ? errors[n / 2] : (errors[n / 2 - 1] + errors[n / 2]) / 2;
	}
	free(room);
	return 0;
}

size_t count_within(const struct correlation *c, const struct selection *s, double most)
{
	size_t count = 0;
	for (size_t i = 0; i < c->count; i++)
		count += selected(&c->list[i], s) && !c->list[i].why[0] && fabs(observation_error(&c->list[i])) <= most;
	return count;
}
