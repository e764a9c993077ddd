/* stacks.c - stacks: shows what all ranks of a job do.
 *
 * The nodes of a running job look at its ranks now. For a job that has ended,
 * the last look is shown, with the stacks that its ranks printed. What the
 * dumps of PyTorch's flight recorder say stands beside it.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/run/session.h"
#include "controller/stacks/dumps.h"
#include "controller/stacks/flight_recorder.h"
#include "controller/stacks/stacks.h"
#include "controller/results/json_object.h"
#include "protocol/base/clock.h"
#include "protocol/base/program.h"
#include "protocol/message/evidence.h"
#include "protocol/message/reply_jobs.h"
#include "protocol/message/state.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#define STREAM_MAX (128 << 20)
#define WAIT_MS 1000
#define ROUND_MS 40000                   /* for all nodes */
#define OUTPUT_BYTES ((size_t)256 << 10) /* the end of a rank's output */
#define RANK "rank-"

struct asking {
	struct cli *cli;
	struct client *client;
	const struct job_info *job;
	uint64_t round; /* of looking; 0: the last one */
	int64_t until_ms;
	struct stacks *stacks;
	size_t outputs; /* of processes */
	struct dumps *dumps;
};

/* Read more of the stream; wait a while if there is no more yet. */
static int read_more(struct asking *asking, char *stream, struct buffer *text,
		     struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_log_read ask = {
		.job = asking->job->job,
		.attempt = asking->job->attempt,
		.stream = stream,
		.offset = text->size,
		.wait_ms = asking->round ? WAIT_MS : 0,
	};

	if (client_call_with(asking->client, MESSAGE_LOG_READ, &ask, NULL, 0,
			     ask.wait_ms, &answer, err) < 0)
		return -1;
	return answer.size
		       ? buffer_append(text, answer.payload, answer.size, err)
		       : 0;
}

/* A node's part of the round. */
static int read_node(struct asking *asking, uint32_t rank, const char *node,
		     struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(STREAM_MAX);
	char stream[EVIDENCE_STREAM_SIZE], name[STACKS_TEXT_SIZE];
	bool ended = false;
	size_t before;

	evidence_stream(rank, stream);
	do {
		before = text.size;
		if (read_more(asking, stream, &text, err) < 0)
			return -1;
		if (text.size > before)
			ended = stacks_ended(text.data, text.size,
					     asking->round);
	} while (!ended && (asking->round ? clock_mono_ms() < asking->until_ms
					  : text.size > before));
	if (asking->round && !ended)
		cli_say(asking->cli, "%s: no answer within %d s",
			escape(node, name, sizeof(name)), ROUND_MS / 1000);
	if (dumps_take_evidence(asking->dumps, node, rank,
				text.data ? text.data : "", text.size, err) < 0)
		return -1;
	return stacks_take(asking->stacks, node, asking->round,
			   text.data ? text.data : "", text.size, err);
}

/* Python prints the stacks of ranks that are ended because their job hung: look
 * at the end of a rank's output.
 */
static int asking_read_output(struct asking *asking,
			      const struct stream_info *stream,
			      struct error *err)
{
	const struct strings *nodes = &asking->job->allocation;
	size_t number = strtoull(stream->stream + strlen(RANK), NULL, 10);
	size_t each = asking->outputs / (nodes->count ? nodes->count : 1);
	owned(buffer_clear) struct buffer text = BUFFER_INIT(OUTPUT_BYTES);
	uint64_t from =
		stream->bytes > OUTPUT_BYTES ? stream->bytes - OUTPUT_BYTES : 0;

	if (!each || number / each >= nodes->count)
		return 0;
	if (stream_read(asking->client, asking->job->job, asking->job->attempt,
			stream->stream, from, file_reader_keep, &text, err) < 0)
		return -1;
	if (text.size)
		/* A node's only output may be that of several processes. */
		stacks_take_output(asking->stacks, nodes->items[number / each],
				   each > 1 ? (int64_t)number : -1, text.data,
				   text.size);
	return 0;
}

/* The last look of the nodes, of a job that has ended. */
static int read_kept(struct asking *asking, struct error *err)
{
	const struct job_info *job = asking->job;

	for (uint32_t i = 0; i < job->allocation.count; i++) {
		struct error why = { 0 };

		if (read_node(asking, i, job->allocation.items[i], &why) < 0 &&
		    why.code != ENOENT)
			return error_set(err, why.code, "%s", why.text);
	}
	if (!stacks_count(asking->stacks))
		return error_set(err, ENOENT,
				 "job %" PRIu64
				 " does not run, and no stacks were recorded "
				 "while it ran",
				 job->job);
	asking->outputs = 0;
	for (size_t i = 0; i < job->streams_count; i++)
		asking->outputs +=
			!strncmp(job->streams[i].stream, RANK, strlen(RANK));
	for (size_t i = 0; i < job->streams_count; i++)
		if (!strncmp(job->streams[i].stream, RANK, strlen(RANK)) &&
		    asking_read_output(asking, &job->streams[i], err) < 0)
			return -1;
	return 0;
}

/* Let all nodes look now. */
static int ask_nodes(struct asking *asking, struct error *err)
{
	const struct job_info *job = asking->job;
	owned(answer_clear) struct answer answer = { 0 };
	struct message_stacks ask = { .job = job->job };

	if (client_call(asking->client, MESSAGE_STACKS, &ask, &answer, err) < 0)
		return -1;
	asking->round = ((const struct reply_stacks *)answer.reply)->round;
	asking->until_ms = clock_mono_ms() + ROUND_MS;
	for (uint32_t i = 0; i < job->allocation.count; i++)
		if (read_node(asking, i, job->allocation.items[i], err) < 0)
			return -1;
	return 0;
}

/* The newest dump of each rank. The job was asked for again, so that the
 * streams of a running one are listed.
 */
static int read_dumps(struct asking *asking, const struct job_info *job,
		      struct flights *flights, struct error *err)
{
	const struct strings *nodes = &asking->job->allocation;
	struct dumps *dumps = asking->dumps;
	size_t left = FLIGHT_DUMPS_MAX;

	for (size_t i = 0; i < job->streams_count; i++) {
		const struct stream_info *stream = &job->streams[i];

		if (stream->path && stream->rank < nodes->count &&
		    dumps_take_stream(dumps, nodes->items[stream->rank],
				      stream->rank, stream->stream,
				      stream->bytes, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < dumps->count; i++) {
		const struct dump *dump = &dumps->list[i];
		int64_t still_ns = dump_still_ns(dump);
		owned(buffer_clear) struct buffer bytes =
			BUFFER_INIT(FLIGHT_DUMP_MAX);

		if (still_ns < 0 || dump->bytes > FLIGHT_DUMP_MAX ||
		    dump->bytes > left || flights_has(flights, dump->rank))
			continue;
		left -= dump->bytes;
		if (stream_read(asking->client, job->job, job->attempt,
				dump->stream, 0, file_reader_keep, &bytes,
				err) < 0)
			return -1;
		/* A broken one tells nothing. */
		flights_take(flights, dump->node, dump->rank, still_ns,
			     bytes.data, bytes.size, NULL);
	}
	return 0;
}

/* What the flight recorders say; "": nothing. */
static int recorders_say(struct asking *asking, char text[FLIGHT_TEXT_SIZE],
			 struct error *err)
{
	owned(flights_free) struct flights *flights = flights_new(err);
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_JOB,
				       .id = asking->job->job };
	const char *node;
	int64_t rank;

	if (!flights ||
	    client_query(asking->client, &query, &answer, err) < 0 ||
	    read_dumps(asking, &((const struct reply_job *)answer.reply)->job,
		       flights, err) < 0)
		return -1;
	if (!flights_verdict(flights, text, &node, &rank) &&
	    !flights_last(flights, text, &node, &rank))
		*text = 0;
	return 0;
}

/* "0-3,7" */
static void print_ranks(struct cli *cli, const cJSON *ranks)
{
	const cJSON *rank;
	double first = -1, last = -2;

	cJSON_ArrayForEach(rank, ranks) {
		if (rank->valuedouble == last + 1) {
			last++;
			continue;
		}
		if (last > first)
			fprintf(cli->out, "-%.0f", last);
		fprintf(cli->out, "%s%.0f", first < 0 ? "" : ",",
			rank->valuedouble);
		first = last = rank->valuedouble;
	}
	if (last > first)
		fprintf(cli->out, "-%.0f", last);
}

static void job_stacks_print(struct cli *cli, const cJSON *all)
{
	char text[STACKS_TEXT_SIZE];
	const cJSON *group;

	fprintf(cli->out, "%s\n",
		escape(row_text(all, "verdict"), text, sizeof(text)));
	if (row_text(all, "recorder"))
		fprintf(cli->out, "%s\n",
			escape(row_text(all, "recorder"), text, sizeof(text)));
	cJSON_ArrayForEach(group, row_at(all, "groups")) {
		fprintf(cli->out, "%d ranks (",
			cJSON_GetArraySize(row_at(group, "ranks")));
		print_ranks(cli, row_at(group, "ranks"));
		fprintf(cli->out, "): %s\n",
			escape(row_text(group, "where"), text, sizeof(text)));
	}
}

static int stacks_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	owned(stacks_free) struct stacks *stacks = stacks_new(err);
	owned(cJSON_Delete) cJSON *all = NULL;
	struct message_query query = { .what = QUERY_JOB };
	owned(dumps_clear) struct dumps dumps = { 0 };
	struct asking asking = { .cli = cli,
				 .stacks = stacks,
				 .dumps = &dumps };
	char recorder[FLIGHT_TEXT_SIZE];
	bool runs;

	if (!stacks || session_open(&session, cli, err) < 0 ||
	    session_job(&session, cli->arg_count ? cli->args[0] : NULL,
			&query.id, err) < 0 ||
	    client_query(session.client, &query, &answer, err) < 0)
		return -1;
	asking.client = session.client;
	asking.job = &((const struct reply_job *)answer.reply)->job;
	runs = !strcmp(asking.job->state, job_state_name(JOB_RUNNING));
	if ((runs ? ask_nodes(&asking, err) : read_kept(&asking, err)) < 0 ||
	    recorders_say(&asking, recorder, err) < 0)
		return -1;
	all = stacks_json(stacks);
	if (!all)
		return error_nomem(err, "stacks");
	if (*recorder)
		cJSON_AddStringToObject(all, "recorder", recorder);
	if (cli_format(cli, "json"))
		return cli_print_json(cli, all, err) < 0 ? -1 : EXIT_GOOD;
	job_stacks_print(cli, all);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_stacks = {
	.name = "stacks",
	.args = "[JOB]",
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.summary = "show what all ranks of a job do",
	.help =
		"Without a job, of the same as regatta logs. Ranks that do the same are shown as one group. If one rank "
		  "differs, it is named as the rank that the others wait for. "
		  "The job continues. For a job that was ended because it "
		  "hung, it shows the state at that time.",
	.example = "regatta stacks 17",
	.fn = stacks_command,
};
/* clang-format on */
