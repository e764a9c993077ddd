/* diagnose.c - regatta diagnose: the output of a program in, why it failed out.
 */
#include "controller/causes/causes.h"
#include "controller/cli/command.h"
#include "controller/cli/file_reader.h"
#include "controller/cli/json.h"
#include "protocol/base/program.h"

#include <limits.h>

static int feed(const void *piece, size_t size, void *arg, struct error *err)
{
	return causes_feed(arg, piece, size, err);
}

static void print_where(struct cli *cli, const struct verdict *verdict)
{
	if (verdict->host)
		fprintf(cli->out, "host: %s\n", verdict->host);
	if (verdict->rank != END_UNKNOWN)
		fprintf(cli->out, "rank: %lld\n", (long long)verdict->rank);
	if (verdict->exit_code != END_CODE_UNKNOWN)
		fprintf(cli->out, "exit code: %d\n", verdict->exit_code);
	if (*verdict->signal)
		fprintf(cli->out, "signal: %s\n", verdict->signal);
}

static void print(struct cli *cli, const struct verdict *verdict)
{
	if (!verdict->cause) {
		fprintf(cli->out, "nothing in it says that it failed\n");
		return;
	}
	fprintf(cli->out, "%s: %s\n", causes_class_name(verdict->class),
		verdict->cause->line);
	fprintf(cli->out, "line: %llu\n",
		(unsigned long long)verdict->cause->line_number);
	print_where(cli, verdict);
	if (verdict->other_count)
		fprintf(cli->out, "also considered:\n");
	for (size_t i = 0; i < verdict->other_count; i++) {
		const struct cause *cause = verdict->others[i];

		fprintf(cli->out, "  line %llu, %s: %s\n",
			(unsigned long long)cause->line_number,
			causes_class_name(cause->class), cause->line);
	}
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(failure_patterns_free) struct failure_patterns *patterns = NULL;
	owned(causes_free) struct causes *causes = NULL;
	owned(json_free) cJSON *document = NULL;
	struct verdict verdict;
	char images[PATH_MAX], path[PATH_MAX + sizeof("/failures.yaml")];

	if (settings_images(cli->environment, cli->options, images, err) < 0)
		return -1;
	snprintf(path, sizeof(path), "%s/failures.yaml", images);
	patterns = failure_patterns_read(path, err);
	causes = patterns ? causes_new(patterns, err) : NULL;
	if (!causes ||
	    file_reader_read(cli->arg_count ? cli->args[0] : "-", feed, causes,
			     err) < 0 ||
	    causes_finish(causes, err) < 0)
		return -1;
	causes_verdict(causes, false, &verdict);
	if (cli_format(cli, "text")) {
		print(cli, &verdict);
		return EXIT_GOOD;
	}
	document = verdict_json(&verdict);
	if (!document)
		return error_nomem(err, "verdict");
	return cli_print_json(cli, document, err) < 0 ? -1 : EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_diagnose = {
	.name = "diagnose",
	.args = "[FILE | -]",
	.max_args = 1,
	.rules = rules,
	.summary = "say why a program failed, by what it printed",
	.help =
		"Reads the output of a training program from a file or "
		"standard input and names the line that says why it failed, "
		"the kind of failure, and rank, host, exit code and signal "
		"where the output tells them; needs no controller. What the "
		"lines mean stands in failures.yaml beside the frameworks.",
	.example = "regatta diagnose train.log --format json",
	.fn = run_command,
};
/* clang-format on */
