/* chart.c - draws curves as an SVG line chart for an HTML page.
 */
#include "controller/report/chart.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define WIDTH 560
#define HEIGHT 240
#define LEFT 64  /* room for the labels */
#define RIGHT 24 /* for half of the last label */
#define TOP 28
#define BOTTOM 40
#define TICKS 5       /* about as many on an axis */
#define COLOURS 8     /* later lines repeat them, dashed */
#define STRETCHES 120 /* of a band */

/* One axis: what it spans, and its ticks at low, low + step ... */
struct axis {
	double low;
	double high;
	double step;
};

/* The nearest of 1, 2 and 5 times a power of ten. */
static double round_step(double step)
{
	double power = pow(10, floor(log10(step)));
	double head = step / power;

	return power * (head < 1.5 ? 1 : head < 3.5 ? 2 : head < 7.5 ? 5 : 10);
}

/* Widen the span to whole steps. Equal values get a span around them. */
static void axis_set(struct axis *axis, double low, double high)
{
	if (high - low < 1e-12 * fmax(fabs(high), 1e-300)) {
		double room = fmax(fabs(high) * 0.05, 1e-9);

		low -= room;
		high += room;
	}
	axis->step = round_step((high - low) / TICKS);
	axis->low = floor(low / axis->step) * axis->step;
	axis->high = ceil(high / axis->step) * axis->step;
}

static bool point_read(const cJSON *point, double *x, double *y)
{
	const cJSON *first = cJSON_GetArrayItem(point, 0);
	const cJSON *second = cJSON_GetArrayItem(point, 1);

	if (!cJSON_IsNumber(first) || !cJSON_IsNumber(second))
		return false;
	*x = first->valuedouble;
	*y = second->valuedouble;
	return isfinite(*x) && isfinite(*y);
}

bool chart_draws(const cJSON *points)
{
	const cJSON *point;
	size_t count = 0;
	double x, y;

	cJSON_ArrayForEach(point, points)
		if (point_read(point, &x, &y) && ++count == CHART_POINTS_MIN)
			return true;
	return false;
}

/* The lines that are drawn, and their axes. */
struct plot {
	struct writer *to;
	const struct chart_line
		*lines[CHART_LINES_MAX]; /* those with enough points */
	size_t count;
	double first, last; /* the smallest and the largest x of all points */
	struct axis x, y;
};

/* Choose the lines, and the axes for all their points. */
static void plot_init(struct plot *plot, const struct chart *chart)
{
	double low_y = 0, high_y = 0;
	bool any = false;
	const cJSON *point;
	double x, y;

	plot->count = 0;
	for (size_t i = 0; i < chart->count; i++) {
		if (!chart_draws(chart->lines[i].points))
			continue;
		plot->lines[plot->count++] = &chart->lines[i];
		cJSON_ArrayForEach(point, chart->lines[i].points) {
			if (!point_read(point, &x, &y))
				continue;
			plot->first = any ? fmin(plot->first, x) : x;
			plot->last = any ? fmax(plot->last, x) : x;
			low_y = any ? fmin(low_y, y) : y;
			high_y = any ? fmax(high_y, y) : y;
			any = true;
		}
	}
	if (!any)
		return;
	if (chart->from_zero && low_y > 0)
		low_y = 0;
	axis_set(&plot->x, plot->first, plot->last);
	axis_set(&plot->y, low_y, high_y);
}

static double place_x(const struct plot *plot, double x)
{
	return LEFT + (x - plot->x.low) / (plot->x.high - plot->x.low) *
			      (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct plot *plot, double y)
{
	return HEIGHT - BOTTOM -
	       (y - plot->y.low) / (plot->y.high - plot->y.low) *
		       (HEIGHT - TOP - BOTTOM);
}

/* The i-th tick; false: past the last. */
static bool tick_at(const struct axis *axis, int i, double *value)
{
	*value = axis->low + i * axis->step;
	return i <= (int)lround((axis->high - axis->low) / axis->step);
}

/* A tick near 0 is 0. */
static double tick_shown(const struct axis *axis, double value)
{
	return fabs(value) < axis->step / 2 ? 0 : value;
}

static void put_axes(const struct plot *plot)
{
	double value;

	for (int i = 0; tick_at(&plot->x, i, &value); i++)
		writer_printf(plot->to,
			      "<text class=\"axis\" x=\"%.1f\" y=\"%d\" "
			      "text-anchor=\"middle\">%.6g</text>\n",
			      place_x(plot, value), HEIGHT - BOTTOM + 14,
			      tick_shown(&plot->x, value));
	for (int i = 0; tick_at(&plot->y, i, &value); i++) {
		double y = place_y(plot, value);

		writer_printf(plot->to,
			      "<line class=\"grid\" x1=\"%d\" x2=\"%d\" "
			      "y1=\"%.1f\" y2=\"%.1f\"/>"
			      "<text class=\"axis\" x=\"%d\" y=\"%.1f\" "
			      "text-anchor=\"end\">%.6g</text>\n",
			      LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4,
			      tick_shown(&plot->y, value));
	}
}

/* The class of a group's line; later ones are dashed, too. */
static void plot_begin_line(const struct plot *plot, size_t group)
{
	const char *dashes = group < COLOURS / 2 ? ""
			     : group < COLOURS   ? " stroke-dasharray=\"6 2\""
						 : " stroke-dasharray=\"2 2\"";

	writer_printf(plot->to, "<path class=\"l%zu\" fill=\"none\"",
		      group % COLOURS);
	writer_raw(plot->to, dashes);
	writer_raw(plot->to, " d=\"");
}

static void plot_put_line(const struct plot *plot, size_t line, size_t group)
{
	bool pen = false;
	const cJSON *point;
	double x, y;

	plot_begin_line(plot, group);
	cJSON_ArrayForEach(point, plot->lines[line]->points) {
		if (!point_read(point, &x, &y)) {
			pen = false;
			continue;
		}
		/* A line of no length, with round ends, is a dot. */
		writer_printf(plot->to, pen ? "L%.1f %.1f" : "M%.1f %.1fh0",
			      place_x(plot, x), place_y(plot, y));
		pen = true;
	}
	writer_raw(plot->to, "\"/>\n");
}

/* The lines behind the group that begins with this one. */
static size_t group_end(const struct plot *plot, size_t line)
{
	size_t end = line + 1;

	while (end < plot->count &&
	       plot->lines[end]->group == plot->lines[line]->group)
		end++;
	return end;
}

static size_t plot_groups(const struct plot *plot)
{
	size_t groups = 0;

	for (size_t i = 0; i < plot->count; i = group_end(plot, i))
		groups++;
	return groups;
}

static void plot_put_legend(const struct plot *plot, const char *note)
{
	size_t groups = plot_groups(plot), group = 0;
	bool named = groups > 1 && groups <= CHART_LEGEND_MAX;

	if (!named && !note)
		return;
	writer_raw(plot->to, "<figcaption>");
	for (size_t i = 0; named && i < plot->count; i = group_end(plot, i))
		writer_printf(plot->to, "<span class=\"k%zu\">%s</span> ",
			      group++ % COLOURS, plot->lines[i]->name);
	if (note)
		writer_printf(plot->to, "<span class=\"mute\">%s</span>", note);
	writer_raw(plot->to, "</figcaption>\n");
}

/* The lowest, mean and highest value of each stretch of the x axis. */
struct band {
	double low[STRETCHES], mean[STRETCHES], high[STRETCHES];
	size_t count[STRETCHES];
};

static void band_fill(struct band *band, const struct plot *plot, size_t from,
		      size_t end)
{
	double width = fmax(plot->last - plot->first, 1e-9) / STRETCHES;
	const cJSON *point;
	double x, y;

	for (size_t i = from; i < end; i++)
		cJSON_ArrayForEach(point, plot->lines[i]->points) {
			size_t at;

			if (!point_read(point, &x, &y))
				continue;
			at = (size_t)fmin((x - plot->first) / width,
					  STRETCHES - 1);
			if (!band->count[at]++) {
				band->low[at] = band->high[at] = y;
			} else {
				band->low[at] = fmin(band->low[at], y);
				band->high[at] = fmax(band->high[at], y);
			}
			band->mean[at] += y;
		}
	for (size_t i = 0; i < STRETCHES; i++)
		if (band->count[i])
			band->mean[i] /= (double)band->count[i];
}

/* The values along a band; back: from its end, after another edge. */
static void put_edge(const struct plot *plot, const struct band *band,
		     const double *values, bool back)
{
	bool begun = back;

	for (size_t k = 0; k < STRETCHES; k++) {
		size_t i = back ? STRETCHES - 1 - k : k;
		double x = plot->first + ((double)i + 0.5) *
						 (plot->last - plot->first) /
						 STRETCHES;

		if (!band->count[i])
			continue;
		writer_printf(plot->to, begun ? "L%.1f %.1f" : "M%.1f %.1f",
			      place_x(plot, x), place_y(plot, values[i]));
		begun = true;
	}
}

static void put_band(const struct plot *plot, size_t from, size_t end,
		     size_t group)
{
	struct band band = { 0 };

	band_fill(&band, plot, from, end);
	writer_printf(plot->to, "<path class=\"band f%zu\" d=\"",
		      group % COLOURS);
	put_edge(plot, &band, band.high, false);
	put_edge(plot, &band, band.low, true);
	writer_raw(plot->to, "Z\"/>\n");
	plot_begin_line(plot, group);
	put_edge(plot, &band, band.mean, false);
	writer_raw(plot->to, "\"/>\n");
}

void chart_svg(struct writer *to, const struct chart *chart)
{
	struct plot plot = { .to = to };

	plot_init(&plot, chart);
	if (!plot.count)
		return;
	writer_printf(to,
		      "<figure><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
		      "role=\"img\">\n"
		      "<text class=\"name\" x=\"%d\" y=\"16\">%s</text>\n"
		      "<text class=\"axis\" x=\"%d\" y=\"%d\" "
		      "text-anchor=\"end\">%s</text>\n"
		      "<text class=\"axis\" x=\"%d\" y=\"16\" "
		      "text-anchor=\"end\">%s</text>\n",
		      WIDTH, HEIGHT, LEFT, chart->title, WIDTH - RIGHT,
		      HEIGHT - 8, chart->x_label, WIDTH - RIGHT,
		      chart->y_label);
	put_axes(&plot);
	for (size_t i = 0, end, group = 0; i < plot.count; i = end, group++) {
		end = group_end(&plot, i);
		if (end - i > 1)
			put_band(&plot, i, end, group);
		else
			plot_put_line(&plot, i, group);
	}
	writer_raw(to, "</svg>\n");
	plot_put_legend(&plot, chart->note);
	writer_raw(to, "</figure>\n");
}
