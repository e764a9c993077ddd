/* job_result.c - the stored result of a job that has ended, and its row in a
 * report.
 */
#include "controller/jobs/job_result.h"
#include "controller/causes/failure_patterns.h"
#include "controller/cell/reference_peak.h"
#include "controller/jobs/repeats.h"
#include "controller/jobs/core.h"
#include "controller/jobs/hang_evidence.h"
#include "controller/jobs/homogeneity.h"
#include "controller/jobs/job_reason.h"
#include "controller/jobs/provenance.h"
#include "controller/jobs/rank_ends.h"
#include "controller/logs/log_reader.h"
#include "controller/logs/log_reading.h"
#include "controller/logs/sampling.h"
#include "controller/nodes/node.h"
#include "controller/results/metrics.h"
#include "controller/results/result.h"
#include "controller/results/series.h"
#include "controller/results/usage.h"
#include "controller/store/store.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* From the first task's start to the last one's end, and the largest memory. */
static void add_extents(struct result_input *input, const struct gang *gang)
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

/* Warnings about formats that read nothing, or match equally well. */
static void add_format_warnings(const struct job *job, cJSON *warnings)
{
	const struct log_reading *first = log_reader_first(job->gang);
	const char(*lines)[LIKELY_LINE_BYTES];
	size_t count = first && nothing_read(job)
			       ? log_reading_likely(first, &lines)
			       : 0;
	char text[LIKELY_LINE_BYTES + 80];

	if (first && log_reading_tied(first))
		cJSON_AddItemToArray(warnings,
				     cJSON_CreateString(
					     "two formats match the log "
					     "equally well, but read different "
					     "values; select one with `log`"));
	for (size_t i = 0; i < count; i++) {
		snprintf(text, sizeof(text),
			 "no format reads this line of the log: %s", lines[i]);
		cJSON_AddItemToArray(warnings, cJSON_CreateString(text));
	}
	if (count)
		cJSON_AddItemToArray(warnings,
				     cJSON_CreateString(
					     "run `regatta extract` on the log "
					     "to find another format, or with "
					     "--learn and the values of such a "
					     "line to create rules"));
}

static cJSON *make_result(struct job *job, struct error *err)
{
	struct gang *gang = job->gang;
	const struct measure_spec *measure = &gang->spec.measure;
	const struct extract *extract = log_reader_extract(gang);
	const struct model *model =
		measure->model ? catalog_model(gang->catalog, measure->model)
			       : NULL;
	const struct chip *chip =
		measure->chip ? catalog_chip(gang->catalog, gang->spec.vendor,
					     measure->chip)
			      : NULL;
	struct reference_peak reference;
	cJSON *result = NULL, *usage, *warnings;
	struct result_input input = {
		.measure = measure,
		.devices = provenance_devices(gang),
		.simulated = provenance_simulated(gang),
	};

	reference_peak_init(&reference, model, chip, measure->precision,
			    measure->stage, measure->sequence, false);
	input.flops = reference.flops;
	input.peak_flops = reference.peak_flops;
	input.chip_memory_bytes = reference.memory_bytes;
	if (extract) {
		input.records = extract_records(extract, &input.record_count);
		input.summary = extract_summary(extract);
		input.extract = extract;
		input.arrival = arrival_of(input.records, input.record_count);
	}
	add_extents(&input, gang);
	usage = samplings_over(log_reader_samplings(gang), usage_summary, err);
	if (!usage)
		return NULL;
	if (cJSON_GetArraySize(
		    cJSON_GetObjectItemCaseSensitive(usage, "hosts")))
		input.usage = usage;
	warnings = cJSON_CreateArray();
	gang_warnings(gang, warnings);
	add_format_warnings(job, warnings);
	if (!measure->framework && !log_reader_format(gang))
		input.unread = "no format matches the log";
	input.warnings = warnings;
	result = result_new(&input, err);
	cJSON_Delete(warnings);
	cJSON_Delete(usage);
	return result;
}

/* With exit code 0 the log must also have figures, and the last step. */
static void check_measured(struct job *job, const cJSON *result)
{
	char ends[120];
	const char *why;

	if (job->failure || !log_reader_named(job->gang) ||
	    !log_reader_reads(job->jobs->reader, job->gang))
		return;
	if (!result_measured(result, &why))
		job_set_failure(job, FAILURE_NO_METRIC, 0, why);
	else if (!result_complete(result, ends, sizeof(ends)))
		job_set_failure(job, FAILURE_INCOMPLETE, 0, ends);
}

static void write_known(struct json_writer *writer, const char *name,
			int64_t number)
{
	json_number(writer, name,
		    number == REASON_UNKNOWN ? (double)NAN : (double)number);
}

static void write_text(struct json_writer *writer, const char *name,
		       const char *text)
{
	json_text(writer, name, *text ? text : NULL);
}

static void write_reason(const struct job *job, struct json_writer *writer,
			 struct reason reason)
{
	/* The others failed because the rank that ended early was missing. */
	if (job->failure == FAILURE_EXIT && reason.class == CAUSE_COMMUNICATION)
		rank_ends_blame_early(job->gang, &reason);
	json_open(writer, "reason", '{');
	write_text(writer, "node", reason.node);
	write_known(writer, "rank", reason.rank);
	json_text(writer, "how", job->text ? job->text : "");
	json_text(writer, "class", causes_class_name(reason.class));
	write_known(writer, "exit_code", reason.exit_code);
	write_text(writer, "signal", reason.signal);
	write_text(writer, "line", reason.line);
	write_text(writer, "stream", reason.stream);
	write_known(writer, "offset", reason.offset);
	json_close(writer);
}

static void write_list(struct json_writer *writer, const char *name,
		       cJSON *list, const struct error *err)
{
	if (!list)
		json_fail(writer, err);
	json_tree(writer, name, list);
	cJSON_Delete(list);
}

static void write_series(const struct job *job, struct json_writer *writer)
{
	const struct extract *extract = log_reader_extract(job->gang);
	const struct samplings *samplings = log_reader_samplings(job->gang);
	const struct record *records = NULL;
	size_t count = 0;
	struct error err;
	cJSON *curves;
	const cJSON *curve;

	if (extract)
		records = extract_records(extract, &count);
	curves = series_new(records, count, &job->gang->spec.measure, &err);
	if (!curves)
		json_fail(writer, &err);
	json_open(writer, "series", '{');
	cJSON_ArrayForEach(curve, curves)
	{
		json_member(writer, curve);
	}
	cJSON_Delete(curves);
	write_list(writer, "devices",
		   samplings_over(samplings, usage_curves, &err), &err);
	write_list(writer, "hosts",
		   samplings_over(samplings, usage_host_curves, &err), &err);
	json_close(writer);
}

/* The stored text: the result, its provenance and its curves. */
static int write_all(const struct job *job, const cJSON *result,
		     const struct reason *reason, const cJSON *ends,
		     struct buffer *text, struct provenance_shared *shared,
		     struct error *err)
{
	struct json_writer writer;

	json_writer_init(&writer, text);
	json_open(&writer, NULL, '{');
	json_tree(&writer, "result", result);
	provenance_write(job, &writer, "provenance", shared);
	if (reason)
		write_reason(job, &writer, *reason);
	if (ends)
		json_tree(&writer, "ends", ends);
	write_series(job, &writer);
	json_close(&writer);
	return json_writer_end(&writer, err);
}

/* The task that ended next after this one, by time, then by rank. */
static const struct task *next_ended(const struct gang *gang,
				     const struct task *last)
{
	const struct task *next = NULL;

	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];
		bool after = !last || task->ended_ms > last->ended_ms ||
			     (task->ended_ms == last->ended_ms && task > last);

		if (after && (!next || task->ended_ms < next->ended_ms))
			next = task;
	}
	return next;
}

static void add_streams(struct reason_job *to, const struct task *task)
{
	for (size_t i = 0; i < task->streams_count; i++) {
		unsigned int rank;
		char end;

		if (to->count == REASON_STREAMS_MAX)
			return;
		if (sscanf(task->streams[i].name, "rank-%9u%c", &rank, &end) !=
		    1)
			continue;
		to->streams[to->count++] = (struct reason_stream){
			.name = task->streams[i].name,
			.node = task_node(task) ? node_name(task_node(task))
						: NULL,
			.rank = rank,
			.exit_code = task->exit_code,
		};
	}
}

/* Why the job failed, by what was observed or printed. */
static bool read_evidence(const struct job *job, cJSON *ends,
			  struct reason *reason)
{
	const struct extract *extract = log_reader_extract(job->gang);
	struct reason_job asked = {
		.effects = job->jobs->effects,
		.id = job->id,
		.attempt = job->attempt,
		.rules = extract ? extract_rules_of(extract) : NULL,
	};
	const struct task *task = NULL;

	if (job->failure == FAILURE_HANG)
		return evidence_reason(job, reason);
	if (!job->jobs->failures ||
	    (job->failure != FAILURE_EXIT && job->failure != FAILURE_OOM))
		return false;
	while (asked.count < REASON_STREAMS_MAX &&
	       (task = next_ended(job->gang, task)))
		add_streams(&asked, task);
	return job_reason_read(job->jobs->failures, &asked, ends, reason);
}

/* Did a rank print this only because the first one that failed was gone? */
static bool follows(const struct job *job, const struct reason *reason,
		    const struct reason *first)
{
	char name[32];

	if (job->failure == FAILURE_OOM)
		return reason->class != CAUSE_HOST_OOM;
	if (reason->class != CAUSE_COMMUNICATION || !*reason->stream ||
	    first->rank == REASON_UNKNOWN)
		return false;
	snprintf(name, sizeof(name), "rank-%" PRId64, first->rank);
	return strcmp(name, reason->stream) != 0;
}

/* False: it did not fail. */
static bool read_reason(const struct job *job, cJSON *ends,
			struct reason *reason)
{
	struct reason first;

	if (!job->failure || job->failure == FAILURE_CANCELLED)
		return false;
	rank_ends_reason(job->gang, &first);
	if (read_evidence(job, ends, reason) && !follows(job, reason, &first))
		return true;
	*reason = first;
	if (job->failure == FAILURE_OOM)
		reason->class = CAUSE_HOST_OOM;
	else if (job->failure == FAILURE_EXIT && *reason->signal)
		reason->class = CAUSE_SIGNAL;
	return true;
}

/* The program itself reports that memory of a device or the host ran out. */
static void refine_failure(struct job *job, const struct reason *reason)
{
	if (job->failure == FAILURE_EXIT &&
	    (reason->class == CAUSE_DEVICE_OOM ||
	     reason->class == CAUSE_HOST_OOM))
		job->failure = FAILURE_OOM;
}

static void set_text(struct job *job, char *text)
{
	if (!text)
		return;
	free(job->text);
	job->text = text;
}

/* Continue the job's sentence with its reason, and a rank that exited early. */
static void extend_text(struct job *job, const struct reason *reason)
{
	char early[80], *text;

	set_text(job, job_reason_sentence(job->text, reason));
	if (job->failure == FAILURE_EXIT && job->text &&
	    rank_ends_early(job->gang, early, sizeof(early)) &&
	    asprintf(&text, "%s; %s", job->text, early) >= 0)
		set_text(job, text);
}

static double number_of(const cJSON *object, const char *name)
{
	return cJSON_GetNumberValue(
		cJSON_GetObjectItemCaseSensitive(object, name));
}

/* The figures for lists of jobs. */
static void keep_figures(struct gang *gang, const cJSON *result)
{
	double step = number_of(result, "steps");
	double rate = number_of(result, "tokens_per_second_per_device");

	gang->step = step > 0 ? (uint64_t)step : 0;
	gang->loss = number_of(cJSON_GetObjectItemCaseSensitive(result, "loss"),
			       "last");
	gang->rate = rate > 0 ? rate : 0;
}

int job_result_store(struct job *job, struct error *err)
{
	owned(buffer_clear) struct buffer text;
	struct provenance_shared shared;
	struct result_row row = { .job = job->id,
				  .sweep = job->sweep,
				  .attempt = job->attempt };
	cJSON *result = make_result(job, err);
	struct reason reason;
	cJSON *ends;
	bool failed;
	int rc;

	buffer_init(&text, STORE_TEXT_MAX);
	if (!result)
		return -1;
	check_measured(job, result);
	job->rate = repeats_rate(result);
	keep_figures(job->gang, result);
	ends = rank_ends_json(job->gang);
	failed = read_reason(job, ends, &reason);
	rc = write_all(job, result, failed ? &reason : NULL, ends, &text,
		       &shared, err);
	row.json = text.data;
	row.shared_from = shared.from;
	row.shared_to = shared.to;
	if (rc == 0)
		rc = store_put_result(job->jobs->store, &row, err);
	if (rc == 0 && failed) {
		refine_failure(job, &reason);
		extend_text(job, &reason);
	}
	cJSON_Delete(result);
	cJSON_Delete(ends);
	return rc;
}

/* Rows. */

static void add_text(cJSON *row, const char *name, const char *text)
{
	cJSON_AddItemToObject(row, name,
			      text ? cJSON_CreateString(text)
				   : cJSON_CreateNull());
}

static void move_item(cJSON *to, cJSON *from, const char *name)
{
	cJSON *item = cJSON_DetachItemFromObjectCaseSensitive(from, name);

	cJSON_AddItemToObject(to, name, item ? item : cJSON_CreateNull());
}

/* The setup of the job, for tables of results. */
static cJSON *make_setup(cJSON *spec)
{
	cJSON *setup = cJSON_DetachItemFromObjectCaseSensitive(spec, "measure");

	if (!setup)
		setup = cJSON_CreateObject();
	move_item(setup, spec, "vendor");
	move_item(setup, spec, "layout");
	move_item(setup, spec, "about");
	return setup;
}

static void add_spec(cJSON *row, const char *text)
{
	cJSON *spec = codec_parse(text, strlen(text), NULL);
	cJSON *nodes = cJSON_GetObjectItemCaseSensitive(spec, "nodes");
	cJSON *devices = cJSON_GetObjectItemCaseSensitive(spec, "devices");
	double per_node = cJSON_IsNumber(devices) ? devices->valuedouble : 1;

	move_item(row, spec, "cell");
	move_item(row, spec, "values");
	move_item(row, spec, "follows");
	cJSON_AddItemToObject(row, "setup", make_setup(spec));
	cJSON_AddNumberToObject(row, "nodes", cJSON_GetNumberValue(nodes));
	cJSON_AddNumberToObject(row, "devices",
				cJSON_GetNumberValue(nodes) * per_node);
	cJSON_Delete(spec);
}

cJSON *job_result_series(const char *stored)
{
	cJSON *all = codec_parse(stored, strlen(stored), NULL);
	cJSON *series = cJSON_DetachItemFromObjectCaseSensitive(all, "series");

	cJSON_Delete(all);
	return series ? series : cJSON_CreateNull();
}

cJSON *job_result_row(const struct job_row *job, const char *stored)
{
	cJSON *row = cJSON_CreateObject();
	cJSON *both = stored ? codec_parse(stored, strlen(stored), NULL) : NULL;
	cJSON *result = cJSON_DetachItemFromObjectCaseSensitive(both, "result");
	cJSON *provenance =
		cJSON_DetachItemFromObjectCaseSensitive(both, "provenance");
	const cJSON *devices =
		cJSON_GetObjectItemCaseSensitive(provenance, "devices");

	cJSON_AddNumberToObject(row, "job", (double)job->id);
	cJSON_AddNumberToObject(row, "repeat", job->repeat);
	add_spec(row, job->spec);
	/* The number of devices that it held, not of those requested. */
	if (cJSON_IsNumber(devices))
		cJSON_ReplaceItemInObjectCaseSensitive(row, "devices",
						       cJSON_Duplicate(devices,
								       true));
	add_text(row, "state", job_state_name(job->state));
	add_text(row, "failure", failure_name(job->failure));
	add_text(row, "text", job->text);
	cJSON_AddItemToObject(row, "result",
			      result ? result : cJSON_CreateNull());
	cJSON_AddItemToObject(row, "provenance",
			      provenance ? provenance : cJSON_CreateNull());
	move_item(row, both, "reason");
	cJSON_Delete(both);
	return row;
}
