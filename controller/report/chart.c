/* chart.c - curves as one SVG picture, to stand inside an HTML page.
 */
#include "controller/report/chart.h"

#include "controller/report/html_text.h"

#include <math.h>
#include <stdbool.h>
#include <string.h>

#define WIDTH 560
#define HEIGHT 240
#define LEFT 64  /* room for the labels */
#define RIGHT 24 /* for half of the last one */
#define TOP 28
#define BOTTOM 40
#define TICKS 5       /* about as many on an axis */
#define COLOURS 8     /* then they come again, dashed */
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

/* Widen to whole steps. All values the same is a span, too. */
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
	{
		if (point_read(point, &x, &y) && ++count == CHART_POINTS_MIN)
			return true;
	}
	return false;
}

/* What all points span; false: there is none. */
static bool find_extent(const struct chart *chart, double span[4])
{
	bool any = false;
	const cJSON *point;
	double x, y;

	for (size_t i = 0; i < chart->count; i++)
		cJSON_ArrayForEach(point, chart->lines[i].points)
		{
			if (!point_read(point, &x, &y))
				continue;
			span[0] = any ? fmin(span[0], x) : x;
			span[1] = any ? fmax(span[1], x) : x;
			span[2] = any ? fmin(span[2], y) : y;
			span[3] = any ? fmax(span[3], y) : y;
			any = true;
		}
	return any;
}

static double place_x(const struct axis *axis, double x)
{
	return LEFT + (x - axis->low) / (axis->high - axis->low) *
			      (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct axis *axis, double y)
{
	return HEIGHT - BOTTOM -
	       (y - axis->low) / (axis->high - axis->low) *
		       (HEIGHT - TOP - BOTTOM);
}

static int put_x_axis(const struct axis *axis, struct buffer *out,
		      struct error *err)
{
	int ticks = (int)lround((axis->high - axis->low) / axis->step);

	for (int i = 0; i <= ticks; i++) {
		double value = axis->low + i * axis->step;

		if (buffer_printf(out, err,
				  "<text class=\"axis\" x=\"%.1f\" y=\"%d\" "
				  "text-anchor=\"middle\">%.6g</text>\n",
				  place_x(axis, value), HEIGHT - BOTTOM + 14,
				  fabs(value) < axis->step / 2 ? 0 : value) < 0)
			return -1;
	}
	return 0;
}

static int put_y_axis(const struct axis *axis, struct buffer *out,
		      struct error *err)
{
	int ticks = (int)lround((axis->high - axis->low) / axis->step);

	for (int i = 0; i <= ticks; i++) {
		double value = axis->low + i * axis->step;
		double y = place_y(axis, value);

		if (buffer_printf(out, err,
				  "<line class=\"grid\" x1=\"%d\" x2=\"%d\" "
				  "y1=\"%.1f\" y2=\"%.1f\"/>"
				  "<text class=\"axis\" x=\"%d\" y=\"%.1f\" "
				  "text-anchor=\"end\">%.6g</text>\n",
				  LEFT, WIDTH - RIGHT, y, y, LEFT - 6, y + 4,
				  fabs(value) < axis->step / 2 ? 0 : value) < 0)
			return -1;
	}
	return 0;
}

static int put_line(const struct chart *chart, size_t line,
		    const struct axis axes[2], struct buffer *out,
		    struct error *err)
{
	const char *dashes = line < COLOURS / 2 ? ""
			     : line < COLOURS   ? " stroke-dasharray=\"6 2\""
						: " stroke-dasharray=\"2 2\"";
	bool pen = false;
	const cJSON *point;
	double x, y;

	if (buffer_printf(out, err, "<path class=\"l%zu\" fill=\"none\"%s d=\"",
			  line % COLOURS, dashes) < 0)
		return -1;
	cJSON_ArrayForEach(point, chart->lines[line].points)
	{
		if (!point_read(point, &x, &y)) {
			pen = false;
			continue;
		}
		/* A line of no length, with round ends, is a dot. */
		if (buffer_printf(out, err, pen ? "L%.1f %.1f" : "M%.1f %.1fh0",
				  place_x(&axes[0], x),
				  place_y(&axes[1], y)) < 0)
			return -1;
		pen = true;
	}
	return buffer_text(out, "\"/>\n", err);
}

static int put_words(const struct chart *chart, struct buffer *out,
		     struct error *err)
{
	if (buffer_printf(out, err, "<text class=\"name\" x=\"%d\" y=\"16\">",
			  LEFT) < 0 ||
	    html_text(out, chart->title, err) < 0 ||
	    buffer_printf(out, err,
			  "</text>\n<text class=\"axis\" x=\"%d\" y=\"%d\" "
			  "text-anchor=\"end\">",
			  WIDTH - RIGHT, HEIGHT - 8) < 0 ||
	    html_text(out, chart->x_label, err) < 0 ||
	    buffer_printf(out, err,
			  "</text>\n<text class=\"axis\" x=\"%d\" y=\"16\" "
			  "text-anchor=\"end\">",
			  WIDTH - RIGHT) < 0 ||
	    html_text(out, chart->y_label, err) < 0)
		return -1;
	return buffer_text(out, "</text>\n", err);
}

static int put_legend(const struct chart *chart, struct buffer *out,
		      struct error *err)
{
	if (chart->count < 2 || chart->count > CHART_LEGEND_MAX)
		return 0;
	if (buffer_text(out, "<figcaption>", err) < 0)
		return -1;
	for (size_t i = 0; i < chart->count; i++)
		if (buffer_printf(out, err, "<span class=\"k%zu\">",
				  i % COLOURS) < 0 ||
		    html_text(out, chart->lines[i].name, err) < 0 ||
		    buffer_text(out, "</span> ", err) < 0)
			return -1;
	return buffer_text(out, "</figcaption>\n", err);
}

/* Of each stretch of the x axis the lowest, the mean and the highest. */
struct band {
	double low[STRETCHES], sum[STRETCHES], high[STRETCHES];
	size_t count[STRETCHES];
};

static void band_add(struct band *band, const struct chart *chart,
		     const double span[4])
{
	double width = fmax(span[1] - span[0], 1e-9) / STRETCHES;
	const cJSON *point;
	double x, y;

	for (size_t i = 0; i < chart->count; i++)
		cJSON_ArrayForEach(point, chart->lines[i].points)
		{
			size_t at;

			if (!point_read(point, &x, &y))
				continue;
			at = (size_t)fmin((x - span[0]) / width, STRETCHES - 1);
			if (!band->count[at]++) {
				band->low[at] = band->high[at] = y;
			} else {
				band->low[at] = fmin(band->low[at], y);
				band->high[at] = fmax(band->high[at], y);
			}
			band->sum[at] += y;
		}
}

/* One way along a band; `begun`: there is a point before. */
static int put_edge(const struct band *band, const double *y, bool mean,
		    bool back, bool begun, const double span[4],
		    const struct axis axes[2], struct buffer *out,
		    struct error *err)
{
	for (size_t k = 0; k < STRETCHES; k++) {
		size_t i = back ? STRETCHES - 1 - k : k;
		double x = span[0] +
			   ((double)i + 0.5) * (span[1] - span[0]) / STRETCHES;

		if (!band->count[i])
			continue;
		if (buffer_printf(out, err, begun ? "L%.1f %.1f" : "M%.1f %.1f",
				  place_x(&axes[0], x),
				  place_y(&axes[1],
					  mean ? y[i] / (double)band->count[i]
					       : y[i])) < 0)
			return -1;
		begun = true;
	}
	return 0;
}

static int put_band(const struct chart *chart, const double span[4],
		    const struct axis axes[2], struct buffer *out,
		    struct error *err)
{
	struct band band = { 0 };

	band_add(&band, chart, span);
	if (buffer_text(out, "<path class=\"band\" d=\"", err) < 0 ||
	    put_edge(&band, band.high, false, false, false, span, axes, out,
		     err) < 0 ||
	    put_edge(&band, band.low, false, true, true, span, axes, out, err) <
		    0 ||
	    buffer_text(out, "Z\"/>\n<path class=\"l0\" fill=\"none\" d=\"",
			err) < 0 ||
	    put_edge(&band, band.sum, true, false, false, span, axes, out,
		     err) < 0)
		return -1;
	return buffer_text(out, "\"/>\n", err);
}

static int put_lines(const struct chart *chart, const double span[4],
		     const struct axis axes[2], struct buffer *out,
		     struct error *err)
{
	if (chart->band && chart->count > CHART_LEGEND_MAX)
		return put_band(chart, span, axes, out, err);
	for (size_t i = 0; i < chart->count; i++)
		if (put_line(chart, i, axes, out, err) < 0)
			return -1;
	return 0;
}

/* Leave out the lines that are too short. */
static void drop_short(const struct chart *from, struct chart *to)
{
	*to = *from;
	to->count = 0;
	for (size_t i = 0; i < from->count; i++)
		if (chart_draws(from->lines[i].points))
			to->lines[to->count++] = from->lines[i];
}

int chart_svg(const struct chart *given, struct buffer *out, struct error *err)
{
	struct chart lines, *chart = &lines;
	double span[4];
	struct axis axes[2];

	drop_short(given, chart);
	if (!find_extent(chart, span))
		return 0;
	if (chart->from_zero && span[2] > 0)
		span[2] = 0;
	axis_set(&axes[0], span[0], span[1]);
	axis_set(&axes[1], span[2], span[3]);
	if (buffer_printf(out, err,
			  "<figure><svg class=\"chart\" viewBox=\"0 0 %d %d\" "
			  "role=\"img\">\n",
			  WIDTH, HEIGHT) < 0 ||
	    put_words(chart, out, err) < 0 ||
	    put_x_axis(&axes[0], out, err) < 0 ||
	    put_y_axis(&axes[1], out, err) < 0 ||
	    put_lines(chart, span, axes, out, err) < 0 ||
	    buffer_text(out, "</svg>\n", err) < 0 ||
	    put_legend(chart, out, err) < 0)
		return -1;
	return buffer_text(out, "</figure>\n", err);
}
