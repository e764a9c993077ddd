/* late_jobs.c - can anything of a sweep still end in its allocation?
 */
#include "controller/cli/run/late_jobs.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/state.h"

int late_jobs(struct client *client, uint64_t sweep, bool *all,
	      struct error *err)
{
	owned(rows_clear) struct rows jobs = { 0 };
	size_t open = 0, waiting = 0, late = 0;

	if (client_rows(client, QUERY_JOBS, sweep, "job", &jobs, err) < 0)
		return -1;
	for (size_t i = 0; i < jobs.count; i++) {
		const struct job_info *job = rows_at(&jobs, i);

		if (job_state_final(job_state_from(job->state)))
			continue;
		open++;
		waiting += job->waits != NULL;
		late += job->late;
	}
	*all = late && waiting == open;
	return 0;
}
