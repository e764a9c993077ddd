/* reply_jobs.c - replies about jobs and their results.
 */
#include "protocol/message/reply_jobs.h"

#include "protocol/message/rate.h"

/* clang-format off */
static const struct schema progress_schema = SCHEMA(progress_info,
	IMAGE_PROGRESS_FIELDS(progress_info, image., true),
	FIELD_OPTIONAL(progress_info, nodes_done),
	FIELD_OPTIONAL(progress_info, step),
	FIELD_OPTIONAL(progress_info, steps),
	FIELD_OPTIONAL(progress_info, step_age),
	FIELD_OPTIONAL(progress_info, suspected),
	FIELD_KNOWN(progress_info, loss),
	FIELD_KNOWN(progress_info, power_w),
	FIELD_KNOWN(progress_info, temp_c),
	FIELD_KNOWN(progress_info, gain),
	FIELD_OPTIONAL(progress_info, gain_runs),
	FIELD_MAYBE(progress_info, straggler, straggler_schema),
	FIELD_OPTIONAL(progress_info, found));

const struct schema job_origin_schema = SCHEMA(job_origin,
	FIELD(job_origin, job),
	FIELD(job_origin, sweep));

const struct schema task_info_schema = SCHEMA(task_info,
	FIELD(task_info, rank),
	FIELD(task_info, node),
	FIELD(task_info, state),
	FIELD_NULLABLE(task_info, failure),
	FIELD_NULLABLE(task_info, text),
	FIELD(task_info, exit_code),
	FIELD_MAYBE(task_info, transfer, image_progress_schema));

const struct schema event_info_schema = SCHEMA(event_info,
	FIELD(event_info, seq),
	FIELD(event_info, job),
	FIELD(event_info, attempt),
	FIELD(event_info, time_ms),
	FIELD(event_info, kind),
	FIELD_NULLABLE(event_info, data));

const struct schema stream_info_schema = SCHEMA(stream_info,
	FIELD(stream_info, stream),
	FIELD(stream_info, bytes),
	FIELD_OPTIONAL(stream_info, rank),
	FIELD_OPTIONAL(stream_info, path),
	FIELD_OPTIONAL(stream_info, part));

static const struct schema holder_info_schema = SCHEMA(holder_info,
	FIELD(holder_info, job),
	FIELD(holder_info, sweep),
	FIELD_NULLABLE(holder_info, cell),
	FIELD(holder_info, owner),
	FIELD(holder_info, nodes),
	FIELD_KNOWN(holder_info, rest_ms));

static const struct schema queue_info_schema = SCHEMA(queue_info,
	FIELD(queue_info, place),
	FIELD(queue_info, length),
	FIELD_KNOWN(queue_info, start_ms),
	FIELD_MANY(queue_info, holders, holder_info_schema),
	FIELD_OPTIONAL(queue_info, more));

#define IN_LISTS                                                               \
	FIELD(job_info, job),                                                  \
	FIELD(job_info, sweep),                                                \
	FIELD_OPTIONAL(job_info, cell),                                        \
	FIELD(job_info, repeat),                                               \
	FIELD(job_info, state),                                                \
	FIELD(job_info, attempt),                                              \
	FIELD_NULLABLE(job_info, failure),                                     \
	FIELD_NULLABLE(job_info, text),                                        \
	FIELD(job_info, nodes),                                                \
	FIELD(job_info, devices),                                              \
	FIELD_OPTIONAL(job_info, vendor),                                      \
	FIELD(job_info, allocation),                                           \
	FIELD(job_info, queued_ms),                                            \
	FIELD(job_info, started_ms),                                           \
	FIELD(job_info, ended_ms),                                             \
	FIELD(job_info, removed),                                              \
	FIELD_MAYBE(job_info, progress, progress_schema),                      \
	FIELD_NULLABLE(job_info, waits),                                       \
	FIELD_OPTIONAL(job_info, late),                                        \
	FIELD_MAYBE(job_info, from, job_origin_schema),                        \
	FIELD_OPTIONAL(job_info, step),                                        \
	FIELD_KNOWN(job_info, loss),                                           \
	FIELD_KNOWN(job_info, rate),                                           \
	FIELD_RATE_UNIT(job_info, rate_unit),                                  \
	FIELD_OPTIONAL(job_info, suspect)

const struct schema job_info_schema = SCHEMA(job_info, IN_LISTS);

static const struct schema job_details_schema = SCHEMA_NAMED(job_info, "job_details",
	IN_LISTS,
	FIELD_NULLABLE(job_info, spec),
	FIELD_ROWS(job_info, tasks, task_info_schema),
	FIELD_ROWS(job_info, events, event_info_schema),
	FIELD_ROWS(job_info, streams, stream_info_schema),
	FIELD_MAYBE(job_info, result, result_schema),
	FIELD_MAYBE(job_info, provenance, provenance_schema),
	FIELD_MAYBE(job_info, reason, reason_info_schema),
	FIELD_SOME(job_info, ends, end_info_schema),
	FIELD_(job_info, queue, FIELD_POINTER, .schema = &queue_info_schema,
	       .optional = true));

const struct schema reply_jobs_schema = SCHEMA(reply_jobs,
	FIELD(reply_jobs, since),
	FIELD(reply_jobs, final),
	FIELD_OPTIONAL(reply_jobs, race),
	FIELD_OPTIONAL(reply_jobs, paused),
	FIELD_OPTIONAL(reply_jobs, probation),
	FIELD_ROWS(reply_jobs, jobs, job_info_schema),
	FIELD(reply_jobs, more));

const struct schema reply_job_schema = SCHEMA(reply_job,
	FIELD(reply_job, since),
	FIELD_EMBED(reply_job, job, job_details_schema));

const struct schema reply_events_schema = SCHEMA(reply_events,
	FIELD(reply_events, since),
	FIELD_ROWS(reply_events, events, event_info_schema),
	FIELD(reply_events, more));

const struct schema cell_history_schema = SCHEMA(cell_history,
	FIELD(cell_history, run),
	FIELD(cell_history, runs),
	FIELD(cell_history, best),
	FIELD(cell_history, median),
	FIELD(cell_history, worst));

const struct schema published_info_schema = SCHEMA(published_info,
	FIELD(published_info, rate),
	FIELD_KNOWN(published_info, percent),
	FIELD_NULLABLE(published_info, differs),
	FIELD(published_info, source),
	FIELD_NULLABLE(published_info, recipe));

const struct schema result_info_schema =
	SCHEMA(result_info, RESULT_INFO_FIELDS);

const struct schema reply_results_schema = SCHEMA(reply_results,
	FIELD(reply_results, since),
	FIELD_EMBED(reply_results, sweep, sweep_info_schema),
	FIELD_ROWS(reply_results, rows, result_info_schema),
	FIELD(reply_results, more));

const struct schema series_info_schema = SCHEMA(series_info,
	FIELD(series_info, job),
	FIELD_NULLABLE(series_info, series));

const struct schema reply_series_schema = SCHEMA(reply_series,
	FIELD(reply_series, since),
	FIELD_ROWS(reply_series, rows, series_info_schema),
	FIELD(reply_series, more));

const struct schema reply_stacks_schema = SCHEMA(reply_stacks,
	FIELD(reply_stacks, since),
	FIELD(reply_stacks, attempt),
	FIELD(reply_stacks, round));

const struct schema reply_note_schema = SCHEMA(reply_note,
	FIELD(reply_note, since));
/* clang-format on */
