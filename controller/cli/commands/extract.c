/* extract.c - regatta extract: a training log in, what it says out.
 */
#include "controller/cli/command.h"
#include "controller/cli/file_reader.h"
#include "controller/cli/json.h"
#include "controller/cli/render.h"
#include "controller/results/document/document.h"
#include "controller/results/result.h"
#include "controller/sweep/catalog.h"
#include "protocol/base/program.h"

#include <errno.h>
#include <limits.h>
#include <string.h>

struct extract_options {
	struct options common;
	const char *framework;
	const char *context;
};

static const struct extract_options *given(const struct cli *cli)
{
	return (const struct extract_options *)cli->options;
}

/* What one log goes through. */
struct work {
	struct extract_rules *rules;
	struct extract *extract;
	struct sections *sections;
	struct log_bytes bytes;
	struct context context;
};

static void work_clear(struct work *work)
{
	extract_free(work->extract);
	sections_free(work->sections);
	extract_rules_free(work->rules);
}
OWNED_VALUE(struct work, work_clear)

static int feed(const void *piece, size_t size, void *arg, struct error *err)
{
	struct work *work = arg;

	log_bytes_take(&work->bytes, piece, size);
	return extract_feed(work->extract, piece, size, err);
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

static int print_steps(struct cli *cli, const struct extract *extract,
		       struct error *err)
{
	static const struct column columns[] = {
		{ "STEP", true },         { "LOSS", true },
		{ "STEP TIME MS", true }, { "TOKEN/S", true },
		{ "SAMPLE/S", true },     { "MEMORY MIB", true },
		{ NULL, false },
	};
	static const enum record_field numbers[] = {
		RECORD_LOSS,
		RECORD_ITERATION_MS,
		RECORD_TOKENS_PER_SECOND,
		RECORD_SAMPLES_PER_SECOND,
		RECORD_MEMORY_MIB,
	};
	owned(table_free) struct table *table = table_new(columns, err);
	size_t count;
	const struct record *records = extract_records(extract, &count);

	if (!table)
		return -1;
	for (size_t i = 0; i < count; i++) {
		table_cell(table, PLAIN, "%llu",
			   (unsigned long long)records[i].step);
		for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]);
		     n++)
			field_cell(table, &records[i], numbers[n]);
	}
	return count ? table_print(table, cli->out, cli_out_colour(cli), err)
		     : 0;
}

static int print_summary(struct cli *cli, const struct extract *extract,
			 struct error *err)
{
	struct measure_spec measure = { 0 };
	struct result_input input = {
		.measure = &measure,
		.devices = 1,
		.summary = extract_summary(extract),
		.extract = extract,
	};
	owned(json_free) cJSON *result = NULL;
	const cJSON *time, *loss;
	char text[3][HUMAN_SIZE];

	input.records = extract_records(extract, &input.record_count);
	result = result_new(&input, err);
	if (!result)
		return -1;
	time = json_get(result, "iteration_ms");
	loss = json_get(result, "loss");
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
	return 0;
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
		cli_say(cli,
			"not kept: %llu steps, past the first %d or far out "
			"of order",
			(unsigned long long)losses->steps, EXTRACT_RECORDS_MAX);
}

static int print(struct cli *cli, struct work *work, struct error *err)
{
	const struct derive_input input = { work->extract, work->sections,
					    &work->context };
	owned(json_free) cJSON *document = NULL;

	tell_losses(cli, work->extract);
	if (cli_format(cli, "text")) {
		if (print_steps(cli, work->extract, err) < 0)
			return -1;
	} else {
		document = log_document(&input, &work->bytes, err);
		if (!document || cli_print_json(cli, document, err) < 0)
			return -1;
	}
	if (log_document_empty(&input)) {
		cli_say(cli, "nothing was measured: nothing in the log matches "
			     "the rules of this framework");
		return EXIT_WORK_FAILED;
	}
	if (!document && print_summary(cli, work->extract, err) < 0)
		return -1;
	return EXIT_GOOD;
}

static int extract_with(struct cli *cli, const struct catalog *catalog,
			const struct framework *framework, struct error *err)
{
	owned(work_clear) struct work work = { 0 };
	const struct value *logs[CATALOG_LOGS_MAX];
	const char *context = given(cli)->context;
	size_t count;

	if (!framework->log)
		return error_set(err, EINVAL,
				 "framework %s has no rules for its log",
				 framework->name);
	context_init(&work.context);
	if ((context && context_read(&work.context, context, err) < 0) ||
	    catalog_logs(catalog, framework, logs, &count, err) < 0)
		return -1;
	work.rules = extract_rules_new(logs, count, err);
	work.extract = work.rules ? extract_new(work.rules, err) : NULL;
	work.sections = work.extract ? sections_new(err) : NULL;
	if (!work.sections)
		return -1;
	sections_listen(work.sections, work.extract);
	if (file_reader_read(cli->arg_count ? cli->args[0] : "-", feed, &work,
			     err) < 0 ||
	    extract_finish(work.extract, err) < 0)
		return -1;
	return print(cli, &work, err);
}

static int run_command(struct cli *cli, struct error *err)
{
	owned(catalog_free) struct catalog *catalog = NULL;
	const struct framework *framework;
	char images[PATH_MAX];

	if (!given(cli)->framework)
		return error_set(err, EINVAL,
				 "--framework NAME is needed: whose log it is");
	if (settings_images(cli->environment, cli->options, images, err) < 0)
		return -1;
	catalog = catalog_load(images, err);
	if (!catalog)
		return -1;
	framework = catalog_framework(catalog, given(cli)->framework);
	if (!framework)
		return catalog_unknown_name(catalog, CATALOG_FRAMEWORK,
					    "--framework",
					    given(cli)->framework, err);
	return extract_with(cli, catalog, framework, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(extract_options, "framework", 0, OPTION_TEXT, framework,
		 "NAME"),
	  .help = "whose log it is (needed)" },
	{ OPTION(extract_options, "context", 0, OPTION_TEXT, context, "FILE"),
	  .help = "what the log does not say: seq_length, global_batch, ..." },
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "text or json"),
	{ 0 },
};

const struct command command_extract = {
	.name = "extract",
	.args = "[FILE | -]",
	.max_args = 1,
	.rules = rules,
	.options_size = sizeof(struct extract_options),
	.summary = "read the metrics out of a training log",
	.help =
		"Applies the log rules of a framework to a file or standard "
		"input and prints all that it says as JSON; needs no "
		"controller.",
	.example = "regatta extract --framework megatron --context cell.json "
		"train.log",
	.fn = run_command,
};
/* clang-format on */
