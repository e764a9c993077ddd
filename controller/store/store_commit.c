/* store_commit.c - writes the queued rows to the database in one transaction.
 *
 * The numbers of a sweep's jobs in each state are added up, and written once.
 */
#include "controller/store/database.h"
#include "controller/store/store.h"
#include "controller/store/store_internal.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The memory of a larger queue is freed after the commit. */
#define QUEUE_KEPT (4 << 20)

static const char set_state[] =
	"UPDATE states SET state = ?4, attempt = ?5, failure = ?6, text = ?7,"
	" queued_ms = ?8, started_ms = ?9, ended_ms = ?10,"
	" allocation = ifnull(?11, allocation), first_attempt = ?12,"
	" step = ?13, loss = ?14, rate = ?15, rate_unit = ?16,"
	" suspect = ?17"
	" WHERE job = ?1 AND sweep = ?2 AND state = ?3";

static const char *const writes[WRITES] = {
	[WRITE_BEGIN] = "BEGIN IMMEDIATE",
	[WRITE_END] = "COMMIT",
	[WRITE_ACTIVE] = "INSERT OR IGNORE INTO active VALUES(?)",
	[WRITE_NOT_ACTIVE] = "DELETE FROM active WHERE job = ?",
	[WRITE_RUN] = ("INSERT OR IGNORE INTO runs SELECT"
		       " substr(key, 1, " RUN_DIGITS "), id FROM jobs"
		       " WHERE id = ?"),
	[WRITE_COUNT] = ("INSERT INTO counts VALUES(?1, ?2, ?3)"
			 " ON CONFLICT DO UPDATE SET n = n + ?3"),
	[WRITE_SWEEP] = "INSERT INTO sweeps VALUES(?,?,?,?,?,NULL)",
	[WRITE_PAUSE] = "UPDATE sweeps SET paused = ?2 WHERE id = ?1",
	[WRITE_JOB] = "INSERT INTO jobs VALUES(?,?,?,?,?,?,?,?,?,?,?,?)",
	[WRITE_JOB_STATE] = ("INSERT INTO states"
			     " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?,?,?,?)"),
	[WRITE_STATE] = set_state,
	[WRITE_EVENT] = "INSERT INTO events VALUES(?,?,?,?,?,?)",
	[WRITE_RESULT] = "INSERT OR REPLACE INTO results VALUES(?,?,?,?,?)",
	[WRITE_SHARED] = "INSERT OR IGNORE INTO shared VALUES(?,?,?)",
	[WRITE_NODE] = "INSERT OR REPLACE INTO nodes VALUES(?,?,?,?,?)",
	[WRITE_NO_NODE] = "DELETE FROM nodes WHERE name = ?",
	[WRITE_KEY] = ("INSERT OR REPLACE INTO keys"
		       " VALUES(?,?,?,?,?,?,?,?,?,?,?,?,?)"),
	[WRITE_NO_KEY] = "DELETE FROM keys WHERE public = ?",
	[WRITE_AUDIT] = "INSERT INTO audit VALUES(?,?,?,?,?,?,?,?,?)",
	[WRITE_NO_RESULT] = "DELETE FROM results WHERE job = ?",
	[WRITE_NO_EVENTS] = "DELETE FROM events WHERE job = ?",
	[WRITE_NO_RUN] = ("DELETE FROM runs WHERE job = ?1 AND digits ="
			  " (SELECT substr(key, 1, " RUN_DIGITS ") FROM jobs"
			  " WHERE id = ?1)"),
	[WRITE_NO_STATE] = "DELETE FROM states WHERE job = ?",
	[WRITE_NO_JOB] = "DELETE FROM jobs WHERE id = ?",
	[WRITE_NO_PINS] = "DELETE FROM pins WHERE sweep = ?",
	[WRITE_LOGINS_GONE] = "DELETE FROM logins WHERE sweep = ?",
	[WRITE_NO_COUNTS] = "DELETE FROM counts WHERE sweep = ?",
	[WRITE_NO_SHARED] = "DELETE FROM shared WHERE sweep = ?",
	[WRITE_NO_SWEEP] = "DELETE FROM sweeps WHERE id = ?",
	[WRITE_OLD_AUDIT] = "DELETE FROM audit WHERE seq <= ?",
	[WRITE_PIN] = "INSERT OR REPLACE INTO pins VALUES(?,?,?,?)",
	[WRITE_LOGIN] = "INSERT OR REPLACE INTO logins VALUES(?,?,?)",
	[WRITE_NO_LOGINS] = "UPDATE logins SET sealed = NULL WHERE sweep = ?",
	[WRITE_OUTPUT] = "INSERT INTO outputs VALUES(?,?,?,?,?)",
	[WRITE_NO_OUTPUTS] = "DELETE FROM outputs WHERE seq < ?",
};

/* Bind the columns at *place of the queue, as queue_row() wrote them, and move
 * *place behind them.
 */
static int bind_columns(sqlite3_stmt *statement, int count, const char **place)
{
	const char *at = *place;
	int rc = SQLITE_OK;

	for (int i = 1; i <= count && rc == SQLITE_OK; i++) {
		char tag = *at++;
		uint64_t value;

		if (tag == 'n') {
			rc = sqlite3_bind_null(statement, i);
			continue;
		}
		memcpy(&value, at, 8);
		at += 8;
		if (tag == 'i') {
			rc = sqlite3_bind_int64(statement, i,
						(sqlite3_int64)value);
			continue;
		}
		if (tag == 'd') {
			double real;

			memcpy(&real, &value, sizeof(real));
			rc = sqlite3_bind_double(statement, i, real);
			continue;
		}
		rc = tag == 'b' ? sqlite3_bind_blob(statement, i, at,
						    (int)value, SQLITE_STATIC)
				: sqlite3_bind_text(statement, i, at,
						    (int)value, SQLITE_STATIC);
		at += value;
	}
	*place = at;
	return rc;
}

static sqlite3_stmt *store_prepare_write(struct store *store,
					 enum write_kind write,
					 struct error *err)
{
	if (!store->writes[write])
		store->writes[write] =
			database_prepare(store->database, writes[write], err);
	return store->writes[write];
}

/* Run a statement whose parameters are bound. */
static int statement_run(struct store *store, sqlite3_stmt *statement,
			 struct error *err)
{
	int rc = sqlite3_step(statement) == SQLITE_DONE
			 ? 0
			 : database_error(store->database, err, "store");

	sqlite3_reset(statement);
	return rc;
}

static int run_for(struct store *store, enum write_kind write, uint64_t id,
		   struct error *err)
{
	sqlite3_stmt *statement = store_prepare_write(store, write, err);

	if (!statement)
		return -1;
	if (id)
		sqlite3_bind_int64(statement, 1, (sqlite3_int64)id);
	return statement_run(store, statement, err);
}

/* Counts of jobs by sweep and state. */

static int tally_flush(struct store *store, struct error *err)
{
	sqlite3_stmt *statement = store_prepare_write(store, WRITE_COUNT, err);

	if (!statement)
		return -1;
	for (int state = 0; state < JOB_STATES; state++) {
		if (!store->tally[state])
			continue;
		sqlite3_bind_int64(statement, 1,
				   (sqlite3_int64)store->tally_sweep);
		sqlite3_bind_text(statement, 2, job_state_name(state), -1,
				  SQLITE_STATIC);
		sqlite3_bind_int64(statement, 3, store->tally[state]);
		if (statement_run(store, statement, err) < 0)
			return -1;
	}
	memset(store->tally, 0, sizeof(store->tally));
	return 0;
}

/* was JOB_NONE: the job is new. */
static int count_state(struct store *store, uint64_t sweep, enum job_state was,
		       enum job_state state, struct error *err)
{
	if (sweep != store->tally_sweep && tally_flush(store, err) < 0)
		return -1;
	store->tally_sweep = sweep;
	if (was != JOB_NONE)
		store->tally[was]--;
	store->tally[state]++;
	return 0;
}

static int enter_state(struct store *store, uint64_t job, uint64_t sweep,
		       enum job_state was, enum job_state state,
		       struct error *err)
{
	bool active = !job_state_final(state);
	bool was_active = was != JOB_NONE && !job_state_final(was);

	if (was == state)
		return 0;
	if (count_state(store, sweep, was, state, err) < 0)
		return -1;
	if (active != was_active &&
	    run_for(store, active ? WRITE_ACTIVE : WRITE_NOT_ACTIVE, job, err) <
		    0)
		return -1;
	return state == JOB_COMPLETED && was != JOB_NONE
		       ? run_for(store, WRITE_RUN, job, err)
		       : 0;
}

/* Columns of a row in the queue. */

static uint64_t queued_number(const char *at)
{
	uint64_t value;

	memcpy(&value, at + 1, sizeof(value));
	return value;
}

/* The state whose name is this column. */
static enum job_state queued_state(const char *at)
{
	char name[32];

	snprintf(name, sizeof(name), "%.*s", (int)queued_number(at), at + 9);
	return job_state_from(name);
}

static int apply_state(struct store *store, enum write_kind write,
		       const char *at, struct error *err)
{
	uint64_t job = queued_number(at), sweep = queued_number(at + 9);
	enum job_state was = JOB_NONE;

	at += 18;
	if (write == WRITE_STATE) {
		was = queued_state(at);
		at += 9 + queued_number(at);
	}
	return enter_state(store, job, sweep, was, queued_state(at), err);
}

static int apply_row(struct store *store, const char **place, struct error *err)
{
	enum write_kind write = (enum write_kind)(*place)[0];
	int count = (unsigned char)(*place)[1];
	sqlite3_stmt *statement = store_prepare_write(store, write, err);
	const char *columns = *place + 2;

	if (!statement)
		return -1;
	*place = columns;
	if (bind_columns(statement, count, place) != SQLITE_OK)
		return database_error(store->database, err, "store");
	if (statement_run(store, statement, err) < 0)
		return -1;
	if (write == WRITE_STATE && !sqlite3_changes(store->database))
		return error_set(err, EINVAL,
				 "store: job %" PRIu64 " does not exist, or is "
				 "in another state",
				 queued_number(columns));
	return write == WRITE_STATE || write == WRITE_JOB_STATE
		       ? apply_state(store, write, columns, err)
		       : 0;
}

static int apply_queue(struct store *store, struct error *err)
{
	const char *place = store->queue.data;
	const char *end = place + store->queue.size;

	memset(store->tally, 0, sizeof(store->tally));
	if (run_for(store, WRITE_BEGIN, 0, err) < 0)
		return -1;
	while (place < end)
		if (apply_row(store, &place, err) < 0)
			return -1;
	if (tally_flush(store, err) < 0)
		return -1;
	return run_for(store, WRITE_END, 0, err);
}

int store_commit(struct store *store, struct error *err)
{
	if (!store->queued)
		return 0;
	if (apply_queue(store, err) < 0) {
		if (!sqlite3_get_autocommit(store->database))
			database_run(store->database, "ROLLBACK", NULL);
		return -1;
	}
	store->queued = 0;
	store->commits++;
	store->seen_event = store->next_event - 1;
	buffer_consume(&store->queue, store->queue.size);
	store->unseen = false;
	if (store->queue.capacity > QUEUE_KEPT)
		buffer_clear(&store->queue);
	return 0;
}
