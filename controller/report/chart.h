/* chart.h - draws curves as an SVG line chart for an HTML page.
 *
 * Colours are CSS classes of the page (chart, axis, grid, l0 .. l7), so that
 * they follow its light, dark and print styles. From the fifth on, lines are
 * also dashed. All texts are escaped.
 */
#pragma once

#include "controller/report/writer.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define CHART_LINES_MAX 1024
#define CHART_POINTS_MIN 3  /* shorter lines are not drawn */
#define CHART_LEGEND_MAX 12 /* groups that the legend names */

struct chart_line {
	const char *name; /* of its group, in the legend */
	size_t group; /* lines next to each other with one number: their mean,
			 in a band from the lowest to the highest */
	const cJSON *points; /* [[x, y] ...] sorted by x; y null: a gap */
};

struct chart {
	const char *title;
	const char *x_label;
	const char *y_label;
	struct chart_line lines[CHART_LINES_MAX];
	size_t count;
	bool from_zero;   /* the y axis begins at 0 */
	const char *note; /* below it, or NULL */
};

/* Does the curve have enough finite points to be drawn? */
bool chart_draws(const cJSON *points);

/* Append the chart of the lines for which chart_draws(). None: append nothing.
 */
void chart_svg(struct writer *to, const struct chart *chart);
