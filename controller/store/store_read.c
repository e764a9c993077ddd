/* store_read.c - the store's reads: committed rows to callbacks.
 */
#include "controller/store/store.h"

#include "controller/store/database.h"
#include "controller/store/store_internal.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* clang-format off */
/* Rows of version 1 lack these columns: use their spec or result. */
#define OF_SPEC(column)                                                        \
	" iif(cell IS NULL, json_extract(spec, '$." #column "'), " #column ")"
#define OF_RESULT(column, path)                                                \
	" iif(step IS NULL, (SELECT json_extract(json, '$.result." path "')"   \
	" FROM results WHERE results.job = coalesce(origin, jobs.id)), "       \
	#column ")"

#define JOB_COLUMNS                                                            \
	"SELECT jobs.id, jobs.sweep, cell_index, key, repeat, priority, spec," \
	" state, attempt, failure, states.text, queued_ms, started_ms,"        \
	" ended_ms, allocation, origin, first_attempt,"                        \
	OF_SPEC(cell) "," OF_SPEC(vendor) ","                                  \
	OF_SPEC(nodes) "," OF_SPEC(devices) ","                                \
	OF_RESULT(step, "steps") "," OF_RESULT(loss, "loss.last") ","          \
	OF_RESULT(rate, "tokens_per_second_per_device") ", rate_unit, suspect FROM "
/* clang-format on */

/* CROSS JOIN fixes the order of the tables: the first one is walked. */
static const char *const queries[READS] = {
	[READ_SWEEPS] = "SELECT * FROM sweeps WHERE id > ?1"
			" ORDER BY id LIMIT ?2",
	[READ_SWEEP] = "SELECT * FROM sweeps WHERE id = ?1",
	[READ_LAST_SWEEP] = "SELECT * FROM sweeps ORDER BY id DESC LIMIT 1",
	[READ_ACTIVE] = JOB_COLUMNS
	"active CROSS JOIN jobs ON id = active.job"
	" CROSS JOIN states ON states.job = active.job ORDER BY active.job",
	[READ_JOBS] = JOB_COLUMNS
	"jobs CROSS JOIN states ON id = job"
	" WHERE jobs.sweep = ?3 AND id > ?1 ORDER BY id LIMIT ?2",
	[READ_CELL] = JOB_COLUMNS
	"jobs INDEXED BY jobs_cell CROSS JOIN states ON id = job"
	" WHERE jobs.sweep = ?3 AND cell_index = ?1 ORDER BY id",
	[READ_ALL_JOBS] = JOB_COLUMNS "jobs CROSS JOIN states ON id = job"
				      " WHERE id > ?1 ORDER BY id LIMIT ?2",
	[READ_JOB] = JOB_COLUMNS "jobs CROSS JOIN states ON id = job"
				 " WHERE id = ?1",
	[READ_RUNS] = JOB_COLUMNS "runs CROSS JOIN jobs ON jobs.id = runs.job"
				  " CROSS JOIN states ON states.job = runs.job"
				  " CROSS JOIN sweeps ON sweeps.id = jobs.sweep"
				  " WHERE digits = substr(?4, 1, " RUN_DIGITS
				  ") AND key = ?4"
				  " AND (?5 IS NULL OR name = ?5)"
				  " ORDER BY runs.job DESC LIMIT ?2",
	/* In a sweep of a million jobs the first thousand are enough. */
	[READ_SWEEP_RUNS] = JOB_COLUMNS
	"jobs CROSS JOIN states ON id = job"
	" WHERE jobs.sweep = ?3 AND id > ?1 AND state = 'completed'"
	" AND id < (SELECT min(id) FROM jobs WHERE sweep = ?3) + 1000"
	" ORDER BY id LIMIT ?2",
	/* Of the newest jobs: most of a long queue have not run. */
	[READ_LAST_RUNS] =
		JOB_COLUMNS "jobs CROSS JOIN states ON id = job"
			    " WHERE id > (SELECT max(id) FROM jobs) - 5000"
			    " AND state = 'completed' AND origin IS NULL"
			    " ORDER BY id DESC LIMIT ?2",
	[READ_EVENTS] = "SELECT * FROM events WHERE job = ?3 AND seq > ?1"
			" ORDER BY seq LIMIT ?2",
	[READ_ALL_EVENTS] = "SELECT * FROM events WHERE seq > ?1"
			    " ORDER BY seq LIMIT ?2",
	[READ_RESULT] = "SELECT ?1, attempt, json, shared_at, shared.text"
			" FROM results LEFT JOIN shared"
			" ON shared.sweep = (SELECT sweep FROM jobs"
			" WHERE id = results.job) AND digits = results.shared"
			" WHERE job ="
			" coalesce((SELECT origin FROM jobs WHERE id = ?1),"
			" ?1)",
	[READ_NODES] = "SELECT * FROM nodes ORDER BY name",
	[READ_KEYS] = "SELECT * FROM keys ORDER BY since_ms, public",
	[READ_AUDIT] = "SELECT * FROM audit WHERE seq > ?1"
		       " ORDER BY seq LIMIT ?2",
	[READ_PINS] = "SELECT * FROM pins WHERE sweep = ?1 ORDER BY image",
	[READ_LOGINS] = "SELECT * FROM logins WHERE sweep = ?1"
			" ORDER BY registry",
	[READ_ALL_LOGINS] = "SELECT * FROM logins WHERE sealed IS NOT NULL"
			    " ORDER BY sweep, registry",
	[READ_COUNTS] = "SELECT state, n FROM counts WHERE sweep = ?1",
	[READ_OUTPUTS] = "SELECT job, attempt, stream, bytes FROM outputs"
			 " WHERE job IN (SELECT id FROM jobs) ORDER BY seq",
};

/* One read: the function for each row, and its parameters. */
struct visit {
	union {
		store_sweep_fn *sweep;
		store_job_fn *job;
		store_event_fn *event;
		store_result_fn *result;
		store_node_fn *node;
		store_key_fn *key;
		store_audit_fn *audit;
		store_pin_fn *pin;
		store_login_fn *login;
		store_output_fn *output;
	} fn;
	void *arg;
	uint64_t rows;
	const char *key;  /* ?4 */
	const char *name; /* ?5 */
};

typedef int row_fn(sqlite3_stmt *statement, const struct visit *visit,
		   struct error *err);

static uint64_t column_u64(sqlite3_stmt *statement, int column)
{
	return (uint64_t)sqlite3_column_int64(statement, column);
}

static uint32_t column_u32(sqlite3_stmt *statement, int column)
{
	return (uint32_t)sqlite3_column_int64(statement, column);
}

static const char *row_column_text(sqlite3_stmt *statement, int column)
{
	return (const char *)sqlite3_column_text(statement, column);
}

/* NULL, or a text such as "nan" from a result: not a number. */
static double column_real(sqlite3_stmt *statement, int column)
{
	int type = sqlite3_column_type(statement, column);

	return type == SQLITE_FLOAT || type == SQLITE_INTEGER
		       ? sqlite3_column_double(statement, column)
		       : (double)NAN;
}

static int sweep_row_visit(sqlite3_stmt *statement, const struct visit *visit,
			   struct error *err)
{
	const struct sweep_row row = {
		.id = column_u64(statement, 0),
		.name = row_column_text(statement, 1),
		.text = row_column_text(statement, 2),
		.client = row_column_text(statement, 3),
		.submitted_ms = sqlite3_column_int64(statement, 4),
		.paused = row_column_text(statement, 5),
	};

	if (!row.name || !row.text || !row.client)
		return error_nomem(err, "store");
	return visit->fn.sweep(&row, visit->arg);
}

/* A rate and its unit. Before there was a column for that, it was in tokens. */
static struct rate column_rate(sqlite3_stmt *statement, int column)
{
	double value = sqlite3_column_double(statement, column);
	uint32_t unit = column_u32(statement, column + 1);

	if (!(value > 0) || unit >= RATE_UNITS)
		return rate_of(0, 0, 0, 0);
	return (struct rate){ value, unit ? unit : RATE_TOKENS };
}

static int job_row_visit(sqlite3_stmt *statement, const struct visit *visit,
			 struct error *err)
{
	const char *failure = row_column_text(statement, 9);
	const struct job_row row = {
		.id = column_u64(statement, 0),
		.sweep = column_u64(statement, 1),
		.cell_index = column_u64(statement, 2),
		.key = row_column_text(statement, 3),
		.repeat = column_u32(statement, 4),
		.priority = sqlite3_column_int64(statement, 5),
		.spec = row_column_text(statement, 6),
		.state = job_state_from(row_column_text(statement, 7)),
		.attempt = column_u32(statement, 8),
		.failure = failure_from(failure),
		.text = row_column_text(statement, 10),
		.queued_ms = sqlite3_column_int64(statement, 11),
		.started_ms = sqlite3_column_int64(statement, 12),
		.ended_ms = sqlite3_column_int64(statement, 13),
		.allocation = row_column_text(statement, 14),
		.origin = column_u64(statement, 15),
		.first_attempt = column_u32(statement, 16),
		.cell = row_column_text(statement, 17),
		.vendor = row_column_text(statement, 18),
		.nodes = column_u32(statement, 19),
		.devices = column_u32(statement, 20),
		.step = column_u64(statement, 21),
		.loss = column_real(statement, 22),
		.rate = column_rate(statement, 23),
		.suspect = sqlite3_column_int(statement, 25),
	};

	if (!row.key || !row.spec)
		return error_nomem(err, "store");
	if (row.state == JOB_NONE || (failure && row.failure == FAILURE_NONE))
		return error_set(err, EPROTO,
				 "store: job %llu has an unknown state or "
				 "failure",
				 (unsigned long long)row.id);
	return visit->fn.job(&row, visit->arg);
}

static int event_row(sqlite3_stmt *statement, const struct visit *visit,
		     struct error *err)
{
	const struct event_row row = {
		.seq = column_u64(statement, 0),
		.job = column_u64(statement, 1),
		.attempt = column_u32(statement, 2),
		.time_ms = sqlite3_column_int64(statement, 3),
		.kind = row_column_text(statement, 4),
		.data = row_column_text(statement, 5),
	};

	if (!row.kind)
		return error_nomem(err, "store");
	return visit->fn.event(&row, visit->arg);
}

static char *put_together(const char *json, size_t at, const char *shared)
{
	char *whole = NULL;

	if (at > strlen(json))
		return strdup(json);
	return asprintf(&whole, "%.*s%s%s", (int)at, json, shared, json + at) <
			       0
		       ? NULL
		       : whole;
}

static int result_row(sqlite3_stmt *statement, const struct visit *visit,
		      struct error *err)
{
	const char *shared = row_column_text(statement, 4);
	owned_free char *whole = NULL;
	struct result_row row = {
		.job = column_u64(statement, 0),
		.attempt = column_u32(statement, 1),
		.json = row_column_text(statement, 2),
	};

	if (row.json && shared) {
		whole = put_together(row.json, column_u64(statement, 3),
				     shared);
		row.json = whole;
	}
	if (!row.json)
		return error_nomem(err, "store");
	return visit->fn.result(&row, visit->arg);
}

static int node_row_visit(sqlite3_stmt *statement, const struct visit *visit,
			  struct error *err)
{
	const struct node_row row = {
		.name = row_column_text(statement, 0),
		.drained = sqlite3_column_int(statement, 1),
		.facts = row_column_text(statement, 2),
		.seen_ms = sqlite3_column_int64(statement, 3),
		.settings = row_column_text(statement, 4),
	};

	if (!row.name)
		return error_nomem(err, "store");
	return visit->fn.node(&row, visit->arg);
}

static int key_row(sqlite3_stmt *statement, const struct visit *visit,
		   struct error *err)
{
	const struct key_row row = {
		.public = row_column_text(statement, 0),
		.name = row_column_text(statement, 1),
		.role = row_column_text(statement, 2),
		.machine = row_column_text(statement, 3),
		.grants = row_column_text(statement, 4),
		.for_name = row_column_text(statement, 5),
		.uses = column_u32(statement, 6),
		.renew = sqlite3_column_int(statement, 7),
		.until_ms = sqlite3_column_int64(statement, 8),
		.by = row_column_text(statement, 9),
		.since_ms = sqlite3_column_int64(statement, 10),
		.revoked_ms = sqlite3_column_int64(statement, 11),
		.network = row_column_text(statement, 12),
	};

	if (!row.public || !row.name || !row.role || !row.by)
		return error_nomem(err, "store");
	return visit->fn.key(&row, visit->arg);
}

static int audit_row_visit(sqlite3_stmt *statement, const struct visit *visit,
			   struct error *err)
{
	const struct audit_row row = {
		.seq = column_u64(statement, 0),
		.time_ms = sqlite3_column_int64(statement, 1),
		.who = row_column_text(statement, 2),
		.role = row_column_text(statement, 3),
		.address = row_column_text(statement, 4),
		.act = row_column_text(statement, 5),
		.request = row_column_text(statement, 6),
		.refusal = row_column_text(statement, 7),
		.chain = row_column_text(statement, 8),
	};

	if (!row.who || !row.role || !row.address || !row.act || !row.request)
		return error_nomem(err, "store");
	return visit->fn.audit(&row, visit->arg);
}

/* Ids are below 2^63: a larger cursor is behind the last row. */
static sqlite3_int64 cursor(uint64_t id)
{
	return id > INT64_MAX ? INT64_MAX : (sqlite3_int64)id;
}

static int query_walk_rows(struct store *store, sqlite3_stmt *statement,
			   row_fn *row, struct visit *visit, struct error *err)
{
	for (;;) {
		int rc = sqlite3_step(statement);

		if (rc == SQLITE_DONE)
			return 0;
		if (rc != SQLITE_ROW)
			return database_error(store->database, err, "store");
		visit->rows++;
		rc = row(statement, visit, err);
		if (rc)
			return rc;
	}
}

/* Run a query, whose parameters are always ?1 the cursor or the id, ?2 the
 * limit, ?3 the parent, ?4 and ?5 the texts of the visit. A statement is taken
 * out of its place while it is in use, so a callback may start the same read
 * again.
 */
static int read_rows(struct store *store, enum read_kind query, row_fn *row,
		     const sqlite3_int64 parameters[3], struct visit *visit,
		     struct error *err)
{
	sqlite3_stmt *statement = take(store->queries[query]);
	int rc;

	if (!statement)
		statement =
			database_prepare(store->database, queries[query], err);
	if (!statement)
		return -1;
	for (int i = 0; i < 3 && i < sqlite3_bind_parameter_count(statement);
	     i++)
		sqlite3_bind_int64(statement, i + 1, parameters[i]);
	if (visit->key) {
		sqlite3_bind_text(statement, 4, visit->key, -1, SQLITE_STATIC);
		sqlite3_bind_text(statement, 5, visit->name, -1, SQLITE_STATIC);
	}
	rc = query_walk_rows(store, statement, row, visit, err);
	sqlite3_reset(statement);
	sqlite3_clear_bindings(statement);
	if (store->queries[query])
		sqlite3_finalize(statement);
	else
		store->queries[query] = statement;
	return rc;
}

static int query_read_list(struct store *store, enum read_kind query,
			   row_fn *row, uint64_t parent, uint64_t after,
			   uint32_t limit, struct visit *visit,
			   struct error *err)
{
	const sqlite3_int64 parameters[3] = { cursor(after),
					      limit ? (sqlite3_int64)limit : -1,
					      cursor(parent) };

	return read_rows(store, query, row, parameters, visit, err);
}

static int query_read_one(struct store *store, enum read_kind query,
			  row_fn *row, uint64_t id, struct visit *visit,
			  struct error *err)
{
	const sqlite3_int64 parameters[3] = { cursor(id) };
	int rc = read_rows(store, query, row, parameters, visit, err);

	if (rc || visit->rows)
		return rc;
	return error_set(err, ENOENT, "no %s %llu%s",
			 query == READ_SWEEP ? "sweep"
			 : query == READ_JOB ? "job"
					     : "result of job",
			 (unsigned long long)id,
			 query == READ_SWEEP ? "; regatta sweeps lists them"
			 : query == READ_JOB ? "; regatta jobs --all lists them"
					     : "");
}

int store_sweeps(struct store *store, uint64_t after, uint32_t limit,
		 store_sweep_fn *fn, void *arg, struct error *err)
{
	struct visit visit = { .fn.sweep = fn, .arg = arg };

	return query_read_list(store, READ_SWEEPS, sweep_row_visit, 0, after,
			       limit, &visit, err);
}

int store_sweep(struct store *store, uint64_t id, store_sweep_fn *fn, void *arg,
		struct error *err)
{
	struct visit visit = { .fn.sweep = fn, .arg = arg };

	return query_read_one(store, READ_SWEEP, sweep_row_visit, id, &visit,
			      err);
}

int store_last_sweep(struct store *store, store_sweep_fn *fn, void *arg,
		     struct error *err)
{
	struct visit visit = { .fn.sweep = fn, .arg = arg };

	return query_read_list(store, READ_LAST_SWEEP, sweep_row_visit, 0, 0, 0,
			       &visit, err);
}

int store_active_jobs(struct store *store, store_job_fn *fn, void *arg,
		      struct error *err)
{
	struct visit visit = { .fn.job = fn, .arg = arg };

	return query_read_list(store, READ_ACTIVE, job_row_visit, 0, 0, 0,
			       &visit, err);
}

int store_jobs(struct store *store, uint64_t sweep, uint64_t after,
	       uint32_t limit, store_job_fn *fn, void *arg, struct error *err)
{
	struct visit visit = { .fn.job = fn, .arg = arg };

	return query_read_list(store, sweep ? READ_JOBS : READ_ALL_JOBS,
			       job_row_visit, sweep, after, limit, &visit, err);
}

int store_cell(struct store *store, uint64_t sweep, uint64_t cell_index,
	       store_job_fn *fn, void *arg, struct error *err)
{
	struct visit visit = { .fn.job = fn, .arg = arg };

	return query_read_list(store, READ_CELL, job_row_visit, sweep,
			       cell_index, 0, &visit, err);
}

int store_job(struct store *store, uint64_t id, store_job_fn *fn, void *arg,
	      struct error *err)
{
	struct visit visit = { .fn.job = fn, .arg = arg };

	return query_read_one(store, READ_JOB, job_row_visit, id, &visit, err);
}

int store_runs(struct store *store, const char *key, const char *name,
	       uint32_t limit, store_job_fn *fn, void *arg, struct error *err)
{
	struct visit visit = {
		.fn.job = fn,
		.arg = arg,
		.key = key,
		.name = name,
	};

	return query_read_list(store, READ_RUNS, job_row_visit, 0, 0, limit,
			       &visit, err);
}

int store_sweep_runs(struct store *store, uint64_t sweep, uint32_t limit,
		     store_job_fn *fn, void *arg, struct error *err)
{
	struct visit visit = { .fn.job = fn, .arg = arg };

	return query_read_list(store, READ_SWEEP_RUNS, job_row_visit, sweep, 0,
			       limit, &visit, err);
}

int store_last_runs(struct store *store, uint32_t limit, store_job_fn *fn,
		    void *arg, struct error *err)
{
	struct visit visit = { .fn.job = fn, .arg = arg };

	return query_read_list(store, READ_LAST_RUNS, job_row_visit, 0, 0,
			       limit, &visit, err);
}

int store_events(struct store *store, uint64_t job, uint64_t after,
		 uint32_t limit, store_event_fn *fn, void *arg,
		 struct error *err)
{
	struct visit visit = { .fn.event = fn, .arg = arg };

	return query_read_list(store, job ? READ_EVENTS : READ_ALL_EVENTS,
			       event_row, job, after, limit, &visit, err);
}

uint64_t store_seen_event(const struct store *store)
{
	return store->seen_event;
}

int store_result(struct store *store, uint64_t job, store_result_fn *fn,
		 void *arg, struct error *err)
{
	struct visit visit = { .fn.result = fn, .arg = arg };

	return query_read_one(store, READ_RESULT, result_row, job, &visit, err);
}

int store_nodes(struct store *store, store_node_fn *fn, void *arg,
		struct error *err)
{
	struct visit visit = { .fn.node = fn, .arg = arg };

	return query_read_list(store, READ_NODES, node_row_visit, 0, 0, 0,
			       &visit, err);
}

int store_keys(struct store *store, store_key_fn *fn, void *arg,
	       struct error *err)
{
	struct visit visit = { .fn.key = fn, .arg = arg };

	return query_read_list(store, READ_KEYS, key_row, 0, 0, 0, &visit, err);
}

int store_audit(struct store *store, uint64_t after, uint32_t limit,
		store_audit_fn *fn, void *arg, struct error *err)
{
	struct visit visit = { .fn.audit = fn, .arg = arg };

	return query_read_list(store, READ_AUDIT, audit_row_visit, 0, after,
			       limit, &visit, err);
}

static int pin_row(sqlite3_stmt *statement, const struct visit *visit,
		   struct error *err)
{
	struct pin_row row = {
		.sweep = column_u64(statement, 0),
		.image = row_column_text(statement, 1),
		.found = row_column_text(statement, 2),
		.node = row_column_text(statement, 3),
	};

	return visit->fn.pin(&row, visit->arg);
}

int store_pins(struct store *store, uint64_t sweep, store_pin_fn *fn, void *arg,
	       struct error *err)
{
	struct visit visit = { .fn.pin = fn, .arg = arg };

	return query_read_list(store, READ_PINS, pin_row, 0, sweep, 0, &visit,
			       err);
}

static int login_row(sqlite3_stmt *statement, const struct visit *visit,
		     struct error *err)
{
	const struct login_row row = {
		.sweep = column_u64(statement, 0),
		.registry = row_column_text(statement, 1),
		.sealed = row_column_text(statement, 2),
	};

	if (!row.registry)
		return error_nomem(err, "store");
	return visit->fn.login(&row, visit->arg);
}

int store_logins(struct store *store, uint64_t sweep, store_login_fn *fn,
		 void *arg, struct error *err)
{
	struct visit visit = { .fn.login = fn, .arg = arg };

	return query_read_list(store, sweep ? READ_LOGINS : READ_ALL_LOGINS,
			       login_row, 0, sweep, 0, &visit, err);
}

static int output_row_visit(sqlite3_stmt *statement, const struct visit *visit,
			    struct error *err)
{
	const struct output_row row = {
		.job = column_u64(statement, 0),
		.attempt = column_u32(statement, 1),
		.stream = row_column_text(statement, 2),
		.bytes = sqlite3_column_blob(statement, 3),
		.size = (size_t)sqlite3_column_bytes(statement, 3),
	};

	if (!row.stream || (row.size && !row.bytes))
		return error_nomem(err, "store");
	return visit->fn.output(&row, visit->arg);
}

int store_outputs(struct store *store, store_output_fn *fn, void *arg,
		  struct error *err)
{
	struct visit visit = { .fn.output = fn, .arg = arg };

	return query_read_list(store, READ_OUTPUTS, output_row_visit, 0, 0, 0,
			       &visit, err);
}

static int count_row(sqlite3_stmt *statement, const struct visit *visit,
		     struct error *err)
{
	uint64_t *counts = visit->arg;
	enum job_state state = job_state_from(row_column_text(statement, 0));

	if (state == JOB_NONE)
		return error_set(err, EPROTO, "store: unknown state");
	counts[state] = column_u64(statement, 1);
	return 0;
}

int store_sweep_counts(struct store *store, uint64_t sweep,
		       uint64_t counts[JOB_STATES], struct error *err)
{
	uint64_t got[JOB_STATES] = { 0 };
	struct visit visit = { .arg = got };

	if (query_read_list(store, READ_COUNTS, count_row, 0, sweep, 0, &visit,
			    err) < 0)
		return -1;
	memcpy(counts, got, sizeof(got));
	return 0;
}

bool store_sweep_over(struct store *store, uint64_t sweep)
{
	uint64_t counts[JOB_STATES] = { 0 };

	if (store_sweep_counts(store, sweep, counts, NULL) < 0)
		return false;
	for (int state = 0; state < JOB_STATES; state++)
		if (counts[state] && !job_state_final((enum job_state)state))
			return false;
	return true;
}
