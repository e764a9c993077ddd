/* database.h - opens one SQLite file, and runs SQL.
 *
 * The file has mode 0600, WAL, foreign keys, and the version of its schema in
 * PRAGMA user_version.
 */
#pragma once

#include "protocol/base/error.h"
#include "protocol/base/owned.h"

#include <sqlite3.h>
#include <stddef.h>

/* SQL that makes a schema of one version from one of an earlier version. */
struct database_upgrade {
	int from, to;
	const char *sql;
};

/* upgrades: in order; they begin with version 0, an empty file, and end with
 * the latest version. All that are missing are applied in one transaction.
 * Errors as in store.h; EPROTO: a newer
 * version, one that has no upgrade, or another program's database.
 */
sqlite3 *database_open(const char *path,
		       const struct database_upgrade *upgrades, int count,
		       struct error *err);
void database_close(sqlite3 *database);
OWNED_POINTER(sqlite3, database_close)

/* Run SQL that gives no rows. */
int database_run(sqlite3 *database, const char *sql, struct error *err);

/* Prepare a statement that is used often; for sqlite3_finalize(). NULL with
 * *err set.
 */
sqlite3_stmt *database_prepare(sqlite3 *database, const char *sql,
			       struct error *err);

/* The first column of the first row of a query, 0 when it is NULL. */
int database_number(sqlite3 *database, const char *sql, sqlite3_int64 *number,
		    struct error *err);

/* The same as text, cut to size; "" when there is no row or it is NULL. */
int database_text(sqlite3 *database, const char *sql, char *text, size_t size,
		  struct error *err);

/* Fill *err from the last failure of a call on this database; return -1. */
int database_error(sqlite3 *database, struct error *err, const char *what);

/* The tables of the store, and how an older store gets them. */

/* In SQL: how many digits of a cell's key the index of runs has (64 bits). */
#define RUN_DIGITS "16"

/* The upgrades for database_open(). */
extern const struct database_upgrade store_upgrades[];
extern const int store_upgrades_count;
