/* Observations as text and as CSV; see correlate.h. */
#include "runtime/cmd/correlate/correlate.h"

#include "runtime/config/show.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* ---- the cases of one metric ---- */

static void print_cases(const struct correlation *c, enum metric_id metric, struct gs_buf *out)
{
	const struct selection s = {.metric = metric};
	gs_buf_printf(out, "%-22s %14s %14s %8s  %-4s %s\n", "case", "estimate", "truth", "error", "half", "group");
	for (size_t i = 0; i < c->count; i++) {
		const struct observation *o = &c->list[i];
		if (!selected(o, &s))
			continue;
		gs_buf_printf(out, "%-22s %14.10g %14.10g ", o->name, o->estimate, o->truth);
		if (o->why[0])
			gs_buf_printf(out, "%8s  %c    %s (left out: %s)\n", "", o->half, o->group, o->why);
		else
			gs_buf_printf(out, "%+7.1f%%  %c    %s\n", 100 * observation_error(o), o->half, o->group);
	}
}

/* ---- statistics ---- */

static void print_head(const char *what, struct gs_buf *out)
{
	gs_buf_printf(out, "\n%-22s %5s %8s %8s %8s %8s %8s  %s\n", what, "cases", "mean", "median", "bias", "corr.", "worst", "");
}

static int print_row(const struct correlation *c, const char *name, const struct selection *sel, struct gs_buf *out,
                     struct gs_error *err)
{
	struct statistics s;
	int result = statistics_of(c, sel, &s, err);
	const char *unit = metrics[sel->metric].kind == METRIC_RATE ? "p" : "%";
	char correlation[16] = "-";
	if (result || (!s.count && !s.left_out))
		return result;
	if (!isnan(s.correlation))
		snprintf(correlation, sizeof correlation, "%.3f", s.correlation);
	gs_buf_printf(out, "%-22s %5zu ", name, s.count);
	if (s.count)
		gs_buf_printf(out, "%7.2f%s %7.2f%s %+7.2f%s %8s %+7.1f%s  %s", 100 * s.mean, unit, 100 * s.median, unit, 100 * s.bias, unit,
		              correlation, 100 * s.worst, unit, s.worst_name);
	gs_buf_printf(out, s.left_out ? " (%zu left out)\n" : "\n", s.left_out);
	return 0;
}

/* Prints a row for each text that the metric's observations have in the member at `offset`. */
static int each_text(const struct correlation *c, enum metric_id metric, size_t offset, const char *what, struct gs_buf *out,
                     struct gs_error *err)
{
	const struct selection all = {.metric = metric};
	int result = 0;
	bool begun = false;
	for (size_t i = 0; i < c->count && !result; i++) {
		const char *text = (const char *)&c->list[i] + offset;
		bool first = selected(&c->list[i], &all) && *text;
		for (size_t k = 0; k < i && first; k++)
			first = !selected(&c->list[k], &all) || strcmp((const char *)&c->list[k] + offset, text);
		if (!first)
			continue;
		struct selection s = {.metric = metric};
		if (offset == offsetof(struct observation, group))
			s.group = text;
		else
			s.kernel = text;
		if (!begun)
			print_head(what, out);
		begun = true;
		result = print_row(c, text, &s, out, err);
	}
	return result;
}

static int print_halves(const struct correlation *c, enum metric_id metric, struct gs_buf *out, struct gs_error *err)
{
	int result = 0;
	print_head("half", out);
	for (const char *half = "AB"; *half && !result; half++) {
		char name[] = {*half, 0};
		result = print_row(c, name, &(struct selection){.metric = metric, .half = *half}, out, err);
	}
	return result;
}

/* ---- what is left out ---- */

static bool is_first(const struct correlation *c, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (c->list[k].metric == c->list[i].metric && !strcmp(c->list[k].why, c->list[i].why))
			return false;
	return true;
}

/* Adds the names of observations that have the metric and the reason of `o`. Adds "all 27" if no case of the metric is
 * compared. */
static void add_names(const struct correlation *c, const struct observation *o, struct gs_buf *out)
{
	size_t others = 0, alike = 0, begin = out->len;
	for (size_t k = 0; k < c->count; k++) {
		bool same = c->list[k].metric == o->metric && !strcmp(c->list[k].why, o->why);
		alike += same;
		others += c->list[k].metric == o->metric && !same;
		if (same)
			gs_buf_printf(out, " %s", c->list[k].name);
	}
	if (!others && alike > 1 && o->metric != METRIC_COUNT) {
		out->len = begin;
		gs_buf_printf(out, " all %zu", alike);
	}
}

static void print_left_out(const struct correlation *c, struct gs_buf *out)
{
	bool begun = false;
	for (size_t i = 0; i < c->count; i++) {
		const struct observation *o = &c->list[i];
		struct gs_buf line = {0};
		if (!o->why[0] || !is_first(c, i))
			continue;
		gs_buf_printf(&line, "%s: %s:", o->metric == METRIC_COUNT ? "all" : metrics[o->metric].name, o->why);
		add_names(c, o, &line);
		gs_buf_puts(out, begun ? "" : "\nleft out\n");
		begun = true;
		show_wrapped(out, "  ", line.data ? line.data : "", 4);
		gs_buf_free(&line);
	}
}

static void print_unused(const struct correlation *c, struct gs_buf *out)
{
	struct gs_buf names = {0}, line = {0};
	correlate_unused(c, &names);
	if (names.len) {
		gs_buf_printf(&line, "truth's columns that a report has nothing like: %s", names.data);
		show_wrapped(out, "  ", line.data ? line.data : "", 4);
	}
	gs_buf_free(&names);
	gs_buf_free(&line);
}

int correlate_text(const struct correlation *c, enum metric_id metric, bool split, struct gs_buf *out, struct gs_error *err)
{
	int result = 0;
	gs_buf_puts(out, c->about.data ? c->about.data : "");
	gs_buf_printf(out, "\n%s\n", metrics[metric].name);
	print_cases(c, metric, out);
	result = each_text(c, metric, offsetof(struct observation, kernel), "kernel", out, err);
	if (!result)
		result = each_text(c, metric, offsetof(struct observation, group), "group", out, err);
	if (!result && split)
		result = print_halves(c, metric, out, err);
	print_head("metric", out);
	for (int m = 0; m < METRIC_COUNT && !result; m++)
		result = print_row(c, metrics[m].name, &(struct selection){.metric = (enum metric_id)m}, out, err);
	print_left_out(c, out);
	print_unused(c, out);
	return !result && out->failed ? gs_fail(err, ENOMEM, "out of memory") : result;
}

/* ---- CSV ---- */

static void add_cell(struct gs_buf *out, const char *text)
{
	if (!strpbrk(text, ",\"\n")) {
		gs_buf_puts(out, text);
		return;
	}
	gs_buf_puts(out, "\"");
	for (; *text; text++)
		gs_buf_printf(out, *text == '"' ? "\"\"" : "%c", *text);
	gs_buf_puts(out, "\"");
}

static void add_number(struct gs_buf *out, double value)
{
	gs_buf_printf(out, isnan(value) ? "" : "%.10g", value);
}

static void add_about(const struct correlation *c, struct gs_buf *out)
{
	const char *at = c->about.data ? c->about.data : "";
	for (size_t n; *at; at += n + (at[n] == '\n')) {
		n = strcspn(at, "\n");
		gs_buf_printf(out, "# %.*s\n", (int)n, at);
	}
}

void correlate_csv(const struct correlation *c, struct gs_buf *out)
{
	add_about(c, out);
	gs_buf_puts(out, "case,kernel,group,half,metric,estimate,truth,error,left_out\n");
	for (size_t i = 0; i < c->count; i++) {
		const struct observation *o = &c->list[i];
		add_cell(out, o->name);
		gs_buf_printf(out, ",%s,%s,%c,%s,", o->kernel, o->group, o->half, o->metric == METRIC_COUNT ? "" : metrics[o->metric].name);
		add_number(out, o->estimate);
		gs_buf_puts(out, ",");
		add_number(out, o->truth);
		gs_buf_puts(out, ",");
		if (!o->why[0])
			gs_buf_printf(out, "%.6g", observation_error(o));
		gs_buf_puts(out, ",");
		add_cell(out, o->why);
		gs_buf_puts(out, "\n");
	}
}

int correlate_summary_csv(const struct correlation *c, bool split, struct gs_buf *out, struct gs_error *err)
{
	add_about(c, out);
	gs_buf_puts(out, "metric,half,cases,left_out,mean,median,bias,worst,worst_case,correlation\n");
	for (int m = 0; m < METRIC_COUNT; m++)
		for (const char *half = split ? "*AB" : "*"; *half; half++) {
			struct statistics s;
			const struct selection sel = {.metric = (enum metric_id)m, .half = *half == '*' ? 0 : *half};
			int result = statistics_of(c, &sel, &s, err);
			if (result)
				return result;
			if (!s.count && !s.left_out)
				continue;
			gs_buf_printf(out, "%s,%c,%zu,%zu,", metrics[m].name, *half, s.count, s.left_out);
			if (s.count)
				gs_buf_printf(out, "%.6g,%.6g,%.6g,%.6g,%s,", s.mean, s.median, s.bias, s.worst, s.worst_name);
			else
				gs_buf_puts(out, ",,,,,");
			add_number(out, s.correlation);
			gs_buf_puts(out, "\n");
		}
	return out->failed ? gs_fail(err, ENOMEM, "out of memory") : 0;
}
