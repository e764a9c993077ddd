/* line_bar.h - takes the times of steps from the bars between or in their
 * lines.
 */
#pragma once

#include "controller/results/meaning/line.h"
#include "controller/results/rules/bar_pace.h"

/* A line that is nothing but a bar, or has one, which is at this number. */
void line_bar_draw(struct bar_pace *bar, const struct line_reading *line,
		   const struct line_pick *at);

/* Give the line of a step the time that the bar tells, if it has none. A bar in
 * the line itself is parted with if it may count something else.
 */
void line_bar_time(struct bar_pace *bar, struct line_reading *line,
		   uint64_t step);
