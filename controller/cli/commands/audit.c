/* audit.c - audit: who ordered what, when, from where, and what became of it.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/cli/json.h"
#include "controller/store/audit.h"
#include "protocol/base/program.h"

struct audit_options {
	struct options common;
	uint64_t tail;
	bool verify;
};

static const struct audit_options *given(const struct cli *cli)
{
	return (const struct audit_options *)cli->options;
}

static void audit_row(struct table *table, const cJSON *row, int64_t now_ms)
{
	const char *refusal = json_text(row, "refusal");
	char clock[HUMAN_SIZE], *request;

	table_cell(table, PLAIN, "%llu",
		   (unsigned long long)json_u64(row, "seq"));
	table_cell(table, PLAIN, "%s",
		   human_clock((int64_t)json_u64(row, "time_ms"), clock));
	table_cell(table, PLAIN, "%s (%s)", json_text(row, "who"),
		   json_text(row, "role"));
	table_cell(table, PLAIN, "%s", json_text(row, "address"));
	table_cell(table, PLAIN, "%s", json_text(row, "act"));
	request = cJSON_PrintUnformatted(json_get(row, "request"));
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

/* Does the row follow from the chain before it? "" before the first row of all;
 * the first that is left after others were trimmed cannot be proven.
 */
static bool row_holds(const cJSON *row, const char *before)
{
	owned_free char *request =
		cJSON_PrintUnformatted(json_get(row, "request"));
	const cJSON *refusal = json_get(row, "refusal");
	const struct audit_row found = {
		.seq = json_u64(row, "seq"),
		.time_ms = (int64_t)json_u64(row, "time_ms"),
		.who = json_text(row, "who"),
		.role = json_text(row, "role"),
		.address = json_text(row, "address"),
		.act = json_text(row, "act"),
		.request = request,
		.refusal = refusal ? json_text(row, "refusal") : NULL,
	};
	char chain[AUDIT_CHAIN_SIZE];

	audit_chain(before, &found, chain);
	return !strcmp(chain, json_text(row, "chain"));
}

static int broken(struct cli *cli, const cJSON *row)
{
	cli_say(cli,
		"row %llu of the audit log, or one before it, was changed, "
		"removed or added",
		(unsigned long long)json_u64(row, "seq"));
	return EXIT_WORK_FAILED;
}

/* Rows of a version without a chain come first, and are counted apart. */
static int verify(struct cli *cli, const cJSON *rows)
{
	uint64_t count = 0, without = 0, seq = 0;
	const char *before = "";
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		bool first = !count && json_u64(row, "seq") > 1 && !without;

		if (!count && !*json_text(row, "chain")) {
			without++;
			continue;
		}
		if (!first && (!row_holds(row, before) ||
			       (seq && json_u64(row, "seq") != seq + 1)))
			return broken(cli, row);
		seq = json_u64(row, "seq");
		before = json_text(row, "chain");
		count++;
	}
	fprintf(cli->out, "%llu rows are as they were written",
		(unsigned long long)count);
	if (without)
		fprintf(cli->out, "; %llu older ones have no chain",
			(unsigned long long)without);
	if (count)
		fprintf(cli->out, "; row %llu has %s", (unsigned long long)seq,
			before);
	fputc('\n', cli->out);
	return EXIT_GOOD;
}

static int print_lines(struct cli *cli, const cJSON *rows, struct error *err)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		owned_free char *line = cJSON_PrintUnformatted(row);

		if (!line)
			return error_nomem(err, "audit");
		fprintf(cli->out, "%s\n", line);
	}
	return EXIT_GOOD;
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(json_free) cJSON *rows = NULL;

	if (!client ||
	    client_list(client, QUERY_AUDIT, 0, "audit", "seq", &rows, err) < 0)
		return -1;
	if (given(cli)->verify)
		return verify(cli, rows);
	if (given(cli)->tail != OPTION_NONE)
		while ((uint64_t)cJSON_GetArraySize(rows) > given(cli)->tail)
			cJSON_DeleteItemFromArray(rows, 0);
	if (cli_format(cli, "jsonl"))
		return print_lines(cli, rows, err);
	return rows_show(cli, &audit_view, client, rows, err);
}

static const char *const formats[] = { "text", "json", "jsonl", NULL };

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(audit_options, "tail", 'n', OPTION_NUMBER, tail, "N"),
	  .max = 1000000000,
	  .help = "only the last N entries" },
	{ OPTION(audit_options, "verify", 0, OPTION_FLAG, verify, NULL),
	  .help = "prove that no row was changed, removed or added" },
	OPTION_FORMAT(formats, "text, json, or jsonl: a row a line"),
	{ 0 },
};

const struct command command_audit = {
	.name = "audit",
	.args = "",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct audit_options),
	.summary = "list who changed what, and when",
	.help =
		"Every order that changes something, what came of it, and "
		"from where it came. Each row holds a hash of itself and of "
		"the row before; the journal of the controller has it, too.",
	.example = "regatta audit --tail 20",
	.fn = run_command,
};
/* clang-format on */
