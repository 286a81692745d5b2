/* The results of a sweep as a table, as CSV and as a page. */
#include "runtime/cmd/sweep/sweep.h"

#include "runtime/cmd/cmd.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static double best_time(const struct sweep *s)
{
	double best = INFINITY;
	for (size_t i = 0; i < s->configurations; i++)
		best = s->results[i].done && s->results[i].time_ns < best ? s->results[i].time_ns : best;
	return best;
}

void sweep_time_text(struct gs_buf *out, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t u = 0;
	for (; u + 1 < GS_ARRAY_LEN(units) && ns >= 1000; u++)
		ns /= 1000;
	gs_buf_printf(out, "%.*f %s", ns < 10 ? 2 : ns < 100 ? 1 : 0, ns, units[u]);
}

static void add_time(struct gs_buf *out, double ns)
{
	struct gs_buf cell = {0};
	sweep_time_text(&cell, ns);
	gs_buf_printf(out, "%10s", cell.data ? cell.data : "");
	gs_buf_free(&cell);
}

static int column_width(const struct sweep_key *k)
{
	size_t width = strlen(k->name) > 8 ? strlen(k->name) : 8;
	for (size_t v = 0; v < k->count; v++)
		width = strlen(k->values[v]) > width ? strlen(k->values[v]) : width;
	return (int)width;
}

void sweep_table(const struct sweep *s, struct gs_buf *out)
{
	double best = best_time(s);
	int widths[SWEEP_KEYS + 1];
	for (size_t k = 0; k < s->key_count; k++) {
		widths[k] = column_width(&s->keys[k]);
		gs_buf_printf(out, "%-*s ", widths[k], s->keys[k].name);
	}
	gs_buf_printf(out, "   kernels  of best  %slimited by     longest kernel\n", s->cost_count ? "       cost      " : "");
	for (size_t i = 0; i < s->configurations; i++) {
		const struct sweep_result *r = &s->results[i];
		if (!r->done)
			continue;
		for (size_t k = 0; k < s->key_count; k++)
			gs_buf_printf(out, "%-*s ", widths[k], s->keys[k].values[sweep_value(s, i, k)]);
		add_time(out, r->time_ns);
		gs_buf_printf(out, " %7.2fx  ", best > 0 ? r->time_ns / best : 1);
		if (s->cost_count)
			gs_buf_printf(out, "%11.6g %-5s", r->cost, r->best ? "best" : "");
		gs_buf_printf(out, "%-14s %s\n", r->limiter, r->kernel);
	}
}

/* ---- CSV ---- */

static void add_head(const struct sweep *s, size_t i, struct gs_buf *out)
{
	gs_buf_puts(out, sweep_gpu(s, i));
	for (size_t k = 0; k < s->key_count; k++)
		if (!sweep_is_gpu(&s->keys[k]))
			gs_buf_printf(out, ",%s", s->keys[k].values[sweep_value(s, i, k)]);
}

void sweep_csv_head(const struct sweep *s, struct gs_buf *out)
{
	gs_buf_puts(out, "gpu");
	for (size_t k = 0; k < s->key_count; k++)
		if (!sweep_is_gpu(&s->keys[k]))
			gs_buf_printf(out, ",%s", s->keys[k].name);
	gs_buf_printf(out, ",kernel,time_ns,limiter%s\n", s->cost_count ? ",cost,best" : "");
}

/* A line for the configuration as a whole, then one for each of its kernels. */
void sweep_csv_rows(const struct sweep *s, size_t i, struct gs_buf *out)
{
	const struct sweep_result *r = &s->results[i];
	struct gs_buf head = {0};
	struct sweep_kernel k;
	add_head(s, i, &head);
	gs_buf_printf(out, "%s,*,%.10g,%s", head.data, r->time_ns, r->limiter);
	if (s->cost_count)
		gs_buf_printf(out, s->growing < 0 ? ",%.10g,%d" : ",%.10g,", r->cost, r->best);
	gs_buf_puts(out, "\n");
	for (const char *line = r->by_kernel; sweep_next_kernel(&line, &k);) {
		gs_buf_printf(out, "%s,", head.data);
		sweep_csv_name(out, k.name);
		gs_buf_printf(out, ",%.10g,%s%s\n", k.time_ns, k.limiter, s->cost_count ? ",," : "");
	}
	gs_buf_free(&head);
}

void sweep_csv(const struct sweep *s, struct gs_buf *out)
{
	sweep_csv_head(s, out);
	for (size_t i = 0; i < s->configurations; i++)
		if (s->results[i].done)
			sweep_csv_rows(s, i, out);
}

/* ---- the page ---- */

static const char style[] =
	"<style>body{font:15px/1.5 system-ui,'DejaVu Sans',sans-serif;margin:1.5rem auto;max-width:1100px;padding:0 1rem;color:#1b2128;background:#fff}"
	"table{border-collapse:collapse;font-variant-numeric:tabular-nums}th,td{padding:.25rem .7rem;border-bottom:1px solid #dde1e6;text-align:right}"
	"th{color:#59636e;font-size:.85rem}td.l,th.l{text-align:left}tr.best{background:#e3eefb}figure{margin:1rem 0;overflow-x:auto}svg{max-width:100%;height:auto}"
	"p{color:#59636e;max-width:80ch}</style>";

static void add_cell(struct gs_buf *out, const char *tag, const char *text)
{
	gs_buf_printf(out, "<%s>", tag);
	gs_buf_html(out, text);
	gs_buf_printf(out, "</%.2s>", tag);
}

static void add_row(const struct sweep *s, size_t i, double best, struct gs_buf *out)
{
	const struct sweep_result *r = &s->results[i];
	gs_buf_printf(out, "<tr%s>", r->best || r->time_ns <= best ? " class=\"best\"" : "");
	for (size_t k = 0; k < s->key_count; k++)
		add_cell(out, "td", s->keys[k].values[sweep_value(s, i, k)]);
	gs_buf_puts(out, "<td>");
	sweep_time_text(out, r->time_ns);
	gs_buf_printf(out, "</td><td>%.2f&times;</td>", best > 0 ? r->time_ns / best : 1);
	if (s->cost_count)
		gs_buf_printf(out, "<td>%.6g</td>", r->cost);
	add_cell(out, "td class=\"l\"", r->limiter);
	add_cell(out, "td class=\"l\"", r->kernel);
	gs_buf_puts(out, "</tr>\n");
}

static int by_time(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* Browsers are slow with long tables: rows up to this time are shown. */
static double slowest_row(const struct sweep *s)
{
	enum { ROWS = 2000 };
	double *times = s->configurations > ROWS ? calloc(s->configurations, sizeof *times) : NULL, slowest = INFINITY;
	size_t count = 0;
	for (size_t i = 0; i < s->configurations && times; i++)
		if (s->results[i].done)
			times[count++] = s->results[i].time_ns;
	if (count > ROWS) {
		qsort(times, count, sizeof *times, by_time);
		slowest = times[ROWS - 1];
	}
	free(times);
	return slowest;
}

void sweep_page(const struct sweep *s, struct gs_buf *out)
{
	double best = best_time(s);
	gs_buf_puts(out, "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">"
	                 "<title>gpusim sweep</title>");
	gs_buf_printf(out, "%s</head><body>\n<h1>", style);
	gs_buf_html(out, s->profile);
	gs_buf_puts(out, " on ");
	gs_buf_html(out, s->gpu);
	gs_buf_printf(out, "</h1>\n<p>The time of all kernels at %zu points, as gpusim estimates it. The fastest%s coloured.</p>\n<figure>",
	              s->configurations, s->cost_count ? ", and those that no other beats in both time and cost, are" : " is");
	sweep_svg(s, out);
	gs_buf_puts(out, "</figure>\n");
	if (s->cost_count) {
		gs_buf_puts(out, "<figure>");
		sweep_cost_svg(s, out);
		gs_buf_puts(out, "</figure>\n");
	}
	gs_buf_puts(out, "<table><thead><tr>");
	for (size_t k = 0; k < s->key_count; k++)
		add_cell(out, "th", s->keys[k].name);
	gs_buf_printf(out, "<th>kernels</th><th>of best</th>%s<th class=\"l\">limited by</th><th class=\"l\">longest kernel</th></tr></thead><tbody>\n",
	              s->cost_count ? "<th>cost</th>" : "");
	double slowest = slowest_row(s);
	for (size_t i = 0; i < s->configurations; i++)
		if (s->results[i].done && (s->results[i].time_ns <= slowest || s->results[i].best))
			add_row(s, i, best, out);
	gs_buf_printf(out, "</tbody></table>\n%s</body></html>\n", slowest < INFINITY ? "<p>Slower ones are in the CSV.</p>\n" : "");
}

int sweep_print_json(json_t *document, const char *command)
{
	char *text = document ? json_dumps(document, JSON_COMPACT | JSON_REAL_PRECISION(10)) : NULL;
	if (text)
		puts(text);
	free(text);
	json_decref(document);
	return text ? 0 : cmd_fail("%s: out of memory", command);
}
