/* hang.h - detects running jobs that show no sign of life.
 *
 * Signs of life are output, of its commands or of followed files, and bytes
 * that its processes write to files. Where rules of its format say `life`, of
 * the output figures and what these rules match are life alone. A job that has
 * shown steps hangs when there is none for 15 minutes and for 30 times its
 * median step; one that is to show steps and has not, for 45 minutes; with
 * `hang` in its sweep, for that long. A job that shows no steps hangs by `hang`
 * alone. It is suspected after 2 minutes and 10 median steps, or half of what
 * makes it hang: then its nodes look at its processes, and again before it is
 * ended.
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
