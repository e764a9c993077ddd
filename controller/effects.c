/* effects.c - the world as the daemon gives it to jobs and nodes.
 */
#include "controller/effects.h"

#include "controller/blobs/artifact_fetch.h"
#include "controller/blobs/blob_service.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/job.h"
#include "controller/logs/log_ingest.h"
#include "controller/logs/log_store.h"
#include "controller/nodes/node.h"
#include "controller/store/store.h"
#include "controller/web/counters.h"
#include "protocol/base/file.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/wire/wire.h"

#include <errno.h>

static int64_t wall_ms(void *arg)
{
	return clock_wall_ms();
}

static int64_t mono_ms(void *arg)
{
	return clock_mono_ms();
}

static int deadline_run(sd_event_source *source, uint64_t usec, void *arg)
{
	gang_deadlines(arg);
	return 0;
}

static void wake_at(void *arg, int64_t at_ms)
{
	struct cluster *cluster = arg;
	int64_t left = at_ms - clock_mono_ms();

	loop_timer(cluster->loop, &cluster->deadline,
		   left > 0 ? (uint64_t)left : 0, deadline_run, cluster, NULL);
}

static int turn_run(sd_event_source *source, uint64_t usec, void *arg)
{
	return 0; /* the turn that follows goes on */
}

static void turn(void *arg)
{
	struct cluster *cluster = arg;

	loop_timer(cluster->loop, &cluster->settler, 0, turn_run, NULL, NULL);
}

static int reader_run(sd_event_source *source, void *arg)
{
	intake_read(arg);
	return 0;
}

static void read_soon(void *arg)
{
	struct cluster *cluster = arg;
	int rc = 0;

	if (!cluster->reader)
		rc = sd_event_add_defer(cluster->loop, &cluster->reader,
					reader_run, cluster);
	if (rc >= 0)
		rc = sd_event_source_set_priority(cluster->reader,
						  SD_EVENT_PRIORITY_IDLE);
	if (rc >= 0)
		rc = sd_event_source_set_enabled(cluster->reader,
						 SD_EVENT_ONESHOT);
	if (rc < 0)
		log_error("event loop: no reader: %s", strerror(-rc));
}

static int send(void *arg, const struct node *node, enum message_type type,
		const void *body, struct error *err)
{
	return node->peer
		       ? wire_server_send(node->peer, type, body, NULL, 0, err)
		       : error_set(err, ENOTCONN, "out of reach");
}

static void drop(void *arg, const struct node *node, int code, const char *why)
{
	wire_server_drop(node->peer, code, why);
}

static int record(void *arg, const struct event_row *event,
		  const struct job_row *state, struct error *err)
{
	struct cluster *cluster = arg;
	struct store_mark mark = store_mark(cluster->store);

	if (store_put_event(cluster->store, event, NULL, err) < 0)
		return -1;
	if (!state || store_set_job(cluster->store, state, err) == 0) {
		counters_event(cluster->counters, event, state);
		return 0;
	}
	store_undo(cluster->store, &mark);
	return -1;
}

static int log_append(void *arg, const struct message_log *log,
		      const void *data, size_t size, uint64_t *length,
		      struct error *err)
{
	struct cluster *cluster = arg;

	return log_store_append(cluster->logs, log->job, log->attempt,
				log->stream, log->offset, data, size,
				clock_wall_ms(), length, err);
}

static int log_length(void *arg, uint64_t job, uint32_t attempt,
		      const char *stream, uint64_t *length, struct error *err)
{
	struct cluster *cluster = arg;

	return log_store_length(cluster->logs, job, attempt, stream, length,
				err);
}

static int log_read(void *arg, uint64_t job, uint32_t attempt,
		    const char *stream, uint64_t offset, void *data,
		    size_t size, size_t *got, struct error *err)
{
	struct cluster *cluster = arg;

	return log_store_read(cluster->logs, job, attempt, stream, offset, data,
			      size, got, err);
}

static int64_t log_time(void *arg, uint64_t job, uint32_t attempt,
			const char *stream, uint64_t offset)
{
	struct cluster *cluster = arg;
	int64_t ms = 0;

	log_store_time_at(cluster->logs, job, attempt, stream, offset, &ms,
			  NULL);
	return ms;
}

static int log_sync(void *arg, uint64_t job, uint32_t attempt,
		    struct error *err)
{
	struct cluster *cluster = arg;

	return log_store_sync(cluster->logs, job, attempt, err);
}

static void log_close(void *arg, uint64_t job, uint32_t attempt)
{
	struct cluster *cluster = arg;

	log_store_close(cluster->logs, job, attempt);
}

static bool files_here(void *arg, struct task *task)
{
	return artifact_fetch_files(arg, task);
}

/* It was used now: it stays for a while, should the job be tried again. */
static int keep_workspace(struct cluster *cluster, const struct job *job,
			  struct error *err)
{
	const char *hash = job->gang->spec.container.workspace;

	/* One that is gone is kept by nobody. */
	if (hash &&
	    blob_service_keep_workspace(cluster, job->sweep, hash, err) < 0 &&
	    err->code != ENOENT)
		return -1;
	return 0;
}

static int keep_files(void *arg, struct job *job, cJSON **told,
		      struct error *err)
{
	struct cluster *cluster = arg;
	cJSON *data = cJSON_CreateObject();
	struct artifact_fetch_list list = {
		.items = cJSON_AddArrayToObject(data, "files"),
	};
	int rc = keep_workspace(cluster, job, err);

	for (uint32_t i = 0; rc == 0 && i < job->gang->spec.nodes; i++)
		rc = artifact_fetch_keep(cluster, &job->gang->tasks[i], &list,
					 err);
	if (rc == 0)
		artifact_fetch_tell(&list);
	if (rc == 0 && (list.bytes || list.left_out))
		rc = blob_store_sync(blob_service_contents(cluster), err);
	if (rc == 0 && (list.bytes || list.left_out))
		*told = data;
	else
		cJSON_Delete(data);
	return rc;
}

void effects_connect(struct cluster *cluster)
{
	static const struct job_effects effects = {
		.wall_ms = wall_ms,
		.mono_ms = mono_ms,
		.wake_at = wake_at,
		.turn = turn,
		.read_soon = read_soon,
		.send = send,
		.drop = drop,
		.record = record,
		.log_append = log_append,
		.log_length = log_length,
		.log_read = log_read,
		.log_time = log_time,
		.log_sync = log_sync,
		.log_close = log_close,
		.files_here = files_here,
		.keep_files = keep_files,
	};

	cluster->effects = &effects;
	cluster->world = cluster;
}

void effects_disconnect(struct cluster *cluster)
{
	loop_source_free(&cluster->deadline);
	loop_source_free(&cluster->settler);
	loop_source_free(&cluster->reader);
}
