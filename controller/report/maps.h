/* maps.h - draws many cells by the keys of their matrix: a heat map by two
 * keys, and parallel coordinates by all.
 *
 * Colours are the CSS classes v0 (slow) .. v4 (fast) of the page. In parallel
 * coordinates a value can be picked: a few lines of script then fade the cells
 * without it; without scripts they are a picture. All texts are escaped.
 */
#pragma once

#include "controller/report/row.h"
#include "controller/report/writer.h"

#define MAPS_CELLS_MIN 25 /* fewer are told by bars */

/* Append both for the cells with rates in this unit; nothing if they are fewer
 * than MAPS_CELLS_MIN, or differ in fewer than two keys.
 */
void maps_svg(struct writer *to, const struct report_rows *cells,
	      enum rate_unit unit);
