/* line_bar.c - takes the times of steps from the bars between or in their
 * lines.
 */
#include "controller/results/meaning/line_bar.h"

#include <math.h>
#include <string.h>

void line_bar_draw(struct bar_pace *bar, const struct line_reading *line,
		   const struct line_pick *at)
{
	const struct bar_drawn drawn = {
		.at = at->number,
		.total = isfinite(at->total) ? at->total : 0,
		.clock = line->bar_clock,
		.pace_ms = line->picks[LINE_MS].number,
	};

	if (at->has && line->picks[LINE_MS].has)
		bar_pace_draw(bar, &drawn);
}

/* Its step has a name, and is not that of the bar. */
static void part_with_bar(struct bar_pace *bar, struct line_reading *line)
{
	size_t count = line->unnamed_count;
	struct line_pick *ms = &line->picks[LINE_MS];

	if (!line->bar || !line_names_step(line) || !count || ms->name_size ||
	    fabs(line->unnamed[count - 1].number -
		 line->picks[LINE_STEP].number) <= 1)
		return;
	line_bar_draw(bar, line, &line->unnamed[count - 1]);
	ms->has = false;
}

void line_bar_time(struct bar_pace *bar, struct line_reading *line,
		   uint64_t step)
{
	static const char name[] = "bar";
	struct line_pick *ms = &line->picks[LINE_MS];
	double number;

	part_with_bar(bar, line);
	if (ms->has || line->picks[LINE_OPEN_STEP_TIME].has)
		return;
	number = bar_pace_of(bar, step);
	if (!(number > 0))
		return;
	*ms = (struct line_pick){ .has = true,
				  .number = number,
				  .total = NAN,
				  .unit_s = NAN,
				  .name_size = sizeof(name) - 1,
				  .text = "",
				  .role = ROLE_STEP_TIME };
	memcpy(ms->name, name, ms->name_size);
}
