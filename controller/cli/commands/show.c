/* show.c - show: all that is known of a sweep, job or node.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/commands/usage.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/cli/run/session.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <string.h>

typedef unsigned long long ull;

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
		human_clock((int64_t)item->valuedouble, to);
	} else if (cJSON_IsNumber(item) && item->string &&
		   is_bytes(item->string) && item->valuedouble >= 0) {
		human_bytes((uint64_t)item->valuedouble, to);
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
		if (skipped || cJSON_IsNull(item))
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

static int print_tasks(struct cli *cli, const cJSON *job, struct error *err)
{
	static const struct column columns[] = {
		{ "RANK", true }, { "NODE", false },   { "STATE", false },
		{ "EXIT", true }, { "DETAIL", false }, { NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *task;

	if (!table)
		return -1;
	cJSON_ArrayForEach(task, json_list(job, "tasks"))
	{
		const cJSON *code = json_get(task, "exit_code");
		const char *failure = json_text(task, "failure");
		char moving[300];

		table_cell(table, PLAIN, "%llu", (ull)json_u64(task, "rank"));
		table_cell(table, PLAIN, "%s", json_text(task, "node"));
		table_cell(table, PLAIN, "%s", json_text(task, "state"));
		if (cJSON_IsNumber(code))
			table_cell(table, PLAIN, "%.0f", code->valuedouble);
		else
			table_cell(table, PLAIN, "%s", "");
		transfer_detail(json_get(task, "transfer"), moving,
				sizeof(moving));
		table_cell(table, *failure ? RED : PLAIN, "%s%s%s%s", failure,
			   *failure ? ": " : "", json_text(task, "text"),
			   moving);
	}
	if (!table_rows(table))
		return 0;
	fputs("\ntasks:\n", cli->out);
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

/* Layers on their way to the nodes right now. */
static int print_layers(struct cli *cli, const cJSON *job, struct error *err)
{
	static const struct column columns[] = {
		{ "NODE", false }, { "LAYER", false }, { "STATE", false },
		{ "DONE", true },  { "OF", true },     { NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *task, *layer;

	if (!table)
		return -1;
	cJSON_ArrayForEach(task, json_list(job, "tasks"))
	{
		cJSON_ArrayForEach(layer, json_list(json_get(task, "transfer"),
						    "moving"))
		{
			char text[HUMAN_SIZE];

			table_cell(table, PLAIN, "%s", json_text(task, "node"));
			table_cell(table, PLAIN, "%s", json_text(layer, "id"));
			table_cell(table, PLAIN, "%s",
				   json_text(layer, "phase"));
			human_bytes(json_u64(layer, "done_bytes"), text);
			table_cell(table, PLAIN, "%s", text);
			human_bytes(json_u64(layer, "total_bytes"), text);
			table_cell(table, PLAIN, "%s", text);
		}
	}
	if (!table_rows(table))
		return 0;
	fputs("\nlayers:\n", cli->out);
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

static int print_events(struct cli *cli, const cJSON *job, struct error *err)
{
	static const struct column columns[] = {
		{ "TIME", false }, { "TRY", true }, { "EVENT", false },
		{ "DATA", false }, { NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *event;

	if (!table)
		return -1;
	cJSON_ArrayForEach(event, json_list(job, "events"))
	{
		const cJSON *data = json_get(event, "data");
		char text[1000];

		table_cell(table, PLAIN, "%s",
			   human_clock((int64_t)json_u64(event, "time_ms"),
				       text));
		table_cell(table, PLAIN, "%llu",
			   (ull)json_u64(event, "attempt"));
		table_cell(table, PLAIN, "%s", json_text(event, "kind"));
		text[0] = 0;
		if (data && !cJSON_IsNull(data))
			value_words(data, text, sizeof(text));
		table_cell(table, PLAIN, "%s", text);
	}
	if (!table_rows(table))
		return 0;
	fputs("\nevents:\n", cli->out);
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

static int print_devices(struct cli *cli, const cJSON *node, struct error *err)
{
	static const struct column columns[] = {
		{ "DEVICE", true },    { "BUS ID", false },
		{ "NAME", false },     { "CHIP", false },
		{ "NUMA", true },      { "MEMORY MIB", true },
		{ "NOT USED", false }, { NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *device;

	if (!table)
		return -1;
	cJSON_ArrayForEach(device, json_list(node, "inventory"))
	{
		const cJSON *numa = json_get(device, "numa");
		const char *lost = json_text(device, "text");

		table_cell(table, PLAIN, "%llu",
			   (ull)json_u64(device, "index"));
		table_cell(table, PLAIN, "%s", json_text(device, "bus_id"));
		table_cell(table, PLAIN, "%s", json_text(device, "name"));
		table_cell(table, PLAIN, "%s", json_text(device, "chip"));
		if (cJSON_IsNumber(numa) && numa->valuedouble >= 0)
			table_cell(table, PLAIN, "%.0f", numa->valuedouble);
		else
			table_cell(table, PLAIN, "-");
		if (json_u64(device, "memory_mib"))
			table_cell(table, PLAIN, "%llu",
				   (ull)json_u64(device, "memory_mib"));
		else
			table_cell(table, PLAIN, "-");
		table_cell(table, *lost ? RED : PLAIN, "%s", lost);
	}
	if (!table_rows(table))
		return 0;
	fputs("\ndevices:\n", cli->out);
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

static int print_streams(struct cli *cli, const cJSON *job, struct error *err)
{
	if (!cJSON_GetArraySize(json_list(job, "streams")))
		return 0;
	fputs("\nstreams:\n", cli->out);
	return streams_print(cli, json_list(job, "streams"), err);
}

static int run_command(struct cli *cli, struct error *err)
{
	static const char *const apart[] = { "tasks", "events",    "streams",
					     "usage", "inventory", NULL };
	owned(session_clear) struct session session = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	const char *kind = cli->args[0];
	struct message_query query = {
		.what = !strcmp(kind, "node")    ? QUERY_NODE
			: !strcmp(kind, "sweep") ? QUERY_SWEEP
			: !strcmp(kind, "job")   ? QUERY_JOB
						 : QUERY_NONE,
	};
	const cJSON *object;

	if (query.what == QUERY_NODE)
		query.name = cli->args[1];
	else if (query.what == QUERY_NONE)
		return error_set(err, EINVAL,
				 "show: '%.60s' is not valid here; expected "
				 "sweep, job, node",
				 kind);
	else if (cli_id(cli->args[1], kind, &query.id, err) < 0)
		return -1;
	if (session_open(&session, cli, err) < 0 ||
	    client_query(session.client, &query, &answer, err) < 0)
		return -1;
	object = json_get(answer.body, kind);
	if (!cJSON_IsObject(object))
		return error_set(err, EPROTO,
				 "the controller's answer has no '%s'", kind);
	if (cli_format(cli, "json"))
		return cli_print_json(cli, answer.body, err) < 0 ? -1
								 : EXIT_GOOD;
	print_members(cli->out, object, 0, apart);
	if (print_devices(cli, object, err) < 0 ||
	    print_tasks(cli, object, err) < 0 ||
	    print_layers(cli, object, err) < 0 ||
	    usage_print(cli, json_get(json_get(object, "result"), "usage"),
			err) < 0 ||
	    print_streams(cli, object, err) < 0 ||
	    print_events(cli, object, err) < 0)
		return -1;
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
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
	.summary = "show all that is known of a sweep, job or node",
	.help =
		"KIND is sweep, job or node; a node's ID is its name.",
	.example = "regatta show job 17",
	.fn = run_command,
};
/* clang-format on */
