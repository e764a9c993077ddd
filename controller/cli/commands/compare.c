/* compare.c - compare: compares sweeps with the first one, cell by cell.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/gate.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/commands/sweep_source.h"
#include "controller/report/compare.h"
#include "controller/report/labels.h"
#include "controller/view/differences.h"
#include "protocol/base/program.h"
#include "protocol/blob/packages.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define FROM_STEP 21
#define PAGE_MAX ((size_t)256 << 20)

struct compare_options {
	struct options common;
	uint64_t from_step;
	struct option_list require;
	const char *junit;
};

/* "2068 ± 12 n=3"; the number of runs is left out if it is 1. */
static void side_cell(struct table *table, const struct compare_side *side)
{
	char spreads[40] = "", runs[40] = "";
	int decimals;

	if (!side) {
		table_cell(table, FAINT, "missing");
		return;
	}
	if (!isfinite(side->rate)) {
		table_cell(table, FAINT, "no result");
		return;
	}
	decimals = side->rate >= 1000 ? 0 : side->rate >= 10 ? 1 : 3;
	if (isfinite(side->spread))
		snprintf(spreads, sizeof(spreads), " ± %.*f", decimals,
			 side->spread);
	if (side->n > 1)
		snprintf(runs, sizeof(runs), " n=%u", side->n);
	table_cell(table, PLAIN, "%.*f%s%s", decimals, side->rate, spreads,
		   runs);
}

static void verdict_cell(struct table *table,
			 const struct compare_difference *difference)
{
	bool faster = difference->ratio > 1;

	if (difference->significant == TRUTH_UNKNOWN)
		table_cell(table, FAINT, "-");
	else if (difference->significant == TRUTH_NO &&
		 isfinite(difference->resolution_percent))
		table_cell(table, PLAIN, "same (to %.1f %%)",
			   difference->resolution_percent);
	else if (difference->significant == TRUTH_NO)
		table_text(table, "same");
	else
		table_cell(table, faster ? GREEN : RED,
			   faster ? "faster" : "slower");
}

/* "0.12 (0.50)": the mean, and the largest. */
static void loss_cell(struct table *table, const struct compare_loss *loss)
{
	if (loss)
		table_cell(table, PLAIN, "%.2f (%.2f)", loss->mean_percent,
			   loss->largest_percent);
	else
		table_cell(table, FAINT, "-");
}

static void ratio_cell(struct table *table,
		       const struct compare_difference *difference)
{
	double ratio = difference->ratio;
	double low = difference->ratio_low, high = difference->ratio_high;
	int decimals = high - low < 0.1 ? 3 : 2;

	if (isfinite(low))
		table_cell(table, PLAIN, "%.*f (%.*f–%.*f)", decimals, ratio,
			   decimals, low, decimals, high);
	else if (isfinite(ratio))
		table_cell(table, PLAIN, "%.3f", ratio);
	else
		table_cell(table, FAINT, "-");
}

/* The words that all cells share, above the table. */
static void print_common(struct cli *cli, const struct labels *labels)
{
	if (!*labels->common)
		return;
	cli_print_words(cli, "all: ", labels->common);
	fputc('\n', cli->out);
}

static void name_cell(struct table *table, const struct labels *labels,
		      const struct compare_cell *cell)
{
	char label[LABEL_SIZE];

	table_text(table, labels_row(labels, cell->cell, 0, label));
}

static void comparison_explain(struct cli *cli)
{
	cli_say(cli, "same: the difference is within the spread of the "
		     "repeats (or of the steps)");
	cli_say(cli, "±: half of the 95 %% interval of the mean, or of the "
		     "quartiles of the steps");
	cli_say(cli, "to x %%: what so many repeats can tell apart");
	cli_say(cli, "ratio: with its 95 %% interval, if both have repeats");
	cli_say(cli, "loss: mean difference (largest)");
}

/* "token/p/s"; "rate" where units differ. */
static const char *rate_title(const struct compare_cells *cells)
{
	enum rate_unit unit = compare_unit(cells);

	return unit ? rate_units[unit] : "rate";
}

/* Two sweeps: a line for each cell. */
static int print_two(struct cli *cli, const struct compare_cells *cells,
		     const struct labels *labels, struct error *err)
{
	char titles[2][64];
	const struct column columns[] = {
		{ "CELL", false }, { titles[0], true },  { titles[1], true },
		{ "RATIO", true }, { "VERDICT", false }, { "LOSS %", true },
		{ NULL, false },
	};
	const char *const droppable[] = { "LOSS %", titles[1], titles[0],
					  "VERDICT", NULL };
	owned(table_clear) struct table table = { .columns = columns };

	for (size_t i = 0; i < 2; i++)
		snprintf(titles[i], sizeof(titles[i]), "%s %.32s",
			 rate_title(cells), cli->args[i]);
	for (size_t i = 0; i < cells->count; i++) {
		const struct compare_cell *cell = &cells->items[i];

		name_cell(&table, labels, cell);
		side_cell(&table, cell->a);
		side_cell(&table, cell->second.b);
		ratio_cell(&table, &cell->second);
		verdict_cell(&table, &cell->second);
		loss_cell(&table, cell->second.loss);
	}
	return cli_print_table(cli, "", &table, droppable, err);
}

/* The cell of a later sweep, compared with the first sweep. */
static void difference_row(struct table *table, const char *sweep,
			   const struct compare_difference *difference)
{
	table_text(table, "");
	table_text(table, sweep);
	side_cell(table, difference->b);
	ratio_cell(table, difference);
	verdict_cell(table, difference);
	loss_cell(table, difference->loss);
}

/* Three or more sweeps: a line for each cell and sweep. */
static int print_more(struct cli *cli, const struct compare_cells *cells,
		      const struct labels *labels, struct error *err)
{
	const char *rate = rate_title(cells);
	const struct column columns[] = {
		{ "CELL", false }, { "SWEEP", true },    { rate, true },
		{ "RATIO", true }, { "VERDICT", false }, { "LOSS %", true },
		{ NULL, false },
	};
	const char *const droppable[] = { "LOSS %", rate, "VERDICT", NULL };
	owned(table_clear) struct table table = { .columns = columns };

	for (size_t i = 0; i < cells->count; i++) {
		const struct compare_cell *cell = &cells->items[i];

		name_cell(&table, labels, cell);
		table_text(&table, cli->args[0]);
		side_cell(&table, cell->a);
		for (int c = 0; c < 3; c++)
			table_text(&table, "");
		for (size_t sweep = 1; sweep < cli->arg_count; sweep++)
			difference_row(&table, cli->args[sweep],
				       compare_with(cell, sweep));
	}
	return cli_print_table(cli, "", &table, droppable, err);
}

static int print_text(struct cli *cli, const struct compare_cells *cells,
		      struct error *err)
{
	struct labels labels;
	int rc;

	labels_find(&cells->items->cell, sizeof(*cells->items), cells->count,
		    &labels);
	print_common(cli, &labels);
	rc = cli->arg_count == 2 ? print_two(cli, cells, &labels, err)
				 : print_more(cli, cells, &labels, err);
	if (rc == 0 && compare_shared(cells))
		comparison_explain(cli);
	return rc;
}

struct sweeps {
	char last[2][24]; /* numbers of sweeps that nobody named */
	struct compare_sweep of[COMPARE_SWEEPS_MAX];
	struct sweep_source sources[COMPARE_SWEEPS_MAX];
};

static void sweeps_clear(struct sweeps *sweeps)
{
	for (size_t i = 0; i < COMPARE_SWEEPS_MAX; i++)
		sweep_source_clear(&sweeps->sources[i]);
}
OWNED_VALUE(struct sweeps, sweeps_clear)

static int print_html(struct cli *cli, const struct compare_cells *cells,
		      struct sweeps *sweeps, struct error *err)
{
	owned(buffer_clear) struct buffer page = BUFFER_INIT(PAGE_MAX);

	for (size_t i = 0; i < cli->arg_count; i++)
		sweeps->of[i] = (struct compare_sweep){
			.about = sweeps->sources[i].about.about,
			.rows = &sweeps->sources[i].rows,
		};
	if (compare_html(cells, sweeps->of, cli->arg_count, &page, err) < 0)
		return -1;
	fwrite(page.data, 1, page.size, cli->out);
	return 0;
}

/* Name the last sweep, and the one before it that has its name. */
static int sweeps_name_last(struct cli *cli, struct sweeps *sweeps,
			    struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(rows_clear) struct rows list = { 0 };
	const struct sweep_info *last = NULL, *before = NULL;

	if (session_open(&session, cli, err) < 0 ||
	    client_rows(session.client, QUERY_SWEEPS, 0, "id", &list, err) < 0)
		return -1;
	for (size_t i = list.count; i-- > 0 && !before;) {
		const struct sweep_info *sweep = rows_at(&list, i);

		if (!last)
			last = sweep;
		else if (sweep->name && last->name &&
			 !strcmp(sweep->name, last->name))
			before = sweep;
	}
	if (!before)
		return error_set(err, EINVAL, "compare: %s; name two sweeps",
				 last ? "the last sweep has no earlier one of "
					"its name"
				      : "no sweeps exist");
	snprintf(sweeps->last[0], sizeof(sweeps->last[0]), "%llu",
		 (unsigned long long)before->id);
	snprintf(sweeps->last[1], sizeof(sweeps->last[1]), "%llu",
		 (unsigned long long)last->id);
	cli_say(cli, "sweeps %s and %s, the last ones of %s", sweeps->last[0],
		sweeps->last[1], last->name);
	cli->args[cli->arg_count++] = sweeps->last[0];
	cli->args[cli->arg_count++] = sweeps->last[1];
	return 0;
}

static int sweeps_fetch(struct cli *cli, struct sweeps *sweeps,
			struct error *err)
{
	if (!cli->arg_count && sweeps_name_last(cli, sweeps, err) < 0)
		return -1;
	if (cli->arg_count == 1)
		return error_set(err, EINVAL,
				 "compare: the other sweep is missing");
	for (size_t i = 0; i < cli->arg_count; i++) {
		struct sweep_source *source = &sweeps->sources[i];

		if (sweep_source_read(source, cli, cli->args[i], SOURCE_CURVES,
				      err) < 0)
			return -1;
		/* The next one may need a controller of its own. */
		session_clear(&source->session);
	}
	return 0;
}

/* Judge the last sweep, with the first one as baseline. 1: all pass, or nothing
 * is required.
 */
static int sweeps_judge(struct cli *cli, const struct sweeps *sweeps,
			const struct gate *gate, struct error *err)
{
	const struct sweep_source *last = &sweeps->sources[cli->arg_count - 1];
	struct report_about about = last->about.about;

	about.baseline = &sweeps->sources[0].rows;
	return gate_judge(cli, gate, &about, &last->rows, err);
}

static int packages_take(const void *piece, size_t size, void *arg,
			 struct error *err)
{
	return buffer_append(arg, piece, size, err);
}

/* The packages of a job; nothing where they are not known. */
static const char *packages_fetch(struct client *client,
				  const struct answer *answer,
				  struct buffer *text)
{
	const struct job_info *job =
		&((const struct reply_job *)answer->reply)->job;

	return stream_read(client, job->job, job->attempt, PACKAGES_STREAM, 0,
			   packages_take, text, NULL) == 0
		       ? text->data
		       : "";
}

/* `job A B`: what the second differs in from the first. */
static int compare_two_jobs(struct cli *cli, struct error *err)
{
	owned(session_clear) struct session session = { 0 };
	owned(answer_clear) struct answer one = { 0 }, other = { 0 };
	owned(differences_clear) struct differences differences = { 0 };
	owned(buffer_clear) struct buffer text =
		BUFFER_INIT(PACKAGES_BYTES_MAX);
	owned(buffer_clear) struct buffer text_other =
		BUFFER_INIT(PACKAGES_BYTES_MAX);
	struct message_query query = { .what = QUERY_JOB };
	const char *packages[2];

	if (cli->arg_count != 3)
		return error_set(err, EINVAL,
				 "compare job: expected the numbers of two "
				 "jobs");
	if (session_open(&session, cli, err) < 0)
		return -1;
	if (cli_id(cli->args[1], "job", &query.id, err) < 0 ||
	    client_query(session.client, &query, &one, err) < 0 ||
	    cli_id(cli->args[2], "job", &query.id, err) < 0 ||
	    client_query(session.client, &query, &other, err) < 0)
		return -1;
	packages[0] = packages_fetch(session.client, &one, &text);
	packages[1] = packages_fetch(session.client, &other, &text_other);
	if (differences_find(&((const struct reply_job *)one.reply)->job,
			     &((const struct reply_job *)other.reply)->job,
			     packages, &differences, err) < 0)
		return -1;
	return cli_print_table(cli, "", &differences.table, NULL, err) < 0
		       ? -1
		       : EXIT_GOOD;
}

static int compare_command(struct cli *cli, struct error *err)
{
	owned(sweeps_clear) struct sweeps sweeps = { 0 };
	owned(compare_cells_clear) struct compare_cells cells = { 0 };
	const struct report_rows *rows[COMPARE_SWEEPS_MAX];
	const struct compare_options *given = cli->given;
	uint64_t from = given->from_step;
	struct gate gate;
	int rc;

	if (cli->arg_count && !strcmp(cli->args[0], "job"))
		return compare_two_jobs(cli, err);
	if (gate_read(&gate, &given->require, given->junit, err) < 0 ||
	    sweeps_fetch(cli, &sweeps, err) < 0)
		return -1;
	for (size_t i = 0; i < cli->arg_count; i++)
		rows[i] = &sweeps.sources[i].rows;
	if (compare_rows(rows, cli->arg_count,
			 from == OPTION_NONE ? FROM_STEP : from, &cells,
			 err) < 0)
		return -1;
	if (cli_format(cli, "json"))
		rc = cli_print_structs(cli, &compare_cell_schema, cells.items,
				       cells.count, err);
	else if (cli_format(cli, "html"))
		rc = print_html(cli, &cells, &sweeps, err);
	else
		rc = print_text(cli, &cells, err);
	if (rc < 0)
		return -1;
	fflush(cli->out);
	rc = sweeps_judge(cli, &sweeps, &gate, err);
	if (rc < 0)
		return -1;
	if (compare_shared(&cells))
		return rc ? EXIT_GOOD : EXIT_WORK_FAILED;
	cli_say(cli, "sweep %s has no cell in common with %s", cli->args[0],
		cli->arg_count == 2 ? "the other" : "any other");
	return EXIT_WORK_FAILED;
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(compare_options, "from-step", 0, OPTION_NUMBER, from_step,
		 "N"),
	  .max = UINT32_MAX,
	  .help = "compare the losses from this step on (21)" },
	OPTIONS_GATE(compare_options),
	OPTION_STATE,
	OPTION_FORMAT(formats_page, "text, json, or html with charts"),
	{ 0 },
};

const struct command command_compare = {
	.name = "compare",
	.args = "[SWEEP|FILE|DIR SWEEP|FILE|DIR...] | job ID ID",
	.max_args = COMPARE_SWEEPS_MAX,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct compare_options),
	.summary = "compare sweeps with the first one, cell by cell",
	.help =
		"Without a name, the last sweep is compared with the one before "
		  "it that has its name. A sweep is named by its number or name, by a file of regatta "
		  "bundle, or by the folder of a regatta run. "
		  "Compares cells with the same values. For each cell it prints "
		  "the ratio of the rates, whether the difference exceeds the "
		  "spread, and the difference of the losses. With repeats, "
		  "the ratio has a 95 % interval. "
		  "Requirements are of the last sweep, with the first one as "
		  "baseline. The exit status is 1 if one is not met, or no "
		  "cell of the first sweep is in another one. With job, it "
		  "prints what two jobs differ in: settings, command, "
		  "environment, image, driver.",
	.example = "regatta compare 3 7",
	.fn = compare_command,
};
/* clang-format on */
