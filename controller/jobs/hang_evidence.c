/* hang_evidence.c - what the nodes observed of a job that hangs.
 */
#include "controller/jobs/hang_evidence.h"
#include "controller/jobs/core.h"
#include "controller/logs/task_streams.h"
#include "controller/nodes/node.h"
#include "controller/stacks/dumps.h"
#include "controller/stacks/stacks.h"
#include "protocol/message/evidence.h"

#include <stdlib.h>
#include <string.h>

#define END_BYTES 1024                   /* of evidence: its last line */
#define EVIDENCE_BYTES ((size_t)4 << 20) /* that are read of a node */
#define DUMP_BLOCKS 8192 /* a dump takes whole blocks of the disk */
#define OUTPUT_BYTES ((size_t)64 << 10)  /* the same of a rank's output */
#define OUTPUTS_BYTES ((size_t)16 << 20) /* and of all ranks */

/* Append the last bytes of a stream. */
static int read_end(const struct job *job, const char *stream, size_t most,
		    struct buffer *text)
{
	const struct job_effects *effects = job->jobs->effects;
	owned_free char *bytes = NULL;
	uint64_t length = 0;
	size_t got = 1;

	if (effects->log_length(effects->arg, job->id, job->attempt, stream,
				&length, NULL) < 0 ||
	    !length)
		return 0;
	bytes = malloc(most);
	if (!bytes)
		return -1;
	for (uint64_t at = length > most ? length - most : 0; got; at += got)
		if (effects->log_read(effects->arg, job->id, job->attempt,
				      stream, at, bytes, most, &got,
				      NULL) < 0 ||
		    buffer_append(text, bytes, got, NULL) < 0)
			return -1;
	return 0;
}

bool evidence_complete(const struct gang *gang, uint64_t round)
{
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		owned(buffer_clear) struct buffer text =
			BUFFER_INIT((size_t)2 * END_BYTES);
		char stream[EVIDENCE_STREAM_SIZE];

		evidence_stream(i, stream);
		if (read_end(gang->job, stream, END_BYTES, &text) < 0 ||
		    !text.size || !stacks_ended(text.data, text.size, round))
			return false;
	}
	return true;
}

/* What all nodes observed in the round; 0: in the last complete round. */
static struct stacks *read_round(const struct gang *gang, uint64_t round)
{
	owned(stacks_free) struct stacks *stacks = stacks_new(NULL);

	for (uint32_t i = 0; stacks && i < gang->spec.nodes; i++) {
		const struct node *node = task_node(&gang->tasks[i]);
		owned(buffer_clear) struct buffer text =
			BUFFER_INIT(2 * EVIDENCE_BYTES);
		char stream[EVIDENCE_STREAM_SIZE];

		evidence_stream(i, stream);
		if (read_end(gang->job, stream, EVIDENCE_BYTES, &text) < 0 ||
		    (text.size &&
		     stacks_take(stacks, node ? node_name(node) : "", round,
				 text.data, text.size, NULL) < 0))
			return NULL;
	}
	return take(stacks);
}

static void read_outputs(const struct job *job, struct stacks *stacks)
{
	size_t left = OUTPUTS_BYTES;

	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		const struct task *task = &job->gang->tasks[i];
		const struct node *node = task_node(task);
		uint32_t processes = task_stream_count(task);

		for (uint32_t p = 0; p < processes && left; p++) {
			owned(buffer_clear) struct buffer text =
				BUFFER_INIT(2 * OUTPUT_BYTES);
			char stream[TASK_STREAM_SIZE];

			task_stream_name(task, p, stream);
			if (read_end(job, stream, OUTPUT_BYTES, &text) < 0 ||
			    !text.size)
				continue;
			stacks_take_output(stacks, node ? node_name(node) : "",
					   job->gang->spec.container.processes
						   ? (int64_t)task->rank *
								     processes +
							     p
						   : -1,
					   text.data, text.size);
			left -= text.size < left ? text.size : left;
		}
	}
}

static void describe_rank(const struct job *job, const char *node, int64_t rank,
			  const char *text, struct reason *reason)
{
	*reason = (struct reason){ .task = REASON_UNKNOWN,
				   .rank = node ? rank : REASON_UNKNOWN,
				   .class = CAUSE_OTHER,
				   .exit_code = REASON_UNKNOWN,
				   .offset = REASON_UNKNOWN };
	snprintf(reason->node, sizeof(reason->node), "%s", node ? node : "");
	snprintf(reason->line, sizeof(reason->line), "%s", text);
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++) {
		const struct task *task = &job->gang->tasks[i];

		if (task_node(task) &&
		    !strcmp(node_name(task_node(task)), reason->node))
			reason->task = task->rank;
	}
}

bool evidence_reason(const struct job *job, struct reason *reason)
{
	owned(stacks_free) struct stacks *stacks = read_round(job->gang, 0);
	char text[STACKS_TEXT_SIZE];
	const char *node;
	int64_t rank;

	if (!stacks || !stacks_count(stacks))
		return false;
	read_outputs(job, stacks);
	if (stacks_verdict(stacks, text, &node, &rank, NULL) < 0)
		return false;
	describe_rank(job, node, rank, text, reason);
	return true;
}

/* The dumps of a node. Those of a task that runs are found by what its agent
 * asked for.
 */
static int find_dumps(const struct task *task, struct dumps *dumps)
{
	const struct job_effects *effects = task->job->jobs->effects;
	const struct job *job = task->job;
	const char *node = task_node(task) ? node_name(task_node(task)) : "";
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(2 * EVIDENCE_BYTES);
	char stream[EVIDENCE_STREAM_SIZE], name[DUMP_STREAM_SIZE];
	size_t first = dumps->count;

	evidence_stream(task->rank, stream);
	if (read_end(job, stream, EVIDENCE_BYTES, &text) < 0 ||
	    (text.size && dumps_take_evidence(dumps, node, task->rank,
					      text.data, text.size, NULL) < 0))
		return -1;
	for (size_t i = 0; i < task->streams_count; i++)
		if (dumps_take_stream(dumps, node, task->rank,
				      task->streams[i].name,
				      task->streams[i].size, NULL) < 0)
			return -1;
	for (size_t i = first; i < dumps->count; i++) {
		uint64_t bytes = 0;

		while (dump_next(&dumps->list[i], name),
		       effects->log_length(effects->arg, job->id, job->attempt,
					   name, &bytes, NULL) == 0 &&
			       bytes)
			if (dumps_take_stream(dumps, node, task->rank, name,
					      bytes, NULL) < 0)
				return -1;
	}
	return 0;
}

/* Bytes that its processes wrote from one round to another because they were
 * asked for dumps, at most.
 */
static uint64_t dumped_bytes(const struct task *task, uint64_t first,
			     uint64_t last)
{
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(2 * EVIDENCE_BYTES);
	owned(dumps_clear) struct dumps dumps = { 0 };
	char stream[EVIDENCE_STREAM_SIZE];
	uint64_t most = 0;

	evidence_stream(task->rank, stream);
	if (read_end(task->job, stream, EVIDENCE_BYTES, &text) < 0 ||
	    !text.size || find_dumps(task, &dumps) < 0)
		return 0;
	for (size_t i = 0; i < dumps.count; i++)
		if (dumps.list[i].bytes > most)
			most = dumps.list[i].bytes;
	return dumps_asked(text.data, text.size, first, last) *
	       (most + DUMP_BLOCKS);
}

bool evidence_writes(const struct gang *gang, uint64_t first, uint64_t last)
{
	owned(stacks_free) struct stacks *before = read_round(gang, first);
	owned(stacks_free) struct stacks *after = read_round(gang, last);
	uint64_t dumped = 0;

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		dumped += dumped_bytes(&gang->tasks[i], first, last);
	return before && after && stacks_written(before) &&
	       stacks_written(after) > stacks_written(before) + dumped;
}

/* The newest dump of each rank. */
static struct flights *read_flights(const struct job *job)
{
	owned(flights_free) struct flights *flights = flights_new(NULL);
	owned(dumps_clear) struct dumps dumps = { 0 };
	size_t left = FLIGHT_DUMPS_MAX;

	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (find_dumps(&job->gang->tasks[i], &dumps) < 0)
			return NULL;
	for (size_t i = 0; flights && i < dumps.count; i++) {
		const struct dump *dump = &dumps.list[i];
		int64_t still_ns = dump_still_ns(dump);
		owned(buffer_clear) struct buffer bytes =
			BUFFER_INIT(FLIGHT_DUMP_MAX);

		if (still_ns < 0 || dump->bytes > FLIGHT_DUMP_MAX ||
		    dump->bytes > left || flights_has(flights, dump->rank))
			continue;
		if (read_end(job, dump->stream, FLIGHT_DUMP_MAX, &bytes) < 0)
			return NULL;
		left -= bytes.size < left ? bytes.size : left;
		/* A broken one tells nothing. */
		flights_take(flights, dump->node, dump->rank, still_ns,
			     bytes.data, bytes.size, NULL);
	}
	return take(flights);
}

bool recorder_reason(const struct job *job, struct reason *reason)
{
	owned(flights_free) struct flights *flights = read_flights(job);
	char text[FLIGHT_TEXT_SIZE];
	const char *node;
	int64_t rank;

	if (!flights || !flights_verdict(flights, text, &node, &rank))
		return false;
	describe_rank(job, node, rank, text, reason);
	return true;
}

bool recorder_last(const struct job *job, char text[FLIGHT_TEXT_SIZE])
{
	owned(flights_free) struct flights *flights = read_flights(job);
	const char *node;
	int64_t rank;

	return flights && flights_last(flights, text, &node, &rank);
}
