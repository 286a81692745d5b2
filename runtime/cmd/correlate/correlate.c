/* gpusim correlate: how far estimates are from truth (measured values), over a set of cases; see correlate.h. */
#include "runtime/cmd/correlate/correlate.h"

#include "runtime/cmd/cmd.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Demands that at least `count` cases of a metric are within `percent`. */
struct demand {
	enum metric_id metric;
	double percent;
	size_t count;
};

enum { MOST_DEMANDS = 16 };

struct correlate_arguments {
	struct correlation c;
	const char *prefix;
	bool split;
	int metric; /* -1: the first metric that both sides have */
	double mean, worst, correlation; /* NAN: no limit */
	struct demand demands[MOST_DEMANDS];
	size_t demand_count;
};

/* ---- arguments ---- */

static int find_metric(const char *name, size_t length)
{
	for (int m = 0; m < METRIC_COUNT; m++)
		if (strlen(metrics[m].name) == length && !strncmp(metrics[m].name, name, length))
			return m;
	return -1;
}

static int take_metric(struct correlate_arguments *a, const char *value)
{
	const char *names[METRIC_COUNT + 1] = {NULL};
	for (int m = 0; m < METRIC_COUNT; m++)
		names[m] = metrics[m].name;
	a->metric = find_metric(value, strlen(value));
	const char *nearest = a->metric < 0 ? gs_nearest(value, names) : NULL;
	return a->metric >= 0 ? 0 : cmd_fail("correlate: there is no metric '%s'%s%s%s", value, nearest ? "; did you mean '" : "",
	                                     nearest ? nearest : "", nearest ? "'?" : "");
}

/* Reads METRIC:PERCENT:COUNT. */
static int take_within(struct correlate_arguments *a, const char *value)
{
	struct demand d;
	size_t length = strcspn(value, ":");
	int metric = find_metric(value, length);
	char rest;
	if (metric < 0 || sscanf(value + length, ":%lf:%zu%c", &d.percent, &d.count, &rest) != 2 || a->demand_count == MOST_DEMANDS)
		return cmd_fail("correlate: --within %s: allowed: METRIC:PERCENT:COUNT", value);
	d.metric = (enum metric_id)metric;
	a->demands[a->demand_count++] = d;
	return 0;
}

static int take_number(const char *name, const char *value, double *out)
{
	char *end;
	*out = strtod(value, &end);
	return end == value || *end ? cmd_fail("correlate: %s %s: not a number", name, value) : 0;
}

/* Reads PATTERN[=REASON]. */
static int take_without(struct correlate_arguments *a, char *value)
{
	struct left_out *grown = reallocarray(a->c.without, a->c.without_count + 1, sizeof *grown);
	if (!grown)
		return cmd_fail("correlate: out of memory");
	char *equals = strchr(value, '=');
	if (equals)
		*equals = 0;
	a->c.without = grown;
	grown[a->c.without_count++] = (struct left_out){value, equals ? equals + 1 : "left out by --without"};
	return 0;
}

static int take_cases(struct correlate_arguments *a, const char *path, struct case_list *list)
{
	struct gs_error err;
	return correlate_cases(&a->c, path, list, &err) ? cmd_fail("correlate: %s", err.text) : 0;
}

/* Takes an option at argv[*i] and its value after it. Returns 0 or an exit code; -1: it is not an option. */
static int take_option(struct correlate_arguments *a, int argc, char **argv, int *i)
{
	const char *value;
	if (!strcmp(argv[*i], "--split"))
		return a->split = true, 0;
	if (!strcmp(argv[*i], "--host-time"))
		return 0; /* take_filters has it */
	if (cmd_value("--cases", argc, argv, i, &value))
		return take_cases(a, value, &a->c.cases);
	if (cmd_value("--full", argc, argv, i, &value))
		return take_cases(a, value, &a->c.full);
	if (cmd_value("--only", argc, argv, i, &a->c.only) || cmd_value("--config", argc, argv, i, &a->c.config) ||
	    cmd_value("--gpu", argc, argv, i, &a->c.gpu) || cmd_value("-o", argc, argv, i, &a->prefix))
		return 0;
	if (cmd_value("--without", argc, argv, i, &value))
		return take_without(a, (char *)value);
	if (cmd_value("--metric", argc, argv, i, &value))
		return take_metric(a, value);
	if (cmd_value("--within", argc, argv, i, &value))
		return take_within(a, value);
	if (cmd_value("--mean", argc, argv, i, &value))
		return take_number("--mean", value, &a->mean);
	if (cmd_value("--worst", argc, argv, i, &value))
		return take_number("--worst", value, &a->worst);
	if (cmd_value("--correlation", argc, argv, i, &value))
		return take_number("--correlation", value, &a->correlation);
	return argv[*i][0] == '-' ? cmd_fail("correlate: unexpected '%s'", argv[*i]) : -1;
}

/* What is chosen of files holds for those before it, too. */
static void take_filters(struct correlation *c, int argc, char **argv)
{
	for (int i = 1; i < argc; i++) {
		int at = i;
		if (cmd_value("--gpu", argc, argv, &at, &c->gpu) || cmd_value("--config", argc, argv, &at, &c->config) ||
		    cmd_value("--only", argc, argv, &at, &c->only))
			i = at;
		c->host_time |= !strcmp(argv[i], "--host-time");
	}
}

/* ---- thresholds ---- */

static int fewer_than_demanded(const struct correlate_arguments *a)
{
	int broken = 0;
	for (size_t i = 0; i < a->demand_count; i++) {
		const struct demand *d = &a->demands[i];
		size_t within = count_within(&a->c, &(struct selection){.metric = d->metric}, d->percent / 100);
		printf("%s: %zu within %g%%\n", metrics[d->metric].name, within, d->percent);
		if (within < d->count) {
			cmd_fail("correlate: %s: %zu cases must be within %g%%, but only %zu are", metrics[d->metric].name, d->count, d->percent,
			         within);
			broken = 1;
		}
	}
	return broken;
}

static int check_thresholds(const struct correlate_arguments *a, enum metric_id metric)
{
	struct statistics s;
	struct gs_error err;
	int broken = 0;
	if (statistics_of(&a->c, &(struct selection){.metric = metric}, &s, &err))
		return cmd_fail("correlate: %s", err.text);
	const struct {
		bool holds;
		const char *what;
		double is, wanted;
	} checks[] = {
		{isnan(a->mean) || 100 * s.mean <= a->mean, "mean error, %, at most", 100 * s.mean, a->mean},
		{isnan(a->worst) || 100 * fabs(s.worst) <= a->worst, "worst error, %, at most", 100 * fabs(s.worst), a->worst},
		{isnan(a->correlation) || s.correlation >= a->correlation, "correlation, at least", s.correlation, a->correlation},
	};
	for (size_t i = 0; i < GS_ARRAY_LEN(checks); i++)
		if (!checks[i].holds) {
			cmd_fail("correlate: %s: %s %g: it is %.4g", metrics[metric].name, checks[i].what, checks[i].wanted, checks[i].is);
			broken = 1;
		}
	return fewer_than_demanded(a) || broken;
}

/* ---- output ---- */

static int write_files(const struct correlate_arguments *a, enum metric_id metric)
{
	struct gs_buf text = {0};
	struct gs_error err;
	correlate_csv(&a->c, &text);
	int code = cmd_write_file("correlate", a->prefix, ".csv", &text);
	if (!code && correlate_summary_csv(&a->c, a->split, &text, &err))
		code = cmd_fail("correlate: %s", err.text);
	if (!code)
		code = cmd_write_file("correlate", a->prefix, "-summary.csv", &text);
	correlate_svg(&a->c, metric, &text);
	if (!code)
		code = cmd_write_file("correlate", a->prefix, ".svg", &text);
	correlate_panels_svg(&a->c, metric, &text);
	if (!code)
		code = cmd_write_file("correlate", a->prefix, "-others.svg", &text);
	gs_buf_free(&text);
	return code;
}

static bool is_there(const struct correlation *c, enum metric_id metric)
{
	for (size_t i = 0; i < c->count; i++)
		if (c->list[i].metric == metric && !c->list[i].why[0])
			return true;
	return false;
}

static int show(const struct correlate_arguments *a, enum metric_id metric)
{
	struct gs_buf text = {0};
	struct gs_error err;
	int code = 0;
	if (correlate_text(&a->c, metric, a->split, &text, &err))
		code = cmd_fail("correlate: %s", err.text);
	else
		fwrite(text.data, 1, text.len, stdout);
	gs_buf_free(&text);
	if (!code && a->prefix)
		code = write_files(a, metric);
	return code;
}

enum { NAMES_SHOWN = 8 };

static void add_name(struct gs_buf *out, size_t *count, const char *name)
{
	if (*count < NAMES_SHOWN && !(out->data && strstr(out->data, name)))
		gs_buf_printf(out, "%s%s", (*count)++ ? ", " : "", name);
}

/* The first names of both sides, so that one can see why none of them is on both. */
static int nothing_to_compare(const struct correlation *c)
{
	struct gs_buf estimates = {0}, truth = {0};
	size_t count = 0, measured = 0;
	if (!c->tables && !c->host_time)
		return cmd_fail("correlate: there is no table of measured values; what the program took on the host device, usually a CPU, says nothing of "
		                "the GPU of the estimates: --host-time compares with that all the same");
	for (size_t i = 0; i < c->count; i++)
		if (!isnan(c->list[i].estimate))
			add_name(&estimates, &count, c->list[i].name);
	for (const struct truth_table *t = c->tables; t; t = t->next)
		for (size_t r = 0; r < t->row_count; r++)
			add_name(&truth, &measured, table_cell(t, &t->rows[r], "case"));
	int code = cmd_fail("correlate: there is nothing to compare: no case has both an estimate and truth; estimates: %s; truth: %s",
	                    estimates.data ? estimates.data : "none", truth.data ? truth.data : "none");
	gs_buf_free(&estimates);
	gs_buf_free(&truth);
	return code;
}

static int correlate(struct correlate_arguments *a)
{
	struct gs_error err;
	int metric = a->metric < 0 ? 0 : a->metric;
	if (correlate_finish(&a->c, &err))
		return cmd_fail("correlate: %s", err.text);
	while (a->metric < 0 && metric < METRIC_COUNT && !is_there(&a->c, (enum metric_id)metric))
		metric++;
	if (metric == METRIC_COUNT || !is_there(&a->c, (enum metric_id)metric))
		return nothing_to_compare(&a->c);
	int code = show(a, (enum metric_id)metric);
	return code ? code : check_thresholds(a, (enum metric_id)metric);
}

int cmd_correlate(int argc, char **argv)
{
	struct correlate_arguments a = {.metric = -1, .mean = NAN, .worst = NAN, .correlation = NAN};
	struct gs_error err;
	int code = argc > 1 ? 0 : cmd_fail("correlate: name reports, and before them tables of measured values: gpusim correlate TRUTH.csv REPORT.json");
	take_filters(&a.c, argc, argv);
	for (int i = 1; i < argc && !code; i++) {
		int taken = take_option(&a, argc, argv, &i);
		if (taken < 0 && correlate_take(&a.c, argv[i], &err))
			code = cmd_fail("correlate: %s", err.text);
		else if (taken > 0)
			code = taken;
	}
	if (!code)
		code = correlate(&a);
	correlate_free(&a.c);
	return code;
}
