/* database.c - opens one SQLite file, and runs SQL.
 */
#include "controller/store/database.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

/* Version 1, of release 0.1.0. What changes in a job's life is not in the row
 * of its spec, so that a change of state rewrites a short row. The release also
 * had what the upgrade drops.
 */
static const char version_1[] =
	"CREATE TABLE sweeps("
	" id INTEGER PRIMARY KEY, name TEXT NOT NULL, text TEXT NOT NULL,"
	" client TEXT NOT NULL, submitted_ms INTEGER NOT NULL);"
	"CREATE TABLE jobs("
	" id INTEGER PRIMARY KEY,"
	" sweep INTEGER NOT NULL REFERENCES sweeps(id),"
	" cell_index INTEGER NOT NULL, key TEXT NOT NULL,"
	" repeat INTEGER NOT NULL, priority INTEGER NOT NULL,"
	" spec TEXT NOT NULL);"
	"CREATE INDEX jobs_sweep ON jobs(sweep);"
	"CREATE TABLE states("
	" job INTEGER PRIMARY KEY REFERENCES jobs(id),"
	" sweep INTEGER NOT NULL, state TEXT NOT NULL,"
	" attempt INTEGER NOT NULL, failure TEXT, text TEXT,"
	" queued_ms INTEGER NOT NULL, started_ms INTEGER NOT NULL,"
	" ended_ms INTEGER NOT NULL, allocation TEXT);"
	"CREATE TABLE counts("
	" sweep INTEGER, state TEXT, n INTEGER NOT NULL,"
	" PRIMARY KEY(sweep, state)) WITHOUT ROWID;"
	"CREATE TABLE events("
	" seq INTEGER PRIMARY KEY, job INTEGER NOT NULL REFERENCES jobs(id),"
	" attempt INTEGER NOT NULL, time_ms INTEGER NOT NULL,"
	" kind TEXT NOT NULL, data TEXT);"
	"CREATE INDEX events_job ON events(job);"
	"CREATE TABLE results("
	" job INTEGER PRIMARY KEY REFERENCES jobs(id),"
	" attempt INTEGER NOT NULL, json TEXT NOT NULL);"
	"CREATE TABLE nodes("
	" name TEXT PRIMARY KEY, drained INTEGER NOT NULL, facts TEXT,"
	" seen_ms INTEGER NOT NULL) WITHOUT ROWID;";

/* - jobs, states: copies from spec and result, so that lists parse neither.
 *   Rows of version 1 have none, and are parsed (store_read.c): to rewrite a
 *   million of them would take minutes.
 * - active: the jobs that are not final. An index on a part of states would be
 *   written at each change of a state.
 * - counts is kept by each commit (store_commit.c), no longer by triggers.
 * - runs: completed jobs by the first digits of their cell's key, which takes
 *   half the bytes of an index over the whole key.
 * - keys: who may connect. audit: what people requested; its rows are chained
 *   (audit.h). pins: what the names of images resolve to in a sweep. logins:
 *   sealed, of the submitter of a sweep.
 * - shared: text that results of a sweep have in common, by the digits of its
 *   SHA-256. Most of a short job's result is about its image and its node.
 * - outputs: of jobs that have just ended, until their files are safe.
 */
static const char version_16[] =
	"DROP TRIGGER IF EXISTS state_new;"
	"DROP TRIGGER IF EXISTS state_set;"
	"DROP INDEX IF EXISTS states_active;"
	"ALTER TABLE sweeps ADD COLUMN paused TEXT;"
	"ALTER TABLE jobs ADD COLUMN origin INTEGER REFERENCES jobs(id);"
	"ALTER TABLE jobs ADD COLUMN cell TEXT;"
	"ALTER TABLE jobs ADD COLUMN vendor TEXT;"
	"ALTER TABLE jobs ADD COLUMN nodes INTEGER;"
	"ALTER TABLE jobs ADD COLUMN devices INTEGER;"
	"CREATE INDEX jobs_cell ON jobs(sweep, cell_index);"
	"CREATE INDEX jobs_origin ON jobs(origin) WHERE origin IS NOT NULL;"
	"ALTER TABLE states ADD COLUMN first_attempt INTEGER NOT NULL"
	" DEFAULT 1;"
	"ALTER TABLE states ADD COLUMN step INTEGER;"
	"ALTER TABLE states ADD COLUMN loss REAL;"
	"ALTER TABLE states ADD COLUMN rate REAL;"
	"ALTER TABLE states ADD COLUMN rate_unit INTEGER;"
	"ALTER TABLE states ADD COLUMN suspect INTEGER;"
	"CREATE TABLE active(job INTEGER PRIMARY KEY);"
	"INSERT INTO active SELECT job FROM states"
	" WHERE state NOT IN ('completed', 'failed', 'cancelled');"
	"CREATE TABLE runs("
	" digits TEXT, job INTEGER REFERENCES jobs(id),"
	" PRIMARY KEY(digits, job)) WITHOUT ROWID;"
	"INSERT INTO runs SELECT substr(key, 1, " RUN_DIGITS "), id"
	" FROM jobs CROSS JOIN states ON id = job WHERE state = 'completed';"
	"ALTER TABLE nodes ADD COLUMN settings TEXT;"
	"CREATE TABLE keys("
	" public TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,"
	" machine TEXT, grants TEXT, for_name TEXT, uses INTEGER NOT NULL,"
	" renew INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
	" by TEXT NOT NULL, since_ms INTEGER NOT NULL,"
	" revoked_ms INTEGER NOT NULL, network TEXT) WITHOUT ROWID;"
	"CREATE TABLE audit("
	" seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL,"
	" who TEXT NOT NULL, role TEXT NOT NULL, address TEXT NOT NULL,"
	" act TEXT NOT NULL, request TEXT NOT NULL, refusal TEXT,"
	" chain TEXT);"
	"CREATE TABLE pins("
	" sweep INTEGER NOT NULL REFERENCES sweeps(id), image TEXT NOT NULL,"
	" found TEXT NOT NULL, node TEXT NOT NULL,"
	" PRIMARY KEY(sweep, image)) WITHOUT ROWID;"
	"CREATE TABLE logins("
	" sweep INTEGER NOT NULL REFERENCES sweeps(id),"
	" registry TEXT NOT NULL, sealed TEXT,"
	" PRIMARY KEY(sweep, registry)) WITHOUT ROWID;"
	"CREATE TABLE shared("
	" sweep INTEGER NOT NULL REFERENCES sweeps(id), digits TEXT NOT NULL,"
	" text TEXT NOT NULL, PRIMARY KEY(sweep, digits)) WITHOUT ROWID;"
	"CREATE TABLE outputs("
	" seq INTEGER PRIMARY KEY, job INTEGER NOT NULL,"
	" attempt INTEGER NOT NULL, stream TEXT NOT NULL, bytes BLOB);"
	"ALTER TABLE results ADD COLUMN shared TEXT;"
	"ALTER TABLE results ADD COLUMN shared_at INTEGER;";

const struct database_upgrade store_upgrades[] = {
	{ 0, 1, version_1 },
	{ 1, 16, version_16 },
};
const int store_upgrades_count =
	sizeof(store_upgrades) / sizeof(store_upgrades[0]);

/* Another program, such as a sqlite3 shell, may hold the write lock. The event
 * loop waits no longer than this.
 */
#define BUSY_MS 100

/* clang-format off */
static const struct {
	int sqlite;
	int code;
} codes[] = {
	{ SQLITE_FULL, ENOSPC },
	{ SQLITE_NOMEM, ENOMEM },
	{ SQLITE_BUSY, EBUSY },
	{ SQLITE_LOCKED, EBUSY },
	{ SQLITE_READONLY, EROFS },
	{ SQLITE_PERM, EACCES },
	{ SQLITE_CONSTRAINT, EINVAL },
	{ SQLITE_CORRUPT, EPROTO },
	{ SQLITE_NOTADB, EPROTO },
	{ SQLITE_TOOBIG, E2BIG },
};
/* clang-format on */

int database_error(sqlite3 *database, struct error *err, const char *what)
{
	int extended = sqlite3_extended_errcode(database);
	int code = EIO;
	int system = 0;

	for (size_t i = 0; i < sizeof(codes) / sizeof(codes[0]); i++)
		if ((extended & 0xff) == codes[i].sqlite)
			code = codes[i].code;
	if ((extended & 0xff) == SQLITE_IOERR ||
	    (extended & 0xff) == SQLITE_CANTOPEN)
		system = sqlite3_system_errno(database);
	if (extended == SQLITE_IOERR_NOMEM)
		code = ENOMEM;
	/* SQLite calls only a failed write "full"; a failed growth of its
	 * shared memory file, say, is an I/O error with this errno. */
	if (system == ENOSPC || system == EDQUOT)
		code = ENOSPC;
	if (system)
		return error_set(err, code, "%s: %s: %s", what,
				 sqlite3_errmsg(database), strerror(system));
	return error_set(err, code, "%s: %s", what, sqlite3_errmsg(database));
}

int database_run(sqlite3 *database, const char *sql, struct error *err)
{
	if (sqlite3_exec(database, sql, NULL, NULL, NULL) != SQLITE_OK)
		return database_error(database, err, "database");
	return 0;
}

sqlite3_stmt *database_prepare(sqlite3 *database, const char *sql,
			       struct error *err)
{
	sqlite3_stmt *statement = NULL;

	if (sqlite3_prepare_v3(database, sql, -1, SQLITE_PREPARE_PERSISTENT,
			       &statement, NULL) != SQLITE_OK)
		database_error(database, err, "database");
	return statement;
}

int database_number(sqlite3 *database, const char *sql, sqlite3_int64 *number,
		    struct error *err)
{
	sqlite3_stmt *statement = database_prepare(database, sql, err);
	int rc = 0;

	if (!statement)
		return -1;
	if (sqlite3_step(statement) == SQLITE_ROW)
		*number = sqlite3_column_int64(statement, 0);
	else
		rc = database_error(database, err, "database");
	sqlite3_finalize(statement);
	return rc;
}

int database_text(sqlite3 *database, const char *sql, char *text, size_t size,
		  struct error *err)
{
	sqlite3_stmt *statement = database_prepare(database, sql, err);
	const char *found = NULL;
	int rc, step;

	if (!statement)
		return -1;
	step = sqlite3_step(statement);
	if (step == SQLITE_ROW)
		found = (const char *)sqlite3_column_text(statement, 0);
	snprintf(text, size, "%s", found ? found : "");
	rc = step == SQLITE_ROW || step == SQLITE_DONE
		     ? 0
		     : database_error(database, err, "database");
	sqlite3_finalize(statement);
	return rc;
}

/* Create the file before SQLite does: its WAL gets the same mode, and a link or
 * a device is refused.
 */
static int make_file(const char *path, struct error *err)
{
	owned_fd int fd =
		open(path,
		     O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK,
		     0600);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) < 0)
		return error_errno(err, "%s", path);
	if (!S_ISREG(st.st_mode))
		return error_set(err, EINVAL, "%s: not a regular file", path);
	if ((st.st_mode & 077) && fchmod(fd, 0600) < 0)
		return error_errno(err, "%s", path);
	return 0;
}

/* - synchronous FULL: a commit that returned has reached the disk and survives
 *   a power cut. NORMAL would survive kill -9 just as well, but after a power
 *   cut the last seconds could be missing: job ids would then be given out
 *   twice, for containers and logs that exist. The price is one fdatasync a
 *   commit, and commits come in groups: on a virtual machine's disk 0.28 ms
 *   instead of 0.01 for one row, 0.45 instead of 0.28 for 256.
 * - temp_store MEMORY: sorting small results needs no files.
 * - secure_delete FAST: what is deleted from a page that is written anyway is
 *   overwritten.
 * - journal_size_limit: the journal shrinks again after a burst.
 */
static int configure(sqlite3 *database, struct error *err)
{
	sqlite3_busy_timeout(database, BUSY_MS);
	return database_run(database,
			    "PRAGMA journal_mode = WAL;"
			    "PRAGMA synchronous = FULL;"
			    "PRAGMA foreign_keys = ON;"
			    "PRAGMA trusted_schema = OFF;"
			    "PRAGMA temp_store = MEMORY;"
			    "PRAGMA secure_delete = FAST;"
			    "PRAGMA journal_size_limit = 67108864",
			    err);
}

static int apply_upgrades(sqlite3 *database, sqlite3_int64 version,
			  const struct database_upgrade *upgrades, int count,
			  struct error *err)
{
	char set[64];

	if (database_run(database, "BEGIN IMMEDIATE", err) < 0)
		return -1;
	for (int i = 0; i < count; i++) {
		if (upgrades[i].from < version)
			continue;
		if (database_run(database, upgrades[i].sql, err) < 0)
			return error_prefix(err, "upgrade from version %d",
					    upgrades[i].from);
	}
	snprintf(set, sizeof(set), "PRAGMA user_version = %d",
		 upgrades[count - 1].to);
	if (database_run(database, set, err) < 0)
		return -1;
	return database_run(database, "COMMIT", err);
}

/* It only reads: a file of another program must not change. */
static int check_version(sqlite3 *database,
			 const struct database_upgrade *upgrades, int count,
			 sqlite3_int64 *version, struct error *err)
{
	int latest = upgrades[count - 1].to;
	sqlite3_int64 tables = 0;

	if (database_number(database, "PRAGMA user_version", version, err) <
		    0 ||
	    database_number(database, "SELECT count(*) FROM sqlite_master",
			    &tables, err) < 0)
		return -1;
	if (*version > latest)
		return error_set(err, EPROTO,
				 "schema version %lld is newer than %d, the "
				 "latest that this program supports",
				 (long long)*version, latest);
	if (*version < 0 || (*version == 0 && tables > 0))
		return error_set(err, EPROTO,
				 "the database belongs to another program");
	for (int i = 0; i < count; i++)
		if (*version == upgrades[i].from || *version == latest)
			return 0;
	return error_set(err, EPROTO,
			 "schema version %lld is of no release; this program "
			 "cannot upgrade it",
			 (long long)*version);
}

static int set_up(sqlite3 *database, const struct database_upgrade *upgrades,
		  int count, struct error *err)
{
	sqlite3_int64 version = 0;

	sqlite3_extended_result_codes(database, 1);
	if (check_version(database, upgrades, count, &version, err) < 0 ||
	    configure(database, err) < 0)
		return -1;
	return version < upgrades[count - 1].to
		       ? apply_upgrades(database, version, upgrades, count, err)
		       : 0;
}

sqlite3 *database_open(const char *path,
		       const struct database_upgrade *upgrades, int count,
		       struct error *err)
{
	owned(database_close) sqlite3 *database = NULL;

	if (make_file(path, err) < 0)
		return NULL;
	if (sqlite3_open_v2(path, &database,
			    SQLITE_OPEN_READWRITE | SQLITE_OPEN_NOMUTEX,
			    NULL) != SQLITE_OK) {
		if (database)
			database_error(database, err, path);
		else
			error_nomem(err, path);
		return NULL;
	}
	if (set_up(database, upgrades, count, err) < 0)
		return error_null(error_prefix(err, "%s", path));
	return take(database);
}

void database_close(sqlite3 *database)
{
	sqlite3_close(database);
}
