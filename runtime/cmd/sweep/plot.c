/* The plots of a sweep: time over the values of a key, and time over cost. */
#include "runtime/cmd/sweep/sweep.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEFT = 100, TOP = 44, WIDTH = 560, HEIGHT = 320, LINES = 16, LABEL = 7 /* the width of a letter */ };

/* Dashes distinguish lines without colours. */
static const char *const colours[] = {"#1f5fa8", "#b5472c", "#3c7d3c", "#7a4ea3", "#8a6d1b", "#2b7f8a", "#a33a6e", "#555555"};
static const char *const dashes[] = {"", "6 3", "2 3", "8 3 2 3"};

/* ---- axes ---- */

/* Linear, or logarithmic where values are more than ten times apart. It begins at 0 unless all values are within a third of one another. */
struct axis {
	bool logarithmic;
	double low, high, step; /* step: between marks, if linear */
};

static double nice_step(double range)
{
	double power = pow(10, floor(log10(range / 5))), n = range / 5 / power;
	return power * (n <= 1.5 ? 1 : n <= 3.5 ? 2 : n <= 7.5 ? 5 : 10);
}

static struct axis axis_for(double least, double most)
{
	struct axis a = {.logarithmic = least > 0 && most > 10 * least};
	if (a.logarithmic)
		return (struct axis){true, least / 1.15, most * 1.15, 0};
	most = most > 0 ? most : 1;
	bool near = least > 0.75 * most && least < most;
	a.step = nice_step(near ? 1.1 * (most - least) : most);
	a.low = near ? a.step * floor(least / a.step - 0.1) : 0;
	a.high = a.step * ceil(most / a.step + 0.1);
	return a;
}

static double share(const struct axis *a, double value)
{
	return a->logarithmic ? log(fmax(value, a->low) / a->low) / log(a->high / a->low) : (value - a->low) / (a->high - a->low);
}

static double y_of(const struct axis *a, double value)
{
	return TOP + HEIGHT * (1 - share(a, value));
}

/* The first mark that is at least `after`: multiples of the step, or 1, 2 and 5 of every decade. */
static double next_mark(const struct axis *a, double after)
{
	static const int steps[] = {1, 2, 5, 10};
	if (!a->logarithmic)
		return fmax(0, a->step * ceil(after / a->step - 1e-9));
	double decade = pow(10, floor(log10(after) + 1e-9));
	for (size_t i = 0; i < GS_ARRAY_LEN(steps); i++)
		if (decade * steps[i] >= after * (1 - 1e-9))
			return decade * steps[i];
	return decade * 10;
}

static double mark_after(const struct axis *a, double mark)
{
	return a->logarithmic ? next_mark(a, mark * 1.01) : mark + a->step;
}

static void add_text(struct gs_buf *out, double x, double y, const char *more, const char *text)
{
	gs_buf_printf(out, "<text x='%.1f' y='%.1f' %s>", x, y, more);
	gs_buf_html(out, text);
	gs_buf_puts(out, "</text>\n");
}

static void add_time_marks(const struct axis *a, struct gs_buf *out)
{
	for (double ns = next_mark(a, a->low); ns <= a->high * (1 + 1e-9); ns = mark_after(a, ns)) {
		struct gs_buf text = {0};
		gs_buf_printf(out, "<line class='g' x1='%d' x2='%d' y1='%.1f' y2='%.1f'/>", LEFT, LEFT + WIDTH, y_of(a, ns), y_of(a, ns));
		sweep_time_text(&text, ns);
		add_text(out, LEFT - 8, y_of(a, ns) + 4, "class='tick' text-anchor='end'", ns > 0 && text.data ? text.data : "0");
		gs_buf_free(&text);
	}
	gs_buf_printf(out, "<text transform='translate(16 %d) rotate(-90)' text-anchor='middle'>time of all kernels%s</text>\n", TOP + HEIGHT / 2,
	              a->logarithmic ? " (logarithmic)" : a->low > 0 ? " (not from 0)" : "");
}

static struct axis time_axis(const struct sweep *s)
{
	double least = INFINITY, most = 0;
	for (size_t i = 0; i < s->configurations; i++) {
		least = fmin(least, s->results[i].time_ns);
		most = fmax(most, s->results[i].time_ns);
	}
	return axis_for(least, most);
}

static void begin(const struct sweep *s, const char *what, int width, struct gs_buf *out)
{
	struct gs_buf title = {0};
	gs_buf_printf(&title, "%s: %s on %s", s->profile, what, s->gpu);
	gs_buf_printf(out, "<svg xmlns='http://www.w3.org/2000/svg' role='img' width='%d' height='%d' viewBox='0 0 %d %d' font-family='sans-serif' "
	              "font-size='12'>\n<title>", width, TOP + HEIGHT + 60, width, TOP + HEIGHT + 60);
	gs_buf_html(out, title.data ? title.data : "");
	gs_buf_puts(out, "</title>\n<style>.g{stroke:#ccc}.b{font-weight:bold}text{paint-order:stroke;stroke:white;stroke-width:3px}</style><rect width='100%' height='100%' fill='white'/>\n");
	add_text(out, LEFT, 24, "class='b'", title.data ? title.data : "");
	gs_buf_free(&title);
}

/* ---- time over a key ---- */

static double x_of(const struct sweep *s, size_t value)
{
	return LEFT + (s->keys[0].count > 1 ? (double)WIDTH * (double)value / (double)(s->keys[0].count - 1) : WIDTH / 2.0);
}

/* As many values as there is room for, the first and the last among them. */
static void add_value_marks(const struct sweep *s, struct gs_buf *out)
{
	const struct sweep_key *k = &s->keys[0];
	size_t longest = 1;
	for (size_t v = 0; v < k->count; v++)
		longest = strlen(k->values[v]) > longest ? strlen(k->values[v]) : longest;
	size_t room = WIDTH / (LABEL * (longest + 2)), every = room ? (k->count + room - 1) / room : k->count;
	for (size_t v = 0; v < k->count; v++)
		if (v + 1 == k->count || (v % every == 0 && (v + every < k->count || every == 1)))
			add_text(out, x_of(s, v), TOP + HEIGHT + 18, "class='tick' text-anchor='middle'", k->values[v]);
	add_text(out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 40, "class='b' text-anchor='middle'", k->name);
}

/* "sm_count=8 gpu=h200", without the key of the axis. */
static void name_line(const struct sweep *s, size_t n, size_t first, struct gs_buf *out)
{
	for (size_t k = first; k < s->key_count; k++)
		gs_buf_printf(out, "%s%s=%s", k > first ? " " : "", s->keys[k].name, s->keys[k].values[sweep_value(s, n, k)]);
}

static void add_point(double x, double y, double r, const char *colour, const char *name, double ns, struct gs_buf *out)
{
	gs_buf_printf(out, "<circle cx='%.1f' cy='%.1f' r='%g' fill='%s'><title>", x, y, r, colour);
	gs_buf_html(out, name);
	gs_buf_puts(out, ": ");
	sweep_time_text(out, ns);
	gs_buf_puts(out, "</title></circle>\n");
}

static void add_line(const struct sweep *s, const struct axis *a, size_t n, size_t per_value, struct gs_buf *out)
{
	const char *colour = colours[n % GS_ARRAY_LEN(colours)], *dash = dashes[n / GS_ARRAY_LEN(colours) % GS_ARRAY_LEN(dashes)];
	struct gs_buf name = {0};
	gs_buf_printf(out, "<polyline fill='none' stroke='%s' stroke-width='2' stroke-dasharray='%s' points='", colour, dash);
	for (size_t v = 0; v < s->keys[0].count; v++)
		gs_buf_printf(out, "%.1f,%.1f ", x_of(s, v), y_of(a, s->results[v * per_value + n].time_ns));
	gs_buf_puts(out, "'/>\n");
	for (size_t v = 0; v < s->keys[0].count; v++) {
		name.len = 0;
		name_line(s, v * per_value + n, 0, &name);
		add_point(x_of(s, v), y_of(a, s->results[v * per_value + n].time_ns), 3, colour, name.data, s->results[v * per_value + n].time_ns, out);
	}
	if (s->key_count > 1) {
		double y = TOP + 8 + 18.0 * (double)n;
		gs_buf_printf(out, "<line x1='%d' x2='%d' y1='%.1f' y2='%.1f' stroke='%s' stroke-width='2' stroke-dasharray='%s'/>", LEFT + WIDTH + 16,
		              LEFT + WIDTH + 40, y, y, colour, dash);
		name.len = 0;
		name_line(s, n, 1, &name);
		add_text(out, LEFT + WIDTH + 46, y + 4, "", name.data);
	}
	gs_buf_free(&name);
}

/* Room for the longest text beside the lines. */
static int legend_width(const struct sweep *s)
{
	size_t letters = 0;
	for (size_t k = 1; k < s->key_count; k++) {
		size_t longest = 0;
		for (size_t v = 0; v < s->keys[k].count; v++)
			longest = strlen(s->keys[k].values[v]) > longest ? strlen(s->keys[k].values[v]) : longest;
		letters += strlen(s->keys[k].name) + longest + 2;
	}
	return 60 + LABEL * (int)letters;
}

void sweep_svg(const struct sweep *s, struct gs_buf *out)
{
	struct axis a = time_axis(s);
	size_t lines = s->configurations / s->keys[0].count, shown = lines < LINES ? lines : LINES;
	begin(s, "time of all kernels", LEFT + WIDTH + legend_width(s), out);
	add_time_marks(&a, out);
	add_value_marks(s, out);
	for (size_t n = 0; n < shown; n++)
		add_line(s, &a, n, lines, out);
	if (shown < lines)
		gs_buf_printf(out, "<text x='%d' y='%d'>and %zu more in the CSV</text>\n", LEFT + WIDTH + 16, TOP + 12 + 18 * LINES, lines - shown);
	gs_buf_puts(out, "</svg>\n");
}

/* ---- time over cost ---- */

static double cost_x(const struct axis *a, double cost)
{
	return LEFT + WIDTH * share(a, cost);
}

static const struct sweep *sorted;

static int by_cost(const void *a, const void *b)
{
	const struct sweep_result *x = &sorted->results[*(const size_t *)a], *y = &sorted->results[*(const size_t *)b];
	return x->cost < y->cost ? -1 : x->cost > y->cost ? 1 : x->time_ns < y->time_ns ? -1 : x->time_ns > y->time_ns;
}

/* A line through those that no other beats, and their names. */
static void add_front(const struct sweep *s, const struct axis *costs, const struct axis *times, struct gs_buf *out)
{
	size_t *order = calloc(s->configurations, sizeof *order), count = 0;
	struct gs_buf name = {0};
	for (size_t i = 0; i < s->configurations && order; i++)
		if (s->results[i].best)
			order[count++] = i;
	sorted = s;
	if (order)
		qsort(order, count, sizeof *order, by_cost);
	gs_buf_puts(out, "<polyline fill='none' stroke='#1f5fa8' stroke-width='1.5' points='");
	for (size_t i = 0; i < count; i++)
		gs_buf_printf(out, "%.1f,%.1f ", cost_x(costs, s->results[order[i]].cost), y_of(times, s->results[order[i]].time_ns));
	gs_buf_puts(out, "'/>\n");
	double last_x = -1000, last_y = -1000;
	for (size_t i = 0; i < count; i++) {
		double x = cost_x(costs, s->results[order[i]].cost), y = y_of(times, s->results[order[i]].time_ns);
		if (fabs(x - last_x) < 120 && fabs(y - last_y) < 14)
			continue; /* its name would cover the one before */
		name.len = 0;
		name_line(s, order[i], 0, &name);
		add_text(out, x + 6, y - 6, "", name.data);
		last_x = x;
		last_y = y;
	}
	free(order);
	gs_buf_free(&name);
}

void sweep_cost_svg(const struct sweep *s, struct gs_buf *out)
{
	double least = INFINITY, most = 0;
	struct axis times = time_axis(s);
	struct gs_buf name = {0};
	for (size_t i = 0; i < s->configurations; i++) {
		least = fmin(least, s->results[i].cost);
		most = fmax(most, s->results[i].cost);
	}
	struct axis costs = axis_for(least, most);
	begin(s, "time against cost", LEFT + WIDTH + 200, out);
	add_time_marks(&times, out);
	for (double c = next_mark(&costs, costs.low); c <= costs.high * (1 + 1e-9); c = mark_after(&costs, c)) {
		char text[40];
		snprintf(text, sizeof text, "%.6g", c);
		gs_buf_printf(out, "<line class='g' y1='%d' y2='%d' x1='%.1f' x2='%.1f'/>", TOP, TOP + HEIGHT, cost_x(&costs, c), cost_x(&costs, c));
		add_text(out, cost_x(&costs, c), TOP + HEIGHT + 18, "class='tick' text-anchor='middle'", text);
	}
	add_text(out, LEFT + WIDTH / 2.0, TOP + HEIGHT + 40, "class='b' text-anchor='middle'", costs.logarithmic ? "cost (logarithmic)" : "cost");
	for (size_t i = 0; i < s->configurations; i++) {
		name.len = 0;
		name_line(s, i, 0, &name);
		add_point(cost_x(&costs, s->results[i].cost), y_of(&times, s->results[i].time_ns), s->results[i].best ? 5 : 3,
		          s->results[i].best ? "#1f5fa8" : "#9aa3ad", name.data, s->results[i].time_ns, out);
	}
	add_front(s, &costs, &times, out);
	gs_buf_puts(out, "</svg>\n");
	gs_buf_free(&name);
}
