/* files.c - files: list the files that were collected of a job.
 */
#include "controller/cli/command.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/cli/run/session.h"
#include "protocol/base/program.h"

static int print_files(struct cli *cli, const cJSON *files, struct error *err)
{
	static const struct column columns[] = {
		{ "RANK", true },  { "PATH", false }, { "SIZE", true },
		{ "NOTE", false }, { NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *file;

	if (!table)
		return -1;
	cJSON_ArrayForEach(file, files)
	{
		char size[HUMAN_SIZE];

		table_cell(table, PLAIN, "%llu",
			   (unsigned long long)json_u64(file, "rank"));
		table_cell(table, PLAIN, "%s", json_text(file, "path"));
		table_cell(table, PLAIN, "%s",
			   *json_text(file, "content")
				   ? human_bytes(json_u64(file, "bytes"), size)
				   : "-");
		table_cell(table, PLAIN, "%s", json_text(file, "text"));
	}
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	struct message_query query = { .what = QUERY_FILES };
	const cJSON *files;
	uint64_t job;

	if (cli_id(cli->args[0], "job", &job, err) < 0)
		return -1;
	query.id = job;
	if (session_open(&session, cli, err) < 0 ||
	    client_query(session.client, &query, &answer, err) < 0)
		return -1;
	files = json_list(answer.body, "files");
	if (cli_format(cli, "json"))
		return cli_print_json(cli, files, err) < 0 ? -1 : EXIT_GOOD;
	if (!files || !files->child) {
		cli_say(cli,
			"job %llu has no collected files: collect: [path] in "
			"the sweep keeps them; regatta logs %llu --list shows "
			"what is streamed",
			(unsigned long long)job, (unsigned long long)job);
		return EXIT_GOOD;
	}
	return print_files(cli, files, err) < 0 ? -1 : EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_STATE,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_files = {
	.name = "files",
	.args = "JOB",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.summary = "list the files that were collected of a job",
	.help =
		"They are those that collect: in the sweep names, from each "
		"node.",
	.example = "regatta files 17",
	.fn = run_command,
};
/* clang-format on */
