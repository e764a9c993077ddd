/* results.c - the result rows of a sweep: fetched, and printed as tables.
 */
#include "controller/cli/commands/results.h"
#include "controller/cli/commands/commands.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/results/extract.h"
#include "controller/report/compare.h"
#include "controller/report/reference.h"
#include "controller/report/report.h"
#include "controller/report/row.h"
#include "controller/results/result.h"
#include "controller/sweep/catalog.h"
#include "protocol/program.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <string.h>

#define PIECE 65536 /* bytes of a log read at once */

static int put_html(const cJSON *rows, const struct results_form *form,
		    struct buffer *out, struct error *err)
{
	return report_html(form->title ? form->title : "Results", rows, out,
			   err);
}

static int put_csv(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err)
{
	return report_csv(rows, out, err);
}

static int put_json(const cJSON *rows, const struct results_form *form,
		    struct buffer *out, struct error *err)
{
	return report_json(rows, out, err);
}

static int put_markdown(const cJSON *rows, const struct results_form *form,
			struct buffer *out, struct error *err)
{
	enum language language = LANGUAGE_EN;

	if (!form->reference)
		return report_markdown(rows, out, err);
	for (size_t i = 0; i < LANGUAGES; i++)
		if (form->language &&
		    !strcmp(form->language, language_names[i]))
			language = (enum language)i;
	return report_reference(rows, language, out, err);
}

static const struct {
	const char *name;
	int (*put)(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err);
} formats[] = {
	{ "markdown", put_markdown },
	{ "csv", put_csv },
	{ "json", put_json },
	{ "html", put_html },
};

int results_format(const cJSON *rows, const struct results_form *form,
		   struct buffer *out, struct error *err)
{
	for (size_t i = 1; i < sizeof(formats) / sizeof(formats[0]); i++)
		if (form->format && !strcmp(form->format, formats[i].name))
			return formats[i].put(rows, form, out, err);
	return put_markdown(rows, form, out, err);
}

/* Add to the rows of a sweep their curves. */
static int add_curves(struct client *client, uint64_t sweep, cJSON *rows,
		      struct error *err)
{
	owned(json_free) cJSON *curves = NULL;
	cJSON *row, *of;

	if (client_list(client, "series", sweep, "rows", "job", &curves, err) <
	    0)
		return -1;
	/* Both are in order of the jobs; a job may have come in between. */
	of = curves->child;
	cJSON_ArrayForEach(row, rows)
	{
		uint64_t job = json_u64(row, "job");

		while (of && json_u64(of, "job") < job)
			of = of->next;
		if (of && json_u64(of, "job") == job)
			cJSON_AddItemToObject(
				row, "series",
				cJSON_DetachItemFromObjectCaseSensitive(
					of, "series"));
	}
	return 0;
}

/* The job that the sweep names as the baseline of its losses; 0: none. */
static uint64_t baseline_job(const cJSON *rows)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		const cJSON *align = row_at(row, "setup.about.align");

		if (cJSON_IsObject(align))
			return json_u64(align, "job");
	}
	return 0;
}

static bool has_baseline(const cJSON *rows)
{
	const cJSON *row;

	cJSON_ArrayForEach(row, rows)
	{
		if (cJSON_IsObject(row_at(row, "setup.about.align")))
			return true;
	}
	return false;
}

/* The curves of any one job. */
static int job_curves(struct client *client, uint64_t job, cJSON **series,
		      struct error *err)
{
	owned(answer_clear) struct answer answer = { 0 };
	owned(answer_clear) struct answer found = { 0 };
	struct message_query query = { .what = (char *)"job", .id = job };

	if (client_query(client, &query, &found, err) < 0)
		return error_prefix(err, "align.baseline");
	query = (struct message_query){
		.what = (char *)"series",
		.id = json_u64(json_get(found.body, "job"), "sweep"),
		.after = job - 1,
		.limit = 1,
	};
	if (client_query(client, &query, &answer, err) < 0)
		return -1;
	*series = cJSON_DetachItemFromObjectCaseSensitive(
		cJSON_GetArrayItem(json_get(answer.body, "rows"), 0), "series");
	return 0;
}

static int align(struct client *client, uint64_t sweep, cJSON *rows,
		 struct error *err)
{
	owned(json_free) cJSON *series = NULL;
	uint64_t job = baseline_job(rows);

	if (add_curves(client, sweep, rows, err) < 0 ||
	    (job && job_curves(client, job, &series, err) < 0))
		return -1;
	return align_rows(rows, series, err);
}

int results_fetch(struct client *client, uint64_t sweep, bool curves,
		  cJSON **rows, struct error *err)
{
	owned(json_free) cJSON *list = NULL;
	cJSON *row;

	if (client_list(client, "results", sweep, "rows", "job", &list, err) <
	    0)
		return -1;
	if (has_baseline(list)) {
		if (align(client, sweep, list, err) < 0)
			return -1;
	} else if (curves && add_curves(client, sweep, list, err) < 0) {
		return -1;
	}
	cJSON_ArrayForEach(row, list)
	{
		if (!curves)
			cJSON_DeleteItemFromObjectCaseSensitive(row, "series");
	}
	*rows = take(list);
	return 0;
}

int results_print(struct cli *cli, struct client *client, uint64_t sweep,
		  const struct results_form *form, struct error *err)
{
	owned(json_free) cJSON *rows = NULL;
	owned(buffer_clear) struct buffer text;
	bool html = form->format && !strcmp(form->format, "html");

	buffer_init(&text, RESULTS_MAX);
	if (results_fetch(client, sweep, html, &rows, err) < 0 ||
	    results_format(rows, form, &text, err) < 0)
		return -1;
	fwrite(text.data, 1, text.size, cli->out);
	return 0;
}

int command_report(struct cli *cli, struct error *err)
{
	owned(client_free) struct client *client = NULL;
	struct results_form form = {
		.format = cli->options.format,
		.reference = cli->options.style &&
			     !strcmp(cli->options.style, "reference"),
		.language = cli->options.language,
	};
	char title[64];
	uint64_t sweep;

	if (cli_id(cli->args[0], "sweep", &sweep, err) < 0)
		return -1;
	if (form.reference && form.format && strcmp(form.format, "markdown"))
		return error_set(err, EINVAL,
				 "--style reference is Markdown: found "
				 "--format %s",
				 form.format);
	if (form.language && !form.reference)
		return error_set(err, EINVAL,
				 "--language belongs to --style reference");
	snprintf(title, sizeof(title), "Sweep %llu", (unsigned long long)sweep);
	form.title = title;
	client = cli_connect(cli, err);
	if (!client || results_print(cli, client, sweep, &form, err) < 0)
		return -1;
	return EXIT_GOOD;
}

/* extract */

static int feed(struct extract *extract, const char *name, struct error *err)
{
	bool is_stdin = !strcmp(name, "-");
	owned_fd int file =
		is_stdin ? -1 : open(name, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	owned_free char *piece = malloc(PIECE);
	ssize_t got;

	if (!piece)
		return error_nomem(err, "log");
	if (!is_stdin && file < 0)
		return error_set(err, EINVAL, "%.120s: %s", name,
				 strerror(errno));
	while ((got = read(is_stdin ? STDIN_FILENO : file, piece, PIECE)) > 0)
		if (extract_feed(extract, piece, (size_t)got, err) < 0)
			return -1;
	if (got < 0)
		return error_set(err, EINVAL, "%.120s: %s", name,
				 strerror(errno));
	return extract_finish(extract, err);
}

static void field_cell(struct table *table, const struct record *record,
		       enum record_field field)
{
	char text[HUMAN_SIZE];

	table_cell(table, PLAIN, "%s",
		   record_has(record, field)
			   ? human_number(*record_number((struct record *)
								 record,
							 field),
					  text)
			   : "");
}

static const enum record_field numbers[] = {
	RECORD_LOSS,
	RECORD_ITERATION_MS,
	RECORD_TOKENS_PER_SECOND,
	RECORD_SAMPLES_PER_SECOND,
	RECORD_MEMORY_MIB,
};
#define NUMBERS (sizeof(numbers) / sizeof(numbers[0]))

static int print_steps(struct cli *cli, const struct extract *extract,
		       struct error *err)
{
	static const struct column columns[] = {
		{ "STEP", true },         { "LOSS", true },
		{ "STEP TIME MS", true }, { "TOKEN/S", true },
		{ "SAMPLE/S", true },     { "MEMORY MIB", true },
		{ NULL, false },
	};
	owned(table_free) struct table *table = table_new(columns, err);
	size_t count;
	const struct record *records = extract_records(extract, &count);

	if (!table)
		return -1;
	for (size_t i = 0; i < count; i++) {
		table_cell(table, PLAIN, "%llu",
			   (unsigned long long)records[i].step);
		for (size_t n = 0; n < NUMBERS; n++)
			field_cell(table, &records[i], numbers[n]);
	}
	return count ? table_print(table, cli->out, cli_out_colour(cli), err)
		     : 0;
}

static cJSON *record_json(const struct record *record)
{
	static const char *const names[] = { "loss", "iteration_ms",
					     "tokens_per_second",
					     "samples_per_second",
					     "memory_mib" };
	cJSON *object = cJSON_CreateObject();

	if (object && record_has(record, RECORD_STEP))
		cJSON_AddNumberToObject(object, "step", (double)record->step);
	for (size_t n = 0; object && n < NUMBERS; n++) {
		double number =
			*record_number((struct record *)record, numbers[n]);

		if (!record_has(record, numbers[n]))
			continue;
		/* JSON has no other numbers. */
		if (isfinite(number))
			cJSON_AddNumberToObject(object, names[n], number);
		else
			cJSON_AddStringToObject(object, names[n],
						isnan(number) ? "nan"
						: number > 0  ? "inf"
							      : "-inf");
	}
	return object;
}

static cJSON *extract_result(const struct extract *extract, struct error *err)
{
	struct measure_spec measure = { 0 };
	struct result_input input = {
		.measure = &measure,
		.devices = 1,
		.summary = extract_summary(extract),
		.extract = extract,
	};

	input.records = extract_records(extract, &input.record_count);
	return result_new(&input, err);
}

static int print_extract_json(struct cli *cli, const struct extract *extract,
			      cJSON *result, struct error *err)
{
	owned(json_free) cJSON *object = cJSON_CreateObject();
	cJSON *steps = cJSON_AddArrayToObject(object, "steps");
	size_t count;
	const struct record *records = extract_records(extract, &count);

	for (size_t i = 0; steps && i < count; i++)
		cJSON_AddItemToArray(steps, record_json(&records[i]));
	if (!steps || cJSON_GetArraySize(steps) != (int)count ||
	    !cJSON_AddItemReferenceToObject(object, "result", result))
		return error_nomem(err, "output");
	return cli_print_json(cli, object, err);
}

static void print_summary(struct cli *cli, const cJSON *result)
{
	const cJSON *time = json_get(result, "iteration_ms");
	const cJSON *loss = json_get(result, "loss");
	char text[3][HUMAN_SIZE];

	fprintf(cli->out,
		"steady state: step time %s ms (quartiles %s to %s, n = %llu)",
		human_number(json_double(time, "median"), text[0]),
		human_number(json_double(time, "q1"), text[1]),
		human_number(json_double(time, "q3"), text[2]),
		(unsigned long long)json_u64(time, "n"));
	fprintf(cli->out, ", %s token/s",
		human_number(json_double(result, "tokens_per_second"),
			     text[0]));
	fprintf(cli->out, ", loss %s to %s\n",
		human_number(json_double(loss, "first"), text[0]),
		human_number(json_double(loss, "last"), text[1]));
}

static void tell_losses(struct cli *cli, struct extract *extract)
{
	const struct extract_losses *losses = extract_losses(extract);

	if (losses->long_lines)
		cli_say(cli, "not read: %llu lines of more than %d bytes",
			(unsigned long long)losses->long_lines,
			EXTRACT_LINE_MAX);
	if (losses->match_limits)
		cli_say(cli, "not read: %llu lines on which a rule gave up",
			(unsigned long long)losses->match_limits);
	if (losses->steps)
		cli_say(cli, "not kept: %llu steps past the first %d",
			(unsigned long long)losses->steps, EXTRACT_RECORDS_MAX);
}

static int extract_with(struct cli *cli, const struct catalog *catalog,
			const struct framework *framework, struct error *err)
{
	const struct value *logs[CATALOG_LOGS_MAX];
	size_t count;

	owned(extract_rules_free) struct extract_rules *rules = NULL;
	owned(extract_free) struct extract *extract = NULL;
	owned(json_free) cJSON *result = NULL;
	const char *text;

	if (!framework->log)
		return error_set(err, EINVAL,
				 "framework %s has no rules for its log",
				 framework->name);
	if (catalog_logs(catalog, framework, logs, &count, err) < 0)
		return -1;
	rules = extract_rules_new(logs, count, err);
	extract = rules ? extract_new(rules, err) : NULL;
	if (!extract ||
	    feed(extract, cli->arg_count ? cli->args[0] : "-", err) < 0)
		return -1;
	result = extract_result(extract, err);
	if (!result)
		return -1;
	tell_losses(cli, extract);
	if (cli_format(cli, "json")) {
		if (print_extract_json(cli, extract, result, err) < 0)
			return -1;
	} else if (print_steps(cli, extract, err) < 0) {
		return -1;
	}
	if (!result_measured(result, &text)) {
		cli_say(cli, "nothing was measured: %s", text);
		return EXIT_WORK_FAILED;
	}
	if (!cli_format(cli, "json"))
		print_summary(cli, result);
	return EXIT_GOOD;
}

int command_extract(struct cli *cli, struct error *err)
{
	owned(catalog_free) struct catalog *catalog = NULL;
	const struct framework *framework;
	char images[PATH_MAX];

	if (!cli->options.framework)
		return error_set(err, EINVAL,
				 "--framework NAME is needed: whose log it is");
	if (settings_images(cli->environment, &cli->options, images, err) < 0)
		return -1;
	catalog = catalog_load(images, err);
	if (!catalog)
		return -1;
	framework = catalog_framework(catalog, cli->options.framework);
	if (!framework)
		return catalog_unknown_name(catalog, CATALOG_FRAMEWORK,
					    "--framework",
					    cli->options.framework, err);
	return extract_with(cli, catalog, framework, err);
}
