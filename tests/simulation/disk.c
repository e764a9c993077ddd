/* disk.c - the disk below the store, and the room in its queue.
 *
 * The store is the real one. Linked with -Wl,--wrap: what puts a row into its
 * queue fails now and then, as when that is full, and so does each step of a
 * commit, as SQLite says it of a full disk.
 */
#include "tests/simulation/simulation.h"

#include <errno.h>
#include <sqlite3.h>
#include <string.h>

/* Whose disk it is: neither the store's calls nor SQLite's say so. */
static struct world *owner;
static bool commits, struck, tells_files;

void disk_open(struct world *world)
{
	owner = world;
}

bool disk_is_full(const struct world *world)
{
	return world->now_us < world->disk_full_us;
}

int disk_commit(struct world *world, struct error *err)
{
	int rc;

	commits = true;
	rc = store_commit(world->store, err);
	commits = struck = false;
	return rc;
}

static bool strikes(void)
{
	return struck = commits && (disk_is_full(owner) ||
				    world_strikes(owner, owner->plan.fail_row));
}

#define WRAP(type, name, ...)                                                  \
	type __real_##name(__VA_ARGS__);                                       \
	type __wrap_##name(__VA_ARGS__);                                       \
	type __wrap_##name(__VA_ARGS__)

WRAP(int, sqlite3_step, sqlite3_stmt *statement)
{
	return strikes() ? SQLITE_FULL : __real_sqlite3_step(statement);
}

WRAP(int, sqlite3_exec, sqlite3 *database, const char *sql,
     int (*fn)(void *, int, char **, char **), void *arg, char **text)
{
	return strcmp(sql, "ROLLBACK") != 0 && strikes()
		       ? SQLITE_FULL
		       : __real_sqlite3_exec(database, sql, fn, arg, text);
}

WRAP(int, sqlite3_extended_errcode, sqlite3 *database)
{
	return struck ? SQLITE_FULL : __real_sqlite3_extended_errcode(database);
}

static bool no_room(struct error *err)
{
	bool strike = world_strikes(owner, owner->plan.fail_put);

	if (strike) {
		owner->refused++;
		error_set(err, ENOBUFS, "no room for more rows");
	}
	return strike;
}

#define WRAP_PUT(name, type)                                                   \
	WRAP(int, name, struct store *store, type row, struct error *err)      \
	{                                                                      \
		return no_room(err) ? -1 : __real_##name(store, row, err);     \
	}

WRAP_PUT(store_put_job, const struct job_row *)
WRAP_PUT(store_put_node, const struct node_row *)
WRAP_PUT(store_remove_node, const char *)
WRAP_PUT(store_put_pin, const struct pin_row *)

WRAP(int, store_put_result, struct store *store, const struct result_row *row,
     struct error *err)
{
	if (no_room(err))
		return -1;
	check_result(owner, row);
	return __real_store_put_result(store, row, err);
}

WRAP(int, store_put_event, struct store *store, const struct event_row *event,
     struct error *err)
{
	if (no_room(err))
		return -1;
	world_trace(owner, "  job %lu attempt %u: %s",
		    (unsigned long)event->job, event->attempt, event->kind);
	tells_files = !strcmp(event->kind, "files");
	return __real_store_put_event(store, event, err);
}

/* With the state the event is whole. */
WRAP(int, store_set_job, struct store *store, enum job_state was,
     const struct job_row *row, struct error *err)
{
	if (no_room(err))
		return -1;
	if (tells_files)
		world_truth(owner, row->id, row->attempt, 0)->told =
			owner->life;
	return __real_store_set_job(store, was, row, err);
}
