/* submit.c - submit: sends a sweep to the controller.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/gate.h"
#include "controller/cli/commands/preflight.h"
#include "controller/cli/commands/sweep_source.h"
#include "controller/cli/input.h"
#include "controller/cli/logins.h"
#include "controller/cli/notify.h"
#include "controller/cli/secrets.h"
#include "controller/cli/watch.h"
#include "controller/report/races.h"
#include "protocol/base/program.h"

#include <errno.h>

struct submit_options {
	struct options common;
	bool wait;
	bool take_over; /* --resume */
	const char *notify;
};

static void say_how_back(struct cli *cli, uint64_t sweep)
{
	static const char *const ways[][2] = {
		{ "regatta jobs --sweep", "show the progress" },
		{ "regatta report", "show the results so far" },
		{ "regatta cancel", "end it" },
	};
	unsigned long long id = sweep;

	cli_say(cli,
		"sweep %llu continues; these commands show "
		"it again:",
		id);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		char line[60];

		snprintf(line, sizeof(line), "%s %llu", ways[i][0], id);
		cli_say(cli, "  %-26s  %s", line, ways[i][1]);
	}
	cli_say(cli, "  %-26s  %s", "regatta logs JOB -f",
		"show the output of a job");
}

static int wait_for(struct cli *cli, struct client *client, uint64_t sweep,
		    struct error *err)
{
	owned(watch_free) struct watch *watch =
		watch_new(cli, client, sweep, err);
	const struct submit_options *given = cli->given;
	const struct gate gate = { .notify = given->notify };
	struct results_form form = { .format = cli_format(cli, "json") ? "json"
								       : NULL,
				     .gate = &gate };
	owned(sweep_source_clear) struct sweep_source source = {
		.sweep = sweep
	};
	struct sweep_end end;
	int unmet;

	if (!watch)
		return -1;
	watch_notify(watch, given->notify);
	if (watch_run_until_interrupt(watch, err) < 0) {
		if (err->code != EINTR)
			return -1;
		watch_free(take(watch));
		say_how_back(cli, sweep);
		return EXIT_INTERRUPTED;
	}
	unmet = sweep_source_fetch(&source, client, 0, err) < 0
			? -1
			: results_print(cli, client, &source.about.about,
					&source.rows, &form, err);
	end = watch_end(watch);
	if (unmet < 0 || races_count_empty(&source.rows, &end.lost, err) < 0)
		return -1;
	watch_tell_pause(watch);
	return unmet ? EXIT_WORK_FAILED
		     : sweep_end_tell(cli, &end, given->notify);
}

static int submit_command(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(client_free) struct client *client = NULL;
	owned(answer_clear) struct answer answer = { 0 };
	const struct submit_options *given = cli->given;
	uint64_t sweep;
	char token[33];

	if (given->notify && !given->wait)
		return error_set(err, EINVAL,
				 "--notify is valid only with --wait");
	if (input_init(&input, cli, cli->args[0], true, err) < 0 ||
	    input_check_jobs(&input, cli, err) < 0)
		return -1;
	input.take_over = given->take_over;
	token_make(token);
	client = cli_connect(cli, err);
	if (!client || input_add_descriptions(&input, cli, client, err) < 0 ||
	    logins_collect(cli, client, input.sweep, &input.logins, err) < 0 ||
	    secrets_collect(cli, client, input.sweep, &input.logins, err) < 0 ||
	    preflight_run(cli, client, &input, err) < 0 ||
	    input_submit(&input, cli, client, token, &answer, err) < 0)
		return -1;
	sweep = ((const struct reply_submit *)answer.reply)->sweep;
	if (given->wait)
		return wait_for(cli, client, sweep, err);
	if (cli_format(cli, "json"))
		return cli_print_answer(cli, &answer, err);
	/* On a terminal, the message about the sweep has its number. */
	if (!cli->out_terminal)
		fprintf(cli->out, "%llu\n", (unsigned long long)sweep);
	return EXIT_GOOD;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(submit_options, "wait", 'w', OPTION_FLAG, wait, NULL),
	  .help = "show the progress until all jobs have ended, then print "
		  "the results" },
	{ OPTION(submit_options, "resume", 0, OPTION_FLAG, take_over, NULL),
	  .help = "keep jobs that completed in earlier sweeps of this name, "
		  "and run the others" },
	OPTION_NOTIFY(submit_options),
	OPTION_REGISTRY_AUTH("registry credentials to send encrypted "
		  "(~/.docker/config.json)"),
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_submit = {
	.name = "submit",
	.args = "SWEEP",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct submit_options),
	.summary = "submit a sweep to the controller",
	.help =
		"Prints the number of the sweep. With --wait, Ctrl-C leaves "
		  "the sweep running; the exit status is 0 if all jobs "
		  "completed, otherwise 1. With --resume, cells that "
		  "completed unchanged in an earlier sweep of the same name "
		  "do not run again. The new report contains their jobs, "
		  "marked with their sweep.",
	.example = "regatta submit first.yaml --wait",
	.fn = submit_command,
};
/* clang-format on */
