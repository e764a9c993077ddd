/* logread.c - a piece of a job's output, for a person who reads it.
 */
#include "controller/server/logread.h"
#include "controller/jobs/job.h"
#include "controller/logs/log_store.h"
#include "controller/logs/retention.h"
#include "controller/server/files.h"
#include "controller/store/store.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define TIMES_MAX 4096        /* in one answer */
#define TAIL_BYTES (64 << 20) /* searched for lines: nobody waits for more */

/* What the answer needs to know of the job. */
struct subject {
	uint32_t attempt;
	enum job_state state;
	uint64_t origin;
};

static int read_subject(const struct job_row *row, void *arg)
{
	struct subject *subject = arg;

	subject->attempt = row->attempt;
	subject->state = row->state;
	subject->origin = row->origin;
	return 0;
}

static int add_build(const char *stream, uint64_t length, void *arg)
{
	if (!strncmp(stream, "build-", 6))
		cJSON_AddItemToArray(arg, cJSON_CreateString(stream));
	return 0;
}

static int add_stream(const char *stream, uint64_t length, void *arg)
{
	if (!strncmp(stream, "rank-", 5))
		cJSON_AddItemToArray(arg, cJSON_CreateString(stream));
	return 0;
}

/* Where the last `lines` lines begin. */
static uint64_t tail_offset(struct cluster *cluster,
			    const struct message_log_read *read,
			    uint32_t attempt, uint64_t length)
{
	owned_free char *piece = malloc(LOGREAD_BYTES);
	uint64_t end = length, lines = read->tail_lines + 1;

	while (piece && end && length - end < TAIL_BYTES) {
		size_t size = end < LOGREAD_BYTES ? (size_t)end : LOGREAD_BYTES;
		size_t got = 0;

		if (log_store_read(cluster->logs, read->job, attempt,
				   read->stream, end - size, piece, size, &got,
				   NULL) < 0)
			return 0;
		/* A line's end at the very end of the file counts too. */
		if (end == length && got && piece[got - 1] != '\n')
			lines--;
		for (size_t i = got; i-- > 0;)
			if (piece[i] == '\n' && !--lines)
				return end - size + i + 1;
		end -= size;
	}
	return piece ? end : 0;
}

/* [[offset, wall ms] ...]: when the lines came that begin in the piece. */
static cJSON *line_times(struct cluster *cluster,
			 const struct message_log_read *read, uint32_t attempt,
			 uint64_t offset, const struct buffer *bytes)
{
	cJSON *times = cJSON_CreateArray();
	int64_t before = -1;
	size_t count = 0;

	for (size_t at = 0; at < bytes->size && count < TIMES_MAX;) {
		const char *end =
			memchr(bytes->data + at, '\n', bytes->size - at);
		int64_t now = 0;

		log_store_time_at(cluster->logs, read->job, attempt,
				  read->stream, offset + at, &now, NULL);
		if (now != before) {
			const double pair[2] = { (double)(offset + at),
						 (double)now };

			cJSON_AddItemToArray(times,
					     cJSON_CreateDoubleArray(pair, 2));
			count++;
		}
		before = now;
		if (!end)
			break;
		at = (size_t)(end - bytes->data) + 1;
	}
	return times;
}

static int64_t exit_code_of(const struct job *job, enum job_state state)
{
	for (uint32_t i = 0; job && job->gang && i < job->gang->spec.nodes; i++)
		if (job->gang->tasks[i].exit_code)
			return job->gang->tasks[i].exit_code;
	return state == JOB_FAILED || state == JOB_CANCELLED;
}

static int read_piece(struct cluster *cluster,
		      const struct message_log_read *read, uint32_t attempt,
		      cJSON *body, struct buffer *bytes, struct error *err)
{
	uint64_t length = 0, offset = read->offset;
	size_t got = 0;

	if (log_store_length(cluster->logs, read->job, attempt, read->stream,
			     &length, err) < 0)
		return -1;
	if (!offset && read->tail_lines)
		offset = tail_offset(cluster, read, attempt, length);
	if (offset < length) {
		if (buffer_reserve(bytes, LOGREAD_BYTES, err) < 0 ||
		    log_store_read(cluster->logs, read->job, attempt,
				   read->stream, offset, bytes->data,
				   LOGREAD_BYTES, &got, err) < 0)
			return -1;
		bytes->size = got;
	}
	cJSON_AddStringToObject(body, "stream", read->stream);
	cJSON_AddNumberToObject(body, "offset", (double)offset);
	cJSON_AddNumberToObject(body, "size", (double)got);
	cJSON_AddNumberToObject(body, "length", (double)length);
	if (read->timestamps)
		cJSON_AddItemToObject(body, "times",
				      line_times(cluster, read, attempt, offset,
						 bytes));
	return 0;
}

cJSON *logread(struct cluster *cluster, const struct message_log_read *read,
	       struct buffer *bytes, struct error *err)
{
	const struct job *job = job_find(cluster, read->job);
	struct message_log_read stored = *read; /* whose output it is */
	struct subject subject = { 0 };
	int64_t removed_ms = 0;
	uint32_t attempt;
	bool final;
	cJSON *body;

	if (store_job(cluster->store, read->job, read_subject, &subject, err) <
	    0)
		return NULL;
	attempt = read->attempt ? read->attempt : subject.attempt;
	if (attempt > subject.attempt) {
		error_set(err, ENOENT,
			  "job %" PRIu64 " has had %u attempt(s), not %u",
			  read->job, subject.attempt, attempt);
		return NULL;
	}
	if (subject.origin)
		stored.job = subject.origin;
	final = attempt < subject.attempt || job_state_final(subject.state);
	body = cJSON_CreateObject();
	cJSON_AddNumberToObject(body, "job", (double)read->job);
	cJSON_AddNumberToObject(body, "attempt", attempt);
	cJSON_AddBoolToObject(body, "final", final);
	cJSON_AddStringToObject(body, "state", job_state_name(subject.state));
	cJSON_AddNumberToObject(body, "exit_code",
				(double)exit_code_of(job, subject.state));
	log_store_streams(cluster->logs, stored.job, attempt, add_stream,
			  cJSON_AddArrayToObject(body, "streams"), NULL);
	/* Who reads the ranks' output needs to know of no files. */
	if (!read->stream || strncmp(read->stream, "rank-", 5) != 0) {
		cJSON_AddItemToObject(body, "files",
				      files_describe(cluster, stored.job,
						     attempt));
		log_store_streams(cluster->logs, stored.job, attempt, add_build,
				  cJSON_AddArrayToObject(body, "builds"), NULL);
	}
	if (final && !cJSON_GetArraySize(
			     cJSON_GetObjectItemCaseSensitive(body, "streams")))
		removed_ms = retention_removed(cluster, stored.job, attempt);
	if (removed_ms)
		cJSON_AddNumberToObject(body, "removed_ms", (double)removed_ms);
	if (read->stream && removed_ms) {
		cJSON_Delete(body);
		error_set(err, ENOENT,
			  "the output of job %" PRIu64
			  " was removed to make room",
			  stored.job);
		return NULL;
	}
	if (read->stream &&
	    read_piece(cluster, &stored, attempt, body, bytes, err) < 0) {
		cJSON_Delete(body);
		return NULL;
	}
	return body;
}
