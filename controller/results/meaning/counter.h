/* counter.h - finds the step of a log that names none: a whole number of
 * unknown name that rises by the same from record to record, "t=20", "@20", or
 * "20" in the first column. "20: " may be the label of a task, too: labels come
 * again.
 */
#pragma once

#include "controller/results/meaning/line.h"

#define COUNTER_LINES 16 /* that are held until it is found */

struct counter {
	struct counter_held {
		struct line_reading line; /* its texts are gone */
		double stamp;
	} held[COUNTER_LINES];
	size_t count;
	bool found;
	char name[LINE_NAME_MAX];
	size_t name_size;
	size_t order; /* among numbers of the same name */
};

/* Hold a record. True: with it, the counter is found, and the records that are
 * held have their steps.
 */
bool counter_hold(struct counter *counter, const struct line_reading *line,
		  double stamp);

/* Make the counter the step of the line, if the line has it. */
void counter_apply(const struct counter *counter, struct line_reading *line);
