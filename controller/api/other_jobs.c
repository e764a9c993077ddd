/* other_jobs.c - the active jobs as a simulation of the schedule takes them.
 */
#include "controller/api/other_jobs.h"

#include "controller/jobs/expected_time.h"
#include "controller/nodes/node.h"
#include "protocol/base/clock.h"

#include <stdlib.h>

#define TIMED_MAX 500 /* jobs: some 100 us for each */

void other_jobs_clear(struct other_jobs *others)
{
	free(others->items);
	*others = (struct other_jobs){ 0 };
}

static void others_append(struct other_jobs *others,
			  const struct schedule_other *other)
{
	if (others->count == others->room) {
		size_t room = others->room * 2 + 64;
		struct schedule_other *items =
			reallocarray(others->items, room, sizeof(*items));

		if (!items) {
			others->rc = error_nomem(others->err, "jobs");
			return;
		}
		others->items = items;
		others->room = room;
	}
	others->items[others->count++] = *other;
}

/* How long the job still takes; 0: unknown. */
static uint64_t rest_ms(struct other_jobs *others, const struct job *job)
{
	int64_t started_ms = job_started_ms(job), rest;

	if (others->timed++ >= TIMED_MAX)
		return 0;
	rest = expected_time(job);
	if (!rest)
		return 0;
	if (started_ms)
		rest -= others->now_ms - started_ms;
	return rest > 1000 ? (uint64_t)rest : 1000;
}

static void others_add_holding(struct other_jobs *others,
			       struct schedule_other *other,
			       const struct gang *gang)
{
	for (uint32_t rank = 0; rank < gang_nodes(gang) && others->rc == 0;
	     rank++) {
		struct task_hold *hold = task_hold(gang_task(gang, rank));

		if (!hold->held)
			continue;
		other->held = (struct placement){ node_index(hold->node),
						  hold->devices };
		others_append(others, other);
	}
}

/* job_fn: in the order of their numbers, as the queue has them. */
static void others_add_job(struct job *job, void *arg)
{
	struct other_jobs *others = arg;
	struct schedule_other other = { .priority = job_priority(job),
					.job = job_id(job) };

	if (others->rc < 0)
		return;
	others->jobs++;
	if (!job_gang(job) && job_state(job) != JOB_QUEUED)
		return;
	other.time_ms = rest_ms(others, job);
	if (job_gang(job)) {
		others_add_holding(others, &other, job_gang(job));
	} else {
		other.shape = job_shape(job);
		others_append(others, &other);
	}
}

int other_jobs_read(struct other_jobs *others, struct job_table *table,
		    struct error *err)
{
	others->now_ms = clock_wall_ms();
	others->err = err;
	job_each(table, others_add_job, others);
	return others->rc;
}
