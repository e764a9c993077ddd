/* nodes.c - nodes: list the nodes.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/json.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <string.h>

#define NODES_WAIT_MS 10000 /* ages are shown, too */

struct nodes_options {
	struct options common;
	bool watch;
};

static const struct nodes_options *given(const struct cli *cli)
{
	return (const struct nodes_options *)cli->options;
}

typedef unsigned long long ull;

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
		.what = QUERY_NODES,
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

		rc = client_list(client, QUERY_NODES, 0, "nodes", NULL, &rows,
				 err);
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

static int run_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(json_free) cJSON *rows = NULL;

	if (!client)
		return -1;
	if (given(cli)->watch)
		return watch_nodes(cli, client, err);
	if (client_list(client, QUERY_NODES, 0, "nodes", NULL, &rows, err) < 0)
		return -1;
	return print_nodes(cli, client, rows, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(nodes_options, "watch", 'w', OPTION_FLAG, watch, NULL),
	  .help = "show them again whenever something changes" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_nodes = {
	.name = "nodes",
	.args = "",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct nodes_options),
	.summary = "list the nodes",
	.help =
		"One line a node: its state, its devices and what runs on it.",
	.example = "regatta nodes",
	.fn = run_command,
};
/* clang-format on */
