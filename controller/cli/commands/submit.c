/* submit.c - submit, cancel, retry: what a controller is asked to do.
 */
#include "controller/cli/commands/commands.h"
#include "controller/cli/input.h"
#include "controller/cli/json.h"
#include "controller/cli/logins.h"
#include "controller/cli/render.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/watch.h"
#include "protocol/program.h"
#include "protocol/registry/login.h"

#include <errno.h>
#include <string.h>

/* submit */

static int on_interrupt(sd_event_source *source,
			const struct signalfd_siginfo *info, void *arg)
{
	watch_stop(arg);
	return 0;
}

static void say_how_back(struct cli *cli, uint64_t sweep)
{
	static const char *const ways[][2] = {
		{ "regatta jobs --sweep", "how far it is" },
		{ "regatta report", "the results so far" },
		{ "regatta cancel", "end it" },
	};
	unsigned long long id = sweep;

	cli_say(cli, "sweep %llu runs on; come back with", id);
	for (size_t i = 0; i < sizeof(ways) / sizeof(ways[0]); i++) {
		char line[60];

		snprintf(line, sizeof(line), "%s %llu", ways[i][0], id);
		cli_say(cli, "  %-26s  %s", line, ways[i][1]);
	}
	cli_say(cli, "  %-26s  %s", "regatta logs JOB -f", "what a job prints");
}

static int wait_for(struct cli *cli, struct client *client, uint64_t sweep,
		    struct error *err)
{
	owned(watch_free) struct watch *watch =
		watch_new(cli, client, sweep, err);
	owned(interrupts_clear) struct interrupts interrupts = { 0 };
	struct results_form form = { .format = NULL };
	size_t jobs, completed;

	if (!watch || interrupts_init(&interrupts, client_loop(client),
				      on_interrupt, watch, err) < 0)
		return -1;
	if (watch_run(watch, err) < 0) {
		if (err->code != EINTR)
			return -1;
		interrupts_clear(&interrupts);
		watch_free(take(watch));
		say_how_back(cli, sweep);
		return EXIT_INTERRUPTED;
	}
	jobs = watch_jobs(watch);
	completed = watch_completed(watch);
	interrupts_clear(&interrupts);
	watch_free(take(watch)); /* the terminal is free for the table */
	form.format = cli_format(cli, "json") ? "json" : NULL;
	if (results_print(cli, client, sweep, &form, err) < 0)
		return -1;
	cli_say(cli, "sweep %llu: %zu of %zu jobs completed",
		(unsigned long long)sweep, completed, jobs);
	return completed == jobs ? EXIT_GOOD : EXIT_WORK_FAILED;
}

int command_submit(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(client_free) struct client *client = NULL;
	owned(json_free) cJSON *body = NULL;
	uint64_t sweep;
	char token[33];

	if (input_init(&input, cli, cli->args[0], true, err) < 0 ||
	    input_check_jobs(&input, cli, err) < 0)
		return -1;
	token_make(token);
	client = cli_connect(cli, err);
	if (!client ||
	    logins_collect(cli, client, input.sweep, &input.logins,
			   &input.logins_count, err) < 0 ||
	    input_submit(&input, cli, client, token, &sweep, &body, err) < 0)
		return -1;
	if (cli->options.wait)
		return wait_for(cli, client, sweep, err);
	if (cli_format(cli, "json"))
		return cli_print_json(cli, body, err) < 0 ? -1 : EXIT_GOOD;
	fprintf(cli->out, "%llu\n", (unsigned long long)sweep);
	return EXIT_GOOD;
}

/* cancel, retry */

static int cancel_one(struct cli *cli, struct client *client, const char *kind,
		      uint64_t id, cJSON *list, struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	struct message_cancel cancel = { .kind = (char *)kind, .id = id };
	char jobs[HUMAN_SIZE];
	uint64_t count;
	cJSON *row;

	if (client_call(client, MESSAGE_CANCEL, &cancel, NULL, 0, 0, &answer,
			err) < 0)
		return -1;
	count = json_u64(answer.body, "cancelled");
	cli_say(cli, "%s %llu: %s cancelled", kind, (unsigned long long)id,
		human_jobs(count, jobs));
	row = cJSON_CreateObject();
	if (!cJSON_AddStringToObject(row, "kind", kind) ||
	    !cJSON_AddNumberToObject(row, "id", (double)id) ||
	    !cJSON_AddNumberToObject(row, "cancelled", (double)count) ||
	    !cJSON_AddItemToArray(list, row)) {
		cJSON_Delete(row);
		return error_nomem(err, "output");
	}
	return 0;
}

/* `[sweep | job] ID...`: a word says what the numbers behind it are. With a
 * client they are cancelled, without they are only read.
 */
static int cancel_each(struct cli *cli, struct client *client, cJSON *list,
		       struct error *err)
{
	const char *kind = "sweep";
	size_t numbers = 0;

	for (size_t i = 0; i < cli->arg_count; i++) {
		uint64_t id;

		if (!strcmp(cli->args[i], "sweep") ||
		    !strcmp(cli->args[i], "job")) {
			kind = cli->args[i];
			continue;
		}
		if (cli_id(cli->args[i], kind, &id, err) < 0)
			return -1;
		numbers++;
		if (client && cancel_one(cli, client, kind, id, list, err) < 0)
			return -1;
	}
	if (!numbers)
		return error_set(err, EINVAL,
				 "cancel: the number of a %s is missing", kind);
	return 0;
}

int command_cancel(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	owned(json_free) cJSON *list = cJSON_CreateArray();

	if (!list)
		return error_nomem(err, "output");
	if (cancel_each(cli, NULL, NULL, err) < 0)
		return -1;
	client = cli_connect(cli, err);
	if (!client || cancel_each(cli, client, list, err) < 0)
		return -1;
	if (cli_format(cli, "json") && cli_print_json(cli, list, err) < 0)
		return -1;
	return EXIT_GOOD;
}

static void say_gone(struct cli *cli, uint64_t sweep, const cJSON *gone)
{
	const cJSON *registry;

	cJSON_ArrayForEach(registry, gone)
	{
		cli_say(cli,
			"the credentials for %s that came with the sweep are "
			"gone; where its images are missing: regatta retry "
			"%llu --registry-auth",
			registry->valuestring, (unsigned long long)sweep);
	}
}

static void retry_clear(struct message_retry *retry)
{
	logins_free(retry->logins, retry->logins_count);
}
OWNED_VALUE(struct message_retry, retry_clear)

int command_retry(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	owned(answer_clear) struct answer answer = { 0 };
	owned(retry_clear) struct message_retry retry = { 0 };
	char jobs[HUMAN_SIZE];

	if (cli_id(cli->args[0], "sweep", &retry.sweep, err) < 0)
		return -1;
	client = cli_connect(cli, err);
	if (!client ||
	    logins_collect_again(cli, client, retry.sweep, &retry.logins,
				 &retry.logins_count, err) < 0 ||
	    client_call(client, MESSAGE_RETRY, &retry, NULL, 0, 0, &answer,
			err) < 0)
		return -1;
	cli_say(cli, "sweep %llu: %s queued again",
		(unsigned long long)retry.sweep,
		human_jobs(json_u64(answer.body, "retried"), jobs));
	say_gone(cli, retry.sweep, json_list(answer.body, "gone"));
	if (cli_format(cli, "json") &&
	    cli_print_json(cli, answer.body, err) < 0)
		return -1;
	return EXIT_GOOD;
}
