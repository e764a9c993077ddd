/* logs.c - logs: prints the output of a job.
 *
 * Each stream has its own requests, one at a time, each from where the last
 * answer ended. A few streams are read at once. After a lost connection the
 * same offset is requested again.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/run/session.h"
#include "controller/cli/terminal_text.h"
#include "controller/report/terminal.h"
#include "controller/results/json_object.h"
#include "protocol/base/buffer.h"
#include "protocol/base/list.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_logs.h"

#include <errno.h>
#include <string.h>
#include <time.h>

/* Prints one stream of a job's output.
 *
 * Bytes are printed unchanged; or, where streams are mixed, as whole lines
 * after their time and the name of their stream.
 */

/* The style of all streams of a job. */
struct line_style {
	FILE *out;
	bool escape;     /* escape control characters, for a terminal */
	bool timestamps; /* before each line */
	bool names;      /* before each line */
};
/* Initialised by log_output_init(). style and name are borrowed. */
struct log_output {
	const struct line_style *style;
	const char *name;
	struct terminal_text shown;
	int64_t time_ms;    /* arrival of the last byte, if known */
	struct buffer held; /* an incomplete line */
	int64_t held_ms;    /* arrival of its first byte */
};

#define HELD_MAX 1048576 /* bytes of a line that waits for its end */
#define NAME_SHOWN 260

static void log_output_init(struct log_output *output,
			    const struct line_style *style, const char *name)
{
	*output = (struct log_output){ .style = style, .name = name };
	buffer_init(&output->held, HELD_MAX);
}

static void put_prefix(const struct log_output *output, int64_t time_ms)
{
	const struct line_style *style = output->style;
	time_t seconds = (time_t)(time_ms / 1000);
	char name[NAME_SHOWN], text[40];
	struct tm tm;

	if (style->timestamps) {
		if (time_ms > 0 && gmtime_r(&seconds, &tm) &&
		    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
			fprintf(style->out, "%s.%03dZ ", text,
				(int)(time_ms % 1000));
		else
			fputs("- ", style->out);
	}
	if (style->names)
		fprintf(style->out, "[%s] ",
			escape(output->name, name, sizeof(name)));
}

static void log_output_write(struct log_output *output, const void *data,
			     size_t size)
{
	FILE *out = output->style->out;

	if (output->style->escape)
		terminal_text_write(&output->shown, out, data, size);
	else
		fwrite(data, 1, size, out);
}

static void log_output_put_line(struct log_output *output, int64_t time_ms,
				const void *data, size_t size)
{
	put_prefix(output, time_ms);
	log_output_write(output, data, size);
	/* The next line may be of another stream. */
	terminal_text_end(&output->shown, output->style->out);
	fputc('\n', output->style->out);
}

/* Print an incomplete last line. */
static void log_output_end(struct log_output *output)
{
	if (output->held.size)
		log_output_put_line(output, output->held_ms, output->held.data,
				    output->held.size);
	buffer_clear(&output->held);
}

static void log_output_clear(struct log_output *output)
{
	terminal_text_end(&output->shown, output->style->out);
	buffer_clear(&output->held);
}

/* Keep the beginning of a line; one beyond the limit is broken in two. */
static int log_output_hold(struct log_output *output, const char *data,
			   size_t size, struct error *err)
{
	if (output->held.size + size > HELD_MAX)
		log_output_end(output);
	if (!output->held.size)
		output->held_ms = output->time_ms;
	return buffer_append(&output->held, data, size, err);
}

/* Print a piece that begins at this offset. times: arrival times, ascending. */
static int log_output_put(struct log_output *output, const char *data,
			  size_t size, uint64_t offset,
			  const struct log_time *times, size_t times_count,
			  struct error *err)
{
	if (!output->style->timestamps && !output->style->names) {
		log_output_write(output, data, size);
		return 0;
	}
	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		for (; times_count && times->offset <= offset; times_count--)
			output->time_ms = times++->time_ms;
		if (end && !output->held.size)
			log_output_put_line(output, output->time_ms, data,
					    length);
		else if (log_output_hold(output, data, length, err) < 0)
			return -1;
		else if (end)
			log_output_end(output);
		length += end != NULL;
		data += length;
		size -= length;
		offset += length;
	}
	return 0;
}

#define WINDOW 12     /* streams under way when following */
#define WAIT_MS 30000 /* a request waits for output */
#define TURN_MS 1000  /* the same, if streams take turns */
#define STREAMS_MAX 65536
#define NAME_MAX_BYTES 64

struct logs_options {
	struct options common;
	bool follow;
	uint64_t rank;
	const char *stream;
	bool list;
	uint64_t tail;
	bool timestamps;
	uint64_t attempt;
	bool raw;
};

struct stream {
	struct logs *logs;
	char name[NAME_MAX_BYTES + 1];
	uint64_t offset;
	uint64_t asked; /* offset of the request under way */
	uint64_t end;   /* length when we began: where to stop, not following */
	bool begun;     /* the first answer is there */
	bool busy;
	bool ended;
	struct log_output output;
};

struct logs {
	struct cli *cli;
	const struct logs_options *given;
	struct client *client; /* borrowed */
	uint64_t job;
	uint32_t attempt;
	bool follow;
	struct line_style style;
	char wanted[NAME_MAX_BYTES + 1]; /* the only stream, or "" */
	const char *files; /* followed files to print; NULL: ranks' output */
	struct stream **streams;
	size_t count;
	size_t turn; /* stream that is asked next */
	size_t under_way;
	size_t expected; /* number of streams of the job; 0: unknown */
	enum job_state state;
	bool final;         /* nothing will follow in this attempt */
	int64_t removed_ms; /* its output was removed; 0: it was not */
	bool failed;
	struct error err;
};

static void streams_free(struct logs *logs)
{
	for (size_t i = 0; i < logs->count; i++) {
		log_output_clear(&logs->streams[i]->output);
		free(logs->streams[i]);
	}
	free(logs->streams);
	logs->streams = NULL;
	logs->count = 0;
	logs->turn = 0;
	logs->under_way = 0;
}

static void logs_clear(struct logs *logs)
{
	streams_free(logs);
	logs->client = NULL;
}
OWNED_VALUE(struct logs, logs_clear)

/* Streams. */

static bool has_stream(const struct logs *logs, const char *name)
{
	for (size_t i = 0; i < logs->count; i++)
		if (!strcmp(logs->streams[i]->name, name))
			return true;
	return false;
}

static int logs_add_stream(struct logs *logs, const char *name,
			   struct error *err)
{
	struct stream **streams;
	struct stream *stream;

	if (logs->count == STREAMS_MAX)
		return error_set(err, E2BIG, "more than %d streams",
				 STREAMS_MAX);
	stream = error_calloc(sizeof(*stream), "streams", err);
	streams = stream ? LIST_ADD(logs->streams, logs->count, err) : NULL;
	if (!streams) {
		free(stream);
		return -1;
	}
	stream->logs = logs;
	snprintf(stream->name, sizeof(stream->name), "%s", name);
	log_output_init(&stream->output, &logs->style, stream->name);
	*streams = stream;
	return 0;
}

/* Add a stream, unless it is known. */
static int learn_name(struct logs *logs, const char *name, struct error *err)
{
	if (!*name || strlen(name) > NAME_MAX_BYTES || has_stream(logs, name))
		return 0;
	return logs_add_stream(logs, name, err);
}

/* Add the followed files that --stream names. It may also name a rank's stream.
 */
static int learn_files(struct logs *logs, const struct reply_log_read *reply,
		       struct error *err)
{
	const char *wanted = logs->files;
	int rc = strings_has(&reply->streams, wanted)
			 ? learn_name(logs, wanted, err)
			 : 0;

	for (size_t i = 0; rc == 0 && i < reply->files_count; i++)
		if (stream_meant(&reply->files[i], wanted))
			rc = learn_name(logs, reply->files[i].stream, err);
	for (size_t i = 0; rc == 0 && i < reply->builds.count; i++)
		if (!strcmp(wanted, "build") ||
		    !strcmp(wanted, reply->builds.items[i]))
			rc = learn_name(logs, reply->builds.items[i], err);
	return rc;
}

/* Add the wanted ranks. If their number is the same, all are known. */
static int learn_ranks(struct logs *logs, const struct strings *names,
		       struct error *err)
{
	int rc = 0;

	if (logs->wanted[0])
		return strings_has(names, logs->wanted)
			       ? learn_name(logs, logs->wanted, err)
			       : 0;
	for (size_t i = 0;
	     rc == 0 && names->count != logs->count && i < names->count; i++)
		rc = learn_name(logs, names->items[i], err);
	return rc;
}

/* Each answer has the state of the job and its streams. */
static int logs_learn(struct logs *logs, const struct reply_log_read *reply,
		      struct error *err)
{
	int rc = logs->files ? learn_files(logs, reply, err)
			     : learn_ranks(logs, &reply->streams, err);

	logs->state = job_state_from(reply->state);
	logs->final = reply->final;
	logs->style.names |= logs->count > 1;
	return rc;
}

/* Reading. */

/* With --tail 0, the first answer only tells where the end is. */
static bool only_new(const struct stream *stream)
{
	return !stream->begun && stream->logs->given->tail == 0;
}

static int logs_take_piece(struct stream *stream, const struct answer *answer,
			   struct error *err)
{
	const struct reply_log_read *reply = answer->reply;
	struct logs *logs = stream->logs;
	bool tail = !stream->begun && logs->given->tail != OPTION_NONE;

	if (!stream_piece_fits(answer, stream->asked, tail))
		return stream_piece_wrong(stream->name, err);
	if (!stream->begun)
		stream->end = reply->length;
	stream->offset = reply->length;
	if (!only_new(stream)) {
		stream->offset = reply->offset + answer->size;
		if (log_output_put(&stream->output, answer->payload,
				   answer->size, reply->offset, reply->times,
				   reply->times_count, err) < 0)
			return -1;
	}
	stream->begun = true;
	if (logs_learn(logs, reply, err) < 0)
		return -1;
	stream->ended = logs->follow
				? logs->final && stream->offset >= reply->length
				: stream->offset >= stream->end;
	if (stream->ended)
		log_output_end(&stream->output);
	return 0;
}

static void logs_receive_piece(void *arg, struct answer *answer,
			       const struct error *err)
{
	struct stream *stream = arg;
	struct logs *logs = stream->logs;

	stream->busy = false;
	logs->under_way--;
	if (err) {
		logs->failed = true;
		logs->err = *err;
		return;
	}
	if (logs_take_piece(stream, answer, &logs->err) < 0)
		logs->failed = true;
	if (logs->follow && fflush(logs->cli->out) != 0) {
		error_errno(&logs->err, "cannot write the output");
		logs->failed = true;
	}
}

static int logs_ask_stream(struct stream *stream, size_t window,
			   struct error *err)
{
	struct logs *logs = stream->logs;
	uint64_t tail = logs->given->tail;
	/* Another stream may begin while this one is silent. */
	bool all = !logs->files && logs->count >= logs->expected &&
		   logs->count <= window;
	uint32_t wait = all ? WAIT_MS : TURN_MS;
	struct message_log_read read = {
		.job = logs->job,
		.attempt = logs->attempt,
		.stream = stream->name,
		.offset = stream->offset,
		.wait_ms = logs->follow && !only_new(stream) ? wait : 0,
		.timestamps = logs->given->timestamps,
	};

	if (!stream->begun && tail != OPTION_NONE)
		read.tail_lines = tail ? tail : 1;
	if (client_send(logs->client, MESSAGE_LOG_READ, &read, NULL, 0,
			read.wait_ms, logs_receive_piece, stream, NULL,
			err) < 0)
		return -1;
	stream->asked = stream->offset;
	stream->busy = true;
	logs->under_way++;
	return 0;
}

/* Send the next requests. *any: some are under way. False: an error. */
static bool ask_all(struct logs *logs, bool *any, struct error *err)
{
	/* One after the other, unless output is awaited. */
	size_t window = logs->follow ? WINDOW : 1;

	for (size_t i = 0; i < logs->count && logs->under_way < window; i++) {
		struct stream *stream =
			logs->streams[logs->follow ? logs->turn++ % logs->count
						   : i];

		if (!stream->busy && !stream->ended &&
		    logs_ask_stream(stream, window, err) < 0)
			return false;
	}
	*any = logs->under_way > 0;
	return true;
}

/* Read until every stream has ended. */
static int logs_read_streams(struct logs *logs, struct error *err)
{
	bool any = true;

	while (any) {
		if (!ask_all(logs, &any, err))
			return -1;
		if (any && client_turn(logs->client, err) < 0)
			return -1;
		if (logs->failed)
			return error_set(err, logs->err.code, "%s",
					 logs->err.text);
	}
	return 0;
}

/* Read the names of the streams, the attempt, and the state of the job. */
static int logs_read_names(struct logs *logs, uint32_t attempt,
			   struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_log_read read = { .job = logs->job, .attempt = attempt };
	const struct reply_log_read *reply;

	if (client_call(logs->client, MESSAGE_LOG_READ, &read, &answer, err) <
	    0)
		return -1;
	reply = answer.reply;
	logs->removed_ms = reply->removed_ms;
	logs->attempt = reply->attempt;
	return logs_learn(logs, reply, err);
}

/* Wait at most 500 ms for a change of the job; find how many streams it has. */
static int wait_for_change(struct logs *logs, uint64_t *since,
			   struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_JOB,
				       .id = logs->job,
				       .since = *since,
				       .wait_ms = *since ? 500 : 0 };
	const struct reply_job *reply;
	const cJSON *processes;

	if (client_query(logs->client, &query, &answer, err) < 0)
		return -1;
	reply = answer.reply;
	*since = reply->since;
	if (logs->wanted[0] || logs->files)
		return 0;
	processes = row_at(reply->job.spec, "container.processes");
	logs->expected = reply->job.nodes;
	if (cJSON_IsNumber(processes) && processes->valuedouble >= 1)
		logs->expected *= (size_t)processes->valuedouble;
	logs->style.names |= logs->expected > 1;
	return 0;
}

/* Follow one attempt after the other. */
static int logs_follow(struct logs *logs, struct error *err)
{
	bool pinned = logs->given->attempt != OPTION_NONE;
	uint64_t since = 0;
	uint32_t shown;

	if (wait_for_change(logs, &since, err) < 0)
		return -1;
	for (;;) {
		if (logs_read_streams(logs, err) < 0)
			return -1;
		if (logs->final && (pinned || job_state_final(logs->state)))
			return 0;
		/* There is no stream yet, or the next attempt will start. */
		if (wait_for_change(logs, &since, err) < 0)
			return -1;
		shown = logs->attempt;
		if (logs->final)
			logs->attempt = 0;
		if (logs_read_names(logs, pinned ? shown : logs->attempt, err) <
		    0)
			return -1;
		if (logs->attempt != shown && shown) {
			cli_say(logs->cli, "job %llu: attempt %u follows",
				(unsigned long long)logs->job, logs->attempt);
			streams_free(logs);
			if (logs_read_names(logs, logs->attempt, err) < 0)
				return -1;
		}
	}
}

static void logs_say_notice(void *arg, const char *text)
{
	cli_say(arg, "%s", text);
}

static int tell_none(const struct logs *logs, struct error *err)
{
	if (logs->files && !logs->removed_ms)
		return error_set(err, ENOENT,
				 "job %llu has no stream or file %.100s; see "
				 "regatta logs %llu --list",
				 (unsigned long long)logs->job, logs->files,
				 (unsigned long long)logs->job);
	if (logs->removed_ms)
		return error_set(err, ENOENT,
				 "the output of job %llu was removed on %.10s "
				 "to free space",
				 (unsigned long long)logs->job,
				 human_clock(logs->removed_ms).text);
	if (!logs->wanted[0]) {
		cli_say(logs->cli, "job %llu has no output%s",
			(unsigned long long)logs->job,
			logs->final ? "" : " yet; -f waits for it");
		return 0;
	}
	return error_set(err, ENOENT, "job %llu has no output of %s",
			 (unsigned long long)logs->job, logs->wanted);
}

/* --list: a job's streams, without reading them. */
static int list_streams(struct logs *logs, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_JOB, .id = logs->job };
	const struct job_info *job;

	if (client_query(logs->client, &query, &answer, err) < 0)
		return -1;
	job = &((const struct reply_job *)answer.reply)->job;
	return rows_table(logs->cli, "", &view_streams, job->streams,
			  job->streams_count, 0, true, err);
}

/* "job 17 failed after 3m12s: exit: rank 1 ended with code 3" */
static int tell_end(const struct logs *logs, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_JOB, .id = logs->job };
	char detail[400];
	const struct job_info *job;
	bool took;

	if (client_query(logs->client, &query, &answer, err) < 0)
		return -1;
	job = &((const struct reply_job *)answer.reply)->job;
	took = job->started_ms && job->ended_ms > job->started_ms;
	job_detail(job, detail, sizeof(detail));
	fflush(logs->cli->out);
	cli_say(logs->cli, "job %llu %s%s%s%s%s", (unsigned long long)logs->job,
		job->state, took ? " after " : "",
		took ? human_time(job->ended_ms - job->started_ms).text : "",
		*detail ? ": " : "", detail);
	return 0;
}

/* Follow until the job ends, or until Ctrl-C, which does not end the job. */
static int follow_on(struct logs *logs, struct error *err)
{
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	unsigned long long job = logs->job;

	client_set_patient(logs->client, logs_say_notice, logs->cli);
	if (interrupts_client(&interrupts, logs->client, err) < 0)
		return -1;
	if (logs_follow(logs, err) < 0) {
		if (err->code != EINTR)
			return -1;
		fflush(logs->cli->out);
		cli_say(logs->cli,
			"job %llu continues; regatta logs %llu -f "
			"follows it again, regatta cancel job %llu "
			"ends it",
			job, job, job);
		return EXIT_INTERRUPTED;
	}
	if (!logs->count && tell_none(logs, err) < 0)
		return -1;
	if (tell_end(logs, err) < 0)
		return -1;
	return logs->state == JOB_COMPLETED ? EXIT_GOOD : EXIT_WORK_FAILED;
}

static int logs_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	const struct logs_options *given = cli->given;
	owned(logs_clear) struct logs logs = { .cli = cli, .given = given };
	uint64_t attempt = given->attempt;

	logs.follow = given->follow;
	logs.style = (struct line_style){
		.out = cli->out,
		.escape = cli->out_terminal && !given->raw,
		.timestamps = given->timestamps,
	};
	if (given->rank != OPTION_NONE)
		snprintf(logs.wanted, sizeof(logs.wanted), "rank-%llu",
			 (unsigned long long)given->rank);
	logs.files = given->stream;
	if (logs.files && logs.wanted[0])
		return error_set(err, EINVAL,
				 "--rank and --stream exclude each other");
	if ((cli->arg_count &&
	     cli_id(cli->args[0], "job", &logs.job, err) < 0) ||
	    session_open(&session, cli, err) < 0 ||
	    session_job(&session, cli->arg_count ? cli->args[0] : NULL,
			&logs.job, err) < 0)
		return -1;
	logs.client = session.client;
	if (given->list)
		return list_streams(&logs, err);
	if (logs_read_names(&logs,
			    attempt == OPTION_NONE ? 0 : (uint32_t)attempt,
			    err) < 0)
		return -1;
	if (!logs.follow) {
		if (!logs.count && tell_none(&logs, err) < 0)
			return -1;
		return logs_read_streams(&logs, err);
	}
	return follow_on(&logs, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(logs_options, "follow", 'f', OPTION_FLAG, follow, NULL),
	  .help = "continue until the job ends; exit 0 if it completed, else "
		  "1" },
	{ OPTION(logs_options, "rank", 0, OPTION_NUMBER, rank, "N"),
	  .max = 1048575,
	  .help = "print only the output of that rank" },
	{ OPTION(logs_options, "stream", 0, OPTION_TEXT, stream, "NAME"),
	  .help = "print a followed file, by stream, path or pattern of "
		  "paths; build: the output of image builds" },
	{ OPTION(logs_options, "list", 0, OPTION_FLAG, list, NULL),
	  .help = "list the streams of the job instead of printing them" },
	{ OPTION(logs_options, "tail", 'n', OPTION_NUMBER, tail, "N"),
	  .max = 1000000000,
	  .help = "print only the last N lines of each rank" },
	{ OPTION(logs_options, "timestamps", 't', OPTION_FLAG, timestamps,
		 NULL),
	  .help = "begin each line with its time of arrival" },
	{ OPTION(logs_options, "raw", 0, OPTION_FLAG, raw, NULL),
	  .help = "print the bytes unchanged, also on a terminal" },
	{ OPTION(logs_options, "attempt", 0, OPTION_NUMBER, attempt, "N"),
	  .min = 1,
	  .max = UINT32_MAX, .help = "print an earlier attempt of the job" },
	OPTION_STATE,
	{ 0 },
};

const struct command command_logs = {
	.name = "logs",
	.args = "[JOB]",
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct logs_options),
	.summary = "print the output of a job",
	.help =
		"Without a job, it is of the last sweep: the first job that "
		  "failed, else the last one. "
		  "The output of one rank is printed byte for byte. If there "
		  "are several ranks, each line begins with [rank-N].",
	.example = "regatta logs 17 -f --tail 20",
	.fn = logs_command,
};
/* clang-format on */
