/* retry.c - queues a job again whose attempt failed for no fault of its own. */
#include "controller/jobs/retry.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/jobs/job.h"
#include "controller/jobs/node_commands.h"
#include "controller/nodes/node.h"
#include "controller/scheduler/scheduler.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>

bool job_may_retry(const struct job *job)
{
	if (job->failure == FAILURE_PREEMPTED)
		return true;
	if (!failure_infrastructure(job->failure) ||
	    job->attempt - job->first_attempt >= job->gang->spec.retries)
		return false;
	/* What a node lacks or cannot do, another one may; but no node has an
	 * image that no registry has.
	 */
	if (job->failure == FAILURE_PREFLIGHT &&
	    (job->code == ENOENT || job->code == ENOTSUP))
		return blame_leaves_others(job);
	return job->code != ENOENT;
}

void job_retry(struct job *job)
{
	uint32_t attempt = job->attempt;
	struct gang *gang = job->gang;
	uint32_t first = job->first_attempt;
	struct error err;

	job->first_attempt += job->failure == FAILURE_PREEMPTED;
	if (job_event(job, JOB_EVENT_RETRY, job_failure_data(job), &err) < 0) {
		job->first_attempt = first;
		return;
	}
	log_warning("job=%" PRIu64 " attempt=%u failed, trying again: %s: %s",
		    job->id, attempt, failure_name(job->failure),
		    job->text ? job->text : "");
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct message_discard discard = { job->id, attempt, i };
		struct node *node = task_node(&gang->tasks[i]);

		if (!node_peer(node))
			continue;
		node_command_discard(job->jobs, node, &discard);
		node_add_discard(job->jobs->nodes, node, &discard);
	}
	job->jobs->effects->log_close(job->jobs->effects->arg, job->id,
				      attempt);
	job_drop_gang(job);
	job_clear_failure(job);
	if (job_enqueue(job, &err) < 0)
		log_error("job=%" PRIu64 ": %s", job->id, err.text);
}
