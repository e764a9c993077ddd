/* share_steps.h - which step a share of all epochs is.
 *
 * A program that numbers no steps says 'epoch': 0.15; a bar beside it says
 * 15/100. The step is the share of what an epoch has, total / epochs. Where the
 * number of epochs is not announced it follows from the bar, which is drawn
 * when time allows: the one before the share shows its step or an earlier one,
 * so there are at most share * total / bar epochs, and the one behind it shows
 * its step or a later one, so there are at least so many by that one. Steps
 * that were given before the bounds allowed it are given anew.
 */
#ifndef CONTROLLER_RESULTS_SHARE_STEPS_H
#define CONTROLLER_RESULTS_SHARE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct caught_value; /* controller/results/rules/captures.h */
struct steps;        /* controller/results/steps.h */

struct share_seen {
	double low, high; /* of the share, which is rounded */
	double printed;
	uint64_t bar; /* the last one before it; 0: none */
	bool redrawn; /* the one behind it shows the same */
	uint64_t step;
};

struct share_steps {
	bool announced;     /* the number of epochs */
	uint64_t epochs;    /* that the total spans; 0: not known */
	double least, most; /* epochs, by the bars; most 0: no bar yet */
	struct share_seen *seen;
	size_t count, room;
	bool unsure; /* steps were given that do not hold */
};

void share_steps_clear(struct share_steps *shares);

/* The step of the share: 1; 0: it cannot be told. */
int share_step(struct steps *steps, const struct caught_value *share,
	       uint64_t *step);

/* This is the step that was given to the share, in whatever way. */
void share_step_given(struct steps *steps, const struct caught_value *share,
		      uint64_t step);

/* A bar was drawn: it bounds what came before it. */
void share_steps_bar(struct steps *steps);

/* Bars were not drawn at each step, and so they leave it open which one some
 * shares are of.
 */
bool share_steps_unsure(const struct steps *steps);

#endif
