/* sweep_retention.h - removes sweeps that ended long ago, or that a person
 * names, with all their data.
 *
 * By default no sweep is removed by itself. With keep.sweep_days, a sweep is
 * removed when all its jobs ended longer ago than that, and no job of another
 * sweep took over a result of them. The last sweep stays, so that no number is
 * given twice. Its jobs are removed first, oldest first, each with its output
 * and collected files before its rows, in slices of some milliseconds; then the
 * sweep itself. An entry in the audit log says so.
 */
#pragma once

#include "controller/retention/retention_config.h"
#include "protocol/base/error.h"

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

/* A slice of removing a sweep that a person names, until until_ms; *more: call
 * it again after the next commit. EBUSY: a job has not ended, or its result is
 * another sweep's, too; or it is the last sweep. ENOENT.
 */
int sweep_retention_order(const struct retention_config *with,
			  struct sweep_retention *forget, uint64_t sweep,
			  int64_t until_ms, bool *more, struct error *err);
