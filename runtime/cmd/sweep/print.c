/* The results of a sweep as a table, as CSV and as a plot. */
#include "runtime/cmd/sweep/sweep.h"

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

static void add_time(struct gs_buf *out, double ns)
{
	static const char *const units[] = {"ns", "us", "ms", "s"};
	size_t u = 0;
	for (; u + 1 < GS_ARRAY_LEN(units) && ns >= 1000; u++)
		ns /= 1000;
	gs_buf_printf(out, "%7.*f %-2s", ns < 10 ? 2 : ns < 100 ? 1 : 0, ns, units[u]);
}

void sweep_table(const struct sweep *s, struct gs_buf *out)
{
	double best = best_time(s);
	for (size_t k = 0; k < s->key_count; k++)
		gs_buf_printf(out, "%-*s ", (int)strlen(s->keys[k].name) > 8 ? (int)strlen(s->keys[k].name) : 8, s->keys[k].name);
	gs_buf_puts(out, "   kernels  of best  limited by     longest kernel\n");
	for (size_t i = 0; i < s->configurations; i++) {
		const struct sweep_result *r = &s->results[i];
		if (!r->done)
			continue;
		for (size_t k = 0; k < s->key_count; k++)
			gs_buf_printf(out, "%-*s ", (int)strlen(s->keys[k].name) > 8 ? (int)strlen(s->keys[k].name) : 8,
			              s->keys[k].values[sweep_value(s, i, k)]);
		add_time(out, r->time_ns);
		gs_buf_printf(out, " %7.2fx  %-14s %s\n", best > 0 ? r->time_ns / best : 1, r->limiter, r->kernel);
	}
}

/* Writes a line for each configuration as a whole, then one line for each of its kernels. */
void sweep_csv(const struct sweep *s, struct gs_buf *out)
{
	gs_buf_puts(out, "gpu");
	for (size_t k = 0; k < s->key_count; k++)
		gs_buf_printf(out, ",%s", s->keys[k].name);
	gs_buf_puts(out, ",kernel,time_ns,limiter\n");
	for (size_t i = 0; i < s->configurations; i++) {
		struct gs_buf head = {0};
		if (!s->results[i].done)
			continue;
		gs_buf_puts(&head, s->gpu);
		for (size_t k = 0; k < s->key_count; k++)
			gs_buf_printf(&head, ",%s", s->keys[k].values[sweep_value(s, i, k)]);
		gs_buf_printf(out, "%s,*,%.10g,%s\n", head.data, s->results[i].time_ns, s->results[i].limiter);
		char *lines = s->results[i].by_kernel, *save = NULL, name[1024];
		double ns;
		for (char *line = lines ? strtok_r(lines, "\n", &save) : NULL; line; line = strtok_r(NULL, "\n", &save))
			if (sscanf(line, "%1023s %lf", name, &ns) == 2)
				gs_buf_printf(out, "%s,%s,%.10g,\n", head.data, name, ns);
		gs_buf_free(&head);
	}
}

/* ---- the plot ---- */

enum { LEFT = 90, TOP = 40, WIDTH = 560, HEIGHT = 320, LINES = 16 };

/* Dashes distinguish lines without colours. */
static const char *const colours[] = {"#1f5fa8", "#b5472c", "#3c7d3c", "#7a4ea3", "#8a6d1b", "#2b7f8a", "#a33a6e", "#555555"};
static const char *const dashes[] = {"", "6 3", "2 3", "8 3 2 3"};

struct axis {
	double low, high; /* logarithms (base 10) of the time */
};

static double y_of(const struct axis *a, double ns)
{
	return TOP + HEIGHT * (a->high - log10(ns)) / (a->high - a->low);
}

static double x_of(const struct sweep *s, size_t value)
{
	return LEFT + (s->keys[0].count > 1 ? (double)WIDTH * (double)value / (double)(s->keys[0].count - 1) : WIDTH / 2.0);
}

static struct axis time_axis(const struct sweep *s)
{
	struct axis a = {INFINITY, -INFINITY};
	for (size_t i = 0; i < s->configurations; i++) {
		double l = log10(s->results[i].time_ns > 0 ? s->results[i].time_ns : 1);
		a.low = fmin(a.low, l);
		a.high = fmax(a.high, l);
	}
	double room = fmax(0.05, (a.high - a.low) * 0.08);
	return (struct axis){a.low - room, a.high + room};
}

/* Marks at 1, 2 and 5 of every decade that is shown. */
static void add_grid(const struct sweep *s, const struct axis *a, struct gs_buf *out)
{
	for (int decade = (int)floor(a->low); decade <= (int)ceil(a->high); decade++)
		for (int step = 0; step < 3; step++) {
			double ns = pow(10, decade) * (step == 0 ? 1 : step == 1 ? 2 : 5);
			if (log10(ns) < a->low || log10(ns) > a->high)
				continue;
			gs_buf_printf(out, "<line class='g' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/><text x='%d' y='%.1f' text-anchor='end'>", LEFT,
			              LEFT + WIDTH, y_of(a, ns), y_of(a, ns), LEFT - 8, y_of(a, ns) + 4);
			add_time(out, ns);
			gs_buf_puts(out, "</text>\n");
		}
	for (size_t v = 0; v < s->keys[0].count; v++) {
		gs_buf_printf(out, "<text x='%.1f' y='%d' text-anchor='middle'>", x_of(s, v), TOP + HEIGHT + 18);
		gs_buf_html(out, s->keys[0].values[v]);
		gs_buf_puts(out, "</text>\n");
	}
	gs_buf_printf(out, "<text x='%d' y='%d' text-anchor='middle' class='b'>", LEFT + WIDTH / 2, TOP + HEIGHT + 40);
	gs_buf_html(out, s->keys[0].name);
	gs_buf_puts(out, "</text>\n");
}

static void add_line(const struct sweep *s, const struct axis *a, size_t n, size_t per_value, struct gs_buf *out)
{
	const char *colour = colours[n % GS_ARRAY_LEN(colours)], *dash = dashes[n / GS_ARRAY_LEN(colours) % GS_ARRAY_LEN(dashes)];
	gs_buf_printf(out, "<polyline fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' points='", colour, dash);
	for (size_t v = 0; v < s->keys[0].count; v++)
		gs_buf_printf(out, "%.1f,%.1f ", x_of(s, v), y_of(a, fmax(1, s->results[v * per_value + n].time_ns)));
	gs_buf_puts(out, "'/>\n");
	for (size_t v = 0; v < s->keys[0].count; v++) {
		gs_buf_printf(out, "<circle cx='%.1f' cy='%.1f' r='3' fill='%s'><title>", x_of(s, v),
		              y_of(a, fmax(1, s->results[v * per_value + n].time_ns)), colour);
		add_time(out, s->results[v * per_value + n].time_ns);
		gs_buf_puts(out, "</title></circle>\n");
	}
	if (s->key_count < 2)
		return;
	gs_buf_printf(out, "<line x1='%d' x2='%d' y1='%zu' y2='%zu' stroke='%s' stroke-width='2' stroke-dasharray='%s'/><text x='%d' y='%zu'>",
	              LEFT + WIDTH + 16, LEFT + WIDTH + 40, TOP + 8 + 18 * n, TOP + 8 + 18 * n, colour, dash, LEFT + WIDTH + 46,
	              TOP + 12 + 18 * n);
	for (size_t k = 1; k < s->key_count; k++) {
		gs_buf_html(out, s->keys[k].name);
		gs_buf_puts(out, "=");
		gs_buf_html(out, s->keys[k].values[sweep_value(s, n, k)]);
		gs_buf_puts(out, " ");
	}
	gs_buf_puts(out, "</text>\n");
}

/* Room for the longest text beside the lines, at 7 units a letter. */
static int legend_width(const struct sweep *s)
{
	size_t letters = 0;
	for (size_t k = 1; k < s->key_count; k++) {
		size_t longest = 0;
		for (size_t v = 0; v < s->keys[k].count; v++)
			longest = strlen(s->keys[k].values[v]) > longest ? strlen(s->keys[k].values[v]) : longest;
		letters += strlen(s->keys[k].name) + longest + 2;
	}
	return 60 + 7 * (int)letters;
}

void sweep_svg(const struct sweep *s, struct gs_buf *out)
{
	struct axis a = time_axis(s);
	size_t lines = s->configurations / s->keys[0].count, shown = lines < LINES ? lines : LINES;
	gs_buf_printf(out, "<svg xmlns='http://www.w3.org/2000/svg' width='%d' height='%d' font-family='sans-serif' font-size='12'>\n",
	              LEFT + WIDTH + legend_width(s), TOP + HEIGHT + 60);
	gs_buf_puts(out, "<style>.g{stroke:#ccc}.b{font-weight:bold}</style><rect width='100%' height='100%' fill='white'/>\n<text class='b' x='90' y='24'>");
	gs_buf_html(out, s->gpu);
	gs_buf_puts(out, ": time of all kernels of ");
	gs_buf_html(out, s->profile);
	gs_buf_puts(out, "</text>\n");
	add_grid(s, &a, out);
	for (size_t n = 0; n < shown; n++)
		add_line(s, &a, n, lines, out);
	if (shown < lines)
		gs_buf_printf(out, "<text x='%d' y='%d'>and %zu more in the CSV</text>\n", LEFT + WIDTH + 16, TOP + 12 + 18 * LINES,
		              lines - shown);
	gs_buf_puts(out, "</svg>\n");
}
