/* hang.h - detects running jobs that show no sign of life.
 *
 * Signs of life are output of its commands or followed files, and bytes that
 * its processes write to files. Where a rule of its log format says `life`,
 * only figures and the lines of such rules count as output.
 *
 * A job hangs without a sign of life for the time that `hang` of its sweep
 * says. Without `hang` that time is the longer of 15 minutes and 30 median
 * steps, or 45 minutes where steps are expected and none came. A job that shows
 * no steps never hangs by itself. A job is suspected after the longer of 2
 * minutes and 10 median steps, or after half of the time to hang if that is
 * less. Its nodes look at its processes then, and once more before it is ended.
 */
#ifndef CONTROLLER_JOBS_HANG_H
#define CONTROLLER_JOBS_HANG_H

#include "controller/cluster/active_job.h"

/* Look at all running jobs. One whose launcher gave up and stayed
 * (launcher_end.h) ends as well.
 */
void hang_tick(struct jobs *jobs);

/* What a job has shown. */
struct hang_pace {
	uint64_t given_ms; /* `hang` of its sweep, or HANG_OFF; 0: none */
	bool expected;     /* its sweep names what its steps look like */
	size_t steps;      /* that were read */
	double step_ms;    /* the median; 0: not known */
};

/* After how many milliseconds without life it hangs, and is suspected; false:
 * it cannot hang.
 */
bool hang_limits(const struct hang_pace *pace, int64_t *limit,
		 int64_t *suspect);

bool hang_suspected(const struct gang *gang);

/* How long the last step that was read is ago, in seconds, where that is more
 * than three of the median ones; else 0.
 */
uint64_t hang_step_age(const struct gang *gang);

#endif
