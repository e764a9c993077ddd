/* log_read.c - request for a piece of a job's output. */
#include "controller/api/jobs.h"
#include "controller/api/streams.h"
#include "controller/jobs/job.h"
#include "controller/logs/log_store.h"
#include "controller/retention/retention.h"
#include "controller/store/store.h"
#include "protocol/message/reply_logs.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define PIECE_BYTES (256 << 10) /* in one answer */
#define TIMES_MAX 4096          /* in one answer */
#define TAIL_BYTES (64 << 20)   /* searched for the last lines, at most */

struct naming {
	const char *prefix;
	struct strings *names;
	struct error *err;
};

static int stream_add_name(const char *stream, uint64_t length, void *arg)
{
	struct naming *naming = arg;

	if (strncmp(stream, naming->prefix, strlen(naming->prefix)) != 0)
		return 0;
	return strings_add(naming->names, stream, naming->err);
}

/* The offset of the last read->tail_lines lines. */
static uint64_t tail_offset(const struct api *api,
			    const struct message_log_read *read,
			    uint32_t attempt, uint64_t length)
{
	owned_free char *piece = malloc(PIECE_BYTES);
	uint64_t end = length, lines = read->tail_lines + 1;

	while (piece && end && length - end < TAIL_BYTES) {
		size_t size = end < PIECE_BYTES ? (size_t)end : PIECE_BYTES;
		size_t got = 0;

		if (log_store_read(api->logs, read->job, attempt, read->stream,
				   end - size, piece, size, &got, NULL) < 0)
			return 0;
		/* The last line may have no newline. */
		if (end == length && got && piece[got - 1] != '\n')
			lines--;
		for (size_t i = got; i-- > 0;)
			if (piece[i] == '\n' && !--lines)
				return end - size + i + 1;
		end -= size;
	}
	return piece ? end : 0;
}

/* The times of arrival of the lines that begin in the piece. */
static int add_times(const struct api *api, const struct message_log_read *read,
		     struct reply_log_read *reply, const struct buffer *bytes,
		     struct error *err)
{
	int64_t before = -1;

	reply->times = calloc(TIMES_MAX, sizeof(*reply->times));
	if (!reply->times)
		return error_nomem(err, "times");
	for (size_t at = 0;
	     at < bytes->size && reply->times_count < TIMES_MAX;) {
		const char *end =
			memchr(bytes->data + at, '\n', bytes->size - at);
		int64_t now = 0;

		log_store_time_at(api->logs, read->job, reply->attempt,
				  read->stream, reply->offset + at, &now, NULL);
		if (now != before)
			reply->times[reply->times_count++] = (struct log_time){
				.offset = reply->offset + at,
				.time_ms = now,
			};
		before = now;
		if (!end)
			break;
		at = (size_t)(end - bytes->data) + 1;
	}
	return 0;
}

static int64_t exit_code_of(const struct job *job, enum job_state state)
{
	for (uint32_t i = 0;
	     job && job_gang(job) && i < gang_nodes(job_gang(job)); i++)
		if (task_exit_code(gang_task(job_gang(job), i)))
			return task_exit_code(gang_task(job_gang(job), i));
	return state == JOB_FAILED || state == JOB_CANCELLED;
}

static int log_read_piece(const struct api *api,
			  const struct message_log_read *read,
			  struct reply_log_read *reply, struct buffer *bytes,
			  struct error *err)
{
	uint64_t length = 0, offset = read->offset;
	uint32_t attempt = reply->attempt;
	size_t got = 0;

	if (log_store_length(api->logs, read->job, attempt, read->stream,
			     &length, err) < 0)
		return -1;
	if (!offset && read->tail_lines)
		offset = tail_offset(api, read, attempt, length);
	if (offset < length) {
		if (buffer_reserve(bytes, PIECE_BYTES, err) < 0 ||
		    log_store_read(api->logs, read->job, attempt, read->stream,
				   offset, bytes->data, PIECE_BYTES, &got,
				   err) < 0)
			return -1;
		bytes->size = got;
	}
	reply->offset = offset;
	reply->size = got;
	reply->length = length;
	if (string_set(&reply->stream, read->stream, err) < 0)
		return -1;
	return read->timestamps ? add_times(api, read, reply, bytes, err) : 0;
}

/* List the streams of the job whose output is read. */
static int log_read_add_streams(const struct api *api, uint64_t job,
				const char *wanted,
				struct reply_log_read *reply, struct error *err)
{
	struct naming ranks = { "rank-", &reply->streams, err };
	struct naming builds = { "build-", &reply->builds, err };

	/* A job without output has none. */
	log_store_streams(api->logs, job, reply->attempt, stream_add_name,
			  &ranks, NULL);
	/* A reader of a rank's output needs no list of files. */
	if (wanted && !strncmp(wanted, "rank-", 5))
		return 0;
	log_store_streams(api->logs, job, reply->attempt, stream_add_name,
			  &builds, NULL);
	return streams_describe(api, job, reply->attempt, false, &reply->files,
				&reply->files_count, err);
}

static int check_attempt(const struct message_log_read *read,
			 const struct job_facts *facts,
			 struct reply_log_read *reply, struct error *err)
{
	reply->attempt = read->attempt ? read->attempt : facts->attempt;
	if (reply->attempt <= facts->attempt)
		return 0;
	return error_set(err, ENOENT,
			 "job %" PRIu64 " has had %u attempt%s, not %u",
			 read->job, facts->attempt,
			 facts->attempt == 1 ? "" : "s", reply->attempt);
}

int api_log_read(struct api_request *request, void *reply, struct error *err)
{
	const struct message_log_read *read = request->message;
	const struct api *api = request->api;
	const struct job *job = job_find(api->table, read->job);
	struct message_log_read stored = *read; /* of the job with the output */
	struct job_facts facts;
	struct reply_log_read *to = reply;

	if (job_facts_read(api, read->job, &facts, err) < 0 ||
	    check_attempt(read, &facts, to, err) < 0)
		return -1;
	if (facts.origin)
		stored.job = facts.origin;
	to->job = read->job;
	to->final = to->attempt < facts.attempt || job_state_final(facts.state);
	to->exit_code = exit_code_of(job, facts.state);
	if (string_set(&to->state, job_state_name(facts.state), err) < 0 ||
	    log_read_add_streams(api, stored.job, read->stream, to, err) < 0)
		return -1;
	if (to->final && !to->streams.count)
		to->removed_ms = retention_removed(api->retention, stored.job,
						   to->attempt);
	if (!read->stream)
		return 0;
	if (to->removed_ms)
		return error_set(err, ENOENT,
				 "the output of job %" PRIu64
				 " was removed to make room",
				 stored.job);
	return log_read_piece(api, &stored, to, request->bytes, err);
}
