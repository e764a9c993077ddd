/* report.c - report: prints the result table of a sweep.
 */
#include "controller/cli/command.h"
#include "controller/cli/commands/baseline.h"
#include "controller/cli/commands/gate.h"
#include "controller/cli/commands/results.h"
#include "controller/cli/commands/sweep_source.h"
#include "controller/report/translations.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <string.h>

struct report_options {
	struct options common;
	const char *style;
	const char *language;
	const char *baseline;
	struct option_list require;
	const char *junit;
	bool runs;
	bool recompute;
};

static int report_command(struct cli *cli, struct error *err)
{
	owned(sweep_source_clear) struct sweep_source source = { 0 };
	owned(sweep_source_clear) struct sweep_source baseline = { 0 };
	const struct report_options *given = cli->given;
	struct gate gate;
	struct results_form form = {
		.format = cli->options->format,
		.reference = given->style && !strcmp(given->style, "reference"),
		.language = given->language,
		.recompute = given->recompute,
		.runs = given->runs,
		.gate = &gate,
	};
	bool html = form.format && !strcmp(form.format, "html");
	int rc;

	if (form.reference && form.format && strcmp(form.format, "markdown") &&
	    strcmp(form.format, "html"))
		return error_set(err, EINVAL,
				 "--format %s is not valid with --style "
				 "reference; expected markdown or html",
				 form.format);
	if (form.language && !form.reference &&
	    (!form.format || strcmp(form.format, "html") != 0))
		return error_set(err, EINVAL,
				 "--language is valid only with --format html "
				 "or --style reference");
	if (gate_read(&gate, &given->require, given->junit, err) < 0 ||
	    sweep_source_read(&source, cli,
			      cli->arg_count ? cli->args[0] : NULL,
			      html ? SOURCE_CURVES | SOURCE_FILE : 0,
			      err) < 0 ||
	    (given->baseline &&
	     baseline_read(&baseline, cli, given->baseline, &source.rows,
			   &source.about.about, err) < 0))
		return -1;
	rc = results_print(cli, source.session.client, &source.about.about,
			   &source.rows, &form, err);
	return rc < 0 ? -1 : rc ? EXIT_WORK_FAILED : EXIT_GOOD;
}

/* clang-format off */
static const char *const report_styles[] = { "table", "reference", NULL };
static const struct option_rule rules[] = {
	OPTION_FORMAT(formats_report, "markdown, csv, json, or html with curves"),
	{ OPTION(report_options, "style", 0, OPTION_WORD, style, "WORD"),
	  .words = report_styles,
	  .help = "table, or reference: the layout of published results" },
	{ OPTION(report_options, "language", 0, OPTION_WORD, language, "WORD"),
	  .words = language_names,
	  .help = "language of a page: en or zh" },
	{ OPTION(report_options, "runs", 0, OPTION_FLAG, runs, NULL),
	  .help = "a row for each run, not for each cell" },
	{ OPTION(report_options, "baseline", 0, OPTION_TEXT, baseline,
		 "CELL|SWEEP|FILE"),
	  .help = "compare each cell with this cell, with the same cell of "
		  "another sweep, bundle, folder, or report in JSON" },
	OPTIONS_GATE(report_options),
	{ OPTION(report_options, "recompute", 0, OPTION_FLAG, recompute, NULL),
	  .help = "compute the results again from the stored logs, and list "
		  "differences" },
	OPTION_STATE,
	OPTION_IMAGES,
	{ 0 },
};

const struct command command_report = {
	.name = "report",
	.args = "[SWEEP|FILE|DIR]",
	.max_args = 1,
	.connects = true,
	.rules = rules,
	.options_size = sizeof(struct report_options),
	.summary = "print the result table of a sweep",
	.help =
		"Reads the last sweep, a sweep by its number or name, a file of "
		  "regatta bundle, or the folder of a regatta run. "
		  "Unfinished jobs are shown with their state. With repeats, a row is a "
		  "cell: the mean of its runs. The exit status is 1 if a "
		  "requirement, also of the sweep, is not met.",
	.example = "regatta report 3 --format csv > results.csv",
	.fn = report_command,
};
/* clang-format on */
