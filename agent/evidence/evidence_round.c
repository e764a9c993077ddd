/* evidence_round.c - one round of evidence: snapshot, dumps, stack tools, last
 * line.
 */
#include "agent/evidence/evidence_round.h"
#include "agent/docker/create_body.h"
#include "agent/evidence/recorder.h"
#include "agent/evidence/snapshot.h"
#include "protocol/base/buffer.h"
#include "protocol/base/clock.h"
#include "protocol/base/list.h"
#include "protocol/base/loop.h"
#include "protocol/base/printable.h"
#include "protocol/base/subprocess.h"
#include "protocol/message/evidence.h"
#include "protocol/message/json_get.h"

#include <arpa/inet.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define FRAME_HEAD 8

struct inside_tool {
	struct engine *engine;
	struct engine_call *call;
	uint32_t timeout_ms;
	inside_tool_fn *done;
	void *arg;
	size_t output_max;
	struct buffer frames; /* as received */
};

/* done() does not run; the program may go on. NULL is fine. */
static void inside_tool_cancel(struct inside_tool *tool)
{
	if (!tool)
		return;
	engine_call_cancel(tool->call);
	buffer_clear(&tool->frames);
	free(tool);
}

/* Put the bytes of the frames together, in place. */
static const char *inside_tool_output(struct buffer *frames)
{
	size_t at = 0, size = 0;

	while (frames->size - at > FRAME_HEAD) {
		uint32_t length;
		size_t left;

		memcpy(&length, frames->data + at + 4, sizeof(length));
		at += FRAME_HEAD;
		left = frames->size - at;
		length = ntohl(length) < left ? ntohl(length) : (uint32_t)left;
		memmove(frames->data + size, frames->data + at, length);
		size += length;
		at += length;
	}
	if (!size)
		return "";
	frames->data[size] = 0;
	return frames->data;
}

/* The program may print as much as it likes. */
static int inside_tool_data(void *arg, const void *data, size_t size,
			    struct error *err)
{
	struct inside_tool *tool = arg;
	size_t left = tool->output_max - tool->frames.size;

	return buffer_append(&tool->frames, data, size < left ? size : left,
			     err);
}

static void inside_tool_end(struct inside_tool *tool, const char *text)
{
	tool->call = NULL;
	tool->done(tool->arg, text);
	inside_tool_cancel(tool);
}

static void inside_tool_ended(void *arg, const struct error *err, cJSON *answer)
{
	struct inside_tool *tool = arg;

	inside_tool_end(tool, err ? "" : inside_tool_output(&tool->frames));
}

static void inside_tool_ready(void *arg, const struct error *err, cJSON *answer)
{
	struct inside_tool *tool = arg;

	tool->call =
		err ? NULL
		    : engine_exec_start(tool->engine,
					json_get_text_or_empty(answer, "Id"),
					tool->timeout_ms, inside_tool_data,
					inside_tool_ended, tool, NULL);
	if (!tool->call)
		inside_tool_end(tool, "");
}

/* Where the container has regatta-init, by the kernel's word. */
static bool init_path_read(pid_t init, char path[PATH_MAX])
{
	char name[40];
	ssize_t size;

	snprintf(name, sizeof(name), "/proc/%d/exe", (int)init);
	size = readlink(name, path, PATH_MAX - 1);
	if (size <= 0)
		return false;
	path[size] = 0;
	return !strncmp(path, CONTAINER_INIT_PREFIX,
			strlen(CONTAINER_INIT_PREFIX)) &&
	       strlen(path) < CONTAINER_INIT_SIZE;
}

/* NULL: it is not known where regatta-init is in the container (the agent is
 * not root), or nothing was sent.
 */
static struct inside_tool *inside_tool_run(const struct inside_place *place,
					   const struct strings *argv,
					   uint32_t timeout_ms,
					   size_t output_max,
					   inside_tool_fn *done, void *arg)
{
	owned(strings_clear) struct strings words = { 0 };
	struct inside_tool *tool;
	char path[PATH_MAX];

	if (!init_path_read(place->init, path) ||
	    strings_add(&words, path, NULL) < 0 ||
	    strings_add(&words, CONTAINER_INIT_RUN, NULL) < 0)
		return NULL;
	for (size_t i = 0; i < argv->count; i++)
		if (strings_add(&words, argv->items[i], NULL) < 0)
			return NULL;
	tool = calloc(1, sizeof(*tool));
	if (!tool)
		return NULL;
	*tool = (struct inside_tool){ .engine = place->engine,
				      .timeout_ms = timeout_ms,
				      .done = done,
				      .arg = arg,
				      .output_max = output_max };
	buffer_init(&tool->frames, output_max + 1);
	tool->call =
		engine_exec_create(place->engine, place->container, &words,
				   timeout_ms, inside_tool_ready, tool, NULL);
	if (tool->call)
		return tool;
	inside_tool_cancel(tool);
	return NULL;
}

#define LOOK_BYTES (8 << 20)
#define SELF "/proc/self/exe"

/* A rank's process, for the tools. */
struct leader {
	pid_t pid;
	int64_t rank;
	char *command;
};

struct evidence_round {
	struct evidence_source source;
	evidence_round_fn *done;
	void *arg;
	struct subprocess *running;
	struct inside_tool *inside;
	struct leader *leaders;
	size_t count, at; /* the leader that is asked about */
	size_t tool;      /* the next one to try */
	const char *name; /* of the tool that runs */
	int64_t begun_ms;
	int64_t dumped_ms;     /* when all dumps are there; 0: none was asked */
	sd_event_source *wait; /* for them */
	char missing[300];
};

static void round_append(struct evidence_round *round, const char *data,
			 size_t size)
{
	if (write(round->source.fd, data, size) != (ssize_t)size)
		snprintf(round->missing, sizeof(round->missing),
			 "not all could be written: %s", strerror(errno));
}

static void append_line(struct evidence_round *round,
			const struct evidence *evidence)
{
	owned(buffer_clear) struct buffer line = BUFFER_INIT(EVIDENCE_LINE_MAX);

	if (evidence_write(evidence, &line, NULL) == 0)
		round_append(round, line.data, line.size);
}

static void append_end(struct evidence_round *round)
{
	struct evidence last = {
		.round = round->source.round,
		.rank = -1,
		.text = *round->missing ? round->missing : NULL,
		.end = true,
	};

	append_line(round, &last);
}

static int evidence_round_waited(sd_event_source *source, uint64_t usec,
				 void *arg)
{
	struct evidence_round *round = arg;

	append_end(round);
	round->done(round->arg);
	evidence_round_cancel(round);
	return 0;
}

static void evidence_round_finish(struct evidence_round *round)
{
	int64_t left = round->dumped_ms - clock_mono_ms();

	if (left <= 0 ||
	    loop_timer(round->source.loop, &round->wait, (uint64_t)left,
		       evidence_round_waited, round, NULL) < 0)
		evidence_round_waited(NULL, 0, round);
}

static void round_ask_recorders(struct evidence_round *round)
{
	for (size_t i = 0; i < round->count && round->source.folder >= 0; i++) {
		const struct leader *leader = &round->leaders[i];
		const struct evidence asked = {
			.round = round->source.round,
			.pid = (uint64_t)leader->pid,
			.rank = leader->rank,
			.tool = (char *)EVIDENCE_RECORDER,
			.asked_ms = clock_wall_ms(),
		};

		if (!recorder_ask(round->source.folder, leader->rank))
			continue;
		append_line(round, &asked);
		round->dumped_ms = clock_mono_ms() + RECORDER_DUMP_MS;
	}
}

static void next_tool(struct evidence_round *round);

/* The tool's lines, as far as they fit a line of evidence. */
static void append_answer(struct evidence_round *round,
			  const struct leader *leader, const char *text)
{
	owned(strings_clear) struct strings lines = { 0 };
	struct evidence answer = {
		.round = round->source.round,
		.pid = (uint64_t)leader->pid,
		.rank = leader->rank,
		.tool = (char *)round->name,
	};

	while (*text && lines.count < EVIDENCE_TOOL_LINES) {
		int size = (int)strcspn(text, "\n");

		if (size &&
		    strings_printf(&lines, NULL, "%.*s", size, text) < 0)
			break;
		text += size;
		text += *text != 0;
	}
	for (size_t i = 0; i < lines.count; i++)
		printable(lines.items[i], strlen(lines.items[i]));
	answer.stack = lines;
	append_line(round, &answer);
}

static void tool_answered(struct evidence_round *round, const char *text)
{
	if (*text) {
		append_answer(round, &round->leaders[round->at], text);
		round->at++;
		round->tool = 0;
	}
	next_tool(round);
}

static void evidence_round_tool_done(void *arg, const struct error *err,
				     const struct subprocess_output *output)
{
	struct evidence_round *round = arg;
	bool good = !err && output->exit_code == 0;

	round->running = NULL;
	tool_answered(round, good ? output->text : "");
}

/* inside_tool_fn */
static void tool_inside_done(void *arg, const char *text)
{
	struct evidence_round *round = arg;

	round->inside = NULL;
	tool_answered(round, text);
}

static bool tool_begin(struct evidence_round *round,
		       const struct stack_tool_command *tool)
{
	const struct subprocess_command command = {
		.argv = &tool->argv,
		.bin = tool->inside ? round->source.launcher : NULL,
		.timeout_ms = EVIDENCE_TOOL_MS,
		.output_max = EVIDENCE_TOOL_MAX,
		.cpus = round->source.cpus,
	};

	round->name = tool->name;
	if (tool->inside && !command.bin)
		round->inside =
			inside_tool_run(&round->source.inside, &tool->argv,
					EVIDENCE_TOOL_MS, EVIDENCE_TOOL_MAX,
					tool_inside_done, round);
	else
		round->running =
			subprocess_run(round->source.loop, &command,
				       evidence_round_tool_done, round, NULL);
	return round->inside || round->running;
}

/* The next tool of this process, or the first one of the next process. */
static void next_tool(struct evidence_round *round)
{
	bool late = clock_mono_ms() - round->begun_ms > EVIDENCE_TOOLS_MS;

	while (!late && round->at < round->count) {
		const struct leader *leader = &round->leaders[round->at];
		struct stack_tool_command tool = { 0 };
		bool begun = false;

		if (stack_tools_command(round->source.tools, &round->tool,
					leader->pid, leader->command,
					round->source.stops, &tool)) {
			begun = tool_begin(round, &tool);
		} else {
			round->at++;
			round->tool = 0;
		}
		strings_clear(&tool.argv);
		if (begun)
			return;
	}
	evidence_round_finish(round);
}

static int add_leader(struct evidence_round *round, const char *line,
		      size_t size)
{
	owned(evidence_clear) struct evidence evidence = { 0 };
	struct leader *grown;

	if (evidence_read(line, size, &evidence, NULL) < 0 || !evidence.leads ||
	    !evidence.command)
		return 0;
	grown = LIST_ADD(round->leaders, round->count, NULL);
	if (!grown)
		return -1;
	grown->pid = (pid_t)evidence.pid;
	grown->rank = evidence.rank;
	grown->command = take(evidence.command);
	return 0;
}

static void evidence_round_look_done(void *arg, const struct error *err,
				     const struct subprocess_output *output)
{
	struct evidence_round *round = arg;
	const char *at, *end;

	round->running = NULL;
	if (err || output->exit_code) {
		snprintf(round->missing, sizeof(round->missing),
			 "the processes cannot be inspected: %s",
			 err ? err->text : output->complaint);
		evidence_round_finish(round);
		return;
	}
	snprintf(round->missing, sizeof(round->missing), "%s",
		 output->complaint);
	round_append(round, output->text, output->size);
	at = output->text;
	while ((end = memchr(at, '\n',
			     output->size - (size_t)(at - output->text)))) {
		if (add_leader(round, at, (size_t)(end - at)) < 0)
			break;
		at = end + 1;
	}
	round_ask_recorders(round);
	next_tool(round);
}

static int begin_look(struct evidence_round *round, struct error *err)
{
	const struct evidence_source *source = &round->source;
	owned(strings_clear) struct strings argv = { 0 };
	struct subprocess_command command = {
		.argv = &argv,
		.timeout_ms = EVIDENCE_SNAPSHOT_MS,
		.output_max = LOOK_BYTES,
		.cpus = source->cpus,
	};

	if (source->inside.init <= 0)
		return error_set(err, ESRCH,
				 "its processes are in another PID namespace, "
				 "and not visible from this node");
	if (strings_add(&argv, SELF, err) < 0 ||
	    strings_add(&argv, SNAPSHOT_WORD, err) < 0 ||
	    strings_printf(&argv, err, "%d", (int)source->inside.init) < 0 ||
	    strings_printf(&argv, err, "%" PRId64, source->first_rank) < 0 ||
	    strings_printf(&argv, err, "%" PRIu64, source->round) < 0)
		return -1;
	round->running = subprocess_run(source->loop, &command,
					evidence_round_look_done, round, err);
	return round->running ? 0 : -1;
}

struct evidence_round *evidence_round_begin(const struct evidence_source *from,
					    evidence_round_fn *done, void *arg,
					    struct error *err)
{
	owned(evidence_round_cancel) struct evidence_round *round =
		calloc(1, sizeof(*round));

	if (!round) {
		close(from->fd);
		if (from->folder >= 0)
			close(from->folder);
		return error_null(error_nomem(err, "evidence"));
	}
	round->source = *from;
	round->done = done;
	round->arg = arg;
	round->begun_ms = clock_mono_ms();
	if (begin_look(round, err) < 0) {
		snprintf(round->missing, sizeof(round->missing), "%s",
			 err->text);
		append_end(round);
		return NULL;
	}
	return take(round);
}

void evidence_round_cancel(struct evidence_round *round)
{
	if (!round)
		return;
	subprocess_cancel(round->running);
	inside_tool_cancel(round->inside);
	for (size_t i = 0; i < round->count; i++)
		free(round->leaders[i].command);
	free(round->leaders);
	close(round->source.fd);
	if (round->source.folder >= 0)
		close(round->source.folder);
	loop_source_free(&round->wait);
	free(round);
}
