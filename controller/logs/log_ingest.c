/* log_ingest.c - receives the output of jobs and appends it to the log
 * store.
 */
#include "controller/logs/log_ingest.h"
#include "controller/logs/task_streams.h"
#include "controller/nodes/node.h"
#include "protocol/base/log.h"
#include "protocol/message/evidence.h"
#include "protocol/message/stream_index.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#define FULL_RETRY_MS 1000 /* when the disk is full */

struct log_ingest {
	const struct job_effects *effects;
	struct changes *changes;
	uint64_t stored_bytes;
	bool full; /* the disk is full; that is in the log */
};

struct log_ingest *log_ingest_new(const struct job_effects *effects,
				  struct changes *changes, struct error *err)
{
	struct log_ingest *ingest = calloc(1, sizeof(*ingest));

	if (!ingest)
		return error_null(error_nomem(err, "log ingest"));
	ingest->effects = effects;
	ingest->changes = changes;
	return ingest;
}

void log_ingest_free(struct log_ingest *ingest)
{
	free(ingest);
}

uint64_t log_ingest_stored_bytes(const struct log_ingest *ingest)
{
	return ingest->stored_bytes;
}

static void send_ack(struct log_ingest *ingest, const struct task *task,
		     const struct message_log_ack *ack)
{
	struct error err;

	if (node_peer(task_node(task)) &&
	    ingest->effects->send(ingest->effects->arg, task_node(task),
				  MESSAGE_LOG_ACK, ack, &err) < 0)
		log_error("node=%s: %s", node_name(task_node(task)), err.text);
}

static void tell_length(struct log_ingest *ingest, const struct task *task,
			char *name)
{
	struct message_log_ack ack = {
		.job = job_id(task_job(task)),
		.attempt = job_attempt(task_job(task)),
		.rank = task_rank(task),
		.stream = name,
		.refused = true,
	};

	if (ingest->effects->log_length(ingest->effects->arg, ack.job,
					ack.attempt, name, &ack.length,
					NULL) == 0)
		send_ack(ingest, task, &ack);
}

void log_ingest_tell_lengths(struct log_ingest *ingest, const struct task *task)
{
	char name[TASK_STREAM_SIZE];
	const struct stream_size *streams;
	size_t count;

	for (uint32_t i = 0; task_stream_at(task, i, name); i++)
		tell_length(ingest, task, name);
	streams = task_streams(task, &count);
	for (size_t i = 0; i < count; i++)
		if (stream_index_belongs(task_rank(task), streams[i].name) ||
		    evidence_is_stream(task_rank(task), streams[i].name))
			tell_length(ingest, task, streams[i].name);
}

/* Returns the bits of log_ingest_append(). */
static unsigned int append_refused(struct log_ingest *ingest,
				   const struct task *task,
				   const struct message_log *log, size_t size,
				   struct message_log_ack *ack,
				   const struct error *err)
{
	ack->refused = true;
	if (err->code == EINVAL)
		return LOG_EXPECTED; /* the node continues at the length */
	if (err->code == E2BIG) {
		if (!task_crowded(task))
			log_error("job=%" PRIu64 " stream=%s: %s", log->job,
				  log->stream, err->text);
		ack->refused = false;
		ack->length = log->offset + size;
		return LOG_EXPECTED | LOG_CROWDED;
	}
	ack->retry_ms = FULL_RETRY_MS;
	if (!ingest->full)
		log_error("job=%" PRIu64 " stream=%s: %s; trying again",
			  log->job, log->stream, err->text);
	ingest->full = true;
	return LOG_EXPECTED;
}

unsigned int log_ingest_append(struct log_ingest *ingest,
			       const struct task *task,
			       const struct message_log *log, const void *data,
			       size_t size)
{
	const struct job_effects *effects = ingest->effects;
	struct message_log_ack ack = {
		.job = log->job,
		.attempt = log->attempt,
		.rank = log->rank,
		.stream = log->stream,
		.turn = log->turn,
	};
	unsigned int found = LOG_EXPECTED | LOG_STORED;
	struct error err;

	if (!task_stream_expected(task, log->stream)) {
		effects->drop(effects->arg, task_node(task), EPROTO,
			      "output of a stream that the task does not have");
		return 0;
	}
	if (effects->log_append(effects->arg, log, data, size, &ack.length,
				&err) < 0)
		found = append_refused(ingest, task, log, size, &ack, &err);
	else
		ingest->full = false;
	if (ack.length == log->offset + size)
		ingest->stored_bytes += size;
	send_ack(ingest, task, &ack);
	changes_add_job(ingest->changes, log->job);
	return found;
}

bool log_ingest_complete(const struct log_ingest *ingest,
			 const struct task *task)
{
	const struct job_effects *effects = ingest->effects;
	const struct job *job = task_job(task);
	size_t count;
	const struct stream_size *streams = task_streams(task, &count);

	for (size_t i = 0; i < count; i++) {
		const struct stream_size *stream = &streams[i];
		uint64_t length = 0;

		if (!task_stream_expected(task, stream->name))
			continue;
		if (effects->log_length(effects->arg, job_id(job),
					job_attempt(job), stream->name, &length,
					NULL) < 0 ||
		    (length < stream->size && (length || !task_crowded(task))))
			return false;
	}
	return true;
}
