/* race.h - decides the races of a sweep: heats one after the other, then the
 * final (controller/race/race_rules.h).
 *
 * What a race does next is decided in the commit that stores the end of a job,
 * from the rows of all its cells (race_rows.h). So a killed controller has
 * stored both or neither, and decides the same again.
 *
 * All jobs of a race run on the nodes of the first one, one at a time: devices
 * of one model differ by more than layouts. A race leaves its nodes when one of
 * them is drained, or is down for so long that its jobs are given up.
 */
#pragma once

#include "controller/cluster/active_job.h"

/* End heats whose rate is known, or that cannot win; leave nodes that cannot
 * take jobs.
 */
void race_tick(struct jobs *jobs);

/* Decide what follows from the jobs that have ended; before the commit. */
void race_settle(struct jobs *jobs);

/* "34 of 61 heats, 5 in, 29 out, 14 never run; best heat tp=2: 3912 token/p/s",
 * of each race that is under way; "": none is.
 */
#define RACE_PROGRESS_MAX 1000
void race_progress(const struct jobs *jobs, uint64_t sweep, char *text,
		   size_t size);
