/* plan.c - regatta plan: what a sweep would run, where, and for how long.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/image_options.h"
#include "controller/cli/commands/plan_pin.h"
#include "controller/cli/input.h"
#include "controller/cli/plan/least_policy.h"
#include "controller/cli/plan/node_snapshot.h"
#include "controller/cli/plan/schedule_simulation.h"
#include "controller/cli/render.h"
#include "controller/cli/workspace.h"
#include "controller/report/row.h"
#include "controller/sweep/plan.h"
#include "protocol/base/program.h"
#include "protocol/message/reply_jobs.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PLAN_ROWS 1000    /* as text; all as JSON */
#define KEYS_AT_ONCE 1000 /* that a controller answers about */

struct plan_options {
	struct image_options images; /* for whoever asks nodes for theirs */
	bool pin;
	bool commands;
};

/* What a controller adds to a plan. */
struct outlook {
	struct node_snapshot snapshot;
	uint64_t *times; /* by kept cell: how long a job took, 0: unknown */
	uint32_t *runs;  /* and how many have run */
	struct schedule_simulation *simulation; /* NULL: not checked */
	struct least_policy least; /* of the cells that nodes refuse */
	char text[300];            /* why not */
};

static void outlook_clear(struct outlook *outlook)
{
	node_snapshot_clear(&outlook->snapshot);
	free(outlook->times);
	free(outlook->runs);
	schedule_simulation_free(outlook->simulation);
	least_policy_clear(&outlook->least);
}
OWNED_VALUE(struct outlook, outlook_clear)

/* Asking. */

/* A cell and its key, to be found again by the key. */
struct keyed {
	char key[65];
	size_t cell;
};

struct keys {
	struct keyed *items;
	size_t count;
};

static void keys_clear(struct keys *keys)
{
	free(keys->items);
}
OWNED_VALUE(struct keys, keys_clear)

static int compare_keys(const void *a, const void *b)
{
	const struct keyed *x = a, *y = b;

	return strcmp(x->key, y->key);
}

static int collect_keys(struct sweep *sweep, struct keys *keys,
			struct error *err)
{
	size_t count = sweep_totals(sweep)->kept;

	keys->items = calloc(count + 1, sizeof(*keys->items));
	if (!keys->items)
		return error_nomem(err, "plan");
	for (size_t i = 0; i < count; i++) {
		struct keyed *item = &keys->items[keys->count++];

		item->cell = i;
		if (sweep_cell_key(sweep, i, item->key, err) < 0)
			return -1;
	}
	qsort(keys->items, keys->count, sizeof(*keys->items), compare_keys);
	return 0;
}

static void note_history(struct outlook *outlook, const struct keys *keys,
			 const struct reply_history *reply)
{
	for (size_t i = 0; i < reply->history_count; i++) {
		const struct history_info *item = &reply->history[i];
		const struct keyed *found;
		struct keyed key = { 0 };

		snprintf(key.key, sizeof(key.key), "%s", item->key);
		found = bsearch(&key, keys->items, keys->count,
				sizeof(*keys->items), compare_keys);
		if (!found)
			continue;
		outlook->times[found->cell] =
			item->median_ms > 0 ? (uint64_t)item->median_ms : 1;
		outlook->runs[found->cell] = item->runs;
	}
}

/* How long the cells took, as far as the controller knows. */
static int fetch_history(struct outlook *outlook, struct sweep *sweep,
			 struct client *client, struct error *err)
{
	owned(keys_clear) struct keys keys = { 0 };

	outlook->times =
		calloc(sweep_totals(sweep)->kept + 1, sizeof(*outlook->times));
	outlook->runs =
		calloc(sweep_totals(sweep)->kept + 1, sizeof(*outlook->runs));
	if (!outlook->times || !outlook->runs)
		return error_nomem(err, "plan");
	if (collect_keys(sweep, &keys, err) < 0)
		return -1;
	for (size_t at = 0; at < keys.count; at += KEYS_AT_ONCE) {
		owned(answer_clear) struct answer answer = { 0 };
		struct message_query query = { .what = QUERY_HISTORY };
		int rc = 0;

		for (size_t i = at;
		     i < keys.count && i < at + KEYS_AT_ONCE && rc == 0; i++)
			rc = strings_add(&query.keys, keys.items[i].key, err);
		if (rc == 0)
			rc = client_query(client, &query, &answer, err);
		strings_clear(&query.keys);
		if (rc < 0)
			return -1;
		if (answer.reply)
			note_history(outlook, &keys, answer.reply);
	}
	return 0;
}

/* A plan needs no controller: without one it says that it did not ask. */
static int outlook_init(struct outlook *outlook, struct cli *cli,
			struct sweep *sweep, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	struct error why = { 0 };

	client = cli_connect(cli, &why);
	if (!client ||
	    node_snapshot_fetch(&outlook->snapshot, client, &why) < 0 ||
	    fetch_history(outlook, sweep, client, &why) < 0) {
		if (why.code == ENOMEM)
			return error_nomem(err, "plan");
		snprintf(outlook->text, sizeof(outlook->text), "%s", why.text);
		return 0;
	}
	outlook->simulation =
		schedule_simulation_new(sweep, outlook->snapshot.slots,
					outlook->snapshot.count, outlook->times,
					err);
	return outlook->simulation ? 0 : -1;
}

/* As JSON. */

static bool add_number(cJSON *to, const char *name, bool known, uint64_t value)
{
	return known ? cJSON_AddNumberToObject(to, name, (double)value) != NULL
		     : cJSON_AddNullToObject(to, name) != NULL;
}

static bool add_cell(const struct outlook *outlook, size_t cell, cJSON *row)
{
	const struct schedule_simulation_cell *of =
		&outlook->simulation->cells[cell];
	bool timed = outlook->simulation->end_ms;
	cJSON *names;

	if (!cJSON_AddBoolToObject(row, "fits",
				   of->shortage == UNSCHEDULABLE_NONE) ||
	    !(of->lacks ? cJSON_AddStringToObject(row, "lacks", of->lacks)
			: cJSON_AddNullToObject(row, "lacks")) ||
	    !add_number(row, "runs", true, outlook->runs[cell]) ||
	    !add_number(row, "time_ms", outlook->times[cell],
			outlook->times[cell]) ||
	    !add_number(row, "wave", of->first_wave, of->first_wave) ||
	    !add_number(row, "last_wave", of->last_wave, of->last_wave) ||
	    !add_number(row, "start_ms", timed && of->first_wave,
			of->start_ms) ||
	    !(names = cJSON_AddArrayToObject(row, "on")))
		return false;
	for (uint32_t i = 0; i < of->slots_count; i++) {
		cJSON *name = cJSON_CreateString(
			outlook->snapshot.names[of->slots[i]]);

		if (!name || !cJSON_AddItemToArray(names, name)) {
			cJSON_Delete(name);
			return false;
		}
	}
	return true;
}

static bool add_totals(const struct outlook *outlook, cJSON *plan)
{
	const struct schedule_simulation *simulation = outlook->simulation;
	cJSON *cluster = cJSON_AddObjectToObject(plan, "cluster"), *to;

	if (!cluster ||
	    !cJSON_AddBoolToObject(cluster, "checked", simulation != NULL))
		return false;
	if (!simulation)
		return cJSON_AddStringToObject(cluster, "text",
					       outlook->text) != NULL;
	to = cJSON_AddObjectToObject(plan, "forecast");
	return to &&
	       add_number(cluster, "nodes", true, outlook->snapshot.count) &&
	       add_number(cluster, "usable", true, outlook->snapshot.usable) &&
	       add_number(to, "waves", true, simulation->waves) &&
	       add_number(to, "time_ms", simulation->end_ms,
			  simulation->end_ms) &&
	       add_number(to, "known", true, simulation->known) &&
	       add_number(to, "unknown", true, simulation->unknown) &&
	       add_number(to, "lacking", true, simulation->lacking) &&
	       cJSON_AddBoolToObject(to, "cut", simulation->cut);
}

/* What the policies of the nodes refuse of the cell, if there is anything. */
static int add_refusals(struct outlook *outlook, struct sweep *sweep,
			size_t cell, cJSON *row, struct error *err)
{
	struct job_spec spec;
	uint32_t repeats;
	cJSON *refusals;
	int rc = 0;

	if (!outlook->snapshot.policies.count)
		return 0;
	if (sweep_job(sweep, sweep_cell_job(sweep, cell, &repeats), &spec,
		      err) < 0)
		return -1;
	refusals = node_policies_refusals(&outlook->snapshot.policies,
					  spec.vendor, &spec.container, err);
	if (!refusals || cJSON_GetArraySize(refusals))
		rc = refusals ? least_policy_add(&outlook->least,
						 &spec.container, err)
			      : -1;
	codec_clear(&job_spec_schema, &spec);
	if (cJSON_GetArraySize(refusals))
		cJSON_AddItemToObject(row, "refused", refusals);
	else
		cJSON_Delete(refusals);
	return rc;
}

static int add_outlook(struct outlook *outlook, struct sweep *sweep,
		       cJSON *plan, struct error *err)
{
	size_t cell = 0;
	bool refused = false;
	cJSON *row;

	if (least_policy_init(&outlook->least, err) < 0)
		return -1;
	if (!add_totals(outlook, plan))
		return error_nomem(err, "plan");
	if (!outlook->simulation)
		return 0;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		if (add_refusals(outlook, sweep, cell, row, err) < 0)
			return -1;
		if (!add_cell(outlook, cell++, row))
			return error_nomem(err, "plan");
		refused |= cJSON_HasObjectItem(row, "refused");
	}
	if (refused)
		cJSON_AddItemToObject(plan, "policy",
				      least_policy_json(&outlook->least));
	return 0;
}

/* As text. */

/* "n1,n2" and when: "1", "1-3". */
static void place_cells(struct table *table, const cJSON *row)
{
	double first = row_double(row, "wave");
	double last = row_double(row, "last_wave");
	char text[HUMAN_SIZE], nodes[200];
	owned(strings_clear) struct strings place = { 0 };
	const cJSON *node;

	table_cell(table, PLAIN, "%s",
		   row_double(row, "runs") > 0
			   ? human_time((int64_t)row_double(row, "time_ms"),
					text)
			   : "?");
	if (!isfinite(first)) {
		const char *lacks = row_text(row, "lacks");

		table_cell(table, PLAIN, "-");
		table_cell(table, YELLOW, "%s", lacks ? lacks : "");
		return;
	}
	if (last > first)
		table_cell(table, PLAIN, "%.0f-%.0f", first, last);
	else
		table_cell(table, PLAIN, "%.0f", first);
	cJSON_ArrayForEach(node, row_at(row, "on"))
	{
		if (cJSON_IsString(node) &&
		    strings_add(&place, node->valuestring, NULL) < 0)
			break;
	}
	table_cell(table, PLAIN, "%s", job_nodes(&place, nodes, sizeof(nodes)));
}

static void print_repeats(struct table *table, const cJSON *row)
{
	double repeats = row_double(row, "repeats");
	double max = row_double(row, "repeats_max");

	if (max > repeats)
		table_cell(table, PLAIN, "%.0f to %.0f", repeats, max);
	else
		table_cell(table, PLAIN, "%.0f", repeats);
}

/* What the cells go after that go after any. */
static int print_order(struct cli *cli, const cJSON *plan, struct error *err)
{
	static const struct column columns[] = {
		{ "CELL", false },
		{ "GOES AFTER", false },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *row;

	if (!table)
		return -1;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		if (!row_text(row, "after"))
			continue;
		table_cell(table, PLAIN, "%s", row_text(row, "cell"));
		table_cell(table, PLAIN, "%s", row_text(row, "after"));
	}
	return cli_print_table(cli, "\n", table, err);
}

static int print_kept(struct cli *cli, const cJSON *plan, bool placed,
		      struct error *err)
{
	static const struct column columns[] = {
		{ "CELL", false }, { "REPEATS", true }, { "VENDOR", false },
		{ "NODES", true }, { "DEVICES", true }, { "IMAGE", false },
		{ NULL, false },
	};
	static const struct column more[] = {
		{ "CELL", false }, { "REPEATS", true }, { "VENDOR", false },
		{ "NODES", true }, { "DEVICES", true }, { "IMAGE", false },
		{ "TIME", true },  { "WAVE", true },    { "ON", false },
		{ NULL, false },
	};
	owned(table_free) struct table *table =
		table_new(placed ? more : columns, err);
	const cJSON *row;

	if (!table)
		return -1;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		double devices = row_double(row, "devices");

		table_cell(table, PLAIN, "%s", row_text(row, "cell"));
		print_repeats(table, row);
		table_cell(table, PLAIN, "%s", row_text(row, "vendor"));
		table_cell(table, PLAIN, "%.0f", row_double(row, "nodes"));
		if (devices > 0)
			table_cell(table, PLAIN, "%.0f", devices);
		else
			table_cell(table, PLAIN, "all");
		table_cell(table, PLAIN, "%s", row_text(row, "image"));
		if (placed)
			place_cells(table, row);
	}
	return cli_print_table(cli, "", table, err);
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
	cJSON_ArrayForEach(row, row_at(plan, "dropped"))
	{
		table_cell(table, YELLOW, "%s", row_text(row, "cell"));
		table_cell(table, PLAIN, "%s", row_text(row, "reason"));
	}
	return cli_print_table(cli, "\n", table, err);
}

/* Images that a node must have, as it cannot build them; each is named once. */
static int print_missing(struct cli *cli, const cJSON *plan, struct error *err)
{
	static const struct column columns[] = {
		{ "IMAGE THAT NODES MUST HAVE", false },
		{ "AS THE TREE LACKS", false },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	owned(strings_clear) struct strings named = { 0 };
	const cJSON *row;

	if (!table)
		return -1;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		const char *missing = row_text(row, "missing");

		if (!missing || strings_has(&named, missing))
			continue;
		if (strings_add(&named, missing, err) < 0)
			return -1;
		table_cell(table, YELLOW, "%s", row_text(row, "image"));
		table_cell(table, PLAIN, "%s", missing);
	}
	return named.count ? cli_print_table(cli, "\n", table, err) : 0;
}

/* What nodes refuse, a line for each rule that the cell meets first. */
static int print_refused(struct cli *cli, const cJSON *plan,
			 const struct outlook *outlook, struct error *err)
{
	static const struct column columns[] = {
		{ "CELL", false },
		{ "NODES", false },
		{ "WHAT THEIR POLICY REFUSES", false },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	const cJSON *row, *refusal, *node;
	bool any = false;
	char names[200];

	if (!table)
		return -1;
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		cJSON_ArrayForEach(refusal, row_at(row, "refused"))
		{
			owned(strings_clear) struct strings nodes = { 0 };

			cJSON_ArrayForEach(node, row_at(refusal, "nodes"))
			{
				if (strings_add(&nodes, node->valuestring,
						err) < 0)
					return -1;
			}
			table_cell(table, PLAIN, "%s", row_text(row, "cell"));
			table_cell(table, PLAIN, "%s",
				   job_nodes(&nodes, names, sizeof(names)));
			table_cell(table, YELLOW, "%s",
				   row_text(refusal, "text"));
			any = true;
		}
	}
	if (!any)
		return 0;
	if (cli_print_table(cli, "\n", table, err) < 0)
		return -1;
	fputs("\nthese policy lines would allow the cells, see "
	      "regatta-policy(5):\n\n",
	      cli->out);
	least_policy_print(&outlook->least, cli->out);
	return 0;
}

static void print_totals(struct cli *cli, const struct sweep *sweep)
{
	const struct sweep_totals *totals = sweep_totals(sweep);
	char time[HUMAN_SIZE];

	if (totals->kept > PLAN_ROWS || totals->dropped > PLAN_ROWS)
		fprintf(cli->out,
			"\nonly the first %d of each are shown; --format json "
			"shows all\n",
			PLAN_ROWS);
	fprintf(cli->out, "\n%s: %zu cell%s, %zu kept, %zu dropped",
		sweep_name(sweep), totals->cells, totals->cells == 1 ? "" : "s",
		totals->kept, totals->dropped);
	if (totals->jobs)
		fprintf(cli->out, "; %zu job%s, the largest on %u node%s",
			totals->jobs, totals->jobs == 1 ? "" : "s",
			totals->nodes_max, totals->nodes_max == 1 ? "" : "s");
	if (totals->timeout_ms)
		fprintf(cli->out, "; one by one at most %s",
			human_time((int64_t)totals->timeout_ms, time));
	fputc('\n', cli->out);
}

/* What names no format may fit none. */
static void print_logs(struct cli *cli, const cJSON *plan)
{
	const cJSON *row;
	size_t count = 0;

	cJSON_ArrayForEach(row, row_at(plan, "kept")) count +=
		!strcmp(row_text(row, "log"), "auto");
	if (count)
		fprintf(cli->out,
			"%zu cell%s no framework and no log: the format of the "
			"log is detected; if none matches, the job has no "
			"metrics\n",
			count, count == 1 ? " names" : "s name");
}

static void print_time(struct cli *cli,
		       const struct schedule_simulation *simulation)
{
	char time[HUMAN_SIZE];

	if (simulation->cut) {
		fputs("; the forecast ends here, the sweep is too "
		      "large",
		      cli->out);
	} else if (!simulation->end_ms) {
		fputs("; time unknown: none of these cells has run before",
		      cli->out);
	} else {
		fprintf(cli->out, "; about %s",
			human_time((int64_t)simulation->end_ms, time));
		if (simulation->unknown)
			fprintf(cli->out,
				"; %zu of %zu cells have never run (?) and "
				"count as the median of the others",
				simulation->unknown,
				simulation->known + simulation->unknown);
	}
}

static void print_outlook(struct cli *cli, const struct outlook *outlook)
{
	const struct schedule_simulation *simulation = outlook->simulation;
	char clean[400];

	if (!simulation) {
		fprintf(cli->out, "nodes and times were not checked: %s\n",
			escape(outlook->text, clean, sizeof(clean)));
		return;
	}
	fprintf(cli->out,
		"with %zu of %zu nodes, all free: ", outlook->snapshot.usable,
		outlook->snapshot.count);
	if (simulation->waves) {
		fprintf(cli->out, "%u wave%s", simulation->waves,
			simulation->waves > 1 ? "s" : "");
		print_time(cli, simulation);
	} else {
		fputs("nothing would start", cli->out);
	}
	if (simulation->lacking)
		fprintf(cli->out, "; %zu cell%s would wait for nodes",
			simulation->lacking,
			simulation->lacking > 1 ? "s" : "");
	fputc('\n', cli->out);
}

static int print_plan(struct cli *cli, const cJSON *plan,
		      const struct sweep *sweep, const struct outlook *outlook,
		      struct error *err)
{
	if (print_kept(cli, plan, outlook->simulation, err) < 0 ||
	    print_order(cli, plan, err) < 0 ||
	    print_dropped(cli, plan, err) < 0 ||
	    print_missing(cli, plan, err) < 0 ||
	    print_refused(cli, plan, outlook, err) < 0)
		return -1;
	print_totals(cli, sweep);
	print_logs(cli, plan);
	if (sweep_totals(sweep)->kept)
		print_outlook(cli, outlook);
	return 0;
}

/* Of each case of FlagPerf: how its own run.py would start the container. */
static int print_commands(struct cli *cli, const struct input *input,
			  const cJSON *plan, struct error *err)
{
	const struct flagperf *flagperf = sweep_flagperf(input->sweep);
	owned(json_free) cJSON *commands = cJSON_CreateArray();
	const cJSON *row;

	if (!flagperf)
		return error_set(err, EINVAL,
				 "--commands: %s has no flagperf: block",
				 input->name);
	cJSON_ArrayForEach(row, row_at(plan, "kept"))
	{
		const char *cell = row_text(row, "cell");
		const char *docker = flagperf_docker(flagperf, cell);
		cJSON *item = docker ? cJSON_CreateObject() : NULL;

		if (!docker)
			continue;
		cJSON_AddStringToObject(item, "cell", cell);
		cJSON_AddStringToObject(item, "command", docker);
		cJSON_AddItemToArray(commands, item);
		if (!cli_format(cli, "json"))
			fprintf(cli->out, "# %s\n%s\n", cell, docker);
	}
	if (cli_format(cli, "json") && cli_print_json(cli, commands, err) < 0)
		return -1;
	return EXIT_GOOD;
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(outlook_clear) struct outlook outlook = { 0 };
	owned(json_free) cJSON *plan = NULL;
	const struct plan_options *options =
		(const struct plan_options *)cli->options;
	bool json = cli_format(cli, "json");

	/* The trees are part of what the cells are: of how long they took. */
	if (input_init(&input, cli, cli->args[0], false, err) < 0 ||
	    workspaces_bind(input.sweep, input.name, cli, err) < 0)
		return -1;
	if (options->pin)
		return plan_pin(cli, &input, err);
	plan = plan_new(input.sweep,
			json || options->commands ? SWEEP_CELLS_MAX : PLAN_ROWS,
			err);
	if (plan && options->commands)
		return print_commands(cli, &input, plan, err);
	if (!plan || outlook_init(&outlook, cli, input.sweep, err) < 0 ||
	    add_outlook(&outlook, input.sweep, plan, err) < 0)
		return -1;
	if (json ? cli_print_json(cli, plan, err) < 0
		 : print_plan(cli, plan, input.sweep, &outlook, err) < 0)
		return -1;
	if (sweep_totals(input.sweep)->jobs)
		return EXIT_GOOD;
	cli_say(cli, "regatta: %s: nothing to run: all cells are dropped",
		input.name);
	return EXIT_WRONG_REQUEST;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(plan_options, "pin", 0, OPTION_FLAG, pin, NULL),
	  .help = "print the sweep with its image as NAME@DIGEST, as found on "
		  "the nodes" },
	{ OPTION(plan_options, "commands", 0, OPTION_FLAG, commands, NULL),
	  .help = "print the docker run command that FlagPerf would use for "
		  "each of its cases" },
	OPTIONS_SWEEP,
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_plan = {
	.name = "plan",
	.args = "SWEEP",
	.min_args = 1,
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct plan_options),
	.summary = "check a sweep and list its cells",
	.help =
		"Lists cells that would run, and dropped cells with the "
		  "reason. SWEEP may be - for standard input. If a controller "
		  "is reachable, it also shows on which nodes and in which "
		  "order the cells would run, how long they took before, and "
		  "which cells the policies of the nodes refuse.",
	.example = "regatta plan first.yaml",
	.fn = run_command,
};
/* clang-format on */
