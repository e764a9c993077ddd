/* jobs.c - the core of the controller: jobs and nodes, for the daemon that
 * drives it.
 */
#include "controller/jobs/jobs.h"

#include "controller/images/logins.h"
#include "controller/images/sweep_image.h"
#include "controller/jobs/adaptive_repeats.h"
#include "controller/jobs/core.h"
#include "controller/jobs/dependencies.h"
#include "controller/jobs/failure_budget.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/hang.h"
#include "controller/jobs/job.h"
#include "controller/jobs/node_events.h"
#include "controller/jobs/race.h"
#include "controller/jobs/race_rows.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_reader.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "protocol/base/log.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#define SETTLE_MAX 4096 /* jobs in a turn: some 100 ms if all are skipped */

static int open_parts(struct jobs *jobs, const struct jobs_config *config,
		      struct error *err)
{
	jobs->table = job_table_new(err);
	jobs->queue = queue_new(err);
	if (!jobs->table || !jobs->queue)
		return -1;
	jobs->nodes = nodes_new(jobs->effects, jobs->store, jobs->changes, err);
	jobs->images = sweep_images_new(jobs->store, err);
	jobs->logins =
		sweep_logins_new(jobs->store, config->key, config->former, err);
	jobs->reader = log_reader_new(jobs->effects, jobs->changes,
				      jobs->catalog, err);
	jobs->ingest = log_ingest_new(jobs->effects, jobs->changes, err);
	return jobs->nodes && jobs->images && jobs->logins && jobs->reader &&
			       jobs->ingest
		       ? 0
		       : -1;
}

struct jobs *jobs_new(const struct jobs_config *config, struct error *err)
{
	owned(jobs_free) struct jobs *jobs = calloc(1, sizeof(*jobs));

	if (!jobs)
		return error_null(error_nomem(err, "jobs"));
	jobs->effects = config->effects;
	jobs->store = config->store;
	jobs->changes = config->changes;
	jobs->catalog = config->catalog;
	jobs->failures = config->failures;
	jobs->node_lost_ms = config->node_lost_ms;
	jobs->pods = config->pods;
	TAILQ_INIT(&jobs->due);
	TAILQ_INIT(&jobs->ended);
	TAILQ_INIT(&jobs->races_due);
	return open_parts(jobs, config, err) < 0 ? NULL : take(jobs);
}

void jobs_free(struct jobs *jobs)
{
	if (!jobs)
		return;
	if (jobs->table)
		job_free_all(jobs);
	repeats_free_all(jobs);
	race_free_all(jobs);
	log_ingest_free(jobs->ingest);
	log_reader_free(jobs->reader);
	sweep_logins_free(jobs->logins);
	sweep_images_free(jobs->images);
	nodes_free(jobs->nodes);
	queue_free(jobs->queue);
	job_table_free(jobs->table);
	free(jobs);
}

struct jobs_parts jobs_parts(const struct jobs *jobs)
{
	return (struct jobs_parts){
		.table = jobs->table,
		.nodes = jobs->nodes,
		.ingest = jobs->ingest,
		.images = jobs->images,
		.logins = jobs->logins,
	};
}

struct loading {
	struct jobs *jobs;
	struct error *err;
};

static int load_job(const struct job_row *row, void *arg)
{
	struct loading *loading = arg;

	return job_load(loading->jobs, row, loading->err);
}

int jobs_load(struct jobs *jobs, struct error *err)
{
	struct loading loading = { jobs, err };
	const struct gang *gang;

	if (node_load(jobs->nodes, err) < 0 ||
	    store_active_jobs(jobs->store, load_job, &loading, err) < 0)
		return -1;
	for (gang = gang_first(jobs->table); gang; gang = gang_next(gang))
		gang_resume(gang->job);
	return 0;
}

int jobs_note(struct jobs *jobs, uint64_t id, const char *text,
	      struct error *err)
{
	struct job *job = job_find(jobs->table, id);
	char *note = *text ? strdup(text) : NULL;

	if (!job || job->state != JOB_QUEUED || (*text && !note)) {
		free(note);
		return error_set(err, ENOENT, "no job %" PRIu64 " is queued",
				 id);
	}
	free(job->note);
	job->note = note;
	changes_add_job(jobs->changes, id);
	return 0;
}

void jobs_settle(struct jobs *jobs)
{
	adaptive_repeats_settle(jobs);
	race_settle(jobs);
}

bool jobs_reads_rows(const struct jobs *jobs)
{
	/* Pins, logins and specs are read where a job is placed, states of
	 * others where it waits for them or for its next repeat.
	 */
	return !TAILQ_EMPTY(&jobs->due) || !TAILQ_EMPTY(&jobs->ended) ||
	       !TAILQ_EMPTY(&jobs->races_due) || store_unseen(jobs->store);
}

/* What follows from the dependencies of a job; false: try again later. */
static bool follow_dependencies(struct jobs *jobs, struct job *job,
				enum dependencies found, const char *why)
{
	uint64_t id = job->id;
	struct error err;

	switch (found) {
	case DEPENDENCIES_FAILED:
	case DEPENDENCIES_LOST:
		gang_exception(job,
			       found == DEPENDENCIES_LOST ? FAILURE_PRUNED
							  : FAILURE_SKIPPED,
			       0, why);
		return job_find(jobs->table, id) != job;
	case DEPENDENCIES_COMPLETED:
		return job_enqueue(job, &err) == 0;
	case DEPENDENCIES_ACTIVE:
		return true;
	default:
		return false;
	}
}

static void settle_dependencies(struct jobs *jobs)
{
	const struct job *again = NULL; /* the first that is tried again */
	char why[DEPENDENCIES_WHY];
	enum dependencies found;
	struct job *job;

	for (size_t i = 0; i < SETTLE_MAX; i++) {
		if (again && TAILQ_FIRST(&jobs->due) == again)
			break;
		job = dependencies_next(jobs, &found, why);
		if (!job)
			break;
		if (follow_dependencies(jobs, job, found, why))
			continue;
		dependencies_due(job);
		again = again ? again : job;
	}
	if (!TAILQ_EMPTY(&jobs->due))
		jobs->effects->turn(jobs->effects->arg);
}

/* Sweeps of which too many jobs failed. */
struct stopping {
	uint64_t sweep;
	enum budget_stop how;
	char text[BUDGET_TEXT];
	bool unstored;
};

static void stop_queued(struct job *job, void *arg)
{
	struct stopping *stopping = arg;

	if (job->sweep != stopping->sweep || job->state != JOB_QUEUED)
		return;
	if (stopping->how == BUDGET_PAUSES) {
		queue_remove(job->jobs->queue, &job->shape, job->id);
		changes_add_job(job->jobs->changes, job->id);
	} else if (gang_exception(job, FAILURE_SKIPPED, 0, stopping->text) <
		   0) {
		stopping->unstored = true;
	}
}

/* What cannot be stored now is done by the next call. */
static void stop_sweeps(struct jobs *jobs)
{
	struct stopping stopping = { 0 };

	while ((stopping.how = failure_budget_stops(jobs, &stopping.sweep,
						    stopping.text))) {
		job_each(jobs->table, stop_queued, &stopping);
		if (stopping.unstored)
			return;
		failure_budget_stopped(jobs, stopping.sweep);
	}
}

static void let_queued(struct job *job, void *arg)
{
	const struct stopping *stopping = arg;
	struct error err;

	if (job->sweep != stopping->sweep || job->state != JOB_QUEUED)
		return;
	if (job_queue(job, &err) < 0)
		log_error("job=%" PRIu64 ": %s", job->id, err.text);
	changes_add_job(job->jobs->changes, job->id);
}

int jobs_resume_sweep(struct jobs *jobs, uint64_t sweep, struct error *err)
{
	struct stopping stopping = { .sweep = sweep };

	if (!failure_budget_paused(jobs, sweep))
		return 0;
	if (failure_budget_resume(jobs, sweep, err) < 0)
		return -1;
	job_each(jobs->table, let_queued, &stopping);
	return 0;
}

void jobs_decide(struct jobs *jobs)
{
	stop_sweeps(jobs);
	settle_dependencies(jobs);
	gang_schedule(jobs);
}

static void inventory_message(struct jobs *jobs, struct node *node,
			      struct message_inventory *message)
{
	struct error err;
	uint64_t lost;

	bool was_away = node_view(node)->engine_away.text;

	if (node_inventory(jobs->nodes, node, message, &lost, &err) < 0)
		log_error("node=%s: %s", node_name(node), err.text);
	else
		node_event_devices(node, lost);
	if (was_away != !!node_view(node)->engine_away.text)
		node_event_engine(jobs, node);
}

bool jobs_message(struct jobs *jobs, struct node *node, enum message_type type,
		  void *body, const void *payload, size_t size)
{
	switch (type) {
	case MESSAGE_REPORT:
		node_event_report(jobs, node, body);
		break;
	case MESSAGE_TASK:
		node_event_status(jobs, node,
				  &((struct message_task *)body)->task);
		break;
	case MESSAGE_PROGRESS:
		node_event_progress(jobs, node, body);
		break;
	case MESSAGE_LOG:
		output_append(jobs, node, body, payload, size);
		break;
	case MESSAGE_DISCARDED:
		node_event_discarded(jobs, node, body);
		break;
	case MESSAGE_INVENTORY:
		inventory_message(jobs, node, body);
		break;
	default:
		return false;
	}
	return true;
}

int jobs_node_joins(struct jobs *jobs, struct node *node,
		    struct wire_peer *peer, const char *public,
		    struct message_hello *hello, struct error *err)
{
	uint64_t lost;

	if (node_join(jobs->nodes, node, peer, public, hello, &lost, err) < 0)
		return -1;
	node_event_devices(node, lost);
	return 0;
}

void jobs_node_gone(struct jobs *jobs, struct node *node)
{
	node_leave(jobs->nodes, node);
	node_event_gone(jobs, node);
}

static void node_give_up(struct jobs *jobs, struct node *node)
{
	char why[KEY_NAME_SIZE + 60];

	snprintf(why, sizeof(why), "%s has been out of reach for %" PRIu64 " s",
		 node_name(node), jobs->node_lost_ms / 1000);
	node_event_lost(jobs, node, why);
}

void jobs_tick(struct jobs *jobs)
{
	int64_t now = effects_mono_ms(jobs->effects);
	int64_t wall = effects_wall_ms(jobs->effects);

	for (size_t i = 0; i < node_count(jobs->nodes); i++) {
		struct node *node = node_at(jobs->nodes, i);

		node_settle(jobs->nodes, node, wall);
		if (!node_peer(node) && node_first_task(node) &&
		    now - node_lost_since_ms(node) >
			    (int64_t)jobs->node_lost_ms)
			node_give_up(jobs, node);
	}
	jobs->schedule_due |= jobs->elsewhere;
	gang_tick(jobs);
	hang_tick(jobs);
	race_tick(jobs);
	output_check_files(jobs);
}

void jobs_extend_deadlines(struct jobs *jobs, int64_t stopped_ms)
{
	nodes_extend_deadlines(jobs->nodes, stopped_ms);
	gang_extend_deadlines(jobs);
}

void jobs_read(struct jobs *jobs)
{
	output_read(jobs);
}

void jobs_check_files(struct jobs *jobs)
{
	output_check_files(jobs);
}

static void jobs_cancel_one(struct job *job, void *arg)
{
	gang_exception(job, FAILURE_CANCELLED, 0, "the controller was stopped");
}

void jobs_drain(struct jobs *jobs)
{
	jobs->draining = true;
	job_each(jobs->table, jobs_cancel_one, NULL);
}

bool jobs_idle(const struct jobs *jobs)
{
	for (size_t i = 0; i < node_count(jobs->nodes); i++)
		if (node_discards(node_at(jobs->nodes, i)))
			return false;
	return !job_count(jobs->table);
}
