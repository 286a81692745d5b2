/* Estimate over truth as plots, both axes logarithmic but for rates; see correlate.h. */
#include "correlate.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LARGE = 720, SMALL = 300, PER_LINE = 3, TITLE = 30 };

/* A square with the same axis both ways. */
struct plot {
	enum metric_id metric;
	double x, y, size, edge; /* in the picture; edge: room for the axes */
	double low, high;        /* of the axis; powers of ten, but for rates */
	bool named;              /* every point has its name, else those that are far off */
};

static double scale_of(const struct plot *p, double value)
{
	bool rate = metrics[p->metric].kind == METRIC_RATE;
	double at = rate ? value : log10(value);
	at = (at - p->low) / (p->high - p->low);
	return (p->size - 2 * p->edge) * fmin(1, fmax(0, at));
}

static double x_of(const struct plot *p, double value)
{
	return p->x + p->edge + scale_of(p, value);
}

static double y_of(const struct plot *p, double value)
{
	return p->y + p->size - p->edge - scale_of(p, value);
}

static bool is_shown(const struct plot *p, const struct observation *o)
{
	return o->metric == p->metric && !o->why[0];
}

/* Returns how many points there are. */
static size_t set_axis(const struct correlation *c, struct plot *p)
{
	size_t count = 0;
	p->low = metrics[p->metric].kind == METRIC_RATE ? 0 : INFINITY;
	p->high = metrics[p->metric].kind == METRIC_RATE ? 1 : -INFINITY;
	for (size_t i = 0; i < c->count; i++) {
		const struct observation *o = &c->list[i];
		if (!is_shown(p, o))
			continue;
		count++;
		if (metrics[p->metric].kind == METRIC_RATE)
			continue;
		double estimate = o->estimate > 0 ? o->estimate : o->truth;
		p->low = fmin(p->low, floor(log10(fmin(estimate, o->truth))));
		p->high = fmax(p->high, ceil(log10(fmax(estimate, o->truth))));
	}
	if (count && p->high <= p->low)
		p->high = p->low + 1;
	return count;
}

static void add_tick(const struct plot *p, double value, const char *text, struct gs_buf *out)
{
	gs_buf_printf(out, "<line class='g' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/><line class='g' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'/>"
	              "<text x='%.1f' y='%.1f' text-anchor='middle'>%s</text><text x='%.1f' y='%.1f' text-anchor='end'>%s</text>\n",
	              x_of(p, value), x_of(p, value), p->y + p->edge, p->y + p->size - p->edge, p->x + p->edge, p->x + p->size - p->edge,
	              y_of(p, value), y_of(p, value), x_of(p, value), p->y + p->size - p->edge + 14, text, p->x + p->edge - 5,
	              y_of(p, value) + 4, text);
}

static void add_axes(const struct plot *p, struct gs_buf *out)
{
	char text[32];
	bool rate = metrics[p->metric].kind == METRIC_RATE;
	int step = (int)ceil((p->high - p->low) / 7);
	for (int n = 0; rate && n <= 4; n++) {
		snprintf(text, sizeof text, "%d%%", 25 * n);
		add_tick(p, 0.25 * n, text, out);
	}
	for (int e = (int)p->low; !rate && e <= (int)p->high; e += step) {
		snprintf(text, sizeof text, "1e%d", e);
		add_tick(p, pow(10, e), text, out);
	}
}

/* The diagonal, and 10% (rates: 10 points) on either side. */
static void add_diagonals(const struct plot *p, struct gs_buf *out)
{
	bool rate = metrics[p->metric].kind == METRIC_RATE;
	double low = rate ? 0 : pow(10, p->low), high = rate ? 1 : pow(10, p->high);
	for (int side = -1; side <= 1; side++) {
		double factor = side < 0 ? 1 / 1.1 : side > 0 ? 1.1 : 1;
		double from = rate ? low + 0.1 * fmax(0, -side) : low * fmax(1, 1 / factor);
		double to = rate ? high - 0.1 * fmax(0, side) : high / fmax(1, factor);
		gs_buf_printf(out, "<line class='d' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'%s/>\n", x_of(p, from), x_of(p, to),
		              y_of(p, rate ? from + 0.1 * side : from * factor), y_of(p, rate ? to + 0.1 * side : to * factor),
		              side ? " stroke-dasharray='4 4'" : "");
	}
}

/* Half B is a square, so that it is told apart without a colour. */
static void add_point(const struct plot *p, const struct observation *o, struct gs_buf *out)
{
	double x = x_of(p, o->truth), y = y_of(p, o->estimate > 0 || metrics[p->metric].kind == METRIC_RATE ? o->estimate : pow(10, p->low));
	double error = observation_error(o);
	bool right = x > p->x + p->size * 0.75;
	if (o->half == 'B')
		gs_buf_printf(out, "<rect class='b' x='%.1f' y='%.1f' width='6' height='6'>", x - 3, y - 3);
	else
		gs_buf_printf(out, "<circle class='a' cx='%.1f' cy='%.1f' r='3.5'>", x, y);
	gs_buf_puts(out, "<title>");
	gs_buf_html(out, o->name);
	gs_buf_printf(out, ": %.10g, truth %.10g, %+.1f%%</title>%s\n", o->estimate, o->truth, 100 * error, o->half == 'B' ? "</rect>" : "</circle>");
	if (!p->named && fabs(error) < 0.25)
		return;
	gs_buf_printf(out, "<text class='n' x='%.1f' y='%.1f'%s>", right ? x - 6 : x + 6, y + 3, right ? " text-anchor='end'" : "");
	gs_buf_html(out, o->name);
	gs_buf_puts(out, "</text>\n");
}

static void add_plot(const struct correlation *c, const struct plot *p, struct gs_buf *out)
{
	struct statistics s = {0};
	struct gs_error err;
	statistics_of(c, &(struct selection){.metric = p->metric}, &s, &err);
	gs_buf_printf(out, "<text class='t' x='%.1f' y='%.1f'>%s: %zu cases, mean error %.1f%s</text>\n", p->x + p->edge, p->y + p->edge - 8,
	              metrics[p->metric].name, s.count, 100 * s.mean, metrics[p->metric].kind == METRIC_RATE ? " points" : "%");
	add_axes(p, out);
	add_diagonals(p, out);
	for (size_t i = 0; i < c->count; i++)
		if (is_shown(p, &c->list[i]))
			add_point(p, &c->list[i], out);
	gs_buf_printf(out, "<text x='%.1f' y='%.1f' text-anchor='middle'>truth</text><text x='%.1f' y='%.1f' text-anchor='middle' "
	              "transform='rotate(-90 %.1f %.1f)'>estimate</text>\n", p->x + p->size / 2, p->y + p->size - p->edge + 28, p->x + 12,
	              p->y + p->size / 2, p->x + 12, p->y + p->size / 2);
}

static void begin(struct gs_buf *out, const struct correlation *c, double width, double height)
{
	gs_buf_printf(out, "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f %.0f' role='img' "
	              "font-family='sans-serif' font-size='11'>\n<desc>", width, height, width, height);
	gs_buf_html(out, c->about.data ? c->about.data : "");
	gs_buf_puts(out, "</desc>\n<style>.g{stroke:#ddd}.d{stroke:#777}.a{fill:#1f5fa8}.b{fill:#b5472c}.n{font-size:9px;fill:#333}"
	                 ".t{font-weight:bold;font-size:13px}</style><rect width='100%' height='100%' fill='white'/>\n");
}

static void add_legend(const struct correlation *c, double y, struct gs_buf *out)
{
	bool halves = false;
	for (size_t i = 0; i < c->count && !halves; i++)
		halves = c->list[i].half != '-';
	gs_buf_printf(out, "<text x='50' y='%.0f'>Dashed: 10%% off.%s</text>\n", y, halves ? " Circles: half A of the kernels, squares: half B." : "");
}

void correlate_svg(const struct correlation *c, enum metric_id metric, struct gs_buf *out)
{
	struct plot p = {.metric = metric, .y = 0, .size = LARGE, .edge = 50, .named = true};
	begin(out, c, LARGE, LARGE + TITLE);
	if (set_axis(c, &p))
		add_plot(c, &p, out);
	add_legend(c, LARGE + 10, out);
	gs_buf_puts(out, "</svg>\n");
}

void correlate_panels_svg(const struct correlation *c, enum metric_id but, struct gs_buf *out)
{
	struct plot plots[METRIC_COUNT];
	int count = 0;
	for (int m = 0; m < METRIC_COUNT; m++) {
		struct plot p = {.metric = (enum metric_id)m, .x = count % PER_LINE * SMALL, .y = count / PER_LINE * SMALL, .size = SMALL, .edge = 42};
		if (p.metric != but && set_axis(c, &p))
			plots[count++] = p;
	}
	int lines = (count + PER_LINE - 1) / PER_LINE;
	begin(out, c, PER_LINE * SMALL, lines * SMALL + TITLE);
	for (int i = 0; i < count; i++)
		add_plot(c, &plots[i], out);
	add_legend(c, lines * SMALL + 10, out);
	gs_buf_puts(out, "</svg>\n");
}
