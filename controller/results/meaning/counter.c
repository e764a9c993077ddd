/* counter.c - finds the step of a log that names none.
 */
#include "controller/results/meaning/counter.h"

#include <math.h>
#include <string.h>

#define RISES 2       /* by the same number */
#define TASKS_RISE 16 /* from the first task of a node to that of the next */

static const struct line_pick *counter_of(const struct counter *counter,
					  const struct line_reading *line)
{
	size_t order = counter->order;

	for (size_t i = 0; i < line->counter_count; i++) {
		const struct line_pick *pick = &line->counters[i];

		if (pick->name_size == counter->name_size &&
		    !memcmp(pick->name, counter->name, pick->name_size) &&
		    !order--)
			return pick;
	}
	return NULL;
}

/* How often does a number rise by the same until it counts? The labels of tasks
 * that print in their order do so, too, until the first one prints again.
 */
static unsigned rises_enough(const struct line_pick *pick, double rise)
{
	unsigned by = rise <= TASKS_RISE ? (unsigned)rise : 0;

	return pick->label && by && !(by & (by - 1)) ? COUNTER_LINES - 1
						     : RISES + pick->label;
}

/* By how much does the number rise from line to line, at last always? 0: it
 * does not. Ranks may print it several times. In another epoch it begins again.
 */
static double counter_rise(const struct counter *counter)
{
	const struct line_pick *before = NULL;
	double epoch = -1, rise = 0;
	unsigned rises = 0;

	for (size_t i = 0; i < counter->count; i++) {
		const struct line_reading *line = &counter->held[i].line;
		const struct line_pick *now = counter_of(counter, line);

		if (!now)
			return 0;
		if (line->picks[LINE_EPOCH].has &&
		    line->picks[LINE_EPOCH].number != epoch) {
			epoch = line->picks[LINE_EPOCH].number;
			rises = 0;
			rise = 0;
		} else if (before &&
			   (now->number < before->number ||
			    (now->label && now->number == before->number))) {
			return 0;
		} else if (before && now->number > before->number) {
			double by = now->number - before->number;

			rises = by == rise ? rises + 1 : 1;
			rise = by;
		}
		before = now;
	}
	return before && rises >= rises_enough(before, rise) ? rise : 0;
}

static void counter_name(struct counter *counter,
			 const struct line_reading *line, size_t at)
{
	const struct line_pick *pick = &line->counters[at];

	memcpy(counter->name, pick->name, pick->name_size);
	counter->name_size = pick->name_size;
	for (counter->order = 0; counter_of(counter, line) != pick;)
		counter->order++;
}

bool counter_hold(struct counter *counter, const struct line_reading *line,
		  double stamp)
{
	struct counter_held *held;
	double least = INFINITY;
	size_t best = 0;

	if (counter->count == COUNTER_LINES)
		memmove(counter->held, counter->held + 1,
			--counter->count * sizeof(*held));
	held = &counter->held[counter->count++];
	*held = (struct counter_held){ *line, stamp };
	line_forget_text(&held->line);
	for (size_t i = 0; i < line->counter_count; i++) {
		double rise;

		counter_name(counter, line, i);
		rise = counter_rise(counter);
		/* Steps rise slower than samples. */
		if (rise > 0 && rise < least) {
			least = rise;
			best = i;
		}
	}
	counter->found = isfinite(least);
	if (counter->found)
		counter_name(counter, line, best);
	for (size_t i = 0; i < counter->count && counter->found; i++)
		counter_apply(counter, &counter->held[i].line);
	return counter->found;
}

void counter_apply(const struct counter *counter, struct line_reading *line)
{
	const struct line_pick *pick = counter_of(counter, line);

	if (!pick)
		return;
	line->picks[LINE_STEP] = *pick;
	if (pick->label)
		line->rank = -1;
	line->nameless = true;
}
