/* bar_pace.h - takes the time of a step from the progress bar beside its
 * record.
 *
 * Many programs print losses without a time, under a bar that has the pace:
 * "30/500 [01:02<16:20, 2.05s/it]". It is that of the steps if the bar moves as
 * they do from record to record. It is a moving mean, which is absurd after the
 * jump of a run that was resumed: it counts only if the clock of the bar bears
 * it out over some seconds. Bars of other totals, such as those of evaluations,
 * are ignored once a bar has moved with the steps.
 */
#pragma once

#include <stdbool.h>
#include <stdint.h>

/* A bar that was drawn. NaN: it does not say. */
struct bar_drawn {
	double at; /* of the total */
	double total;
	double clock; /* seconds since its start */
	double pace_ms;
};

struct bar_pace {
	struct bar_drawn now; /* the last one */
	/* Bars before records: one of some seconds ago, and the last. */
	struct bar_place {
		double at;
		double clock;
		uint64_t step; /* of the record */
	} far, near;
	bool begun; /* these are known */
	/* Records with which the bar moved as the steps did, or not. */
	unsigned hits, misses;
};

void bar_pace_draw(struct bar_pace *bar, const struct bar_drawn *drawn);

/* The time in ms of the step of a record that has none, by the bar before it;
 * NaN: it does not tell.
 */
double bar_pace_of(struct bar_pace *bar, uint64_t step);
