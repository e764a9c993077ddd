/* look.c - sweeps, jobs, nodes, show: what the controller knows.
 */
#include "controller/cli/commands/commands.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/commands/usage.h"
#include "controller/cli/json.h"
#include "protocol/program.h"

#include <errno.h>
#include <string.h>

#define NODES_WAIT_MS 10000 /* ages are shown, too */

typedef unsigned long long ull;

/* "3 completed, 1 running" */
static void counts_words(const cJSON *sweep, char *to, size_t size)
{
	size_t used = 0;

	to[0] = 0;
	for (int i = JOB_QUEUED; i < JOB_STATES && used < size; i++) {
		const char *name = job_state_name((enum job_state)i);
		uint64_t count = json_u64(json_get(sweep, "counts"), name);

		if (count)
			used += (size_t)snprintf(to + used, size - used,
						 "%s%llu %s", used ? ", " : "",
						 (ull)count, name);
	}
}

static void sweep_row(struct table *table, const cJSON *sweep, int64_t now_ms)
{
	char text[200];
	const char *end = json_bool(sweep, "final") ? "ended" : "active";

	table_cell(table, PLAIN, "%llu", (ull)json_u64(sweep, "id"));
	table_cell(table, PLAIN, "%s", json_text(sweep, "name"));
	table_cell(table, json_bool(sweep, "final") ? PLAIN : CYAN, "%s", end);
	table_cell(table, PLAIN, "%llu", (ull)json_u64(sweep, "jobs"));
	table_cell(table, PLAIN, "%s",
		   human_clock((int64_t)json_u64(sweep, "submitted_ms"), text));
	table_cell(table, PLAIN, "%s", json_text(sweep, "client"));
	counts_words(sweep, text, sizeof(text));
	table_cell(table, PLAIN, "%s", text);
}

static const struct column sweep_columns[] = {
	{ "SWEEP", true },    { "NAME", false },      { "STATE", false },
	{ "JOBS", true },     { "SUBMITTED", false }, { "BY", false },
	{ "OF THEM", false }, { NULL, false },
};

static const struct rows_view sweeps_view = { "sweeps", sweep_columns,
					      sweep_row, "no sweeps" };

int command_sweeps(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(json_free) cJSON *rows = NULL;

	if (!client ||
	    client_list(client, "sweeps", 0, "sweeps", "id", &rows, err) < 0)
		return -1;
	return rows_show(cli, &sweeps_view, client, rows, err);
}

/* Jobs. */

static const struct column job_columns[] = {
	{ "JOB", true },    { "SWEEP", true },   { "CELL", false },
	{ "TRY", true },    { "STATE", false },  { "TIME", true },
	{ "NODES", false }, { "DETAIL", false }, { NULL, false },
};

static void job_row(struct table *table, const cJSON *job, int64_t now_ms)
{
	enum job_state state = job_state_from(json_text(job, "state"));
	int64_t started = (int64_t)json_u64(job, "started_ms");
	int64_t ended = (int64_t)json_u64(job, "ended_ms");
	uint64_t repeat = json_u64(job, "repeat");
	char text[400];

	table_cell(table, PLAIN, "%llu", (ull)json_u64(job, "job"));
	table_cell(table, PLAIN, "%llu", (ull)json_u64(job, "sweep"));
	if (repeat)
		table_cell(table, PLAIN, "%s #%llu", json_text(job, "cell"),
			   (ull)repeat + 1);
	else
		table_cell(table, PLAIN, "%s", json_text(job, "cell"));
	table_cell(table, PLAIN, "%llu", (ull)json_u64(job, "attempt"));
	table_cell(table, colour_of_job(state), "%s", json_text(job, "state"));
	table_cell(table, PLAIN, "%s",
		   started ? human_time((ended ? ended : now_ms) - started,
					text)
			   : "");
	table_cell(table, PLAIN, "%s", job_nodes(job, text, sizeof(text)));
	table_cell(table, PLAIN, "%s", job_detail(job, text, sizeof(text)));
}

/* The sweep whose jobs are meant: 0 for all. *none: there is no sweep. */
static int which_sweep(struct cli *cli, struct client *client, uint64_t *sweep,
		       bool *none, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = (char *)"sweep" };

	*none = false;
	*sweep = cli->options.sweep;
	if (cli->options.all)
		*sweep = 0;
	if (*sweep != OPTION_NONE)
		return 0;
	*sweep = 0;
	if (client_query(client, &query, &answer, err) < 0) {
		*none = err->code == ENOENT;
		return *none ? 0 : -1;
	}
	*sweep = json_u64(json_get(answer.body, "sweep"), "id");
	if (!*sweep)
		return error_set(err, EPROTO,
				 "the controller's answer names no sweep");
	cli_say(cli,
		"jobs of sweep %llu, the last one; --sweep ID or --all for "
		"others",
		(ull)*sweep);
	return 0;
}

static const struct rows_view jobs_view = { "jobs", job_columns, job_row,
					    "no jobs" };

int command_jobs(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	owned(json_free) cJSON *rows = NULL;
	uint64_t sweep;
	bool none;

	if (cli->options.all && cli->options.sweep != OPTION_NONE)
		return error_set(err, EINVAL,
				 "jobs: found --all and --sweep, allowed is "
				 "one of them");
	client = cli_connect(cli, err);
	if (!client || which_sweep(cli, client, &sweep, &none, err) < 0)
		return -1;
	if (none)
		rows = cJSON_CreateArray();
	else if (client_list(client, "jobs", sweep, "jobs", "job", &rows, err) <
		 0)
		return -1;
	return rows_show(cli, &jobs_view, client, rows, err);
}

/* Nodes. */

static const struct column node_columns[] = {
	{ "NODE", false },   { "STATE", false }, { "VENDOR", false },
	{ "DEVICES", true }, { "FREE", true },   { "ADDRESS", false },
	{ "SEEN", true },    { "JOBS", false },  { "NOTES", false },
	{ NULL, false },
};

static void job_list(const cJSON *jobs, char *to, size_t size)
{
	size_t used = 0;
	const cJSON *job;

	to[0] = 0;
	cJSON_ArrayForEach(job, jobs)
	{
		if (used + 40 >= size) {
			snprintf(to + used, size - used, ", ...");
			break;
		}
		if (cJSON_IsNumber(job))
			used += (size_t)snprintf(to + used, size - used,
						 "%s%.0f", used ? "," : "",
						 job->valuedouble);
	}
}

/* "until 14:00; new disk; rack=a" */
static void node_notes(const cJSON *node, char *to, size_t size)
{
	const cJSON *drain = json_get(node, "drain");
	uint64_t from = json_u64(drain, "from_ms");
	uint64_t until = json_u64(drain, "until_ms");
	const char *reason = json_text(drain, "reason");
	const cJSON *label;
	char clock[HUMAN_SIZE];
	size_t used = 0;

	to[0] = 0;
	if (from && !json_bool(node, "drained"))
		used += (size_t)snprintf(to + used, size - used,
					 "drained from %s; ",
					 human_clock((int64_t)from, clock));
	if (until)
		used += (size_t)snprintf(to + used, size - used, "until %s; ",
					 human_clock((int64_t)until, clock));
	if (*reason)
		used += (size_t)snprintf(to + used, size - used, "%.200s; ",
					 reason);
	cJSON_ArrayForEach(label, json_get(node, "labels"))
	{
		if (used + 140 > size || !cJSON_IsString(label))
			break;
		used += (size_t)snprintf(to + used, size - used,
					 "%.64s=%.64s; ", label->string,
					 label->valuestring);
	}
	if (used)
		to[used - 2] = 0;
}

static void node_row(struct table *table, const cJSON *node, int64_t now_ms)
{
	const char *state = json_text(node, "state");
	bool drained = json_bool(node, "drained");
	int64_t seen = (int64_t)json_u64(node, "seen_ms");
	uint64_t devices = json_u64(node, "devices");
	uint64_t lost = json_u64(node, "lost");
	char text[1000];

	table_cell(table, PLAIN, "%s", json_text(node, "name"));
	table_cell(table,
		   !strcmp(state, "down") ? RED
		   : drained              ? YELLOW
					  : GREEN,
		   "%s%s", state, drained ? ", drained" : "");
	table_cell(table, PLAIN, "%s", json_text(node, "vendor"));
	if (lost)
		table_cell(table, RED, "%llu of %llu", (ull)(devices - lost),
			   (ull)devices);
	else
		table_cell(table, PLAIN, "%llu", (ull)devices);
	table_cell(table, PLAIN, "%llu", (ull)json_u64(node, "free"));
	table_cell(table, PLAIN, "%s", json_text(node, "address"));
	table_cell(table, PLAIN, "%s",
		   seen ? human_time(now_ms - seen, text) : "-");
	job_list(json_list(node, "jobs"), text, 200);
	table_cell(table, PLAIN, "%s", text);
	node_notes(node, text, sizeof(text));
	table_cell(table, PLAIN, "%s", text);
}

static const struct rows_view nodes_view = {
	"nodes", node_columns, node_row, "no nodes: start regatta-agent on them"
};

static int print_nodes(struct cli *cli, const struct client *client,
		       cJSON *rows, struct error *err)
{
	json_sort(rows, "name");
	return rows_show(cli, &nodes_view, client, rows, err);
}

static int on_interrupt(sd_event_source *source,
			const struct signalfd_siginfo *info, void *arg)
{
	client_interrupt(arg);
	return 0;
}

/* Wait for news. */
static int wait_nodes(struct client *client, uint64_t *since, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = {
		.what = (char *)"nodes",
		.limit = 1,
		.since = *since,
		.wait_ms = NODES_WAIT_MS,
	};

	if (client_query(client, &query, &answer, err) < 0)
		return -1;
	*since = json_u64(answer.body, "since");
	return 0;
}

/* A terminal shows the last table alone, a file one behind the other. */
static int watch_nodes(struct cli *cli, struct client *client,
		       struct error *err)
{
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	uint64_t since = 0;
	int rc = 0;

	if (interrupts_init(&interrupts, client_loop(client), on_interrupt,
			    client, err) < 0)
		return -1;
	while (rc == 0) {
		owned(json_free) cJSON *rows = NULL;

		rc = client_list(client, "nodes", 0, "nodes", NULL, &rows, err);
		if (rc < 0)
			break;
		if (cli->out_terminal)
			fputs("\033[H\033[2J", cli->out);
		rc = print_nodes(cli, client, rows, err);
		if (fflush(cli->out) != 0)
			return error_errno(err, "cannot write the output");
		if (rc == 0)
			rc = wait_nodes(client, &since, err);
	}
	return err->code == EINTR ? EXIT_GOOD : -1;
}

int command_nodes(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(json_free) cJSON *rows = NULL;

	if (!client)
		return -1;
	if (cli->options.watch)
		return watch_nodes(cli, client, err);
	if (client_list(client, "nodes", 0, "nodes", NULL, &rows, err) < 0)
		return -1;
	return print_nodes(cli, client, rows, err);
}

/* show */

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

int command_show(struct cli *cli, struct error *err)
{
	static const char *const apart[] = { "tasks", "events",    "streams",
					     "usage", "inventory", NULL };
	owned(client_free) struct client *client = NULL;
	owned(answer_clear) struct answer answer = { 0 };
	const char *kind = cli->args[0];
	struct message_query query = { .what = (char *)kind };
	const cJSON *object;

	if (!strcmp(kind, "node"))
		query.name = cli->args[1];
	else if (strcmp(kind, "sweep") != 0 && strcmp(kind, "job") != 0)
		return error_set(err, EINVAL,
				 "show: found '%.60s', allowed: sweep, job, "
				 "node",
				 kind);
	else if (cli_id(cli->args[1], kind, &query.id, err) < 0)
		return -1;
	client = cli_connect(cli, err);
	if (!client || client_query(client, &query, &answer, err) < 0)
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
