/* audit.c - audit: lists who changed what, and when.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/rows.h"
#include "controller/store/audit.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_access.h"

struct audit_options {
	struct options common;
	uint64_t tail;
	bool verify;
};

/* Is the hash of the row right, after the hash of the row before? The latter is
 * "" for the very first row.
 */
static bool row_holds(const struct audit_info *row, const char *before)
{
	owned_free char *request = cJSON_PrintUnformatted(row->request);
	const struct audit_row found = {
		.seq = row->seq,
		.time_ms = row->time_ms,
		.who = row->who,
		.role = row->role,
		.address = row->address,
		.act = row->act,
		.request = request,
		.refusal = row->refusal,
	};
	char chain[AUDIT_CHAIN_SIZE];

	audit_chain(before, &found, chain);
	return row->chain && !strcmp(chain, row->chain);
}

static int broken(struct cli *cli, const struct audit_info *row)
{
	cli_say(cli,
		"row %llu of the audit log, or one before it, was changed, "
		"removed or added",
		(unsigned long long)row->seq);
	return EXIT_WORK_FAILED;
}

/* Rows of old versions have no hash; they come first and are counted apart. The
 * first row cannot be checked if earlier ones were removed for age.
 */
static int verify(struct cli *cli, const struct rows *rows)
{
	uint64_t count = 0, without = 0, seq = 0;
	const char *before = "";

	for (size_t i = 0; i < rows->count; i++) {
		const struct audit_info *row = rows_at(rows, i);
		bool first = !count && row->seq > 1 && !without;

		if (!count && (!row->chain || !*row->chain)) {
			without++;
			continue;
		}
		if (!first &&
		    (!row_holds(row, before) || (seq && row->seq != seq + 1)))
			return broken(cli, row);
		seq = row->seq;
		before = row->chain ? row->chain : "";
		count++;
	}
	fprintf(cli->out, "%llu rows are unchanged", (unsigned long long)count);
	if (without)
		fprintf(cli->out, "; %llu older ones have no chain",
			(unsigned long long)without);
	if (count)
		fprintf(cli->out, "; row %llu has %s", (unsigned long long)seq,
			before);
	fputc('\n', cli->out);
	return EXIT_GOOD;
}

static int print_lines(struct cli *cli, const struct rows *rows,
		       struct error *err)
{
	for (size_t i = 0; i < rows->count; i++) {
		owned(buffer_clear) struct buffer line =
			BUFFER_INIT(MESSAGE_REPLY_MAX);

		if (codec_encode(rows->schema, rows_at(rows, i), &line, err) <
			    0 ||
		    cli_print_json_text(cli, line.data, err) < 0)
			return -1;
	}
	return EXIT_GOOD;
}

static int audit_command(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = cli_connect(cli, err);
	owned(rows_clear) struct rows rows = { 0 };
	const struct audit_options *given = cli->given;
	struct rows shown;

	if (!client ||
	    client_rows(client, QUERY_AUDIT, 0, "seq", &rows, err) < 0)
		return -1;
	if (given->verify)
		return verify(cli, &rows);
	shown = rows;
	if (given->tail < shown.count) {
		size_t first = shown.count - (size_t)given->tail;

		shown.items += first * shown.schema->size;
		shown.count -= first;
	}
	if (cli_format(cli, "jsonl"))
		return print_lines(cli, &shown, err);
	return rows_show(cli, &view_audit, client_clock_ms(client), &shown,
			 err);
}

static const char *const formats[] = { "text", "json", "jsonl", NULL };

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(audit_options, "tail", 'n', OPTION_NUMBER, tail, "N"),
	  .max = 1000000000,
	  .help = "print only the last N rows" },
	{ OPTION(audit_options, "verify", 0, OPTION_FLAG, verify, NULL),
	  .help = "check that no row was changed, removed or added" },
	OPTION_FORMAT(formats, "text, json, or jsonl: one row per line"),
	{ 0 },
};

const struct command command_audit = {
	.name = "audit",
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct audit_options),
	.summary = "list who changed what, and when",
	.help =
		"Lists every request that changed something, with user, "
		  "address and outcome. Each row contains a hash of itself "
		  "and of the previous row. The controller also logs the "
		  "newest hash.",
	.example = "regatta audit --tail 20",
	.fn = audit_command,
};
/* clang-format on */
