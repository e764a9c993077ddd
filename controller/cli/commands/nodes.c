/* nodes.c - nodes: lists the nodes.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_nodes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NODES_WAIT_MS 10000 /* the ages change, too */

struct nodes_options {
	struct options common;
	bool watch;
};

/* n2 comes before n10. */
static int node_names_compare(const void *a, const void *b)
{
	return strverscmp(((const struct node_info *)a)->name,
			  ((const struct node_info *)b)->name);
}

static int print_nodes(struct cli *cli, const struct client *client,
		       struct rows *rows, struct error *err)
{
	qsort(rows->items, rows->count, rows->schema->size, node_names_compare);
	return rows_show(cli, &view_nodes, client_clock_ms(client), rows, err);
}

/* Wait for a change. */
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
	*since = ((const struct reply_nodes *)answer.reply)->since;
	return 0;
}

/* A terminal is cleared before each table; a file gets all tables. */
static int watch_nodes(struct cli *cli, struct client *client,
		       struct error *err)
{
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	uint64_t since = 0;
	int rc = 0;

	if (interrupts_client(&interrupts, client, err) < 0)
		return -1;
	while (rc == 0) {
		owned(rows_clear) struct rows rows = { 0 };

		rc = client_rows(client, QUERY_NODES, 0, NULL, &rows, err);
		if (rc < 0)
			break;
		if (cli->out_terminal)
			fputs("\033[H\033[2J", cli->out);
		rc = print_nodes(cli, client, &rows, err);
		if (fflush(cli->out) != 0)
			return error_errno(err, "cannot write the output");
		if (rc == 0)
			rc = wait_nodes(client, &since, err);
	}
	return err->code == EINTR ? EXIT_GOOD : -1;
}

static int nodes_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(rows_clear) struct rows rows = { 0 };

	if (!client)
		return -1;
	if (((const struct nodes_options *)cli->given)->watch)
		return watch_nodes(cli, client, err);
	if (client_rows(client, QUERY_NODES, 0, NULL, &rows, err) < 0)
		return -1;
	return print_nodes(cli, client, &rows, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(nodes_options, "watch", 'w', OPTION_FLAG, watch, NULL),
	  .help = "print the list again after each change" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_nodes = {
	.name = "nodes",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct nodes_options),
	.summary = "list the nodes",
	.help =
		"Lists the nodes, one per line, with state, devices and jobs.",
	.example = "regatta nodes",
	.fn = nodes_command,
};
/* clang-format on */
