/* effects.c - the environment of jobs and nodes in the daemon.
 */
#include "controller/effects.h"

#include "controller/blobs/artifact_fetch.h"
#include "controller/blobs/blob_service.h"
#include "controller/blobs/blob_users.h"
#include "controller/jobs/gang.h"
#include "controller/jobs/jobs.h"
#include "controller/logs/log_journal.h"
#include "controller/logs/log_store.h"
#include "controller/nodes/node.h"
#include "protocol/base/clock.h"
#include "protocol/base/log.h"
#include "protocol/base/loop.h"
#include "protocol/wire/wire.h"

#include <errno.h>

#define PATIENCE_MS 50 /* of the reader, while the loop has other work */

static int64_t wall_ms(void *arg)
{
	return clock_wall_ms();
}

static int64_t mono_ms(void *arg)
{
	return clock_mono_ms();
}

static int effects_turn_run(sd_event_source *source, uint64_t usec, void *arg)
{
	return 0; /* the turn follows */
}

static void turn(void *arg)
{
	struct world *world = arg;

	loop_timer(world->loop, &world->settler, 0, effects_turn_run, NULL,
		   NULL);
}

static void reader_run(void *arg)
{
	struct world *world = arg;

	world->reads = false;
	deferral_stop(world->reader);
	loop_timer_stop(world->patience);
	jobs_read(world->jobs);
}

static int reader_late_run(sd_event_source *source, uint64_t usec, void *arg)
{
	reader_run(arg);
	return 0;
}

static void read_soon(void *arg)
{
	struct world *world = arg;
	struct error err;

	if (!world->reader)
		world->reader = deferral_new(world->loop, true, reader_run,
					     world, &err);
	if (world->reader)
		deferral_run(world->reader);
	else
		log_error("no reader: %s", err.text);
	/* Jobs end also while others keep the loop busy. */
	if (!world->reads)
		loop_timer(world->loop, &world->patience, PATIENCE_MS,
			   reader_late_run, world, NULL);
	world->reads = true;
}

static int effects_send(void *arg, const struct node *node,
			enum message_type type, const void *body,
			struct error *err)
{
	return node_peer(node) ? wire_server_send(node_peer(node), type, body,
						  NULL, 0, err)
			       : error_set(err, ENOTCONN, "out of reach");
}

static void effects_drop_node(void *arg, const struct node *node, int code,
			      const char *why)
{
	wire_server_drop(node_peer(node), code, why);
}

static int log_append(void *arg, const struct message_log *log,
		      const void *data, size_t size, uint64_t *length,
		      struct error *err)
{
	struct world *world = arg;

	return log_store_append(world->logs, log->job, log->attempt,
				log->stream, log->offset, data, size,
				clock_wall_ms(), length, err);
}

static int log_length(void *arg, uint64_t job, uint32_t attempt,
		      const char *stream, uint64_t *length, struct error *err)
{
	struct world *world = arg;

	return log_store_length(world->logs, job, attempt, stream, length, err);
}

static int log_read(void *arg, uint64_t job, uint32_t attempt,
		    const char *stream, uint64_t offset, void *data,
		    size_t size, size_t *got, struct error *err)
{
	struct world *world = arg;

	return log_store_read(world->logs, job, attempt, stream, offset, data,
			      size, got, err);
}

static int64_t log_time(void *arg, uint64_t job, uint32_t attempt,
			const char *stream, uint64_t offset)
{
	struct world *world = arg;
	int64_t ms = 0;

	log_store_time_at(world->logs, job, attempt, stream, offset, &ms, NULL);
	return ms;
}

static int log_sync(void *arg, uint64_t job, uint32_t attempt,
		    struct error *err)
{
	struct world *world = arg;

	return log_journal_sync(world->journal, job, attempt, err);
}

static void log_close(void *arg, uint64_t job, uint32_t attempt)
{
	struct world *world = arg;

	log_store_close(world->logs, job, attempt);
}

static int fetch(void *arg, struct node *node, const char *hash, uint64_t bytes,
		 struct error *err)
{
	const struct world *world = arg;

	return artifact_fetch_blob(world->fetches, node, hash, bytes, err);
}

/* It stays for a while after this use, in case the job is run again. */
static int keep_workspace(struct world *world, const struct job *job,
			  struct error *err)
{
	const char *hash = gang_spec(job_gang(job))->container.workspace;

	/* ENOENT: it was removed already. */
	if (hash &&
	    blob_users_keep_workspace(blob_service_store(world->blobs),
				      job_sweep(job), hash, err) < 0 &&
	    err->code != ENOENT)
		return -1;
	return 0;
}

static int effects_keep_files(void *arg, struct job *job, cJSON **files,
			      struct error *err)
{
	struct world *world = arg;
	cJSON *data = cJSON_CreateObject();
	struct artifact_fetch_list list = {
		.items = cJSON_AddArrayToObject(data, "files"),
	};
	int rc = keep_workspace(world, job, err);

	for (uint32_t i = 0; rc == 0 && i < gang_nodes(job_gang(job)); i++)
		rc = artifact_fetch_keep(world->fetches,
					 gang_task(job_gang(job), i), &list,
					 err);
	if (rc == 0)
		artifact_fetch_tell(&list);
	if (rc == 0 && (list.bytes || list.left_out))
		rc = blob_store_sync(blob_service_store(world->blobs), err);
	if (rc == 0 && (list.bytes || list.left_out))
		*files = data;
	else
		cJSON_Delete(data);
	return rc;
}

static void effects_count_change(void *arg, const struct job *job,
				 enum job_event event)
{
	struct world *world = arg;

	counters_changed(&world->counters, job, event, clock_wall_ms());
}

void effects_connect(struct world *world)
{
	world->effects = (struct job_effects){
		.arg = world,
		.wall_ms = wall_ms,
		.mono_ms = mono_ms,
		.turn = turn,
		.read_soon = read_soon,
		.send = effects_send,
		.drop = effects_drop_node,
		.log_append = log_append,
		.log_length = log_length,
		.log_read = log_read,
		.log_time = log_time,
		.log_sync = log_sync,
		.log_close = log_close,
		.fetch = fetch,
		.keep_files = effects_keep_files,
		.changed = effects_count_change,
	};
}

void effects_disconnect(struct world *world)
{
	loop_source_free(&world->settler);
	deferral_free(world->reader);
	loop_source_free(&world->patience);
}
