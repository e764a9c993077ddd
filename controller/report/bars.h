/* bars.h - draws values of cells as an SVG bar chart.
 *
 * Colours are the CSS classes f0 .. f7 of the page, as in chart.h. All texts
 * are escaped.
 */
#pragma once

#include "controller/report/labels.h"
#include "controller/report/writer.h"

#define BARS_MAX 60 /* of a chart; it says how many more there are */
#define BARS_GROUPS_MAX 16
#define BARS_GROUP_SIZE 130

struct bar {
	char label[LABEL_SIZE]; /* short; a long one is cut */
	double value;           /* at least 0 */
	double low, high;       /* its spread; NAN: unknown */
	double limit; /* marked on the bar, such as a chip's memory; NAN: none
		       */
	size_t group; /* bars of one group share a colour */
};

struct bars {
	const char *title;
	const char *unit;
	const char *note; /* what the lines of bars mean, or NULL */
	struct bar *bars;
	size_t count;
	char groups[BARS_GROUPS_MAX][BARS_GROUP_SIZE]; /* a legend names them,
							  if two or more */
	size_t groups_count;
};

/* Make room for so many bars. Title and unit are set before, the rest is 0.
 * ENOMEM.
 */
int bars_init(struct bars *bars, size_t most, struct error *err);
void bars_clear(struct bars *bars);
OWNED_VALUE(struct bars, bars_clear)

/* The group of this name, which may be new; past BARS_GROUPS_MAX the last. */
size_t bars_group(struct bars *bars, const char *name);

/* Add a bar without label, spread and limit. */
struct bar *bars_add(struct bars *bars, double value, size_t group);

/* Append the chart. Fewer than two bars: append nothing. */
void bars_svg(struct writer *to, const struct bars *bars);
