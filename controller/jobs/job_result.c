/* job_result.c - the stored result of a job that has ended.
 */
#include "controller/jobs/job_result.h"
#include "controller/causes/failure_patterns.h"
#include "controller/cell/reference_peak.h"
#include "controller/cluster/active_job_internal.h"
#include "controller/jobs/blame.h"
#include "controller/jobs/core.h"
#include "controller/jobs/hang_evidence.h"
#include "controller/jobs/homogeneity.h"
#include "controller/jobs/job_reason.h"
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
#include "protocol/blob/packages.h"
#include "protocol/message/stream_index.h"

#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* How the ranks of a job ended, in order of time. */

#define RANK_ENDS_MAX 4096 /* entries; later ends are left out */

#define EARLY_MS 1000

#define REJECTED_BYTES 400 /* of the names of nodes */

/* An end, and its task. */
struct placed_end {
	const struct rank_end *end;
	const struct task *task;
	const char *node;
};

/* How many ranks the command of the task starts itself, as a launcher does:
 * they share its output, and it is the only process whose end is seen. 0: each
 * process is a rank.
 */
static uint32_t task_launches(const struct task *task)
{
	uint32_t devices = (uint32_t)__builtin_popcountll(task_devices(task));

	return !task->job->gang->spec.container.processes && devices > 1
		       ? devices
		       : 0;
}

static double end_rank(const struct placed_end *end)
{
	return task_launches(end->task) ? (double)NAN : end->end->rank;
}

static int by_time(const void *a, const void *b)
{
	const struct rank_end *one = ((const struct placed_end *)a)->end;
	const struct rank_end *other = ((const struct placed_end *)b)->end;

	if (one->ended_ms != other->ended_ms)
		return one->ended_ms < other->ended_ms ? -1 : 1;
	return (one->rank > other->rank) - (one->rank < other->rank);
}

/* The ends of the gang in order of time; NULL: there are none. */
static struct placed_end *ends_of(const struct gang *gang, size_t *count)
{
	struct placed_end *list;
	size_t all = 0;

	*count = 0;
	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		all += gang->tasks[i].ends_count;
	list = all ? calloc(all, sizeof(*list)) : NULL;
	if (!list)
		return NULL;
	for (uint32_t i = 0; i < gang->spec.nodes; i++) {
		const struct task *task = &gang->tasks[i];

		for (size_t e = 0; e < task->ends_count; e++)
			list[(*count)++] = (struct placed_end){
				&task->ends[e],
				task,
				task_node(task) ? node_name(task_node(task))
						: "",
			};
	}
	qsort(list, *count, sizeof(*list), by_time);
	return list;
}

/* Fill *to and its count, which were zero, first to last, by the nodes' clocks;
 * job_reason_read() completes them. None: nothing is known. The caller clears
 * them, also on failure.
 */
static int rank_ends_list(const struct gang *gang, struct end_info **to,
			  size_t *to_count, struct error *err)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);

	if (!list)
		return 0;
	if (count > RANK_ENDS_MAX)
		count = RANK_ENDS_MAX;
	*to = calloc(count, sizeof(**to));
	if (!*to)
		return error_nomem(err, "ends");
	for (size_t i = 0; i < count; i++) {
		const struct rank_end *end = list[i].end;
		struct end_info *info = &(*to)[(*to_count)++];

		*info = (struct end_info){ .rank = end_rank(&list[i]),
					   .task = list[i].task->rank,
					   .ended_ms = end->ended_ms,
					   .exit_code = end->exit_code,
					   .signal = end->signal,
					   .step = (double)NAN };
		if (string_set(&info->node, list[i].node, err) < 0)
			return -1;
	}
	return 0;
}

/* The node of the first task that failed, if no process ended. */
static const char *failed_node(const struct gang *gang)
{
	const struct node *avoided = blame_last(gang->job);

	for (uint32_t i = 0; i < gang->spec.nodes; i++)
		if (gang->tasks[i].failure && task_node(&gang->tasks[i]))
			return node_name(task_node(&gang->tasks[i]));
	return avoided ? node_name(avoided) : NULL;
}

/* The first rank that failed. False: none is known. */
static bool first_failure(const struct gang *gang, struct placed_end *found)
{
	size_t count, first = 0;
	owned_free struct placed_end *list = ends_of(gang, &count);

	while (first < count && !list[first].end->exit_code)
		first++;
	if (first >= count)
		return false;
	*found = list[first];
	return true;
}

/* A reason where the output has none: node, rank, exit_code and signal of the
 * first rank that failed, if known.
 */
static void rank_ends_reason(const struct gang *gang, struct reason *reason)
{
	const char *node = failed_node(gang);
	struct placed_end first;

	*reason = (struct reason){ .rank = REASON_UNKNOWN,
				   .task = REASON_UNKNOWN,
				   .exit_code = REASON_UNKNOWN,
				   .offset = REASON_UNKNOWN };
	if (first_failure(gang, &first)) {
		const struct rank_end *end = first.end;

		node = first.node;
		if (!task_launches(first.task))
			reason->rank = end->rank;
		reason->task = first.task->rank;
		reason->exit_code = end->exit_code;
		if (end->signal)
			snprintf(reason->signal, sizeof(reason->signal),
				 "SIG%s", sigabbrev_np((int)end->signal));
	}
	snprintf(reason->node, sizeof(reason->node), "%s", node ? node : "");
}

/* How long before the first failure a rank exited with 0; 0: none did. */
static uint64_t ahead_ms(const struct placed_end *list, size_t count)
{
	size_t failed = 0;

	while (failed < count && !list[failed].end->exit_code)
		failed++;
	if (!failed || failed >= count)
		return 0;
	return list[failed].end->ended_ms - list[0].end->ended_ms;
}

/* Did a rank end with 0 at least a second before the first failure, while
 * others ran on? text: "rank 1 exited first, with code 0, 12 s
 * earlier".
 */
static bool rank_ends_early(const struct gang *gang, char *text, size_t size)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);
	uint64_t ahead = ahead_ms(list, count);

	if (ahead < EARLY_MS)
		return false;
	snprintf(text, size,
		 "%s %u exited first, with code 0, %" PRIu64 " s earlier",
		 task_launches(list[0].task) ? "task" : "rank",
		 list[0].end->rank, ahead / 1000);
	return true;
}

/* In that case the others failed because this rank was missing: put it into the
 * reason.
 */
static void rank_ends_blame_early(const struct gang *gang,
				  struct reason *reason)
{
	size_t count;
	owned_free struct placed_end *list = ends_of(gang, &count);

	if (!ahead_ms(list, count))
		return;
	snprintf(reason->node, sizeof(reason->node), "%s", list[0].node);
	reason->task = list[0].task->rank;
	reason->rank = task_launches(list[0].task) ? REASON_UNKNOWN
						   : list[0].end->rank;
}

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

static void job_set_text(struct job *job, char *text)
{
	if (!text)
		return;
	free(job->text);
	job->text = text;
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

static double known_or_nan(int64_t number)
{
	return number == REASON_UNKNOWN ? (double)NAN : (double)number;
}

static const char *text_or_null(const char *text)
{
	return *text ? text : NULL;
}

static int describe_reason(const struct job *job, struct reason reason,
			   struct reason_info *to, struct error *err)
{
	/* The others failed because the rank that ended early was missing. */
	if (job->failure == FAILURE_EXIT && reason.class == CAUSE_COMMUNICATION)
		rank_ends_blame_early(job->gang, &reason);
	to->task = known_or_nan(reason.task);
	to->rank = known_or_nan(reason.rank);
	to->exit_code = known_or_nan(reason.exit_code);
	to->offset = known_or_nan(reason.offset);
	if (string_set(&to->node, text_or_null(reason.node), err) < 0 ||
	    string_set(&to->how, job->text ? job->text : "", err) < 0 ||
	    string_set(&to->class, causes_class_name(reason.class), err) < 0 ||
	    string_set(&to->signal, text_or_null(reason.signal), err) < 0 ||
	    string_set(&to->line, text_or_null(reason.line), err) < 0)
		return -1;
	return string_set(&to->stream, text_or_null(reason.stream), err);
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

/* The outputs of the processes, or the files that were followed. */
static void reason_add_streams(struct reason_job *to, const struct task *task,
			       bool files)
{
	for (size_t i = 0; i < task->streams_count; i++) {
		const char *name = task->streams[i].name;
		unsigned int rank = 0;
		char end;
		bool output = sscanf(name, "rank-%9u%c", &rank, &end) == 1;

		if (to->count == REASON_STREAMS_MAX)
			return;
		if (files ? !stream_index_belongs(task->rank, name) ||
				    stream_index_is_index(name) ||
				    !strcmp(name, PACKAGES_STREAM)
			  : !output)
			continue;
		to->streams[to->count++] = (struct reason_stream){
			.name = name,
			.node = task_node(task) ? node_name(task_node(task))
						: NULL,
			.task = task->rank,
			.whole = !task->job->gang->spec.container.processes,
			.launches = task_launches(task),
			.rank = output && !task_launches(task) ? rank
							       : REASON_UNKNOWN,
			.exit_code = task->exit_code,
		};
	}
}

/* Why the job failed, by what was observed or printed. */
static bool read_evidence(const struct job *job, struct stored_result *stored,
			  struct reason *reason)
{
	const struct extract *extract = log_reader_extract(job->gang);
	bool exited =
		job->failure == FAILURE_EXIT || job->failure == FAILURE_OOM;
	struct reason_job asked = {
		.effects = job->jobs->effects,
		.exited = exited,
		.id = job->id,
		.attempt = job->attempt,
		.rules = extract ? extract_rules_of(extract) : NULL,
	};
	const struct task *task = NULL;
	struct reason recorded;

	if (job->failure == FAILURE_HANG)
		return recorder_reason(job, reason) ||
		       evidence_reason(job, reason);
	/* A launcher may end with 0 and leave the errors of its ranks in a
	 * file.
	 */
	if (!job->jobs->failures ||
	    (!exited && job->failure != FAILURE_INCOMPLETE &&
	     job->failure != FAILURE_NO_METRIC))
		return false;
	while ((task = next_ended(job->gang, task)))
		reason_add_streams(&asked, task, false);
	while ((task = next_ended(job->gang, task)))
		reason_add_streams(&asked, task, true);
	if (!job_reason_read(job->jobs->failures, &asked, &stored->ends,
			     &stored->ends_count, reason))
		return false;
	/* A collective that timed out is reported by those that waited. */
	if (reason->class == CAUSE_COMMUNICATION &&
	    recorder_reason(job, &recorded)) {
		recorded.class = reason->class;
		*reason = recorded;
	}
	return true;
}

/* Does a signal end a process whatever it printed before? SIGABRT does not: a
 * program that aborts says why.
 */
static bool signal_ends(const char *signal)
{
	static const char *const names[] = { "SIGKILL", "SIGSEGV", "SIGBUS",
					     "SIGILL", "SIGFPE" };

	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (!strcmp(signal, names[i]))
			return true;
	return false;
}

/* Is the line not the cause? What the agent saw of the first end is certain;
 * and a rank may have printed it only because the first one that failed was
 * gone.
 */
static bool follows(const struct job *job, const struct reason *reason,
		    const struct reason *first)
{
	char name[32];

	if (job->failure == FAILURE_OOM)
		return reason->class != CAUSE_HOST_OOM;
	if (signal_ends(first->signal))
		return reason->class != CAUSE_SIGNAL &&
		       reason->class != CAUSE_HOST_OOM &&
		       reason->class != CAUSE_DEVICE_OOM &&
		       reason->class != CAUSE_HARDWARE;
	if (reason->class != CAUSE_COMMUNICATION || !*reason->stream ||
	    first->rank == REASON_UNKNOWN)
		return false;
	snprintf(name, sizeof(name), "rank-%" PRId64, first->rank);
	return strcmp(name, reason->stream) != 0;
}

/* False: it did not fail, or nothing tells. The ends of a job that hung are of
 * our making.
 */
static bool read_reason(const struct job *job, struct stored_result *stored,
			struct reason *reason)
{
	struct reason first;

	if (!job->failure || job->failure == FAILURE_CANCELLED ||
	    job->failure == FAILURE_ENOUGH)
		return false;
	if (job->failure == FAILURE_HANG)
		return read_evidence(job, stored, reason);
	rank_ends_reason(job->gang, &first);
	if (read_evidence(job, stored, reason) && !follows(job, reason, &first))
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

/* The sentence is of the task that was reported first. Where a rank of another
 * node failed before and the reason is of it, it is of that rank.
 */
static void tell_first_end(struct job *job, const struct reason *reason)
{
	struct placed_end first;
	char ended[160], *text;
	size_t size;

	if (job->failure != FAILURE_EXIT || reason->left ||
	    !first_failure(job->gang, &first) ||
	    first.task->rank != reason->task)
		return;
	size = strlen(first.node);
	if (job->text && !strncmp(job->text, first.node, size) &&
	    job->text[size] == ':')
		return;
	rank_end_sentence(first.end,
			  task_launches(first.task) ? "task" : "rank", ended,
			  sizeof(ended));
	if (asprintf(&text, "%s: %s", first.node, ended) >= 0)
		job_set_text(job, text);
}

/* Continue the job's sentence with its reason, and a rank that exited early. */
static void extend_text(struct job *job, const struct reason *reason)
{
	char early[80], *text;

	tell_first_end(job, reason);
	job_set_text(job, job_reason_sentence(job->text, reason));
	if (job->failure == FAILURE_EXIT && job->text &&
	    rank_ends_early(job->gang, early, sizeof(early)) &&
	    asprintf(&text, "%s; %s", job->text, early) >= 0)
		job_set_text(job, text);
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

static void stored_clear(struct stored_result *stored)
{
	codec_clear(&stored_result_schema, stored);
}
OWNED_VALUE(struct stored_result, stored_clear)

/* All of it but the reason. *to was zero; the caller clears it. */
static int make_stored(struct job *job, struct stored_result *to, char **shared,
		       struct error *err)
{
	owned_free const struct usage **list =
		samplings_list(log_reader_samplings(job->gang), err);

	to->result = calloc(1, sizeof(*to->result));
	to->provenance = calloc(1, sizeof(*to->provenance));
	if (!list || !to->result || !to->provenance)
		return error_nomem(err, "result");
	if (make_result(job, list, to->result, err) < 0 ||
	    provenance_fill(job, to->provenance, shared, err) < 0 ||
	    rank_ends_list(job->gang, &to->ends, &to->ends_count, err) < 0)
		return -1;
	to->series = make_series(job, list, err);
	return to->series ? 0 : -1;
}

static int add_reason(const struct job *job, const struct reason *reason,
		      struct stored_result *to, struct error *err)
{
	to->reason = calloc(1, sizeof(*to->reason));
	return to->reason ? describe_reason(job, *reason, to->reason, err)
			  : error_nomem(err, "reason");
}

/* Write it; what `shared` says is stored once for all jobs of a sweep. */
static int store_it(const struct job *job, const struct stored_result *stored,
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

int job_result_store(struct job *job, struct error *err)
{
	owned(stored_clear) struct stored_result stored = { 0 };
	owned_free char *shared = NULL;
	struct reason reason;
	bool failed;

	if (make_stored(job, &stored, &shared, err) < 0)
		return -1;
	check_measured(job, stored.result);
	keep_figures(job, stored.result);
	failed = read_reason(job, &stored, &reason);
	if ((failed && add_reason(job, &reason, &stored, err) < 0) ||
	    store_it(job, &stored, shared, err) < 0)
		return -1;
	if (failed) {
		refine_failure(job, &reason);
		extend_text(job, &reason);
	}
	return 0;
}
