/* extract.c - extract: reads metrics from a training log.
 */
#include "controller/catalog/catalog.h"
#include "controller/cli/command.h"
#include "controller/cli/file_reader.h"
#include "controller/results/extract_json.h"
#include "controller/results/format_choice.h"
#include "controller/results/formula.h"
#include "controller/results/learn.h"
#include "controller/results/result.h"
#include "controller/view/render.h"
#include "protocol/base/nearest_word.h"
#include "protocol/base/program.h"
#include "protocol/yaml/document.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define LOOKED_AT ((size_t)4 << 20) /* bytes of the log */
#define YAML_MAX ((size_t)1 << 20)
#define SHOWN 10 /* steps that the new rules read */

struct extract_options {
	struct options common;
	const char *framework;
	const char *context;
	bool learn;
	struct option_list values;
};

/* The formats that read the log: all of them, or the named one. */
struct work {
	const char *names[FORMAT_CHOICE_MAX];
	struct extract_rules *rules[FORMAT_CHOICE_MAX];
	size_t count;
	struct format_choice *choice;
	struct format_fit fits[FORMAT_FITS_MAX];
	size_t fit_count;
	bool tied;
	/* Of the best format; borrowed. */
	const char *format;
	struct extract *extract;
	uint64_t bytes; /* of the log */
	struct measure_spec measure;
	struct result_input input;
};

static void work_release(struct work *work)
{
	format_choice_free(work->choice);
	for (size_t i = 0; i < work->count; i++)
		extract_rules_free(work->rules[i]);
}
OWNED_VALUE(struct work, work_release)

static int work_feed(const void *piece, size_t size, void *arg,
		     struct error *err)
{
	struct work *work = arg;

	work->bytes += size;
	return format_choice_feed(work->choice, piece, size, err);
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
	owned(table_clear) struct table table = { .columns = columns };
	size_t count;
	const struct record *records = extract_records(extract, &count);

	for (size_t i = 0; i < count; i++) {
		table_cell(&table, PLAIN, "%llu",
			   (unsigned long long)records[i].step);
		for (size_t n = 0; n < sizeof(numbers) / sizeof(numbers[0]);
		     n++)
			table_text(&table,
				   record_has(&records[i], numbers[n])
					   ? human_number(
						     record_value(&records[i],
								  numbers[n]))
						     .text
					   : "");
	}
	return count ? cli_print_table(cli, "", &table, NULL, err) : 0;
}

/* The result of a job with this log. */
static int work_result(struct work *work, struct result *to, struct error *err)
{
	work->input.measure = &work->measure;
	work->input.extract = work->extract;
	work->input.summary = extract_summary(work->extract);
	work->input.records =
		extract_records(work->extract, &work->input.record_count);
	return result_compute(&work->input, to, err);
}

static void print_summary(struct cli *cli, const struct result *result)
{
	static const struct step_spread none = { NAN, NAN, NAN, NAN,
						 NAN, NAN, NAN, 0 };
	static const struct loss_range unknown = { NAN, NAN };
	const struct step_spread *step =
		result->iteration_ms ? result->iteration_ms : &none;
	const struct loss_range *loss = result->loss ? result->loss : &unknown;
	struct rate of = result_rate(result);
	const struct human rate = job_rate(
		&(struct job_info){ .rate = of.value, .rate_unit = of.unit });

	fprintf(cli->out,
		"steady state: step time %s ms (quartiles %s to %s, n = %llu)",
		human_number(step->median).text, human_number(step->q1).text,
		human_number(step->q3).text, (unsigned long long)step->n);
	fprintf(cli->out, ", %s%sloss %s to %s\n", rate.text,
		*rate.text ? ", " : "", human_number(loss->first).text,
		human_number(loss->last).text);
}

/* Figures of the whole run, under the log's own names. */
static void print_metrics(struct cli *cli, const struct result *result)
{
	for (size_t i = 0; i < result->metrics_count; i++)
		fprintf(cli->out, "%s%s %s",
			i ? ", " : "metrics: ", result->metrics[i].name,
			human_number(result->metrics[i].number).text);
	if (result->metrics_count)
		fputc('\n', cli->out);
}

/* What was read, and what was not, in words. */
static void tell_remarks(struct cli *cli, const struct result *result)
{
	char text[REMARK_TEXT_MAX];

	for (size_t i = 0; i < result->flags_count; i++)
		cli_say(cli, "%s",
			remark_sentence(&result->flags[i], LANGUAGE_EN, text,
					sizeof(text)));
}

static void tell_losses(struct cli *cli, struct extract *extract)
{
	const struct extract_losses *losses = extract_losses(extract);

	if (losses->long_lines)
		cli_say(cli, "not read: %llu lines of more than %d bytes",
			(unsigned long long)losses->long_lines,
			EXTRACT_LINE_MAX);
	if (extract_steps_remark(extract) != REMARKS)
		cli_say(cli, "%s",
			remark_pattern(extract_steps_remark(extract),
				       LANGUAGE_EN));
	if (losses->match_limits)
		cli_say(cli,
			"not read: %llu lines on which a rule reached its "
			"limit",
			(unsigned long long)losses->match_limits);
	if (losses->steps)
		cli_say(cli, "not kept: %llu steps, far out of order",
			(unsigned long long)losses->steps);
}

/* Print the formats that fit, if none was named. */
static void tell_fits(struct cli *cli, const struct work *work)
{
	if (work->count == 1 || !work->fit_count)
		return;
	cli_say(cli, "format: %s, which reads %llu steps",
		work->names[work->fits[0].format],
		(unsigned long long)work->fits[0].steps);
	for (size_t i = 1; i < work->fit_count; i++)
		cli_say(cli, "%s reads %llu steps, with %llu contradictions",
			work->names[work->fits[i].format],
			(unsigned long long)work->fits[i].steps,
			(unsigned long long)work->fits[i].contradictions);
	if (work->tied)
		cli_say(cli,
			"suspect: %s and %s read the same number of steps, but "
			"different values; select the format with --framework",
			work->names[work->fits[0].format],
			work->names[work->fits[1].format]);
}

static int add_fits(cJSON *document, const struct work *work, struct error *err)
{
	cJSON *fits = cJSON_AddArrayToObject(document, "formats");

	for (size_t i = 0; fits && i < work->fit_count; i++) {
		cJSON *fit = cJSON_CreateObject();

		cJSON_AddStringToObject(fit, "format",
					work->names[work->fits[i].format]);
		cJSON_AddNumberToObject(fit, "steps",
					(double)work->fits[i].steps);
		cJSON_AddNumberToObject(fit, "contradictions",
					(double)work->fits[i].contradictions);
		cJSON_AddItemToArray(fits, fit);
	}
	if (!fits ||
	    !cJSON_AddBoolToObject(document, "formats_tied", work->tied))
		return error_nomem(err, "formats");
	return 0;
}

static int print_document(struct cli *cli, struct work *work,
			  const struct result *result, struct error *err)
{
	owned(cJSON_Delete) cJSON *fits = cJSON_CreateObject();

	if (add_fits(fits, work, err) < 0)
		return -1;
	return extract_print_json(cli->out, work->extract, work->format, result,
				  work->bytes, fits, err);
}

static int work_print(struct cli *cli, struct work *work, const char *name,
		      struct error *err)
{
	owned(result_clear) struct result result = { 0 };
	bool empty = extract_empty(work->extract);

	if (work_result(work, &result, err) < 0)
		return -1;
	tell_losses(cli, work->extract);
	tell_fits(cli, work);
	if (!cli_format(cli, "text")) {
		if (print_document(cli, work, &result, err) < 0)
			return -1;
	} else {
		if (print_steps(cli, work->extract, err) < 0)
			return -1;
		if (!empty)
			print_summary(cli, &result);
		print_metrics(cli, &result);
		tell_remarks(cli, &result);
	}
	if (!empty)
		return EXIT_GOOD;
	if (!work->bytes) {
		cli_say(cli, "the log is empty");
		return EXIT_WORK_FAILED;
	}
	cli_say(cli,
		"no line of the log matches the rules of %s; %smake rules for "
		"it with --learn",
		name ? name : "any format",
		name ? "try all formats, without --framework, or " : "");
	return EXIT_WORK_FAILED;
}

/* What a result needs and the log lacks: the file of --context. Its other keys
 * are ignored, because the same file may serve other purposes.
 */
struct cell {
	double seq_length;
	double global_batch;
	double world_size; /* devices */
	double total_steps;
	double warmup_steps;
	double n_params; /* parameters active per token */
	double layers;
	double hidden;
	double peak_flops_per_device;
};

/* clang-format off */
#define CELL(member, max) { #member, offsetof(struct cell, member), max }
static const struct {
	const char *key;
	size_t offset;
	double max;
} cell_keys[] = {
	CELL(seq_length, UINT32_MAX), CELL(global_batch, 1e15),
	CELL(world_size, 1e15), CELL(total_steps, UINT32_MAX),
	CELL(warmup_steps, UINT32_MAX), CELL(n_params, 1e18),
	CELL(layers, UINT32_MAX), CELL(hidden, UINT32_MAX),
	CELL(peak_flops_per_device, 1e18),
};
/* clang-format on */

#define CELL_KEYS (sizeof(cell_keys) / sizeof(cell_keys[0]))

/* EINVAL, with file and line: a number is out of range, or a key looks like a
 * misspelling of one above.
 */
static int cell_read(struct cell *cell, const char *path, struct error *err)
{
	owned(document_free) struct document *document =
		document_read(path, NULL, err);
	const struct value *map = document ? document_root(document) : NULL;
	const char *keys[CELL_KEYS + 1] = { NULL };

	if (!map || value_expect(map, VALUE_MAP, err) < 0)
		return -1;
	for (size_t i = 0; i < CELL_KEYS; i++) {
		const struct value *value = value_get(map, cell_keys[i].key);
		void *to = (char *)cell + cell_keys[i].offset;

		keys[i] = cell_keys[i].key;
		if (value && value_kind(value) != VALUE_NULL &&
		    value_double(value, 0, cell_keys[i].max, to, err) < 0)
			return -1;
	}
	for (size_t i = 0; i < value_count(map); i++) {
		const char *key = value_key(map, i);
		const char *near = nearest_word(key, keys);

		if (near && strcmp(near, key) != 0)
			return value_error(value_at(map, i), err,
					   "unknown key; did you mean \"%s\"?",
					   near);
	}
	return 0;
}

static void work_take_cell(struct work *work, const struct cell *cell)
{
	work->measure.sequence = (uint32_t)cell->seq_length;
	work->measure.global_batch = (uint64_t)cell->global_batch;
	work->measure.steps = (uint32_t)cell->total_steps;
	work->measure.warmup_steps = (uint32_t)cell->warmup_steps;
	work->input.inputs.devices = (uint64_t)fmax(cell->world_size, 1);
	work->input.devices_guessed = !(cell->world_size >= 1);
	work->input.inputs.peak_flops = cell->peak_flops_per_device;
	work->input.inputs.flops = (struct flops){
		.factor = cell->n_params > 0 ? formula_stage("pretrain") : 0,
		.parameters = cell->n_params,
		.layers = (uint32_t)cell->layers,
		.hidden = (uint32_t)cell->hidden,
		.sequence = work->measure.sequence,
	};
}

static int add_format(struct work *work, const struct catalog *catalog,
		      const struct framework *framework, struct error *err)
{
	const struct value *logs[CATALOG_LOGS_MAX];
	size_t count;

	if (work->count == FORMAT_CHOICE_MAX)
		return error_set(err, E2BIG, "more than %d formats",
				 FORMAT_CHOICE_MAX);
	if (catalog_logs(catalog, framework, logs, &count, err) < 0)
		return -1;
	work->names[work->count] = framework->name;
	work->rules[work->count] = extract_rules_new(logs, count, err);
	return work->rules[work->count++] ? 0 : -1;
}

static int work_add_formats(struct work *work, const struct catalog *catalog,
			    const char *name, struct error *err)
{
	const struct framework *framework;

	if (strcmp(name, "auto") != 0) {
		framework = catalog_framework(catalog, name);
		if (!framework)
			return catalog_unknown_name(catalog, CATALOG_FRAMEWORK,
						    "--framework", name, err);
		if (!framework->log)
			return error_set(err, EINVAL,
					 "framework %s has no log rules",
					 framework->name);
		return add_format(work, catalog, framework, err);
	}
	/* A format without rules of its own reads the same as the one that it
	 * extends.
	 */
	for (size_t i = 0; (framework = catalog_framework_at(catalog, i)); i++)
		if (framework->log && value_get(framework->log, "rules") &&
		    add_format(work, catalog, framework, err) < 0)
			return -1;
	return 0;
}

/* Read the log by all formats, and take the one that fits. */
static int work_read_log(struct cli *cli, struct work *work, struct error *err)
{
	size_t best = 0;

	work->choice = format_choice_new(work->rules, work->count, err);
	if (!work->choice)
		return -1;
	if (file_reader_read(cli->arg_count ? cli->args[0] : "-", work_feed,
			     work, err) < 0)
		return -1;
	format_choice_file_ends(work->choice);
	if (format_choice_finish(work->choice, err) < 0)
		return -1;
	work->fit_count = format_choice_fits(work->choice, work->fits);
	work->tied =
		format_choice_tied(work->choice, work->fits, work->fit_count);
	if (work->fit_count)
		best = work->fits[0].format;
	work->format = work->names[best];
	work->extract = format_choice_extract(work->choice, best);
	return 0;
}

/* --learn: make rules for a log from values that the user names. */

static void show_step(FILE *out, const struct extract *extract,
		      const struct record *record)
{
	static const enum record_field known[] = {
		RECORD_LOSS,
		RECORD_ITERATION_MS,
		RECORD_TOKENS_PER_SECOND,
		RECORD_SAMPLES_PER_SECOND,
		RECORD_TOKENS_PER_DEVICE,
		RECORD_MEMORY_MIB,
	};
	const char *name;
	double number;

	fprintf(out, "#   step %llu", (unsigned long long)record->step);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (record_has(record, known[i]))
			fprintf(out, ", %s %s", record_field_name(known[i]),
				human_number(record_value(record, known[i]))
					.text);
	for (size_t m = 0; (name = extract_metric_name(extract, m)); m++)
		if (record_metric(record, m, &number))
			fprintf(out, ", %s %s", name,
				human_number(number).text);
	fputc('\n', out);
}

/* Print the proposed rules, and what they read in the log. */
static int show_rules(struct cli *cli, const struct buffer *yaml,
		      const struct buffer *log, struct error *err)
{
	owned(document_free) struct document *document =
		document_parse(yaml->data, yaml->size, "proposal", NULL, err);
	owned(extract_rules_free) struct extract_rules *rules = NULL;
	owned(extract_free) struct extract *extract = NULL;
	const struct value *section;
	const struct record *records;
	size_t count;

	if (!document)
		return -1;
	section = value_get(document_root(document), "log");
	rules = extract_rules_new(&section, 1, err);
	extract = rules ? extract_new(rules, err) : NULL;
	if (!extract || extract_feed(extract, log->data, log->size, err) < 0 ||
	    extract_finish(extract, err) < 0)
		return -1;
	records = extract_records(extract, &count);
	fwrite(yaml->data, 1, yaml->size, cli->out);
	fprintf(cli->out, "# reads %zu steps%s\n", count,
		count > SHOWN ? ", of them the first:" : "");
	for (size_t i = 0; i < count && i < SHOWN; i++)
		show_step(cli->out, extract, &records[i]);
	if (!count)
		cli_say(cli, "the rules read no step; add --value step=NUMBER "
			     "of the same line");
	return count ? EXIT_GOOD : EXIT_WORK_FAILED;
}

/* Without values of the user, those of a line whose names have a meaning. */
static int learn_by_meaning(struct cli *cli, const struct buffer *log,
			    struct buffer *yaml, struct error *err)
{
	owned(catalog_free) struct catalog *catalog = cli_catalog(cli, err);
	owned(work_release) struct work work = { 0 };
	owned(extract_free) struct extract *extract = NULL;
	const struct strings *values;

	if (!catalog || work_add_formats(&work, catalog, "generic", err) < 0)
		return -1;
	extract = extract_new(work.rules[0], err);
	if (!extract || extract_feed(extract, log->data, log->size, err) < 0 ||
	    extract_finish(extract, err) < 0)
		return -1;
	values = extract_example(extract);
	if (!values)
		return error_set(err, EINVAL,
				 "no line of the log names a step and a loss "
				 "or "
				 "a rate; give the values of a line by --value "
				 "NAME=NUMBER");
	return learn_rules(log->data, log->size,
			   (const char *const *)values->items,
			   values->count < LEARN_VALUES_MAX ? values->count
							    : LEARN_VALUES_MAX,
			   yaml, err);
}

static int framework_learn(struct cli *cli, struct error *err)
{
	const struct extract_options *options = cli->given;
	const char *log = cli->arg_count ? cli->args[0] : "-";
	owned(buffer_clear) struct buffer text = BUFFER_INIT(LOOKED_AT);
	owned(buffer_clear) struct buffer yaml = BUFFER_INIT(YAML_MAX);

	if (!options->learn)
		return error_set(err, EINVAL,
				 "missing option --learn (--value requires "
				 "it)");
	if (file_reader_read(log, file_reader_keep, &text, err) < 0 ||
	    buffer_text(&yaml, "framework: mine\n", err) < 0 ||
	    (options->values.count
		     ? learn_rules(text.data ? text.data : "", text.size,
				   options->values.items, options->values.count,
				   &yaml, err)
		     : learn_by_meaning(cli, &text, &yaml, err)) < 0)
		return -1;
	return show_rules(cli, &yaml, &text, err);
}

static int extract_command(struct cli *cli, struct error *err)
{
	owned(catalog_free) struct catalog *catalog = NULL;
	owned(work_release) struct work work = { 0 };
	struct cell cell = { 0 };
	const struct extract_options *given = cli->given;
	const char *context = given->context;
	const char *name = given->framework;

	if (given->learn || given->values.count)
		return framework_learn(cli, err);
	if (context && cell_read(&cell, context, err) < 0)
		return -1;
	work_take_cell(&work, &cell);
	work.input.unread = name ? NULL : result_unread;
	catalog = cli_catalog(cli, err);
	if (!catalog ||
	    work_add_formats(&work, catalog, name ? name : "auto", err) < 0 ||
	    work_read_log(cli, &work, err) < 0)
		return -1;
	return work_print(cli, &work, name, err);
}

/* clang-format off */
static const struct option_rule rules[] = {
	{ OPTION(extract_options, "framework", 0, OPTION_TEXT, framework,
		 "NAME"),
	  .help = "framework that wrote the log (default: detected)" },
	{ OPTION(extract_options, "context", 0, OPTION_TEXT, context, "FILE"),
	  .help = "JSON file with values that the log lacks: seq_length, ..." },
	{ OPTION(extract_options, "learn", 0, OPTION_FLAG, learn, NULL),
	  .help = "propose rules for a line of the log, or the one with --value" },
	{ OPTION(extract_options, "value", 0, OPTION_LIST, values,
		 "NAME=NUMBER"),
	  .help = "a value as written in the log: loss=2.31 (repeatable)" },
	OPTION_IMAGES,
	OPTION_FORMAT(formats_text, "json (default) or text"),
	{ 0 },
};

const struct command command_extract = {
	.name = "extract",
	.args = "[FILE | -]",
	.max_args = 1,
	.rules = rules,
	.options_size = sizeof(struct extract_options),
	.summary = "read metrics from a training log",
	.help =
		"Applies the log rules of a framework to a file or standard "
		  "input, and prints the values. Without --framework, all "
		  "formats are tried, and the one that reads most steps "
		  "without a contradiction is used. With --learn, it proposes "
		  "a framework description that reads the given values in all "
		  "similar lines. Needs no controller.",
	.example = "regatta extract --framework megatron --context cell.json "
		"train.log",
	.fn = extract_command,
};
/* clang-format on */
