/* show.c - show: prints what is known of a sweep, job or node.
 */
#include "controller/cli/cli.h"
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/run/session.h"
#include "controller/report/advice.h"
#include "controller/results/json_object.h"
#include "controller/results/remarks.h"
#include "protocol/message/json_get.h"
#include "protocol/message/reply_nodes.h"
#include "protocol/message/result.h"

#include <errno.h>
#include <string.h>

/* Prints tables of the device and host samples of a job. */

#define COLUMNS_MAX 16

/* What a column shows of a device or host; its path names a text, a number, or
 * (figure) an object with "mean" and "max".
 */
struct usage_column {
	struct column column;
	const char *path;
	bool figure;
};

/* clang-format off */
static const struct usage_column device_columns[] = {
	{ { "NODE", false }, "node", false },
	{ { "DEVICE", true }, "device", false },
	{ { "SAMPLES", true }, "samples", false },
	{ { "POWER W", true }, "power_w", true },
	{ { "TEMP C", true }, "temp_c", true },
	{ { "UTIL %", true }, "util_pct", true },
	{ { "PEAK MIB", true }, "mem_used_mib.max", false },
	{ { "OF MIB", true }, "mem_total_mib", false },
	{ { "ENERGY J", true }, "energy_j", false },
	{ { "NAME", false }, "name", false },
	{ { NULL, false }, NULL, false },
};

static const struct usage_column host_columns[] = {
	{ { "NODE", false }, "node", false },
	{ { "SAMPLES", true }, "samples", false },
	{ { "CPU %", true }, "cpu_pct", true },
	{ { "MEMORY MIB", true }, "mem_used_mib", true },
	{ { "READ MIB/S", true }, "disk_read_mib_s", true },
	{ { "WRITE MIB/S", true }, "disk_write_mib_s", true },
	{ { "IN MIB/S", true }, "net_in_mib_s", true },
	{ { "OUT MIB/S", true }, "net_out_mib_s", true },
	{ { "CPU W", true }, "cpu_power_w", true },
	{ { "HOST W", true }, "power_w", true },
	{ { "CLOCK MS", true }, "offset_ms", false },
	{ { "TRIP MS", true }, "round_trip_ms", false },
	{ { NULL, false }, NULL, false },
};
/* clang-format on */

/* A text, a number, "401/455" (mean and largest), or "-". */
static void value_cell(struct table *table, const struct usage_column *column,
		       const cJSON *row)
{
	const cJSON *value = row_at(row, column->path);
	const cJSON *mean = column->figure ? row_at(value, "mean") : value;
	const cJSON *max = column->figure ? row_at(value, "max") : value;

	if (!column->column.right)
		table_text(table,
			   cJSON_IsString(value) ? value->valuestring : "");
	else if (!cJSON_IsNumber(mean) || !cJSON_IsNumber(max))
		table_cell(table, FAINT, "-");
	else if (column->figure)
		table_cell(table, PLAIN, "%.0f/%.0f", mean->valuedouble,
			   max->valuedouble);
	else
		table_cell(table, PLAIN, "%.0f", mean->valuedouble);
}

static const char *const droppable[] = {
	"SAMPLES",  "TRIP MS", "CLOCK MS", "READ MIB/S",  "IN MIB/S",
	"OF MIB",   "CPU W",   "HOST W",   "WRITE MIB/S", "OUT MIB/S",
	"ENERGY J", "TEMP C",  "UTIL %",   NULL,
};

static int usage_table_print(struct cli *cli, const char *title,
			     const struct usage_column *of, const cJSON *rows,
			     bool all, struct error *err)
{
	struct column columns[COLUMNS_MAX] = { 0 };
	owned(table_clear) struct table table = { .columns = columns };
	const cJSON *row;

	for (size_t i = 0; of[i].path; i++)
		columns[i] = of[i].column;
	cJSON_ArrayForEach(row, rows)
		for (size_t i = 0; of[i].path; i++)
			value_cell(&table, &of[i], row);
	return cli_print_table(cli, title, &table, all ? NULL : droppable, err);
}

/* Print the devices and the hosts in the usage of a result; NULL: nothing. all:
 * also what is wider than the terminal.
 */
static int usage_print(struct cli *cli, const struct usage_summary *usage,
		       bool all, struct error *err)
{
	owned(cJSON_Delete) cJSON *tree =
		usage ? codec_object(&usage_summary_schema, usage, err) : NULL;

	if (!usage)
		return 0;
	if (!tree || usage_table_print(cli, "\ndevices (mean/largest):\n",
				       device_columns, row_at(tree, "devices"),
				       all, err) < 0)
		return -1;
	return usage_table_print(cli, "\nhosts (mean/largest):\n", host_columns,
				 row_at(tree, "hosts"), all, err);
}

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

/* "name: value" a line, maps indented below their name. */
static void print_members(FILE *out, const cJSON *object, int depth,
			  const char *const *skip)
{
	const cJSON *item;

	cJSON_ArrayForEach(item, object) {
		char name[100], value[4000];
		bool skipped = false;

		for (size_t i = 0; skip && skip[i]; i++)
			skipped |= !strcmp(skip[i], item->string);
		if (skipped || cJSON_IsNull(item) ||
		    (cJSON_IsString(item) && !*item->valuestring))
			continue;
		escape(item->string, name, sizeof(name));
		if (json_is_time(name))
			name[strlen(name) - 3] = 0; /* "_ms" */
		if (cJSON_IsObject(item) && item->child && depth < 8) {
			fprintf(out, "%*s%s:\n", 2 * depth, "", name);
			print_members(out, item, depth + 1, skip);
			continue;
		}
		json_words(item, value, sizeof(value));
		fprintf(out, "%*s%s: %s\n", 2 * depth, "", name, value);
	}
}

/* A table of what belongs to the job or node. */
static int show_rows(struct cli *cli, const char *title,
		     const struct view *view, const void *items, size_t count,
		     struct error *err)
{
	return rows_table(cli, title, view, items, count, 0, wants_all(cli),
			  err);
}

/* Layers that are being transferred. */
static int print_layers(struct cli *cli, const struct job_info *job,
			struct error *err)
{
	owned_free struct layer_shown *layers = NULL;
	size_t count = 0, room = 0;

	for (size_t i = 0; i < job->tasks_count; i++)
		if (job->tasks[i].transfer)
			room += job->tasks[i].transfer->moving_count;
	layers = calloc(room + 1, sizeof(*layers));
	if (!layers)
		return error_nomem(err, "layers");
	for (size_t i = 0; i < job->tasks_count; i++) {
		const struct image_progress *transfer = job->tasks[i].transfer;

		for (size_t k = 0; transfer && k < transfer->moving_count; k++)
			layers[count++] =
				(struct layer_shown){ job->tasks[i].node,
						      transfer->moving[k] };
	}
	return show_rows(cli, "\nlayers:\n", &view_layers, layers, count, err);
}

/* Who holds what a queued job needs, and when that is probably over. */
static int print_queue(struct cli *cli, const struct queue_info *queue,
		       struct error *err)
{
	char words[120];

	if (!queue)
		return 0;
	queue_words(queue, words, sizeof(words));
	fprintf(cli->out, "queue: %s\n", words);
	return show_rows(cli,
			 queue->more ? "\nheld by, among others:\n"
				     : "\nheld by:\n",
			 &view_holders, queue->holders, queue->holders_count,
			 err);
}

/* The last events, or all. */
static int print_events(struct cli *cli, const struct job_info *job,
			struct error *err)
{
	size_t first = wants_all(cli) || job->events_count < EVENTS_SHOWN
			       ? 0
			       : job->events_count - EVENTS_SHOWN;

	return show_rows(cli, "\nevents:\n", &view_events,
			 job->events ? job->events + first : NULL,
			 job->events_count - first, err);
}

static int print_job(struct cli *cli, const struct job_info *job,
		     struct error *err)
{
	if (print_queue(cli, job->queue, err) < 0 ||
	    show_rows(cli, "\ntasks:\n", &view_tasks, job->tasks,
		      job->tasks_count, err) < 0 ||
	    print_layers(cli, job, err) < 0 ||
	    rows_table(cli, "\nends:\n", &view_ends, job->ends, job->ends_count,
		       job->started_ms, wants_all(cli), err) < 0 ||
	    usage_print(cli, job->result ? job->result->usage : NULL,
			wants_all(cli), err) < 0 ||
	    (wants_all(cli) &&
	     show_rows(cli, "\nstreams:\n", &view_streams, job->streams,
		       job->streams_count, err) < 0) ||
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
		    ((cJSON_IsArray(item) || cJSON_IsObject(item)) &&
		     !item->child))
			continue;
		if (!titled)
			fprintf(out, "%s:\n", title);
		titled = true;
		json_words(item, value, sizeof(value));
		fprintf(out, "  %s: %s\n", *names, value);
	}
}

static void job_summary_print(struct cli *cli, const struct job_info *job,
			      const cJSON *object)
{
	cJSON *result = json_get(object, "result");
	static const char *const run[] = { "image", "build", "argv", NULL };
	/* The members that the text and the ends of its ranks lack. */
	static const char *const reason[] = { "class", "stream", "offset",
					      NULL };
	static const char *const progress[] = {
		"nodes_done", "step", "steps", "loss", "power_w", "temp_c", NULL
	};
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
		"metrics",
		"text",
		"flags",
		NULL,
	};

	const char *todo = failure_advice(failure_from(job->failure), job->text,
					  LANGUAGE_EN);

	if (job->result)
		cJSON_ReplaceItemInObjectCaseSensitive(
			result, "flags",
			remarks_sentences(job->result->flags,
					  job->result->flags_count));
	print_chosen(cli->out, "reason", json_get(object, "reason"), reason);
	if (todo)
		fprintf(cli->out, "to do: %s\n", todo);
	print_chosen(cli->out, "progress", json_get(object, "progress"),
		     progress);
	print_chosen(cli->out, "container", json_get(job->spec, "container"),
		     run);
	print_chosen(cli->out, "result", result, figures);
}

static int print_node(struct cli *cli, const struct node_info *node,
		      struct error *err)
{
	return show_rows(cli, "\nlast validation:\n", &view_node_tests,
			 node->tests, node->tests_count, err) < 0
		       ? -1
		       : show_rows(cli, "\ndevices:\n", &view_devices,
				   node->inventory, node->inventory_count, err);
}

/* The sweep, job or node of the answer. */
static int print_answer(struct cli *cli, const struct answer *answer,
			const char *kind, struct error *err)
{
	static const char *const apart[] = { "tasks",   "ends",  "events",
					     "streams", "usage", "inventory",
					     "queue",   "tests", NULL };
	static const char *const long_ones[] = {
		"tasks", "ends",       "events",    "streams", "usage",
		"spec",  "provenance", "result",    "repeat",  "removed",
		"nodes", "devices",    "queued_ms", "reason",  "step",
		"loss",  "progress",   "queue",     NULL
	};
	bool brief = !strcmp(kind, "job") && !wants_all(cli);
	const struct field *field = codec_field(answer->schema, kind);
	const void *of = (const char *)answer->reply + field->offset;
	owned(cJSON_Delete) cJSON *object =
		codec_object(field->schema, of, err);

	if (!object)
		return -1;
	if (!cJSON_IsTrue(row_at(object, "lemon.lemon")))
		cJSON_DeleteItemFromObjectCaseSensitive(object, "lemon");
	print_members(cli->out, object, 0, brief ? long_ones : apart);
	if (brief)
		job_summary_print(cli, of, object);
	if (!strcmp(kind, "node"))
		return print_node(cli, of, err);
	return strcmp(kind, "job") ? 0 : print_job(cli, of, err);
}

static int show_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	const char *kind = cli->args[0];
	const char *id = cli->arg_count > 1 ? cli->args[1] : NULL;
	struct message_query query = {
		.what = !strcmp(kind, "node")    ? QUERY_NODE
			: !strcmp(kind, "sweep") ? QUERY_SWEEP
			: !strcmp(kind, "job")   ? QUERY_JOB
						 : QUERY_NONE,
	};

	if (query.what == QUERY_NONE)
		return error_set(err, EINVAL,
				 "show: '%.60s' is not valid here; expected "
				 "sweep, job, node",
				 kind);
	if (query.what == QUERY_NODE && !id)
		return error_set(err, EINVAL,
				 "show: the name of the node is missing");
	if (query.what == QUERY_NODE)
		query.name = (char *)id;
	else if (query.what == QUERY_JOB && id &&
		 cli_id(id, kind, &query.id, err) < 0)
		return -1;
	if ((query.what == QUERY_SWEEP
		     ? session_open_sweep(&session, cli, id, &query.id, err)
		     : session_open(&session, cli, err)) < 0 ||
	    (query.what == QUERY_JOB && !id &&
	     session_job(&session, NULL, &query.id, err) < 0) ||
	    client_query(session.client, &query, &answer, err) < 0)
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
	.args = "sweep|job|node [ID]",
	.min_args = 1,
	.max_args = 2,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct show_options),
	.summary = "show a sweep, job or node",
	.help =
		"The ID of a sweep is its number or name, of a node its name. "
		  "Without ID, the last sweep, or the same job as regatta "
		  "logs. For a job, it prints one screen; --all and --format json "
		  "print everything.",
	.example = "regatta show job 17",
	.fn = show_command,
};
/* clang-format on */
