/* sweep_retention.h - removes sweeps that ended long ago, with all their data.
 *
 * By default no sweep is removed. With keep.sweep_days, a sweep is removed when
 * all its jobs ended longer ago than that, and no job of another sweep took
 * over a result of them. The last sweep stays. Its jobs are removed first,
 * oldest first, each with its output and collected files before its rows, in
 * slices of some milliseconds; then the sweep itself. An entry in the audit log
 * says so.
 */
#ifndef CONTROLLER_RETENTION_SWEEP_RETENTION_H
#define CONTROLLER_RETENTION_SWEEP_RETENTION_H

#include "controller/retention/retention_config.h"

#include <stdbool.h>

/* The progress. All zero: at the beginning. */
struct sweep_retention {
	uint64_t sweep; /* that is checked or removed, or 0 */
	uint64_t after; /* the last job that is done */
	uint64_t jobs;  /* that are removed */
	bool doomed;    /* it is being removed */
	int64_t rest_until_ms;
};

/* Work until until_ms; true: there is more to do at once. */
bool sweep_retention_some(const struct retention_config *with,
			  struct sweep_retention *forget, int64_t until_ms);

#endif
