/* extract_learn.c - regatta extract --learn: makes rules for a log from values
 * that the user names.
 */
#include "controller/cli/commands/extract_learn.h"

#include "controller/cli/file_reader.h"
#include "controller/cli/render.h"
#include "controller/results/extract.h"
#include "controller/results/learn.h"
#include "protocol/base/program.h"

#define LOOKED_AT ((size_t)4 << 20) /* bytes of the log */
#define YAML_MAX ((size_t)1 << 20)
#define SHOWN 10 /* steps */

static void show_step(FILE *out, const struct extract *extract,
		      const struct record *record)
{
	static const struct {
		enum record_field field;
		const char *name;
	} known[] = {
		{ RECORD_LOSS, "loss" },
		{ RECORD_ITERATION_MS, "iteration_ms" },
		{ RECORD_TOKENS_PER_SECOND, "tokens_per_second" },
		{ RECORD_SAMPLES_PER_SECOND, "samples_per_second" },
		{ RECORD_TOKENS_PER_DEVICE, "tokens_per_second_per_device" },
		{ RECORD_MEMORY_MIB, "memory_mib" },
	};
	struct record copy = *record;
	const char *name;
	double number;

	fprintf(out, "#   step %llu", (unsigned long long)record->step);
	for (size_t i = 0; i < sizeof(known) / sizeof(known[0]); i++)
		if (record_has(record, known[i].field))
			fprintf(out, ", %s %s", known[i].name,
				human_number(
					*record_number(&copy, known[i].field))
					.text);
	for (size_t m = 0; (name = extract_metric_name(extract, m)); m++)
		if (record_metric(record, m, &number))
			fprintf(out, ", %s %s", name,
				human_number(number).text);
	fputc('\n', out);
}

/* Print the proposed rules, and what they read in the log. */
static int show(struct cli *cli, const struct buffer *yaml,
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

int extract_learn(struct cli *cli, const char *log, const char *const *values,
		  size_t count, struct error *err)
{
	owned(buffer_clear) struct buffer text, yaml;

	buffer_init(&text, LOOKED_AT);
	buffer_init(&yaml, YAML_MAX);
	if (file_reader_read(log, file_reader_keep, &text, err) < 0 ||
	    buffer_text(&yaml, "framework: mine\n", err) < 0 ||
	    learn_rules(text.data ? text.data : "", text.size, values, count,
			&yaml, err) < 0)
		return -1;
	return show(cli, &yaml, &text, err);
}
