/* recompute_results.c - computes results again from the stored logs.
 */
#include "controller/cli/commands/recompute_results.h"
#include "controller/catalog/descriptions.h"
#include "controller/cell/reference_peak.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/file_reader.h"
#include "controller/results/recompute.h"
#include "controller/results/json_object.h"

#include <errno.h>
#include <math.h>
#include <string.h>

#define TOLD_MAX 12 /* fields of one row */

struct recompute_results_rules {
	const struct framework *framework;
	struct extract_rules *rules;
};

/* The catalog with the descriptions that a sweep contains. */
struct recompute_results_own {
	cJSON *described;
	struct catalog *catalog;
};

static void measure_spec_clear(struct measure_spec *measure)
{
	codec_clear(&measure_spec_schema, measure);
}
OWNED_VALUE(struct measure_spec, measure_spec_clear)

void recompute_results_clear(struct recompute_results *reread)
{
	for (size_t i = 0; i < reread->rules_count; i++)
		extract_rules_free(reread->rules[i].rules);
	free(reread->rules);
	for (size_t i = 0; i < reread->own_count; i++) {
		catalog_free(reread->own[i].catalog);
		cJSON_Delete(reread->own[i].described);
	}
	free(reread->own);
	catalog_free(reread->catalog);
}

/* Reading. */

static int reread_feed(const void *piece, size_t size, void *arg,
		       struct error *err)
{
	return extract_feed(arg, piece, size, err);
}

/* One stored stream of a job, from its beginning to its end. */
static int reread_take_stream(struct recompute_results *reread,
			      struct extract *extract, uint64_t job,
			      uint32_t attempt, const char *stream,
			      struct error *err)
{
	return stream_read(reread->client, job, attempt, stream, 0, reread_feed,
			   extract, err) < 0
		       ? -1
		       : extract_finish(extract, err);
}

/* Read and merge all streams that the row was read from. */
static struct extract *reread_take_streams(struct recompute_results *reread,
					   const cJSON *row,
					   struct extract_rules *rules,
					   struct error *err)
{
	uint64_t job = (uint64_t)fmax(row_double(row, "job"), 0);
	uint32_t attempt =
		(uint32_t)fmax(row_double(row, "provenance.attempt"), 0);
	const cJSON *stream;
	owned(extract_free) struct extract *all = NULL;

	cJSON_ArrayForEach(stream, row_at(row, "provenance.streams"))
	{
		owned(extract_free) struct extract *one =
			extract_new(rules, err);

		if (!one || !cJSON_IsString(stream) ||
		    reread_take_stream(reread, one, job, attempt,
				       stream->valuestring, err) < 0)
			return NULL;
		if (!all)
			all = take(one);
		else if (extract_merge(all, one, err) < 0)
			return NULL;
	}
	if (!all)
		error_set(err, EINVAL,
			  "the result does not say which log stream it was "
			  "read from");
	return take(all);
}

static struct extract *reread_take_log(struct recompute_results *reread,
				       const cJSON *row,
				       struct extract_rules *rules,
				       struct error *err)
{
	owned(extract_free) struct extract *extract = NULL;

	if (!reread->log)
		return reread_take_streams(reread, row, rules, err);
	extract = extract_new(rules, err);
	if (!extract ||
	    file_reader_read(reread->log, reread_feed, extract, err) < 0 ||
	    extract_finish(extract, err) < 0)
		return NULL;
	return take(extract);
}

/* Computing. */

/* The catalog with the job's own descriptions, which are taken over; NULL: the
 * catalog of this machine.
 */
static const struct catalog *catalog_of(struct recompute_results *reread,
					cJSON **described, struct error *err)
{
	struct recompute_results_own *own;

	if (!*described)
		return reread->catalog;
	for (size_t i = 0; i < reread->own_count; i++)
		if (cJSON_Compare(reread->own[i].described, *described, true))
			return reread->own[i].catalog;
	own = realloc(reread->own, (reread->own_count + 1) * sizeof(*own));
	if (!own) {
		error_nomem(err, "descriptions");
		return NULL;
	}
	reread->own = own;
	own += reread->own_count;
	own->catalog =
		catalog_with_descriptions(reread->catalog, *described, err);
	if (!own->catalog)
		return NULL;
	own->described = *described;
	*described = NULL;
	reread->own_count++;
	return own->catalog;
}

static struct extract_rules *compile(struct recompute_results *reread,
				     const struct catalog *catalog,
				     const struct framework *framework,
				     struct error *err)
{
	const struct value *logs[CATALOG_LOGS_MAX];
	struct recompute_results_rules *rules;
	size_t count;

	for (size_t i = 0; i < reread->rules_count; i++)
		if (reread->rules[i].framework == framework)
			return reread->rules[i].rules;
	rules = realloc(reread->rules,
			(reread->rules_count + 1) * sizeof(*rules));
	if (!rules) {
		error_nomem(err, framework->name);
		return NULL;
	}
	reread->rules = rules;
	rules += reread->rules_count;
	if (!framework->log) {
		error_set(err, EINVAL, "framework %s has no log rules",
			  framework->name);
		return NULL;
	}
	if (catalog_logs(catalog, framework, logs, &count, err) < 0)
		return NULL;
	rules->framework = framework;
	rules->rules = extract_rules_new(logs, count, err);
	if (rules->rules)
		reread->rules_count++;
	return rules->rules;
}

/* The present figures of the row's model and chip. */
static struct result_input figures_of(const struct catalog *catalog,
				      const cJSON *row,
				      const struct measure_spec *measure)
{
	const char *vendor = row_text(row, "setup.vendor");
	struct reference_peak reference;

	reference_peak_init(&reference,
			    measure->model
				    ? catalog_model(catalog, measure->model)
				    : NULL,
			    measure->chip
				    ? catalog_chip(catalog,
						   vendor && *vendor ? vendor
								     : NULL,
						   measure->chip)
				    : NULL,
			    measure->precision, measure->stage,
			    measure->sequence, false);
	return (struct result_input){
		.flops = reference.flops,
		.peak_flops = reference.peak_flops,
		.chip_memory_bytes = reference.memory_bytes,
	};
}

cJSON *recompute_results_result(struct recompute_results *reread,
				const cJSON *row, char rules[65],
				struct error *err)
{
	owned(measure_spec_clear) struct measure_spec measure = { 0 };
	owned(extract_free) struct extract *extract = NULL;
	const struct framework *framework;
	const struct catalog *catalog;
	struct extract_rules *compiled;
	struct result_input figures;
	const char *name = reread->framework;

	if (recompute_measure(row, &measure, err) < 0)
		return NULL;
	name = name ? name : measure.log ? measure.log : measure.framework;
	/* The format that was detected when the job ended. */
	if (!name || !strcmp(name, "auto"))
		name = row_text(row, "provenance.log");
	if (!name || !*name) {
		error_set(err, EINVAL,
			  "the result has no log format; select one with "
			  "--framework");
		return NULL;
	}
	catalog = catalog_of(reread, &measure.described, err);
	if (!catalog)
		return NULL;
	framework = catalog_framework(catalog, name);
	if (!framework) {
		catalog_unknown_name(catalog, CATALOG_FRAMEWORK, "framework",
				     name, err);
		return NULL;
	}
	catalog_rules_hash(catalog, framework, rules);
	compiled = compile(reread, catalog, framework, err);
	extract = compiled ? reread_take_log(reread, row, compiled, err) : NULL;
	if (!extract)
		return NULL;
	figures = figures_of(catalog, row, &measure);
	return recompute_result(row, &measure, extract, &figures, err);
}

static void tell_differences(struct cli *cli, double job, const cJSON *list)
{
	const cJSON *entry;
	int told = 0;

	cJSON_ArrayForEach(entry, list)
	{
		owned_free char *stored =
			cJSON_PrintUnformatted(row_at(entry, "stored"));
		owned_free char *computed =
			cJSON_PrintUnformatted(row_at(entry, "computed"));

		if (told++ == TOLD_MAX)
			break;
		cli_say(cli, "job %.0f: %s: stored %.60s, now %.60s: %s", job,
			row_text(entry, "field"), stored ? stored : "?",
			computed ? computed : "?", row_text(entry, "reason"));
	}
	if (cJSON_GetArraySize(list) > TOLD_MAX)
		cli_say(cli, "job %.0f: and %d more", job,
			cJSON_GetArraySize(list) - TOLD_MAX);
}

/* The result that the row is to have; NULL: it keeps its own. */
static int recompute_row(struct recompute_results *reread, struct cli *cli,
			 const cJSON *row, cJSON **result, bool *differs,
			 struct error *err)
{
	owned(cJSON_Delete) cJSON *list = NULL;
	struct error why = { 0 };
	char rules[65];

	*result = recompute_results_result(reread, row, rules, &why);
	if (!*result && (why.code == ENOTCONN || why.code == ETIMEDOUT ||
			 why.code == EINTR || why.code == ENOMEM))
		return error_set(err, why.code, "%s", why.text);
	if (!*result) {
		cli_say(cli, "job %.0f keeps its stored result: %s",
			row_double(row, "job"), why.text);
		return 0;
	}
	list = recompute_compare(row_at(row, "result"), *result, err);
	if (!list || recompute_explain(list, row, *result, rules, err) < 0)
		return -1;
	*differs = list->child != NULL;
	tell_differences(cli, row_double(row, "job"), list);
	return 0;
}

static int result_replace(struct report_row *row, const cJSON *result,
			  struct error *err)
{
	struct result made;

	if (codec_from_other(&result_schema, result, &made, err) < 0)
		return -1;
	codec_clear(&result_schema, row->info.result);
	*row->info.result = made;
	return 0;
}

int recompute_results_rows(struct recompute_results *reread, struct cli *cli,
			   struct report_rows *rows, struct error *err)
{
	unsigned differ = 0, count = 0;

	for (size_t i = 0; i < rows->count; i++) {
		owned(cJSON_Delete) cJSON *row = NULL, *result = NULL;
		struct report_row *of = &rows->items[i];
		bool differs = false;

		if (!of->info.result)
			continue;
		row = codec_object(&result_info_schema, &of->info, err);
		if (!row ||
		    recompute_row(reread, cli, row, &result, &differs, err) <
			    0 ||
		    (result && result_replace(of, result, err) < 0))
			return -1;
		count += result != NULL;
		differ += differs;
	}
	cli_say(cli, "%u results recomputed, %u differ from the stored results",
		count, differ);
	return 0;
}
