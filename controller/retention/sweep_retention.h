/* sweep_retention.h - sweeps that are over for long go, with all that is known
 * of them.
 *
 * For those who want that: results are what people come for, so by default
 * nothing is forgotten. A sweep goes when all of its jobs ended longer ago than
 * keep.sweep_days, and no job of another one has its result of one of
 * them; the last sweep stays. First its jobs go, oldest first, each with its
 * output and collected files before its rows, in slices of some milliseconds;
 * then the sweep itself. It is noted in the audit log.
 */
#ifndef CONTROLLER_RETENTION_SWEEP_RETENTION_H
#define CONTROLLER_RETENTION_SWEEP_RETENTION_H

#include "controller/retention/retention_config.h"

#include <stdbool.h>

/* Where it stands. All zero: at the beginning. */
struct sweep_retention {
	uint64_t sweep; /* that is looked at, or 0 */
	uint64_t after; /* its job that was done last; before: the sweep */
	uint64_t jobs;  /* that are gone */
	bool doomed;    /* it may go, and goes */
	int64_t rest_until_ms;
};

/* Do some of it; true: there is more to do at once. */
bool sweep_retention_some(const struct retention_config *with,
			  struct sweep_retention *forget, int64_t until_ms);

#endif
