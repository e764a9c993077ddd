/* counter.c - finds the step of a log that names none.
 */
#include "controller/results/meaning/counter.h"

#include <math.h>
#include <string.h>

#define RISES 2 /* by the same number */

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
		} else if (before && now->number < before->number) {
			return 0;
		} else if (before && now->number > before->number) {
			double by = now->number - before->number;

			rises = by == rise ? rises + 1 : 1;
			rise = by;
		}
		before = now;
	}
	return rises >= RISES ? rise : 0;
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
		  double stamp, int64_t rank)
{
	struct counter_held *held;
	double least = INFINITY;
	size_t best = 0;

	if (counter->count == COUNTER_LINES)
		memmove(counter->held, counter->held + 1,
			--counter->count * sizeof(*held));
	held = &counter->held[counter->count++];
	*held = (struct counter_held){ *line, stamp, rank };
	for (size_t i = 0; i < LINE_VALUES; i++)
		held->line.picks[i].text_size = 0;
	for (size_t i = 0; i < line->counter_count; i++) {
		double rise;

		held->line.counters[i].text_size = 0;
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
	line->nameless = true;
}
