/* reply_jobs.h - replies about jobs and their results.
 *
 * Times are milliseconds of the controller's wall clock, 0: not yet.
 */
#pragma once

#include "protocol/message/image_info.h"
#include "protocol/message/reply_sweeps.h"
#include "protocol/message/result.h"

/* The progress of a job: the sum over its nodes while it is being prepared, and
 * the last step in its output.
 */
struct progress_info {
	struct image_progress image; /* phase: of the node that has most left;
					NULL: no transfer */
	uint32_t nodes_done;         /* nodes that are prepared */
	uint64_t step;
	uint64_t steps;
	uint64_t step_age; /* seconds since the last step, if many; else 0 */
	bool suspected;    /* of a hang */
	double loss;       /* NAN: not read */
	double power_w;    /* of all its devices, as read last; NAN: not read */
	double temp_c;     /* of the hottest one */
	double gain; /* by which its last steps are faster than the last runs
			of its cell, a share; NAN: not known */
	uint32_t gain_runs;          /* that there were */
	struct straggler *straggler; /* of the later half so far; NULL: none */
	char *found; /* who is waited for, by what nodes observed of its ranks
			when it was suspected or slow; NULL: nobody */
};

/* The job whose result was taken over. */
struct job_origin {
	uint64_t job;
	uint64_t sweep;
};
extern const struct schema job_origin_schema;

struct task_info {
	uint32_t rank; /* of the node in the job */
	char *node;
	char *state;   /* task_state_name() */
	char *failure; /* failure_name(), NULL: none */
	char *text;
	int64_t exit_code;
	struct image_progress *transfer; /* NULL: nothing moves */
};
extern const struct schema task_info_schema;

struct event_info {
	uint64_t seq;
	uint64_t job;
	int64_t time_ms;
	uint32_t attempt;
	char *kind;
	cJSON *data; /* an object by the kind, or NULL */
};
extern const struct schema event_info_schema;

/* A stream of a job's output: of a rank, or of a file that it wrote (with rank,
 * path and part).
 */
struct stream_info {
	char *stream;
	uint64_t bytes;
	uint32_t rank;
	char *path;
	uint32_t part; /* 1 ..; one more each time the file was replaced */
};
extern const struct schema stream_info_schema;

/* A job that holds nodes which would suit a queued one. */
struct holder_info {
	uint64_t job;
	uint64_t sweep;
	char *cell;
	char *owner; /* who submitted it */
	struct strings nodes;
	double rest_ms; /* that it will probably still take; NAN: not known */
};

/* A queued job that waits for its turn. */
#define QUEUE_HOLDERS_MAX 32
struct queue_info {
	uint64_t place; /* 1: the first */
	uint64_t length;
	double start_ms; /* until it will probably start; NAN: not known */
	struct holder_info *holders;
	size_t holders_count;
	bool more; /* holders are left out */
};

/* The reply `job` has all fields, `jobs` only those above spec. */
struct job_info {
	uint64_t job;
	uint64_t sweep;
	char *cell;
	uint32_t repeat; /* 0 .. */
	char *state;     /* job_state_name() */
	uint32_t attempt;
	char *failure; /* failure_name(), NULL: none */
	char *text;    /* why it failed */
	uint32_t nodes;
	uint32_t devices; /* that it holds; before its allocation: per node */
	char *vendor;
	struct strings allocation; /* names of nodes, by rank */
	int64_t queued_ms;
	int64_t started_ms;
	int64_t ended_ms;
	bool removed;                   /* nothing of it is left on any node */
	struct progress_info *progress; /* NULL: it does not run */
	char *waits; /* why a queued job cannot start yet, or that the engine of
			its node is away; NULL: neither */
	bool late;   /* its nodes leave before it would end */
	struct job_origin *from;
	uint64_t step; /* of a job that ended: the last one; 0: none */
	double loss;   /* of that step; NAN: not known */
	double rate;   /* of that step, later of the result (rate.h); NAN */
	uint32_t rate_unit;
	bool suspect; /* the result has flags */

	cJSON *spec; /* job_spec_schema */
	struct task_info *tasks;
	size_t tasks_count;
	struct event_info *events;
	size_t events_count;
	struct stream_info *streams;
	size_t streams_count;
	struct result *result; /* NULL: none */
	struct provenance *provenance;
	struct reason_info *reason; /* NULL: none */
	struct end_info *ends;      /* none: not known */
	size_t ends_count;
	struct queue_info *queue; /* NULL: it does not wait for its turn */
};
extern const struct schema job_info_schema; /* in lists */

struct reply_jobs {
	uint64_t since;
	bool final;          /* of a sweep, as in sweep_info */
	char *race, *paused; /* the same */
	char *probation;     /* names of nodes on probation; NULL: none */
	struct job_info *jobs;
	size_t jobs_count;
	bool more; /* ask again: after the last one, or, when the query had
		      `since`, with this `since` */
};

struct reply_job {
	uint64_t since;
	struct job_info job;
};

struct reply_events {
	uint64_t since;
	struct event_info *events; /* by seq */
	size_t events_count;
	bool more;
};

/* A run among all completed runs of its cell in the store; the newest
 * CELL_RUNS_MAX count.
 */
#define CELL_RUNS_MAX 100
struct cell_history {
	uint64_t run; /* by number of the job, from 1 */
	uint64_t runs;
	double best, median, worst; /* rates in the unit of this run */
};

/* The published figure that is nearest to a result. */
struct published_info {
	double rate;    /* in the unit of the result */
	double percent; /* of it that the result has; NAN: it is not comparable
			 */
	char *differs;  /* "devices 8, not 16"; NULL: nothing */
	char *source;
	char *recipe; /* NULL: not told */
};

/* A row of a report (controller/report/report.h). */
struct result_info {
	uint64_t job;
	uint32_t repeat;
	char *cell;
	cJSON *values; /* of the sweep's matrix, NULL: none */
	char *follows; /* labels of the cells that it runs after */
	struct setup *setup;
	uint32_t nodes;
	uint32_t devices; /* of all nodes */
	char *state;
	char *failure;
	char *text;
	struct result *result; /* NULL: none */
	struct provenance *provenance;
	struct reason_info *reason;
	struct job_origin *from;
	struct race_spec *race; /* NULL: its cell does not race */
	char *seed; /* that its command or environment sets; NULL: none */
	struct cell_history *store;       /* NULL: it has no rate */
	struct published_info *published; /* NULL: there is none */
};
extern const struct schema result_info_schema;
extern const struct schema cell_history_schema, published_info_schema;
/* clang-format off */
/* Its fields, also for a struct that begins with it. */
#define RESULT_INFO_FIELDS                                                     \
	FIELD(result_info, job),                                               \
	FIELD(result_info, repeat),                                            \
	FIELD_NULLABLE(result_info, cell),                                     \
	FIELD_NULLABLE(result_info, values),                                   \
	FIELD_NULLABLE(result_info, follows),                                  \
	FIELD_MAYBE(result_info, setup, setup_schema),                         \
	FIELD(result_info, nodes),                                             \
	FIELD(result_info, devices),                                           \
	FIELD(result_info, state),                                             \
	FIELD_NULLABLE(result_info, failure),                                  \
	FIELD_NULLABLE(result_info, text),                                     \
	FIELD_MAYBE(result_info, result, result_schema),                       \
	FIELD_MAYBE(result_info, provenance, provenance_schema),               \
	FIELD_MAYBE(result_info, reason, reason_info_schema),                  \
	FIELD_MAYBE(result_info, from, job_origin_schema),                     \
	FIELD_(result_info, race, FIELD_POINTER, .schema = &race_spec_schema,  \
	       .optional = true),                                              \
	FIELD_OPTIONAL(result_info, seed),                                     \
	FIELD_(result_info, store, FIELD_POINTER, .schema = &cell_history_schema, \
	       .optional = true),                                              \
	FIELD_(result_info, published, FIELD_POINTER,                          \
	       .schema = &published_info_schema, .optional = true)
/* clang-format on */

struct reply_results {
	uint64_t since;
	struct sweep_info sweep;
	struct result_info *rows; /* by job */
	size_t rows_count;
	bool more;
};

/* The curves of a job that has ended. */
struct series_info {
	uint64_t job;
	cJSON *series; /* controller/results/series.h; NULL: none */
};
extern const struct schema series_info_schema;

struct reply_series {
	uint64_t since;
	struct series_info *rows;
	size_t rows_count;
	bool more;
};

struct reply_note {
	uint64_t since;
};

struct reply_stacks {
	uint64_t since;
	uint32_t attempt;
	uint64_t round; /* of evidence, on all nodes */
};

extern const struct schema reply_jobs_schema, reply_job_schema,
	reply_events_schema, reply_results_schema, reply_series_schema,
	reply_stacks_schema, reply_note_schema;
