/* extract.c - feeds any bytes to the log rules of every framework; the pieces
 * they come in must make no difference, and what comes out must be sound.
 *
 * The first byte of the input says whose rules, the second one the pieces.
 */
#include "controller/catalog/catalog.h"
#include "controller/results/extract_json.h"
#include "controller/results/result.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#define FRAMEWORKS 64

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void must(bool good)
{
	if (!good)
		abort();
}

/* The rules of a framework, compiled once. */
static struct extract_rules *rules_of(unsigned number)
{
	static struct catalog *catalog;
	static struct extract_rules *rules[FRAMEWORKS];
	static unsigned count;
	static bool ready;

	if (!catalog) {
		catalog = catalog_load("images", NULL);
		must(catalog != NULL);
	}
	for (size_t i = 0; !ready && count < FRAMEWORKS; i++) {
		const struct framework *framework =
			catalog_framework_at(catalog, i);
		const struct value *logs[CATALOG_LOGS_MAX];
		size_t sections;

		if (!framework)
			break;
		if (!framework->log)
			continue;
		must(catalog_logs(catalog, framework, logs, &sections, NULL) ==
		     0);
		rules[count] = extract_rules_new(logs, sections, NULL);
		must(rules[count++] != NULL);
	}
	ready = true;
	must(count > 0);
	return rules[number % count];
}

static void check_records(const struct extract *extract)
{
	size_t count;
	const struct record *records = extract_records(extract, &count);

	for (size_t i = 0; i < count; i++) {
		must(record_has(&records[i], RECORD_STEP));
		must(!i || records[i].step > records[i - 1].step);
		must(records[i].has < 1u << RECORD_FIELDS);
	}
}

/* What comes out, as text. */
static char *read_log(struct extract_rules *rules, const char *data,
		      size_t size, size_t piece)
{
	struct measure_spec measure = { .sequence = 128, .global_batch = 8 };
	struct extract *extract = extract_new(rules, NULL);
	struct result_input input = { .measure = &measure,
				      .inputs.devices = 2,
				      .extract = extract };
	struct result result;
	cJSON *more = cJSON_Parse("{\"more\": 1}"), *again;
	char *text;
	size_t length;
	FILE *out = open_memstream(&text, &length);

	must(extract != NULL);
	for (size_t at = 0; at < size; at += piece) {
		size_t n = size - at < piece ? size - at : piece;

		must(extract_feed(extract, data + at, n, NULL) == 0);
	}
	must(extract_finish(extract, NULL) == 0);
	check_records(extract);
	input.records = extract_records(extract, &input.record_count);
	input.summary = extract_summary(extract);
	must(result_compute(&input, &result, NULL) == 0);
	must(more && out &&
	     extract_print_json(out, extract, "any", &result, size, more,
				NULL) == 0);
	must(fclose(out) == 0);
	result_clear(&result);
	cJSON_Delete(more);
	again = cJSON_Parse(text);
	must(again != NULL);
	cJSON_Delete(again);
	extract_free(extract);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct extract_rules *rules;
	char *whole, *pieces;

	if (size < 2)
		return 0;
	rules = rules_of(data[0]);
	whole = read_log(rules, (const char *)data + 2, size - 2, size);
	pieces = read_log(rules, (const char *)data + 2, size - 2,
			  (size_t)data[1] % 61 + 1);
	must(!strcmp(whole, pieces));
	free(whole);
	free(pieces);
	return 0;
}
