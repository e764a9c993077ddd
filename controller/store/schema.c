/* schema.c - the tables of the store, and how an older store gets them.
 *
 * A version that no release had has no upgrade: its number is not used again.
 */
#include "controller/store/schema.h"

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
