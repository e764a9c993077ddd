/* other_jobs.h - the active jobs as a simulation of the schedule takes them.
 */
#ifndef CONTROLLER_API_OTHER_JOBS_H
#define CONTROLLER_API_OTHER_JOBS_H

#include "controller/api/schedule_simulation.h"

struct job;
struct job_table;

struct other_jobs {
	struct schedule_other *items; /* jobs in the order of their numbers */
	size_t count, room;
	size_t jobs; /* that wait, or hold nodes */
	/* Private: */
	size_t timed;
	int64_t now_ms;
	struct error *err;
	int rc;
};

/* All active jobs of the table, whose shapes are borrowed. The caller clears
 * *others, which was zero, also after a failure: ENOMEM. Only of some hundred
 * jobs it is looked up how long they still take, 0.1 ms for each.
 */
int other_jobs_read(struct other_jobs *others, struct job_table *table,
		    struct error *err);
void other_jobs_clear(struct other_jobs *others);
OWNED_VALUE(struct other_jobs, other_jobs_clear)

#endif
