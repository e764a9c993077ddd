/* epoch_steps.c - counts the steps of a log over all its epochs.
 */
#include "controller/results/meaning/epoch_steps.h"

#include <math.h>

#define NEARLY 0.9 /* of its steps, when an epoch ends */
#define PASSED 2   /* ends of epochs behind which the steps went on */

/* Does "250/1000" in epoch 3/90 count from the start of the epoch? Over the
 * whole run, its share would be that of the epoch.
 */
static bool is_of_epoch(const struct line_pick *step,
			const struct line_pick *epoch, bool batch)
{
	double share = step->number / step->total;

	if (!isfinite(step->total) || !isfinite(epoch->total))
		return batch;
	return share < (epoch->number - 1) / epoch->total ||
	       share > (epoch->number + 1) / epoch->total;
}

/* The first line of a log in a later epoch: the steps of the epochs before. */
static void epochs_begin(struct epoch_steps *epochs,
			 const struct line_pick *step,
			 const struct line_pick *epoch, bool batch)
{
	/* "[3/90]" has no name. */
	bool named = epoch->role == ROLE_EPOCH || !isfinite(epoch->total);

	epochs->begun = true;
	epochs->first = epochs->now = epoch->number;
	epochs->from_zero = step->number == 0;
	epochs->begins_late |= epoch->number >= 2;
	if (epoch->number < 1 || !is_of_epoch(step, epoch, batch))
		return;
	epochs->restarts = true;
	/* "[3/90][250/1000]" counts from 0, "Epoch [3/90], Step" from 1. */
	if (epoch->number >= 2 || !named) {
		double before = epoch->number - (named ? 1 : 0);

		epochs->base = isfinite(step->total)
				       ? (uint64_t)(before * step->total)
				       : 0;
		epochs->begins_late |= before > 0;
	}
}

static void epochs_next(struct epoch_steps *epochs,
			const struct line_pick *step, double epoch)
{
	uint64_t number = (uint64_t)step->number;
	double grown = epoch - epochs->now;

	/* What went on through epochs, and is not near a start, does not begin
	 * again: a line of it came twice.
	 */
	if (grown > 0 && number > epochs->last)
		epochs->passed++;
	else if (grown > 0 &&
		 (epochs->passed < PASSED || number < epochs->last / 2))
		epochs->restarts = true;
	if (epochs->restarts && grown > 0) {
		double length = (double)(epochs->last + epochs->from_zero);

		/* A bar may go on behind its total, "15it [04:02, ", and 0/90
		 * stand beside 90/90.
		 */
		if (epochs->length >= (double)epochs->last)
			length = fmax(epochs->length, length);
		else if (!(epochs->length > 0))
			epochs->guessed = true;
		epochs->base += (uint64_t)(grown * length);
	} else if (epochs->restarts) {
		/* A restart of the training. */
		double done = epoch - epochs->first;
		double all = epochs->now - epochs->first;

		epochs->base =
			done > 0 ? (uint64_t)((double)epochs->base * done / all)
				 : 0;
	}
	epochs->now = epoch;
}

/* Steps that begin again after their total was reached, without a word of
 * epochs.
 */
static uint64_t step_without_epoch(struct epoch_steps *epochs,
				   const struct line_pick *step)
{
	uint64_t number = (uint64_t)step->number;
	bool falls = number < epochs->last ||
		     (epochs->whole && number == epochs->last);
	bool from_zero = epochs->from_zero;

	epochs->from_zero |= number == 0;
	if (falls && isfinite(step->total) &&
	    (epochs->ended || step->role != ROLE_STEP) &&
	    (double)epochs->last >= NEARLY * step->total) {
		epochs->base +=
			(uint64_t)fmax(step->total,
				       (double)(epochs->last + from_zero));
	} else if (falls && !isfinite(step->total) &&
		   (epochs->ended || step->role == ROLE_BATCH)) {
		epochs->base += epochs->last + epochs->from_zero;
		epochs->guessed = true;
	} else if (falls && epochs->base) {
		epochs->base = 0; /* a restart */
	}
	epochs->ended = epochs->whole = false;
	epochs->last = number;
	return epochs->base + number;
}

uint64_t step_over_all(struct epoch_steps *epochs, const struct line_pick *step,
		       const struct line_pick *epoch, bool batch)
{
	/* A share of all epochs is no epoch, nor is the next one, "2.00". */
	epochs->shares |= epoch->has && epoch->number != floor(epoch->number);
	if (!epoch->has || epochs->shares || epoch->number < 0 ||
	    epoch->number > EPOCH_MAX)
		return step_without_epoch(epochs, step);
	if (!epochs->begun)
		epochs_begin(epochs, step, epoch, batch);
	else if (epoch->number != epochs->now)
		epochs_next(epochs, step, epoch->number);
	epochs->from_zero |= step->number == 0;
	if (isfinite(step->total))
		epochs->length = step->total;
	epochs->last = (uint64_t)step->number;
	return epochs->base + epochs->last;
}
