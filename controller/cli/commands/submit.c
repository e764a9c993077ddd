/* submit.c - plan, submit, cancel, retry: what a controller is asked to do.
 */
#include "controller/cli/commands/commands.h"
#include "controller/cli/input.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/watch.h"
#include "controller/sweep/plan.h"
#include "protocol/program.h"

#include <errno.h>
#include <string.h>

#define PLAN_ROWS 1000 /* as text; all as JSON */

/* plan */

static int print_kept(struct cli *cli, const cJSON *plan, struct error *err)
{
	static const struct column columns[] = {
		{ "CELL", false }, { "REPEATS", true }, { "VENDOR", false },
		{ "NODES", true }, { "DEVICES", true }, { "IMAGE", false },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *row;

	if (!table)
		return -1;
	cJSON_ArrayForEach(row, json_list(plan, "kept"))
	{
		uint64_t devices = json_u64(row, "devices");

		table_cell(table, PLAIN, "%s", json_text(row, "cell"));
		table_cell(table, PLAIN, "%llu",
			   (unsigned long long)json_u64(row, "repeats"));
		table_cell(table, PLAIN, "%s", json_text(row, "vendor"));
		table_cell(table, PLAIN, "%llu",
			   (unsigned long long)json_u64(row, "nodes"));
		if (devices)
			table_cell(table, PLAIN, "%llu",
				   (unsigned long long)devices);
		else
			table_cell(table, PLAIN, "all");
		table_cell(table, PLAIN, "%s", json_text(row, "image"));
	}
	return table_rows(table)
		       ? table_print(table, cli->out, cli_out_colour(cli), err)
		       : 0;
}

static int print_dropped(struct cli *cli, const cJSON *plan, struct error *err)
{
	static const struct column columns[] = {
		{ "DROPPED CELL", false },
		{ "REASON", false },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *row;

	if (!table)
		return -1;
	cJSON_ArrayForEach(row, json_list(plan, "dropped"))
	{
		table_cell(table, YELLOW, "%s", json_text(row, "cell"));
		table_cell(table, PLAIN, "%s", json_text(row, "reason"));
	}
	if (!table_rows(table))
		return 0;
	fputc('\n', cli->out);
	return table_print(table, cli->out, cli_out_colour(cli), err);
}

static void print_totals(struct cli *cli, const struct sweep *sweep)
{
	const struct sweep_totals *totals = sweep_totals(sweep);
	char time[HUMAN_SIZE];

	if (totals->kept > PLAN_ROWS || totals->dropped > PLAN_ROWS)
		fprintf(cli->out,
			"\nonly the first %d of each are shown; --format json "
			"has all\n",
			PLAN_ROWS);
	fprintf(cli->out,
		"\n%s: %zu cells, %zu kept, %zu dropped; %zu jobs, the widest "
		"on %u nodes",
		sweep_name(sweep), totals->cells, totals->kept, totals->dropped,
		totals->jobs, totals->nodes_max);
	if (totals->timeout_ms)
		fprintf(cli->out, "; one by one at most %s",
			human_time((int64_t)totals->timeout_ms, time));
	fputc('\n', cli->out);
}

static int print_plan(struct cli *cli, const cJSON *plan,
		      const struct sweep *sweep, struct error *err)
{
	if (print_kept(cli, plan, err) < 0 || print_dropped(cli, plan, err) < 0)
		return -1;
	print_totals(cli, sweep);
	return 0;
}

int command_plan(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(json_free) cJSON *plan = NULL;
	bool json = cli_format(cli, "json");

	if (input_init(&input, cli, cli->args[0], false, err) < 0)
		return -1;
	plan = plan_new(input.sweep, json ? SWEEP_CELLS_MAX : PLAN_ROWS, err);
	if (!plan)
		return -1;
	if (json ? cli_print_json(cli, plan, err) < 0
		 : print_plan(cli, plan, input.sweep, err) < 0)
		return -1;
	if (sweep_totals(input.sweep)->jobs)
		return EXIT_GOOD;
	cli_say(cli, "regatta: %s: nothing to run: all cells are dropped",
		input.name);
	return EXIT_WRONG_REQUEST;
}

/* submit */

static int on_interrupt(sd_event_source *source,
			const struct signalfd_siginfo *info, void *arg)
{
	watch_stop(arg);
	return 0;
}

static void say_how_back(struct cli *cli, uint64_t sweep)
{
	unsigned long long id = sweep;

	cli_say(cli, "sweep %llu runs on; come back with", id);
	cli_say(cli, "  regatta jobs --sweep %llu     how far it is", id);
	cli_say(cli, "  regatta logs JOB -f          what a job prints");
	cli_say(cli, "  regatta report %llu           the results so far", id);
	cli_say(cli, "  regatta cancel %llu           end it", id);
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

int command_retry(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	owned(answer_clear) struct answer answer = { 0 };
	struct message_retry retry = { 0 };
	char jobs[HUMAN_SIZE];

	if (cli_id(cli->args[0], "sweep", &retry.sweep, err) < 0)
		return -1;
	client = cli_connect(cli, err);
	if (!client || client_call(client, MESSAGE_RETRY, &retry, NULL, 0, 0,
				   &answer, err) < 0)
		return -1;
	cli_say(cli, "sweep %llu: %s queued again",
		(unsigned long long)retry.sweep,
		human_jobs(json_u64(answer.body, "retried"), jobs));
	if (cli_format(cli, "json") &&
	    cli_print_json(cli, answer.body, err) < 0)
		return -1;
	return EXIT_GOOD;
}
