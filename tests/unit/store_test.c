/* store_test.c - the store: group commit, reads, and what survives.
 */
#include "tests/unit/store_bed.h"

#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <sqlite3.h>
#include <sys/stat.h>

/* Ids of the rows that a read gave, as text: "1 2 3". */
struct seen {
	char text[4096];
	int stop_after; /* 0: never */
	int rows;
};

static int note(struct seen *seen, uint64_t id)
{
	size_t n = strlen(seen->text);

	snprintf(seen->text + n, sizeof(seen->text) - n, "%s%llu", n ? " " : "",
		 (unsigned long long)id);
	seen->rows++;
	return seen->rows == seen->stop_after ? 7 : 0;
}

static int note_sweep(const struct sweep_row *row, void *arg)
{
	return note(arg, row->id);
}

static int note_job(const struct job_row *row, void *arg)
{
	return note(arg, row->id);
}

static int note_event(const struct event_row *row, void *arg)
{
	return note(arg, row->seq);
}

static int note_result(const struct result_row *row, void *arg)
{
	return note(arg, row->job);
}

static int check_sweep(const struct sweep_row *row, void *arg)
{
	is(row->name, "demo", "a sweep keeps its name");
	is(row->text, "sweep: demo\n", "a sweep keeps its file's text");
	is(row->client, "op", "a sweep keeps who submitted it");
	is_int(row->submitted_ms, 11, "a sweep keeps its time");
	return 0;
}

static int check_job(const struct job_row *row, void *arg)
{
	ok(row->id == 4 && row->sweep == 1 && row->cell_index == 8 &&
		   row->repeat == 1 && row->priority == -5,
	   "a job keeps its numbers");
	ok(!strcmp(row->key, "abc") && !strcmp(row->spec, "{\"a\":1}"),
	   "a job keeps its key and spec");
	ok(row->state == JOB_FAILED && row->failure == FAILURE_OOM &&
		   row->attempt == 3 && row->first_attempt == 2,
	   "a job has the state that was set last");
	is(row->text, "killed", "a job has the sentence that was set");
	is(row->allocation, "{\"port\":7}",
	   "an allocation stays where none is set");
	ok(row->queued_ms == 1 && row->started_ms == 2 && row->ended_ms == 3,
	   "a job has the times that were set");
	return 0;
}

static int check_node(const struct node_row *row, void *arg)
{
	struct seen *seen = arg;

	seen->rows++;
	if (seen->rows == 1)
		ok(!strcmp(row->name, "n1") && row->drained && !row->facts &&
			   row->seen_ms == 6,
		   "a node put again is replaced");
	else
		ok(!strcmp(row->name, "n2") && !row->drained &&
			   !strcmp(row->facts, "{}"),
		   "nodes come by name");
	return 0;
}

static void test_rows(void)
{
	struct store *store = open_store();
	struct error err;
	struct stat st;

	ok(store && stat(in_folder("regatta.db"), &st) == 0 &&
		   (st.st_mode & 07777) == 0600,
	   "a new store's file is private");
	is_int((long long)store_next_sweep(store), 1, "sweeps count from 1");
	is_int((long long)store_next_job(store), 1, "jobs count from 1");
	is_int((long long)store_next_job(store), 2, "jobs count on");
	ok(put_sweep(store, 1) == 0 && put_job(store, 4, 1, JOB_QUEUED) == 0,
	   "rows are queued");
	ok(store_pending(store) >= 2, "pending rows are counted");
	ok(jobs_in(store) == 0, "a queued row is not seen");
	ok(store_commit(store, &err) == 0, "a commit applies them");
	ok(store_pending(store) == 0, "nothing is pending then");
	ok(stat(in_folder("regatta.db-wal"), &st) == 0 &&
		   (st.st_mode & 07777) == 0600,
	   "the journal is private too");
	ok(store_set_job(store, JOB_QUEUED,
			 &(struct job_row){ .id = 4,
					    .sweep = 1,
					    .state = JOB_RUNNING,
					    .allocation = "{\"port\":7}" },
			 &err) == 0,
	   "an allocation is set");
	ok(store_set_job(store, JOB_RUNNING,
			 &(struct job_row){ .id = 4,
					    .sweep = 1,
					    .state = JOB_FAILED,
					    .failure = FAILURE_OOM,
					    .attempt = 3,
					    .first_attempt = 2,
					    .text = "killed",
					    .queued_ms = 1,
					    .started_ms = 2,
					    .ended_ms = 3 },
			 &err) == 0 &&
		   store_commit(store, &err) == 0,
	   "a state is set");
	store_free(store);

	store = open_store();
	is_int((long long)store_next_sweep(store), 2,
	       "after a restart sweeps count on");
	is_int((long long)store_next_job(store), 5,
	       "after a restart jobs count on behind the largest");
	ok(store_sweep(store, 1, check_sweep, NULL, &err) == 0,
	   "the sweep is there after a restart");
	ok(store_job(store, 4, check_job, NULL, &err) == 0,
	   "the job is there after a restart");
	ok(store_job(store, 5, check_job, NULL, &err) < 0 && err.code == ENOENT,
	   "a job that is not there is ENOENT");
	is(err.text, "no job 5; regatta jobs --all lists them", "and named");
	ok(store_sweep(store, UINT64_MAX, check_sweep, NULL, &err) < 0 &&
		   err.code == ENOENT,
	   "an id past all limits is ENOENT");
	store_free(store);
}

static void test_nodes(void)
{
	struct store *store = open_store();
	struct seen seen = { 0 };
	struct error err;

	store_put_node(store, &(struct node_row){ .name = "n2", .facts = "{}" },
		       NULL);
	store_put_node(store, &(struct node_row){ .name = "n1", .facts = "{}" },
		       NULL);
	store_put_node(store, &(struct node_row){ .name = "n3" }, NULL);
	store_put_node(store,
		       &(struct node_row){
			       .name = "n1", .drained = true, .seen_ms = 6 },
		       NULL);
	store_remove_node(store, "n3", NULL);
	store_remove_node(store, "n4", NULL);
	ok(store_commit(store, &err) == 0 &&
		   store_nodes(store, check_node, &seen, &err) == 0,
	   "nodes are read");
	is_int(seen.rows, 2, "a removed node is gone");
	store_free(store);
}

static void test_seen_event(void)
{
	struct store *store = open_store();
	uint64_t before = store_seen_event(store);
	struct error err;

	is_int((long long)before, 0, "a new store has had no event");
	put_sweep(store, 1);
	put_job(store, 900, 1, JOB_QUEUED);
	ok(store_put_event(store,
			   &(struct event_row){ .job = 900, .kind = "submit" },
			   &err) == 0,
	   "an event is queued");
	is_int((long long)events_of(store, 900), 0, "no read sees it yet");
	is_int((long long)store_seen_event(store), (long long)before,
	       "and it is not one that is seen");
	ok(store_put_event(store, &(struct event_row){ .job = 900 }, &err) < 0,
	   "an event that is refused");
	ok(store_commit(store, &err) == 0 && events_of(store, 900) == 1,
	   "after the commit reads see the other");
	is_int((long long)store_seen_event(store), (long long)before + 1,
	       "which is the last one: the refused one took no number");
	store_free(store);
	store = open_store();
	is_int((long long)store_seen_event(store), (long long)before + 1,
	       "also after a restart");
	store_free(store);
}

/* 3 sweeps; jobs 1..30, ten in each; every second one ended. */
static void fill(struct store *store)
{
	for (uint64_t id = 1; id <= 3; id++)
		put_sweep(store, id);
	for (uint64_t id = 1; id <= 30; id++) {
		put_job(store, id, (id - 1) / 10 + 1, JOB_QUEUED);
		put_event(store, id, "submit");
	}
	for (uint64_t id = 2; id <= 30; id += 2) {
		store_set_job(store, JOB_QUEUED,
			      &(struct job_row){ .id = id,
						 .sweep = (id - 1) / 10 + 1,
						 .state = JOB_COMPLETED },
			      NULL);
		store_put_result(store,
				 &(struct result_row){ .job = id,
						       .json = "{}" },
				 NULL);
		put_event(store, id, "done");
	}
	ok(store_commit(store, NULL) == 0, "many rows are one commit");
}

#define SEEN(call, want, ...)                                                  \
	do {                                                                   \
		struct seen seen = { 0 };                                      \
		struct error err = { 0 };                                      \
		int rc = (call);                                               \
		is(rc ? err.text : seen.text, want, __VA_ARGS__);              \
	} while (0)

struct nest {
	struct store *store;
	struct seen outer;
	struct seen inner;
};

static int nested(const struct job_row *row, void *arg)
{
	struct nest *nest = arg;

	if (note(&nest->outer, row->id) || nest->outer.rows > 1)
		return 0;
	return store_jobs(nest->store, 3, 28, 0, note_job, &nest->inner, NULL);
}

static void test_reads(void)
{
	struct store *store = open_store();
	uint64_t counts[JOB_STATES];

	fill(store);
	SEEN(store_sweeps(store, 0, 0, note_sweep, &seen, &err), "1 2 3",
	     "sweeps come by id");
	SEEN(store_sweeps(store, 1, 1, note_sweep, &seen, &err), "2",
	     "sweeps come in pages");
	SEEN(store_jobs(store, 2, 0, 3, note_job, &seen, &err), "11 12 13",
	     "jobs of a sweep, the first page");
	SEEN(store_jobs(store, 2, 18, 3, note_job, &seen, &err), "19 20",
	     "jobs of a sweep, the last page");
	SEEN(store_jobs(store, 0, 9, 3, note_job, &seen, &err), "10 11 12",
	     "jobs of all sweeps");
	SEEN(store_jobs(store, 9, 0, 0, note_job, &seen, &err), "",
	     "jobs of an unknown sweep: none");
	SEEN(store_active_jobs(store, note_job, &seen, &err),
	     "1 3 5 7 9 11 13 15 17 19 21 23 25 27 29",
	     "jobs in no final state");
	SEEN(store_events(store, 4, 0, 0, note_event, &seen, &err), "4 32",
	     "events of a job by number");
	SEEN(store_events(store, 4, 4, 0, note_event, &seen, &err), "32",
	     "events of a job after one");
	SEEN(store_events(store, 0, 27, 5, note_event, &seen, &err),
	     "28 29 30 31 32", "events of all jobs by number, in pages");
	SEEN(store_events(store, 0, 43, 0, note_event, &seen, &err), "44 45",
	     "to the last one");
	SEEN(store_events(store, 0, UINT64_MAX, 0, note_event, &seen, &err), "",
	     "and none behind it");
	SEEN(store_result(store, 3, note_result, &seen, &err),
	     "no result of job 3", "a result that is not there");
	{
		struct seen seen = { .stop_after = 2 };

		is_int(store_jobs(store, 0, 0, 0, note_job, &seen, NULL), 7,
		       "a callback ends the read with its own value");
		is_int(seen.rows, 2, "and is called no more");
	}
	{
		struct nest nest = { .store = store };

		store_jobs(store, 3, 27, 0, nested, &nest, NULL);
		is(nest.outer.text, "28 29 30",
		   "a read goes on after the same read inside its callback");
		is(nest.inner.text, "29 30", "which is complete itself");
	}
	ok(store_sweep_counts(store, 2, counts, NULL) == 0 &&
		   counts[JOB_QUEUED] == 5 && counts[JOB_COMPLETED] == 5 &&
		   counts[JOB_RUNNING] == 0,
	   "jobs of a sweep are counted by state");
	store_free(store);
}

/* A completed job of the key. */
static void put_run(struct store *store, uint64_t id, uint64_t sweep,
		    const char *key, enum job_state end)
{
	struct job_row row = { .id = id,
			       .sweep = sweep,
			       .key = key,
			       .spec = "{}",
			       .state = JOB_RUNNING,
			       .attempt = 1,
			       .first_attempt = 1 };

	store_put_job(store, &row, NULL);
	row.state = end;
	store_set_job(store, JOB_RUNNING, &row, NULL);
	store_put_result(store,
			 &(struct result_row){
				 .job = id, .attempt = 1, .json = "[7]" },
			 NULL);
}

static int check_taken(const struct job_row *row, void *arg)
{
	return row->origin == 2 && row->first_attempt == 3 ? 0 : 9;
}

static int check_json(const struct result_row *row, void *arg)
{
	return row->job == 9 && !strcmp(row->json, "[7]") ? 0 : 9;
}

static char *runs(struct store *store, const char *key, const char *name)
{
	static struct seen seen;

	memset(&seen, 0, sizeof(seen));
	if (store_runs(store, key, name, 10, note_job, &seen, NULL) < 0)
		snprintf(seen.text, sizeof(seen.text), "failed");
	return seen.text;
}

#define KEY_A "0123456789abcdef0000"
#define KEY_B "0123456789abcdef1111"

static void test_runs(void)
{
	struct store *store = open_store();
	struct error err = { 0 };
	struct seen seen = { 0 };

	ok(store_last_sweep(store, note_sweep, &seen, &err) == 0 && !seen.rows,
	   "an empty store has no last sweep");
	put_sweep(store, 1);
	store_put_sweep(store,
			&(struct sweep_row){ .id = 2,
					     .name = "other",
					     .text = "",
					     .client = "op" },
			NULL);
	put_run(store, 1, 1, KEY_A, JOB_COMPLETED);
	put_run(store, 2, 1, KEY_A, JOB_COMPLETED);
	put_run(store, 3, 1, KEY_A, JOB_FAILED);
	put_run(store, 4, 1, KEY_B, JOB_COMPLETED);
	put_run(store, 5, 2, KEY_A, JOB_COMPLETED);
	store_put_job(store,
		      &(struct job_row){ .id = 9,
					 .sweep = 2,
					 .key = KEY_A,
					 .spec = "{}",
					 .origin = 2,
					 .state = JOB_COMPLETED,
					 .attempt = 3,
					 .first_attempt = 3 },
		      NULL);
	ok(store_commit(store, &err) == 0, "jobs run (%s)", err.text);
	is(runs(store, KEY_A, NULL), "5 2 1",
	   "runs of a key, the newest first, without failed ones and those "
	   "that were taken over");
	is(runs(store, KEY_A, "demo"), "2 1", "those in sweeps of a name");
	is(runs(store, KEY_B, NULL), "4", "all of the key counts");
	is(runs(store, "0123456789abcdef", NULL), "", "not its first digits");
	store_last_sweep(store, note_sweep, &seen, &err);
	is(seen.text, "2", "the last sweep is found");
	ok(store_job(store, 9, check_taken, NULL, &err) == 0,
	   "a job knows whose result it has");
	ok(store_result(store, 9, check_json, NULL, &err) == 0,
	   "and has it as its own");
	store_free(store);
}

static void test_refusals(void)
{
	struct store *store = open_store();
	struct error err = { 0 };
	struct job_row job = { .id = 1,
			       .sweep = 1,
			       .key = "k",
			       .spec = "{}",
			       .state = JOB_QUEUED };
	struct job_row bad = job;

	bad.spec = NULL;
	ok(store_put_job(store, &bad, &err) < 0 && err.code == EINVAL,
	   "a job without a spec is refused");
	bad = job;
	bad.id = 0;
	ok(store_put_job(store, &bad, &err) < 0 && err.code == EINVAL,
	   "a job with id 0 is refused");
	bad = job;
	bad.state = JOB_STATES;
	ok(store_put_job(store, &bad, &err) < 0 && err.code == EINVAL,
	   "a job in no state is refused");
	is_int((long long)store_pending(store), 0,
	       "what is refused is not queued");
	store_put_job(store, &job, NULL);
	ok(store_commit(store, &err) < 0 && err.code == EINVAL,
	   "a no job of sweep is found by the commit");
	ok(store_pending(store) > 0 && jobs_in(store) == 0,
	   "nothing of it is applied");
	store_free(store);
	store = open_store();
	put_sweep(store, 1);
	put_job(store, 1, 1, JOB_QUEUED);
	put_job(store, 1, 1, JOB_QUEUED);
	ok(store_commit(store, &err) < 0 && err.code == EINVAL,
	   "a job id given twice is found by the commit");
	store_free(store);
	store = open_store();
	store_set_job(store, JOB_QUEUED, &job, NULL);
	ok(store_commit(store, &err) < 0 && err.code == EINVAL,
	   "the state of a job that is not there is found by the commit");
	store_free(store);
	store = open_store();
	put_sweep(store, 1);
	put_job(store, 1, 1, JOB_QUEUED);
	ok(store_commit(store, NULL) == 0, "a job is queued");
	job.state = JOB_COMPLETED;
	store_set_job(store, JOB_RUNNING, &job, NULL);
	ok(store_commit(store, &err) < 0 && err.code == EINVAL,
	   "a state that was another before is found by the commit");
	store_free(store);
}

static int run_sql(const char *sql)
{
	sqlite3 *database = NULL;
	int rc = sqlite3_open(in_folder("regatta.db"), &database);

	if (rc == SQLITE_OK)
		rc = sqlite3_exec(database, sql, NULL, NULL, NULL);
	sqlite3_close(database);
	return rc;
}

/* "cell vendor nodes devices step loss rate unit (!)" */
static int note_brief(const struct job_row *row, void *arg)
{
	snprintf(arg, 200, "%s %s %u %u %llu %.2f %.1f %s%s", row->cell,
		 row->vendor ? row->vendor : "-", row->nodes, row->devices,
		 (unsigned long long)row->step, row->loss, row->rate.value,
		 rate_units[row->rate.unit], row->suspect ? " (!)" : "");
	return 0;
}

static const char *brief(struct store *store, uint64_t job)
{
	static char text[200];

	return store_job(store, job, note_brief, text, NULL) == 0 ? text : "?";
}

static void test_brief(void)
{
	struct store *store = open_store();
	struct job_row row = {
		.id = 1,
		.sweep = 1,
		.key = KEY_A,
		.cell = "new=1",
		.nodes = 2,
		.devices = 8,
		.spec = "{\"cell\": \"old=1\", \"vendor\": \"v\","
			" \"nodes\": 3, \"devices\": 4}",
		.state = JOB_RUNNING,
		.loss = (double)NAN
	};

	put_sweep(store, 1);
	store_put_job(store, &row, NULL);
	store_commit(store, NULL);
	is(brief(store, 1), "new=1 - 2 8 0 nan nan ",
	   "what lists say of a spec is beside it");
	row.state = JOB_COMPLETED;
	row.step = 60;
	row.loss = 2.25;
	row.rate = (struct rate){ 4150.5, RATE_SAMPLES };
	row.suspect = true;
	store_set_job(store, JOB_RUNNING, &row, NULL);
	store_put_result(store,
			 &(struct result_row){
				 .job = 1,
				 .attempt = 1,
				 .json = "{\"result\": {\"steps\": 50,"
					 " \"loss\": {\"last\": \"nan\"},"
					 " \"tokens_per_second_per_device\":"
					 " 3.5}}" },
			 NULL);
	row.id = 2;
	row.origin = 1;
	store_put_job(store, &row, NULL);
	is_int(store_commit(store, NULL), 0, "a job ends");
	is(brief(store, 1), "new=1 - 2 8 60 2.25 4150.5 sample/p/s (!)",
	   "and what they say of its result comes with its state");
	store_free(store);
	/* As a controller wrote them before there were these columns. */
	is_int(run_sql("UPDATE jobs SET cell = NULL, vendor = NULL,"
		       " nodes = NULL, devices = NULL;"
		       "UPDATE states SET step = NULL, loss = NULL,"
		       " rate = NULL, rate_unit = NULL, suspect = NULL;"),
	       SQLITE_OK, "rows are as they once were");
	store = open_store();
	is(brief(store, 1), "old=1 v 3 4 50 nan 3.5 token/p/s",
	   "an older row is told from its spec and its result");
	is(brief(store, 2), "old=1 v 3 4 50 nan 3.5 token/p/s",
	   "also one that was taken over");
	store_free(store);
}

static void test_foreign_files(void)
{
	struct error err = { 0 };
	struct store *store = open_store(), *second;

	second = store_new(folder, &err);
	ok(!second && err.code == EBUSY, "a folder in use is refused");
	store_free(store);
	store = open_store();
	ok(store != NULL, "and is free when its store is closed");
	store_free(store);

	run_sql("PRAGMA user_version = 17");
	store = store_new(folder, &err);
	ok(!store && err.code == EPROTO && strstr(err.text, "version 17"),
	   "a newer schema is refused with its number");

	unlink(in_folder("regatta.db"));
	run_sql("CREATE TABLE other(x)");
	store = store_new(folder, &err);
	ok(!store && err.code == EPROTO,
	   "a database of another program is refused");
	ok(run_sql("INSERT INTO sweeps VALUES(1,1,1,1,1)") != SQLITE_OK,
	   "and is not changed");

	unlink(in_folder("regatta.db"));
	file_write(AT_FDCWD, in_folder("regatta.db"),
		   "this is no database, but it is long enough to be one ....."
		   "..........................................................",
		   116, 0600, 0, NULL);
	store = store_new(folder, &err);
	ok(!store && err.code == EPROTO, "a file of noise is refused");

	unlink(in_folder("regatta.db"));
	ok(symlink("/dev/null", in_folder("regatta.db")) == 0, "(a link)");
	store = store_new(folder, &err);
	ok(!store && err.code == ELOOP, "a link is refused");
	store = store_new("/nonexistent", &err);
	ok(!store && err.code == ENOENT, "a folder must be there");
}

/* The store of release 0.1.0, with the version number that is given. */
static bool load_release(int version)
{
	owned(buffer_clear) struct buffer sql = BUFFER_INIT(1 << 20);
	char set[64];

	snprintf(set, sizeof(set), "PRAGMA user_version = %d", version);
	return file_read(AT_FDCWD, "tests/unit/store/v1.sql", &sql, NULL) ==
		       0 &&
	       run_sql(sql.data) == SQLITE_OK && run_sql(set) == SQLITE_OK;
}

static int count_active(const struct job_row *row, void *arg)
{
	++*(int *)arg;
	return 0;
}

static int keep_node(const struct node_row *row, void *arg)
{
	struct node_row *to = arg;

	*to = (struct node_row){ .drained = row->drained,
				 .seen_ms = row->seen_ms };
	return 0;
}

static void test_upgrade(void)
{
	static const char key_a[] = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
				    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa";
	struct store *store;
	struct error err = { 0 };
	struct node_row node = { 0 };
	uint64_t counts[JOB_STATES];
	int active = 0;

	ok(load_release(1), "(a store of release 0.1.0)");
	store = open_store();
	ok(store != NULL, "it is opened");
	if (!store)
		return;
	is(runs(store, key_a, "demo"), "1", "its completed job is found");
	store_active_jobs(store, count_active, &active, &err);
	store_sweep_counts(store, 1, counts, &err);
	ok(active == 1 && counts[JOB_RUNNING] == 1 && counts[JOB_FAILED] == 1,
	   "its running job is active, its counts hold");
	store_nodes(store, keep_node, &node, &err);
	ok(node.drained && node.seen_ms == 8, "its node is there");
	put_run(store, 4, 1, key_a, JOB_COMPLETED);
	ok(store_commit(store, &err) == 0, "it takes new jobs (%s)", err.text);
	store_sweep_counts(store, 1, counts, &err);
	ok(counts[JOB_COMPLETED] == 2 && counts[JOB_RUNNING] == 1,
	   "and counts them once");
	is(runs(store, key_a, "demo"), "4 1", "and finds them");
	store_free(store);
}

static void test_unreleased(void)
{
	struct store *store;
	struct error err = { 0 };

	ok(load_release(7), "(a store of a version that no release had)");
	store = store_new(folder, &err);
	ok(!store && err.code == EPROTO, "it is refused: %s", err.text);
}

int main(void)
{
	static void (*const tests[])(void) = {
		test_rows,          test_nodes,      test_reads, test_refusals,
		test_foreign_files, test_seen_event, test_runs,  test_upgrade,
		test_unreleased,    test_brief,
	};

	tap_begin(60);
	for (size_t i = 0; i < sizeof(tests) / sizeof(tests[0]); i++) {
		new_folder();
		tests[i]();
		drop_folder();
	}
	return tap_done();
}
