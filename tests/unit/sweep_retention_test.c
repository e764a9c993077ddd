/* sweep_retention_test.c - what the store forgets, and what it must not.
 */
#include "controller/store/store.h"
#include "protocol/base/file.h"
#include "tests/tap.h"

#include <errno.h>
#include <fcntl.h>
#include <sqlite3.h>

static char folder[64];

/* A job of the sweep, completed, with all that a job has. */
static void put_job(struct store *store, uint64_t id, uint64_t sweep,
		    uint64_t origin)
{
	const struct job_row job = {
		.id = id,
		.sweep = sweep,
		.key = "0123456789abcdef0123456789abcdef",
		.spec = "{}",
		.origin = origin,
		.state = JOB_RUNNING,
		.attempt = 1,
		.first_attempt = 1,
	};
	const struct event_row event = { .job = id,
					 .attempt = 1,
					 .kind = "start" };
	const struct result_row result = {
		.job = id, .sweep = sweep, .attempt = 1, .json = "{}"
	};
	struct job_row done = job;

	done.state = JOB_COMPLETED;
	store_put_job(store, &job, NULL);
	store_set_job(store, JOB_RUNNING, &done, NULL);
	store_put_event(store, &event, NULL);
	if (!origin)
		store_put_result(store, &result, NULL);
}

static void put_sweep(struct store *store, uint64_t id)
{
	const struct sweep_row sweep = { .id = id,
					 .name = "s",
					 .text = "text",
					 .client = "me",
					 .submitted_ms = 1 };
	const struct pin_row pin = { id, "image", "image@sha256:0", "n1" };

	store_put_sweep(store, &sweep, NULL);
	store_put_pin(store, &pin, NULL);
}

/* Rows of all tables that speak of the sweep or its jobs. */
static int rows_left(void)
{
	static const char *const tables[] = { "sweeps", "jobs",    "states",
					      "events", "results", "runs",
					      "pins",   "counts" };
	sqlite3 *database = NULL;
	char path[100], sql[60];
	int rows = 0;

	snprintf(path, sizeof(path), "%s/regatta.db", folder);
	sqlite3_open(path, &database);
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++) {
		sqlite3_stmt *statement = NULL;

		snprintf(sql, sizeof(sql), "SELECT count(*) FROM %s",
			 tables[i]);
		if (sqlite3_prepare_v2(database, sql, -1, &statement, NULL) ==
			    SQLITE_OK &&
		    sqlite3_step(statement) == SQLITE_ROW)
			rows += sqlite3_column_int(statement, 0);
		sqlite3_finalize(statement);
	}
	sqlite3_close(database);
	return rows;
}

static bool is_origin(struct store *store, uint64_t job)
{
	bool found = false;

	return store_job_origin(store, job, &found, NULL) == 0 && found;
}

static void test_forget(void)
{
	struct store *store = store_new(folder, NULL);
	struct store_mark mark;
	struct error err = { 0 };

	put_sweep(store, 1);
	put_job(store, 1, 1, 0);
	put_sweep(store, 2);
	put_job(store, 2, 2, 1);
	ok(store_commit(store, &err) == 0, "two sweeps (%s)", err.text);
	ok(is_origin(store, 1) && !is_origin(store, 2),
	   "one has its result of the other");
	mark = store_mark(store);
	store_forget_job(store, 1, NULL);
	ok(store_commit(store, &err) < 0 && err.code == EINVAL,
	   "that is not forgotten");
	store_undo(store, &mark);
	store_forget_job(store, 2, NULL);
	store_forget_sweep(store, 2, NULL);
	ok(store_commit(store, &err) == 0 && !is_origin(store, 1),
	   "the one that took it over is (%s)", err.text);
	store_forget_job(store, 1, NULL);
	store_forget_sweep(store, 1, NULL);
	ok(store_commit(store, &err) == 0, "then the other (%s)", err.text);
	store_free(store);
	is_int(rows_left(), 0, "nothing is left of them");
}

static void test_audit(void)
{
	struct store *store = store_new(folder, NULL);
	uint64_t rows = 0;

	for (int i = 1; i <= 10; i++) {
		const struct audit_row row = { .time_ms = i == 3 ? 900 : i * 10,
					       .who = "me",
					       .role = "operator",
					       .address = "-",
					       .act = "label",
					       .request = "{}" };

		store_put_audit(store, &row, NULL);
	}
	store_commit(store, NULL);
	ok(store_trim_audit(store, 10, 1000, 1, 100, &rows, NULL) == 0 && !rows,
	   "as many orders as are wanted stay");
	ok(store_trim_audit(store, 4, 1000, 1, 2, &rows, NULL) == 0 &&
		   rows == 2,
	   "the oldest go, so many at once");
	store_commit(store, NULL);
	ok(store_trim_audit(store, 4, 500, 1, 100, &rows, NULL) == 0 && !rows,
	   "none that is young, or behind one");
	ok(store_trim_audit(store, 4, 1000, 5, 100, &rows, NULL) == 0 && !rows,
	   "nor as few as are not worth it");
	ok(store_trim_audit(store, 4, 1000, 4, 100, &rows, NULL) == 0 &&
		   rows == 4,
	   "nor one of the last");
	store_commit(store, NULL);
	ok(store_trim_audit(store, 4, 1000, 1, 100, &rows, NULL) == 0 && !rows,
	   "twice is once");
	store_free(store);
}

int main(void)
{
	static void (*const tests[])(void) = { test_forget, test_audit };

	tap_begin(60);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		snprintf(folder, sizeof(folder),
			 "/tmp/sweep_retention_test.XXXXXX");
		if (!mkdtemp(folder))
			abort();
		tests[i]();
		file_remove_tree(AT_FDCWD, folder, NULL);
	}
	return tap_done();
}
