/* plan.c - plan: checks a sweep and lists its cells.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/images.h"
#include "controller/cli/commands/plan_forecast.h"
#include "controller/cli/input.h"
#include "controller/results/json_object.h"
#include "controller/sweep/plan.h"
#include "controller/sweep/sweep.h"
#include "controller/view/render.h"
#include "protocol/base/program.h"
#include "protocol/registry/reference.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Prints a plan as text. */

#define PLAN_TEXT_ROWS 1000 /* kept, and dropped, cells shown at most */

/* The time of a cell, its waves ("1", "1-3") and its nodes ("n1,n2"). */
static void place_cell(struct table *table, const struct plan_cell *cell)
{
	char nodes[200];

	table_text(table, cell->runs > 0
				  ? human_time((int64_t)cell->time_ms).text
				  : "?");
	if (!isfinite(cell->wave)) {
		table_text(table, "-");
		table_cell(table, YELLOW, "%s", cell->lacks ? cell->lacks : "");
		return;
	}
	if (cell->last_wave > cell->wave)
		table_cell(table, PLAIN, "%.0f-%.0f", cell->wave,
			   cell->last_wave);
	else
		table_cell(table, PLAIN, "%.0f", cell->wave);
	table_text(table, job_nodes(&cell->on, nodes, sizeof(nodes)));
}

/* A cell that the controller did not describe. */
static void place_unknown(struct table *table)
{
	for (int i = 0; i < 3; i++)
		table_text(table, "?");
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

static int print_kept(struct cli *cli, const cJSON *plan,
		      const struct reply_plan *placed, struct error *err)
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
	static const char *const droppable[] = { "VENDOR",  "DEVICES", "IMAGE",
						 "REPEATS", "WAVE",    NULL };
	owned(table_clear) struct table table = { .columns = placed ? more
								    : columns };
	size_t cell = 0;
	const cJSON *row;

	cJSON_ArrayForEach(row, row_at(plan, "kept")) {
		double devices = row_double(row, "devices");

		table_text(&table, row_text(row, "cell"));
		print_repeats(&table, row);
		table_text(&table, row_text(row, "vendor"));
		table_cell(&table, PLAIN, "%.0f", row_double(row, "nodes"));
		if (devices > 0)
			table_cell(&table, PLAIN, "%.0f", devices);
		else
			table_text(&table, "all");
		table_text(&table, row_text(row, "image"));
		if (placed && cell < placed->cells_count)
			place_cell(&table, &placed->cells[cell]);
		else if (placed)
			place_unknown(&table);
		cell++;
	}
	return cli_print_table(cli, "", &table, droppable, err);
}

/* A table of two texts of each row that has the second one. once: rows with the
 * same second text are shown once.
 */
static int print_pairs(struct cli *cli, const cJSON *rows,
		       const struct column *columns, const char *const *names,
		       bool once, struct error *err)
{
	owned(table_clear) struct table table = { .columns = columns };
	owned(strings_clear) struct strings seen = { 0 };
	const cJSON *row;

	cJSON_ArrayForEach(row, rows) {
		const char *second = row_text(row, names[1]);

		if (!second || (once && strings_has(&seen, second)))
			continue;
		if (once && strings_add(&seen, second, err) < 0)
			return -1;
		table_text(&table, row_text(row, names[0]));
		table_text(&table, second);
	}
	return cli_print_table(cli, "\n", &table, NULL, err);
}

/* The order of cells, dropped cells, and images that the nodes must have
 * because the tree lacks the files to build them.
 */
static int print_notes(struct cli *cli, const cJSON *plan, struct error *err)
{
	static const struct {
		struct column columns[3];
		const char *rows, *names[2];
		bool once;
	} notes[] = {
		{ { { "CELL", false }, { "GOES AFTER", false } },
		  "kept",
		  { "cell", "after" },
		  false },
		{ { { "DROPPED CELL", false }, { "REASON", false } },
		  "dropped",
		  { "cell", "reason" },
		  false },
		{ { { "IMAGE THAT NODES MUST HAVE", false },
		    { "MISSING IN TREE", false } },
		  "kept",
		  { "image", "missing" },
		  true },
	};

	for (size_t i = 0; i < sizeof(notes) / sizeof(notes[0]); i++)
		if (print_pairs(cli, row_at(plan, notes[i].rows),
				notes[i].columns, notes[i].names, notes[i].once,
				err) < 0)
			return -1;
	return 0;
}

/* Cells that policies refuse, with the first rule of each policy that does. */
static int print_refused(struct cli *cli, const cJSON *plan,
			 const struct plan_forecast *forecast,
			 struct error *err)
{
	static const struct column columns[] = {
		{ "CELL", false },
		{ "NODES", false },
		{ "REFUSED BY POLICY", false },
		{ NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };
	const cJSON *row, *refusal, *node;
	bool any = false;
	char names[200];

	cJSON_ArrayForEach(row, row_at(plan, "kept")) {
		cJSON_ArrayForEach(refusal, row_at(row, "refused")) {
			owned(strings_clear) struct strings nodes = { 0 };

			cJSON_ArrayForEach(node, row_at(refusal, "nodes"))
				if (strings_add(&nodes, node->valuestring,
						err) < 0)
					return -1;
			table_text(&table, row_text(row, "cell"));
			table_text(&table,
				   job_nodes(&nodes, names, sizeof(names)));
			table_cell(&table, YELLOW, "%s",
				   row_text(refusal, "text"));
			any = true;
		}
	}
	if (!any)
		return 0;
	if (cli_print_table(cli, "\n", &table, NULL, err) < 0)
		return -1;
	fputs("\nthese policy lines would allow the cells, see "
	      "regatta-policy(5):\n\n",
	      cli->out);
	least_policy_print(&forecast->least, cli->out);
	return 0;
}

static void print_totals(struct cli *cli, const struct sweep *sweep)
{
	const struct sweep_totals *totals = sweep_totals(sweep);

	if (totals->kept > PLAN_TEXT_ROWS || totals->dropped > PLAN_TEXT_ROWS)
		fprintf(cli->out,
			"\nonly the first %d of each are shown; --format json "
			"shows all\n",
			PLAN_TEXT_ROWS);
	fprintf(cli->out, "\n%s: %zu cell%s, %zu kept, %zu dropped",
		sweep_name(sweep), totals->cells, totals->cells == 1 ? "" : "s",
		totals->kept, totals->dropped);
	if (totals->jobs)
		fprintf(cli->out, "; %zu job%s, the largest on %u node%s",
			totals->jobs, totals->jobs == 1 ? "" : "s",
			totals->nodes_max, totals->nodes_max == 1 ? "" : "s");
	if (totals->timeout_ms)
		fprintf(cli->out, "; one by one at most %s",
			human_time((int64_t)totals->timeout_ms).text);
	fputc('\n', cli->out);
}

/* The heats of a race in their order. */
static int plan_print_heats(struct cli *cli, const cJSON *race,
			    const struct reply_plan *placed, struct error *err)
{
	static const struct column columns[] = {
		{ "HEAT", true },
		{ "CELL", false },
		{ "MEMORY (GIB)", true },
		{ "TIME", true },
		{ "NEVER RUN IF IT RUNS OUT", true },
		{ NULL, false },
	};
	owned(table_clear) struct table table = { .columns = columns };
	const cJSON *heat;
	int number = 1;

	cJSON_ArrayForEach(heat, row_at(race, "order")) {
		double memory = row_double(heat, "memory_gib");
		size_t index = (size_t)row_double(heat, "index");
		const struct plan_cell *cell =
			placed && index < placed->cells_count
				? &placed->cells[index]
				: NULL;

		table_cell(&table, PLAIN, "%d", number++);
		table_text(&table, row_text(heat, "cell"));
		if (isfinite(memory))
			table_cell(&table, PLAIN, "%.2f", memory);
		else
			table_text(&table, "?");
		table_text(&table,
			   cell && cell->runs
				   ? human_time((int64_t)cell->time_ms).text
				   : "?");
		table_cell(&table, PLAIN, "%.0f", row_double(heat, "prunable"));
		if (number > PLAN_TEXT_ROWS)
			break;
	}
	return cli_print_table(cli, "\n", &table, NULL, err);
}

/* The time of all heats, as far as these cells had heats before. */
static void plan_print_heats_time(struct cli *cli, const cJSON *race,
				  const struct reply_plan *placed)
{
	double sum = 0, known = 0, heats = row_double(race, "heats");
	const cJSON *heat;

	cJSON_ArrayForEach(heat, row_at(race, "order")) {
		size_t index = (size_t)row_double(heat, "index");

		if (placed && index < placed->cells_count &&
		    placed->cells[index].runs) {
			sum += placed->cells[index].time_ms;
			known++;
		}
	}
	if (known > 0)
		fprintf(cli->out,
			"its heats take about %s, by those of %.0f cells\n",
			human_time((int64_t)(sum * heats / known)).text, known);
}

static int plan_print_races(struct cli *cli, const cJSON *plan,
			    const struct reply_plan *placed, struct error *err)
{
	const cJSON *race;

	cJSON_ArrayForEach(race, row_at(plan, "races")) {
		const char *group = row_text(race, "race");
		double prunable = row_double(race, "prunable");
		bool ladder = cJSON_IsTrue(row_at(race, "ladder"));
		char clean[1000];

		if (plan_print_heats(cli, race, placed, err) < 0)
			return -1;
		fprintf(cli->out,
			"race%s%s: %s%.0f heats of %.0f steady steps, one "
			"after "
			"the other, ",
			*group ? " " : "", escape(group, clean, sizeof(clean)),
			ladder ? "some of " : "", row_double(race, "heats"),
			row_double(race, "steps"));
		fprintf(cli->out, "from %s",
			escape(row_text(race, "first"), clean, sizeof(clean)));
		fprintf(cli->out, " to %s; then full runs of those ",
			escape(row_text(race, "last"), clean, sizeof(clean)));
		if (ladder)
			fputs("that are the largest that run, ", cli->out);
		fprintf(cli->out,
			"within %g %%, and at least %.0f of the winner\n",
			row_double(race, "margin") * 100,
			row_double(race, "repeat"));
		if (prunable > 0)
			fprintf(cli->out,
				"where one cell runs out of memory, up to %.0f "
				"others never run\n",
				prunable);
		plan_print_heats_time(cli, race, placed);
	}
	return 0;
}

/* The number of cells whose log format must be detected. */
static void print_logs(struct cli *cli, const cJSON *plan)
{
	const cJSON *row;
	size_t count = 0;

	cJSON_ArrayForEach(row, row_at(plan, "kept"))
		count += !strcmp(row_text(row, "log"), "auto");
	if (count)
		fprintf(cli->out,
			"%zu cell%s no framework and no log: the format of the "
			"log is detected; if none matches, the job has no "
			"metrics\n",
			count, count == 1 ? " names" : "s name");
}

static void print_time(struct cli *cli, const struct reply_plan *reply)
{
	if (reply->cut) {
		fputs("; the forecast ends here, the sweep or the queue is too "
		      "large",
		      cli->out);
	} else if (!isfinite(reply->time_ms)) {
		fputs("; time unknown: none of these cells has run before",
		      cli->out);
	} else {
		fprintf(cli->out, "; about %s",
			human_time((int64_t)reply->time_ms).text);
		if (reply->unknown)
			fprintf(cli->out,
				"; %llu of %llu cells have never run (?) and "
				"count as the median of the others",
				(unsigned long long)reply->unknown,
				(unsigned long long)reply->known +
					reply->unknown);
	}
	if (reply->timed < reply->cells_total)
		fprintf(cli->out,
			"; earlier runs were looked up for the first %llu "
			"cells only",
			(unsigned long long)reply->timed);
}

/* raced: a race runs some of its cells, and not in full. */
static void print_forecast(struct cli *cli,
			   const struct plan_forecast *forecast, bool raced)
{
	const struct reply_plan *reply = forecast->reply;
	char clean[400];

	if (!reply) {
		fprintf(cli->out, "nodes and times were not checked: %s\n",
			escape(forecast->text, clean, sizeof(clean)));
		return;
	}
	fprintf(cli->out, "with %u of %u nodes, ", reply->usable, reply->nodes);
	if (reply->others)
		fprintf(cli->out,
			"besides %s: ", human_jobs(reply->others).text);
	else
		fputs("all free: ", cli->out);
	if (reply->waves) {
		fprintf(cli->out, "%s%u wave%s",
			raced ? "without the race, " : "", reply->waves,
			reply->waves > 1 ? "s" : "");
		print_time(cli, reply);
	} else {
		fputs("nothing would start", cli->out);
	}
	if (reply->lacking)
		fprintf(cli->out, "; %llu cell%s would wait for nodes",
			(unsigned long long)reply->lacking,
			reply->lacking > 1 ? "s" : "");
	fputc('\n', cli->out);
	if (forecast->unchecked[0])
		fprintf(cli->out, "policies were not checked: %s\n",
			escape(forecast->unchecked, clean, sizeof(clean)));
}

/* Print a plan of at most PLAN_TEXT_ROWS rows, after plan_forecast_add(). */
static int plan_text_print(struct cli *cli, const cJSON *plan,
			   const struct sweep *sweep,
			   const struct plan_forecast *forecast,
			   struct error *err)
{
	if (print_kept(cli, plan, forecast->reply, err) < 0 ||
	    print_notes(cli, plan, err) < 0 ||
	    print_refused(cli, plan, forecast, err) < 0)
		return -1;
	if (plan_print_races(cli, plan, forecast->reply, err) < 0)
		return -1;
	print_totals(cli, sweep);
	print_logs(cli, plan);
	if (sweep_totals(sweep)->kept)
		print_forecast(cli, forecast, row_at(plan, "races"));
	return 0;
}

struct plan_options {
	struct options common;
	bool pin;
	bool commands;
};

/* --pin: the image of the sweep is replaced by its digest. */

/* The digest of the image, and a node that has it. Both are borrowed. */
struct pin {
	const char *digest; /* NAME@DIGEST; "": not known yet */
	const char *node;
};

/* The images of the cells that would run, each once. */
static int collect_images(struct sweep *sweep, struct strings *images,
			  struct error *err)
{
	for (size_t i = 0; i < sweep_totals(sweep)->kept; i++) {
		owned(job_spec_clear) struct job_spec spec = { 0 };

		if (sweep_cell_spec(sweep, i, &spec, err) < 0)
			return -1;
		if (spec.container.build)
			return error_set(err, EINVAL,
					 "%.200s is built by the nodes, so its "
					 "tag already identifies it",
					 spec.container.image);
		if (!strings_has(images, spec.container.image) &&
		    strings_add(images, spec.container.image, err) < 0)
			return -1;
	}
	return 0;
}

static bool pin_match_image(const struct image_info *image,
			    const struct reference *wanted)
{
	char text[REFERENCE_MAX + 140];

	snprintf(text, sizeof(text), "%s:%s", wanted->name,
		 wanted->tag[0] ? wanted->tag : "latest");
	return strings_has(&image->tags, text);
}

/* The digest of the name's own repository; NULL: it came from none, or from
 * none that is known.
 */
static const char *pin_find_digest(const struct image_info *image,
				   const char *name)
{
	size_t length = strlen(name);
	bool pulled = image->origin && !strcmp(image->origin, "pulled");

	for (size_t i = 0; i < image->digests.count; i++)
		if (!strncmp(image->digests.items[i], name, length) &&
		    image->digests.items[i][length] == '@' &&
		    (pulled ||
		     !reference_digest_is(image->digests.items[i], image->id)))
			return image->digests.items[i];
	return NULL;
}

static int find_on_node(const struct image_node *node, const char *name,
			const struct reference *wanted, struct pin *pin,
			struct error *err)
{
	for (size_t i = 0; i < node->images_count; i++) {
		const char *digest;

		if (!pin_match_image(&node->images[i], wanted))
			continue;
		digest = pin_find_digest(&node->images[i], wanted->name);
		if (!digest)
			return error_set(err, ENOENT,
					 "%s: %.200s is not known to be from a "
					 "registry, so it has no digest",
					 node->name, name);
		if (pin->digest[0] && strcmp(pin->digest, digest) != 0)
			return error_set(err, EINVAL,
					 "%s has another image as %.200s than "
					 "%s",
					 node->name, name, pin->node);
		*pin = (struct pin){ digest, node->name };
	}
	return 0;
}

static int find_pin(const struct image_operation_info *images, const char *name,
		    struct pin *pin, struct error *err)
{
	struct reference wanted;

	if (reference_parse(name, &wanted, err) < 0)
		return -1;
	for (size_t i = 0; i < images->nodes_count; i++)
		if (find_on_node(&images->nodes[i], name, &wanted, pin, err) <
		    0)
			return -1;
	if (pin->digest[0])
		return 0;
	return error_set(err, ENOENT,
			 "no node has %.200s; run 'regatta image pull'", name);
}

/* Add the digest as a further document. The image of a single cell would take
 * precedence: that is an error.
 */
static int pin_append(struct input *input, const char *name,
		      const struct pin *pin, struct error *err)
{
	owned(strings_clear) struct strings images = { 0 };
	owned(sweep_free) struct sweep *sweep = NULL;

	if (buffer_printf(&input->text, err,
			  "\n---\n# %s, as %s has it\nimage: %s\n", name,
			  pin->node, pin->digest) < 0)
		return -1;
	sweep = sweep_parse(input->text.data, input->text.size, input->name,
			    input->catalog, err);
	if (!sweep || collect_images(sweep, &images, err) < 0)
		return -1;
	if (images.count == 1 && !strcmp(images.items[0], pin->digest))
		return 0;
	return error_set(err, EINVAL,
			 "%s: the matrix names the image; write %s there",
			 input->name, pin->digest);
}

/* Print the sweep with the digest that its image has on the nodes. ENOENT: no
 * node has the image, or it is of no registry; EINVAL: nodes have different
 * digests, or the cells have several images.
 */
static int print_pinned(struct cli *cli, struct input *input, struct error *err)
{
	owned(strings_clear) struct strings images = { 0 };
	owned(answer_clear) struct answer answer = { 0 };
	owned(image_view_clear) struct image_view view = { 0 };
	struct pin pin = { "", "" };

	if (collect_images(input->sweep, &images, err) < 0)
		return -1;
	if (images.count != 1)
		return error_set(err, EINVAL,
				 "%s: the cells have %zu images; expected one",
				 input->name, images.count);
	if (!strstr(images.items[0], "sha256:") &&
	    (images_ask(&view, cli, NULL, &answer, err) < 0 ||
	     find_pin(image_answer(&answer), images.items[0], &pin, err) < 0 ||
	     pin_append(input, images.items[0], &pin, err) < 0))
		return -1;
	fwrite(input->text.data, 1, input->text.size, cli->out);
	return EXIT_GOOD;
}

/* --commands */

/* Print how FlagPerf's run.py would start the container of each case. */
static int docker_commands_print(struct cli *cli, const struct input *input,
				 const cJSON *plan, struct error *err)
{
	const struct flagperf *flagperf = sweep_flagperf(input->sweep);
	owned(cJSON_Delete) cJSON *commands = cJSON_CreateArray();
	const cJSON *row;

	if (!flagperf)
		return error_set(err, EINVAL,
				 "--commands: %s has no flagperf: block",
				 input->name);
	cJSON_ArrayForEach(row, row_at(plan, "kept")) {
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

static int plan_command(struct cli *cli, struct error *err)
{
	owned(input_clear) struct input input = { 0 };
	owned(plan_forecast_clear) struct plan_forecast forecast = { 0 };
	owned(cJSON_Delete) cJSON *plan = NULL;
	const struct plan_options *options = cli->given;
	bool json = cli_format(cli, "json");
	size_t rows =
		json || options->commands ? SWEEP_CELLS_MAX : PLAN_TEXT_ROWS;

	if (input_init(&input, cli, cli->args[0], false, err) < 0)
		return -1;
	if (options->pin)
		return print_pinned(cli, &input, err);
	if (!options->commands &&
	    plan_forecast_init(&forecast, cli, &input, rows, err) < 0)
		return -1;
	plan = plan_new(input.sweep, rows, err);
	if (plan && options->commands)
		return docker_commands_print(cli, &input, plan, err);
	if (!plan ||
	    plan_forecast_add(&forecast, cli, input.sweep, plan, err) < 0)
		return -1;
	if (json ? cli_print_json(cli, plan, err) < 0
		 : plan_text_print(cli, plan, input.sweep, &forecast, err) < 0)
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
	.fn = plan_command,
};
/* clang-format on */
