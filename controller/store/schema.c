/* schema.c - the tables of the store, version by version.
 */
#include "controller/store/schema.h"

/* In SQL: not what job_state_final() says. For a list of more than two SQLite
 * makes a table, anew for every row.
 */
#define STATE_ACTIVE                                                           \
	"state <> 'completed' AND state <> 'failed' AND state <> 'cancelled'"

/* Version 1. What changes in a job's life stands apart from its spec, so that
 * a change of state rewrites a short row; the counts are kept by triggers, so
 * that reading them does not walk a sweep.
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
	"CREATE INDEX states_active ON states(job)"
	" WHERE state NOT IN ('completed', 'failed', 'cancelled');"
	"CREATE TABLE counts("
	" sweep INTEGER, state TEXT, n INTEGER NOT NULL,"
	" PRIMARY KEY(sweep, state)) WITHOUT ROWID;"
	"CREATE TRIGGER state_new AFTER INSERT ON states BEGIN"
	" INSERT INTO counts VALUES(NEW.sweep, NEW.state, 1)"
	"  ON CONFLICT DO UPDATE SET n = n + 1;"
	"END;"
	"CREATE TRIGGER state_set AFTER UPDATE OF state ON states"
	" WHEN OLD.state <> NEW.state BEGIN"
	" UPDATE counts SET n = n - 1"
	"  WHERE sweep = OLD.sweep AND state = OLD.state;"
	" INSERT INTO counts VALUES(NEW.sweep, NEW.state, 1)"
	"  ON CONFLICT DO UPDATE SET n = n + 1;"
	"END;"
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

/* Version 2. runs finds completed jobs by the first digits of their cell's key:
 * half the bytes of an index over the whole key, and only of those that are
 * asked for.
 */
static const char version_2[] =
	"ALTER TABLE jobs ADD COLUMN origin INTEGER REFERENCES jobs(id);"
	"ALTER TABLE states ADD COLUMN first_attempt INTEGER NOT NULL"
	" DEFAULT 1;"
	"CREATE TABLE runs("
	" digits TEXT, job INTEGER REFERENCES jobs(id),"
	" PRIMARY KEY(digits, job)) WITHOUT ROWID;"
	"INSERT INTO runs SELECT substr(key, 1, " RUN_DIGITS "), id"
	" FROM jobs CROSS JOIN states ON id = job WHERE state = 'completed';"
	"CREATE TRIGGER state_completed AFTER UPDATE OF state ON states"
	" WHEN NEW.state = 'completed' AND OLD.state <> 'completed' BEGIN"
	" INSERT OR IGNORE INTO runs SELECT substr(key, 1, " RUN_DIGITS "), id"
	"  FROM jobs WHERE id = NEW.job;"
	"END;";

/* Version 3. The repeats of a cell, which may have come one by one. */
static const char version_3[] =
	"CREATE INDEX jobs_cell ON jobs(sweep, cell_index);";

/* Version 4. Who may connect, what people ordered, and what they said of nodes.
 */
static const char version_4[] =
	"ALTER TABLE nodes ADD COLUMN settings TEXT;"
	"CREATE TABLE keys("
	" public TEXT PRIMARY KEY, name TEXT NOT NULL, role TEXT NOT NULL,"
	" machine TEXT, grants TEXT, for_name TEXT, uses INTEGER NOT NULL,"
	" renew INTEGER NOT NULL, until_ms INTEGER NOT NULL,"
	" by TEXT NOT NULL, since_ms INTEGER NOT NULL,"
	" revoked_ms INTEGER NOT NULL) WITHOUT ROWID;"
	"CREATE TABLE audit("
	" seq INTEGER PRIMARY KEY, time_ms INTEGER NOT NULL,"
	" who TEXT NOT NULL, role TEXT NOT NULL, address TEXT NOT NULL,"
	" act TEXT NOT NULL, request TEXT NOT NULL, refusal TEXT);";

/* Version 5. What images' names mean in a sweep. */
static const char version_5[] =
	"CREATE TABLE pins("
	" sweep INTEGER NOT NULL REFERENCES sweeps(id), image TEXT NOT NULL,"
	" found TEXT NOT NULL, node TEXT NOT NULL,"
	" PRIMARY KEY(sweep, image)) WITHOUT ROWID;";

/* Version 6. Who submitted a sweep is to registries, sealed. */
static const char version_6[] = "CREATE TABLE logins("
				" sweep INTEGER NOT NULL REFERENCES sweeps(id),"
				" registry TEXT NOT NULL, sealed TEXT,"
				" PRIMARY KEY(sweep, registry)) WITHOUT ROWID;";

/* Version 7. Whether a job may be forgotten, as others have its result. */
static const char version_7[] =
	"CREATE INDEX jobs_origin ON jobs(origin) WHERE origin IS NOT NULL;";

/* Version 8. Rows of the audit log hold together (audit.h). */
static const char version_8[] = "ALTER TABLE audit ADD COLUMN chain TEXT;";

/* Version 9. The same index, whose condition is told without a list. */
static const char version_9[] =
	"DROP INDEX states_active;"
	"CREATE INDEX states_active ON states(job) WHERE " STATE_ACTIVE ";";

/* Version 10. What triggers did is done once a commit (store_commit.c), and
 * which jobs are active is a table: its rows are not written again at each
 * change of a state, as those of an index on a part of the states were.
 */
static const char version_10[] =
	"DROP TRIGGER state_new;"
	"DROP TRIGGER state_set;"
	"DROP TRIGGER state_completed;"
	"DROP INDEX states_active;"
	"CREATE TABLE active(job INTEGER PRIMARY KEY);"
	"INSERT INTO active SELECT job FROM states WHERE " STATE_ACTIVE ";";

/* Version 11. The network that a key is bound to. */
static const char version_11[] = "ALTER TABLE keys ADD COLUMN network TEXT;";

/* Version 12. What lists say of a job, so that neither its spec nor its result
 * is parsed for them. Rows from before are left without, and are parsed
 * (store_read.c): to write a million of them anew would take minutes.
 */
static const char version_12[] = "ALTER TABLE jobs ADD COLUMN cell TEXT;"
				 "ALTER TABLE jobs ADD COLUMN vendor TEXT;"
				 "ALTER TABLE jobs ADD COLUMN nodes INTEGER;"
				 "ALTER TABLE jobs ADD COLUMN devices INTEGER;"
				 "ALTER TABLE states ADD COLUMN step INTEGER;"
				 "ALTER TABLE states ADD COLUMN loss REAL;"
				 "ALTER TABLE states ADD COLUMN rate REAL;";

/* Version 13. Most of a short job's result is its image and what its node told
 * of itself: the text that results of a sweep have in common is stored once,
 * and left out of each at its place. digits: of its SHA-256.
 */
static const char version_13[] =
	"CREATE TABLE shared("
	" sweep INTEGER NOT NULL REFERENCES sweeps(id), digits TEXT NOT NULL,"
	" text TEXT NOT NULL, PRIMARY KEY(sweep, digits)) WITHOUT ROWID;"
	"ALTER TABLE results ADD COLUMN shared TEXT;"
	"ALTER TABLE results ADD COLUMN shared_at INTEGER;";

const char *const store_upgrades[] = {
	version_1,  version_2,  version_3,  version_4, version_5,
	version_6,  version_7,  version_8,  version_9, version_10,
	version_11, version_12, version_13,
};
const int store_upgrades_count =
	sizeof(store_upgrades) / sizeof(store_upgrades[0]);
