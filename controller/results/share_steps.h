/* share_steps.h - which step a share of all epochs is.
 *
 * A program that numbers no steps says 'epoch': 0.15; a bar beside it says
 * 15/100. The step is the share of what an epoch has, total / epochs. Where the
 * number of epochs is not announced it follows from the bar, which is drawn
 * when time allows: the one before the share shows its step or an earlier one,
 * so there are at most share * total / bar epochs, and the one behind it shows
 * its step or a later one, so there are at least so many by that one. Steps
 * that were given before the bounds allowed it are given anew, a limited number
 * of times: a log may be made to change them with every line.
 */
#ifndef CONTROLLER_RESULTS_SHARE_STEPS_H
#define CONTROLLER_RESULTS_SHARE_STEPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct caught_value; /* controller/results/rules/fields.h */

#define SHARE_STEPS_MAX 16384 /* shares that are kept: the first ones */
#define SHARE_CHANGES_MAX 64  /* of the number of epochs */

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
	unsigned changes; /* of the number of epochs */
	bool unsure;      /* steps were given that do not hold */
};

void share_steps_clear(struct share_steps *shares);

/* What a match says, behind this bar; its step is open. */
struct share_seen share_seen(const struct caught_value *share, uint64_t bar);

/* Of the steps that the share may be of: the one that its bar shows, or the one
 * behind `last`; 0: none, or it cannot be told yet. total: of the progress; 0:
 * not known.
 */
uint64_t share_step(const struct share_steps *shares, uint64_t total,
		    const struct share_seen *seen, uint64_t last);

/* A share comes, or a bar behind one: it bounds the number of epochs. True: it
 * is another now, and share_step() gives other steps.
 */
bool share_steps_bound(struct share_steps *shares, uint64_t total,
		       const struct share_seen *seen);
bool share_steps_bar(struct share_steps *shares, uint64_t total, uint64_t bar);

/* This step was given to the share, in whatever way. */
void share_step_given(struct share_steps *shares, const struct share_seen *seen,
		      uint64_t step);

/* Why it is open which step some shares are of: no bar and no announcement says
 * how many there are, or bars were not drawn at each step. NULL: it is not.
 */
const char *share_steps_doubt(const struct share_steps *shares, uint64_t total);

#endif
