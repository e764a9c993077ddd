/* show.c - show: prints what is known of a sweep, job or node.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/commands/usage.h"
#include "controller/cli/render.h"
#include "controller/cli/run/session.h"
#include "controller/report/advice.h"
#include "controller/results/json_object.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define EVENTS_SHOWN 4 /* the last ones, on one screen */

typedef unsigned long long ull;

struct show_options {
	struct options common;
	bool all;
};

static bool wants_all(const struct cli *cli)
{
	return ((const struct show_options *)cli->given)->all;
}

static bool is_time(const char *name)
{
	size_t length = strlen(name);

	return length > 3 && !strcmp(name + length - 3, "_ms") &&
	       (!strcmp(name, "seen_ms") || !strcmp(name, "queued_ms") ||
		!strcmp(name, "started_ms") || !strcmp(name, "ended_ms") ||
		!strcmp(name, "submitted_ms") || !strcmp(name, "time_ms"));
}

static bool is_bytes(const char *name)
{
	size_t size = strlen(name);

	return size > 6 && !strcmp(name + size - 6, "_bytes");
}

/* A value in one line: texts without quotes, times as a clock shows them, large
 * sizes with a unit.
 */
static void value_words(const cJSON *item, char *to, size_t size)
{
	char *json;

	if (cJSON_IsString(item)) {
		escape(item->valuestring, to, size);
	} else if (cJSON_IsNumber(item) && item->string &&
		   is_time(item->string)) {
		snprintf(to, size, "%s",
			 human_clock((int64_t)item->valuedouble).text);
	} else if (cJSON_IsNumber(item) && item->string &&
		   is_bytes(item->string) && item->valuedouble >= 0) {
		snprintf(to, size, "%s",
			 human_bytes((uint64_t)item->valuedouble).text);
	} else if (cJSON_IsNumber(item) &&
		   item->valuedouble != trunc(item->valuedouble)) {
		snprintf(to, size, "%.7g", item->valuedouble);
	} else {
		json = cJSON_PrintUnformatted(item);
		escape(json ? json : "?", to, size);
		cJSON_free(json);
	}
}

/* "name: value" a line, maps indented below their name. */
static void print_members(FILE *out, const cJSON *object, int depth,
			  const char *const *skip)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, object)
	{
		char name[100], value[4000];
		bool skipped = false;

		for (size_t i = 0; skip && skip[i]; i++)
			skipped |= !strcmp(skip[i], item->string);
		if (skipped || cJSON_IsNull(item) ||
		    (cJSON_IsString(item) && !*item->valuestring))
			continue;
		escape(item->string, name, sizeof(name));
		if (cJSON_IsObject(item) && item->child && depth < 8) {
			fprintf(out, "%*s%s:\n", 2 * depth, "", name);
			print_members(out, item, depth + 1, skip);
			continue;
		}
		value_words(item, value, sizeof(value));
		fprintf(out, "%*s%s: %s\n", 2 * depth, "", name, value);
	}
}

static int show_put_table(struct cli *cli, const char *title,
			  struct table *table, struct error *err)
{
	/* The least important first, of all tables. */
	static const char *const droppable[] = {
		"TRY",    "BUS ID", "NUMA",  "LAYER", "CHIP",
		"SIGNAL", "AFTER",  "ENDED", "TIME",  NULL,
	};

	return cli_print_table(cli, title, table,
			       wants_all(cli) ? NULL : droppable, err);
}

static int print_tasks(struct cli *cli, const struct job_info *job,
		       struct error *err)
{
	static const struct column columns[] = {
		{ "RANK", true }, { "NODE", false },   { "STATE", false },
		{ "EXIT", true }, { "DETAIL", false }, { NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };

	for (size_t i = 0; i < job->tasks_count; i++) {
		const struct task_info *task = &job->tasks[i];
		const char *failure = task->failure ? task->failure : "";
		char moving[300];

		table_cell(&table, PLAIN, "%u", task->rank);
		table_text(&table, task->node);
		table_text(&table, task->state);
		table_cell(&table, PLAIN, "%lld", (long long)task->exit_code);
		transfer_detail(task->transfer, moving, sizeof(moving));
		table_cell(&table, *failure ? RED : PLAIN, "%s%s%s%s", failure,
			   *failure ? ": " : "", task->text ? task->text : "",
			   moving);
	}
	return show_put_table(cli, "\ntasks:\n", &table, err);
}

/* Layers that are being transferred. */
static void layer_rows(struct table *table, const struct task_info *task)
{
	const struct progress_info *transfer = task->transfer;

	for (size_t i = 0; transfer && i < transfer->moving_count; i++) {
		const struct moving_layer *layer = &transfer->moving[i];

		table_text(table, task->node);
		table_text(table, layer->id);
		table_text(table, layer->phase);
		table_text(table, human_bytes(layer->done_bytes).text);
		table_text(table, human_bytes(layer->total_bytes).text);
	}
}

static int print_layers(struct cli *cli, const struct job_info *job,
			struct error *err)
{
	static const struct column columns[] = {
		{ "NODE", false }, { "LAYER", false }, { "STATE", false },
		{ "DONE", true },  { "OF", true },     { NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };

	for (size_t i = 0; i < job->tasks_count; i++)
		layer_rows(&table, &job->tasks[i]);
	return show_put_table(cli, "\nlayers:\n", &table, err);
}

static int print_events(struct cli *cli, const struct job_info *job,
			struct error *err)
{
	static const struct column columns[] = {
		{ "TIME", true },  { "TRY", true }, { "EVENT", false },
		{ "DATA", false }, { NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };
	size_t first;

	first = wants_all(cli) || job->events_count < EVENTS_SHOWN
			? 0
			: job->events_count - EVENTS_SHOWN;
	for (size_t i = first; i < job->events_count; i++) {
		const struct event_info *event = &job->events[i];
		char text[1000];

		table_text(&table, human_clock(event->time_ms).text);
		table_cell(&table, PLAIN, "%u", event->attempt);
		table_text(&table, event->kind);
		text[0] = 0;
		if (event->data && !cJSON_IsNull(event->data))
			value_words(event->data, text, sizeof(text));
		table_text(&table, text);
	}
	return show_put_table(cli, "\nevents:\n", &table, err);
}

static void device_row_fill(struct table *table,
			    const struct device_info *device)
{
	const char *lost = device->text ? device->text : "";

	table_cell(table, PLAIN, "%u", device->index);
	table_text(table, device->bus_id);
	table_text(table, device->name);
	table_text(table, device->chip);
	if (device->numa >= 0)
		table_cell(table, PLAIN, "%lld", (long long)device->numa);
	else
		table_text(table, "-");
	if (device->memory_mib)
		table_cell(table, PLAIN, "%llu", (ull)device->memory_mib);
	else
		table_text(table, "-");
	table_cell(table, *lost ? RED : PLAIN, "%s", lost);
}

static int print_devices(struct cli *cli, const struct node_info *node,
			 struct error *err)
{
	static const struct column columns[] = {
		{ "DEVICE", true },    { "BUS ID", false },
		{ "NAME", false },     { "CHIP", false },
		{ "NUMA", true },      { "MEMORY MIB", true },
		{ "NOT USED", false }, { NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };

	for (size_t i = 0; i < node->inventory_count; i++)
		device_row_fill(&table, &node->inventory[i]);
	return show_put_table(cli, "\ndevices:\n", &table, err);
}

static void number_cell(struct table *table, const cJSON *row, const char *name)
{
	double number = row_double(row, name);

	if (isnan(number))
		table_text(table, "-");
	else
		table_cell(table, PLAIN, "%.0f", number);
}

/* How its ranks ended, first to last. */
static int print_ends(struct cli *cli, const struct job_info *job,
		      struct error *err)
{
	static const struct column columns[] = {
		{ "RANK", true },  { "NODE", false }, { "ENDED", true },
		{ "AFTER", true }, { "CODE", true },  { "SIGNAL", true },
		{ "STEP", true },  { "SAID", false }, { NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };
	char name[300], said[300];
	const cJSON *end;

	if (!cJSON_GetArraySize(job->ends))
		return 0;
	cJSON_ArrayForEach(end, job->ends)
	{
		const char *node = row_text(end, "node");
		const char *line = row_text(end, "line");
		double ended = row_double(end, "ended_ms");
		int64_t at = isnan(ended) ? 0 : (int64_t)ended;

		table_cell(&table, PLAIN, "%.0f", row_double(end, "rank"));
		table_text(&table,
			   escape(node ? node : "", name, sizeof(name)));
		table_text(&table, at ? human_clock(at).text : "-");
		table_text(&table,
			   at ? human_time(at - job->started_ms).text : "-");
		number_cell(&table, end, "exit_code");
		number_cell(&table, end, "signal");
		number_cell(&table, end, "step");
		table_text(&table,
			   line ? escape(line, said, sizeof(said)) : "");
	}
	return show_put_table(cli, "\nends:\n", &table, err);
}

static int print_job(struct cli *cli, const struct job_info *job,
		     struct error *err)
{
	if (print_tasks(cli, job, err) < 0 || print_layers(cli, job, err) < 0 ||
	    print_ends(cli, job, err) < 0 ||
	    usage_print(cli, job->result, wants_all(cli), err) < 0 ||
	    (wants_all(cli) &&
	     streams_print(cli, "\nstreams:\n", job, err) < 0) ||
	    print_events(cli, job, err) < 0)
		return -1;
	if (!wants_all(cli))
		cli_say(cli,
			"regatta show job %llu --all shows its spec, "
			"provenance, streams and all events",
			(ull)job->job);
	return 0;
}

/* Print the named members of a map. */
static void print_chosen(FILE *out, const char *title, const cJSON *object,
			 const char *const *names)
{
	bool titled = false;

	for (; *names; names++) {
		const cJSON *item = json_get(object, *names);
		char value[4000];

		if (!item || cJSON_IsNull(item) ||
		    (cJSON_IsArray(item) && !item->child))
			continue;
		if (!titled)
			fprintf(out, "%s:\n", title);
		titled = true;
		value_words(item, value, sizeof(value));
		fprintf(out, "  %s: %s\n", *names, value);
	}
}

static void job_summary_print(struct cli *cli, const struct job_info *job)
{
	static const char *const run[] = { "image", "build", "argv", NULL };
	/* The members that the text and the ends of its ranks lack. */
	static const char *const reason[] = { "class", "stream", "offset",
					      NULL };
	static const char *const figures[] = {
		"steps",
		"complete",
		"iteration_ms",
		"tokens_per_second",
		"tokens_per_second_per_device",
		"samples_per_second",
		"mfu",
		"loss",
		"memory_mib",
		"text",
		"flags",
		NULL,
	};

	const char *todo = failure_advice(failure_from(job->failure));

	print_chosen(cli->out, "reason", job->reason, reason);
	if (todo)
		fprintf(cli->out, "to do: %s\n", todo);
	print_chosen(cli->out, "container", json_get(job->spec, "container"),
		     run);
	print_chosen(cli->out, "result", job->result, figures);
}

/* The sweep, job or node of the answer. */
static int print_answer(struct cli *cli, const struct answer *answer,
			const char *kind, struct error *err)
{
	static const char *const apart[] = { "tasks",   "ends",  "events",
					     "streams", "usage", "inventory",
					     NULL };
	static const char *const long_ones[] = {
		"tasks",      "ends",   "events", "streams", "usage", "spec",
		"provenance", "result", "repeat", "removed", "nodes", "devices",
		"queued_ms",  "reason", "step",   "loss",    "rate",  NULL
	};
	bool brief = !strcmp(kind, "job") && !wants_all(cli);
	const struct field *field = codec_field(answer->schema, kind);
	const void *of = (const char *)answer->reply + field->offset;
	owned(cJSON_Delete) cJSON *object =
		codec_object(field->schema, of, err);

	if (!object)
		return -1;
	print_members(cli->out, object, 0, brief ? long_ones : apart);
	if (brief)
		job_summary_print(cli, of);
	if (!strcmp(kind, "node"))
		return print_devices(cli, of, err);
	return strcmp(kind, "job") ? 0 : print_job(cli, of, err);
}

static int show_command(struct cli *cli, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	const char *kind = cli->args[0];
	struct message_query query = {
		.what = !strcmp(kind, "node")    ? QUERY_NODE
			: !strcmp(kind, "sweep") ? QUERY_SWEEP
			: !strcmp(kind, "job")   ? QUERY_JOB
						 : QUERY_NONE,
	};

	if (query.what == QUERY_NODE)
		query.name = cli->args[1];
	else if (query.what == QUERY_NONE)
		return error_set(err, EINVAL,
				 "show: '%.60s' is not valid here; expected "
				 "sweep, job, node",
				 kind);
	else if (cli_id(cli->args[1], kind, &query.id, err) < 0)
		return -1;
	if (session_query(cli, &query, &answer, err) < 0)
		return -1;
	return cli_format(cli, "json") ? cli_print_answer(cli, &answer, err)
				       : print_answer(cli, &answer, kind, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(show_options, "all", 0, OPTION_FLAG, all, NULL),
	  .help = "show everything about a job, not only one screen" },
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_show = {
	.name = "show",
	.args = "KIND ID",
	.min_args = 2,
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct show_options),
	.summary = "show a sweep, job or node",
	.help =
		"KIND is sweep, job or node. The ID of a node is its name. "
		  "For a job, it prints one screen; --all and --format json "
		  "print everything.",
	.example = "regatta show job 17",
	.fn = show_command,
};
/* clang-format on */
