/* chart.h - curves as one SVG picture, to stand inside an HTML page.
 *
 * Colours are the page's (CSS classes chart, axis, grid, l0 .. l7), so that a
 * chart follows light, dark and paper; past the fourth, lines are dashed too.
 * All texts are escaped.
 */
#ifndef CONTROLLER_REPORT_CHART_H
#define CONTROLLER_REPORT_CHART_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <cjson/cJSON.h>
#include <stdbool.h>

#define CHART_LINES_MAX 1024
#define CHART_POINTS_MIN 3 /* a shorter line says nothing, and is not drawn */
#define CHART_LEGEND_MAX 8 /* lines that are told apart by name */

struct chart_line {
	const char *name;
	const cJSON *points; /* [[x, y] ...] by x; y null breaks the line */
};

struct chart {
	const char *title;
	const char *x_label;
	const char *y_label;
	struct chart_line lines[CHART_LINES_MAX];
	size_t count;
	bool from_zero; /* the y axis begins at 0 */
	bool band; /* more than CHART_LEGEND_MAX lines become their mean, in
		    * a band from the lowest to the highest
		    */
};

/* Has the curve enough finite points to be drawn? */
bool chart_draws(const cJSON *points);

/* Append the picture, of the lines that chart_draws(). Without any nothing is
 * drawn.
 */
int chart_svg(const struct chart *chart, struct buffer *out, struct error *err);

#endif
