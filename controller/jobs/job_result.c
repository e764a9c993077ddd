/* job_result.c - the stored result of a job that has ended.
 */
#include "controller/jobs/job_result.h"
#include "controller/cell/reference_peak.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/jobs/core.h"
#include "controller/jobs/hang_evidence.h"
#include "controller/jobs/homogeneity.h"
#include "controller/jobs/provenance.h"
#include "controller/jobs/repeats.h"
#include "controller/logs/log_reader.h"
#include "controller/logs/log_reading.h"
#include "controller/logs/sampling.h"
#include "controller/nodes/node.h"
#include "controller/race/race_words.h"
#include "controller/results/arrival.h"
#include "controller/results/metrics.h"
#include "controller/results/remarks.h"
#include "controller/results/result.h"
#include "controller/results/series.h"
#include "controller/results/usage.h"
#include "controller/store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define REJECTED_BYTES 400 /* of the names of nodes */

/* From the first task's start to the last one's end, and the largest memory. */
static void add_extents(struct result_inputs *input, const struct gang *gang)
{
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		if (task->started_ms && (!input->started_ms ||
					 task->started_ms < input->started_ms))
			input->started_ms = task->started_ms;
		if (task->ended_ms > input->ended_ms)
			input->ended_ms = task->ended_ms;
		if (task->memory_peak_bytes > input->memory_peak_bytes)
			input->memory_peak_bytes = task->memory_peak_bytes;
	}
}

/* Is the exit code 0, and was no figure read in any stream? */
static bool nothing_read(const struct job *job)
{
	const struct extract *extract = log_reader_extract(job->gang);
	size_t count;

	if (!extract || job->failure)
		return !job->failure;
	extract_records(extract, &count);
	return !count && !extract_summary(extract)->has &&
	       !metrics_run_count(extract);
}

/* Remarks about formats that read nothing, or match equally well. */
static int add_format_warnings(const struct job *job, struct result_inputs *to,
			       struct error *err)
{
	const struct log_reading *first = log_reader_first(job->gang);
	const char(*lines)[LIKELY_LINE_BYTES];
	size_t count = first && nothing_read(job)
			       ? log_reading_likely(first, &lines)
			       : 0;

	if (first && log_reading_tied(first) &&
	    remark_add(&to->warnings, &to->warnings_count, SAID(FORMATS_TIED, ),
		       err) < 0)
		return -1;
	if (first && log_reader_given_up(job->gang) &&
	    remark_add(&to->warnings, &to->warnings_count,
		       SAID(FILES_UNREAD,
			    .numbers = { (double)log_reader_given_up(
				    job->gang) }),
		       err) < 0)
		return -1;
	for (size_t i = 0; i < count; i++)
		if (remark_add(&to->warnings, &to->warnings_count,
			       SAID(LINE_UNREAD, .words = { lines[i] }),
			       err) < 0)
			return -1;
	return count ? remark_add(&to->warnings, &to->warnings_count,
				  SAID(LEARN, ), err)
		     : 0;
}

/* Who was slow while the job ran, if its ranks were looked at. */
static int add_straggler(const struct job *job, struct result_inputs *to,
			 struct error *err)
{
	char last[FLIGHT_TEXT_SIZE];
	struct reason seen;

	if (recorder_last(job, last) &&
	    remark_add(&to->warnings, &to->warnings_count,
		       SAID(LAST_TO_ENTER, .words = { last }), err) < 0)
		return -1;
	/* The stacks of a failed job are those of its end. */
	if ((job->failure && job->failure != FAILURE_CANCELLED) ||
	    !evidence_reason(job, &seen) || !*seen.node)
		return 0;
	return remark_add(&to->warnings, &to->warnings_count,
			  SAID(STRAGGLER, .words = { seen.line }), err);
}

/* Nodes of its kind that did not pass the preflight since it was asked for. */
static int add_rejected(const struct job *job, struct result_inputs *to,
			struct error *err)
{
	const struct job_spec *spec = &job->gang->spec;
	const struct nodes *nodes = job->jobs->nodes;
	const char *since = spec->labels ? spec->labels : "";
	char names[REJECTED_BYTES] = "";

	if (strncmp(since, ACCEPTED_LABEL "=", sizeof(ACCEPTED_LABEL)) != 0)
		return 0;
	since += sizeof(ACCEPTED_LABEL);
	for (size_t i = 0; i < node_count(nodes); i++) {
		const struct node *node = node_at(nodes, i);
		int64_t at_ms = node_label_ms(node, REJECTED_LABEL);

		if (at_ms && at_ms / 1000 >= strtoll(since, NULL, 10) &&
		    !strcmp(node_view(node)->vendor, spec->vendor))
			text_append(names, sizeof(names), "%s%s",
				    *names ? ", " : "", node_name(node));
	}
	return *names ? remark_add(&to->warnings, &to->warnings_count,
				   SAID(REJECTED, .words = { names }), err)
		      : 0;
}

static void add_reference(const struct gang *gang, struct result_inputs *to)
{
	const struct measure_spec *measure = &gang->spec.measure;
	const struct model *model =
		measure->model ? catalog_model(gang->catalog, measure->model)
			       : NULL;
	const struct chip *chip =
		measure->chip ? catalog_chip(gang->catalog, gang->spec.vendor,
					     measure->chip)
			      : NULL;
	struct reference_peak reference;

	reference_peak_init(&reference, model, chip, measure->precision,
			    measure->stage, measure->sequence, false);
	to->flops = reference.flops;
	to->peak_flops = reference.peak_flops;
	to->chip_memory_bytes = reference.memory_bytes;
}

/* The summary of the samples; *to stays NULL where no host was sampled. */
static int add_usage(const struct gang *gang, const struct usage *const *list,
		     struct result_input *input, struct error *err)
{
	struct usage_summary **to = &input->usage;
	struct usage_span span;
	bool known = statistics_steady_span(input, &span.from_ms, &span.to_ms);

	*to = calloc(1, sizeof(**to));
	if (!*to)
		return error_nomem(err, "usage");
	if (usage_summarize(list, gang->spec.nodes, known ? &span : NULL, *to,
			    err) < 0)
		return -1;
	if (!(*to)->hosts_count) {
		codec_clear(&usage_summary_schema, *to);
		free(take(*to));
	}
	return 0;
}

static int make_result(const struct job *job, const struct usage *const *list,
		       struct result *to, struct error *err)
{
	const struct gang *gang = job->gang;
	const struct measure_spec *measure = &gang->spec.measure;
	const struct extract *extract = log_reader_extract(gang);
	owned(result_input_clear) struct result_input input = {
		.measure = measure,
		.inputs = { .devices = gang_devices(gang),
			    .simulated = provenance_simulated(gang) },
	};

	add_reference(gang, &input.inputs);
	add_extents(&input.inputs, gang);
	if (extract) {
		input.records = extract_records(extract, &input.record_count);
		input.summary = extract_summary(extract);
		input.extract = extract;
		input.inputs.arrival =
			arrival_of(input.records, input.record_count);
	}
	if (!measure->framework && !log_reader_format(gang))
		input.unread = result_unread;
	if (add_usage(gang, list, &input, err) < 0 ||
	    gang_warnings(gang, &input.inputs.warnings,
			  &input.inputs.warnings_count, err) < 0 ||
	    add_straggler(job, &input.inputs, err) < 0 ||
	    add_rejected(job, &input.inputs, err) < 0 ||
	    add_format_warnings(job, &input.inputs, err) < 0)
		return -1;
	return result_compute(&input, to, err);
}

/* Do its nodes remark on its output? */
static bool nodes_remark(const struct job *job)
{
	for (uint32_t i = 0; i < job->gang->spec.nodes; i++)
		if (job->gang->tasks[i].text && *job->gang->tasks[i].text)
			return true;
	return false;
}

/* With exit code 0 the log must also have figures, and the last step. Where the
 * job names no format, it is only told that there are none.
 */
static void check_measured(struct job *job, const struct result *result)
{
	char ends[120];

	if (job->failure || !log_reader_reads(job->jobs->reader, job->gang))
		return;
	if (!log_reader_named(job->gang)) {
		if (!job->text && !nodes_remark(job) && !result->measured &&
		    result->text)
			job_set_text(job, strdup(result->text));
	} else if (!result->measured)
		job_set_failure(job, FAILURE_NO_METRIC, 0,
				result->text ? result->text : "");
	else if (!result_complete(result, ends, sizeof(ends)))
		job_set_failure(job, FAILURE_INCOMPLETE, 0, ends);
}

static int series_add(cJSON *series, const char *name, cJSON *list)
{
	if (list && cJSON_AddItemToObject(series, name, list))
		return 0;
	cJSON_Delete(list);
	return -1;
}

/* NULL: ENOMEM. */
static cJSON *make_series(const struct job *job,
			  const struct usage *const *list, struct error *err)
{
	const struct extract *extract = log_reader_extract(job->gang);
	uint32_t nodes = job->gang->spec.nodes;
	const struct record *records = NULL;
	owned(cJSON_Delete) cJSON *series = NULL;
	size_t count = 0;

	if (extract)
		records = extract_records(extract, &count);
	series = series_new(records, count, &job->gang->spec.measure,
			    gang_devices(job->gang), err);
	if (!series ||
	    series_add(series, "devices", usage_curves(list, nodes, err)) < 0 ||
	    series_add(series, "hosts", usage_host_curves(list, nodes, err)) <
		    0)
		return error_null(error_nomem(err, "series"));
	return take(series);
}

/* The figures for lists of jobs. */
static void keep_figures(struct job *job, const struct result *result)
{
	struct gang *gang = job->gang;

	job->rate = result_rate(result);
	gang->suspect = result->flags_count > 0;
	job->score = race_score(&gang->spec.race, result);
	job->rate_error = race_rate_error(result);
	gang->step = result->steps > 0 ? (uint64_t)result->steps : 0;
	gang->loss = result->loss ? result->loss->last : (double)NAN;
}

int job_result_make(struct job *job, struct stored_result *to, char **shared,
		    struct error *err)
{
	owned_free const struct usage **list =
		samplings_list(log_reader_samplings(job->gang), err);

	to->result = calloc(1, sizeof(*to->result));
	to->provenance = calloc(1, sizeof(*to->provenance));
	if (!list || !to->result || !to->provenance)
		return error_nomem(err, "result");
	if (make_result(job, list, to->result, err) < 0 ||
	    provenance_fill(job, to->provenance, shared, err) < 0)
		return -1;
	to->series = make_series(job, list, err);
	if (!to->series)
		return -1;
	check_measured(job, to->result);
	keep_figures(job, to->result);
	return 0;
}

int job_result_store(const struct job *job, const struct stored_result *stored,
		     const char *shared, struct error *err)
{
	owned(buffer_clear) struct buffer text = BUFFER_INIT(STORE_TEXT_MAX);
	struct result_row row = { .job = job->id,
				  .sweep = job->sweep,
				  .attempt = job->attempt };
	const char *at;

	if (codec_encode(&stored_result_schema, stored, &text, err) < 0)
		return -1;
	row.json = text.data;
	at = shared ? strstr(text.data, shared) : NULL;
	if (at) {
		row.shared_from = (size_t)(at - text.data);
		row.shared_to = row.shared_from + strlen(shared);
	}
	return store_put_result(job->jobs->store, &row, err);
}
