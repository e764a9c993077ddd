/* finish.c - finishes a job whose output is complete. */
#include "controller/jobs/finish.h"
#include "controller/cluster/active_job.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/jobs/failure_reason.h"
#include "controller/jobs/job.h"
#include "controller/jobs/job_result.h"
#include "controller/jobs/node_commands.h"
#include "controller/jobs/race_rows.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"
#include "protocol/base/printable.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

/* Queues a job again whose attempt failed for no fault of its own. */

/* Is the job, whose output is complete, tried again? Failures of the
 * infrastructure are, up to the retries of its spec. An attempt whose node left
 * in time does not count.
 */
static bool job_may_retry(const struct job *job)
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

/* Discard the old attempt, and queue the job again. If that cannot be stored,
 * the next call repeats it.
 */
static void job_retry(struct job *job)
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

/* A final job is forgotten when no node holds anything of it any more. */
void job_forget_removed(struct job *job)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (task_hold(&job->gang->tasks[i])->held)
			return;
	if (job_event(job, JOB_EVENT_REMOVED, NULL, NULL) == 0)
		job_forget(job);
}

void job_drop_discarded(struct task *task)
{
	task->discarding = false;
	node_release(task->job->jobs->nodes, task);
	job_forget_removed(task->job);
}

/* The job is final: have containers and spools removed. A node that is out of
 * reach is told when it reports again.
 */
static void discard_all(struct job *job)
{
	uint32_t nodes = job->gang->spec.nodes;
	struct task *tasks = job->gang->tasks;

	for (uint32_t i = 0; i < nodes; i++) {
		tasks[i].discarding = true;
		node_command_discard(job->jobs, task_node(&tasks[i]),
				     &(struct message_discard){
					     job->id, job->attempt, i });
	}
	/* The last job_drop_discarded() frees the job. */
	for (uint32_t left = nodes, i = 0; i < nodes; i++) {
		if (node_peer(task_node(&tasks[i])))
			continue;
		left--;
		job_drop_discarded(&tasks[i]);
		if (!left)
			return;
	}
}

/* A completed job gets the remarks of its tasks, about their output. */
static void add_remarks(struct job *job)
{
	for (uint32_t i = 0; !job->text && i < job->gang->spec.nodes; i++) {
		const struct task *task = &job->gang->tasks[i];

		if (task->text && *task->text &&
		    asprintf(&job->text, "%s: %s", node_name(task_node(task)),
			     task->text) < 0)
			job->text = NULL;
	}
	if (job->text)
		printable(job->text, strlen(job->text));
}

/* Keep the collected files, and list them in an event. */
static int keep_files(struct job *job, struct error *err)
{
	cJSON *list = NULL;

	if (job->jobs->effects->keep_files(job->jobs->effects->arg, job, &list,
					   err) < 0)
		return -1;
	return list ? job_event(job, JOB_EVENT_FILES, list, err) : 0;
}

/* What is removed from the nodes must be safe on this disk. */
static int sync_output(struct job *job, struct error *err)
{
	struct gang *gang = job->gang;

	if (!gang->synced &&
	    job->jobs->effects->log_sync(job->jobs->effects->arg, job->id,
					 job->attempt, err) < 0)
		return -1;
	gang->synced = true;
	return 0;
}

static void stored_clear(struct stored_result *stored)
{
	codec_clear(&stored_result_schema, stored);
}
OWNED_VALUE(struct stored_result, stored_clear)

static int keep_result(struct job *job, struct error *err)
{
	owned(stored_clear) struct stored_result stored = { 0 };
	owned_free char *shared = NULL;
	struct reason reason;
	int failed;

	if (job_result_make(job, &stored, &shared, err) < 0)
		return -1;
	failed = failure_reason_find(job, &stored, &reason, err);
	if (failed < 0 || job_result_store(job, &stored, shared, err) < 0)
		return -1;
	if (failed)
		failure_reason_tell(job, &reason);
	return 0;
}

/* Store what belongs to the end of a job, each part once. A part that fails,
 * for example on a full disk, is repeated by the next call.
 */
static int keep_all(struct job *job, struct error *err)
{
	struct gang *gang = job->gang;

	if (!gang->kept && keep_files(job, err) < 0)
		return -1;
	gang->kept = true;
	if (!gang->measured && keep_result(job, err) < 0)
		return -1;
	gang->measured = true;
	return 0;
}

void job_finish(struct job *job)
{
	enum job_event event = JOB_EVENT_COMPLETE;
	struct error err = { 0 };
	int rc = sync_output(job, &err);

	if (rc == 0 && job_may_retry(job)) {
		job_retry(job);
		return;
	}
	if (rc == 0)
		rc = keep_all(job, &err);
	if (rc < 0) {
		log_error("job=%" PRIu64 " waits: %s", job->id, err.text);
		return;
	}
	if (job->failure == FAILURE_ENOUGH)
		job->failure = FAILURE_NONE; /* its text is a remark */
	if (job->failure == FAILURE_CANCELLED)
		event = JOB_EVENT_CANCEL;
	else if (job->failure && !race_accepts(job))
		event = JOB_EVENT_FAIL;
	else
		add_remarks(job);
	if (job_event(job, event, job_failure_data(job), &err) < 0)
		return;
	log_info("job=%" PRIu64 " %s%s%s", job->id, job_state_name(job->state),
		 job->text ? ": " : "", job->text ? job->text : "");
	job->gang->deadline_ms = 0;
	job->jobs->effects->log_close(job->jobs->effects->arg, job->id,
				      job->attempt);
	discard_all(job);
}
