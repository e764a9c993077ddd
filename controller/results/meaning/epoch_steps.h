/* epoch_steps.h - counts the steps of a log over all its epochs.
 */
#pragma once

#include "controller/results/meaning/line.h"

#define EPOCH_MAX 1e9 /* a larger number is none */

/* The epoch that is read, and the steps before it. */
struct epoch_steps {
	bool begun;
	bool restarts; /* step numbers begin again in each epoch */
	bool whole;    /* the last step was said to be the last of its epoch */
	unsigned passed; /* ends of epochs behind which the numbers went on */
	bool ended;      /* a line that sums up an epoch was the last one */
	double first;
	double now;
	uint64_t base;
	uint64_t last;
	bool from_zero; /* steps of an epoch */
	double length;  /* of an epoch; 0: unknown */
	bool shares;    /* they have fractions, and steps count over all */
	/* The log begins in a later epoch, of unknown number from 0. */
	bool begins_late;
	bool guessed; /* lengths of epochs are those of their last line */
};

/* The number of a step over all epochs. The epoch is that of the line (`has`:
 * there is one); batch: the step's name says that it counts within an epoch.
 */
uint64_t step_over_all(struct epoch_steps *epochs, const struct line_pick *step,
		       const struct line_pick *epoch, bool batch);
