/* hang.h - detects running jobs that show no sign of life.
 *
 * Signs of life are output of its commands or followed files, and bytes that
 * its processes write to files. Where a rule of its log format says `life`,
 * only figures and the lines of such rules count as output.
 *
 * A job hangs when it shows no sign of life for the time `hang` of its sweep.
 * By default that is the longer of 15 minutes and 30 median steps, or 45
 * minutes where steps are expected and there are none yet. Without `hang`, a
 * job whose log shows no steps is never ended.
 *
 * A job is suspected after the longer of 2 minutes and 10 median steps, or
 * after half of the time to hang if that is less. Its nodes observe its
 * processes then, and once more before it is ended. They also do when a node or
 * device is first found that the others wait for (straggler.h).
 */
#pragma once

#include "controller/cluster/active_job.h"
#include "protocol/message/result.h"

/* Check all running jobs. It also ends a job whose launcher reported a failed
 * process, and does not end.
 */
void hang_tick(struct jobs *jobs);

/* The signs of life of a job, as far as limits depend on them. */
struct hang_pace {
	uint64_t given_ms; /* `hang` of its sweep, or HANG_OFF; 0: none */
	bool expected;     /* its sweep names a format or framework */
	size_t steps;      /* that were read */
	double step_ms;    /* the median; 0: not known */
};

/* Milliseconds without a sign of life after which it hangs, and after which it
 * is suspected; false: it is never ended.
 */
bool hang_limits(const struct hang_pace *pace, int64_t *limit,
		 int64_t *suspect);

bool hang_suspected(const struct gang *gang);

/* Whom the others wait for: by samples so far (NULL: nobody; else the caller
 * frees it, straggler_schema), and by what the nodes observed of a job that is
 * suspected or waits ("": nobody).
 */
int hang_straggler(const struct gang *gang, struct straggler **to,
		   struct error *err);
const char *hang_found(const struct gang *gang);

/* Seconds since the last step, if they are more than three median steps; else
 * 0.
 */
uint64_t hang_step_age(const struct gang *gang);
