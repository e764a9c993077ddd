/* logs.c - logs: the output of a job's ranks, once or as it comes.
 *
 * Each stream is read by its own requests, one at a time, from where the last
 * answer ended; a few streams are under way at once. An offset stays right over
 * a lost connection.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/cli/run/session.h"
#include "controller/cli/terminal_text.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <string.h>
#include <time.h>

#define WINDOW 12        /* streams under way when following */
#define WAIT_MS 30000    /* a request waits for output */
#define TURN_MS 1000     /* the same, when streams take turns */
#define HELD_MAX 1048576 /* bytes of a line that waits for its end */
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

static const struct logs_options *given(const struct cli *cli)
{
	return (const struct logs_options *)cli->options;
}

struct stream {
	struct logs *logs;
	char name[NAME_MAX_BYTES + 1];
	uint64_t offset;
	uint64_t asked; /* offset of the request under way */
	uint64_t end;   /* length when we began: where to stop, not following */
	bool begun;     /* the first answer is there */
	bool busy;
	bool ended;
	int64_t time_ms; /* when the byte at `offset` came, as far as known */
	struct terminal_text shown;
	struct buffer held; /* a line whose end has not come */
	int64_t held_ms;    /* time of its beginning */
};

struct logs {
	struct cli *cli;
	struct client *client; /* borrowed */
	uint64_t job;
	uint32_t attempt;
	bool follow;
	bool lines; /* something stands before each line */
	bool several;
	bool harmless; /* a terminal: not the bytes as they are */
	char wanted[NAME_MAX_BYTES + 1]; /* the only stream, or "" */
	const char *files; /* which followed files; NULL: ranks' output */
	struct stream **streams;
	size_t count;
	size_t turn; /* stream that is asked next */
	size_t under_way;
	size_t expected; /* streams that may come yet; 0: unknown */
	enum job_state state;
	bool final;         /* nothing will follow in this attempt */
	int64_t removed_ms; /* its output was removed; 0: it was not */
	bool failed;
	struct error err;
};

static void streams_free(struct logs *logs)
{
	for (size_t i = 0; i < logs->count; i++) {
		terminal_text_end(&logs->streams[i]->shown, logs->cli->out);
		buffer_clear(&logs->streams[i]->held);
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
	/* Mostly the names come in the order in which we have them. */
	for (size_t i = 0; i < logs->count; i++)
		if (!strcmp(logs->streams[i]->name, name))
			return true;
	return false;
}

static int add_stream(struct logs *logs, const char *name, struct error *err)
{
	struct stream **streams;
	struct stream *stream;

	if (logs->count == STREAMS_MAX)
		return error_set(err, E2BIG, "more than %d streams",
				 STREAMS_MAX);
	streams = realloc(logs->streams,
			  (logs->count + 1) * sizeof(struct stream *));
	if (!streams)
		return error_nomem(err, "streams");
	logs->streams = streams;
	stream = calloc(1, sizeof(*stream));
	if (!stream)
		return error_nomem(err, "streams");
	stream->logs = logs;
	snprintf(stream->name, sizeof(stream->name), "%s", name);
	buffer_init(&stream->held, HELD_MAX);
	streams[logs->count++] = stream;
	return 0;
}

/* The followed files that are meant. A stream may be a rank's as well. */
static int learn_files(struct logs *logs, const cJSON *body, struct error *err)
{
	const cJSON *file, *name;

	cJSON_ArrayForEach(file, json_list(body, "files"))
	{
		const char *stream = json_text(file, "stream");

		if (*stream && strlen(stream) <= NAME_MAX_BYTES &&
		    stream_meant(file, logs->files) &&
		    !has_stream(logs, stream) &&
		    add_stream(logs, stream, err) < 0)
			return -1;
	}
	cJSON_ArrayForEach(name, json_list(body, "streams"))
	{
		if (cJSON_IsString(name) &&
		    !strcmp(name->valuestring, logs->files) &&
		    !has_stream(logs, logs->files) &&
		    add_stream(logs, logs->files, err) < 0)
			return -1;
	}
	cJSON_ArrayForEach(name, json_list(body, "builds"))
	{
		const char *build = cJSON_GetStringValue(name);

		if (build && strlen(build) <= NAME_MAX_BYTES &&
		    (!strcmp(logs->files, "build") ||
		     !strcmp(logs->files, build)) &&
		    !has_stream(logs, build) &&
		    add_stream(logs, build, err) < 0)
			return -1;
	}
	if (logs->count > 1)
		logs->several = logs->lines = true;
	return 0;
}

/* Learn the names in an answer. With as many as we know, they are the same. */
static int learn_streams(struct logs *logs, const cJSON *body,
			 struct error *err)
{
	const cJSON *names = json_list(body, "streams");
	const cJSON *name;

	if (logs->files)
		return learn_files(logs, body, err);
	if (logs->wanted[0] ? logs->count == 1
			    : cJSON_GetArraySize(names) == (int)logs->count)
		return 0;
	cJSON_ArrayForEach(name, names)
	{
		const char *text =
			cJSON_IsString(name) ? name->valuestring : "";

		if (!*text || strlen(text) > NAME_MAX_BYTES ||
		    (logs->wanted[0] && strcmp(logs->wanted, text) != 0) ||
		    has_stream(logs, text))
			continue;
		if (add_stream(logs, text, err) < 0)
			return -1;
	}
	if (logs->count > 1)
		logs->several = logs->lines = true;
	return 0;
}

/* Output. */

static void put_prefix(const struct stream *stream, int64_t time_ms)
{
	const struct logs *logs = stream->logs;
	char name[4 * NAME_MAX_BYTES + 1], text[40];
	time_t seconds = (time_t)(time_ms / 1000);
	struct tm tm;

	if (given(logs->cli)->timestamps) {
		if (time_ms > 0 && gmtime_r(&seconds, &tm) &&
		    strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &tm))
			fprintf(logs->cli->out, "%s.%03dZ ", text,
				(int)(time_ms % 1000));
		else
			fputs("- ", logs->cli->out);
	}
	if (logs->several)
		fprintf(logs->cli->out, "[%s] ",
			escape(stream->name, name, sizeof(name)));
}

static void put(struct stream *stream, const void *data, size_t size)
{
	FILE *out = stream->logs->cli->out;

	if (stream->logs->harmless)
		terminal_text_write(&stream->shown, out, data, size);
	else
		fwrite(data, 1, size, out);
}

/* A line ends, and others' may follow. */
static void put_end(struct stream *stream)
{
	FILE *out = stream->logs->cli->out;

	terminal_text_end(&stream->shown, out);
	fputc('\n', out);
}

static void put_held(struct stream *stream)
{
	if (!stream->held.size)
		return;
	put_prefix(stream, stream->held_ms);
	put(stream, stream->held.data, stream->held.size);
	put_end(stream);
	buffer_clear(&stream->held);
}

/* When the byte at offset came: "times" has a member for each, ascending. */
static int64_t time_at(const cJSON **times, uint64_t offset, int64_t before)
{
	while (*times) {
		if (json_u64(*times, "offset") > offset)
			break;
		before = (int64_t)json_u64(*times, "time_ms");
		*times = (*times)->next;
	}
	return before;
}

/* Print whole lines, and keep the beginning of one that is not whole. */
static int put_lines(struct stream *stream, const char *data, size_t size,
		     const cJSON *body, struct error *err)
{
	const cJSON *list = json_list(body, "times");
	const cJSON *times = list ? list->child : NULL;
	uint64_t offset = stream->offset;

	while (size) {
		const char *end = memchr(data, '\n', size);
		size_t length = end ? (size_t)(end - data) : size;

		stream->time_ms = time_at(&times, offset, stream->time_ms);
		if (end && !stream->held.size) {
			put_prefix(stream, stream->time_ms);
			put(stream, data, length);
			put_end(stream);
		} else {
			if (!stream->held.size)
				stream->held_ms = stream->time_ms;
			/* A line beyond the limit is broken in two. */
			if (stream->held.size + length > HELD_MAX)
				put_held(stream);
			if (buffer_append(&stream->held, data, length, err) < 0)
				return -1;
			if (end)
				put_held(stream);
		}
		length += end != NULL;
		data += length;
		size -= length;
		offset += length;
	}
	return 0;
}

static int put_bytes(struct stream *stream, const struct answer *answer,
		     struct error *err)
{
	struct logs *logs = stream->logs;

	if (logs->lines)
		return put_lines(stream, answer->payload, answer->size,
				 answer->body, err);
	put(stream, answer->payload, answer->size);
	return 0;
}

/* Reading. */

static void note_state(struct logs *logs, const cJSON *body)
{
	logs->state = job_state_from(json_text(body, "state"));
	logs->final = json_bool(body, "final");
}

/* --tail 0: where the end is, is all that the first answer is good for. */
static bool only_new(const struct stream *stream)
{
	return !stream->begun && given(stream->logs->cli)->tail == 0;
}

static int take_piece(struct stream *stream, const struct answer *answer,
		      struct error *err)
{
	struct logs *logs = stream->logs;
	uint64_t offset = json_u64(answer->body, "offset");
	uint64_t length = json_u64(answer->body, "length");
	bool tail = !stream->begun && given(logs->cli)->tail != OPTION_NONE;

	if (json_u64(answer->body, "size") != answer->size ||
	    (offset != stream->asked && !tail) ||
	    offset + answer->size > length ||
	    (!answer->size && offset < length))
		return error_set(err, EPROTO,
				 "%.64s: the controller's piece of the log "
				 "does "
				 "not fit",
				 stream->name);
	if (!stream->begun)
		stream->end = length;
	if (only_new(stream)) {
		stream->offset = length;
	} else {
		stream->offset = offset;
		if (put_bytes(stream, answer, err) < 0)
			return -1;
		stream->offset = offset + answer->size;
	}
	stream->begun = true;
	note_state(logs, answer->body);
	stream->ended = logs->follow ? logs->final && stream->offset >= length
				     : stream->offset >= stream->end;
	if (stream->ended)
		put_held(stream);
	return learn_streams(logs, answer->body, err);
}

static void on_piece(void *arg, const struct answer *answer,
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
	if (take_piece(stream, answer, &logs->err) < 0)
		logs->failed = true;
	if (logs->follow && fflush(logs->cli->out) != 0) {
		error_errno(&logs->err, "cannot write the output");
		logs->failed = true;
	}
}

static int ask(struct stream *stream, size_t window, struct error *err)
{
	struct logs *logs = stream->logs;
	uint64_t tail = given(logs->cli)->tail;
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
		.timestamps = given(logs->cli)->timestamps,
	};

	if (!stream->begun && tail != OPTION_NONE)
		read.tail_lines = tail ? tail : 1;
	if (client_send(logs->client, MESSAGE_LOG_READ, &read, NULL, 0,
			read.wait_ms, on_piece, stream, NULL, err) < 0)
		return -1;
	stream->asked = stream->offset;
	stream->busy = true;
	logs->under_way++;
	return 0;
}

/* Ask for the streams whose turn it is. false: all have ended. */
static bool ask_all(struct logs *logs, bool *any, struct error *err)
{
	/* One after the other, unless output is awaited. */
	size_t window = logs->follow ? WINDOW : 1;

	for (size_t i = 0; i < logs->count && logs->under_way < window; i++) {
		struct stream *stream =
			logs->streams[logs->follow ? logs->turn++ % logs->count
						   : i];

		if (!stream->busy && !stream->ended &&
		    ask(stream, window, err) < 0)
			return false;
	}
	*any = logs->under_way > 0;
	return true;
}

/* Read until every stream has ended. */
static int read_streams(struct logs *logs, struct error *err)
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

/* The names of the streams, of which attempt, and how the job is. */
static int read_names(struct logs *logs, uint32_t attempt, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_log_read read = { .job = logs->job, .attempt = attempt };

	if (client_call(logs->client, MESSAGE_LOG_READ, &read, NULL, 0, 0,
			&answer, err) < 0)
		return -1;
	note_state(logs, answer.body);
	logs->removed_ms = (int64_t)json_u64(answer.body, "removed_ms");
	logs->attempt = (uint32_t)json_u64(answer.body, "attempt");
	return learn_streams(logs, answer.body, err);
}

/* Wait for the job to change, a moment at most; and learn how wide it is. */
static int wait_for_change(struct logs *logs, uint64_t *since,
			   struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_JOB,
				       .id = logs->job,
				       .since = *since,
				       .wait_ms = *since ? 500 : 0 };
	const cJSON *job, *container;
	uint64_t processes;

	if (client_query(logs->client, &query, &answer, err) < 0)
		return -1;
	*since = json_u64(answer.body, "since");
	job = json_get(answer.body, "job");
	container = json_get(json_get(job, "spec"), "container");
	if (logs->wanted[0] || logs->files)
		return 0;
	processes = json_u64(container, "processes");
	logs->expected = json_u64(job, "nodes") * (processes ? processes : 1);
	if (logs->expected > 1)
		logs->several = logs->lines = true;
	return 0;
}

/* Follow one attempt after the other. */
static int follow(struct logs *logs, struct error *err)
{
	bool pinned = given(logs->cli)->attempt != OPTION_NONE;
	uint64_t since = 0;
	uint32_t shown;

	if (wait_for_change(logs, &since, err) < 0)
		return -1;
	for (;;) {
		if (read_streams(logs, err) < 0)
			return -1;
		if (logs->final && (pinned || job_state_final(logs->state)))
			return 0;
		/* No stream yet, or the next attempt is on its way. */
		if (wait_for_change(logs, &since, err) < 0)
			return -1;
		shown = logs->attempt;
		if (logs->final)
			logs->attempt = 0;
		if (read_names(logs, pinned ? shown : logs->attempt, err) < 0)
			return -1;
		if (logs->attempt != shown && shown) {
			cli_say(logs->cli, "job %llu: attempt %u follows",
				(unsigned long long)logs->job, logs->attempt);
			streams_free(logs);
			if (read_names(logs, logs->attempt, err) < 0)
				return -1;
		}
	}
}

static void on_notice(void *arg, const char *text)
{
	cli_say(arg, "%s", text);
}

static int tell_none(const struct logs *logs, struct error *err)
{
	char date[HUMAN_SIZE];

	if (logs->files && !logs->removed_ms)
		return error_set(err, ENOENT,
				 "job %llu has no stream of that name or file: "
				 "%.100s; see regatta logs %llu --list",
				 (unsigned long long)logs->job, logs->files,
				 (unsigned long long)logs->job);
	if (logs->removed_ms)
		return error_set(err, ENOENT,
				 "the output of job %llu was removed on %.10s, "
				 "to make room",
				 (unsigned long long)logs->job,
				 human_clock(logs->removed_ms, date));
	if (!logs->wanted[0]) {
		cli_say(logs->cli, "job %llu has no output",
			(unsigned long long)logs->job);
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
	const cJSON *job;

	if (client_query(logs->client, &query, &answer, err) < 0)
		return -1;
	job = json_get(answer.body, "job");
	return streams_print(logs->cli, json_list(job, "streams"), err) < 0
		       ? -1
		       : EXIT_GOOD;
}

static int on_interrupt(sd_event_source *source,
			const struct signalfd_siginfo *info, void *arg)
{
	client_interrupt(arg);
	return 0;
}

/* Until the job ends, or Ctrl-C, which ends nothing but this. */
/* "job 17 failed after 3m12s: exit: rank 1 ended with code 3" */
static int tell_end(const struct logs *logs, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_JOB, .id = logs->job };
	char detail[400], time[HUMAN_SIZE];
	int64_t started, ended;
	const struct job_info *job;

	if (client_query(logs->client, &query, &answer, err) < 0)
		return -1;
	job = &((const struct reply_job *)answer.reply)->job;
	started = job->started_ms;
	ended = job->ended_ms;
	job_detail(job, detail, sizeof(detail));
	fflush(logs->cli->out);
	cli_say(logs->cli, "job %llu %s%s%s%s%s", (unsigned long long)logs->job,
		job->state, started && ended > started ? " after " : "",
		started && ended > started ? human_time(ended - started, time)
					   : "",
		*detail ? ": " : "", detail);
	return 0;
}

static int follow_on(struct logs *logs, struct error *err)
{
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	unsigned long long job = logs->job;

	client_set_patient(logs->client, on_notice, logs->cli);
	if (interrupts_init(&interrupts, client_loop(logs->client),
			    on_interrupt, logs->client, err) < 0)
		return -1;
	if (follow(logs, err) < 0) {
		if (err->code != EINTR)
			return -1;
		fflush(logs->cli->out);
		cli_say(logs->cli,
			"job %llu is left as it is; regatta logs %llu -f "
			"follows it again, regatta cancel job %llu ends it",
			job, job, job);
		return EXIT_INTERRUPTED;
	}
	if (!logs->count && tell_none(logs, err) < 0)
		return -1;
	if (tell_end(logs, err) < 0)
		return -1;
	return logs->state == JOB_COMPLETED ? EXIT_GOOD : EXIT_WORK_FAILED;
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(logs_clear) struct logs logs = { .cli = cli };
	uint64_t attempt = given(cli)->attempt;

	if (cli_id(cli->args[0], "job", &logs.job, err) < 0)
		return -1;
	logs.follow = given(cli)->follow;
	logs.lines = given(cli)->timestamps;
	logs.harmless = cli->out_terminal && !given(cli)->raw;
	if (given(cli)->rank != OPTION_NONE)
		snprintf(logs.wanted, sizeof(logs.wanted), "rank-%llu",
			 (unsigned long long)given(cli)->rank);
	logs.files = given(cli)->stream;
	if (logs.files && logs.wanted[0])
		return error_set(err, EINVAL,
				 "--rank and --stream exclude each other");
	if (session_open(&session, cli, err) < 0)
		return -1;
	logs.client = session.client;
	if (given(cli)->list)
		return list_streams(&logs, err);
	if (read_names(&logs, attempt == OPTION_NONE ? 0 : (uint32_t)attempt,
		       err) < 0)
		return -1;
	if (!logs.follow) {
		if (!logs.count && tell_none(&logs, err) < 0)
			return -1;
		return read_streams(&logs, err) < 0 ? -1 : EXIT_GOOD;
	}
	return follow_on(&logs, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(logs_options, "follow", 'f', OPTION_FLAG, follow, NULL),
	  .help = "go on until the job ends; exit 0 when it completed, else "
		  "1" },
	{ OPTION(logs_options, "rank", 0, OPTION_NUMBER, rank, "N"),
	  .max = 1048575,
	  .help = "only the output of that rank, byte for byte" },
	{ OPTION(logs_options, "stream", 0, OPTION_TEXT, stream, "NAME"),
	  .help = "a followed file: its stream, path or a pattern of paths; "
		  "build: what building the image printed" },
	{ OPTION(logs_options, "list", 0, OPTION_FLAG, list, NULL),
	  .help = "list the streams of the job, print none" },
	{ OPTION(logs_options, "tail", 'n', OPTION_NUMBER, tail, "N"),
	  .max = 1000000000,
	  .help = "only the last N lines (of each rank)" },
	{ OPTION(logs_options, "timestamps", 't', OPTION_FLAG, timestamps,
		 NULL),
	  .help = "begin each line with its time of arrival" },
	{ OPTION(logs_options, "raw", 0, OPTION_FLAG, raw, NULL),
	  .help = "the bytes as they are, on a terminal, too" },
	{ OPTION(logs_options, "attempt", 0, OPTION_NUMBER, attempt, "N"),
	  .min = 1,
	  .max = UINT32_MAX, .help = "an earlier attempt of the job" },
	OPTION_STATE,
	{ 0 },
};

const struct command command_logs = {
	.name = "logs",
	.args = "JOB",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct logs_options),
	.summary = "print the output of a job",
	.help =
		"The output of one rank is printed byte for byte. When there "
		"are several ranks, each line begins with [rank-N].",
	.example = "regatta logs 17 -f --tail 20",
	.fn = run_command,
};
/* clang-format on */
