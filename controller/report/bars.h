/* bars.h - draws values of cells as an SVG bar chart.
 *
 * Colours are the CSS classes f0 .. f7 of the page, as in chart.h. All texts
 * are escaped.
 */
#ifndef CONTROLLER_REPORT_BARS_H
#define CONTROLLER_REPORT_BARS_H

#include "protocol/base/buffer.h"
#include "protocol/base/error.h"

#include <stddef.h>

#define BARS_MAX 60 /* of a chart; it says how many more there are */

struct bar {
	const char *label; /* short; a long one is cut */
	double value;      /* at least 0 */
	double low, high;  /* its spread; NAN: unknown */
	double limit; /* marked on the bar, such as a chip's memory; NAN: none
		       */
	size_t group; /* bars of one group share a colour */
};

struct bars {
	const char *title;
	const char *unit;
	const struct bar *bars;
	size_t count;
	const char *const *groups; /* their names; a legend if two or more */
	size_t groups_count;
};

/* Append the chart. Fewer than two bars: append nothing. */
int bars_svg(const struct bars *bars, struct buffer *out, struct error *err);

#endif
