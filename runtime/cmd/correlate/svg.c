/* Plots estimates over truth. Both axes are logarithmic, except for rates; see correlate.h. */
#include "runtime/cmd/correlate/correlate.h"

#include "runtime/config/show.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { LARGE = 720, SMALL = 320, PER_LINE = 3, TITLE = 30 };

/* A square plot whose two axes are the same. */
struct plot {
	enum metric_id metric;
	double x, y, size, edge; /* position in the picture; edge: room for the axes */
	double low, high;        /* of the axis: logarithms to base 10, except for rates */
	bool named;              /* every point has its name; otherwise only points that are far off */
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
	bool rate = metrics[p->metric].kind == METRIC_RATE;
	size_t count = 0;
	p->low = INFINITY;
	p->high = -INFINITY;
	for (size_t i = 0; i < c->count; i++) {
		const struct observation *o = &c->list[i];
		if (!is_shown(p, o))
			continue;
		double estimate = o->estimate > 0 ? o->estimate : o->truth;
		p->low = fmin(p->low, rate ? 0 : log10(fmin(estimate, o->truth)));
		p->high = fmax(p->high, rate ? 1 : log10(fmax(estimate, o->truth)));
		count++;
	}
	double room = rate ? 0.02 : fmax(0.1, 0.04 * (p->high - p->low));
	p->low -= room;
	p->high += room;
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

/* "20 K", for example. The value is one digit and zeros. */
static const char *power_text(char text[SHOW_CELL], double value)
{
	static const char *const units[] = {"", " K", " M", " G", " T"};
	size_t u = 0;
	for (; u + 1 < GS_ARRAY_LEN(units) && value >= 999.5; u++)
		value /= 1000;
	snprintf(text, SHOW_CELL, "%g%s", value, units[u]);
	return text;
}

/* Marks at 1, 2 and 5 of every decade, or at every n-th decade. */
static void add_axes(const struct plot *p, struct gs_buf *out)
{
	static const int steps[] = {1, 2, 5};
	char text[SHOW_CELL];
	bool rate = metrics[p->metric].kind == METRIC_RATE;
	double decades = p->high - p->low;
	int step = decades < 6 ? 1 : (int)ceil(decades / 6), most = decades < (p->named ? 2.5 : 1.2) ? 3 : 1;
	for (int n = 0; rate && n <= 4; n++) {
		snprintf(text, sizeof text, "%d%%", 25 * n);
		add_tick(p, 0.25 * n, text, out);
	}
	for (int e = (int)floor(p->low); !rate && e <= (int)p->high; e += step)
		for (int k = 0; k < most; k++) {
			double value = pow(10, e) * steps[k];
			if (log10(value) >= p->low && log10(value) <= p->high)
				add_tick(p, value, power_text(text, value), out);
		}
}

/* The diagonal, and a line at 10% (rates: 10 points) on either side. */
static void add_diagonals(const struct plot *p, struct gs_buf *out)
{
	bool rate = metrics[p->metric].kind == METRIC_RATE;
	double low = rate ? p->low : pow(10, p->low), high = rate ? p->high : pow(10, p->high);
	for (int side = -1; side <= 1; side++) {
		double factor = side < 0 ? 1 / 1.1 : side > 0 ? 1.1 : 1;
		double from = rate ? low + 0.1 * fmax(0, -side) : low * fmax(1, 1 / factor);
		double to = rate ? high - 0.1 * fmax(0, side) : high / fmax(1, factor);
		gs_buf_printf(out, "<line class='d' x1='%.1f' x2='%.1f' y1='%.1f' y2='%.1f'%s/>\n", x_of(p, from), x_of(p, to),
		              y_of(p, rate ? from + 0.1 * side : from * factor), y_of(p, rate ? to + 0.1 * side : to * factor),
		              side ? " stroke-dasharray='4 4'" : "");
	}
}

/* ---- points and their names ---- */

enum { MOST_BOXES = 1024, LETTER = 5, LINE = 10 };

struct plot_box {
	double left, top, right, bottom;
};

/* Boxes that names must not cover. */
struct plot_boxes {
	struct plot_box list[MOST_BOXES];
	size_t count;
};

static void take_room(struct plot_boxes *b, struct plot_box box)
{
	if (b->count < MOST_BOXES)
		b->list[b->count++] = box;
}

static bool is_free(const struct plot_boxes *b, const struct plot *p, struct plot_box box)
{
	if (box.left < p->x + p->edge || box.right > p->x + p->size || box.top < p->y + p->edge || box.bottom > p->y + p->size - p->edge)
		return false;
	for (size_t i = 0; i < b->count; i++)
		if (box.left < b->list[i].right && b->list[i].left < box.right && box.top < b->list[i].bottom && b->list[i].top < box.bottom)
			return false;
	return true;
}

static double point_y(const struct plot *p, const struct observation *o)
{
	bool none = o->estimate <= 0 && metrics[p->metric].kind != METRIC_RATE;
	return y_of(p, none ? pow(10, p->low) : o->estimate);
}

/* A point of half B is a square, so that it can be seen without a colour. */
static void add_point(const struct plot *p, const struct observation *o, struct gs_buf *out)
{
	double x = x_of(p, o->truth), y = point_y(p, o);
	if (o->half == 'B')
		gs_buf_printf(out, "<rect class='b' x='%.1f' y='%.1f' width='6' height='6'>", x - 3, y - 3);
	else
		gs_buf_printf(out, "<circle class='a' cx='%.1f' cy='%.1f' r='3.5'>", x, y);
	gs_buf_puts(out, "<title>");
	gs_buf_html(out, o->name);
	gs_buf_printf(out, ": %.10g, truth %.10g, %+.1f%%</title>%s\n", o->estimate, o->truth, 100 * observation_error(o),
	              o->half == 'B' ? "</rect>" : "</circle>");
}

/* Puts a name at the nearest free place around the point, with a line to it if that is far. */
static void add_name(const struct plot *p, const struct observation *o, struct plot_boxes *taken, struct gs_buf *out)
{
	static const double distances[] = {8, 16, 26, 38, 54, 74};
	enum { DIRECTIONS = 16 };
	double x = x_of(p, o->truth), y = point_y(p, o), width = LETTER * (double)strlen(o->name);
	for (size_t d = 0; d < GS_ARRAY_LEN(distances); d++)
		for (int k = 0; k < DIRECTIONS; k++) {
			double angle = 2 * M_PI * k / DIRECTIONS, cx = x + distances[d] * cos(angle), cy = y - distances[d] * sin(angle);
			double left = cos(angle) < -0.1 ? cx - width : cos(angle) > 0.1 ? cx : cx - width / 2;
			struct plot_box box = {left, cy - LINE / 2.0, left + width, cy + LINE / 2.0};
			if (!is_free(taken, p, box))
				continue;
			take_room(taken, box);
			if (d > 0)
				gs_buf_printf(out, "<line class='l' x1='%.1f' y1='%.1f' x2='%.1f' y2='%.1f'/>", x, y, cx, cy);
			gs_buf_printf(out, "<text class='n' x='%.1f' y='%.1f'>", left, cy + 3);
			gs_buf_html(out, o->name);
			gs_buf_puts(out, "</text>\n");
			return;
		}
}

static void add_points(const struct correlation *c, const struct plot *p, struct gs_buf *out)
{
	struct plot_boxes taken = {.count = 0};
	for (size_t i = 0; i < c->count; i++)
		if (is_shown(p, &c->list[i])) {
			double x = x_of(p, c->list[i].truth), y = point_y(p, &c->list[i]);
			take_room(&taken, (struct plot_box){x - 4, y - 4, x + 4, y + 4});
			add_point(p, &c->list[i], out);
		}
	for (size_t i = 0; i < c->count; i++)
		if (is_shown(p, &c->list[i]) && (p->named || fabs(observation_error(&c->list[i])) >= 0.25))
			add_name(p, &c->list[i], &taken, out);
}

static void add_plot(const struct correlation *c, const struct plot *p, struct gs_buf *out)
{
	struct statistics s = {0};
	struct gs_error err;
	statistics_of(c, &(struct selection){.metric = p->metric}, &s, &err);
	gs_buf_printf(out, "<text class='t' x='%.1f' y='%.1f'>%s</text><text x='%.1f' y='%.1f'>%zu cases, mean error %.1f%s</text>\n", p->x + p->edge,
	              p->y + p->edge - 20, metrics[p->metric].name, p->x + p->edge, p->y + p->edge - 6, s.count, 100 * s.mean,
	              metrics[p->metric].kind == METRIC_RATE ? " points" : "%");
	add_axes(p, out);
	add_diagonals(p, out);
	add_points(c, p, out);
	if (!p->named) /* small plots have it in the legend */
		return;
	gs_buf_printf(out, "<text x='%.1f' y='%.1f' text-anchor='middle'>truth</text><text x='%.1f' y='%.1f' text-anchor='middle' "
	              "transform='rotate(-90 %.1f %.1f)'>estimate</text>\n", p->x + p->size / 2, p->y + p->size - p->edge + 28, p->x + 12,
	              p->y + p->size / 2, p->x + 12, p->y + p->size / 2);
}

static void begin_picture(struct gs_buf *out, const struct correlation *c, double width, double height)
{
	gs_buf_printf(out, "<svg xmlns='http://www.w3.org/2000/svg' width='%.0f' height='%.0f' viewBox='0 0 %.0f %.0f' role='img' "
	              "font-family='sans-serif' font-size='11'>\n<desc>", width, height, width, height);
	gs_buf_html(out, c->about.data ? c->about.data : "");
	gs_buf_puts(out, "</desc>\n<style>.g{stroke:#ddd}.d{stroke:#777}.a{fill:#1f5fa8}.b{fill:#b5472c}.n{font-size:9px;fill:#333}.l{stroke:#bbb;stroke-width:.6}"
	                 ".t{font-weight:bold;font-size:13px}</style><rect width='100%' height='100%' fill='white'/>\n");
}

static void add_legend(const struct correlation *c, double y, struct gs_buf *out)
{
	bool halves = false;
	for (size_t i = 0; i < c->count && !halves; i++)
		halves = c->list[i].half != '-';
	gs_buf_printf(out, "<text x='50' y='%.0f'>Across: truth; up: estimate; dashed: 10%% off.%s</text>\n", y, halves ? " Circles: half A of the kernels, squares: half B." : "");
}

void correlate_svg(const struct correlation *c, enum metric_id metric, struct gs_buf *out)
{
	struct plot p = {.metric = metric, .y = 0, .size = LARGE, .edge = 50, .named = true};
	begin_picture(out, c, LARGE, LARGE + TITLE);
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
		struct plot p = {.metric = (enum metric_id)m, .x = count % PER_LINE * SMALL, .y = count / PER_LINE * SMALL, .size = SMALL, .edge = 46};
		if (p.metric != but && set_axis(c, &p))
			plots[count++] = p;
	}
	int lines = (count + PER_LINE - 1) / PER_LINE;
	begin_picture(out, c, PER_LINE * SMALL, lines * SMALL + TITLE);
	for (int i = 0; i < count; i++)
		add_plot(c, &plots[i], out);
	add_legend(c, lines * SMALL + 10, out);
	gs_buf_puts(out, "</svg>\n");
}
