/* recompute_results.c - computes results again from the stored logs.
 */
#include "controller/cli/commands/recompute_results.h"
#include "controller/catalog/descriptions.h"
#include "controller/cell/reference_peak.h"
#include "controller/cli/commands/bundle_file.h"
#include "controller/cli/commands/streams.h"
#include "controller/cli/file_reader.h"
#include "controller/results/recompute.h"
#include "protocol/base/file.h"
#include "protocol/base/list.h"
#include "protocol/message/json_get.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

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

/* A stream of an unpacked bundle. */
static int reread_file(const struct recompute_results *reread,
		       struct extract *extract, uint64_t job, uint32_t attempt,
		       const char *stream, struct error *err)
{
	char inside[PATH_MAX], path[PATH_MAX], piece[65536];
	owned_fd int fd = -1;
	ssize_t got;

	if (bundle_log_path(job, attempt, stream, inside, err) < 0 ||
	    file_path(path, err, "%s/%s", reread->folder, inside) < 0)
		return -1;
	fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return error_errno(err, "%s", inside);
	while ((got = read(fd, piece, sizeof(piece))) > 0)
		if (extract_feed(extract, piece, (size_t)got, err) < 0)
			return -1;
	return got < 0 ? error_errno(err, "%s", inside) : 0;
}

/* One stored stream of a job, from its beginning to its end. */
static int reread_take_stream(struct recompute_results *reread,
			      struct extract *extract, uint64_t job,
			      uint32_t attempt, const char *stream,
			      struct error *err)
{
	int rc = reread->folder
			 ? reread_file(reread, extract, job, attempt, stream,
				       err)
			 : stream_read(reread->client, job, attempt, stream, 0,
				       reread_feed, extract, err);

	return rc < 0 ? -1 : extract_finish(extract, err);
}

/* Read and merge all streams that the row was read from. */
static struct extract *reread_take_streams(struct recompute_results *reread,
					   const struct result_info *row,
					   struct extract_rules *rules,
					   struct error *err)
{
	const struct provenance *from = row->provenance;
	owned(extract_free) struct extract *all = NULL;

	for (size_t i = 0; from && i < from->streams.count; i++) {
		owned(extract_free) struct extract *one =
			extract_new(rules, err);

		if (!one ||
		    reread_take_stream(reread, one, row->job, from->attempt,
				       from->streams.items[i], err) < 0)
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
				       const struct result_info *row,
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

/* The catalog with the job's own descriptions; NULL: the catalog of this
 * machine.
 */
static const struct catalog *catalog_of(struct recompute_results *reread,
					const cJSON *described,
					struct error *err)
{
	struct recompute_results_own *own;
	struct catalog *catalog;

	if (!described)
		return reread->catalog;
	for (size_t i = 0; i < reread->own_count; i++)
		if (cJSON_Compare(reread->own[i].described, described, true))
			return reread->own[i].catalog;
	catalog = catalog_with_descriptions(reread->catalog, described, err);
	own = catalog ? LIST_ADD(reread->own, reread->own_count, err) : NULL;
	if (!own) {
		catalog_free(catalog);
		return NULL;
	}
	own->catalog = catalog;
	own->described = cJSON_Duplicate(described, true);
	return catalog;
}

static struct extract_rules *compile(struct recompute_results *reread,
				     const struct catalog *catalog,
				     const struct framework *framework,
				     struct error *err)
{
	const struct value *logs[CATALOG_LOGS_MAX];
	struct recompute_results_rules *rules;
	struct extract_rules *compiled;
	size_t count;

	for (size_t i = 0; i < reread->rules_count; i++)
		if (reread->rules[i].framework == framework)
			return reread->rules[i].rules;
	if (!framework->log) {
		error_set(err, EINVAL, "framework %s has no log rules",
			  framework->name);
		return NULL;
	}
	if (catalog_logs(catalog, framework, logs, &count, err) < 0)
		return NULL;
	compiled = extract_rules_new(logs, count, err);
	rules = compiled ? LIST_ADD(reread->rules, reread->rules_count, err)
			 : NULL;
	if (!rules) {
		extract_rules_free(compiled);
		return NULL;
	}
	rules->framework = framework;
	rules->rules = compiled;
	return compiled;
}

/* The present figures of the row's model and chip. */
static struct result_inputs today_of(const struct catalog *catalog,
				     const struct setup *setup)
{
	const struct measure_spec *measure = &setup->measure;
	const char *vendor =
		setup->vendor && *setup->vendor ? setup->vendor : NULL;
	struct reference_peak reference;

	reference_peak_init(&reference,
			    measure->model
				    ? catalog_model(catalog, measure->model)
				    : NULL,
			    measure->chip ? catalog_chip(catalog, vendor,
							 measure->chip)
					  : NULL,
			    measure->precision, measure->stage,
			    measure->sequence, false);
	return (struct result_inputs){
		.flops = reference.flops,
		.peak_flops = reference.peak_flops,
		.chip_memory_bytes = reference.memory_bytes,
	};
}

/* The format that the log of the row has; NULL: none is known. */
static const char *log_format(const struct recompute_results *reread,
			      const struct result_info *row)
{
	const struct measure_spec *measure = &row->setup->measure;
	const char *name = reread->framework ? reread->framework : measure->log;

	/* The format by which the log was read when the job ended. */
	if (!name || !strcmp(name, "auto"))
		name = row->provenance && row->provenance->log
			       ? row->provenance->log
			       : measure->framework;
	return name && *name ? name : NULL;
}

int recompute_results_result(struct recompute_results *reread,
			     const struct result_info *row, char rules[65],
			     struct result *to, struct error *err)
{
	owned(extract_free) struct extract *extract = NULL;
	const char *name = row->setup ? log_format(reread, row) : NULL;
	const struct framework *framework;
	const struct catalog *catalog;
	struct extract_rules *compiled;
	struct result_inputs today;

	if (!name)
		return error_set(err, EINVAL,
				 "the result has no log format; select one "
				 "with --framework");
	catalog = catalog_of(reread, row->setup->measure.described, err);
	if (!catalog)
		return -1;
	framework = catalog_framework(catalog, name);
	if (!framework)
		return catalog_unknown_name(catalog, CATALOG_FRAMEWORK,
					    "framework", name, err);
	catalog_rules_hash(catalog, framework, rules);
	compiled = compile(reread, catalog, framework, err);
	extract = compiled ? reread_take_log(reread, row, compiled, err) : NULL;
	if (!extract)
		return -1;
	today = today_of(catalog, row->setup);
	return recompute_result(row, extract, &today, to, err);
}

static void tell_differences(struct cli *cli, uint64_t job, const cJSON *list)
{
	const cJSON *entry;
	int told = 0;

	cJSON_ArrayForEach(entry, list) {
		owned_free char *stored =
			cJSON_PrintUnformatted(json_get(entry, "stored"));
		owned_free char *computed =
			cJSON_PrintUnformatted(json_get(entry, "computed"));

		if (told++ == TOLD_MAX)
			break;
		cli_say(cli, "job %llu: %s: stored %.60s, now %.60s: %s",
			(unsigned long long)job, json_get_text(entry, "field"),
			stored ? stored : "?", computed ? computed : "?",
			json_get_text(entry, "reason"));
	}
	if (cJSON_GetArraySize(list) > TOLD_MAX)
		cli_say(cli, "job %llu: and %d more", (unsigned long long)job,
			cJSON_GetArraySize(list) - TOLD_MAX);
}

/* A row keeps its result if its log cannot be read. */
static int recompute_row(struct recompute_results *reread, struct cli *cli,
			 struct result_info *row, unsigned *count,
			 unsigned *differ, struct error *err)
{
	owned(result_clear) struct result result = { 0 };
	owned(cJSON_Delete) cJSON *list = NULL;
	struct error why = { 0 };
	char rules[65];

	if (recompute_results_result(reread, row, rules, &result, &why) < 0) {
		if (why.code == ENOTCONN || why.code == ETIMEDOUT ||
		    why.code == EINTR || why.code == ENOMEM)
			return error_set(err, why.code, "%s", why.text);
		cli_say(cli, "job %llu keeps its stored result: %s",
			(unsigned long long)row->job, why.text);
		return 0;
	}
	list = recompute_compare(row, &result, rules, err);
	if (!list)
		return -1;
	++*count;
	*differ += list->child != NULL;
	tell_differences(cli, row->job, list);
	result_clear(row->result);
	*row->result = result;
	result = (struct result){ 0 };
	return 0;
}

int recompute_results_rows(struct recompute_results *reread, struct cli *cli,
			   struct report_rows *rows, struct error *err)
{
	unsigned count = 0, differ = 0;

	for (size_t i = 0; i < rows->count; i++)
		if (rows->items[i].info.result &&
		    recompute_row(reread, cli, &rows->items[i].info, &count,
				  &differ, err) < 0)
			return -1;
	cli_say(cli, "%u results recomputed, %u differ from the stored results",
		count, differ);
	return 0;
}
