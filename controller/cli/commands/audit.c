/* audit.c - audit: who ordered what, when, from where, and what became of it.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "protocol/message/reply_access.h"

struct audit_options {
	struct options common;
	uint64_t tail;
};

static const struct audit_options *given(const struct cli *cli)
{
	return (const struct audit_options *)cli->options;
}

static void audit_row(struct table *table, const void *item, int64_t now_ms)
{
	const struct audit_info *row = item;
	const char *refusal = row->refusal ? row->refusal : "";
	char clock[HUMAN_SIZE], *request;

	table_cell(table, PLAIN, "%llu", (unsigned long long)row->seq);
	table_cell(table, PLAIN, "%s", human_clock(row->time_ms, clock));
	table_cell(table, PLAIN, "%s (%s)", row->who, row->role);
	table_cell(table, PLAIN, "%s", row->address);
	table_cell(table, PLAIN, "%s", row->act);
	request = cJSON_PrintUnformatted(row->request);
	table_cell(table, PLAIN, "%s", request ? request : "");
	cJSON_free(request);
	table_cell(table, *refusal ? RED : PLAIN, "%s%s",
		   *refusal ? "refused: " : "done", refusal);
}

static const struct column audit_columns[] = {
	{ "SEQ", true },      { "TIME", false }, { "WHO", false },
	{ "FROM", false },    { "ACT", false },  { "REQUEST", false },
	{ "OUTCOME", false }, { NULL, false },
};
static const struct rows_view audit_view = { "audit", audit_columns, audit_row,
					     "nothing was ordered yet" };

static int run_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(rows_clear) struct rows rows = { 0 };
	struct rows shown;

	if (!client ||
	    client_rows(client, QUERY_AUDIT, 0, "seq", &rows, err) < 0)
		return -1;
	shown = rows;
	if (given(cli)->tail < shown.count) {
		size_t first = shown.count - (size_t)given(cli)->tail;

		shown.items += first * shown.schema->size;
		shown.count -= first;
	}
	return rows_show(cli, &audit_view, client, &shown, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(audit_options, "tail", 'n', OPTION_NUMBER, tail, "N"),
	  .max = 1000000000,
	  .help = "only the last N orders" },
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_audit = {
	.name = "audit",
	.args = "",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct audit_options),
	.summary = "list who ordered what, and when",
	.help =
		"Every order that changes something, what came of it, and "
		"from where it came.",
	.example = "regatta audit --tail 20",
	.fn = run_command,
};
/* clang-format on */
